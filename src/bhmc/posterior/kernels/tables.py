"""`Tables`: one tree over the rows beside many draws of it, and how many rows two clusters share.

Levels are counted from 0, the root; arrays over levels have a row for each. Nodes of a level are
slots 0..n-1. `q` numbers the clusters of all levels and draws. Which of our nodes share rows with
cluster q, and how many, is a list of pairs: a cluster of s rows meets at most s nodes, so all lists
together have levels x draws x rows places, however many nodes there are.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bhmc._compiled.decorators import merged

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Floats = NDArray[np.float64]


class Tables(NamedTuple):
    """All that the search changes, and what it looks up."""

    node: Ints
    """(L + 1, n) our node of each row."""
    parent: Ints
    """(L + 1, n) slot of each node's parent, one level up."""
    size: Ints
    """(L + 1, n) rows of each node."""
    slots: Ints
    """(L + 1, n) the slots of a level, those in use first."""
    place: Ints
    """(L + 1, n) where each slot is in `slots`."""
    n_nodes: Longs
    """(L + 1,) slots in use."""
    most: Longs
    """(L + 1,) nodes that a level may have."""
    cluster: Ints
    """(L + 1, n, T) the cluster q of each row in each draw; the root's are not used."""
    first: Longs
    """(Q,) where the list of q begins."""
    used: Ints
    """(Q,) length of the list of q."""
    met: Ints
    """The nodes in the lists."""
    both: Ints
    """Rows that q and the node of the same place share."""
    moving: Ints
    """(Q,) scratch: rows of the moving block in each cluster; 0 between moves."""
    touched: Ints
    """(Q,) scratch: the clusters with rows in the moving block."""
    candidates: Ints
    """(L + 1, n) scratch: the nodes that the moving block may join."""
    n_candidates: Longs
    """(L + 1,) how many there are; 1 for the root's level."""
    is_candidate: NDArray[np.bool_]
    """(L + 1, n) scratch: whether a node is among them; False between moves."""
    cost: Floats
    """(L + 1, n) scratch: what it costs to put the moving block under each node."""
    chosen: Ints
    """(L + 1,) scratch: where the moving block goes."""
    f: Floats
    """(n + 1,) x log x."""
    size_cost: Floats
    """(n + 1,) what a node of so many rows costs: A x log x."""


@merged
def find(tables, q, node):
    """The place of a node in the list of q, or the end of that list."""
    place = tables.first[q]
    end = place + tables.used[q]
    while place < end and tables.met[place] != node:
        place += 1
    return place


@merged
def count_in(tables, level, row, node):
    """Row `row` joins a node of a level."""
    tables.node[level, row] = node
    tables.size[level, node] += 1
    for t in range(tables.cluster.shape[2]):
        q = tables.cluster[level, row, t]
        place = find(tables, q, node)
        if place == tables.first[q] + tables.used[q]:
            tables.used[q] += 1
            tables.met[place] = node
            tables.both[place] = 0
        tables.both[place] += 1


@merged
def count_out(tables, level, row):
    """Row `row` leaves its node of a level."""
    node = tables.node[level, row]
    tables.size[level, node] -= 1
    for t in range(tables.cluster.shape[2]):
        q = tables.cluster[level, row, t]
        place = find(tables, q, node)
        tables.both[place] -= 1
        if tables.both[place] == 0:
            tables.used[q] -= 1
            last = tables.first[q] + tables.used[q]
            tables.met[place] = tables.met[last]
            tables.both[place] = tables.both[last]


@merged
def open_node(tables, level, parent):
    """Take a free slot of a level for a child of `parent`."""
    node = tables.slots[level, tables.n_nodes[level]]
    tables.n_nodes[level] += 1
    tables.parent[level, node] = parent
    return node


@merged
def close_node(tables, level, node):
    """Give the slot of a node without rows back."""
    tables.n_nodes[level] -= 1
    place, last = tables.place[level, node], tables.n_nodes[level]
    other = tables.slots[level, last]
    tables.slots[level, place] = other
    tables.place[level, other] = place
    tables.slots[level, last] = node
    tables.place[level, node] = last
