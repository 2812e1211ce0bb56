"""`plot_comparison`: two trees face to face, with lines between nodes that match."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bhmc._extras import import_matplotlib
from bhmc._validation.parameters import check_whole
from bhmc.metrics import TreeComparison
from bhmc.plotting._canvas import axes_for
from bhmc.plotting._colors import INK, LINE, support_colors
from bhmc.plotting._given import with_article
from bhmc.plotting._text import FONT_SIZE, PLAIN, listing, percent, shorten
from bhmc.tree import Tree
from bhmc.tree.index import uppermost
from bhmc.tree.node_names import name_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Points: a slot of a new figure, and from a level to the next; units of a level between the trees.
_SLOT, _LEVEL, _BETWEEN = 26.0, 130.0, 1.4
# Points of a label, which stands above its node.
_ROOM = 122.0


@dataclass(frozen=True, eq=False)
class SideLayout:
    """Where the nodes of one of two trees are; nodes of the same rows are one."""

    node: NDArray[np.int64]
    """(m,) node ids, the root first, parents before children."""
    parent: NDArray[np.int64]
    """(m,) place of the node above, -1 for the root."""
    depth: NDArray[np.int64]
    """(m,) steps from the root."""
    across: NDArray[np.float64]
    """(m,) nodes with nothing below are at 0, 1, 2, ..., others midway between the first and the
    last below them."""
    size: NDArray[np.int64]
    """(m,) compared rows under the node."""
    jaccard: NDArray[np.float64]
    """(m,) how well the node's partner matches; 0 without a partner, 1 for the root."""

    @property
    def is_last(self) -> NDArray[np.bool_]:
        """(m,) whether nothing is shown below the node."""
        last = np.ones(len(self.node), dtype=bool)
        last[self.parent[1:]] = False
        return last


@dataclass(frozen=True, eq=False)
class ComparisonLayout:
    """The picture of a comparison: two sides, and the pairs of nodes that are joined by a line."""

    a: SideLayout
    b: SideLayout
    links: NDArray[np.int64]
    """(p, 2) places of the partners in `a` and `b`; the two roots come first."""
    jaccard: NDArray[np.float64]
    """(p,) how well they match."""


def comparison_layout(comparison: TreeComparison, *, max_nodes: int = 30) -> ComparisonLayout:
    """Which nodes `plot_comparison` shows, and where.

    Nodes of the second tree are ordered by the mean place of their rows in the first, so that few
    lines cross.

    Parameters
    ----------
    comparison : TreeComparison
        What `compare_trees` returned.
    max_nodes : int, default=30
        Most nodes of each tree; the largest are shown.
    """
    if not isinstance(comparison, TreeComparison):
        raise TypeError(
            "plot_comparison takes what compare_trees(a, b) returned, got "
            f"{with_article(type(comparison).__name__)}."
        )
    max_nodes = check_whole(max_nodes, "max_nodes", 1)
    partner = {(0, pair.a): pair.jaccard for pair in comparison.pairs}
    partner |= {(1, pair.b): pair.jaccard for pair in comparison.pairs}
    rows, order = comparison.rows, None
    sides = []
    for side, tree in enumerate((comparison.a, comparison.b)):
        found = _side(tree, rows[:, side], comparison.min_size, max_nodes, order)
        matched = [partner.get((side, node), 0.0) for node in found[0].tolist()]
        matched[0] = 1.0
        sides.append(SideLayout(*found, np.array(matched)))
        order = _places_of_rows(tree, rows[:, side], sides[-1])
    place = [{node: i for i, node in enumerate(side.node.tolist())} for side in sides]
    shown = [pair for pair in comparison.pairs if pair.a in place[0] and pair.b in place[1]]
    links = [(place[0][pair.a], place[1][pair.b]) for pair in shown]
    return ComparisonLayout(
        a=sides[0],
        b=sides[1],
        links=np.array([(0, 0), *links], dtype=np.int64),
        jaccard=np.array([1.0, *(pair.jaccard for pair in shown)]),
    )


