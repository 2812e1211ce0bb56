"""Names that a person puts on nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bhmc.tree.checks import check_node

if TYPE_CHECKING:
    from bhmc.tree import Tree


def renamed(tree: Tree, names: Mapping[int | str, str | None]) -> NDArray[Any] | None:
    """(n_nodes,) the names of the nodes after a change, "" without one; None: no node has one."""
    if not isinstance(names, Mapping):
        raise TypeError(f"rename takes a dict from nodes to names, got {names!r}.")
    changed = [name_of(tree, node) for node in range(tree.n_nodes)]
    for node, name in names.items():
        changed[node_id(tree, node)] = _checked(name)
    return np.array(changed) if any(changed) else None


def name_of(tree: Tree, node: int) -> str:
    """What a person calls the node; "" where the node has no name."""
    return "" if tree.node_names is None else str(tree.node_names[node])


def chain_name(tree: Tree, chain: Sequence[int]) -> str:
    """The names of nodes that are shown as one, such as "birds > songbirds"; "" without any."""
    names = [name_of(tree, node) for node in chain]
    return " > ".join(dict.fromkeys(name for name in names if name))


def node_id(tree: Tree, node: int | str) -> int:
    """The id of a node that is given by its id or by its name."""
    if not isinstance(node, str):
        if isinstance(node, bool) or not isinstance(node, Integral):
            raise TypeError(f"node must be the id or the name of a node, got {node!r}.")
        return check_node(tree, node)
    found = [one for one in range(tree.n_nodes) if node and name_of(tree, one) == node]
    # An only child holds the same rows as its parent: the name means the upper one.
    found = [one for one in found if tree.parents[one] not in found]
    if len(found) == 1:
        return found[0]
    if not found:
        raise ValueError(f"no node of the tree is called {node!r}.")
    ids = ", ".join(map(str, found))
    raise ValueError(f"{len(found)} nodes are called {node!r}, nodes {ids}: give the id of one.")


def _checked(name: str | None) -> str:
    if name is None:
        return ""
    if not isinstance(name, str):
        raise TypeError(f"the name of a node must be text, or None for no name, got {name!r}.")
    if not (name.isprintable() and name == name.strip()):
        raise ValueError(
            f"the name of a node must be one line without spaces at its ends, got {name!r}."
        )
    return name
