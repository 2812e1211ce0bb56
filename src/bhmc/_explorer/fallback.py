"""What stands in the place of the explorer where its program does not run."""

from __future__ import annotations

from html import escape

import numpy as np

from bhmc._explorer.container import whole
from bhmc._explorer.sources import Source
from bhmc.plotting.style import percent
from bhmc.tree import Tree
from bhmc.tree.describe import node_phrase
from bhmc.tree.html import count, short, some_members
from bhmc.tree.node_names import name_of

_MOST_BRANCHES, _MOST_FEATURES = 12, 3


def fallback(source: Source) -> str:
    """The top of the tree as a list of escaped HTML.

    Parameters
    ----------
    source : Source
        What the page is made of.
    """
    tree = source.tree
    nodes = _top(tree)
    items = "".join(
        f"<li>{escape(whole(_line(source, node)))}</li>" for node in nodes[:_MOST_BRANCHES]
    )
    left = len(nodes) - _MOST_BRANCHES
    more = f"<p>{count(left, 'smaller branch').replace('branchs', 'branches')} not listed.</p>"
    said = "".join(f"<p>{escape(whole(one))}</p>" for one in source.about[:2])
    more = more if left > 0 else ""
    return f"{said}<p>The largest branches below the root:</p><ul>{items}</ul>{more}"


def _top(tree: Tree) -> list[int]:
    """The branches below the first node that branches, the largest first."""
    nodes = tree.children(0)
    while len(nodes) == 1 and len(tree.children(int(nodes[0]))):
        nodes = tree.children(int(nodes[0]))
    return nodes[np.argsort(-tree.sizes[nodes], kind="stable")].tolist()


def _line(source: Source, node: int) -> str:
    """`Group 1: 40 rows, support 96 %: milk, hair; such as aardvark, antelope`."""
    tree = source.tree
    title = (
        f"{short(name_of(tree, node))} (group {node})" if name_of(tree, node) else f"Group {node}"
    )
    parts = [f"{title}: {count(int(tree.sizes[node]), 'row')}"]
    if tree.support is not None and not np.isnan(tree.support[node]):
        parts.append(f"support {percent(tree.support[node])}")
    named = _MOST_FEATURES if tree.feature_names is not None else 0
    said = [short(node_phrase(tree, node, named, source.features)), some_members(tree, node, 3)]
    return "; ".join([", ".join(parts), *(one for one in said if one)])
