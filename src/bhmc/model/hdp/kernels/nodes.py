"""Bookkeeping of nodes and components: who opens, closes, counts and leaves."""

import math

from bhmc._compiled.decorators import compiled, helper, merged
from bhmc._compiled.distributions import log_add
from bhmc.model.hdp.workspace import (
    COMPONENTS_DIED,
    DEPTH,
    FREE_COLUMNS,
    FREE_SLOTS,
    NODES_BORN,
    NODES_DIED,
    NONE,
)


@merged
def has_room(ws, rates):
    """Whether one more datum can be redrawn: L free slots; a free column in the infinite form."""
    return ws.room[FREE_SLOTS] >= ws.room[DEPTH] and (
        rates.n_fixed > 0 or ws.room[FREE_COLUMNS] > 0
    )


@merged
def link_last(ws, z, parent):
    """Make z the last child of `parent`."""
    ws.parent[z] = parent
    ws.next_sibling[z] = NONE
    y = ws.first_child[parent]
    if y == NONE:
        ws.first_child[parent] = z
    else:
        while ws.next_sibling[y] != NONE:
            y = ws.next_sibling[y]
        ws.next_sibling[y] = z


@merged
def unlink(ws, z):
    """Take z out of the list of its parent."""
    parent = ws.parent[z]
    y = ws.first_child[parent]
    if y == z:
        ws.first_child[parent] = ws.next_sibling[z]
    else:
        while ws.next_sibling[y] != z:
            y = ws.next_sibling[y]
        ws.next_sibling[y] = ws.next_sibling[z]


@merged
def open_node(ws, parent):
    """Take a free slot for the last child of `parent`; its weights are still to be drawn."""
    ws.room[FREE_SLOTS] -= 1
    z = ws.free[ws.room[FREE_SLOTS]]
    ws.level[z] = ws.level[parent] + 1
    ws.n_under[z] = 0
    ws.first_child[z] = NONE
    link_last(ws, z, parent)
    ws.events[NODES_BORN] += 1
    return z


@merged
def close_node(ws, z):
    """Give the slot of a node without data or children back."""
    unlink(ws, z)
    ws.level[z] = -1
    ws.parent[z] = NONE
    ws.free[ws.room[FREE_SLOTS]] = z
    ws.room[FREE_SLOTS] += 1
    ws.events[NODES_DIED] += 1


@helper
def drop_empty_nodes(ws, leaf):
    """Delete the nodes without data from `leaf` upwards; returns the first that stays."""
    z = leaf
    while ws.level[z] > 0 and ws.n_under[z] == 0:
        parent = ws.parent[z]
        close_node(ws, z)
        z = parent
    return z


@helper
def count_path(ws, leaf, step):
    """N_z <- N_z + step along the path to `leaf`."""
    z = leaf
    while z != NONE:
        ws.n_under[z] += step
        z = ws.parent[z]


@helper
def release_component(ws, k):
    """beta*_z <- beta*_z + beta_zk at every node: component k is unborn again."""
    for z in range(ws.level.shape[0]):
        if ws.level[z] >= 0:
            ws.log_beta[z, 0] = log_add(ws.log_beta[z, 0], ws.log_beta[z, k])
            ws.beta[z, 0] += ws.beta[z, k]
            ws.mass[z, 0] += ws.mass[z, k]
            ws.log_beta[z, k] = -math.inf
            ws.beta[z, k] = 0.0
            ws.mass[z, k] = 0.0
    ws.alive[k] = False
    ws.room[FREE_COLUMNS] += 1
    ws.events[COMPONENTS_DIED] += 1


@merged
def leave_component(ws, rates, k):
    """A datum leaves component k, which returns to the remainder at once if nobody holds it."""
    ws.held[k] -= 1
    if rates.n_fixed == 0 and ws.held[k] == 0:
        release_component(ws, k)


@merged
def settle(ws, tile, row, leaf, k):
    """Note leaf and component of a row of the tile."""
    tile.leaf[row] = leaf
    tile.component[row] = k
    ws.held[k] += 1


@compiled
def release_empty(ws):
    """Return every component without data to the remainder (the end of the published sweep)."""
    for k in range(1, ws.alive.shape[0]):
        if ws.alive[k] and ws.held[k] == 0:
            release_component(ws, k)
