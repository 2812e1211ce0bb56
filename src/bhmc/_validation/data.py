"""Checks of data: one clear sentence that names the column, the row and what is wrong there."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

# Squares of larger numbers are not finite in double precision.
LARGEST_VALUE = 1e150

_TEXT = "X has the text {!r} in {}; values must be numbers."


DENSE = (
    "X is sparse, and this likelihood needs a dense array: pass X.toarray(), or "
    "likelihood='multinomial' for counts."
)


class WrongEntryError(ValueError):
    """An entry of X that the likelihood cannot have, with the place it is in."""

    def __init__(
        self, value: float, row: int, column: int, needs: str, names: list[str] | None = None
    ):
        what = "NaN (a missing value)" if np.isnan(value) else f"{value:.15g}"
        super().__init__(f"X has {what} in {_place(row, column, names)}; {needs}.")
        self.column = column
        self._entry = value, row, needs

    def within(self, columns: Sequence[int], names: list[str] | None = None) -> "WrongEntryError":
        """The same where X is a part of other data: its columns are `columns` of those."""
        value, row, needs = self._entry
        return WrongEntryError(value, row, columns[self.column], needs, names)


def check_matrix(
    X,
    *,
    least_rows: int = 1,
    allow_missing: bool = False,
    allow_sparse: bool = False,
    names: list[str] | None = None,
):
    """X as a finite float64 matrix with at least `least_rows` rows and one column.

    NaN is let through where `allow_missing`, a SciPy sparse X where `allow_sparse` (as CSR). Names
    of columns are those of X, or `names` where it has none.
    """
    if sparse.issparse(X):
        return _sparse_matrix(X, least_rows, allow_sparse)
    names = column_names(X) or names
    cells = _cells(X)
    if cells.ndim != 2:
        raise ValueError(
            f"X must be a matrix of rows and columns, got shape {cells.shape}: Reshape your data, "
            "for example with X.reshape(-1, 1) for a single column."
        )
    # The words that scikit-learn's common checks look for.
    for count, what, least in zip(cells.shape, ("sample", "feature"), (least_rows, 1), strict=True):
        if count < least:
            raise ValueError(
                f"X has {count} {what}(s) (shape={cells.shape}) while a minimum of {least} is "
                "required."
            )
    matrix = numbers_of(cells, names)
    check_values(matrix, names, allow_missing)
    return matrix


def numbers_of(cells: NDArray, names: list[str] | None, first: int = 0) -> NDArray[np.float64]:
    """Cells (n, d) as numbers; columns are counted from `first` where one is to be named."""
    if cells.dtype.kind == "c":
        row, j = divmod(int((np.imag(cells) != 0).argmax()), cells.shape[1])
        where = _place(row, first + j, names)
        raise ValueError(f"Complex data not supported: X has {cells[row, j]:g} in {where}.")
    if cells.dtype.kind in "mM":
        raise TypeError(f"X must hold numbers, got dates or times of dtype {cells.dtype}.")
    if cells.dtype.kind not in "fiub":
        cells = _parsed(cells, names, first)
    with np.errstate(over="ignore"):  # a long double beyond the doubles becomes inf
        return np.ascontiguousarray(cells, dtype=np.float64)


def _sparse_matrix(X, least_rows: int, allowed: bool):
    if not allowed:
        raise TypeError(DENSE)
    if X.shape[0] < least_rows or X.shape[1] < 1:
        raise ValueError(
            f"X has {X.shape[0]} sample(s) and {X.shape[1]} feature(s) while a minimum of "
            f"{least_rows} and 1 is required."
        )
    if np.iscomplexobj(X):
        raise ValueError("Complex data not supported: X is a sparse matrix of complex numbers.")
    matrix = sparse.csr_array(X, dtype=np.float64)
    if not np.isfinite(matrix.data).all():
        raise ValueError("X has NaN or infinity among its entries; values must be finite numbers.")
    return matrix


def column_names(X) -> list[str] | None:
    """The names of X's columns where it is a frame and they are strings, else None."""
    columns = list(getattr(X, "columns", []))
    kinds = sorted({type(column).__name__ for column in columns})
    if "str" in kinds and len(kinds) > 1:
        raise TypeError(
            f"X has column names of types {' and '.join(kinds)}; make them all strings, "
            "for example with X.columns = X.columns.astype(str)."
        )
    return columns if kinds == ["str"] else None


