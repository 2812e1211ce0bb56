"""Tables in binary files: Parquet, NumPy's NPY and NPZ, and Matrix Market."""

from collections.abc import Callable
from datetime import date, timedelta
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from bhmc._io.tables.foreign import try_reader
from bhmc._io.tables.matrix_market import read_matrix_market
from bhmc._io.tables.numpy_files import read_npy, read_npz
from bhmc._validation.column_plan import in_options
from bhmc._validation.errors import RefusedError, reason_of
from bhmc._validation.plain_files import TooLargeError
from bhmc._validation.spellings import EXACT


def read_matrix(path: Path, kind: str) -> Any:
    """(n, d) array of numbers or sparse matrix of an .npy, .npz or .mtx file."""
    read = {"npy": read_npy, "npz": read_npz, "mtx": read_matrix_market}[kind]
    try:
        matrix = read(path)
    except TooLargeError as error:
        raise RefusedError(f"{path} cannot be read: {error}.") from None
    except OSError as error:
        raise RefusedError(f"{path} cannot be read: {reason_of(error)}.") from None
    except Exception as error:  # their readers raise whatever a damaged file makes them stumble on
        raise RefusedError(_damaged(path, kind.upper(), error)) from None
    if matrix.ndim != 2:
        raise RefusedError(
            f"{path} holds an array of shape {matrix.shape}; a table has rows and columns."
        )
    if matrix.dtype.kind not in "fiub":
        raise RefusedError(f"{path} holds {_named(matrix.dtype)}; a matrix must hold numbers.")
    if 0 in matrix.shape:
        raise RefusedError(f"{path} is empty: its shape is {matrix.shape}.")
    _check_exact(matrix.data if sparse.issparse(matrix) else matrix, path)
    if sparse.issparse(matrix):
        return sparse.csr_array(matrix, dtype=np.float64)
    return np.ascontiguousarray(matrix, dtype=np.float64)


def _check_exact(numbers: Any, path: Path) -> None:
    """Refuse whole numbers that doubles would round in silence."""
    if numbers.dtype.kind not in "iu" or numbers.dtype.itemsize < 8 or not numbers.size:
        return
    for number in (int(numbers.min()), int(numbers.max())):
        if abs(number) > EXACT:
            raise RefusedError(
                f"{path} holds {number}, and a double holds whole numbers up to 2^53 only: turn "
                "the numbers into float64 yourself, or make their column text in a CSV file."
            )


def _damaged(path: Path, kind: str, error: Exception) -> str:
    reason = (str(error).splitlines() or [""])[0].strip().rstrip(".")
    return f"{path} is no {kind} file, or damaged ({reason})."


def _named(dtype: np.dtype) -> str:
    return {"U": "text", "S": "text", "c": "complex numbers", "V": "records"}.get(
        dtype.kind, f"values of type {dtype}"
    )


def read_parquet(path: Path, matters: Callable[[str], bool]) -> tuple[list[str], list[NDArray]]:
    """Names and columns: float64 with NaN, or objects for text with None for missing entries.

    A column that does not matter may hold anything; it comes empty.
    """
    names, columns = _parquet_columns(path)
    if not columns or not len(columns[0]):
        raise RefusedError(f"{path} has no rows.")
    found = []
    for name, column in zip(names, columns, strict=True):
        try:
            found.append(typed(column, name, path))
        except RefusedError:
            if matters(name):
                raise
            found.append(np.full(len(column), np.nan))
    return names, found


def _parquet_columns(path: Path) -> tuple[list[str], list[list]]:
    """Every column as a list of Python values, by polars or else pyarrow."""
    for library, read in (("polars", _by_polars), ("pyarrow.parquet", _by_pyarrow)):
        try:
            module = import_module(library)
        except ImportError:
            continue
        try:
            try_reader(library.partition(".")[0], path)
            return read(module, path)
        except TooLargeError as error:
            raise RefusedError(f"{path} cannot be read: {error}.") from None
        except Exception as error:  # as above: whatever their readers raise
            raise RefusedError(_damaged(path, "Parquet", error)) from None
    raise RefusedError(
        "reading Parquet needs polars or pyarrow: install one, for example with `pip install "
        "bhmc[parquet]`."
    )


def _by_polars(polars: Any, path: Path) -> tuple[list[str], list[list]]:
    frame = polars.read_parquet(path)
    return frame.columns, [column.to_list() for column in frame.get_columns()]


def _by_pyarrow(parquet: Any, path: Path) -> tuple[list[str], list[list]]:
    table = parquet.read_table(path)
    return table.column_names, [column.to_pylist() for column in table.columns]


def typed(values: list, name: str, path: Path) -> NDArray:
    """A column of Python values: float64 with NaN, or objects for text and dates, None for missing.

    Whole numbers that doubles would round become text, so that nothing changes.
    """
    observed = [value for value in values if value is not None]
    for kept in (str, date, timedelta):
        if observed and all(isinstance(value, kept) for value in observed):
            return np.array(values, dtype=object)
    try:
        if any(isinstance(value, (str, date, timedelta)) for value in observed):
            raise TypeError
        if any(isinstance(value, int) and int(float(value)) != value for value in observed):
            return np.array([None if value is None else str(value) for value in values], object)
        return np.array([np.nan if value is None else float(value) for value in values])
    except (TypeError, ValueError):
        kinds = sorted({type(value).__name__ for value in observed})
        both = "both numbers and text" if "str" in kinds and len(kinds) > 1 else ""
        raise RefusedError(
            f"{path}, column {name!r} holds values of type {' and '.join(kinds)}, "
            f"{both or 'neither numbers nor text'}: leave it out with {in_options(name, 'drop')}."
        ) from None
