"""All rows at once, in plain NumPy: the slow reference of `redraw`.

Given the menu the rows are independent, and row n uses only the random numbers of (key, n). So the
result does not depend on blocks, threads or machines.
"""

import numpy as np
from numpy.typing import NDArray

from bhmc.rows.protocol import Menu

# Random numbers of a row: for its component, an entry for its leaf, keeping that.
_COMPONENT, _ENTRY, _KEEP = range(3)

# The second word of the key of the stream that all rows share.
_OF_NO_ROW = 2**64 - 1


def numbers_of(rows: NDArray[np.int64], key: int) -> NDArray[np.float64]:
    """(m, 3) U ~ Uniform[0, 1), keyed by (key, row).

    Parameters
    ----------
    rows : (m,) array
        Numbers of the rows among all rows.
    key : int
        Of this sweep.
    """
    found = np.empty((len(rows), 3))
    for i, row in enumerate(rows.tolist()):
        philox = np.random.Philox(key=np.array([key, row], dtype=np.uint64))
        found[i] = np.random.Generator(philox).random(3)
    return found


def anchors(rows: NDArray[np.int64], key: int, rate: float) -> NDArray[np.bool_]:
    """(m,) each row is an anchor with probability `rate`, whatever the state.

    Row n has number n of one stream.
    """
    found = np.empty(len(rows), dtype=bool)
    for i, row in enumerate(rows.tolist()):
        words = np.array([key, _OF_NO_ROW], dtype=np.uint64)
        philox = np.random.Philox(key=words, counter=row // 4)
        found[i] = np.random.Generator(philox).random(4)[row % 4] < rate
    return found


def redraw(
    menu: Menu,
    key: int,
    rows: NDArray[np.int64],
    log_f: NDArray[np.float64],
    leaf: NDArray[np.int32],
    component: NDArray[np.int32],
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """(leaf, component) of each row that may move ~ w_leaf beta_leaf,k f(x_n; theta_k) on the menu.

    A row may move if it is no anchor and its leaf and its component are open. All others stay:
    then nothing on the menu can lose its last row, and the move is reversible.

    Parameters
    ----------
    menu : Menu
        What rows may choose.
    key : int
        Of this sweep.
    rows : (m,) array
        Numbers of the rows among all rows.
    log_f : (m, A) array
        log f(x_n; theta_k) of the open components, less a number of the row's own.
    leaf, component : (m,) arrays
        Where the rows are; left unchanged.
    """
    u = numbers_of(rows, key)
    leaf, component = leaf.copy(), component.copy()
    moves = np.isin(leaf, menu.leaves) & np.isin(component, menu.columns)
    moves &= ~anchors(rows, key, menu.anchor_rate)
    for n in np.flatnonzero(moves):
        k = _choose(menu.log_weight + log_f[n], u[n, _COMPONENT])
        j = int(u[n, _ENTRY] * len(menu.leaves))
        if u[n, _KEEP] >= menu.accept[k, j]:
            j = menu.alias[k, j]
        leaf[n], component[n] = menu.leaves[j], menu.columns[k]
    return leaf, component


def _choose(log_weights: NDArray[np.float64], u: float) -> int:
    """P(k) proportional to exp(log_weights[k]), from one uniform number."""
    running = np.cumsum(np.exp(log_weights - log_weights.max()))
    k = int(np.searchsorted(running, u * running[-1], side="right"))
    return min(k, int(np.searchsorted(running, running[-1])))  # rounding put it beyond the end


def alias_table(weights: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """(accept, alias) such that entry j, drawn evenly, kept with accept[j], else alias[j], has
    probability proportional to its weight (Walker 1977; Vose 1991).

    Parameters
    ----------
    weights : (m,) array
        None below 0, not all 0.
    """
    m = len(weights)
    accept, alias = weights * (m / weights.sum()), np.arange(m)
    small = [j for j in range(m) if accept[j] < 1]
    large = [j for j in range(m) if accept[j] >= 1]
    while small and large:
        j, k = small.pop(), large[-1]
        alias[j] = k
        accept[k] -= 1 - accept[j]
        if accept[k] < 1:
            small.append(large.pop())
    for j in (*small, *large):  # what rounding has left over
        accept[j] = 1.0
    return accept, alias
