"""`plot_tree`: the hierarchy as nodes and lines."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bhmc._extras import import_matplotlib
from bhmc._validation.parameters import check_choice, check_whole
from bhmc.plotting._canvas import axes_for, size_in_points
from bhmc.plotting._collapse import Marks
from bhmc.plotting._colors import INK, LINE, REST, rgba, support_colors
from bhmc.plotting._given import given_tree
from bhmc.plotting._labels import Words
from bhmc.plotting._legend import add_legend
from bhmc.plotting._text import FONT_SIZE, item_names, width_of
from bhmc.plotting._tree_labels import GAP, draw_labels
from bhmc.plotting._tree_layout import LARGEST, Space, TreeLayout, node_radii, tree_layout
from bhmc.tree.checks import known_support

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Points: a slot of a new figure, and what is kept free around the picture.
_SLOT, _EDGE = 14.0, 12.0


def plot_tree(
    tree: Any,
    *,
    ax: Axes | None = None,
    names: Iterable[Any] | None = None,
    max_nodes: int = 80,
    min_size: int = 1,
    min_support: float | None = None,
    max_depth: int | None = None,
    color: str = "component",
    support: str | None = "number",
    direction: str = "right",
    features: int = 2,
) -> Axes:
    """The hierarchy as nodes and lines, a column for each level.

    A node is a pie of the components of its rows; its area and the width of the line to it grow
    with the number of its rows. Beside it are its id in brackets, that number and its support, and
    what sets it apart. Nodes with nothing below also say their components and list their rows by
    name, as far as there is room. What is not shown is one grey node under the same parent, which
    says how much it stands for.

    Parameters
    ----------
    tree : BHMC or Tree
        A fitted model, whose `tree_` is drawn with what sets its nodes apart; or a tree.
    ax : matplotlib Axes, optional
        Where to draw; a new figure, large enough for its text, if not given.
    names : iterable of length n, optional
        What to call the rows; the tree's own names if not given.
    max_nodes : int, default=80
        Most nodes in the picture, grey ones included; the largest are shown.
    min_size : int, default=1
        Least number of rows of a node that is shown.
    min_support : float, optional
        Least support of a node that is shown; a node below one with less hangs from the nearest
        node above that is shown.
    max_depth : int, optional
        Last level that is shown.
    color : {"component", "support"}, default="component"
        What colours say. Components of one branch have one hue, each a shade of its own.
    support : {"number", "transparency"} or None, default="number"
        How the support of nodes is shown, where it is known.
    direction : {"right", "down"}, default="right"
        Where the root's children are.
    features : int, default=2
        Features or words named at a node where there is room: those that set it apart from all
        other rows, where columns have names. "legs +2.1" is a difference in standard deviations.

    Returns
    -------
    ax : matplotlib Axes
        What was drawn on. `ax.figure.savefig("tree.pdf")` keeps it.
    """
    import_matplotlib("plot_tree")
    given = given_tree(tree, "plot_tree")
    tree, features = given.tree, check_whole(features, "features", 0)
    check_choice(color, "color", ("component", "support"))
    check_choice(direction, "direction", ("right", "down"))
    if support is not None:
        check_choice(support, "support", ("number", "transparency"))
    if color == "support":
        known_support(tree, "color='support'")
    called = item_names(tree, names)
    layout = tree_layout(
        tree,
        max_nodes=max_nodes,
        min_size=min_size,
        min_support=min_support,
        max_depth=max_depth,
        colors=given.colors,
    )
    words = Words(layout.marks, called, support == "number", given.phrase(features))
    margins = (0.2, 0.2, 0.35, 0.6) if direction == "right" else (0.6, 0.6, 0.2, 0.6)
    ax = axes_for(ax, _figure_size(layout, direction), margins)
    space = _space(ax, layout, words, direction)
    _set_limits(ax, layout, space)
    radii = node_radii(layout, space.level, space.slot)
    faded = _transparency(layout.marks, support)
    _draw_lines(ax, layout, space, faded)
    _draw_nodes(ax, layout, space, radii, faded, color)
    draw_labels(ax, layout, space, radii, words)
    add_legend(ax, layout.marks, color)
    return ax


def _figure_size(layout: TreeLayout, direction: str) -> tuple[float, float]:
    """Inches of a new figure: a slot for every label, within reason."""
    across = min(max(layout.n_slots * _SLOT / 72 + 1.2, 3.0), 40.0)
    along = min(max(6.0 + 0.9 * int(layout.depth.max()), 7.0), 16.0)
    return (along, across) if direction == "right" else (max(across, 5.0), along)


def _space(ax: Axes, layout: TreeLayout, words: Words, direction: str) -> Space:
    """Share the Axes between levels and labels: at most half of it for labels."""
    width, height = size_in_points(ax)
    along, across = (width, height) if direction == "right" else (height, width)
    labels = words.last_labels(np.full(len(layout.depth), along / 2))
    wanted = max(map(width_of, labels.values())) + LARGEST + GAP
    room = min(wanted, along / 2)
    n_levels = max(int(layout.depth.max()), 1)
    return Space(
        direction == "down",
        max(along - room - _EDGE - LARGEST, 1.0) / n_levels,
        max(across - 2 * _EDGE, 1.0) / layout.n_slots,
        room,
    )


def _set_limits(ax: Axes, layout: TreeLayout, space: Space) -> None:
    """Limits by which levels and slots have the points of `space`; no frame, only levels named."""
    deepest, edge = int(layout.depth.max()), _EDGE / space.slot
    along = (-(_EDGE + LARGEST) / space.level, deepest + space.room / space.level)
    across = (-0.5 - edge, layout.n_slots - 0.5 + edge)
    if layout.depth.max() == 0:
        along = (-(_EDGE + LARGEST) / space.level, 1.0 + space.room / space.level)
    ticks = range(deepest + 1)
    named = ["root", *(f"level {level}" for level in ticks[1:])]
    if space.down:
        ax.set(xlim=across, ylim=along[::-1], xticks=[])
        ax.set_yticks(ticks, named, fontsize=FONT_SIZE)
    else:
        ax.set(xlim=along, ylim=across[::-1], yticks=[])
        ax.set_xticks(ticks, named, fontsize=FONT_SIZE)
    ax.tick_params(length=0)
    for spine in ax.spines.values():
        spine.set_visible(False)


def _transparency(marks: Marks, support: str | None) -> NDArray[np.float64]:
    """(m,) 1 is opaque; the least support can still be seen."""
    if support != "transparency":
        return np.ones(len(marks.node))
    return 0.2 + 0.8 * np.nan_to_num(marks.support, nan=1.0)


def _draw_lines(ax: Axes, layout: TreeLayout, space: Space, faded: NDArray[np.float64]) -> None:
    """A bent line from every node but the root to the one above."""
    from matplotlib.collections import PathCollection
    from matplotlib.path import Path

    marks = layout.marks
    below = np.arange(1, len(marks.node))
    above = marks.parent[below]
    middle = (layout.depth[below] + layout.depth[above]) / 2
    corners = [
        space.data(layout.depth[above], layout.across[above]),
        space.data(middle, layout.across[above]),
        space.data(middle, layout.across[below]),
        space.data(layout.depth[below], layout.across[below]),
    ]
    codes = [Path.MOVETO, Path.CURVE4, Path.CURVE4, Path.CURVE4]
    paths = [Path(points, codes) for points in np.stack(corners, axis=1)]
    lines: Any = PathCollection(
        paths,
        facecolors="none",
        edgecolors=rgba([LINE] * len(below), faded[1:]),
        linewidths=0.6 + 5 * marks.size[1:] / marks.size[0],
        zorder=1,
        gid="lines",
    )
    ax.add_collection(lines, autolim=False)


def _draw_nodes(
    ax: Axes,
    layout: TreeLayout,
    space: Space,
    radii: NDArray[np.float64],
    faded: NDArray[np.float64],
    color: str,
) -> None:
    """Pies, or full circles where colours say the support; rests grey and hatched."""
    from matplotlib.path import Path

    marks = layout.marks
    places = space.data(layout.depth, layout.across)
    nodes, rests = np.flatnonzero(~marks.is_rest), np.flatnonzero(marks.is_rest)
    _blank(ax, places, radii)
    if color == "support":
        colors = support_colors(marks.support[nodes])
        colors[:, 3] = faded[nodes]
        circles = [Path.unit_circle()] * len(nodes)
        _add(ax, circles, places[nodes], radii[nodes], "pies", facecolors=colors, linewidths=0)
    else:
        owner, column, paths = pie_slices(marks.counts[nodes])
        colors = rgba([marks.colors[i] for i in column], faded[nodes[owner]])
        _add(
            ax,
            paths,
            places[nodes[owner]],
            radii[nodes[owner]],
            "pies",
            facecolors=colors,
            linewidths=0,
        )
    outline = {"facecolors": "none", "edgecolors": INK, "linewidths": 0.6}
    _add(ax, [Path.unit_circle()], places[nodes], radii[nodes], "nodes", **outline)
    grey = {"facecolors": REST, "edgecolors": INK, "linewidths": 0.6, "hatch": "/////"}
    _add(ax, [Path.unit_circle()], places[rests], radii[rests], "rests", **grey)


def _blank(ax: Axes, places: NDArray, radii: NDArray) -> None:
    """White below the nodes, so that lines do not shine through transparent ones."""
    from matplotlib.path import Path

    _add(ax, [Path.unit_circle()], places, radii, "blank", facecolors="white", linewidths=0)


def _add(ax: Axes, paths: list, places: NDArray, radii: NDArray, gid: str, **style) -> None:
    """Shapes of unit size at places, their radii in points."""
    from matplotlib.collections import PathCollection
    from matplotlib.transforms import IdentityTransform

    if len(places) == 0:
        return
    shapes: Any = PathCollection(
        paths,
        sizes=radii**2,
        offsets=places,
        offset_transform=ax.transData,
        transform=IdentityTransform(),
        zorder=2,
        gid=gid,
        **style,
    )
    ax.add_collection(shapes, autolim=False)


def pie_slices(counts: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64], list]:
    """Row and column of each entry above 0 of `counts`, and its slice of a unit circle."""
    from matplotlib.path import Path

    owner, column = np.nonzero(counts)
    ends = 360 * np.cumsum(counts, axis=1) / counts.sum(axis=1, keepdims=True)
    stop = ends[owner, column]
    start = stop - 360 * counts[owner, column] / counts.sum(axis=1)[owner]
    whole = counts[owner, column] == counts.sum(axis=1)[owner]
    paths = [
        # Clockwise from the top, as people read a clock.
        Path.unit_circle() if full else Path.wedge(90 - b, 90 - a)
        for full, a, b in zip(whole, start, stop, strict=True)
    ]
    return owner, column, paths
