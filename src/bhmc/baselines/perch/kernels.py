"""All compiled code of PERCH: search, insertion, rotations, collapse.

One file on purpose: Numba's disk cache does not notice edits to a helper in another file. The same
steps in plain Python, easier to read, are in `reference`; both make the same tree.

A node is a row of every array of `Nodes`. Distances are squared everywhere. A tip (a node without
children) stands for its data by their mean, which is the datum itself until tips are collapsed.
Nothing recurses: a tree may be as deep as it has data.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bhmc._compiled.decorators import compiled, helper

# "No node", "no datum", "no limit".
NONE = -1

# Places in Nodes.room: the root, tips in use, rows of `free` in use, data inserted so far.
ROOT, TIPS, FREE, DATA = range(4)

# Which test decides that a node is masked.
NO_TEST, BY_MEAN, BY_BOXES, EXACT = range(4)

# Means are sums of rounded numbers: sides that differ by less than this share are equal.
_EQUAL = 1e-9

# Stacks of searches that run inside each other.
_OUTER, _INNER = 0, 1


class Nodes(NamedTuple):
    """A growing binary tree, with room for nodes to come."""

    parent: NDArray[np.int64]
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    size: NDArray[np.int64]
    """(m,) number of data under each node."""
    box: NDArray[np.float64]
    """(m, 2, d) least and largest value of the data in every column."""
    center: NDArray[np.float64]
    """(m, d) mean of the data."""
    spread: NDArray[np.float64]
    """(m,) mean squared distance of the data from their mean."""
    first: NDArray[np.int64]
    """(m,) the earliest datum of a tip."""
    last: NDArray[np.int64]
    """(m,) the last of a tip's data in the order of `following`."""
    following: NDArray[np.int64]
    """(n,) the datum that comes after each in its tip, -1 for the last."""
    free: NDArray[np.int64]
    """(m,) rows not in use, a stack."""
    room: NDArray[np.int64]
    """(4,) see ROOT, TIPS, FREE, DATA."""
    stack: NDArray[np.int64]
    """(2, m) scratch of searches: nodes to visit."""
    bound: NDArray[np.float64]
    """(2, m) scratch: the nearest that data of these nodes can be."""


# ---- Distances ----


@helper
def distance(nodes, one, other):
    """Between the means of two nodes."""
    total = 0.0
    for j in range(nodes.center.shape[1]):
        gap = nodes.center[one, j] - nodes.center[other, j]
        total += gap * gap
    return total


@helper
def nearest_in_box(nodes, node, point):
    """From the mean of `point` to the nearest place in the box of `node`: a lower bound."""
    total = 0.0
    for j in range(nodes.center.shape[1]):
        x = nodes.center[point, j]
        gap = max(nodes.box[node, 0, j] - x, x - nodes.box[node, 1, j], 0.0)
        total += gap * gap
    return total


@helper
def farthest_in_box(nodes, node, point):
    """From the mean of `point` to the farthest corner of the box of `node`: an upper bound."""
    total = 0.0
    for j in range(nodes.center.shape[1]):
        x = nodes.center[point, j]
        gap = max(x - nodes.box[node, 0, j], nodes.box[node, 1, j] - x)
        total += gap * gap
    return total


@helper
def between_boxes(nodes, one, other):
    """The least distance between two boxes."""
    total = 0.0
    for j in range(nodes.center.shape[1]):
        below = nodes.box[one, 0, j] - nodes.box[other, 1, j]
        above = nodes.box[other, 0, j] - nodes.box[one, 1, j]
        gap = max(below, above, 0.0)
        total += gap * gap
    return total


@helper
def across_boxes(nodes, one, other):
    """The largest distance between two boxes."""
    total = 0.0
    for j in range(nodes.center.shape[1]):
        below = nodes.box[one, 1, j] - nodes.box[other, 0, j]
        above = nodes.box[other, 1, j] - nodes.box[one, 0, j]
        gap = max(below, above)
        total += gap * gap
    return total


