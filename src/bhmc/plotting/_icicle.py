"""`plot_icicle`: the hierarchy as nested boxes, and `icicle_boxes`: where the boxes are."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bhmc._extras import import_matplotlib
from bhmc._validation.parameters import check_choice, check_whole
from bhmc.plotting._canvas import axes_for, size_in_points
from bhmc.plotting._collapse import Marks, collapse
from bhmc.plotting._colors import REST, ink_on, rgba, support_colors, tint
from bhmc.plotting._given import given_tree
from bhmc.plotting._labels import components_text, joined, rest_text, root_text, support_text
from bhmc.plotting._legend import add_legend
from bhmc.plotting._text import FONT_SIZE, LINE_HEIGHT, PLAIN, count, item_names, width_of
from bhmc.tree import Tree
from bhmc.tree.checks import known_support

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_BAND = 0.16  # of a box's height, for its components
_TINT = 0.28  # strength of the main component's colour in the rest of the box
_PAD = 3.0  # points between a label and the edge of its box
_MOST_NAMES = 150  # rows for which a new figure is made wide enough
_NARROW = 4.0  # boxes of fewer points have no white edge, which would be most of them


@dataclass(frozen=True, eq=False)
class IcicleBoxes:
    """The boxes of a picture of a tree: rows from left to right, levels downwards."""

    marks: Marks
    """What is shown: shown nodes and rests, with their sizes, supports and components."""
    left: NDArray[np.int64]
    """(m,) rows before the box, in the order of the tree."""
    width: NDArray[np.int64]
    """(m,) rows in the box."""
    top: NDArray[np.int64]
    """(m,) the level; a box is 1 high."""


def icicle_boxes(
    tree: Tree,
    *,
    max_nodes: int = 200,
    min_size: int = 1,
    min_support: float | None = None,
    max_depth: int | None = None,
    colors: list[str] | None = None,
) -> IcicleBoxes:
    """Which nodes `plot_icicle` shows, and where; parameters as there, `colors` as in `Marks`."""
    marks = collapse(
        tree,
        max_nodes=max_nodes,
        min_size=min_size,
        min_support=min_support,
        max_depth=max_depth,
        colors=colors,
    )
    return IcicleBoxes(marks, marks.placed(marks.size), marks.size, marks.level)


def plot_icicle(
    tree: Any,
    *,
    ax: Axes | None = None,
    names: Iterable[Any] | None = None,
    max_nodes: int = 200,
    min_size: int = 1,
    min_support: float | None = None,
    max_depth: int | None = None,
    color: str = "component",
    features: int = 2,
) -> Axes:
    """The hierarchy as nested boxes: a row for each level, a box as wide as its node has rows.

    A box has a tint of the component that holds most of its rows, and at its foot a band with the
    shares of all components. It says its id in brackets, its rows, support and components, and what
    sets it apart, as far as they fit. What is
    not shown is one grey box beside its siblings.

    Parameters
    ----------
    tree : BHMC or Tree
        A fitted model, whose `tree_` is drawn with what sets its nodes apart; or a tree.
    ax : matplotlib Axes, optional
        Where to draw; a new figure if not given.
    names : iterable of length n, optional
        What to call the rows; the tree's own names if not given. They are written below the boxes
        where every row has room for one.
    max_nodes : int, default=200
        Most boxes in the picture, grey ones included; the largest nodes are shown.
    min_size : int, default=1
        Least number of rows of a node that is shown.
    min_support : float, optional
        Least support of a node that is shown; a node below one with less hangs from the nearest
        node above that is shown.
    max_depth : int, optional
        Last level that is shown.
    color : {"component", "support"}, default="component"
        What colours say. Components of one branch have one hue, each a shade of its own.
    features : int, default=2
        Features or words named at a node where there is room: those that set it apart from all
        other rows, where columns have names. "legs +2.1" is a difference in standard deviations.

    Returns
    -------
    ax : matplotlib Axes
        What was drawn on.
    """
    import_matplotlib("plot_icicle")
    given = given_tree(tree, "plot_icicle")
    tree, features = given.tree, check_whole(features, "features", 0)
    check_choice(color, "color", ("component", "support"))
    if color == "support":
        known_support(tree, "color='support'")
    called = item_names(tree, names)
    boxes = icicle_boxes(
        tree,
        max_nodes=max_nodes,
        min_size=min_size,
        min_support=min_support,
        max_depth=max_depth,
        colors=given.colors,
    )
    ax = axes_for(ax, *_figure_size(boxes, called))
    _set_limits(ax, boxes)
    fills = _fills(boxes, color)
    _draw_boxes(ax, boxes, fills, color)
    _draw_labels(ax, boxes, fills, given.phrase(features))
    _draw_names(ax, boxes, called)
    add_legend(ax, boxes.marks, color)
    return ax


def _figure_size(boxes: IcicleBoxes, names: list[str] | None):
    """Inches of a new figure, and its margins: room for names where the rows are few."""
    width, below = 10.0, 0.0
    if names and len(names) <= _MOST_NAMES:
        width = max(width, len(names) * 0.115 + 0.8)
        below = min(max(map(width_of, names)), 150.0) / 72
    n_levels = int(boxes.top.max()) + 1
    margins = (0.6, 0.2, 0.1 + below, 0.55)
    return (width, 0.55 * n_levels + margins[2] + margins[3]), margins


def _set_limits(ax: Axes, boxes: IcicleBoxes) -> None:
    n_levels = int(boxes.top.max()) + 1
    ax.set(xlim=(0, boxes.width[0]), ylim=(n_levels, 0), xticks=[])
    named = ["root", *(f"level {level}" for level in range(1, n_levels))]
    ax.set_yticks(np.arange(n_levels) + 0.5, named, fontsize=FONT_SIZE)
    ax.tick_params(length=0)
    for spine in ax.spines.values():
        spine.set_visible(False)


def _fills(boxes: IcicleBoxes, color: str) -> NDArray[np.float64]:
    """(m, 4) the colour of each box."""
    marks = boxes.marks
    if color == "support":
        fills = support_colors(marks.support)
    else:
        colors = rgba(marks.colors)
        colored = np.isin(marks.main, marks.components)
        column = np.searchsorted(marks.components, marks.main)
        fills = tint(colors, _TINT)[np.where(colored, column, len(marks.components))]
    fills[marks.is_rest] = rgba([REST])[0]
    return fills


def bands(boxes: IcicleBoxes) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Box, column and (left, right) of each part of the bands: the components of shown nodes."""
    nodes = np.flatnonzero(~boxes.marks.is_rest)
    counts = boxes.marks.counts[nodes]
    owner, column = np.nonzero(counts)
    right = boxes.left[nodes[owner]] + np.cumsum(counts, axis=1)[owner, column]
    ends = np.column_stack([right - counts[owner, column], right]).astype(np.float64)
    return nodes[owner], column, ends


