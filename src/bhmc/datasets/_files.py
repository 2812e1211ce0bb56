"""Reading: files of the package, tables of a user's own, and numbers as a Bunch."""

import csv
import gzip
import io
import os
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from bhmc._extras import import_pandas

_FOLDER = resources.files("bhmc.datasets") / "data"


def bundled_bytes(name: str) -> bytes:
    """A file of the package."""
    return (_FOLDER / name).read_bytes()


def bundled_text(*names: str) -> str:
    """Texts of the package, one after the other: a description, a licence."""
    return "\n".join(bundled_bytes(name).decode("utf-8") for name in names)


def rows_of(content: bytes) -> tuple[list[str], list[list[str]]]:
    """(header, rows) of a CSV table, gzipped or not."""
    if content[:2] == b"\x1f\x8b":
        content = gzip.decompress(content)
    lines = csv.reader(io.StringIO(content.decode("utf-8-sig"), newline=""))
    header, *rows = [row for row in lines if row] or [[]]
    for number, row in enumerate(rows, start=1):
        if len(row) != len(header):
            raise ValueError(
                f"Row {number} of the table has {len(row)} cells and the header {len(header)}."
            )
    return header, rows


def read_rows(path: str | os.PathLike[str]) -> tuple[list[str], list[list[str]]]:
    """(header, rows) of a file with at least one row below its header."""
    file = Path(path)
    if not file.is_file():
        raise FileNotFoundError(f"There is no file {str(path)!r}.")
    header, rows = rows_of(file.read_bytes())
    if not rows:
        raise ValueError(f"{str(path)!r} has no rows below its header.")
    return header, rows


def numbers_bunch(
    data: NDArray[np.float64],
    target: NDArray[np.int64] | None,
    feature_names: list[str],
    *,
    return_X_y: bool,
    as_frame: bool,
    **entries: Any,
) -> Any:
    """A Bunch of numbers and classes, or (data, target); as pandas has them if `as_frame`."""
    table: Any = data
    classes: Any = target
    frame = None
    if as_frame:
        pandas = import_pandas("as_frame=True")
        table = frame = pandas.DataFrame(data, columns=feature_names)
        if target is not None:
            classes = pandas.Series(target, name="target")
            frame = pandas.concat([table, classes], axis=1)
    if return_X_y:
        return table, classes
    return Bunch(data=table, target=classes, frame=frame, feature_names=feature_names, **entries)
