"""A tree in the Newick format, which programs for phylogenies read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bhmc.tree.checks import known_support
from bhmc.tree.node_names import name_of

if TYPE_CHECKING:
    from bhmc.tree import Tree

# A label of other characters is quoted; even of `_`, which stands for a space in a bare label.
_BARE = re.compile(r"[A-Za-z0-9.+\-]+")


def newick(tree: Tree, names: Sequence | None, *, lengths: bool, labels: str, items: bool) -> str:
    """The text of `Tree.to_newick`."""
    node_labels = _node_labels(tree, labels)
    length = _Lengths(tree, lengths)
    pieces: list[str] = []
    # A node is met twice: opened, when its children go on the stack, and closed, as ~id. Each entry
    # also holds the last node written above.
    stack = [(0, -1)]
    while stack:
        node, above = stack.pop()
        if node < 0:
            # In the place of the comma after the last child.
            pieces[-1] = f"){node_labels[~node]}" + length.between(above, ~node)
            pieces.append(",")
            continue
        node = _last_of_chain(tree, node)
        if tree.levels[node] < tree.n_levels:
            pieces.append("(")
            stack.append((~node, above))
            children = reversed(tree._index.children_of(node).tolist())
            stack.extend((child, node) for child in children)
            continue
        if items:
            rows = tree.members(node).tolist()
            listed = [_quoted(str(row if names is None else names[row])) for row in rows]
            if tree.heights is not None and len(rows) == 1 and above >= 0:
                pieces.append(listed[0] + length.between(above, -1))
            else:
                inside = ",".join(one + length.between(node, -1) for one in listed)
                pieces.append(f"({inside}){node_labels[node]}" + length.between(above, node))
        else:
            pieces.append(_own_label(tree, node) + length.between(above, node))
        pieces.append(",")
    pieces[-1] = ";"
    return "".join(pieces)


class _Lengths:
    """Texts of branch lengths: differences of heights where they are known, else 1 a level."""

    def __init__(self, tree: Tree, wanted: bool):
        self._wanted = wanted
        self._heights = None if tree.heights is None else tree.heights.tolist()

    def between(self, above: int, below: int) -> str:
        """From node `above` (-1: nothing, below is the root) to `below` (-1: a datum, at 0)."""
        if not self._wanted or above < 0:
            return ""
        if self._heights is None:
            return ":1"
        low = self._heights[below] if below >= 0 else 0.0
        return f":{self._heights[above] - low!r}"


def _last_of_chain(tree: Tree, node: int) -> int:
    """The end of a chain of only children, which are left out where heights are known."""
    if tree.heights is None:
        return node
    children = tree._index.children_of(node)
    while len(children) == 1:
        node = int(children[0])
        children = tree._index.children_of(node)
    return node


def _node_labels(tree: Tree, labels: str) -> list[str]:
    if labels == "id":
        return [_own_label(tree, node) for node in range(tree.n_nodes)]
    if labels == "support":
        return _support_labels(known_support(tree, 'labels="support"'))
    return [""] * tree.n_nodes


def _own_label(tree: Tree, node: int) -> str:
    """The node's name, or n and its number."""
    return _quoted(name_of(tree, node) or f"n{node}")


def _support_labels(support: NDArray[np.float64]) -> list[str]:
    """The shortest text that gives the same number; nothing where it is not known."""
    return ["" if np.isnan(value) else repr(value) for value in support.tolist()]


def _quoted(name: str) -> str:
    if _BARE.fullmatch(name):
        return name
    return "'" + name.replace("'", "''") + "'"