def _draw_boxes(ax: Axes, boxes: IcicleBoxes, fills: NDArray[np.float64], color: str) -> None:
    marks, right, bottom = boxes.marks, boxes.left + boxes.width, boxes.top + 1
    per_row = size_in_points(ax)[0] / boxes.width[0]
    edges = np.where(boxes.width * per_row > _NARROW, 0.8, 0.0)
    nodes, rests = ~marks.is_rest, marks.is_rest
    sides = np.column_stack([boxes.left, right, boxes.top, bottom]).astype(float)
    _add(ax, sides[nodes], "boxes", facecolors=fills[nodes], linewidths=edges[nodes])
    # Matplotlib draws hatches in the colour of the edges, so the white edge is drawn on top.
    hatched = {"edgecolors": "#999999", "hatch": "////"}
    _add(ax, sides[rests], "rests", facecolors=fills[rests], linewidths=0.0, **hatched)
    if color == "component":
        owner, column, ends = bands(boxes)
        shades = rgba(marks.colors)[column]
        foot = boxes.top[owner] + 1.0
        parts = np.column_stack([ends, foot - _BAND, foot])
        _add(ax, parts, "bands", facecolors=shades, linewidths=0.0)
    _add(ax, sides, "edges", facecolors="none", linewidths=edges)


