"""Rows go into the tree; the tip of each row comes out."""

from bhmc._compiled.decorators import compiled, helper
from bhmc.baselines.perch.kernels.collapse import collapse_one
from bhmc.baselines.perch.kernels.relatives import is_tip, replace_child
from bhmc.baselines.perch.kernels.rotations import make_even, unmask
from bhmc.baselines.perch.kernels.search import nearest_tip, nearest_tip_by_beam
from bhmc.baselines.perch.kernels.summaries import add_datum, refresh
from bhmc.baselines.perch.state import DATA, FREE, NO_TEST, NONE, ROOT, TIPS


@helper
def take_row(nodes):
    """A row not in use."""
    nodes.room[FREE] -= 1
    return nodes.free[nodes.room[FREE]]


@helper
def new_tip(nodes, x):
    """A tip for the next datum, not yet in the tree."""
    tip, datum = take_row(nodes), nodes.room[DATA]
    nodes.parent[tip] = nodes.left[tip] = nodes.right[tip] = NONE
    nodes.size[tip], nodes.spread[tip] = 1, 0.0
    nodes.first[tip] = nodes.last[tip] = datum
    nodes.following[datum] = NONE
    for j in range(x.shape[0]):
        nodes.center[tip, j] = nodes.box[tip, 0, j] = nodes.box[tip, 1, j] = x[j]
    nodes.room[DATA] += 1
    nodes.room[TIPS] += 1
    return tip


@helper
def add_beside(nodes, tip, neighbour):
    """Make a new parent over `neighbour` and `tip`, and tell all nodes above of their new datum."""
    parent = take_row(nodes)
    replace_child(nodes, nodes.parent[neighbour], neighbour, parent)
    nodes.left[parent], nodes.right[parent] = neighbour, tip
    nodes.parent[neighbour] = nodes.parent[tip] = parent
    refresh(nodes, parent)
    node = nodes.parent[parent]
    while node != NONE:
        add_datum(nodes, node, tip)
        node = nodes.parent[node]


@compiled
def insert(nodes, X, masking, balance, beam, max_tips):
    """Insert the rows of X one after the other; `beam` and `max_tips` may be NONE."""
    for i in range(X.shape[0]):
        tip = new_tip(nodes, X[i])
        if nodes.room[ROOT] == NONE:
            nodes.room[ROOT] = tip
            continue
        if beam == NONE:
            neighbour = nearest_tip(nodes, tip)
        else:
            neighbour = nearest_tip_by_beam(nodes, tip, beam)
        add_beside(nodes, tip, neighbour)
        if masking != NO_TEST:
            unmask(nodes, tip, masking)
        if balance:
            make_even(nodes, tip, masking)
        if max_tips != NONE and nodes.room[TIPS] > max_tips:
            collapse_one(nodes)


@compiled
def fill_tips(nodes, tips):
    """(n,) the tip of each datum, in the order of insertion."""
    for node in range(nodes.left.shape[0]):
        if nodes.size[node] == 0 or not is_tip(nodes, node):
            continue
        datum = nodes.first[node]
        while datum != NONE:
            tips[datum] = node
            datum = nodes.following[datum]
