"""Tests that decide whether a node is nearer to its aunt than to its sibling."""

from bhmc._compiled.decorators import helper
from bhmc.baselines.perch.kernels.distances import across_boxes, between_boxes, diagonal, distance
from bhmc.baselines.perch.kernels.relatives import is_tip
from bhmc.baselines.perch.kernels.search import OUTER, farthest_distance, has_nearer
from bhmc.baselines.perch.state import BY_BOXES, BY_MEAN

# Means are sums of rounded numbers: sides that differ by less than this share are equal.
_EQUAL = 1e-9


@helper
def masked_somewhere(nodes, node, sibling, aunt):
    """The paper's definition: some point of the node is nearer to some of its aunt's than to some
    of its sibling's. Parts of the node whose boxes rule that out are left out.
    """
    stack = nodes.stack[OUTER]
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
