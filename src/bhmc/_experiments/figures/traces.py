"""Traces of several chains with their warm-up: do they settle, do they keep moving?"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bhmc._experiments.figures import quiet_pyplot
from bhmc.plotting.style import FONT_SIZE, INK, PALETTE


class TraceRow(NamedTuple):
    """One number of every sweep."""

    words: str
    warmup: NDArray | None
    """(chain, sweep), or None where it was not noted."""
    draws: NDArray
    """(chain, draw)"""
    rhat: float


def draw_traces(rows: Sequence[TraceRow]) -> Any:
    """A row for each number, chains in colours, the warm-up shaded; to the right its histogram.

    Returns
    -------
    figure : matplotlib Figure
    """
    pyplot = quiet_pyplot()
    figure, axes = pyplot.subplots(
        len(rows),
        2,
        figsize=(10.0, 1.45 * len(rows) + 0.7),
        width_ratios=(4.5, 1),
        squeeze=False,
        sharey="row",
        layout="constrained",
    )
    for (left, right), row in zip(axes, rows, strict=True):
        _draw_row(left, right, row)
    axes[0, 0].set_title("every sweep; the shaded part is thrown away", fontsize=FONT_SIZE + 1)
    axes[0, 1].set_title("draws, by chain", fontsize=FONT_SIZE + 1)
    axes[-1, 0].set_xlabel("sweep", fontsize=FONT_SIZE)
    return figure


def _draw_row(left: Any, right: Any, row: TraceRow) -> None:
    n_warmup = 0 if row.warmup is None else row.warmup.shape[1]
    for chain, draws in enumerate(row.draws):
        values = draws if row.warmup is None else np.concatenate([row.warmup[chain], draws])
        color = PALETTE[chain % len(PALETTE)]
        left.plot(values, color=color, linewidth=0.45, alpha=0.75)
        edges = _edges(row.draws)
        shares = np.histogram(draws, edges)[0] / len(draws)
        right.stairs(shares, edges, orientation="horizontal", color=color, linewidth=1.2)
    if n_warmup:
        left.axvspan(0, n_warmup, color="#dddddd", alpha=0.6, linewidth=0)
    left.set_ylabel(row.words.replace(" ", "\n", 1), fontsize=FONT_SIZE + 1)
    said = "the same in all draws" if np.isnan(row.rhat) else f"R-hat {row.rhat:.3f}"
    right.text(
        0.97, 0.95, said, transform=right.transAxes, ha="right", va="top",
        fontsize=FONT_SIZE, color=INK,
    )  # fmt: skip
    left.set_ylim(*_limits(row))
    left.margins(x=0.005)
    right.set_xticks([])
    for one in (left, right):
        one.tick_params(labelsize=FONT_SIZE)
        one.spines[["top", "right"]].set_visible(False)


def _limits(row: TraceRow) -> tuple[float, float]:
    """All draws, and of a start far away no more than leaves the draws readable."""
    low, high = float(row.draws.min()), float(row.draws.max())
    wide = max(high - low, 1.0)
    if row.warmup is not None:
        low = max(min(low, float(row.warmup.min())), low - 0.6 * wide)
        high = min(max(high, float(row.warmup.max())), high + 0.6 * wide)
    return low - 0.05 * wide, high + 0.05 * wide


def _edges(values: NDArray, most: int = 40) -> NDArray[np.float64]:
    """Edges of bins; around whole numbers where values are such."""
    low, high = float(values.min()), float(values.max())
    if values.dtype.kind in "iu":
        step = max(1, int(np.ceil((high - low + 1) / most)))
        return np.arange(low - 0.5, high + step, step)
    return np.linspace(low, max(high, low + 1e-9), most + 1)
