"""A tree as a graph of networkx."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bhmc._extras import import_networkx
from bhmc.tree.table import node_table

if TYPE_CHECKING:
    from bhmc.tree import Tree


def graph(tree: Tree, *, items: bool, n_features: int) -> Any:
    """The graph of `Tree.to_networkx`."""
    networkx = import_networkx("to_networkx")
    table = {
        name: column.tolist()  # plain numbers, which networkx can write to any of its files
        for name, column in node_table(tree, n_features).items()
        if name not in ("id", "parent")
    }
    made = networkx.DiGraph()
    for node in range(tree.n_nodes):
        about = {name: column[node] for name, column in table.items()}
        for number in ("support", "exact_support"):
            if np.isnan(about[number]):
                del about[number]
        for text in ("name", "features"):
            if not about.get(text, "said"):
                del about[text]
        made.add_node(node, kind="node", **about)
    parents = tree.parents.tolist()
    made.add_edges_from((parents[node], node) for node in range(1, tree.n_nodes))
    if items:
        _add_items(tree, made)
    return made


def _add_items(tree: Tree, made: Any) -> None:
    """Every row as a node of its own under its leaf."""
    names = range(len(tree.paths)) if tree.names is None else tree.names.tolist()
    leaves, components = tree.paths[:, -1].tolist(), tree.components.tolist()
    for row, (name, leaf, component) in enumerate(zip(names, leaves, components, strict=True)):
        key = f"item {row}"
        made.add_node(key, kind="item", row=row, name=str(name), component=component)
        made.add_edge(leaf, key)
