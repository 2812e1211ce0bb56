"""The labels of `plot_tree`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bhmc.plotting._colors import INK
from bhmc.plotting._labels import last_labels, node_labels
from bhmc.plotting._text import FONT_SIZE, LINE_HEIGHT, PLAIN, apart, width_of
from bhmc.plotting._tree_layout import Space, TreeLayout

if TYPE_CHECKING:
    from matplotlib.axes import Axes

GAP = 3.0
"""Points from a node to its label."""


def draw_labels(
    ax: Axes,
    layout: TreeLayout,
    space: Space,
    radii: NDArray[np.float64],
    names: list[str] | None,
    numbers: bool,
) -> None:
    """Labels, those of larger nodes first, where they meet neither a node nor another label."""
    from matplotlib.patheffects import withStroke

    marks = layout.marks
    is_last = marks.is_last
    offsets = radii.copy()
    for depth in np.unique(layout.depth[is_last]):  # labels of a level begin in one line
        column = is_last & (layout.depth == depth)
        offsets[column] = radii[column].max()
    behind = (layout.depth.max() - layout.depth) * space.level + space.room - offsets - GAP
    texts = last_labels(marks, names, behind, numbers) | node_labels(marks, numbers)
    order = [one for one in np.argsort(-marks.size, kind="stable").tolist() if texts[one]]
    middle = space.points(layout.depth, layout.across)
    boxes = np.array(
        [_box(middle[i], float(offsets[i]), texts[i], space.down, bool(is_last[i])) for i in order]
    ).reshape(-1, 4)
    nodes = np.column_stack(
        [middle[:, 0] - radii, middle[:, 0] + radii, middle[:, 1] - radii, middle[:, 1] + radii]
    )
    places = space.data(layout.depth, layout.across)
    for i in np.array(order, dtype=int)[apart(boxes, nodes)].tolist():
        shift, style = _anchor(float(offsets[i]), space.down, bool(is_last[i]))
        ax.annotate(
            texts[i],
            tuple(places[i]),
            shift,
            textcoords="offset points",
            fontsize=FONT_SIZE,
            color=INK,
            fontstyle="italic" if marks.is_rest[i] else "normal",
            path_effects=[withStroke(linewidth=2, foreground="white")],
            annotation_clip=False,
            gid=f"mark {i}",
            **style,
            **PLAIN,
        )


def _anchor(radius: float, down: bool, last: bool) -> tuple[tuple[float, float], dict[str, Any]]:
    """Where a label is, in points from its node's middle, and how it is aligned."""
    off = radius + GAP
    if not down:
        if last:
            return (off, 0.0), {"ha": "left", "va": "center_baseline"}
        return (0.0, radius + 1.0), {"ha": "center", "va": "bottom"}
    if last:
        return (0.0, -off), {"ha": "center", "va": "top", "rotation": 90}
    return (off, 0.0), {"ha": "left", "va": "center"}


def _box(middle: NDArray, radius: float, text: str, down: bool, last: bool) -> tuple[float, ...]:
    """(left, right, bottom, top) of a label in points."""
    (dx, dy), style = _anchor(radius, down, last)
    lines = text.split("\n")
    wide, high = max(map(width_of, lines)), FONT_SIZE * LINE_HEIGHT * len(lines)
    if "rotation" in style:
        wide, high = high, wide
    left = middle[0] + dx - {"left": 0.0, "center": wide / 2}[style["ha"]]
    lower = {"bottom": 0.0, "top": high}.get(style["va"], high / 2)
    return left, left + wide, middle[1] + dy - lower, middle[1] + dy - lower + high
