"""A tree in the Newick format, which programs for phylogenies read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bhmc._convert.checks import known_support

if TYPE_CHECKING:
    from bhmc.tree import Tree

# A label of other characters is quoted; even of `_`, which stands for a space in a bare label.
_BARE = re.compile(r"[A-Za-z0-9.+\-]+")


def newick(tree: Tree, names: Sequence | None, *, lengths: bool, labels: str, items: bool) -> str:
    """The text of `Tree.to_newick`."""
    length = ":1" if lengths else ""
    node_labels = _node_labels(tree, labels)
    pieces: list[str] = []
    # A node is met twice: opened, with its children put on the stack, and closed, as ~id.
    stack = [0]
    while stack:
        node = stack.pop()
        if node < 0:
            # In the place of the comma after the last child.
            pieces[-1] = f"){node_labels[~node]}" + (length if ~node else "")
        elif tree.levels[node] < tree.n_levels:
            pieces.append("(")
            stack.append(~node)
            stack.extend(reversed(tree._index.children_of(node).tolist()))
            continue
        elif items:
            rows = tree.members(node).tolist()
            listed = (_quoted(str(row if names is None else names[row])) for row in rows)
            inside = ",".join(one + length for one in listed)
            pieces.append(f"({inside}){node_labels[node]}{length}")
        else:
            pieces.append(f"n{node}{length}")
        pieces.append(",")
    pieces[-1] = ";"
    return "".join(pieces)


def _node_labels(tree: Tree, labels: str) -> list[str]:
    if labels == "id":
        return [f"n{node}" for node in range(tree.n_nodes)]
    if labels == "support":
        return _support_labels(known_support(tree, 'labels="support"'))
    return [""] * tree.n_nodes


def _support_labels(support: NDArray[np.float64]) -> list[str]:
    """The shortest text that gives the same number; nothing where it is not known."""
    return ["" if np.isnan(value) else repr(value) for value in support.tolist()]


def _quoted(name: str) -> str:
    if _BARE.fullmatch(name):
        return name
    return "'" + name.replace("'", "''") + "'"
