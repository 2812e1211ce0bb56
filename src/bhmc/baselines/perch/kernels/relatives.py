"""Parents, siblings and aunts of nodes."""

from bhmc._compiled.decorators import helper
from bhmc.baselines.perch.state import NONE, ROOT


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
