"""A tree as a small table of HTML for notebooks: static, escaped, and never long."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from bhmc.tree.describe import node_phrase
from bhmc.tree.node_features import NodeFeatures
from bhmc.tree.node_names import chain_name
from bhmc.tree.table import height_text

if TYPE_CHECKING:
    from bhmc.tree import Tree

# Nodes with a line, members and features named in one, letters of a name.
_MOST_NODES, _MOST_MEMBERS, _MOST_FEATURES, _MOST_LETTERS = 40, 4, 3, 40

_CELL = "text-align:left;vertical-align:top;padding:1px 10px 1px 0"
_BAR = "display:inline-block;height:.6em;background:#523687;vertical-align:baseline"


def tree_html(tree: Tree, features: NodeFeatures | None = None) -> str:
    """The largest nodes of a tree as lines of a table, in the order of the tree.

    Parameters
    ----------
    tree : Tree
        The tree.
    features : NodeFeatures, optional
        What sets its nodes apart; else `Tree.top_features`, where columns have names.
    """
    shown = np.zeros(tree.n_nodes, dtype=bool)
    # No node is larger than its parent, whose id is lower: so with a node its ancestors are shown.
    shown[np.argsort(-tree.sizes, kind="stable")[:_MOST_NODES]] = True
    lines = [_line(tree, chain, depth, features) for chain, depth in _chains(tree, shown)]
    head = ["node", "rows", "support", "height", "what sets it apart", "rows such as"]
    used = [j for j in range(len(head)) if any(line[j] for line in lines) or not j]
    hidden = tree.n_nodes - int(shown.sum())
    more = f"<p>{count(hidden, 'smaller node')} not shown.</p>" if hidden else ""
    body = table([head[j] for j in used], [[line[j] for j in used] for line in lines])
    return f"<div><p>{escape(size_line(tree))}</p>{body}{more}</div>"


def size_line(tree: Tree) -> str:
    """How large a tree is, in one sentence."""
    at = np.bincount(tree.levels)[1:]
    if len(at) > 6 or tree.heights is not None:
        nodes = f"{count(tree.n_nodes, 'node')}"
    else:
        nodes = f"{' / '.join(f'{n:,}' for n in at)} nodes at levels 1 to {len(at)}"
        nodes = nodes if len(at) > 1 else count(int(at.sum()), "node") + " below the root"
    parts = [f"Tree of {count(len(tree.paths), 'row')}", nodes]
    if tree.has_mixtures:
        parts.append(count(len(np.unique(tree.components)), "component"))
    return ", ".join(parts) + "."


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of cells that are HTML already; the titles are text."""
    titles = "".join(f'<th style="{_CELL}">{escape(title)}</th>' for title in head)
    lines = "".join(
        "<tr>" + "".join(f'<td style="{_CELL}">{cell}</td>' for cell in row) + "</tr>"
        for row in rows
    )
    return f"<table><thead><tr>{titles}</tr></thead><tbody>{lines}</tbody></table>"


def count(number: int, what: str) -> str:
    """`1 row`, `2,000 rows`."""
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def short(name: object) -> str:
    """A name in one line of some forty letters at most."""
    text = " ".join(str(name).split())
    return text if len(text) <= _MOST_LETTERS else text[: _MOST_LETTERS - 1].rstrip() + "…"


def some_members(tree: Tree, node: int, most: int = _MOST_MEMBERS) -> str:
    """A few rows of a node by name; "" where rows have no names."""
    if tree.names is None:
        return ""
    rows = tree.members(node)
    listed = ", ".join(short(tree.names[row]) for row in rows[:most])
    return listed + (f" and {len(rows) - most:,} more" if len(rows) > most else "")


def _chains(tree: Tree, shown: np.ndarray) -> Iterable[tuple[list[int], int]]:
    """Shown nodes with their depth, depth first; only children stand with their parent."""
    stack = [(0, 0)]
    while stack:
        node, depth = stack.pop()
        chain = [node]
        while len(below := tree.children(chain[-1])) == 1 and shown[below[0]]:
            chain.append(int(below[0]))
        yield chain, depth
        stack += [(int(child), depth + 1) for child in below[::-1] if shown[child]]


def _line(tree: Tree, chain: list[int], depth: int, features: NodeFeatures | None) -> list[str]:
    node = chain[0]
    # With heights an only child says nothing: it is there so that all rows end at one level.
    ids = chain if tree.heights is None else chain[:1]
    said = ["root" if one == 0 else str(one) for one in ids]
    said = said if len(said) < 4 else [said[0], "…", said[-1]]
    title = f"{short(chain_name(tree, chain))} [{' > '.join(said)}]".strip()
    title = "root" if title == "[root]" else title
    wide = 60 * tree.sizes[node] / tree.sizes[0]
    known = node and tree.support is not None and not np.isnan(tree.support[node])
    return [
        f'<span style="padding-left:{1.2 * min(depth, 12):.1f}em;white-space:nowrap">'
        f"{escape(title)}</span>",
        f'{tree.sizes[node]:,} <span style="{_BAR};width:{max(wide, 1):.0f}px"></span>',
        f"{100 * tree.support[node]:.0f} %" if known and tree.support is not None else "",
        height_text(tree, node),
        escape(_phrase(tree, node, features)),
        "" if len(tree.children(chain[-1])) else escape(some_members(tree, node)),
    ]


def _phrase(tree: Tree, node: int, features: NodeFeatures | None) -> str:
    named = tree.feature_names is not None
    said = node_phrase(tree, node, _MOST_FEATURES if named else 0, features)
    return ", ".join(short(part) for part in said.split(", "))
