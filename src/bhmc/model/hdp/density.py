"""Densities of a state: log p(V), log p(B), the complete-data log likelihood."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from bhmc.likelihoods import Family
from bhmc.model.state import State

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
    log_weights = state.params.log_weights
    log_weights = log_weights[:, :-1] if finite else log_weights
    root = log_weights[0]
    if finite:
        shapes = np.full(len(root), np.log(hyper.gamma0) - np.log(len(root)))
        log_p = log_dirichlet_pdf(root, shapes).sum()
    else:
        log_p = state.n_components * np.log(hyper.gamma0) - root[:-1].sum()
        log_p += (hyper.gamma0 - 1) * root[-1] if hyper.gamma0 != 1 else 0.0
    shapes = np.log(hyper.gamma) + log_weights[state.parents[1:]]
    return float(log_p + log_dirichlet_pdf(log_weights[1:], shapes).sum())


def log_concentrations(
    levels: NDArray, n_under: NDArray, customers: NDArray, n_fixed: int
) -> dict[str, Callable[[float], float]]:
    """log p(V | alpha), log p(the root's customers | gamma0) and log p(tables | gamma), by name.

    Parameters
    ----------
    levels, n_under : (slots,) arrays
        Level of each node (-1 where there is none) and the number of data under it.
    customers : (slots, columns) array
        n_zk: data at a leaf, the children's tables at an inner node; column 0 is 0.
    n_fixed : int
        K of the finite form; 0 in the infinite form.

    Returns
    -------
    dict
        Each a function of the concentration, less a constant.
    """
    below_root = levels > 0
    inner = (levels >= 0) & (levels < levels.max())
    n_z = customers.sum(axis=1)

    def of_alpha(x):
        return below_root.sum() * np.log(x) - _log_rising(x, n_under[inner]).sum()

    def of_gamma0(x):
        used = customers[0][customers[0] > 0]
        each = _log_rising(x / n_fixed, used).sum() if n_fixed else len(used) * np.log(x)
        return each - _log_rising(x, n_z[0])

    def of_gamma(x):
        return n_z[inner].sum() * np.log(x) - _log_rising(x, n_z[below_root]).sum()

    return {"alpha": of_alpha, "gamma0": of_gamma0, "gamma": of_gamma}


def _log_rising(x, n):
    """log Gamma(x + n) / Gamma(x)."""
    return gammaln(x + n) - gammaln(x)


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
    return float(state.params.log_weights[state.paths[:, -1], state.components].sum())


def log_likelihood(state: State, family: Family) -> float:
    """log p(X, c, V | B, theta), the complete-data log likelihood, whose maximum is the estimate.

    sum_n [ log f(x_n; theta_c_n) + log beta_{leaf(n), c_n} ] + log p(V | alpha).
    """
    rows = np.arange(len(state.components))
    log_f = family.log_table(state.theta)[rows, state.components]
    log_tree = log_p_tree(state.sizes, state.levels, state.hyper.alpha)
    return float(log_f.sum()) + log_p_components(state) + log_tree
