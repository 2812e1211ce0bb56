"""Frames by the rules of `column_kinds`: what each column is taken for, and its numbers."""

from collections.abc import Callable, Container, Mapping
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bhmc._validation.column_kinds import Seen, something_left, take_column
from bhmc._validation.column_plan import ColumnPlan, HowToSay, PlannedColumn, in_python
from bhmc._validation.column_values import days_from, numbers_from_text, truths_from_text
from bhmc._validation.data import column_names, is_missing
from bhmc._validation.errors import WrongTypeError, naming_columns
from bhmc._validation.frames import (
    CATEGORIES,
    TEXTS,
    TIMES,
    TRUTHS,
    Columns,
    are_categories,
    codes_of,
    kind_of_type,
    numbers_of_column,
    seen_codes,
)
from bhmc._validation.plain_frame import Frame
from bhmc._validation.spellings import EXACT


def known_frame(X: Any) -> Any:
    """X, where it is an Arrow table of any package, as a frame; other data as they are.

    Parameters
    ----------
    X : object
        Data. A table of pyarrow, a relation of DuckDB and whatever else offers
        `__arrow_c_stream__` and columns becomes a frame of polars, or else of pandas.
    """
    if package_of(X) in ("pandas", "polars") or not _is_arrow_table(X):
        return X
    try:
        return import_module("polars").DataFrame(X)
    except ImportError:
        pass
    try:
        return import_module("pyarrow").table(X).to_pandas()
    except ImportError:
        raise ImportError(
            f"X is a table of {package_of(X)}: to read it install polars, for example with `pip "
            "install bhmc[parquet]`, or pyarrow and pandas."
        ) from None


def _is_arrow_table(X: Any) -> bool:
    named = hasattr(X, "column_names") or hasattr(X, "columns")
    return hasattr(X, "__arrow_c_stream__") and named


def package_of(X: Any) -> str:
    """The package that the class of X is from: "pandas", "polars", "pyarrow", "duckdb", ..."""
    return type(X).__module__.split(".")[0].lstrip("_")


def array_frame(X: Any, names: list[str] | None) -> Frame:
    """An array as a frame, whose columns are known by `names` or by their numbers.

    Parameters
    ----------
    X : (n, d) array
        Data.
    names : list of str or None
        Names of the columns.
    """
    cells = np.asarray(X)
    if cells.ndim != 2:
        raise ValueError(f"X must be a matrix of rows and columns, got shape {cells.shape}.")
    return Frame(list(range(cells.shape[1])) if names is None else names, list(cells.T))


def frame_columns(X: Any) -> list:
    """What columns are called: their names, or their numbers where names are no text."""
    return column_names(X) or list(range(X.shape[1]))


def plan_frame(
    X: Any,
    asked: Mapping[Any, str],
    auto: bool = True,
    text_taken: Container = (),
    how: HowToSay = in_python,
) -> ColumnPlan:
    """What every column of a frame is taken for.

    Parameters
    ----------
    X : frame
        Every column has a type of its own.
    asked : mapping
        What a user says of columns, by name (by number where they have none).
    auto : bool
        Whether the rules decide about the other columns. If not, their types do.
    text_taken : names of columns
        Where types decide: columns whose text is categories.
    how : function
        Puts into words how a user changes the use of a column.
    """
    names = frame_columns(X)
    index = index_name(X)
    for name in asked:
        if name not in names and name != index:
            raise ValueError(f"columns has {name!r}, which is no column of X.")
    columns = []
    with naming_columns(column_names(X)):
        for j, name in enumerate(names):
            seen = seen_column(X, j, name)
            if auto or name in asked:
                one = take_column(seen, j, len(names), how, asked.get(name))
            else:
                is_text = seen.type == "text" and name in text_taken
                use = "category" if is_text else "number"
                one = PlannedColumn(name, use, use)
            columns.append(one)
    columns = something_left(columns)
    ids = [one.name for one in columns if one.use == "id"]
    item = index if asked.get(index) == "id" else (ids or [None])[0]
    return ColumnPlan(columns, package_of(X), item)


def index_name(X: Any) -> Any:
    """What `columns=` calls the index of a pandas frame: its name, or "index"; None without one."""
    index = getattr(X, "index", None)
    if index is None or callable(index):
        return None
    return "index" if index.name is None else index.name


def item_names(X: Any, plan: ColumnPlan) -> NDArray | None:
    """Names of the rows: an index or a column that the plan takes for an id; None without one.

    Parameters
    ----------
    X : frame
        The data.
    plan : ColumnPlan
        What its columns were taken for.
    """
    if plan.item_column is None:
        return None
    names = frame_columns(X)
    if plan.item_column in names:
        values = list(_column(X, names.index(plan.item_column)))
    else:
        values = list(X.index)
    return np.array(["" if is_missing(value) else str(value) for value in values])


