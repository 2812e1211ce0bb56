"""Two tips become one."""

import numpy as np

from bhmc._compiled.decorators import helper
from bhmc.baselines.perch.kernels.distances import diagonal
from bhmc.baselines.perch.kernels.relatives import is_tip
from bhmc.baselines.perch.kernels.search import is_better
from bhmc.baselines.perch.state import FREE, NONE, TIPS


@helper
def collapse_one(nodes):
    """Make a tip of the two sibling tips whose common box has the smallest diagonal; of equals
    those with the earliest datum.
    """
    best, least = NONE, np.inf
    for node in range(nodes.left.shape[0]):
        if nodes.size[node] == 0 or is_tip(nodes, node):
            continue
        left, right = nodes.left[node], nodes.right[node]
        if not (is_tip(nodes, left) and is_tip(nodes, right)):
            continue
        nodes.first[node] = min(nodes.first[left], nodes.first[right])
        if is_better(nodes, node, diagonal(nodes, node), best, least):
            best, least = node, diagonal(nodes, node)
    put_together(nodes, best)


@helper
def put_together(nodes, node):
    """Give the data of two tips to their parent, and their rows back."""
    early, late = nodes.left[node], nodes.right[node]
    if nodes.first[late] < nodes.first[early]:
        early, late = late, early
    nodes.first[node], nodes.last[node] = nodes.first[early], nodes.last[late]
    nodes.following[nodes.last[early]] = nodes.first[late]
    nodes.left[node] = nodes.right[node] = NONE
    give_back(nodes, late)
    give_back(nodes, early)
    nodes.room[TIPS] -= 1


@helper
def give_back(nodes, node):
    """A row is free again; its size of 0 says so."""
    nodes.size[node], nodes.parent[node] = 0, NONE
    nodes.free[nodes.room[FREE]] = node
    nodes.room[FREE] += 1
