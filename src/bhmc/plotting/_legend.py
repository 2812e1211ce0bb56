"""What colours stand for, in a line above the picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bhmc.plotting._canvas import size_in_points
from bhmc.plotting._collapse import Marks
from bhmc.plotting._colors import INK, REST, support_colors
from bhmc.plotting._text import FONT_SIZE, percent, width_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# A handle and the space around an entry, in units of the font size: matplotlib's own settings.
_HANDLE = 5.0
# Components that are named; every mark says its own.
_MOST_ENTRIES = 12


def add_legend(ax: Axes, marks: Marks, color: str) -> None:
    """Components and their rows, or a scale of support; and what a grey mark is."""
    from matplotlib.patches import Patch

    entries: list[tuple[str, dict]]
    if color == "support":
        shares = np.array([0.0, 0.25, 0.5, 0.75, 1.0])
        entries = [
            (f"support {percent(share)}" if i == 0 else percent(share), {"facecolor": shade})
            for i, (share, shade) in enumerate(zip(shares, support_colors(shares), strict=True))
        ]
    elif not marks.has_mixtures:
        entries = []
    else:
        entries = _of_components(marks)
    if marks.is_rest.any():
        entries.append(("collapsed", {"facecolor": REST, "hatch": "/////"}))
    if not entries:
        return
    handles = [
        Patch(label=label, edgecolor=INK, linewidth=0.6, **style) for label, style in entries
    ]
    widest = max(width_of(label) for label, _ in entries) + _HANDLE * FONT_SIZE
    ax.legend(
        handles=handles,
        loc="lower left",
        bbox_to_anchor=(0.0, 1.0),
        ncols=max(1, min(len(handles), int(size_in_points(ax)[0] / widest))),
        frameon=False,
        fontsize=FONT_SIZE,
        borderaxespad=0.3,
        handlelength=1.2,
        handletextpad=0.4,
        columnspacing=1.2,
    )


def _of_components(marks: Marks) -> list[tuple[str, dict]]:
    """The largest components with their rows, and how many have no entry."""
    rows, names = marks.counts[0], [*(f"c{k}" for k in marks.components), "others"]
    held = np.flatnonzero(rows)
    chosen = np.sort(held[np.argsort(-rows[held], kind="stable")[:_MOST_ENTRIES]])
    entries = [(f"{names[i]} ({rows[i]:,})", {"facecolor": marks.colors[i]}) for i in chosen]
    if len(held) > len(chosen):
        entries.append((f"and {len(held) - len(chosen)} more", {"visible": False}))
    return entries
