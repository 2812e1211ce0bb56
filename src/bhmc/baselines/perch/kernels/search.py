"""Searches for near and far tips."""

import numpy as np

from bhmc._compiled.decorators import helper
from bhmc.baselines.perch.kernels.distances import distance, farthest_in_box, nearest_in_box
from bhmc.baselines.perch.kernels.relatives import is_tip
from bhmc.baselines.perch.state import NONE, ROOT

# Stacks of searches that run inside each other.
OUTER, INNER = 0, 1


@helper
def nearest_tip(nodes, point):
    """The tip whose mean is nearest to that of `point`; of equals that of the earliest datum.

    Depth first, the nearer child first. A box farther than the best tip so far is left out; one
    that is as far is not, for the earlier datum may be in it.
    """
    stack, bound = nodes.stack[OUTER], nodes.bound[OUTER]
    best, best_distance = NONE, np.inf
    stack[0], bound[0], top = nodes.room[ROOT], 0.0, 1
    while top > 0:
        top -= 1
        node = stack[top]
        if bound[top] > best_distance:
            continue
        if is_tip(nodes, node):
            d = distance(nodes, node, point)
            if is_better(nodes, node, d, best, best_distance):
                best, best_distance = node, d
            continue
        near, far = nodes.left[node], nodes.right[node]
        near_bound = nearest_in_box(nodes, near, point)
        far_bound = nearest_in_box(nodes, far, point)
        if far_bound < near_bound:
            near, far, near_bound, far_bound = far, near, far_bound, near_bound
        if far_bound <= best_distance:
            stack[top], bound[top] = far, far_bound
            top += 1
        if near_bound <= best_distance:
            stack[top], bound[top] = near, near_bound
            top += 1
    return best


@helper
def is_better(nodes, tip, d, best, best_distance):
    """Whether a tip at distance d wins over the best so far."""
    if best == NONE or d != best_distance:
        return best == NONE or d < best_distance
    return nodes.first[tip] < nodes.first[best]


@helper
def nearest_tip_by_beam(nodes, point, width):
    """A near tip: from level to level only the `width` nodes with the nearest boxes go on."""
    here, bound, below = nodes.stack[OUTER], nodes.bound[OUTER], nodes.stack[INNER]
    best, best_distance = NONE, np.inf
    below[0], n_below = nodes.room[ROOT], 1
    while n_below > 0:
        kept = 0
        for i in range(n_below):
            node = below[i]
            if is_tip(nodes, node):
                d = distance(nodes, node, point)
                if is_better(nodes, node, d, best, best_distance):
                    best, best_distance = node, d
            else:
                near = nearest_in_box(nodes, node, point)
                kept = keep_sorted(here, bound, kept, width, node, near)
        n_below = 0
        for i in range(kept):
            if bound[i] <= best_distance:
                below[n_below], below[n_below + 1] = nodes.left[here[i]], nodes.right[here[i]]
                n_below += 2
    return best


@helper
def keep_sorted(kept, bound, n_kept, width, node, near):
    """Insert a node into a list of at most `width`, nearest first; of equals the earlier stays."""
    place = n_kept
    while place > 0 and near < bound[place - 1]:
        place -= 1
    if place >= width:
        return n_kept
    n_kept = min(n_kept + 1, width)
    for i in range(n_kept - 1, place, -1):
        kept[i], bound[i] = kept[i - 1], bound[i - 1]
    kept[place], bound[place] = node, near
    return n_kept


@helper
def farthest_distance(nodes, node, point):
    """The largest distance from the mean of `point` to the mean of a tip under `node`."""
    stack = nodes.stack[INNER]
    stack[0], top, largest = node, 1, 0.0
    while top > 0:
        top -= 1
        node = stack[top]
        if is_tip(nodes, node):
            largest = max(largest, distance(nodes, node, point))
        elif farthest_in_box(nodes, node, point) > largest:
            stack[top], stack[top + 1] = nodes.left[node], nodes.right[node]
            top += 2
    return largest


@helper
def has_nearer(nodes, node, point, limit):
    """Whether some tip under `node` is nearer to the mean of `point` than `limit`."""
    stack = nodes.stack[INNER]
    stack[0], top = node, 1
    while top > 0:
        top -= 1
        node = stack[top]
        if is_tip(nodes, node):
            if distance(nodes, node, point) < limit:
                return True
        elif nearest_in_box(nodes, node, point) < limit:
            stack[top], stack[top + 1] = nodes.left[node], nodes.right[node]
            top += 2
    return False
