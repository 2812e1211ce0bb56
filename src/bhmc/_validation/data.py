"""X as a matrix of numbers: shape, kinds of entries, and values that can be used."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from bhmc._validation.errors import EntryError, WrongEntryError, WrongTypeError
from bhmc._validation.spellings import EXACT

# Squares of larger numbers are not finite in double precision.
LARGEST_VALUE = 1e150

DENSE = (
    "X is sparse, and this likelihood needs a dense array: pass X.toarray(), or "
    "likelihood='multinomial' for counts."
)

# What entries need. scikit-learn's common checks look for the words of
# `_NO_OBJECTS` and `_REAL`.
_NUMBERS = "values must be numbers"
_FINITE = "values must be finite numbers"
_SMALLER = "values must be within 1e150"
_ROUNDED = "doubles would round it: take differences, or give it as a float"
_NO_OBJECTS = "this argument must be free of strings and other objects that are not numbers"
_REAL = "values must be real numbers: Complex data not supported"
_NO_HOLES = (
    "this likelihood cannot skip missing values; 'gaussian' and other families of independent "
    "columns can"
)


def check_matrix(
    X,
    *,
    least_rows: int = 1,
    allow_missing: bool = False,
    allow_sparse: bool = False,
    names: Sequence[str] | None = None,
):
    """X, which is no frame, as a finite float64 matrix.

    Parameters
    ----------
    X : array, list or SciPy sparse matrix
        Rows and columns.
    least_rows : int
        Fewer rows are refused.
    allow_missing, allow_sparse : bool
        Whether NaN, or a sparse X (which becomes CSR), is let through.
    names : list of str, optional
        Names of the columns, for errors.
    """
    if sparse.issparse(X):
        return _sparse_matrix(X, least_rows, allow_sparse, names)
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


def numbers_of(
    cells: NDArray, names: Sequence[str] | None, first: int = 0, exact: bool = True
) -> NDArray[np.float64]:
    """Cells (n, d) as numbers; columns are counted from `first` where one is to be named.

    With `exact`, whole numbers that doubles would round are refused.
    """
    if cells.dtype.kind == "c":
        row, j = divmod(int((np.imag(cells) != 0).argmax()), cells.shape[1])
        raise WrongEntryError(cells[row, j], row, first + j, _REAL, names)
    if cells.dtype.kind in "mM":
        raise TypeError(f"X must hold numbers, got dates or times of dtype {cells.dtype}.")
    if cells.dtype.kind not in "fiub":
        cells = _parsed(cells, names, first)
    if exact and cells.dtype.kind in "iu" and cells.dtype.itemsize == 8:
        _check_exact(cells, names, first)
    with np.errstate(over="ignore"):  # a long double beyond the doubles becomes inf
        return np.ascontiguousarray(cells, dtype=np.float64)


def _check_exact(cells: NDArray, names: Sequence[str] | None, first: int) -> None:
    """Refuse whole numbers that no double holds: they would change in silence."""
    if not cells.size or max(int(cells.max()), -int(cells.min())) <= EXACT:
        return
    for row, j in np.argwhere((cells > EXACT) | (cells < -EXACT)):
        if int(float(cells[row, j])) != int(cells[row, j]):
            raise WrongEntryError(int(cells[row, j]), int(row), first + int(j), _ROUNDED, names)


def _sparse_matrix(X, least_rows: int, allowed: bool, names: Sequence[str] | None):
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
    wrong = np.flatnonzero(~np.isfinite(matrix.data))
    if len(wrong):
        at = int(wrong[0])
        row = int(np.searchsorted(matrix.indptr, at, side="right")) - 1
        column = int(matrix.indices[at])
        raise WrongEntryError(float(matrix.data[at]), row, column, _FINITE, names)
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
    X: NDArray[np.float64], names: Sequence[str] | None, allow_missing: bool = False
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
    value = float(X[row, j])
    need = _NO_HOLES if np.isnan(value) else _FINITE if np.isinf(value) else _SMALLER
    raise WrongEntryError(value, row, j, need, names)


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


def _parsed(cells: NDArray, names: Sequence[str] | None, first: int) -> NDArray[np.float64]:
    """Objects as numbers, missing ones as NaN; text is refused even where it spells a number."""
    numbers = np.empty(cells.shape)
    spelled = None
    for (row, j), cell in np.ndenumerate(cells):
        is_text = isinstance(cell, str | bytes)
        try:
            numbers[row, j] = math.nan if is_missing(cell) else float(cell)
            if isinstance(cell, int) and abs(cell) > EXACT and int(numbers[row, j]) != cell:
                raise WrongEntryError(cell, row, first + j, _ROUNDED, names)
        except OverflowError:  # a whole number beyond the doubles
            numbers[row, j] = math.inf
        except EntryError:
            raise
        except (TypeError, ValueError):
            error, need = (WrongEntryError, _NUMBERS) if is_text else (WrongTypeError, _NO_OBJECTS)
            raise error(cell, row, first + j, need, names) from None
        if is_text and spelled is None:
            spelled = WrongEntryError(cell, row, first + j, _NUMBERS, names)
    if spelled is not None:
        raise spelled
    return numbers
