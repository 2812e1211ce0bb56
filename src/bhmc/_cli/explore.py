"""`bhmc explore`: the explorer of a run, a page in which one looks around."""

import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bhmc import BHMC
from bhmc._cli.export import check_place, said_where
from bhmc._cli.folder import said_if_unwritten
from bhmc._cli.show import load_run
from bhmc._io.csv_text import as_it_was
from bhmc._io.tables.numpy_files import read_npz
from bhmc._io.tables.read import check_file
from bhmc._io.tables.text import TextOptions, read_text
from bhmc._validation.errors import RefusedError, refusals

_PAGE = "explorer.html"
_ENDINGS = (".html", ".htm")


def explore(options) -> int:
    """Write the page."""
    folder, record, model = load_run(options.folder)
    path = folder.path / _PAGE if options.output is None else Path(options.output)
    if path.suffix.lower() not in _ENDINGS:
        raise RefusedError(f"{path} should end in .html: the explorer is a page.")
    compare = None if options.compare is None else _compared(Path(options.compare), model)
    images = None if options.images is None else _images(Path(options.images))
    write_explorer(path, model, record, compare=compare, images=images, max_items=options.rows)
    return said_where(options, path)


def write_explorer(path: Path, model: BHMC, record: dict[str, Any], **given: Any) -> None:
    """Write the explorer of a run, with what was given beside."""
    file = record.get("data", {}).get("file")
    title = f"Clusters of {file}" if file else None
    check_place(path)
    with refusals(), said_if_unwritten(path):
        model.explore(path, title=title, **given)


def _compared(path: Path, model: BHMC) -> Any:
    """The model of another run, or labels of the rows from a file."""
    if path.is_dir():
        return load_run(str(path))[2]
    check_file(path)
    table = read_text(path, TextOptions())
    columns = [_as_labels(column) for column in table.columns]
    n, names = len(model.tree_.paths), model.tree_.names
    order = None if names is None else _by_name(columns[0], [str(name) for name in names])
    if order is None and names is not None:  # a CSV of ours, in which names are harmless
        was = np.array([as_it_was(cell) for cell in columns[0].tolist()])
        order = _by_name(was, [str(name) for name in names])
    if order is not None and len(columns) > 1:
        return np.column_stack([column[order] for column in columns[1:]])
    if len(columns[0]) != n:
        raise RefusedError(
            f"{path} has labels of {len(columns[0])} rows, and the run has {n}: it needs a label "
            "for each row, in order, or a first column with the names of the rows."
        )
    return np.column_stack(columns)


def _as_labels(column: NDArray) -> NDArray:
    """A column as text: 3 for the number 3.0."""
    return np.array([_label(cell) for cell in column.tolist()])


def _label(cell: Any) -> str:
    if cell is None or cell != cell:  # NaN
        return "missing"
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)


def _by_name(column: NDArray, names: list[str]) -> list[int] | None:
    """Where each row is in a column of names; None if the column does not name all rows."""
    place = {name: i for i, name in enumerate(column.tolist())}
    if len(place) < len(column) or not place.keys() >= set(names):
        return None
    return [place[name] for name in names]


def _images(path: Path) -> Any:
    """The images of a file of NumPy; nothing in the file is executed."""
    check_file(path)
    try:
        if zipfile.is_zipfile(path):
            return read_npz(path, ("images",))
        return np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise RefusedError(f"{path} holds no images in NumPy's format: {error}.") from None
