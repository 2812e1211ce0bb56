"""A block of rows becomes a component of its own, or such a component joins another.

A cell is the rows of one leaf and one component. The weights of leaves are integrated out, those of
inner nodes are not; g is gamma. A block of n rows that is in no cell has these places, beta_.0
being the remainders:

a new component at leaf z below q: path(z) Gamma(g + N_z) / Gamma(g + N_z + n) Gamma(n) g beta_q0;
in a new branch below a: hang(a, L) Gamma(g) / Gamma(g + n) Gamma(n) g beta_a0;
in the cell (z, k), z below q: path(z) Gamma(g + N_z) / Gamma(g + N_z + n)
                               * Gamma(g beta_qk + n_zk + n) / Gamma(g beta_qk + n_zk) gain_k.

A new component has one table at its leaf, and so one customer at every node above, the root
included: Gamma(n) g is what n customers at one table leave of Gamma(g b + n) / Gamma(g b), and the
shares that it takes of the remainders have a mean of 1 under the root's law gamma0 u^-1
(1 - u)^(gamma0 - 1) and one customer.
"""

import math

import numpy as np

from bhmc._compiled.decorators import compiled, helper, merged
from bhmc._compiled.distributions import log_add
from bhmc.model.hdp.kernels.births import break_remainders, grow_branch
from bhmc.model.hdp.kernels.branches import is_open, log_hang, log_rising_at, weigh_paths
from bhmc.model.hdp.kernels.concentrations import log_rising
from bhmc.model.hdp.kernels.nodes import count_path, drop_empty_nodes, release_component
from bhmc.model.hdp.kernels.numbers import draw_index
from bhmc.model.hdp.workspace import DEPTH, NONE, WIDTH


@helper
def weigh_places(ws, rates, n, gone):
    """node_scratch[1] of the leaves, and of new branches below inner nodes, for a new component.

    The component `gone` counts to the remainder. Returns the log of the sum.
    """
    log_table, depth, total = math.lgamma(n) + math.log(rates.gamma), ws.room[DEPTH], -math.inf
    for z in range(ws.level.shape[0]):
        if ws.level[z] < 0 or not is_open(ws, z):
            continue
        above = z
        if ws.level[z] == depth:
            above = ws.parent[z]
            value = ws.node_scratch[0, z] - log_rising(rates.gamma + ws.n_under[z], n)
        else:
            value = log_hang(ws.node_scratch[0, z], rates.alpha, n, depth - 1 - ws.level[z])
            value -= log_rising(rates.gamma, n)
        left = ws.log_beta[above, 0]
        if gone != NONE:
            left = log_add(left, ws.log_beta[above, gone])
        ws.node_scratch[1, z] = value + log_table + left
        total = log_add(total, ws.node_scratch[1, z])
    return total


@merged
def log_cell(ws, rates, z, k, n, gain):
    """The log weight of the cell (z, k)."""
    up = ws.parent[z]
    value = ws.node_scratch[0, z] - log_rising(rates.gamma + ws.n_under[z], float(n)) + gain[k]
    shape, log_shape = rates.gamma * ws.beta[up, k], math.log(rates.gamma) + ws.log_beta[up, k]
    return value + log_rising_at(shape, log_shape, ws.customers[z, k], n)


@helper
def find_cell(ws, rates, n, gain, target):
    """(z, k, log of the sum of the cells' weights up to (z, k)): the first cell with which that sum
    is above `target`, the last cell where it never is.
    """
    total, leaf, component = -math.inf, NONE, NONE
    for z in range(ws.level.shape[0]):
        if ws.level[z] != ws.room[DEPTH] or not is_open(ws, z):
            continue
        for k in range(1, ws.room[WIDTH]):
            if ws.customers[z, k] > 0:
                total = log_add(total, log_cell(ws, rates, z, k, n, gain))
                leaf, component = z, k
                if total > target:
                    return leaf, component, total
    return leaf, component, total


@helper
def take_out(ws, z, k, n):
    """n rows leave the cell (z, k)."""
    count_path(ws, z, -n)
    ws.customers[z, k] -= n


@compiled
def weigh_block(ws, rates, z, k, n, is_split, gain, u):
    """n rows out of the cell (z, k): (leaf, component, log of new places over cells).

    gain[j] = log m(rows of j and the block) / m(rows of j). The cell is drawn with the random
    number u. Without `is_split` component k is gone with the block. Nothing is changed.
    """
    take_out(ws, z, k, n)
    weigh_paths(ws, rates, float(n), ws.room[DEPTH])
    log_new = weigh_places(ws, rates, float(n), np.int64(NONE) if is_split else k)
    _, _, log_cells = find_cell(ws, rates, n, gain, math.inf)
    leaf, component, _ = find_cell(ws, rates, n, gain, log_cells + math.log(u))
    take_out(ws, z, k, -n)
    return leaf, component, log_new - log_cells


@compiled
def split_off(ws, rates, z, k, n, rng):
    """n rows of the cell (z, k) become a component at a place drawn by its weight: (leaf, column).

    One of its customers is at every node above. There is room for it.
    """
    take_out(ws, z, k, n)
    weigh_paths(ws, rates, float(n), ws.room[DEPTH])
    weigh_places(ws, rates, float(n), np.int64(NONE))
    leaf = draw_index(ws.node_scratch, np.int64(1), ws.level.shape[0], rng)
    is_leaf = ws.level[leaf] == ws.room[DEPTH]
    new = break_remainders(ws, rates, ws.parent[leaf] if is_leaf else leaf, rng)
    if not is_leaf:
        leaf = grow_branch(ws, rates, leaf, new, rng)
    take_out(ws, leaf, new, -n)
    ws.held[k] -= n
    ws.held[new] = n
    return leaf, new


@compiled
def join_cell(ws, z, k, n, leaf, component):
    """All n rows of component k, which are at leaf z, go to the cell (leaf, component)."""
    take_out(ws, z, k, n)
    drop_empty_nodes(ws, z)
    release_component(ws, k)
    take_out(ws, leaf, component, -n)
    ws.held[k] = 0
    ws.held[component] += n
