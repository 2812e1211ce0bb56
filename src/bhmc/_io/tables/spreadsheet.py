"""Spreadsheets: the first sheet of an .xlsx, .xls or .ods file, by python-calamine."""

import zipfile
from datetime import datetime, time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bhmc._extras import import_calamine
from bhmc._io.tables.columns import MISSING
from bhmc._io.tables.foreign import try_reader
from bhmc._validation.errors import RefusedError
from bhmc._validation.plain_files import TIMES_COMPRESSED, TooLargeError, check_bytes


def read_spreadsheet(path: Path) -> tuple[list[str], list[list], list[str]]:
    """Names, columns of cells (None for missing ones) and notes of the first sheet.

    Parameters
    ----------
    path : Path
        The file. Its first row that is not empty names the columns.
    """
    try:
        calamine = import_calamine(f"reading {path.name}, a spreadsheet,")
    except ImportError as error:
        raise RefusedError(f"{error} Or save it as CSV.") from None
    try:
        _check_size(path)
        try_reader("calamine", path)
        book = calamine.CalamineWorkbook.from_path(str(path))
        sheets = book.sheet_names
        rows = book.get_sheet_by_index(0).to_python(skip_empty_area=True) if sheets else []
    except TooLargeError as error:
        raise RefusedError(f"{path} cannot be read: {error}.") from None
    except Exception as error:  # whatever a damaged file makes the reader stumble on
        reason = (str(error).splitlines() or [""])[0].strip().rstrip(".")
        raise RefusedError(f"{path} is no spreadsheet, or damaged ({reason}).") from None
    if len(rows) < 2:
        raise RefusedError(f"{path} has no rows below its header.")
    notes = [f"Read the first of {len(sheets)} sheets, {sheets[0]!r}."] if len(sheets) > 1 else []
    return _columns(path, rows, notes)


def _check_size(path: Path) -> None:
    """Refuse an archive that says it holds more than it can; .xls is none."""
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            held = sum(info.file_size for info in archive.infolist())
        check_bytes(held, path.stat().st_size, TIMES_COMPRESSED)


def _columns(path: Path, rows: list[list], notes: list[str]) -> tuple[list[str], list[list], list]:
    names, columns = [], []
    for j, head in enumerate(rows[0]):
        cells = [_cell(row[j]) for row in rows[1:]]
        name = _name(head)
        if name == "" and all(cell is None for cell in cells):
            continue
        if name == "" and j > 0:
            raise RefusedError(f"column {j + 1} of {path} has no name: give it one in row 1.")
        if name in names:
            raise RefusedError(f"two columns of {path} have the name {name!r}: rename one of them.")
        names.append(name)
        columns.append(cells)
    return names, columns, notes


def _name(head: Any) -> str:
    whole = isinstance(head, float) and head == int(head)
    return str(int(head) if whole else head).strip()


def _cell(cell: Any) -> Any:
    """A cell; None where it is empty or says so."""
    if isinstance(cell, str):
        text = cell.strip()
        return None if text.lower() in MISSING else text
    if isinstance(cell, datetime) and cell.time() == time():
        return cell.date()
    return cell


def as_objects(cells: list) -> NDArray:
    """Cells as an array of objects, whatever they are."""
    found = np.empty(len(cells), dtype=object)
    found[:] = cells
    return found
