"""A tree as lines of text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bhmc._validation.parameters import check_whole
from bhmc.tree.consensus import left_out, nearest_above, supported
from bhmc.tree.node_names import chain_name
from bhmc.tree.table import feature_texts, height_text

if TYPE_CHECKING:
    from bhmc.tree import Tree

# Components named in a line before the rest are left out.
_MAX_COMPONENTS = 5
# Nodes named in a chain of only children; of a longer one its first and last.
_MAX_CHAIN = 6


class Style(NamedTuple):
    """What a line shows, and which nodes have none."""

    names: Sequence | None
    max_names: int
    max_depth: int
    min_size: int
    min_support: float | None
    features: int


class Below(NamedTuple):
    """What is below a node: the nodes shown next, and what is said of the others."""

    shown: list[int]
    hidden: str
    """Such as "12 smaller nodes"; empty where all are shown."""
    n_rows: int
    """Data under the others."""


class Plan(NamedTuple):
    """Which nodes have a line, and below which node each line is."""

    listed: NDArray[np.int64]
    """Nodes with a line and the uppermost without, by the node above them, larger ones first."""
    first: NDArray[np.int64]
    """(n_nodes + 1,) those below z are `listed[first[z]:first[z + 1]]`."""
    is_shown: NDArray[np.bool_]
    """(n_nodes,) whether a node has a line."""


def tree_text(
    tree: Tree,
    names: Sequence | None,
    *,
    max_names: int,
    max_depth: int | None,
    min_size: int,
    min_support: float | None,
    features: int,
) -> str:
    """The text of `Tree.to_text`; parameters as there, `names` with one for each datum."""
    style = Style(
        names=names,
        max_names=check_whole(max_names, "max_names", 0),
        max_depth=check_whole(tree.n_levels if max_depth is None else max_depth, "max_depth", 0),
        min_size=check_whole(min_size, "min_size", 1),
        min_support=min_support,
        features=check_whole(features, "features", 0),
    )
    return "\n".join(_lines(tree, style))


def _lines(tree: Tree, style: Style) -> list[str]:
    """Depth first without recursion: a deep tree must not end in a RecursionError."""
    plan = _plan(tree, style)
    features = feature_texts(tree, style.features) if style.features else None
    lines = []
    # Either a node or a finished line, with what goes before it and before the lines under it.
    stack: list[tuple[int | str, str, str]] = [(0, "", "")]
    while stack:
        item, lead, indent = stack.pop()
        if isinstance(item, str):
            lines.append(lead + item)
            continue
        chain = [item]
        below = _below(tree, item, plan, style)
        while len(below.shown) == 1 and not below.hidden:
            chain.append(below.shown[0])
            below = _below(tree, chain[-1], plan, style)
        lines.append(lead + _describe(tree, chain, below, features, style))
        rest = [_rest(below)] if below.shown and below.hidden else []
        for i, part in enumerate([*rest, *reversed(below.shown)]):  # the first is printed last
            branch, bar = ("└── ", "    ") if i == 0 else ("├── ", "│   ")
            stack.append((part, indent + branch, indent + bar))
    return lines


def _plan(tree: Tree, style: Style) -> Plan:
    """Lines for nodes that are neither too deep nor too small nor of too little support."""
    shown = (tree.levels <= style.max_depth) & (tree.sizes >= style.min_size)
    if style.min_support is not None:
        shown &= supported(tree, style.min_support)
    shown[0] = True
    above = nearest_above(tree, shown)
    named = np.flatnonzero(shown | left_out(tree, shown))[1:]
    listed = named[np.lexsort((named, -tree.sizes[named], above[named]))]
    return Plan(listed, np.searchsorted(above[listed], np.arange(tree.n_nodes + 1)), shown)


def _below(tree: Tree, node: int, plan: Plan, style: Style) -> Below:
    below = plan.listed[plan.first[node] : plan.first[node + 1]]
    hidden, shown = below[~plan.is_shown[below]], below[plan.is_shown[below]].tolist()
    if not len(hidden):
        return Below(shown, "", 0)
    if (tree.levels[hidden] > style.max_depth).all():
        kind = "deeper"
    elif (tree.sizes[hidden] < style.min_size).all():
        kind = "smaller"
    elif (tree.sizes[hidden] >= style.min_size).all():
        kind = "less supported"
    else:
        kind = "smaller or less supported"
    nodes = "node" if len(hidden) == 1 else "nodes"
    return Below(shown, f"{len(hidden)} {kind} {nodes}", int(tree.sizes[hidden].sum()))


def _rest(below: Below) -> str:
    """A line for the children that have none."""
    return f"… {below.hidden}, {below.n_rows} {'datum' if below.n_rows == 1 else 'data'}"


def _describe(
    tree: Tree, chain: list[int], below: Below, features: list[str] | None, style: Style
) -> str:
    """One node, or a chain of single children, in words."""
    node, name = chain[0], chain_name(tree, chain)
    titles = ["root" if one == 0 else str(one) for one in chain]
    if len(titles) > _MAX_CHAIN:
        titles = [titles[0], "…", titles[-1]]
    title = " > ".join(titles)
    title = title if chain == [0] and not name else f"[{title}]"
    parts = [name, title, _size(tree, node), _components(tree, node)]
    if features is not None and features[node]:
        parts.append(f"{{{features[node]}}}")
    if not below.shown:
        parts.append(_members(tree, node, style))
        parts.append(f"… {below.hidden}" if below.hidden else "")
    return " ".join(part for part in parts if part)


def _size(tree: Tree, node: int) -> str:
    """How many data, how far apart they are, and what speaks for the node."""
    text, height = str(tree.sizes[node]), height_text(tree, node)
    if height:
        text = f"{text}, height {height}"
    if tree.merged is not None and tree.merged[node] > 1:
        return f"{text}, others: {tree.merged[node]} nodes"
    # All data are under the root of every draw: there is no doubt to be told.
    if node and tree.support is not None and not np.isnan(tree.support[node]):
        return f"{text}, {100 * tree.support[node]:.0f} %"
    return text


def _components(tree: Tree, node: int) -> str:
    if not tree.has_mixtures:
        return ""
    counts = tree._counts
    start, end = counts.first[node], counts.first[node + 1]
    shown = slice(start, min(end, start + _MAX_COMPONENTS))
    pairs = zip(counts.component[shown], counts.size[shown], strict=True)
    more = ", ..." if end - start > _MAX_COMPONENTS else ""
    return f"({', '.join(f'c{label}: {count}' for label, count in pairs)}{more})"


def _members(tree: Tree, node: int, style: Style) -> str:
    if style.names is None or not style.max_names:
        return ""
    members = tree.members(node)
    listed = ", ".join(str(style.names[i]) for i in members[: style.max_names])
    more = len(members) - style.max_names
    return f"{listed} and {more} more" if more > 0 else listed
