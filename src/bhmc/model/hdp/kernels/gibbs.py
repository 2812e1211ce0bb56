"""One datum by path Gibbs: component first, then the path."""

import math

import numpy as np

from bhmc._compiled.decorators import compiled, merged
from bhmc._compiled.random_source import uniform
from bhmc.model.hdp.kernels.births import break_remainders, grow_branch
from bhmc.model.hdp.kernels.mass import (
    find_path,
    move_mass,
    remove_last,
    root_mass_without,
    sum_all_mass,
    sum_mass_of,
)
from bhmc.model.hdp.kernels.nodes import count_path, has_room, settle
from bhmc.model.hdp.kernels.numbers import TOO_LARGE, TOO_SMALL, draw_index, largest, pick
from bhmc.model.hdp.kernels.row_weights import log_products, log_sum_at, weigh
from bhmc.model.hdp.workspace import (
    DEPTH,
    DONE,
    FACTOR,
    NEEDS_ROOM,
    NONE,
    PATHS_ACCEPTED,
    STALE,
    WEIGHT,
    WIDTH,
)


@merged
def draw_place(ws, k, target, lone):
    """The leaf, or the inner node with a new branch below it, given c_n = k; x_n plays no part.

    From the root down, at z: child y with weight share_y U_y[k], a new branch with alpha beta_zk.
    These add up to U_z[k], and `target` is uniform below U_root[k]: what it leaves over in the
    chosen child is uniform below the child's weight, so one random number serves the whole walk.
    A datum that is not `lone` is still counted along `on_path`: there `kept` has the true terms.
    """
    z = np.int64(0)
    counted = NONE if lone else ws.on_path[1]
    for level in range(1, ws.room[DEPTH] + 1):
        last, y = NONE, ws.first_child[z]
        while y != NONE:
            weight = ws.kept[0, level] if y == counted else ws.share[y] * ws.mass[y, k]
            if weight > 0.0:
                last = y
                if target < weight:
                    break
                target -= weight
            y = ws.next_sibling[y]
        if y == NONE and (last == NONE or ws.beta[z, k] > 0.0):
            return z
        z = last
        if z == counted:
            target /= ws.kept[1, level]
            counted = ws.on_path[min(level + 1, ws.room[DEPTH])]
        else:
            target /= ws.share[z]
            counted = NONE
    return z


@merged
def draw_far(ws, rates, log_f, row, leaf, rng):
    """(node, component) of a datum whose every product underflows: the same law, by logarithms.

    The datum is still counted at `leaf`; -1: it is not counted anywhere.

    Node first: a leaf z has weight prod along its path of N_child / (N_parent + alpha), times
    S_z = sum_k beta_zk f(x_n; theta_k); an inner z, "a new branch below z", the product along the
    path to z, times alpha / (N_z + alpha), times S_z. Then k with weight beta_zk f(x_n; theta_k).
    """
    slots = ws.level.shape[0]
    count_path(ws, leaf, np.int64(-1))
    for z in range(slots):
        ws.node_scratch[1, z] = -math.inf
    for level in range(ws.room[DEPTH] + 1):
        for z in range(slots):
            if ws.level[z] != level:
                continue
            log_path = 0.0
            if level > 0:
                up = ws.parent[z]
                step = ws.n_under[z] / (ws.n_under[up] + rates.alpha)
                log_path = ws.node_scratch[0, up] + math.log(step)
            ws.node_scratch[0, z] = log_path
            log_option = log_path + log_sum_at(ws, log_f, z, row)
            if level < ws.room[DEPTH]:
                log_option += math.log(rates.alpha / (ws.n_under[z] + rates.alpha))
            ws.node_scratch[1, z] = log_option
    z = draw_index(ws.node_scratch, np.int64(1), slots, rng)
    count_path(ws, leaf, np.int64(1))
    log_products(ws, log_f, z, row)
    return z, draw_index(ws.scratch, np.int64(WEIGHT), ws.room[WIDTH], rng)


@merged
def redraw_by_gibbs(ws, rates, tile, row, rng):
    """(v_n, c_n) from their exact joint conditional: c_n in proportion to f U_root, then v_n.

    Returns the component if it was just born, else 0. A datum that shares both its leaf and its
    component is not taken out: k is proposed with U_root as it is, which counts the datum and is
    too large everywhere, and drawn again where the random number lies beyond U_root[k] without it.
    If it comes back to the same leaf no U has changed.
    """
    leaf, k = np.int64(tile.leaf[row]), np.int64(tile.component[row])
    lone = ws.n_under[leaf] == 1 or (rates.n_fixed == 0 and ws.held[k] == 1)
    # The likelihood of its own component is a good unit as a rule, at no cost; else the largest.
    top = tile.log_f[row, k]
    if lone:
        remove_last(ws, rates, leaf, k)
    else:
        ws.held[k] -= 1
        find_path(ws, rates, leaf)
    total = 0.0
    for _ in range(2):
        total = weigh(ws, tile.log_f, ws.mass, np.int64(0), row, top)
        if TOO_SMALL < total < TOO_LARGE:
            break
        top = largest(tile.log_f, row, ws.room[WIDTH])
    if total > TOO_SMALL:
        k, target, bound = 0, 0.0, -1.0
        while target > bound:
            k, left = pick(ws.scratch, ws.block_sums, ws.room[WIDTH], uniform(rng) * total)
            target = left / ws.scratch[FACTOR, k]
            bound = math.inf if lone else root_mass_without(ws, k)
        z = draw_place(ws, k, target, lone)
    else:
        z, k = draw_far(ws, rates, tile.log_f, row, NONE if lone else leaf, rng)
    born = 0
    if k == 0:
        k = born = break_remainders(ws, rates, z, rng)
    if ws.level[z] < ws.room[DEPTH]:
        z = grow_branch(ws, rates, z, k, rng)
    if lone:
        leaf = NONE
    if leaf != z:
        move_mass(ws, rates, leaf, z)
    if born > 0:  # every node has given it a part of its remainder
        sum_mass_of(ws, rates, np.int64(0))
        sum_mass_of(ws, rates, k)
    settle(ws, tile, row, z, k)
    return born


@compiled
def gibbs_pass(ws, rates, tile, order, start, rng):
    """(v_n, c_n) of the tile's rows order[start:], one after the other, by path Gibbs.

    Returns (position to go on from, code): a component just born, NEEDS_ROOM or DONE.
    """
    if start == 0 or ws.room[STALE] > 0:
        sum_all_mass(ws, rates)
        ws.room[STALE] = 0
    for i in range(start, order.shape[0]):
        if not has_room(ws, rates):
            return i, NEEDS_ROOM
        born = redraw_by_gibbs(ws, rates, tile, order[i], rng)
        ws.events[PATHS_ACCEPTED] += 1
        if born > 0:
            return i + 1, born
    return order.shape[0], DONE
