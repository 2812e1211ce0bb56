"""Category paths, such as ("food", "fruit", "citrus"), as one column of class numbers a level."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


def level_codes(
    paths: Iterable[Sequence[Any]],
) -> tuple[NDArray[np.int64], list[list[tuple[Any, ...]]]]:
    """(codes, classes): the class of each path at every level, and what the classes are.

    A class of level l is the path down to l: the "shoes" of men and of women are two classes. A
    short path goes on with its last label. Classes are numbered in the order they are first met.
    """
    rows = [_one_path(path, row) for row, path in enumerate(paths)]
    if not rows:
        raise ValueError("There are no paths: give one sequence of labels for each datum.")
    depth = max(map(len, rows))
    rows = [row + row[-1:] * (depth - len(row)) for row in rows]
    codes = np.empty((len(rows), depth), dtype=np.int64)
    classes: list[list[tuple[Any, ...]]] = []
    for level in range(depth):
        number: dict[tuple[Any, ...], int] = {}
        for i, row in enumerate(rows):
            codes[i, level] = number.setdefault(row[: level + 1], len(number))
        classes.append(list(number))
    return codes, classes


def _one_path(path: Sequence[Any], row: int) -> tuple[Any, ...]:
    if isinstance(path, str | bytes):
        raise TypeError(
            f"A path must be a sequence of labels, got the text {path!r} in row {row}: split it "
            'first, as in path.split(" > ").'
        )
    labels = tuple(path)
    if not labels:
        raise ValueError(f"A path must hold at least one label, and that of row {row} is empty.")
    return labels
