"""From columns as they were read to columns that are fitted, by the rules for frames."""

from collections.abc import Mapping
from datetime import date, timedelta
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bhmc._validation.column_kinds import Seen, Spelling, something_left, take_column
from bhmc._validation.column_plan import ColumnPlan, PlannedColumn, in_options
from bhmc._validation.column_values import days_from, numbers_from_text, truths_from_text
from bhmc._validation.errors import EntryError
from bhmc._validation.planned_frames import plan_frame


class Asked(NamedTuple):
    """What a user says of columns."""

    uses: Mapping[str, str]
    """By the name of the column, one of `column_plan.USES`."""
    ids: bool = True
    """Whether the rules may take columns for ids."""
    spelling: Spelling = Spelling()


def plan_columns(names: list[str], columns: list[NDArray], asked: Asked) -> ColumnPlan:
    """What the columns of a file are taken for.

    Parameters
    ----------
    names : list of str
        Names of the columns.
    columns : list of arrays
        float64, or objects: text, or dates.
    asked : Asked
        What a user says of them.
    """
    planned = []
    for j, (name, column) in enumerate(zip(names, columns, strict=True)):
        seen = _seen(name, column)
        if name == "" and j == 0 and asked.ids and len(names) > 1 and "" not in asked.uses:
            planned.append(PlannedColumn(name, "id", "id", because="has no name", instead="number"))
            continue
        use = asked.uses.get(name)
        planned.append(take_column(seen, j, len(names), in_options, use, asked.spelling, asked.ids))
    return ColumnPlan(something_left(planned))


def _seen(name: str, column: NDArray) -> Seen:
    if column.dtype != object:
        return Seen(name, "number", column, whole=True)
    cells = column.tolist()
    is_time = any(isinstance(cell, date | timedelta) for cell in cells)
    return Seen(name, "time" if is_time else "text", cells)


def fitted_column(column: NDArray, one: PlannedColumn, j: int, spelling: Spelling) -> NDArray:
    """A column as its use asks for: float64 with NaN, or text with None.

    Parameters
    ----------
    column : array
        As it was read.
    one : PlannedColumn
        What it is taken for.
    j : int
        Its number in the file, for errors.
    spelling : Spelling
        How text spells numbers.
    """
    if one.use == "category":
        return spelled(column)
    if one.use == "number" and column.dtype != object:
        return column
    cells = column.tolist()
    if column.dtype != object:
        cells = [None if np.isnan(x) else x for x in cells]
    if one.use == "number":
        return np.array(numbers_from_text(cells, one.sign, j, spelling))
    read = truths_from_text if one.use == "truth" else days_from
    return np.array(read(cells, j))


def spelled(column: NDArray) -> NDArray:
    """Numbers as text, whole ones without a point; dates as 2024-01-31."""
    if column.dtype == object:
        cells = [None if cell is None else str(cell) for cell in column]
    else:
        cells = [None if np.isnan(x) else _digits(x) for x in column]
    return np.array(cells, dtype=object)


def _digits(x: float) -> str:
    return str(int(x)) if x == np.floor(x) and abs(x) < 1e17 else f"{x:.15g}"


def columns_for_model(frame: Any, plan: ColumnPlan) -> dict[str, str] | None:
    """`columns=` of a model for a table that was read: what its own rules would take otherwise.

    Parameters
    ----------
    frame : frame
        The fitted columns.
    plan : ColumnPlan
        What they were taken for.
    """
    uses = {one.name: "number" if one.use == "date" else one.use for one in plan.columns}
    uses = {name: uses.get(name, "number") for name in frame.columns}  # numbers made of texts
    try:
        anew = plan_frame(frame, {})
    except EntryError:
        return uses
    differs = [one for one in anew.columns if one.use != uses[one.name] or one.because]
    return {one.name: uses[one.name] for one in differs} or None
