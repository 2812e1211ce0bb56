"""Rotations that repair the tree."""

from bhmc._compiled.decorators import helper
from bhmc.baselines.perch.kernels.masking import is_masked, may_be_swapped
from bhmc.baselines.perch.kernels.relatives import has_aunt, replace_child, sibling_of
from bhmc.baselines.perch.kernels.summaries import refresh
from bhmc.baselines.perch.state import BY_MEAN


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
