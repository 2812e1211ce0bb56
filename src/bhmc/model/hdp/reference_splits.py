"""The slow twin of the move "split": the same numbers and draws as `kernels.splits`. g is gamma."""

import math

import numpy as np
from scipy.special import gammaln, logsumexp

from bhmc.model.hdp.reference_moves import log_hang, log_path, log_rising, open_nodes
from bhmc.model.hdp.reference_parts import (
    break_component,
    draw_index,
    drop_empty_nodes,
    grow_branch,
    path_to,
    release_component,
)
from bhmc.model.hdp.workspace import DEPTH, NONE


def weigh_block(ws, rates, z, k, n, is_split, gain, u):
    """n rows out of the cell (z, k): (leaf, component, log of new places over cells).

    The cell is drawn with u, in proportion to path(z') Gamma(g + N) / Gamma(g + N + n)
    Gamma(g b + n_k + n) / Gamma(g b + n_k) exp(gain_k), b its parent's weight of the component.
    """
    _move(ws, z, k, -n)
    log_new = logsumexp(_log_places(ws, rates, n, NONE if is_split else k))
    cells = [
        (leaf, int(j))
        for leaf in open_nodes(ws, ws.room[DEPTH], ws.room[DEPTH])
        for j in np.flatnonzero(ws.customers[leaf])
    ]
    log_cells = np.array([_log_cell(ws, rates, leaf, j, n) + gain[j] for leaf, j in cells])
    _move(ws, z, k, n)
    running = np.logaddexp.accumulate(log_cells)
    chosen = min(int((running <= running[-1] + math.log(u)).sum()), len(cells) - 1)
    return *cells[chosen], log_new - running[-1]


def split_off(ws, rates, z, k, n, rng):
    """n rows of the cell (z, k) become a component at a place drawn by weight: (leaf, column)."""
    _move(ws, z, k, -n)
    leaf = draw_index(_log_places(ws, rates, n, NONE), rng)
    is_leaf = ws.level[leaf] == ws.room[DEPTH]
    new = break_component(ws, rates, int(ws.parent[leaf]) if is_leaf else leaf, rng)
    leaf = grow_branch(ws, rates, leaf, new, rng)
    _move(ws, leaf, new, n)
    ws.held[[k, new]] = ws.held[k] - n, n
    return leaf, new


def join_cell(ws, z, k, n, leaf, component):
    """All n rows of component k, which are at leaf z, go to the cell (leaf, component)."""
    _move(ws, z, k, -n)
    drop_empty_nodes(ws, z)
    release_component(ws, k)
    _move(ws, leaf, component, n)
    ws.held[[k, component]] = 0, ws.held[component] + n


def _move(ws, z, k, n):
    """n more rows of component k at leaf z."""
    ws.n_under[path_to(ws, z)] += n
    ws.customers[z, k] += n


def _log_places(ws, rates, n, gone):
    """(slots,) log weights of new places, a leaf or a new branch below an inner node. There the
    block has one table, Gamma(n) g beta*, beta* the remainder above with that of `gone`.
    """
    log_weights, depth = np.full(len(ws.level), -np.inf), ws.room[DEPTH]
    for z in open_nodes(ws, 0, depth):
        is_leaf = ws.level[z] == depth
        above, total = (ws.parent[z], rates.gamma + ws.n_under[z]) if is_leaf else (z, rates.gamma)
        left = ws.log_beta[above, 0]
        if gone != NONE:
            left = np.logaddexp(left, ws.log_beta[above, gone])
        value = log_path(ws, rates, z, n) if is_leaf else log_hang(ws, rates, z, n, depth)
        value += gammaln(total) - gammaln(total + n) + gammaln(n) + math.log(rates.gamma)
        log_weights[z] = value + left
    return log_weights


def _log_cell(ws, rates, z, k, n):
    """log of path(z) Gamma(g + N) / Gamma(g + N + n) Gamma(g b + n_k + n) / Gamma(g b + n_k)."""
    total, up = rates.gamma + ws.n_under[z], ws.parent[z]
    value = log_path(ws, rates, z, n) + gammaln(total) - gammaln(total + n)
    log_b = math.log(rates.gamma) + ws.log_beta[up, k]
    return value + log_rising(rates.gamma * ws.beta[up, k], log_b, ws.customers[z, k], n)
