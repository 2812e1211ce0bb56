"""AMI in one line a method: told the number of clusters, and by the tree's own levels."""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bhmc._experiments.comparison import CONTROL, Entry
from bhmc._experiments.methods import BHMC_METHODS, METHODS
from bhmc._experiments.sheet import Sheet
from bhmc.metrics import ami, cut_matched
from bhmc.tree import Tree


class Agreement(NamedTuple):
    """AMI of one level of classes with one partition."""

    ami: float
    n_clusters: int
    level: int | None = None
    """The level of the tree that the partition is; None: it is no level."""


def matched(tree: Tree, classes: NDArray) -> Agreement:
    """The tree cut into as many clusters as there are classes: it is told their number."""
    found = cut_matched(tree, len(np.unique(classes)))
    return Agreement(ami(classes, found), _count(found))


def own_level(tree: Tree, classes: NDArray) -> Agreement:
    """The level of the tree that agrees best, the uppermost of equals: no number is told.

    Levels are steps from the root, below which a shallow leaf repeats itself. Classes choose the
    level, so trees of many levels have more to choose from; the control has the same choice.
    """
    offered = [tree.labels_at(level) for level in range(1, tree.n_levels + 1)]
    found = [
        Agreement(ami(classes, one), _count(one), level) for level, one in enumerate(offered, 1)
    ]
    return max(found, key=lambda one: one.ami)


def flat(tree: Tree, classes: NDArray) -> Agreement:
    """The components as one flat clustering."""
    return Agreement(ami(classes, tree.components), tree.n_components)


HOW: dict[str, Callable[[Tree, NDArray], Agreement]] = {
    "matched": matched,
    "own": own_level,
    "components": flat,
}


class Row(NamedTuple):
    """One method against one level of classes: means over its runs."""

    method: str
    how: str
    """A key of `HOW`."""
    level: int
    """Of the classes."""
    n_classes: int
    ami: float
    n_clusters: float
    level_of_tree: float
    """NaN where the partition is no level."""
    cpu_seconds: float


def compare_levels(entries: Sequence[Entry], truth: NDArray) -> list[Row]:
    """Every method, in the order of its first run, at every level of more than one class."""
    rows = []
    for method in dict.fromkeys(entry.method for entry in entries):
        runs = [one.outcome for one in entries if one.method == method]
        trees = [run.tree for run in runs if run.tree is not None]
        seconds = float(np.mean([run.facts["cpu_seconds"] for run in runs]))
        for how in HOW if method in BHMC_METHODS else ("matched", "own"):
            for level, classes in _levels(truth):
                found = [HOW[how](tree, classes) for tree in trees]
                if found:
                    rows.append(_row(method, how, level, classes, found, seconds))
    return rows


def full_sheet(rows: Iterable[Row]) -> Sheet:
    """A line for every method, way and level, for a file."""
    columns = ("method", "how", "level", "classes", "ami", "clusters", "level_of_tree")
    return Sheet(columns, [row[:-1] for row in rows])


def short_sheet(rows: Sequence[Row]) -> Sheet:
    """A line for every method; figures of the levels of classes stand one after the other."""
    classes = "/".join(str(n) for _, n in sorted({(row.level, row.n_classes) for row in rows}))
    sheet = Sheet(
        ("method", "AMI, told the counts", "AMI, own levels", "their clusters", "AMI, components",
         "CPU seconds"),
        caption=f"AMI with {classes} classes, level by level. Told the counts: the tree is cut "
        "into as many clusters as there are classes. Own levels: the level of the tree that agrees "
        "best, and how many clusters it has; the method is not told any number. Components: "
        "BHMC's, as one flat clustering. Means over runs.",
        digits=1,
        strong=lambda row: row[0] == METHODS[CONTROL].words,
    )  # fmt: skip
    for method in dict.fromkeys(row.method for row in rows):
        of = {how: [r for r in rows if (r.method, r.how) == (method, how)] for how in HOW}
        scores = {how: _joined(row.ami for row in of[how]) for how in HOW}
        clusters = "/".join(f"{row.n_clusters:.0f}" for row in of["own"])
        sheet.rows.append(
            (
                METHODS[method].words,
                scores["matched"],
                scores["own"],
                clusters,
                scores["components"] or None,
                of["own"][0].cpu_seconds,
            )
        )
    return sheet


def _row(
    method: str, how: str, level: int, classes: NDArray, found: list[Agreement], seconds: float
) -> Row:
    levels = [np.nan if one.level is None else one.level for one in found]
    return Row(
        method,
        how,
        level,
        _count(classes),
        float(np.mean([one.ami for one in found])),
        float(np.mean([one.n_clusters for one in found])),
        float(np.mean(levels)),
        seconds,
    )


def _levels(truth: NDArray) -> list[tuple[int, NDArray]]:
    """Levels with their classes; one class for all rows says nothing."""
    return [(level, one) for level, one in enumerate(truth.T, 1) if _count(one) > 1]


def _count(labels: NDArray) -> int:
    return len(np.unique(labels))


def _joined(values: Iterable[float]) -> str:
    """`.50/.51/.59`."""
    return "/".join(f"{value:z.2f}".replace("0.", ".") for value in values)
