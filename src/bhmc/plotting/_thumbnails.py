"""`plot_thumbnails`: the hierarchy of images, with some images of every node."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bhmc._extras import import_matplotlib
from bhmc._validation.parameters import check_whole
from bhmc.plotting._canvas import axes_for
from bhmc.plotting._colors import INK, LINE, REST
from bhmc.plotting._given import given_tree
from bhmc.plotting._labels import head_text, rest_text
from bhmc.plotting._text import FONT_SIZE, PLAIN, count
from bhmc.plotting._tree_layout import TreeLayout, tree_layout
from bhmc.tree import Tree

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Points: height of a thumbnail, of a slot, width of a level, room for numbers before a strip.
_THUMB, _SLOT, _LEVEL, _WORDS = 25.0, 31.0, 66.0, 62.0
_GAP = 1
"""Pixels between the images of a strip."""


def plot_thumbnails(
    tree: Any,
    images: ArrayLike,
    *,
    ax: Axes | None = None,
    max_nodes: int = 60,
    min_size: int = 1,
    max_depth: int | None = None,
    per_node: int = 12,
    random_state: int = 0,
) -> Axes:
    """The hierarchy of images as a tree, with images of its nodes in the place of names.

    A node with nothing below is a strip of some of its images, drawn at random without regard to
    anything, in order of component; an inner node shows four. Nodes that are not shown are put
    together in one grey mark under the same parent, with a strip of their images and the number of
    nodes and rows it stands for. A node with an only child is a plain piece of line.

    Parameters
    ----------
    tree : BHMC or Tree
        A fitted model of n images, or its tree.
    images : array-like of shape (n, height, width) or (n, height, width, 3)
        Grey or coloured images; grey ones are shown dark on white, whatever their scale.
    ax : matplotlib Axes, optional
        Where to draw; a new figure, large enough, if not given.
    max_nodes : int, default=60
        Most nodes in the picture, as in `plot_tree`.
    min_size : int, default=1
        Least number of rows of a node that is shown.
    max_depth : int, optional
        Last level that is shown.
    per_node : int, default=12
        Most images of a strip.
    random_state : int, default=0
        Which images are shown.

    Returns
    -------
    ax : matplotlib Axes
        What was drawn on.
    """
    import_matplotlib("plot_thumbnails")
    tree = given_tree(tree, "plot_thumbnails").tree
    pictures = _checked(images, tree)
    per_node = check_whole(per_node, "per_node", 1)
    layout = tree_layout(tree, max_nodes=max_nodes, min_size=min_size, max_depth=max_depth)
    deepest = max(int(layout.depth.max()), 1)
    width = deepest * _LEVEL + _WORDS + per_node * (_THUMB + 2) + 60
    height = layout.n_slots * _SLOT + 30
    ax = axes_for(ax, (width / 72, height / 72), (0.35, 0.1, 0.2, 0.1))
    ax.set(
        xlim=(-0.35, deepest + (_WORDS + per_node * (_THUMB + 2)) / _LEVEL),
        ylim=(layout.n_slots - 0.4, -0.6),
        xticks=range(deepest + 1),
        yticks=[],
    )
    ax.set_xticklabels(["root", *(f"level {i + 1}" for i in range(deepest))], fontsize=FONT_SIZE)
    ax.tick_params(length=0)
    for spine in ax.spines.values():
        spine.set_visible(False)
    chosen = shown_images(tree, layout, per_node, random_state)
    _draw_lines(ax, layout)
    _draw_marks(ax, layout, pictures, chosen, deepest)
    return ax


def shown_images(
    tree: Tree, layout: TreeLayout, per_node: int, random_state: int
) -> list[NDArray[np.int64]]:
    """For each mark of a picture the rows whose images it shows, in order of component."""
    rng = np.random.default_rng(random_state)
    marks = layout.marks
    members: list[list[int]] = [[] for _ in marks.node]
    for row, mark in enumerate(marks.mark_of.tolist()):
        members[mark].append(row)
    for one in range(len(members) - 1, 0, -1):  # marks come after those above them
        members[marks.parent[one]] += members[one]
    chosen = []
    for one, rows in enumerate(members):
        most = per_node if marks.is_last[one] else 4
        few = rng.choice(np.sort(rows), size=min(most, len(rows)), replace=False)
        chosen.append(few[np.lexsort((few, tree.components[few]))])
    return chosen


def strip(pictures: NDArray[np.float64], rows: NDArray[np.int64], across: int) -> NDArray:
    """The images of some rows, `across` of them beside each other, white where there is none."""
    high, wide = pictures.shape[1:3]
    down = -(-len(rows) // across)
    shape = (down * (high + _GAP) - _GAP, across * (wide + _GAP) - _GAP, 3)
    canvas = np.ones(shape)
    for i, row in enumerate(rows):
        y, x = (i // across) * (high + _GAP), (i % across) * (wide + _GAP)
        canvas[y : y + high, x : x + wide] = pictures[row]
    return canvas


def _checked(images: ArrayLike, tree: Tree) -> NDArray[np.float64]:
    """(n, height, width, 3) numbers from 0 to 1; grey images are turned to dark on white."""
    found = np.asarray(images, dtype=np.float64)
    if found.ndim not in (3, 4) or len(found) != len(tree.paths):
        raise ValueError(
            f"images must be an array of {len(tree.paths)} images, (n, height, width), got shape "
            f"{found.shape}."
        )
    low, high = float(found.min()), float(found.max())
    found = (found - low) / max(high - low, 1e-12)
    if found.ndim == 3:
        found = np.repeat(1 - found[..., None], 3, axis=-1)
    return found


def _draw_lines(ax: Axes, layout: TreeLayout) -> None:
    from matplotlib.collections import LineCollection

    marks = layout.marks
    below = np.arange(1, len(marks.node))
    above = marks.parent[below]
    bend = layout.depth[above] + 0.5
    corners = np.stack(
        [
            np.column_stack([layout.depth[above], layout.across[above]]),
            np.column_stack([bend, layout.across[above]]),
            np.column_stack([bend, layout.across[below]]),
            np.column_stack([layout.depth[below], layout.across[below]]),
        ],
        axis=1,
    )
    widths = 0.7 + 4 * marks.size[1:] / marks.size[0]
    lines: Any = LineCollection(
        list(corners), colors=LINE, linewidths=widths, zorder=1, gid="lines"
    )
    ax.add_collection(lines, autolim=False)


def _draw_marks(
    ax: Axes,
    layout: TreeLayout,
    pictures: NDArray[np.float64],
    chosen: list[NDArray[np.int64]],
    deepest: int,
) -> None:
    marks = layout.marks
    n_below = np.bincount(marks.parent[1:], minlength=len(marks.node))
    for one, rows in enumerate(chosen):
        place = (float(layout.depth[one]), float(layout.across[one]))
        if marks.is_last[one]:
            _draw_words(ax, marks, one, place)
            start = (deepest - place[0]) * _LEVEL + _WORDS
            _draw_image(ax, strip(pictures, rows, len(rows)), place, (start, 0.0), _THUMB, (0, 0.5))
        elif n_below[one] > 1 or one == 0:
            square = strip(pictures, rows, 2)
            _draw_image(ax, square, place, (0.0, 0.0), 1.3 * _THUMB, (0.5, 0.5), frame=True)
            said = head_text(marks, one, marks.names[one]) if one else f"{marks.size[one]:,} rows"
            ax.annotate(
                said, place, (0, 0.65 * _THUMB + 3), textcoords="offset points",
                ha="center", va="bottom", fontsize=FONT_SIZE, color=INK, gid=f"mark {one}", **PLAIN,
            )  # fmt: skip


def _draw_words(ax: Axes, marks: Any, one: int, place: tuple[float, float]) -> None:
    rest = bool(marks.is_rest[one])
    words = (marks.names[one], f"[{marks.node[one]}] " + count(int(marks.size[one]), "row"))
    text = rest_text(marks, one).replace(", ", ",\n") if rest else "\n".join(filter(None, words))
    ax.annotate(
        text, place, (5, 0), textcoords="offset points", ha="left", va="center",
        fontsize=FONT_SIZE, color=INK, fontstyle="italic" if rest else "normal", gid=f"mark {one}",
        bbox={"boxstyle": "square,pad=0.15", "fc": REST if rest else "white", "ec": "none"},
        **PLAIN,
    )  # fmt: skip


def _draw_image(
    ax: Axes,
    picture: NDArray,
    place: tuple[float, float],
    shift: tuple[float, float],
    height: float,
    alignment: tuple[float, float],
    frame: bool = False,
) -> None:
    """A picture of `height` points at a place, moved by points."""
    from matplotlib.offsetbox import AnnotationBbox, OffsetImage

    image: Any = OffsetImage(picture, zoom=height / picture.shape[0], interpolation="antialiased")
    box = AnnotationBbox(
        image,
        place,
        xybox=shift,
        xycoords="data",
        boxcoords="offset points",
        box_alignment=alignment,
        frameon=frame,
        pad=0.1,
        bboxprops={"edgecolor": LINE, "linewidth": 0.8, "boxstyle": "square"},
        annotation_clip=False,
        zorder=3,
    )
    ax.add_artist(box)
