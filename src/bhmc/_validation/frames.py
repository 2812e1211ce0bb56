"""Frames of pandas and polars, known by what they offer: neither package is imported."""

import warnings
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bhmc._validation.data import column_names, is_missing, numbers_of, place_of_column

# Types of columns by the first word of their names, in pandas and in polars.
_CATEGORIES = ("category", "categorical", "enum")
_TEXTS = ("str", "string", "large_string")
_TRUTHS = ("bool", "boolean")
_TIMES = ("date", "datetime", "duration", "time", "timestamp")

# So many rows with a different text each are names, not categories.
_MANY_ROWS = 10


class Columns(NamedTuple):
    """What is known of the columns of X beyond their numbers."""

    names: list[str] | None = None
    """Their names, where they have some."""
    categories: dict[int, list] | None = None
    """Categories by column, in the order of their codes; None where X is no frame."""
    truths: frozenset[int] = frozenset()
    """Columns of true and false."""


def is_frame(X) -> bool:
    """Whether X is a frame: rows and columns, each column with a type of its own."""
    return all(hasattr(type(X), name) for name in ("columns", "dtypes", "shape"))


def read_frame(
    X, coded: Container[int], most: int | None = None
) -> tuple[NDArray[np.float64], Columns]:
    """A frame as numbers, NaN for missing entries; the text of the columns in `coded` as codes.

    With `most`, a column of more categories is refused, and one whose rows all differ.
    """
    names, (n, d) = column_names(X), X.shape
    matrix, categories, truths = np.empty((n, d)), {}, set()
    for j in range(d):
        where = place_of_column(j, names)
        column, kind = _column(X, j, where)
        values = list(column) if j in coded and _may_be_categories(kind) else []
        if _are_categories(kind, values, where):
            codes, labels = _coded(values, getattr(column.dtype, "categories", None))
            if most is not None:
                _check_categories(codes, len(labels), most, where)
            matrix[:, j], categories[j] = codes, labels
        else:
            matrix[:, j] = _numbers(column, names, j)
            truths |= {j} if kind in _TRUTHS else set()
    return matrix, Columns(names, categories, frozenset(truths))


def read_new_rows(X, categories: Mapping[int, Sequence]) -> NDArray[np.float64]:
    """A frame of rows not seen in fit as numbers, NaN for missing entries.

    `categories` are those that fit saw, by column: their codes are taken. One that fit did not see
    has no probability anywhere and is taken for a missing entry, with a warning.
    """
    names, (n, d) = column_names(X), X.shape
    matrix = np.empty((n, d))
    for j in range(d):
        where = place_of_column(j, names)
        column, _ = _column(X, j, where)
        if j in categories:
            matrix[:, j] = _seen_codes(list(column), categories[j], where)
        else:
            matrix[:, j] = _numbers(column, names, j)
    return matrix


def _column(X, j: int, where: str) -> tuple[Any, str]:
    """Column j and the kind of its type, if a family can take it."""
    column = X.iloc[:, j] if hasattr(X, "iloc") else X[:, j]
    kind = _kind(column)
    if kind in _TIMES:
        raise TypeError(
            f"X has dates or times in {where}, which no family can take: turn them into "
            "numbers, such as days since the first of them, or drop the column."
        )
    return column, kind


def _seen_codes(values: list, labels: Sequence, where: str) -> NDArray[np.float64]:
    """(n,): codes of the categories that fit saw, NaN for all else."""
    code = {label: float(i) for i, label in enumerate(labels)}
    unseen = [(i, v) for i, v in enumerate(values) if not is_missing(v) and v not in code]
    for row, value in unseen:
        if isinstance(value, str) != isinstance(labels[0], str):
            raise ValueError(
                f"X has {value!r} in {where}, row {row}, where fit saw categories such as "
                f"{labels[0]!r}: give them in the same type."
            )
    if unseen:
        row, value = unseen[0]
        more = f", and {len(unseen) - 1} more like it" if len(unseen) > 1 else ""
        warnings.warn(
            f"X has {value!r} in {where}, row {row}, a category that fit did not see{more}: "
            "taken for missing.",
            UserWarning,
            stacklevel=2,
        )
    return np.array([code.get(value, np.nan) for value in values], dtype=np.float64)


def _kind(column) -> str:
    """The first word of the name of a column's type, in small letters; of dates "date"."""
    if getattr(column.dtype, "kind", "") in ("m", "M"):
        return "date"
    return str(column.dtype).split("(")[0].split("[")[0].split("<")[0].lower()


def _may_be_categories(kind: str) -> bool:
    return kind in _CATEGORIES or kind in _TEXTS or kind == "object"


def _are_categories(kind: str, values: list, where: str) -> bool:
    """Whether a column holds categories: some are observed, and objects among them are all text."""
    observed = [value for value in values if not is_missing(value)]
    if kind in _CATEGORIES or kind in _TEXTS:
        return bool(observed)
    texts = [value for value in observed if isinstance(value, str)]
    if texts and len(texts) < len(observed):
        other = next(value for value in observed if not isinstance(value, str))
        raise ValueError(
            f"X has both text and other values in {where}, such as {texts[0]!r} and {other!r}; "
            "make them all text or all numbers."
        )
    return bool(texts)


def _check_categories(codes: NDArray, n_categories: int, most: int, where: str) -> None:
    """Refuse text that tells rows apart rather than groups of them."""
    n_observed = int((~np.isnan(codes)).sum())
    if n_categories == n_observed >= _MANY_ROWS:
        raise ValueError(
            f"X has a different value in every row of {where}, which says nothing of groups: drop "
            "the column, or name its family in a Product."
        )
    if n_categories > most:
        raise ValueError(
            f"X has {n_categories} different values in {where}, more than the {most} that are "
            "taken for categories: drop the column, or name its family in a Product."
        )


def _coded(values: list, declared: Any) -> tuple[NDArray[np.float64], list]:
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


def _numbers(column, names: list[str] | None, j: int) -> NDArray[np.float64]:
    """(n,): a column as numbers."""
    kind = getattr(column.dtype, "kind", "")
    if (
        not isinstance(column.dtype, np.dtype) and kind and kind in "iufb"
    ):  # pandas, with its own NA
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    cells = np.asarray(column)
    return numbers_of(cells.reshape(-1, 1), names, first=j)[:, 0]
