"""Run time against the number of rows, both axes logarithmic."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bhmc._experiments.figures import quiet_pyplot, style_of
from bhmc._experiments.methods import METHODS
from bhmc.plotting.style import FONT_SIZE


def draw_times(times: Mapping[str, Sequence[tuple[int, float, bool]]]) -> Any:
    """CPU seconds of each method; open marks were stopped by their time.

    Parameters
    ----------
    times : mapping
        For each method (rows, CPU seconds, whether it was stopped).

    Returns
    -------
    figure : matplotlib Figure
    """
    pyplot = quiet_pyplot()
    figure, ax = pyplot.subplots(figsize=(6.6, 4.4), layout="constrained")
    for i, (method, points) in enumerate(times.items()):
        n, seconds, stopped = (np.array(column) for column in zip(*points, strict=True))
        style = style_of(i)
        slope = growth(n[~stopped], seconds[~stopped])
        said = METHODS[method].words + ("" if np.isnan(slope) else f", grows as N^{slope:.1f}")
        ax.plot(n, seconds, linewidth=1.4, markersize=5, label=said, **style)
        ax.plot(
            n[stopped], seconds[stopped], markersize=6, markerfacecolor="white", linestyle="none",
            **style,
        )  # fmt: skip
    ax.set(xscale="log", yscale="log")
    ax.set_xlabel("rows", fontsize=FONT_SIZE + 1)
    ax.set_ylabel("CPU seconds", fontsize=FONT_SIZE + 1)
    sizes = sorted({n for points in times.values() for n, _, _ in points})
    ax.set_xticks(sizes, [f"{n:,}" for n in sizes])
    ax.minorticks_off()
    ax.tick_params(labelsize=FONT_SIZE)
    ax.grid(color="#eeeeee")
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(fontsize=FONT_SIZE, frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    figure.set_size_inches(9.4, 4.4)
    return figure


def growth(n: np.ndarray, seconds: np.ndarray) -> float:
    """Slope of log seconds on log n; NaN where fewer than two sizes were finished."""
    if len(np.unique(n)) < 2:
        return float("nan")
    return float(np.polyfit(np.log(n), np.log(np.maximum(seconds, 1e-6)), 1)[0])
