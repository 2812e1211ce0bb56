"""`plot_dendrogram`: a tree with heights, drawn along an axis of heights."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bhmc._extras import import_matplotlib
from bhmc._validation.parameters import check_whole
from bhmc.plotting._canvas import axes_for, size_in_points
from bhmc.plotting._colors import INK, LINE, base_of, component_colors
from bhmc.plotting._given import Given, given_tree
from bhmc.plotting._labels import with_members
from bhmc.plotting._text import (
    FONT_SIZE,
    PLAIN,
    apart,
    count,
    item_names,
    percent,
    width_of,
)
from bhmc.tree import Tree

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Points: a slot of a new figure, and from the tips to their labels.
_SLOT, _GAP = 13.0, 6.0
# Points: the font of the support.
_SMALL = FONT_SIZE - 1.5


@dataclass(frozen=True, eq=False)
class DendrogramLayout:
    """The top of a dendrogram: nodes that branch, and tips, each after the node above it."""

    node: NDArray[np.int64]
    """(m,) node id; the uppermost of a chain of only children."""
    parent: NDArray[np.int64]
    """(m,) index of the mark above, -1 for the root's."""
    height: NDArray[np.float64]
    """(m,) height of the node; 0 for a tip."""
    across: NDArray[np.float64]
    """(m,) tips are at 0, 1, 2, ..., others midway between the first and the last below them."""
    is_tip: NDArray[np.bool_]
    """(m,) whether nothing is below it in the picture."""


def dendrogram_layout(tree: Tree, max_tips: int = 40) -> DendrogramLayout:
    """Where the nodes of `plot_dendrogram` are.

    Parameters
    ----------
    tree : Tree
        A tree with heights.
    max_tips : int, default=40
        Most tips; the highest nodes are split first.
    """
    if tree.heights is None:
        raise ValueError("a dendrogram needs heights, which this tree does not carry.")
    opened = _opened(tree, check_whole(max_tips, "max_tips", 1))
    node, parent = [0], [-1]
    stack = [(0, 0)]  # node, index of its mark
    while stack:
        here, mark = stack.pop()
        if here not in opened:
            continue
        for child in _branches(tree, here).tolist():
            stack.append((child, len(node)))
            node.append(child)
            parent.append(mark)
    ids, above = np.array(node), np.array(parent)
    is_tip = np.array([one not in opened for one in node])
    height = np.where(is_tip, 0.0, tree.heights[ids])
    return DendrogramLayout(ids, above, height, _across(tree, ids, above, is_tip), is_tip)


def plot_dendrogram(
    tree: Any,
    *,
    ax: Axes | None = None,
    names: Iterable[Any] | None = None,
    max_tips: int = 40,
    support: bool = True,
    label: str = "nats of log likelihood lost by sharing one parameter",
    features: int = 2,
) -> Axes:
    """A tree with heights as a dendrogram: where two lines meet is the height of their node.

    The axis of heights is a scale of square roots, so that low nodes can be told apart. A tip says
    its id in brackets, how many rows it holds, their component (or how many there are), what sets
    them apart and their names, as far as there is room. Components of one branch have one hue.

    Parameters
    ----------
    tree : BHMC or Tree
        A fitted model, whose `dendrogram_` is drawn; or a tree with heights.
    ax : matplotlib Axes, optional
        Where to draw; a new figure, large enough for its text, if not given.
    names : iterable of length n, optional
        What to call the rows; the tree's own names if not given.
    max_tips : int, default=40
        Most tips; the highest nodes are split first.
    support : bool, default=True
        Whether the support of nodes is said beside their ids, where it is known.
    label : str, optional
        What the axis of heights says.
    features : int, default=2
        Features or words named at a tip, as in `plot_tree`.

    Returns
    -------
    ax : matplotlib Axes
        What was drawn on. `ax.figure.savefig("dendrogram.pdf")` keeps it.
    """
    import_matplotlib("plot_dendrogram")
    given = given_tree(tree, "plot_dendrogram", "dendrogram_")
    tree, features = given.tree, check_whole(features, "features", 0)
    layout, called = dendrogram_layout(tree, max_tips), item_names(tree, names)
    n_tips = int(layout.is_tip.sum())
    phrase = given.phrase(features)
    right = 1.6 if called is None and tree.feature_names is None else 4.0
    ax = axes_for(ax, (6.0 + right, max(n_tips * _SLOT / 72 + 1.2, 2.5)), (0.3, right, 0.6, 0.3))
    _set_axes(ax, layout, n_tips, label)
    colors = _colors(given, layout)
    _draw_lines(ax, layout, colors)
    _draw_tips(ax, tree, layout, called, phrase, colors)
    _draw_ids(ax, tree, layout, support)
    return ax


