"""One datum by Metropolis-Hastings from the nested Chinese restaurant process."""

import math

import numpy as np

from bhmc._compiled.decorators import compiled, helper, merged
from bhmc._compiled.random_source import uniform
from bhmc.model.hdp.kernels.births import break_remainders, grow_branch
from bhmc.model.hdp.kernels.nodes import (
    count_path,
    drop_empty_nodes,
    has_room,
    leave_component,
    settle,
)
from bhmc.model.hdp.kernels.numbers import TOO_SMALL, draw_index, pick
from bhmc.model.hdp.kernels.row_weights import log_products, log_sum_at, weigh_at
from bhmc.model.hdp.workspace import DEPTH, DONE, NEEDS_ROOM, NONE, PATHS_ACCEPTED, WEIGHT, WIDTH


@helper
def propose_leaf(ws, rates, rng):
    """A path from the nCRP given the other data: child y with N_y, a new child with alpha.

    New nodes draw their weights from the prior, Dir(gamma beta_pa). Returns the leaf.
    """
    z = np.int64(0)
    while ws.level[z] < ws.room[DEPTH]:
        target = uniform(rng) * (ws.n_under[z] + rates.alpha)
        y = ws.first_child[z]
        while y != NONE:
            target -= ws.n_under[y]
            if target < 0.0:
                break
            y = ws.next_sibling[y]
        if y == NONE:
            return grow_branch(ws, rates, z, np.int64(NONE), rng)
        z = y
    return z


@helper
def log_ratio(ws, log_f, new, old, row):
    """log(S_new / S_old)."""
    s_new, s_old = weigh_at(ws, log_f, new, row), weigh_at(ws, log_f, old, row)
    if min(s_new, s_old) > TOO_SMALL:
        return math.log(s_new / s_old)
    return log_sum_at(ws, log_f, new, row) - log_sum_at(ws, log_f, old, row)


@helper
def draw_component(ws, log_f, z, row, rng):
    """P(c_n = k | z) proportional to beta_zk f(x_n; theta_k); 0: a new one, beta*_z f*(x_n)."""
    total = weigh_at(ws, log_f, z, row)
    if total > TOO_SMALL:
        k, _ = pick(ws.scratch, ws.block_sums, ws.room[WIDTH], uniform(rng) * total)
        return k
    log_products(ws, log_f, z, row)
    return draw_index(ws.scratch, np.int64(WEIGHT), ws.room[WIDTH], rng)


@merged
def redraw_by_proposal(ws, rates, tile, row, literal, rng):
    """v_n by Metropolis-Hastings with c_n summed out, then c_n given v_n.

    Accept the proposed leaf with min(1, S_new / S_old): the proposal is the prior conditional, so
    all nCRP terms cancel. `literal` keeps two inexact steps of the published algorithm: a lone
    component is not released, and a new component is broken as if nobody had chosen it.
    Returns the component if it was just born, else 0.
    """
    old, k = np.int64(tile.leaf[row]), np.int64(tile.component[row])
    count_path(ws, old, np.int64(-1))
    if literal:
        ws.held[k] -= 1
    else:
        leave_component(ws, rates, k)
    new = propose_leaf(ws, rates, rng)
    leaf, loser = old, new
    if math.log1p(-uniform(rng)) < log_ratio(ws, tile.log_f, new, old, row):
        leaf, loser = new, old
        ws.events[PATHS_ACCEPTED] += 1
    drop_empty_nodes(ws, loser)
    k = draw_component(ws, tile.log_f, leaf, row, rng)
    born = k == 0
    if born:
        k = break_remainders(ws, rates, NONE if literal else leaf, rng)
    count_path(ws, leaf, np.int64(1))
    settle(ws, tile, row, leaf, k)
    return k if born else 0


@compiled
def mh_pass(ws, rates, tile, order, start, literal, rng):
    """(v_n, c_n) of the tile's rows order[start:] by Metropolis-Hastings; as `gibbs_pass`."""
    for i in range(start, order.shape[0]):
        if not has_room(ws, rates):
            return i, NEEDS_ROOM
        born = redraw_by_proposal(ws, rates, tile, order[i], literal, rng)
        if born > 0:
            return i + 1, born
    return order.shape[0], DONE