def plot_comparison(
    comparison: TreeComparison, *, ax: Axes | None = None, max_nodes: int = 30
) -> Axes:
    """Two trees face to face; a line joins nodes that match, its colour says how well.

    The first tree grows from the left, the second from the right. Nodes of the same rows are drawn
    once. A node has the colour of its match (dark is poor, bright is good), and is white where it
    has no partner. Areas and widths of lines grow with the number of rows. Above a node are its
    name or the number of its rows; at the ends also some rows by name.

    Parameters
    ----------
    comparison : TreeComparison
        What `compare_trees` returned.
    ax : matplotlib Axes, optional
        Where to draw; a new figure, large enough for its text, if not given.
    max_nodes : int, default=30
        Most nodes of each tree; the largest are shown.

    Returns
    -------
    ax : matplotlib Axes
        What was drawn on.
    """
    import_matplotlib("plot_comparison")
    layout = comparison_layout(comparison, max_nodes=max_nodes)
    sides = (layout.a, layout.b)
    slots = max(int(side.is_last.sum()) for side in sides)
    wide = sum(int(side.depth.max()) for side in sides) + _BETWEEN
    size = ((wide * _LEVEL + 2 * _ROOM) / 72, max(slots * _SLOT / 72 + 0.9, 3.0))
    ax = axes_for(ax, size, (0.1, 0.1, 0.1, 0.5))
    places = _places(sides, slots, wide)
    _set_limits(ax, slots, wide)
    _draw_links(ax, layout, places)
    for side, where in zip(sides, places, strict=True):
        _draw_branches(ax, side, where)
    for number, (side, where) in enumerate(zip(sides, places, strict=True)):
        _draw_nodes(ax, side, where, "ab"[number])
        _draw_labels(ax, comparison, number, side, where)
    _add_legend(ax)
    return ax


def _side(
    tree: Tree,
    rows: NDArray[np.int64],
    min_size: int,
    max_nodes: int,
    order: NDArray[np.float64] | None,
) -> tuple[NDArray, NDArray, NDArray, NDArray, NDArray]:
    """The shown nodes of a tree: ids, parents, depths, places across, sizes."""
    sizes = np.bincount(tree.paths[rows].ravel(), minlength=tree.n_nodes)
    top = uppermost(tree.parents, sizes)
    own = np.flatnonzero((top == np.arange(tree.n_nodes)) & (sizes >= min_size))
    own = np.union1d([0], own[np.argsort(-sizes[own], kind="stable")[:max_nodes]])
    place = np.full(tree.n_nodes, -1)
    place[own] = np.arange(len(own))
    parent = np.append(-1, place[top[tree.parents[own[1:]]]])
    depth = np.zeros(len(own), dtype=np.int64)
    for i in range(1, len(own)):  # parents come before children
        depth[i] = depth[parent[i]] + 1
    key = -sizes[own].astype(np.float64)  # the largest first
    if order is not None:
        key = _mean_places(tree, rows, own, order)
    return own, parent, depth, _across(parent, key), sizes[own]


def _mean_places(
    tree: Tree, rows: NDArray[np.int64], nodes: NDArray[np.int64], order: NDArray[np.float64]
) -> NDArray[np.float64]:
    """(m,) the mean over a node's rows of their places in the other tree."""
    totals = np.zeros(tree.n_nodes)
    np.add.at(totals, tree.paths[rows], np.broadcast_to(order[:, None], tree.paths[rows].shape))
    return totals[nodes] / np.bincount(tree.paths[rows].ravel(), minlength=tree.n_nodes)[nodes]


def _across(parent: NDArray[np.int64], key: NDArray[np.float64]) -> NDArray[np.float64]:
    """(m,) places across, children in the order of their keys; without recursion."""
    children: list[list[int]] = [[] for _ in parent]
    for one in np.argsort(key, kind="stable").tolist():
        if parent[one] >= 0:
            children[parent[one]].append(one)
    across, slot, stack = np.zeros(len(parent)), 0, [0]
    while stack:
        one = stack.pop()
        if not children[one]:
            across[one], slot = slot, slot + 1
        stack.extend(reversed(children[one]))
    for one in range(len(parent) - 1, -1, -1):
        if children[one]:
            across[one] = (across[children[one][0]] + across[children[one][-1]]) / 2
    return across


def _places_of_rows(tree: Tree, rows: NDArray[np.int64], side: SideLayout) -> NDArray[np.float64]:
    """(rows,) the place across of the lowest shown node of each row."""
    place = np.full(tree.n_nodes, np.nan)
    place[side.node] = side.across
    at = place[tree.paths[rows]]
    lowest = tree.paths.shape[1] - 1 - (~np.isnan(at[:, ::-1])).argmax(axis=1)
    return at[np.arange(len(rows)), lowest]


def _places(sides: Sequence[SideLayout], slots: int, wide: float) -> list[NDArray[np.float64]]:
    """For both trees (m, 2) positions in the units of the Axes; the shorter one is spread out."""
    found = []
    for side, mirrored in zip(sides, (False, True), strict=True):
        own = int(side.is_last.sum())
        x = wide - side.depth if mirrored else side.depth * 1.0
        found.append(np.column_stack([x, (side.across + 0.5) * slots / own - 0.5]))
    return found


