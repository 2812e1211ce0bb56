"""A tree against true classes, level by level."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bhmc._validation.parameters import check_choice
from bhmc.datasets.category_paths import level_codes
from bhmc.metrics._cuts import cut_by_depth, cut_matched
from bhmc.metrics._flat import ami, ari, f_measure, nmi, purity
from bhmc.metrics._pairs import codes
from bhmc.tree import Tree


class LevelRow(NamedTuple):
    """One level of true classes against one cut of a tree."""

    level: int
    """1, 2, ...: steps below the root."""
    n_true: int
    """Classes at this level."""
    n_found: int
    """Clusters of the cut."""
    purity: float
    nmi: float
    ari: float
    f_measure: float
    ami: float


def true_levels(paths: Iterable[Sequence[Any]]) -> NDArray[np.int64]:
    """(n, depth) the class of each datum at levels 1, 2, ..., from its category path.

    A class is the whole path down to its level: the shoes of men and of women are two classes. A
    path shorter than the longest repeats its last label.

    Parameters
    ----------
    paths : iterable of n sequences of labels
        Such as `[("food", "fruit"), ("food",)]`.

    Examples
    --------
    >>> from bhmc.metrics import true_levels
    >>> true_levels([("food", "fruit"), ("food",), ("tool", "saw"), ("food", "fruit")]).tolist()
    [[0, 0], [0, 1], [1, 2], [0, 0]]
    """
    return level_codes(paths)[0]


def level_table(tree: Tree, truth: ArrayLike, cut: str = "depth") -> list[LevelRow]:
    """Agreement of a tree with true classes, a row for each of their levels.

    Parameters
    ----------
    tree : Tree
        The tree of n data.
    truth : array-like of shape (n, depth) or (n,)
        The class of each datum at levels 1, 2, ...; see `true_levels`.
    cut : {"depth", "matched"}, default="depth"
        What level l is compared with: the tree's own level l (`cut_by_depth`), or its cut into as
        many clusters as there are classes (`cut_matched`).
    """
    check_choice(cut, "cut", ("depth", "matched"))
    columns = np.asarray(truth)
    if columns.ndim == 1:
        columns = columns[:, None]
    if columns.ndim != 2 or len(columns) != len(tree.paths):
        raise ValueError(
            f"truth must hold a row of classes for each of the tree's {len(tree.paths)} data, "
            f"got shape {np.shape(truth)}."
        )
    rows = []
    for level, column in enumerate(columns.T, start=1):
        classes = codes(column, "truth")
        n_true = int(classes.max()) + 1
        found = cut_by_depth(tree, level) if cut == "depth" else cut_matched(tree, n_true)
        rows.append(_row(level, n_true, classes, found))
    return rows


def _row(level: int, n_true: int, classes: NDArray[Any], found: NDArray[Any]) -> LevelRow:
    scores = [score(classes, found) for score in (purity, nmi, ari, f_measure, ami)]
    return LevelRow(level, n_true, len(np.unique(found)), *scores)