def _add(ax: Axes, sides: NDArray, gid: str, **style: Any) -> None:
    """Rectangles with the given (left, right, top, bottom)."""
    from matplotlib.collections import PolyCollection

    if len(sides) == 0:
        return
    corners = np.stack([sides[:, [0, 2]], sides[:, [1, 2]], sides[:, [1, 3]], sides[:, [0, 3]]], 1)
    style = {"edgecolors": "white", "antialiaseds": True, "gid": gid} | style
    ax.add_collection(PolyCollection(list(corners), **style), autolim=False)


def _draw_labels(
    ax: Axes, boxes: IcicleBoxes, fills: NDArray[np.float64], phrase: Callable[[int], str]
) -> None:
    """The longest label that fits into each box, upright where it is too narrow."""
    from matplotlib.patheffects import withStroke

    width, height = size_in_points(ax)
    per_row, per_level = width / boxes.width[0], height / (int(boxes.top.max()) + 1)
    high = per_level * (1 - _BAND) - 1.0
    line, rests = FONT_SIZE * LINE_HEIGHT, boxes.marks.is_rest
    for one in range(len(boxes.left)):
        wide = boxes.width[one] * per_row
        if wide < line or high < line:
            continue
        for lines in _texts(boxes.marks, one, phrase):
            needed = max(map(width_of, lines)) + 2 * _PAD
            tall = len(lines) * line
            if needed <= wide and tall <= high:
                rotation = 0
            elif needed <= high and tall <= wide:
                rotation = 90
            else:
                continue
            ax.text(
                boxes.left[one] + boxes.width[one] / 2,
                boxes.top[one] + (1 - _BAND) / 2,
                "\n".join(lines),
                ha="center",
                va="center",
                rotation=rotation,
                fontsize=FONT_SIZE,
                color=ink_on(fills[one]),
                clip_on=True,
                # On hatches a label needs a ground of its own.
                path_effects=[withStroke(linewidth=3, foreground=REST)] * int(rests[one]),
                gid=f"box {one}",
                **PLAIN,
            )
            break


def _texts(marks: Marks, one: int, phrase: Callable[[int], str]) -> list[list[str]]:
    """What a box may say, in lines, the most first."""
    size, support = f"{marks.size[one]:,}", support_text(marks, one)
    if marks.is_rest[one]:
        return [[rest_text(marks, one)], rest_text(marks, one).split(", "), [size]]
    rows = count(int(marks.size[one]), "row")
    name, number = marks.names[one], f"[{marks.node[one]}]"
    named_rows = " ".join(filter(None, (name, number, rows)))
    head = root_text(marks, True) if one == 0 else joined(named_rows, support)
    said = [components_text(marks, one)] if marks.has_mixtures else []
    below = [f"{count(int(marks.hidden[one]), 'node')} below"] if marks.hidden[one] else []
    short = joined(f"{number} {size}" if one else size, support if one else "")
    most = [head, " · ".join(said + below)] if said + below else [head]
    told = [phrase(int(marks.node[one]))] if one else []
    apart = [[*most, *told], [head, *told], [short, *told]] if told and told[0] else []
    named = [[name, short], [name, size], [name]] if name else []
    numbered = [[f"{number} {size}"], [number, size]] if one else []
    return [*apart, most, [head, *said], [head], *named, [short], *numbered, [size]]


def _draw_names(ax: Axes, boxes: IcicleBoxes, names: list[str] | None) -> None:
    """Every row's name below the boxes, if each has room for a line."""
    if names is None:
        return
    per_row = size_in_points(ax)[0] / boxes.width[0]
    size = min(FONT_SIZE, per_row / 1.05)
    if size < 6.0:  # smaller cannot be read
        return
    for place, row in enumerate(boxes.marks.row_order):
        ax.annotate(
            names[row],
            (place + 0.5, boxes.top.max() + 1.0),
            (0.0, -2.0),
            textcoords="offset points",
            ha="center",
            va="top",
            rotation=90,
            fontsize=size,
            annotation_clip=False,
            gid=f"row {row}",
            **PLAIN,
        )
