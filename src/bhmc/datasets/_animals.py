"""The Animals table, which is not bundled."""

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bhmc.datasets._files import numbers_bunch, read_rows
from bhmc.datasets.category_paths import level_codes, level_names

_BESIDE = "labels_annotation.csv"
_DESCR = """# Animals: the table of Kemp and Tenenbaum (2008)

33 animals with 102 features of 0 and 1, as in the paper. It is read from a file of yours: bhmc does
not bundle it, because no licence of the data is stated. Its classes are an annotation, not part of
the source.
"""


def load_animals(
    path: str | os.PathLike[str],
    *,
    labels: str | os.PathLike[str] | None = None,
    return_X_y: bool = False,
    as_frame: bool = False,
) -> Any:
    """Load the Animals table of Kemp and Tenenbaum, or another of names and numbers.

    Parameters
    ----------
    path : path of a CSV file, gzipped or not
        A name in the first column, then numbers.
    labels : path of a CSV file, optional
        The same names in the first column, then a class for each level, the coarsest first. By
        default `labels_annotation.csv` beside the table, if it is there.
    return_X_y, as_frame
        As in `load_zoo`.

    Returns
    -------
    bunch : sklearn.utils.Bunch
        With `data`, `names`, `feature_names`, `frame` and `DESCR`, and with `levels`,
        `level_names`, `target` and `target_names` (those of the last level), which are None
        without labels.
    """
    header, rows = read_rows(path)
    names = [row[0] for row in rows]
    beside = Path(path).with_name(_BESIDE)
    if labels is None and beside.is_file():
        labels = beside
    levels = called = target = target_names = None
    if labels is not None:
        levels, classes = level_codes(_labels_of(names, labels))
        called = level_names(classes)
        target, target_names = levels[:, -1], called[-1]
    return numbers_bunch(
        _numbers(header, rows),
        target,
        header[1:],
        return_X_y=return_X_y,
        as_frame=as_frame,
        names=np.array(names),
        levels=levels,
        level_names=called,
        target_names=target_names,
        DESCR=_DESCR,
    )


def _labels_of(names: list[str], labels: str | os.PathLike[str]) -> list[list[str]]:
    """The path of classes of each name."""
    paths = {row[0]: row[1:] for row in read_rows(labels)[1]}
    absent = [name for name in names if name not in paths]
    if absent:
        raise ValueError(f"{str(labels)!r} has no row for {absent[0]!r}, which is in the table.")
    return [paths[name] for name in names]


def _numbers(header: list[str], rows: list[list[str]]) -> NDArray[np.float64]:
    try:
        return np.array([row[1:] for row in rows], dtype=np.float64)
    except ValueError:
        raise ValueError(_first_without_number(header, rows)) from None


def _first_without_number(header: list[str], rows: list[list[str]]) -> str:
    for row in rows:
        for name, cell in zip(header[1:], row[1:], strict=True):
            try:
                float(cell)
            except ValueError:
                return f"{row[0]!r} has {cell!r} in column {name!r}, which is not a number."
    return "A cell of the table is not a number."