@helper
def diagonal(nodes, node):
    """Of the box of a node: no two of its data are farther apart."""
    total = 0.0
    for j in range(nodes.center.shape[1]):
        gap = nodes.box[node, 1, j] - nodes.box[node, 0, j]
        total += gap * gap
    return total


# ---- Relatives ----


@helper
def is_tip(nodes, node):
    """Whether a node has no children."""
    return nodes.left[node] == NONE


@helper
def sibling_of(nodes, node):
    """The other child of its parent."""
    parent = nodes.parent[node]
    return nodes.right[parent] if nodes.left[parent] == node else nodes.left[parent]


@helper
def has_aunt(nodes, node):
    """Whether a node has a grandparent."""
    parent = nodes.parent[node]
    return parent != NONE and nodes.parent[parent] != NONE


@helper
def replace_child(nodes, parent, old, new):
    """Put `new` where `old` was; NONE is the parent of the root."""
    if parent == NONE:
        nodes.room[ROOT] = new
    elif nodes.left[parent] == old:
        nodes.left[parent] = new
    else:
        nodes.right[parent] = new
    nodes.parent[new] = parent


# ---- Search ----


@helper
def nearest_tip(nodes, point):
    """The tip whose mean is nearest to that of `point`; of equals that of the earliest datum.

    Depth first, the nearer child first. A box farther than the best tip so far is left out; one
    that is as far is not, for the earlier datum may be in it.
    """
    stack, bound = nodes.stack[_OUTER], nodes.bound[_OUTER]
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
    here, bound, below = nodes.stack[_OUTER], nodes.bound[_OUTER], nodes.stack[_INNER]
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
    stack = nodes.stack[_INNER]
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
    stack = nodes.stack[_INNER]
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


# ---- Masking ----


@helper
def masked_somewhere(nodes, node, sibling, aunt):
    """The paper's definition: some point of the node is nearer to some of its aunt's than to some
    of its sibling's. Parts of the node whose boxes rule that out are left out.
    """
    stack = nodes.stack[_OUTER]
    stack[0], top = node, 1
    while top > 0:
        top -= 1
        part = stack[top]
        if across_boxes(nodes, part, sibling) <= between_boxes(nodes, part, aunt):
            continue
        if not is_tip(nodes, part):
            stack[top], stack[top + 1] = nodes.left[part], nodes.right[part]
            top += 2
        elif has_nearer(nodes, aunt, part, farthest_distance(nodes, sibling, part)):
            return True
    return False


@helper
def masked_by_boxes(nodes, node, sibling, aunt):
    """Boxes prove that every point of the node is nearer to all its aunt's than its sibling's."""
    return between_boxes(nodes, node, sibling) > across_boxes(nodes, node, aunt)


@helper
def masked_in_the_mean(nodes, node, sibling, aunt):
    """The mean squared distance to the aunt's points is less than to the sibling's.

    It is the distance of the means, and the spread of both sides; the node's own is in both.
    """
    to_sibling = distance(nodes, node, sibling) + nodes.spread[sibling] + nodes.spread[node]
    to_aunt = distance(nodes, node, aunt) + nodes.spread[aunt] + nodes.spread[node]
    return to_sibling > to_aunt * (1.0 + _EQUAL)


@helper
def is_masked(nodes, node, sibling, aunt, masking):
    """By the test that was chosen."""
    if masking == BY_MEAN:
        return masked_in_the_mean(nodes, node, sibling, aunt)
    if masking == BY_BOXES:
        return masked_by_boxes(nodes, node, sibling, aunt)
    return masked_somewhere(nodes, node, sibling, aunt)


@helper
def may_be_swapped(nodes, node, sibling, aunt, masking):
    """Whether a swap for balance masks nothing new: the node is masked in the paper's sense before.

    A node wholly nearer to its sibling than to its aunt stays with its sibling. Where all rows are
    equal there is nothing to mask, and without balance they would be a chain.
    """
    if diagonal(nodes, nodes.parent[nodes.parent[node]]) == 0.0:
        return True
    if masking == BY_BOXES:
        return across_boxes(nodes, node, sibling) > between_boxes(nodes, node, aunt)
    return masked_somewhere(nodes, node, sibling, aunt)


