"""Agreement with true classes, level by level: all methods, with the control."""

from collections.abc import Sequence
from typing import Any

from bhmc._experiments.comparison import CONTROL, CUT_WORDS, MEASURES, Mean
from bhmc._experiments.figures import CONTROL_STYLE, quiet_pyplot, style_of
from bhmc._experiments.methods import METHODS
from bhmc.plotting.style import FONT_SIZE

# Chance alone reaches high values of these: they are drawn on grey.
_UNCORRECTED = ("purity", "nmi", "f_measure")


def draw_levels(means: Sequence[Mean]) -> Any:
    """A row of panels for each cut, a panel for each measure; the control is black and dashed.

    Returns
    -------
    figure : matplotlib Figure
    """
    pyplot = quiet_pyplot()
    figure, axes = pyplot.subplots(
        len(CUT_WORDS),
        len(MEASURES),
        figsize=(2.5 * len(MEASURES) + 0.4, 5.6),
        sharex=True,
        sharey=True,
        layout="constrained",
    )
    methods = list(dict.fromkeys(mean.method for mean in means))
    levels = sorted({mean.level for mean in means})
    for row, cut in zip(axes, CUT_WORDS, strict=True):
        for ax, measure in zip(row, MEASURES, strict=True):
            for method in methods:
                of_method = [one for one in means if (one.method, one.cut) == (method, cut)]
                _draw_line(ax, sorted(of_method, key=lambda one: one.level), measure, methods)
            if measure in _UNCORRECTED:
                ax.set_facecolor("#f0f0f0")
            ax.grid(axis="y", color="white" if measure in _UNCORRECTED else "#eeeeee")
            ax.set_axisbelow(True)
            ax.set_xticks(levels)
            ax.set_xlim(levels[0] - 0.4, levels[-1] + 0.4)
            ax.tick_params(labelsize=FONT_SIZE)
            ax.spines[["top", "right"]].set_visible(False)
        row[0].set_ylabel(CUT_WORDS[cut], fontsize=FONT_SIZE + 1)
    for ax, words in zip(axes[0], MEASURES.values(), strict=True):
        ax.set_title(words, fontsize=FONT_SIZE + 2)
    for ax in axes[-1]:
        ax.set_xlabel("level of the classes", fontsize=FONT_SIZE)
    axes[0, 0].set_ylim(min(-0.02, _lowest(means)), 1.02)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(
        handles, labels, loc="outside lower center", ncols=4, fontsize=FONT_SIZE + 1, frameon=False
    )
    return figure


def _draw_line(ax: Any, means: Sequence[Mean], measure: str, methods: Sequence[str]) -> None:
    if not means:
        return
    method = means[0].method
    x = [one.level for one in means]
    y = [one.scores[measure] for one in means]
    error = [one.spread[measure] for one in means]
    rivals = [one for one in methods if one != CONTROL]
    style: dict[str, Any] = CONTROL_STYLE if method == CONTROL else style_of(rivals.index(method))
    ax.errorbar(
        x, y, error if max(error) > 0 else None, label=METHODS[method].words,
        linewidth=1.4, markersize=4.5, capsize=2, **style,
    )  # fmt: skip


def _lowest(means: Sequence[Mean]) -> float:
    return min(min(one.scores[name] for name in MEASURES) for one in means) - 0.02
