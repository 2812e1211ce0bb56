"""The density of rows not seen, given a draw."""

import numpy as np
from numpy.typing import NDArray

from bhmc._state import State
from bhmc.likelihoods import Family


def component_weights(state: State) -> NDArray[np.float64]:
    """(K + 1,): probability of each component for the next datum, the remainder last.

    U_root / (N + alpha), where a leaf has U_z = beta_z and counts N_z times in its parent, and an
    inner node has U_z = alpha beta_z + sum over children y of N_y / (N_y + alpha) U_y.
    """
    alpha, sizes, parents = state.hyper.alpha, state.sizes.astype(float), state.parents
    leaf = state.levels == state.n_levels
    U = state.weights * np.where(leaf, 1.0, alpha)[:, None]
    share = np.where(leaf, sizes, sizes / (sizes + alpha))
    for z in range(len(parents) - 1, 0, -1):  # children come after their parents
        U[parents[z]] += share[z] * U[z]
    return U[0] / (sizes[0] + alpha)


def log_predictive(state: State, family: Family) -> NDArray[np.float64]:
    """(n,): log p(x_n | state) of the rows `family` is bound to, which the state has not seen.

    log( sum_k w_k f(x_n; theta_k) + w* f*(x_n) ) with w the `component_weights`.
    """
    family = family.at(state.shared)
    with np.errstate(divide="ignore"):
        log_w = np.log(component_weights(state))
    log_f = family.log_table(state.theta) + log_w[:-1]
    rest = family.log_marginal() + log_w[-1]
    return np.logaddexp(np.logaddexp.reduce(log_f, axis=1, initial=-np.inf), rest)
