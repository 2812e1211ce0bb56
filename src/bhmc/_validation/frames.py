"""Frames of pandas and polars, known by what they offer: neither package is imported."""

import warnings
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bhmc._validation.data import column_names, is_missing, numbers_of
from bhmc._validation.errors import WrongEntryError, WrongTypeError, place

# Types of columns by the first word of their names, in pandas and in polars.
CATEGORIES = ("category", "categorical", "enum")
TEXTS = ("str", "string", "large_string")
TRUTHS = ("bool", "boolean")
TIMES = ("date", "datetime", "duration", "time", "timestamp")

# So many rows with a different text each are names, not categories.
_MANY_ROWS = 10

_REMEDY = "drop the column, or name its family in a Product"
_NO_TIMES = (
    "no family can take them: turn them into numbers, such as days since the first of them, or "
    "drop the column"
)


class Columns(NamedTuple):
    """What is known of the columns of X beyond their numbers."""

    names: list[str] | None = None
    """Their names, where they have some."""
    categories: dict[int, list] | None = None
    """Categories by column, in the order of their codes; None where X is no frame."""
    truths: frozenset[int] = frozenset()
    """Columns of true and false."""
    origin: tuple[int, ...] | None = None
    """Their numbers in X, where they are not all columns of X."""


def is_frame(X) -> bool:
    """Whether X is a frame: rows and columns, each column with a type of its own."""
    return all(hasattr(type(X), name) for name in ("columns", "dtypes", "shape"))


def read_frame(
    X,
    coded: Container[int] = (),
    *,
    most: int | None = None,
    seen: Mapping[int, list] | None = None,
) -> tuple[NDArray[np.float64], Columns]:
    """A frame as numbers, NaN for missing entries.

    Parameters
    ----------
    X : frame of pandas or polars, or a `Frame`
        Every column has a type of its own.
    coded : numbers of columns
        Text in these columns is taken for categories and becomes codes 0, 1, ...
    most : int, optional
        A column of more categories is refused, and one whose rows all differ.
    seen : mapping, optional
        Categories that fit saw, by column: their codes are taken. A category that fit did not see
        has no probability anywhere. It is taken for a missing entry, with a warning.
    """
    names, (n, d) = column_names(X), X.shape
    matrix, categories, truths = np.empty((n, d)), dict(seen or {}), set()
    for j in range(d):
        column, kind = _column(X, j, names)
        values = list(column) if j in coded and _may_be_categories(kind) else []
        if j in categories:
            matrix[:, j] = seen_codes(list(column), categories[j], j, names)
        elif are_categories(kind, values, j, names):
            codes, labels = codes_of(values, getattr(column.dtype, "categories", None))
            if most is not None:
                _check_categories(codes, len(labels), most, j, names)
            matrix[:, j], categories[j] = codes, labels
        else:
            matrix[:, j] = numbers_of_column(column, j, names)
            truths |= {j} if kind in TRUTHS else set()
    return matrix, Columns(names, categories, frozenset(truths))


def _column(X, j: int, names: list[str] | None) -> tuple[Any, str]:
    """Column j and the kind of its type, if a family can take it."""
    column = X.iloc[:, j] if hasattr(X, "iloc") else X[:, j]
    kind = kind_of_type(column)
    if kind in TIMES:
        raise WrongTypeError("dates or times", None, j, _NO_TIMES, names)
    return column, kind


def seen_codes(
    values: list, labels: Sequence, j: int, names: list[str] | None
) -> NDArray[np.float64]:
    """(n,): codes of the categories that fit saw, NaN for all else."""
    code = {label: float(i) for i, label in enumerate(labels)}
    unseen = [(i, v) for i, v in enumerate(values) if not is_missing(v) and v not in code]
    for row, value in unseen:
        if isinstance(value, str) != isinstance(labels[0], str):
            need = f"fit saw categories such as {labels[0]!r}: give them in the same type"
            raise WrongEntryError(value, row, j, need, names)
    if unseen:
        row, value = unseen[0]
        more = f", and {len(unseen) - 1} more like it" if len(unseen) > 1 else ""
        warnings.warn(
            f"X has {value!r} in {place(row, j, names)}, a category that fit did not see{more}: "
            "taken for missing.",
            UserWarning,
            stacklevel=2,
        )
    return np.array([code.get(value, np.nan) for value in values], dtype=np.float64)


def kind_of_type(column) -> str:
    """The first word of the name of a column's type, in small letters; of dates "date"."""
    if getattr(column.dtype, "kind", "") in ("m", "M"):
        return "date"
    return str(column.dtype).split("(")[0].split("[")[0].split("<")[0].lower()


def _may_be_categories(kind: str) -> bool:
    return kind in CATEGORIES or kind in TEXTS or kind == "object"


def are_categories(kind: str, values: list, j: int, names: list[str] | None = None) -> bool:
    """Whether a column holds categories: some are observed, and objects among them are all text."""
    observed = [value for value in values if not is_missing(value)]
    if kind in CATEGORIES or kind in TEXTS:
        return bool(observed)
    texts = [value for value in observed if isinstance(value, str)]
    if texts and len(texts) < len(observed):
        other = next(value for value in observed if not isinstance(value, str))
        both = f"both text such as {texts[0]!r} and other values such as {other!r}"
        raise WrongEntryError(both, None, j, "make them all text or all numbers", names)
    return bool(texts)


def _check_categories(
    codes: NDArray, n_categories: int, most: int, j: int, names: list[str] | None
) -> None:
    """Refuse text that tells rows apart rather than groups of them."""
    n_observed = int((~np.isnan(codes)).sum())
    if n_categories == n_observed >= _MANY_ROWS:
        need = f"such text says nothing of groups: {_REMEDY}"
        raise WrongEntryError("a different value for every row", None, j, need, names)
    if n_categories > most:
        need = f"at most {most} are taken for categories: {_REMEDY}"
        raise WrongEntryError(f"{n_categories} different values", None, j, need, names)


def codes_of(values: list, declared: Any) -> tuple[NDArray[np.float64], list]:
    """Codes 0, 1, ... of the observed values, NaN for missing ones; and the values themselves.

    They are in the order in which the column's type declares them, else sorted. Those declared and
    not observed are left out: they are often left over from rows no longer there.
    """
    observed = dict.fromkeys(value for value in values if not is_missing(value))
    if isinstance(declared, Iterable):
        labels = [value for value in declared if value in observed]
    else:
        labels = sorted(observed)
    codes = {label: float(code) for code, label in enumerate(labels)}
    return np.array([codes.get(v, np.nan) for v in values], dtype=np.float64), labels


def numbers_of_column(
    column, j: int, names: list[str] | None = None, exact: bool = True
) -> NDArray[np.float64]:
    """(n,): a column as numbers.

    Parameters
    ----------
    column : column of a frame
        Its type is one of numbers, or its objects are numbers.
    j : int
        Its number, for errors.
    names : list of str, optional
        Names of the columns, for errors.
    exact : bool
        Whether whole numbers that doubles would round are refused.
    """
    kind = getattr(column.dtype, "kind", "")
    if (
        not isinstance(column.dtype, np.dtype) and kind and kind in "iufb"
    ):  # pandas, with its own NA
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    cells = np.asarray(column)
    return numbers_of(cells.reshape(-1, 1), names, first=j, exact=exact)[:, 0]