def _set_limits(ax: Axes, slots: int, wide: float) -> None:
    edge = _ROOM / _LEVEL * 0.8
    ax.set(xlim=(-edge, wide + edge), ylim=(slots - 0.4, -0.9), xticks=[], yticks=[])
    for spine in ax.spines.values():
        spine.set_visible(False)


def _draw_links(ax: Axes, layout: ComparisonLayout, places: list[NDArray]) -> None:
    """A curve from every node to its partner, the root's left out; the best are on top."""
    order = np.argsort(layout.jaccard[1:], kind="stable") + 1
    if not len(order):
        return
    ends = [where[layout.links[order, i]] for i, where in enumerate(places)]
    widths = 1.0 + 9.0 * layout.a.size[layout.links[order, 0]] / layout.a.size[0]
    colors = support_colors(layout.jaccard[order])
    colors[:, 3] = 0.55
    _add_curves(ax, ends[0], ends[1], colors, widths, "links", 1)


def _draw_branches(ax: Axes, side: SideLayout, where: NDArray) -> None:
    if len(side.node) == 1:
        return
    widths = 0.6 + 3.0 * side.size[1:] / side.size[0]
    _add_curves(ax, where[side.parent[1:]], where[1:], LINE, widths, "branches", 2)


def _add_curves(
    ax: Axes, start: NDArray, end: NDArray, colors: Any, widths: NDArray, gid: str, zorder: int
) -> None:
    from matplotlib.collections import PathCollection
    from matplotlib.path import Path

    middle = (start[:, 0] + end[:, 0]) / 2
    corners = [
        start,
        np.column_stack([middle, start[:, 1]]),
        np.column_stack([middle, end[:, 1]]),
        end,
    ]
    codes = [Path.MOVETO, Path.CURVE4, Path.CURVE4, Path.CURVE4]
    paths = [Path(points, codes) for points in np.stack(corners, axis=1)]
    curves: Any = PathCollection(
        paths, facecolors="none", edgecolors=colors, linewidths=widths, zorder=zorder, gid=gid
    )
    ax.add_collection(curves, autolim=False)


def _draw_nodes(ax: Axes, side: SideLayout, where: NDArray, gid: str) -> None:
    colors = support_colors(side.jaccard)
    colors[side.jaccard == 0] = 1.0
    ax.scatter(
        *where.T,
        s=20 + 200 * side.size / side.size[0],
        c=colors,
        edgecolors=INK,
        linewidths=0.7,
        zorder=3,
        gid=f"nodes {gid}",
    )


def _draw_labels(
    ax: Axes, comparison: TreeComparison, number: int, side: SideLayout, where: NDArray
) -> None:
    from matplotlib.patheffects import withStroke

    tree, rows = (comparison.a, comparison.b)[number], comparison.rows[:, number]
    last = side.is_last
    for i, node in enumerate(side.node.tolist()):
        name, text = name_of(tree, node), f"{side.size[i]:,}"
        if i == 0:
            name, text = f"tree {'ab'[number]}", f"{text} rows"
        text = f"{name} · {text}" if name else text
        if last[i] and not name:
            members = np.flatnonzero(tree.paths[rows, tree.levels[node]] == node)
            named = listing([comparison.name(row) for row in members.tolist()], _ROOM - 20)
            text = f"{text}: {named}" if named else text
        ax.annotate(
            shorten(text, _ROOM),
            tuple(where[i]),
            (0.0, 4.0 + 0.5 * np.sqrt(20 + 200 * side.size[i] / side.size[0])),
            textcoords="offset points",
            ha="center",
            va="bottom",
            fontsize=FONT_SIZE,
            color=INK,
            zorder=4,
            path_effects=[withStroke(linewidth=2, foreground="white")],
            gid=f"{'ab'[number]} {i}",
            **PLAIN,
        )


def _add_legend(ax: Axes) -> None:
    from matplotlib.patches import Patch

    shares = np.array([0.25, 0.5, 0.75, 1.0])
    handles = [
        Patch(facecolor=color, edgecolor=INK, linewidth=0.6, label=f"match {percent(share)}")
        for share, color in zip(shares, support_colors(shares), strict=True)
    ]
    handles.append(Patch(facecolor="white", edgecolor=INK, linewidth=0.6, label="no partner"))
    ax.legend(
        handles=handles,
        loc="lower left",
        bbox_to_anchor=(0.0, 1.0),
        ncols=len(handles),
        frameon=False,
        fontsize=FONT_SIZE,
        borderaxespad=0.3,
    )
