"""AMI of every method, level by level: told the number of clusters, and by its own levels."""

from collections.abc import Sequence
from typing import Any

from bhmc._experiments.comparison import CONTROL
from bhmc._experiments.figures import CONTROL_STYLE, quiet_pyplot, style_of
from bhmc._experiments.methods import METHODS
from bhmc._experiments.own_levels import Row
from bhmc.plotting.style import FONT_SIZE

_TITLES = {"matched": "told the number of classes", "own": "the best of its own levels"}


def draw_ami(rows: Sequence[Row]) -> Any:
    """A panel for each way to make a tree flat; the control is black and dashed.

    Returns
    -------
    figure : matplotlib Figure
    """
    pyplot = quiet_pyplot()
    figure, axes = pyplot.subplots(
        1, len(_TITLES), figsize=(9.4, 4.0), sharey=True, layout="constrained"
    )
    methods = list(dict.fromkeys(row.method for row in rows))
    rivals = [method for method in methods if method != CONTROL]
    classes = dict(sorted({(row.level, row.n_classes) for row in rows}))
    for ax, (how, words) in zip(axes, _TITLES.items(), strict=True):
        for method in methods:
            of = [row for row in rows if (row.method, row.how) == (method, how)]
            style = CONTROL_STYLE if method == CONTROL else style_of(rivals.index(method))
            ax.plot(
                [row.level for row in of], [row.ami for row in of], linewidth=1.4, markersize=5,
                label=METHODS[method].words, **style,
            )  # fmt: skip
        ax.set_title(words, fontsize=FONT_SIZE + 2)
        ax.set_xticks(list(classes), [f"{level}\n({n:,})" for level, n in classes.items()])
        ax.set_xlabel("level of the classes (their number)", fontsize=FONT_SIZE + 1)
        ax.tick_params(labelsize=FONT_SIZE)
        ax.grid(axis="y", color="#eeeeee")
        ax.set_axisbelow(True)
        ax.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("AMI", fontsize=FONT_SIZE + 1)
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside right center", fontsize=FONT_SIZE, frameon=False)
    return figure
