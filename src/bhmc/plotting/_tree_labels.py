"""The labels of `plot_tree`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bhmc.plotting._colors import INK
from bhmc.plotting._labels import Words
from bhmc.plotting._text import FONT_SIZE, LINE_HEIGHT, PLAIN, apart, width_of
from bhmc.plotting._tree_layout import Space, TreeLayout

if TYPE_CHECKING:
    from matplotlib.axes import Axes

GAP = 3.0
"""Points from a node to its label."""
# What sets a node apart is smaller and softer than its numbers.
_SMALL, _SOFT = FONT_SIZE - 1.0, "#555555"


def draw_labels(
    ax: Axes,
    layout: TreeLayout,
    space: Space,
    radii: NDArray[np.float64],
    words: Words,
) -> None:
    """Labels, those of larger nodes first, where they meet neither a node nor another label.

    Below inner nodes, where there is still room, is what sets them apart.
    """
    from matplotlib.patheffects import withStroke

    marks = layout.marks
    is_last = marks.is_last
    offsets = radii.copy()
    for depth in np.unique(layout.depth[is_last]):  # labels of a level begin in one line
        column = is_last & (layout.depth == depth)
        offsets[column] = radii[column].max()
    behind = (layout.depth.max() - layout.depth) * space.level + space.room - offsets - GAP
    texts = words.last_labels(behind) | words.node_labels()
    order = [one for one in np.argsort(-marks.size, kind="stable").tolist() if texts[one]]
    middle = space.points(layout.depth, layout.across)
    boxes = np.array(
        [_box(middle[i], float(offsets[i]), texts[i], space.down, bool(is_last[i])) for i in order]
    ).reshape(-1, 4)
    nodes = np.column_stack(
        [middle[:, 0] - radii, middle[:, 0] + radii, middle[:, 1] - radii, middle[:, 1] + radii]
    )
    places = space.data(layout.depth, layout.across)
    kept = apart(boxes, nodes)
    _draw_phrases(ax, layout, space, radii, words.phrases(), np.vstack([nodes, boxes[kept]]))
    for i in np.array(order, dtype=int)[kept].tolist():
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


def _draw_phrases(
    ax: Axes,
    layout: TreeLayout,
    space: Space,
    radii: NDArray[np.float64],
    phrases: dict[int, str],
    taken: NDArray[np.float64],
) -> None:
    """What sets inner nodes apart, below them and not wider than the way to the next level."""
    from matplotlib.patheffects import withStroke

    middle = space.points(layout.depth, layout.across)
    places = space.data(layout.depth, layout.across)
    order = [
        one for one in np.argsort(-layout.marks.size, kind="stable").tolist() if one in phrases
    ]
    for one in order:
        radius, said = float(radii[one]), phrases[one].split(", ")
        room = 0.9 * space.level if not space.down else 2.0 * space.slot
        # In one line, in two, or the first feature alone.
        choices = dict.fromkeys([", ".join(said), ",\n".join(said), said[0]])
        for text in filter(None, choices):
            lines = text.split("\n")
            wide, high = max(width_of(line, _SMALL) for line in lines), _SMALL * 1.2 * len(lines)
            if space.down:
                left, top = middle[one, 0] + radius + GAP, middle[one, 1] - FONT_SIZE * 0.7
                shift, style = (radius + GAP, -FONT_SIZE * 0.7), {"ha": "left", "va": "top"}
            else:
                left, top = middle[one, 0] - wide / 2, middle[one, 1] - radius - 1.0
                shift, style = (0.0, -radius - 1.0), {"ha": "center", "va": "top"}
            box = np.array([[left, left + wide, top - high, top]])
            if wide > room or not apart(box, taken)[0]:
                continue
            taken = np.vstack([taken, box])
            ax.annotate(
                text,
                tuple(places[one]),
                shift,
                textcoords="offset points",
                fontsize=_SMALL,
                color=_SOFT,
                linespacing=1.1,
                path_effects=[withStroke(linewidth=2, foreground="white")],
                annotation_clip=False,
                gid=f"features {one}",
                **style,
                **PLAIN,
            )
            break


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