def row_names(X) -> NDArray | None:
    """The names of X's rows where it is a frame whose index holds text, else None."""
    index = getattr(X, "index", None)
    if index is None or callable(index):
        return None
    names = list(index)
    return np.array(names) if all(isinstance(name, str) for name in names) else None


def check_values(
    X: NDArray[np.float64], names: list[str] | None, allow_missing: bool = False
) -> None:
    """Refuse infinity, values whose squares overflow and, unless allowed, NaN; name the column."""
    # NaN wins a maximum, so this finds all three, and without a copy of X; or it is left out.
    highest, lowest = (np.fmax, np.fmin) if allow_missing else (np.maximum, np.minimum)
    column_worst = np.maximum(highest.reduce(X, axis=0), -lowest.reduce(X, axis=0))
    empty = np.isnan(column_worst) & allow_missing
    bad = np.flatnonzero(~(column_worst <= LARGEST_VALUE) & ~empty)
    if not len(bad):
        return
    j = int(bad[0])
    wrong = ~(np.abs(X[:, j]) <= LARGEST_VALUE)
    row = int(np.flatnonzero(wrong & ~np.isnan(X[:, j]) if allow_missing else wrong)[0])
    value = X[row, j]
    where = _place(row, j, names)
    if np.isnan(value):
        raise ValueError(
            f"X has NaN (a missing value) in {where}, which this likelihood cannot skip; "
            "'gaussian' and other families of independent columns can."
        )
    rule = "within 1e150" if np.isfinite(value) else "finite numbers"
    raise ValueError(f"X has {value:g} in {where}; values must be {rule}.")


def place_of_column(column: int, names: list[str] | None) -> str:
    """A column in a sentence: its number, and its name where it has one."""
    return f"column {column}{'' if names is None else f' ({names[column]!r})'}"


def _place(row: int, column: int, names: list[str] | None) -> str:
    return f"{place_of_column(column, names)}, row {row}"


def is_missing(cell) -> bool:
    """Whether an object stands for a missing entry."""
    if isinstance(cell, float):
        return math.isnan(cell)
    return type(cell).__name__ in ("NoneType", "NAType", "NaTType")


def _cells(X) -> NDArray:
    """X as an array; of objects where it is not made of numbers, so that each can be named."""
    if isinstance(X, np.ma.MaskedArray):
        X = np.ma.filled(X.astype(np.float64), np.nan)
    try:
        cells = np.asarray(X)
    except ValueError:
        raise ValueError("X must be a matrix, got rows of different lengths.") from None
    return cells if cells.dtype.kind in "fiubcmM" else np.asarray(X, dtype=object)


def _parsed(cells: NDArray, names: list[str] | None, first: int) -> NDArray[np.float64]:
    """Objects as numbers, missing ones as NaN; text is refused even where it spells a number."""
    numbers = np.empty(cells.shape)
    spelled = None
    for (row, j), cell in np.ndenumerate(cells):
        text = isinstance(cell, str | bytes)
        try:
            numbers[row, j] = math.nan if is_missing(cell) else float(cell)
        except OverflowError:  # a whole number beyond the doubles
            numbers[row, j] = math.inf
        except (TypeError, ValueError):
            where = _place(row, first + j, names)
            if text:
                raise ValueError(_TEXT.format(cell, where)) from None
            raise TypeError(
                f"X has a {type(cell).__name__} in {where}; this argument must be free of strings "
                "and other objects that are not numbers."
            ) from None
        if text and spelled is None:
            spelled = _TEXT.format(cell, _place(row, first + j, names))
    if spelled is not None:
        raise ValueError(spelled)
    return numbers
