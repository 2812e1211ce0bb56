"""Category paths, such as ("food", "fruit", "citrus"), as one column of class numbers a level."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

_Path = tuple[Any, ...]


def level_codes(paths: Iterable[Sequence[Any]]) -> tuple[NDArray[np.int64], list[list[_Path]]]:
    """(codes, classes): the class of each path at every level, and the path of each class.

    A class of level l is the path down to l: the "shoes" of men and of women are two classes. A
    short path repeats its last label. Classes are numbered in order of first occurrence.

    Parameters
    ----------
    paths : iterable of n sequences of labels
        Such as `[("food", "fruit"), ("food",)]`.
    """
    rows = [_one_path(path, row) for row, path in enumerate(paths)]
    if not rows:
        raise ValueError("There are no paths: give one sequence of labels for each datum.")
    depth = max(map(len, rows))
    codes = np.empty((len(rows), depth), dtype=np.int64)
    classes: list[list[_Path]] = []
    for level in range(depth):
        number: dict[_Path, int] = {}
        met: list[_Path] = []
        for i, row in enumerate(rows):
            extended = row[: level + 1] + row[-1:] * (level + 1 - len(row))
            codes[i, level] = number.setdefault(extended, len(number))
            if len(met) < len(number):
                met.append(row[: level + 1])
        classes.append(met)
    return codes, classes


def level_names(classes: list[list[_Path]], separator: str = " > ") -> list[NDArray[np.str_]]:
    """The names of the classes of each level: their paths as text.

    Parameters
    ----------
    classes : list of lists of paths
        For each level the path of every class, as `level_codes` returns them.
    separator : str, default=" > "
        The text between two labels of a path.
    """
    return [np.array([separator.join(map(str, path)) for path in level]) for level in classes]


def _one_path(path: Sequence[Any], row: int) -> _Path:
    if isinstance(path, str | bytes):
        raise TypeError(
            f"A path must be a sequence of labels, got the text {path!r} in row {row}: split it "
            'first, as in path.split(" > ").'
        )
    labels = tuple(path)
    if not labels:
        raise ValueError(f"A path must hold at least one label, and that of row {row} is empty.")
    if any(label is None or label != label for label in labels):  # NaN is not equal to itself
        raise ValueError(
            f"A path must not have missing labels, and that of row {row} has: end it before them."
        )
    return labels
