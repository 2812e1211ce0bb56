"""Where pictures are drawn: given Axes, or a new figure.

pyplot is imported for a new figure only. Given Axes are drawn on without
pyplot; no setting of matplotlib is ever changed, and nothing is shown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def axes_for(ax: Axes | None, size: tuple[float, float], margins=None) -> Axes:
    """`ax`, or the only Axes of a new figure of `size` inches.

    `margins` are (left, right, bottom, top) in inches. They are fixed, so that text that was found
    to fit still fits when the figure is saved.
    """
    if ax is not None:
        return ax
    from matplotlib import pyplot

    figure = pyplot.figure(figsize=size)
    left, right, bottom, top = margins or (0.6, 0.2, 0.5, 0.4)
    width, height = size
    return figure.add_axes(
        (left / width, bottom / height, 1 - (left + right) / width, 1 - (bottom + top) / height)
    )


def grid_for(ax: Any, shape: tuple[int, int], size: tuple[float, float]) -> np.ndarray:
    """`ax` as an array of Axes of `shape`, or those of a new figure."""
    if ax is None:
        from matplotlib import pyplot

        return pyplot.subplots(*shape, figsize=size, squeeze=False, layout="constrained")[1]
    given = np.asarray(ax, dtype=object)
    if given.size != shape[0] * shape[1]:
        raise ValueError(f"ax must hold {shape[0]} x {shape[1]} Axes, got {given.size}.")
    return given.reshape(shape)


def size_in_points(ax: Axes) -> tuple[float, float]:
    """Width and height of the Axes in points."""
    box = ax.get_window_extent()
    scale = 72 / ax.figure.dpi
    return box.width * scale, box.height * scale
