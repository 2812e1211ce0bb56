"""How a sweep's time grows with rows, components, columns, levels and nodes.

    python -m studies.growth

Each line varies one number and keeps the others; the exponent is the slope of log time against its
logarithm. Sizes take turns, so that all of them meet the same machine. Writes build/growth.json and
the picture of the cost page.
"""

import sys

import numpy as np
from benchmarks.states import LIKELIHOOD, Shape, make
from benchmarks.timing import ROOT, Figure, Sweeps, report, take_turns

BASE = Shape(50_000, 32, 50, 100)
PICTURE = ROOT / "docs" / "images" / "growth.png"

# What varies, over which values, with which bound on the exponent.
LINES = {
    "n": ("rows N", [10_000, 30_000, 100_000, 300_000, 1_000_000], 1.05),
    "k": ("components K", [13, 25, 50, 100, 200], None),
    "d": ("columns D", [8, 16, 32, 64, 128, 256], None),
    "depth": ("levels L", [1, 2, 4, 8, 16], None),
    "nodes": ("nodes", [60, 100, 300, 1_000, 3_000], None),
}
REPEATS = 5


def measure(name: str, values: list[int]) -> np.ndarray:
    """(values,) median CPU seconds of tiles, loop and statistics of a sweep."""
    works = {}
    for value in values:
        state, X = make(BASE._replace(**{name: value}))
        works[str(value)] = Sweeps(state, LIKELIHOOD.prepare(X))
    take_turns(works, REPEATS)
    return np.array([np.median(work.data[1:]) for work in works.values()])


def exponent(values: list[int], seconds: np.ndarray) -> float:
    """Slope of log seconds against log values."""
    return float(np.polyfit(np.log(values), np.log(seconds), 1)[0])


def draw(times: dict[str, np.ndarray]) -> None:
    """One panel a line: measured times, and for N what N and N log N would be."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, len(LINES), figsize=(15, 3.4), layout="constrained")
    for axis, (name, seconds) in zip(axes, times.items(), strict=True):
        label, values, _ = LINES[name]
        axis.loglog(values, seconds, "o-", color="black", label="measured")
        if name == "n":
            n = np.array(values, dtype=float)
            axis.loglog(n, seconds[0] * n / n[0], "--", color="tab:blue", label="N")
            growth = n * np.log(n) / (n[0] * np.log(n[0]))
            axis.loglog(n, seconds[0] * growth, ":", color="tab:red", label="N log N")
            axis.legend(frameon=False)
        axis.set_title(f"{label}: exponent {exponent(values, seconds):.2f}", fontsize=11)
        axis.set_xlabel(label)
        axis.minorticks_off()
        axis.set_xticks(
            values,
            [f"{value:,}" if value < 10_000 else f"{value:.0e}" for value in values],
            fontsize=8,
        )
        axis.set_ylim(min(map(min, times.values())) / 2, max(map(max, times.values())) * 2)
    axes[0].set_ylabel("CPU seconds of a sweep")
    PICTURE.parent.mkdir(exist_ok=True)
    figure.savefig(PICTURE, dpi=110)


def main() -> int:
    """Measure, print, draw; returns the exit code."""
    times = {name: measure(name, values) for name, (_, values, _) in LINES.items()}
    figures = []
    for name, (label, values, bound) in LINES.items():
        figures.append(Figure(f"exponent in {label}", exponent(values, times[name]), "", bound))
        per_row = times[name] / (np.array(values) if name == "n" else BASE.n) * 1e9
        figures += [
            Figure(f"  {label} = {value:,}", nanoseconds, "ns/row")
            for value, nanoseconds in zip(values, per_row, strict=True)
        ]
    draw(times)
    return int(report(figures, ROOT / "build" / "growth.json") > 0)


if __name__ == "__main__":
    sys.exit(main())
