"""The generative process, forwards, whatever the transition: `sample_prior` and `sample_data`."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bhmc._validation.parameters import check_rng, check_whole
from bhmc.likelihoods import Likelihood, resolve
from bhmc.model.hyper import check_hyper
from bhmc.model.registry import transition_named
from bhmc.model.state import Hyper, State


def sample_prior(
    n: int,
    *,
    n_levels: int,
    hyper: Hyper,
    likelihood: str | Likelihood,
    rng: np.random.Generator,
    n_features: int = 1,
    n_components: int | None = None,
    transition: Any = "hdp",
) -> tuple[State, NDArray[np.float64]]:
    """Draw everything from the model: tree, components, their parameters, and data.

    With the transition "hdp": beta_root ~ GEM(gamma0), theta_k ~ H; each datum walks down by the
    nCRP(alpha); a new node draws beta_z ~ DP(gamma, beta_pa); at the leaf
    c_n ~ Categorical(beta_leaf) and x_n ~ F(theta_c_n).

    Parameters
    ----------
    n : int
        Number of data.
    n_levels : int
        L, the number of steps from the root to a leaf.
    hyper : Hyper
        Concentrations, or their priors: then they are drawn first. Its `n_components` selects the
        finite form too.
    likelihood : str or Likelihood
        The family with its prior H. A name stands for the family's own numbers ("gaussian" is
        `Gaussian(1, 0, 1)`): only `BHMC` takes scales from data.
    rng : numpy.random.Generator
        Where all randomness comes from.
    n_features : int, default=1
        Columns of X.
    n_components : int, optional
        K of the finite form: beta_root ~ Dir(gamma0 / K, ...), beta_z ~ Dir(gamma beta_pa).
    transition : str or Transition, default="hdp"
        How a child's components relate to its parent's.

    Returns
    -------
    state, X : State, (n, n_features) array
    """
    n, n_levels = check_whole(n, "n", 1), check_whole(n_levels, "n_levels", 1)
    n_features, rng = check_whole(n_features, "n_features", 1), check_rng(rng)
    bound, setting = transition_named(transition), resolve(likelihood)
    bound = bound.bind(_with_form(hyper, n_components))
    bound.check(setting, n_levels, bound.samplers[0])
    return bound.simulate(n, n_levels=n_levels, likelihood=setting, n_features=n_features, rng=rng)


def sample_data(
    state: State, *, likelihood: str | Likelihood, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Draw fresh data given the state: x_n ~ F(theta_c_n).

    Parameters
    ----------
    state : State
        Whose components and component parameters are used; left unchanged.
    likelihood : str or Likelihood
        The family. A name stands for the family's own numbers, as in `sample_prior`.
    rng : numpy.random.Generator
        The source of randomness.

    Returns
    -------
    (n, d) array
        A row of data for each row of the state.
    """
    likelihood = resolve(likelihood).at(state.shared)
    return likelihood.sample_data(state.theta[state.components], check_rng(rng))


def _with_form(hyper: Hyper, n_components: int | None) -> Hyper:
    """`hyper` with the finite form named in the argument; a contradiction is refused."""
    hyper = check_hyper(hyper)
    if n_components is None:
        return hyper
    if hyper.n_components not in (None, n_components):
        raise ValueError(
            f"n_components={n_components!r} contradicts hyper.n_components={hyper.n_components!r}."
        )
    return check_hyper(hyper._replace(n_components=n_components))
