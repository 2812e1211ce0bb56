"""Subtrees move to other parents, inside the pass that counts tables bottom-up.

At level l = L..2: tables of all nodes of the level are drawn, and with them the weights of levels
l - 1 and below are integrated out; those of levels up to l - 2 are not. Then every y of the level,
in random order, is taken out with its n rows and its tables t, and chooses a parent (g is gamma):

existing a below b: path(a) Gamma(g + n_a.) / Gamma(g + n_a. + t.)
                    * prod over k of Gamma(g beta_bk + n_ak + t_k) / Gamma(g beta_bk + n_ak),
a new a below an existing node of a level up to l - 2: `branches.weigh_new`.

In a tree of more than MOST_LEVELS levels, subtrees of so many levels move, on average: which ones
is drawn at random, whatever the state.

The move sees counts, never rows.
"""

import math

import numpy as np

from bhmc._compiled.decorators import compiled, helper, merged
from bhmc._compiled.random_source import uniform
from bhmc.model.hdp.kernels.branches import (
    grow_chain,
    is_open,
    list_entries,
    log_hang,
    log_rising_at,
    open_above,
    weigh_new,
    weigh_paths,
)
from bhmc.model.hdp.kernels.concentrations import log_rising
from bhmc.model.hdp.kernels.nodes import count_path, drop_empty_nodes, link_last, open_node, unlink
from bhmc.model.hdp.kernels.numbers import draw_index
from bhmc.model.hdp.kernels.weights import tables_draw
from bhmc.model.hdp.workspace import DEPTH, FREE_SLOTS, MOST_LEVELS, WIDTH


@merged
def draw_level(ws, rates, space, level, rng):
    """tables[z, k] ~ CRT(n_zk, gamma beta_pa,k) of the nodes of a level; the customers of the level
    above are their sums.
    """
    for z in range(ws.level.shape[0]):
        if ws.level[z] == level - 1:
            for k in range(ws.room[WIDTH]):
                ws.customers[z, k] = 0
            space.totals[z] = 0
    for z in range(ws.level.shape[0]):
        if ws.level[z] != level:
            continue
        up = ws.parent[z]
        space.tables[z, 0] = 0
        for k in range(1, ws.room[WIDTH]):
            space.tables[z, k] = tables_draw(ws.customers[z, k], rates.gamma * ws.beta[up, k], rng)
        add_tables(ws, space, z, up, np.int64(1))


@helper
def add_tables(ws, space, y, a, sign):
    """The customers of a gain (sign 1) or lose (-1) the tables of y.

    Columns beyond the width hold what an earlier sweep has left there.
    """
    customers, totals, tables = ws.customers, space.totals, space.tables
    for k in range(1, ws.room[WIDTH]):
        customers[a, k] += sign * tables[y, k]
        totals[a] += sign * tables[y, k]


@merged
def draw_order(ws, space, level, most, rng):
    """order = nodes of the level, the first ones at random: these are to move; returns how many.

    All, or so many that `most` pairs of a node and a parent are weighed: no level has more parents
    than nodes, and the number of its nodes never changes here.
    """
    size = 0
    for z in range(ws.level.shape[0]):
        if ws.level[z] == level:
            space.order[size] = z
            size += 1
    n_moves = min(size, most // size + 1)
    for i in range(n_moves):
        j = i + int(uniform(rng) * (size - i))
        space.order[i], space.order[j] = space.order[j], space.order[i]
    return n_moves


@helper
def takes_part(depth, rng):
    """Whether subtrees of a level move: in deep trees those of some levels, drawn at random.

    A move weighs all nodes, and deep trees have the more of them.
    """
    return depth <= MOST_LEVELS or uniform(rng) * depth < MOST_LEVELS


@merged
def weigh_parents(ws, rates, space, n, level):
    """node_scratch[1] of the open nodes one level above the block's top."""
    size, total = list_entries(space.block, space.entries, ws.room[WIDTH])
    log_gamma = math.log(rates.gamma)
    for a in range(ws.level.shape[0]):
        if ws.level[a] != level - 1 or not is_open(ws, a):
            continue
        b = ws.parent[a]
        value = log_hang(ws.node_scratch[0, a], rates.alpha, n, np.int64(0))
        value -= log_rising(rates.gamma + space.totals[a], float(total))
        for i in range(size):
            k = space.entries[i]
            shape, log_shape = rates.gamma * ws.beta[b, k], log_gamma + ws.log_beta[b, k]
            value += log_rising_at(shape, log_shape, ws.customers[a, k], space.block[k])
        ws.node_scratch[1, a] = value


@merged
def new_parent(ws, rates, space, place, kept, level, rng):
    """The node above the block's top: `place`, or a new node below it."""
    a = place
    if ws.level[place] < level - 1:
        a = grow_chain(ws, rates, space, place, kept, level - 2 - ws.level[place], rng)
        a = open_node(ws, a)
        for k in range(ws.room[WIDTH]):
            ws.customers[a, k] = 0
        space.totals[a] = 0
    return a


@merged
def regraft_subtree(ws, rates, space, y, level, rng):
    """The parent of y, drawn from its conditional; see the top of the file."""
    n, old = ws.n_under[y], ws.parent[y]
    count_path(ws, old, -n)
    add_tables(ws, space, y, old, np.int64(-1))
    for k in range(ws.room[WIDTH]):
        space.block[k] = space.tables[y, k]
    weigh_paths(ws, rates, float(n), level - 1)
    weigh_parents(ws, rates, space, float(n), level)
    kept = weigh_new(ws, rates, space, float(n), level, level - 2, old, rng)
    place = draw_index(ws.node_scratch, np.int64(1), ws.level.shape[0], rng)
    a = old
    if place != open_above(
        ws.parent, ws.n_under, old
    ):  # else y stays, with the nodes that it alone holds
        unlink(ws, y)
        drop_empty_nodes(ws, old)
        a = new_parent(ws, rates, space, place, kept, level, rng)
        link_last(ws, y, a)
    count_path(ws, a, n)
    add_tables(ws, space, y, a, np.int64(1))
    for k in range(ws.room[WIDTH]):
        space.block[k] = 0


@compiled
def regraft(ws, rates, space, most, rng):
    """Tables of all nodes bottom-up, and with them the parents of subtrees, from leaves' customers.

    progress = (level, moves done in it, moves to make in it or -1), (L, 0, -1) at first. Returns
    whether the pass has ended; else the room has run out, and the next call goes on.
    """
    progress = space.progress
    while progress[0] > 0:
        level = progress[0]
        if progress[2] < 0:
            draw_level(ws, rates, space, level, rng)
            moves = level > 1 and takes_part(ws.room[DEPTH], rng)
            progress[2] = draw_order(ws, space, level, most, rng) if moves else 0
        while progress[1] < progress[2]:
            if ws.room[FREE_SLOTS] < ws.room[DEPTH]:
                return False
            regraft_subtree(ws, rates, space, space.order[progress[1]], level, rng)
            progress[1] += 1
        progress[0], progress[1], progress[2] = level - 1, 0, -1
    return True