def _branches(tree: Tree, node: int) -> NDArray[np.int64]:
    """The children of the first node below, or here, that has not one child alone."""
    children = tree.children(node)
    while len(children) == 1:
        children = tree.children(int(children[0]))
    return children


def _opened(tree: Tree, max_tips: int) -> set[int]:
    """The nodes that are split, the highest first, as far as tips are not too many."""
    assert tree.heights is not None
    opened: set[int] = set()
    n_tips, queue = 1, [(-float(tree.heights[0]), 0)]
    while queue:
        _, node = heapq.heappop(queue)
        children = _branches(tree, node)
        if len(children) and n_tips + len(children) - 1 <= max_tips:
            opened.add(node)
            n_tips += len(children) - 1
            for child in children.tolist():
                heapq.heappush(queue, (-float(tree.heights[child]), child))
    return opened


def _across(
    tree: Tree, node: NDArray, parent: NDArray, is_tip: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Tips in the order of the tree's rows, other nodes above the middle of what is below."""
    across = np.zeros(len(node))
    tips = np.flatnonzero(is_tip)
    across[tips[np.argsort(tree._index.first_row[node[tips]])]] = np.arange(len(tips))
    for one in range(len(node) - 1, -1, -1):  # a mark comes after the one above it
        if not is_tip[one]:
            below = across[parent == one]
            across[one] = (below.min() + below.max()) / 2
    return across


def _set_axes(ax: Axes, layout: DendrogramLayout, n_tips: int, label: str) -> None:
    """The root to the left, heights on a scale of roots, no frame."""
    highest = max(float(layout.height.max()), 1e-9)
    ax.set_xscale("function", functions=(_root, np.square))
    ax.set(xlim=(highest * 1.05, 0.0), ylim=(n_tips - 0.5, -0.5), yticks=[])
    ax.set_xlabel(label, fontsize=FONT_SIZE)
    ax.tick_params(axis="x", labelsize=FONT_SIZE)
    ticks = [0.0, *(highest * share for share in (1 / 64, 1 / 16, 1 / 4, 9 / 16, 1))]
    ticks = [float(f"{tick:.1g}") for tick in ticks]
    ax.set_xticks(ticks, [f"{tick:,.6g}" for tick in ticks])
    for side in ("left", "right", "top"):
        ax.spines[side].set_visible(False)


def _root(heights: NDArray) -> NDArray:
    return np.sqrt(np.maximum(heights, 0.0))


def _colors(given: Given, layout: DendrogramLayout) -> list[str]:
    """(m,) the colour of the largest component of a mark; grey where several hues are below."""
    tree = given.tree
    if not tree.has_mixtures:
        return [LINE] * len(layout.node)
    own = given.colors or component_colors(tree)
    main = tree._counts.component[tree._counts.first[layout.node]]
    found = [own[component] for component in main.tolist()]
    hues: list[set[str]] = [set() for _ in found]
    for one in range(len(found) - 1, -1, -1):  # a mark comes after the one above it
        if layout.is_tip[one]:
            hues[one].add(base_of(found[one]))
        if layout.parent[one] >= 0:
            hues[layout.parent[one]] |= hues[one]
    return [
        color if tip or len(below) == 1 else LINE
        for color, tip, below in zip(found, layout.is_tip, hues, strict=True)
    ]


def _draw_lines(ax: Axes, layout: DendrogramLayout, colors: list[str]) -> None:
    """From every mark a line along to the height of the node above, then across to it."""
    from matplotlib.collections import LineCollection

    below = np.arange(1, len(layout.node))
    above = layout.parent[below]
    ends = [
        np.column_stack([layout.height[below], layout.across[below]]),
        np.column_stack([layout.height[above], layout.across[below]]),
        np.column_stack([layout.height[above], layout.across[above]]),
    ]
    lines = LineCollection(
        list(np.stack(ends, axis=1)), colors=colors[1:], linewidths=1.6, gid="lines"
    )
    ax.add_collection(lines, autolim=False)


def _draw_tips(
    ax: Axes,
    tree: Tree,
    layout: DendrogramLayout,
    names: list[str] | None,
    phrase: Callable[[int], str],
    colors: list[str],
) -> None:
    """Id, rows, component, features and names of the tips, right of the axis of heights."""
    box = ax.get_position()
    width, _ = size_in_points(ax)
    room = width * (1 - box.x1) / max(box.width, 1e-9) - 2 * _GAP
    tips = np.flatnonzero(layout.is_tip)
    if tree.has_mixtures:
        dots = np.column_stack([np.zeros(len(tips)), layout.across[tips]])
        shades = [colors[one] for one in tips.tolist()]
        style = {"s": 22, "c": shades, "edgecolors": INK, "linewidths": 0.4}
        ax.scatter(*dots.T, zorder=3, clip_on=False, gid="tips", **style)
    for one in tips.tolist():
        node = int(layout.node[one])
        ax.annotate(
            _tip_text(tree, node, phrase(node), names, room),
            (0.0, float(layout.across[one])),
            (_GAP, 0),
            textcoords="offset points",
            va="center",
            fontsize=FONT_SIZE,
            color=INK,
            annotation_clip=False,
            gid=f"tip {one}",
            **PLAIN,
        )


def _tip_text(tree: Tree, node: int, phrase: str, names: list[str] | None, room: float) -> str:
    """Such as `[7] 20 (c1) · feathers: chicken, crow and 18 more`."""
    text = f"[{node}] {tree.sizes[node]:,}" if node else f"{tree.sizes[node]:,}"
    if tree.has_mixtures:
        held = np.unique(tree.components[tree.members(node)])
        text += f" (c{held[0]})" if len(held) == 1 else f" ({count(len(held), 'component')})"
    listed = [] if names is None else [names[row] for row in tree.members(node).tolist()]
    return with_members(text, phrase, listed, room)


def _draw_ids(ax: Axes, tree: Tree, layout: DendrogramLayout, support: bool) -> None:
    """Id and support of nodes that branch, but for the root, above their lines where is room."""
    known = tree.support if support and tree.support is not None else np.full(tree.n_nodes, np.nan)
    shown = np.flatnonzero(~layout.is_tip & (layout.parent >= 0))
    shown = shown[np.argsort(-layout.height[shown], kind="stable")]
    places = np.column_stack([layout.height[shown], layout.across[shown]])
    texts = [
        f"[{node}]" if np.isnan(known[node]) else f"[{node}] {percent(float(known[node]))}"
        for node in layout.node[shown].tolist()
    ]
    kept = apart(_boxes(ax, places, texts), np.empty((0, 4)))
    for i in np.flatnonzero(kept).tolist():
        ax.annotate(
            texts[i],
            tuple(places[i]),
            (-2, 1),
            textcoords="offset points",
            ha="right",
            va="bottom",
            fontsize=_SMALL,
            color=INK,
            gid=f"node {shown[i]}",
            **PLAIN,
        )


def _boxes(ax: Axes, places: NDArray, texts: list[str]) -> NDArray[np.float64]:
    """(labels, 4) left, right, bottom and top in points of labels left of and above places."""
    points = ax.transData.transform(places) * 72 / ax.figure.dpi if len(places) else places
    wide = np.array([width_of(text, _SMALL) for text in texts])
    right, bottom = points[:, 0] - 2, points[:, 1] + 1
    return np.column_stack([right - wide, right, bottom, bottom + _SMALL])
