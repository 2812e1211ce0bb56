"""Columns and rows as the text of a CSV file, in which no cell is taken for a formula."""

import csv
import io
import re
from collections.abc import Iterable, Sequence
from typing import Any

# Programs for spreadsheets execute a cell that begins so, the last four in East Asia. What begins
# with apostrophes before that is meant, too: so it is known of every cell which one was put there.
_FORMULA = re.compile("'*[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")

_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


def csv_text(columns: Sequence[str], rows: Iterable[Sequence[Any]], *, raw: bool = False) -> str:
    """A header and a line for each row; None is an empty cell.

    Parameters
    ----------
    columns : sequence of str
        The header.
    rows : iterable of sequences
        The cells.
    raw : bool, default=False
        Whether text stays as it is, even if a spreadsheet would execute it.
    """
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    for row in (columns, *rows):
        writer.writerow(row if raw else [harmless(cell) for cell in row])
    return text.getvalue()


def harmless(cell: Any) -> Any:
    """The cell, with an apostrophe before a text that a spreadsheet would take for a formula.

    Parameters
    ----------
    cell : object
        A text that is a number, and what is no text, stay as they are.
    """
    if isinstance(cell, str) and _FORMULA.match(cell) and not _NUMBER.fullmatch(cell):
        return f"'{cell}"
    return cell


def as_it_was(cell: Any) -> Any:
    """What `harmless` was given.

    Parameters
    ----------
    cell : object
        A cell of a file that `csv_text` wrote.
    """
    is_marked = isinstance(cell, str) and cell.startswith("'") and _FORMULA.match(cell)
    return cell[1:] if is_marked else cell