# ---- Changes of the tree ----


@helper
def swap_sibling_and_aunt(nodes, node):
    """Rotate: the aunt of `node` becomes its sibling, the sibling goes up. Only the parent holds
    other data afterwards.
    """
    parent, sibling = nodes.parent[node], sibling_of(nodes, node)
    grandparent, aunt = nodes.parent[parent], sibling_of(nodes, parent)
    replace_child(nodes, parent, sibling, aunt)
    if nodes.left[grandparent] == parent:
        nodes.right[grandparent] = sibling
    else:
        nodes.left[grandparent] = sibling
    nodes.parent[sibling] = grandparent
    refresh(nodes, parent)


@helper
def refresh(nodes, node):
    """What a node says of its data, from its children."""
    left, right = nodes.left[node], nodes.right[node]
    count = nodes.size[left] + nodes.size[right]
    share = nodes.size[right] / count
    apart = distance(nodes, left, right)
    nodes.size[node] = count
    nodes.spread[node] = (
        (1.0 - share) * nodes.spread[left]
        + share * nodes.spread[right]
        + share * (1.0 - share) * apart
    )
    for j in range(nodes.center.shape[1]):
        gap = nodes.center[right, j] - nodes.center[left, j]
        nodes.center[node, j] = nodes.center[left, j] + share * gap
        nodes.box[node, 0, j] = min(nodes.box[left, 0, j], nodes.box[right, 0, j])
        nodes.box[node, 1, j] = max(nodes.box[left, 1, j], nodes.box[right, 1, j])


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


@helper
def add_datum(nodes, node, tip):
    """What a node says of its data, with that of `tip` among them."""
    count = nodes.size[node] + 1
    nodes.size[node] = count
    apart = 0.0
    for j in range(nodes.center.shape[1]):
        x = nodes.center[tip, j]
        gap = x - nodes.center[node, j]
        apart += gap * gap
        nodes.center[node, j] += gap / count
        nodes.box[node, 0, j] = min(nodes.box[node, 0, j], x)
        nodes.box[node, 1, j] = max(nodes.box[node, 1, j], x)
    nodes.spread[node] = (nodes.spread[node] + apart / count) * (count - 1) / count


@helper
def unmask(nodes, tip, masking):
    """Rotate where nodes are masked, from the sibling of the new tip upwards.

    As published, boxes and the exact test end at the first node that is not masked. Means are told
    apart at every node up to the root, for there they cost little.
    """
    node = sibling_of(nodes, tip)
    while has_aunt(nodes, node):
        parent = nodes.parent[node]
        if is_masked(nodes, node, sibling_of(nodes, node), sibling_of(nodes, parent), masking):
            swap_sibling_and_aunt(nodes, node)
        elif masking != BY_MEAN:
            break
        node = parent


@helper
def make_even(nodes, tip, masking):
    """Rotate where it makes the two sides of a node more even, from the new tip up to the root.

    Of two siblings the smaller is tried first, of equals the one on the path.
    """
    node = sibling_of(nodes, tip)
    while has_aunt(nodes, node):
        parent, other = nodes.parent[node], sibling_of(nodes, node)
        if nodes.size[other] < nodes.size[node]:
            node, other = other, node
        if evens_out(nodes, node, other, masking):
            swap_sibling_and_aunt(nodes, node)
        elif evens_out(nodes, other, node, masking):
            swap_sibling_and_aunt(nodes, other)
        node = parent


@helper
def evens_out(nodes, node, sibling, masking):
    """Whether to swap sibling and aunt of `node` for balance."""
    parent = nodes.parent[node]
    aunt = sibling_of(nodes, parent)
    before = abs(nodes.size[parent] - nodes.size[aunt])
    after = abs(nodes.size[node] + nodes.size[aunt] - nodes.size[sibling])
    return after < before and may_be_swapped(nodes, node, sibling, aunt, masking)


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


# ---- What Python calls ----


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
