"""`log_joint`: the log density of a state with its data, whatever the transition."""

from typing import Any

from bhmc.likelihoods import Likelihood, resolve
from bhmc.model.checks import check_functional_data, check_parameters, check_state
from bhmc.model.hyper import check_hyper
from bhmc.model.registry import transition_of
from bhmc.model.state import Hyper, State


def log_joint(state: State, X: Any, *, hyper: Hyper, likelihood: str | Likelihood) -> float:
    """log p(X, theta, c, B, V | hyper), the log density of a state with its data.

    log p(V) + log p(B) + sum_n log beta_{leaf(n), c_n} + sum_k log h(theta_k)
    + sum_n log f(x_n; theta_c_n), and the log priors of the concentrations and of the family's
    shared numbers where those are learned; in the infinite form c counts as a partition.

    Parameters
    ----------
    state : State
        A draw.
    X : (n, d) array
        Its data; with NaN for missing entries, or sparse, where the family allows it.
    hyper : Hyper
        Concentrations.
    likelihood : str or Likelihood
        The family with its prior H. A name stands for the family's own numbers ("gaussian" is
        `Gaussian(1, 0, 1)`): only `BHMC` takes scales from data.
    """
    hyper, setting = check_hyper(hyper), resolve(likelihood)
    X = check_functional_data(
        X, state, allow_missing=setting.allows_missing, allow_sparse=setting.allows_sparse
    )
    transition = transition_of(state).bind(hyper)
    state = transition.adopt(state)
    check_state(state)
    family = setting.prepare(X)
    check_parameters(state, X, family.n_parameters, family.n_shared)
    return transition.log_density(state, family.at(state.shared))