def _column(X: Any, j: int) -> Any:
    return X.iloc[:, j] if hasattr(X, "iloc") else X[:, j]


def seen_column(X: Any, j: int, name: Any) -> Seen:
    """Column j of a frame as the rules see it."""
    column = _column(X, j)
    kind = kind_of_type(column)
    if kind in TIMES:
        return Seen(name, "time", _cells(column))
    if kind in CATEGORIES or kind in TEXTS:
        return Seen(name, "text", _cells(column))
    if kind == "object":
        return _seen_objects(column, j, name)
    values = numbers_of_column(column, j, exact=False)
    if kind in TRUTHS:
        return Seen(name, "truth", values)
    whole = kind.startswith(("int", "uint"))
    return Seen(name, "number", values, whole, not whole or _are_exact(column, values))


def _seen_objects(column: Any, j: int, name: Any) -> Seen:
    cells = _cells(column)
    if all(cell is None or type(cell).__name__ in _OBJECTS_OF_TIME for cell in cells):
        return Seen(name, "time", cells)
    if are_categories("object", cells, j):
        return Seen(name, "text", cells)
    return Seen(name, "number", numbers_of_column(column, j))


_OBJECTS_OF_TIME = ("date", "datetime", "timedelta", "time", "Timestamp", "Timedelta")


def _cells(column: Any) -> list:
    return [None if is_missing(value) else value for value in column]


def _are_exact(column: Any, values: NDArray[np.float64]) -> bool:
    """Whether the doubles are the whole numbers of the column."""
    large = np.flatnonzero(np.abs(values) >= EXACT)
    cells = list(column) if len(large) else []
    return all(int(cells[row]) == int(values[row]) for row in large)


def read_planned(
    X: Any, plan: ColumnPlan, seen: Mapping[int, list] | None = None
) -> tuple[NDArray[np.float64], Columns]:
    """The fitted columns of a frame as numbers, NaN for missing entries.

    Parameters
    ----------
    X : frame
        It has the columns of the plan.
    plan : ColumnPlan
        What they were taken for.
    seen : mapping, optional
        Categories that fit saw, by the number of the column in X: their codes are taken. A category
        that fit did not see has no probability anywhere. It is taken for a missing entry, with a
        warning.
    """
    kept, names = plan.fitted, column_names(X)
    matrix, categories, truths = np.empty((X.shape[0], len(kept))), {}, set()
    for place, j in enumerate(kept):
        one = plan.columns[j]
        with naming_columns(names):
            column = seen_column(X, j, one.name)
            if one.use == "category":
                known = None if seen is None else seen[j]
                matrix[:, place], categories[place] = _codes(X, column, j, known, names)
            else:
                matrix[:, place] = _READERS[one.use](column, one, j)
        truths |= {place} if one.use == "truth" else set()
    own = None if names is None else [names[j] for j in kept]
    origin = None if len(kept) == X.shape[1] else tuple(kept)
    return matrix, Columns(own, categories, frozenset(truths), origin)


def _codes(
    X: Any, column: Seen, j: int, known: list | None, names: list[str] | None
) -> tuple[NDArray[np.float64], list]:
    """Codes of categories, and the categories."""
    cells = _labels(column)
    if known is not None:
        return seen_codes(cells, known, j, names), known
    return codes_of(cells, getattr(_column(X, j).dtype, "categories", None))


def _labels(column: Seen) -> list:
    """Cells as categories: whole numbers without a point."""
    if column.type in ("text", "time"):
        return column.values
    return [
        None if np.isnan(x) else int(x) if x == np.floor(x) else float(x) for x in column.values
    ]


def _as_numbers(column: Seen, one: PlannedColumn, j: int) -> Any:
    if column.type == "time":
        raise WrongTypeError("dates or times", None, j, "values must be numbers")
    if column.type == "text":
        return numbers_from_text(column.values, one.sign, j)
    return column.values


def _as_truths(column: Seen, one: PlannedColumn, j: int) -> Any:
    cells = column.values
    if column.type in ("number", "truth"):
        cells = [None if np.isnan(x) else float(x) for x in cells]
    return truths_from_text(cells, j)


def _as_days(column: Seen, one: PlannedColumn, j: int) -> Any:
    cells = column.values
    if column.type in ("number", "truth"):
        cells = [None if np.isnan(x) else float(x) for x in cells]
    return days_from(cells, j)


_READERS: dict[str, Callable[[Seen, PlannedColumn, int], Any]] = {
    "number": _as_numbers,
    "truth": _as_truths,
    "date": _as_days,
}
