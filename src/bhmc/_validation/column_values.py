"""From the cells of a column to the numbers that are fitted, once its use is known."""

import math
from collections.abc import Sequence
from typing import Any

from bhmc._validation.column_kinds import Spelling
from bhmc._validation.errors import WrongEntryError
from bhmc._validation.spellings import OddNumberError, days, signed_numbers, truth_values


def numbers_from_text(
    cells: Sequence,
    sign: str,
    j: int,
    spelling: Spelling = Spelling(),  # noqa: B008
) -> list[float]:
    """Text as numbers; a sign that all have is taken off.

    Parameters
    ----------
    cells : sequence of str, number or None
        The column.
    sign : str
        The currency or unit that the plan found; "" for none.
    j : int
        Number of the column, for errors.
    spelling : Spelling
        How text spells numbers.
    """
    found = []
    for row, cell in enumerate(cells):
        if cell is None or not isinstance(cell, str):
            found.append(math.nan if cell is None else float(cell))
            continue
        try:
            one = signed_numbers([cell], *spelling)
        except OddNumberError:
            one = None
        if one is None or one.sign not in ("", sign):
            need = f"values must be numbers{f' with {sign}' if sign else ''}"
            raise WrongEntryError(cell, row, j, need)
        found += one.values
    return found


def truths_from_text(cells: Sequence, j: int) -> list[float]:
    """Words for true and false as 1 and 0; 1 and 0 are themselves.

    Parameters
    ----------
    cells : sequence of str, number or None
        The column.
    j : int
        Number of the column, for errors.
    """
    found = []
    for row, cell in enumerate(cells):
        words = None if not isinstance(cell, str) else cell.strip().lower()
        value = math.nan if cell is None else cell
        if words is not None:
            pair = truth_values([words])
            value = {"1": 1.0, "0": 0.0}.get(words) if pair is None else pair[words]
        if value is None or not (value in (0, 1) or value != value):
            raise WrongEntryError(cell, row, j, "values must be true or false, yes or no, 1 or 0")
        found.append(float(value))
    return found


def days_from(cells: Sequence, j: int) -> list[float]:
    """Dates as days since 1970-01-01.

    Parameters
    ----------
    cells : sequence of str, date, datetime, number of days, or None
        The column.
    j : int
        Number of the column, for errors.
    """
    try:
        found = days(cells)
    except OddNumberError as odd:
        raise WrongEntryError(odd.cell, odd.row, j, odd.why) from None
    if found is not None:
        return found
    for row, cell in enumerate(cells):
        if not _is_day(cell):
            raise WrongEntryError(cell, row, j, "values must be dates such as 2024-01-31")
    return [math.nan if cell is None else float(cell) for cell in cells]


def _is_day(cell: Any) -> bool:
    return cell is None or (not isinstance(cell, str) and isinstance(cell, int | float))
