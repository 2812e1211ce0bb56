"""`sweep`: one sweep of the functional layer."""

from typing import Any

import numpy as np

from bhmc._validation.parameters import check_choice, check_rng
from bhmc.likelihoods import Likelihood, resolve
from bhmc.model.checks import check_functional_data, check_parameters, check_state
from bhmc.model.hyper import check_hyper
from bhmc.model.registry import transition_named, with_moves
from bhmc.model.state import Hyper, Info, State
from bhmc.rows.local import LocalRows


def sweep(
    state: State,
    X: Any,
    *,
    hyper: Hyper,
    likelihood: str | Likelihood,
    sampler: str,
    rng: np.random.Generator,
    transition: Any = "hdp",
    moves: Any = (),
) -> tuple[State, Info]:
    """One full sweep: every datum's path and component, then all weights, then all theta.

    Parameters
    ----------
    state : State
        Where the chain is; left unchanged.
    X : (n, d) array
        The data; with NaN for missing entries, or sparse, where the family allows it.
    hyper : Hyper
        Concentrations: a number fixes one; a prior has it learned from where the state is.
    likelihood : str or Likelihood
        The family with its prior H. A name stands for the family's own numbers ("gaussian" is
        `Gaussian(1, 0, 1)`): only `BHMC` takes scales from data.
    sampler : {"gibbs", "mh", "paper", "blocked"}
        "gibbs" (exact path Gibbs), "mh" (exact, nCRP proposals), "blocked" (exact, most rows at
        once), or "paper" (Algorithm 2 of the
        paper to the letter, which does not leave the posterior invariant).
    rng : numpy.random.Generator
        Where all randomness comes from.
    transition : str or Transition, default="hdp"
        How a child's components relate to its parent's; the state must be one of it.
    moves : "auto" or tuple of str, default=()
        Moves of many rows at once, as in `BHMC`.

    Returns
    -------
    state, info : State, Info
    """
    hyper, rng, setting = check_hyper(hyper), check_rng(rng), resolve(likelihood)
    X = check_functional_data(
        X, state, allow_missing=setting.allows_missing, allow_sparse=setting.allows_sparse
    )
    bound = with_moves(transition_named(transition).bind(hyper), moves)
    if state.params.transition != bound.name:
        raise ValueError(
            f"the state is one of transition={state.params.transition!r}, and {bound.name!r} was "
            f"asked for."
        )
    state = bound.adopt(state)
    bound = bound.bind(bound.hyper._replace(n_components=state.hyper.n_components))
    check_choice(sampler, "sampler", bound.samplers)
    check_state(state)
    bound.check(setting, state.n_levels, sampler)
    family = setting.prepare(X)
    check_parameters(state, X, family.n_parameters, family.n_shared)
    chain = bound.sampler(state, LocalRows(family), sampler, rng)
    info = chain.sweep()
    return chain.state(), info
