"""The one way from what a user calls X to a matrix and what is known of its columns."""

from collections.abc import Callable, Container, Mapping
from typing import Any

from bhmc._validation.column_plan import ColumnPlan
from bhmc._validation.data import check_matrix, column_names
from bhmc._validation.errors import naming_columns
from bhmc._validation.frames import Columns, is_frame, read_frame
from bhmc._validation.planned_frames import read_planned

ChooseColumns = Callable[[int, list[str] | None], Container[int] | None]
"""From the number of columns and their names: those whose text becomes codes (None: no column)."""


def read_data(
    X: Any,
    *,
    least_rows: int = 1,
    allow_missing: bool = False,
    allow_sparse: bool = False,
    coded: ChooseColumns | None = None,
    most_categories: int | None = None,
    seen: Mapping[int, list] | None = None,
    names: list[str] | None = None,
    plan: ColumnPlan | None = None,
) -> tuple[Any, Columns]:
    """X as a finite float64 matrix, and what is known of its columns.

    Parameters
    ----------
    X : array, list, SciPy sparse matrix, frame of pandas or polars, or a `Frame`
        A row for each datum.
    least_rows : int
        Fewer rows are refused.
    allow_missing, allow_sparse : bool
        Whether NaN, or a sparse X (which becomes CSR), is let through.
    coded : function, optional
        Chooses the columns of a frame whose text becomes codes; other text is refused.
    most_categories : int, optional
        A column of more categories is refused, and one whose rows all differ.
    seen : mapping, optional
        Categories that fit saw, by column: a frame of new rows takes their codes.
    names : list of str, optional
        Names of the columns where X has none.
    plan : ColumnPlan, optional
        What the columns of a frame are taken for; it takes the place of `coded` and
        `most_categories`. Only columns that the plan fits are read.
    """
    columns, values = Columns(column_names(X) or names), X
    if is_frame(X):
        if plan is not None:
            values, columns = read_planned(X, plan, seen)
        else:
            values, columns = _read_frame(X, coded, most_categories, seen)
    with naming_columns(columns.names or names, columns.origin):
        matrix = check_matrix(
            values,
            least_rows=least_rows,
            allow_missing=allow_missing,
            allow_sparse=allow_sparse,
        )
    return matrix, columns


def _read_frame(X, coded: ChooseColumns | None, most: int | None, seen) -> tuple[Any, Columns]:
    """A frame whose text is refused keeps `categories` None, as an array has it."""
    chosen = None if coded is None else coded(X.shape[1], column_names(X))
    values, columns = read_frame(X, chosen or (), most=most, seen=seen)
    return values, columns if chosen is not None else columns._replace(categories=None)
