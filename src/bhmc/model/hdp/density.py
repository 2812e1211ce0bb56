"""Densities of a state: log p(V), the log joint, the complete-data log likelihood."""

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from bhmc.likelihoods import Family, Likelihood, resolve
from bhmc.model.checks import check_functional_data, check_parameters, check_state
from bhmc.model.hdp.setting import check_hyper
from bhmc.model.state import Hyper, State, with_hyper

# A gamma draw of a smaller shape may have a logarithm beyond the doubles.
_VANISHED = 1e-300


def log_p_tree(sizes: NDArray, levels: NDArray, alpha: float) -> float:
    """log p(V | alpha), the probability of all paths under the nested Chinese restaurant process.

    sum over internal z of [ m_z log alpha + lgamma(alpha) - lgamma(N_z + alpha) ]
    + sum over non-root z of lgamma(N_z), with m_z the number of children of z.
    """
    internal = levels < levels.max()
    n_children = len(sizes) - 1
    return float(
        n_children * np.log(alpha)
        + (gammaln(alpha) - gammaln(sizes[internal] + alpha)).sum()
        + gammaln(sizes[1:]).sum()
    )


def log_p_weights(state: State) -> float:
    """log p(B): the root's weights, and beta_z ~ Dir(gamma beta_pa) for every other node.

    Infinite form, for the K occupied components as an unordered set:
    gamma0^K beta*_root^(gamma0 - 1) prod_k beta_root,k^-1. Finite form: Dir(gamma0 / K, ...).
    """
    hyper = state.hyper
    finite = hyper.n_components is not None
    log_weights = state.log_weights[:, :-1] if finite else state.log_weights
    root = log_weights[0]
    if finite:
        shapes = np.full(len(root), np.log(hyper.gamma0) - np.log(len(root)))
        log_p = log_dirichlet_pdf(root, shapes).sum()
    else:
        log_p = state.n_components * np.log(hyper.gamma0) - root[:-1].sum()
        log_p += (hyper.gamma0 - 1) * root[-1] if hyper.gamma0 != 1 else 0.0
    shapes = np.log(hyper.gamma) + log_weights[state.parents[1:]]
    return float(log_p + log_dirichlet_pdf(log_weights[1:], shapes).sum())


def log_dirichlet_pdf(log_w: NDArray, log_shapes: NDArray) -> NDArray:
    """log Dir(w; a) along the last axis, from logarithms: shapes may be too small for a double.

    lgamma(sum a) + sum_i [ (a_i - 1) log w_i + log a_i - lgamma(a_i + 1) ]. An entry whose shape
    vanishes has weight 0 almost surely: where both are below what a double holds it is left out.
    """
    shapes = np.exp(log_shapes)
    absent = (shapes < _VANISHED) & (log_w == -np.inf)
    log_w, log_a = np.where(absent, 0.0, log_w), np.where(absent, 0.0, log_shapes)
    with np.errstate(invalid="ignore"):  # (1 - 1) * -inf: a shape of exactly 1 ignores its weight
        powers = np.where(shapes == 1, 0.0, (shapes - 1) * log_w)
    terms = np.where(absent, 0.0, powers + log_a - gammaln(shapes + 1))
    return gammaln(shapes.sum(axis=-1)) + terms.sum(axis=-1)


def log_p_components(state: State) -> float:
    """log p(c | V, B) = sum_n log beta_{leaf(n), c_n}."""
    return float(state.log_weights[state.paths[:, -1], state.components].sum())


def log_joint(state: State, X, *, hyper: Hyper, likelihood: str | Likelihood) -> float:
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
    learned = hyper.priors
    state = with_hyper(state, hyper)
    check_state(state)
    family = setting.prepare(X)
    check_parameters(state, X, family.n_parameters, family.n_shared)
    family = family.at(state.shared)
    return (
        log_likelihood(state, family)
        + log_p_weights(state)
        + float(family.log_prior(state.theta).sum())
        + family.log_prior_shared()
        + sum(prior.log_density(getattr(state.hyper, name)) for name, prior in learned.items())
    )


def log_likelihood(state: State, family: Family) -> float:
    """log p(X, c, V | B, theta), the complete-data log likelihood, whose maximum is the estimate.

    sum_n [ log f(x_n; theta_c_n) + log beta_{leaf(n), c_n} ] + log p(V | alpha).
    """
    rows = np.arange(len(state.components))
    log_f = family.log_table(state.theta)[rows, state.components]
    log_tree = log_p_tree(state.sizes, state.levels, state.hyper.alpha)
    return float(log_f.sum()) + log_p_components(state) + log_tree
