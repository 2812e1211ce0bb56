"""Parquet files as a table that is read one row group at a time."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bhmc._extras import import_pyarrow_parquet
from bhmc._validation.plain_files import irregular
from bhmc.rows.sources.checks import in_one_line
from bhmc.rows.sources.pieces import Pieces


class _File(NamedTuple):
    """A Parquet file."""

    path: Path
    metadata: Any
    """What stands at its end, read once."""
    schema: Any
    """Names and types of its columns."""


class _Group(NamedTuple):
    """A row group."""

    file: _File
    number: int
    """Its number in the file."""
    n_rows: int


def parquet_source(
    path: Path, files: Sequence[Path], columns: Sequence[str] | None, memory: int
) -> Pieces:
    """The rows of Parquet files, one after the other.

    Parameters
    ----------
    path : Path
        What the user named.
    files : sequence of Path
        The files, in order; all have the same columns.
    columns : sequence of str, optional
        Which columns, in this order; by default all.
    memory : int
        As in `open_rows`.
    """
    parquet = import_pyarrow_parquet(path.name)
    opened = [_opened(parquet, file) for file in files]
    names = _names(opened, columns)
    for file in opened:
        _check_columns(file, names)
    groups = [group for file in opened for group in _groups_of(file)]

    def load(i: int) -> NDArray[np.float64]:
        return _read(parquet, groups[i], names)

    lengths = [group.n_rows for group in groups]
    return Pieces(lengths, len(names), load, path.name, names, memory, "row group")


def _opened(parquet: Any, path: Path) -> _File:
    import pyarrow as pa

    other = irregular(path)
    if other is not None:
        raise ValueError(f"{path.name} is {other}, not a file: take it out of its folder.")
    try:
        with parquet.ParquetFile(path) as file:
            return _File(path, file.metadata, file.schema_arrow)
    except (OSError, ValueError, pa.ArrowException) as error:
        raise ValueError(f"{path.name} is no whole Parquet file: {in_one_line(error)}") from None


def _names(files: Sequence[_File], wanted: Sequence[str] | None) -> list[str]:
    """The names of the columns that are read, in order."""
    if wanted is not None:
        return _checked_names(wanted)
    first = files[0]
    for file in files[1:]:
        others = set(first.schema.names) ^ set(file.schema.names)
        if others:
            raise ValueError(
                f"{first.path.name} and {file.path.name} have different columns: {min(others)!r} "
                f"is in one of them alone; name the columns to read with columns=."
            )
    return _checked_names(first.schema.names, f"{first.path.name} has")


def _checked_names(wanted: Sequence[str], said: str = "columns names") -> list[str]:
    """At least one name, none of them twice."""
    if isinstance(wanted, str):
        raise TypeError(f"columns must be a list of names, got {wanted!r}.")
    names = list(wanted)
    if not names:
        raise ValueError(f"{said} no column.")
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise ValueError(f"{said} column {twice[0]!r} twice.")
    return names


def _check_columns(file: _File, names: Sequence[str]) -> None:
    """Refuse a file without these columns, or one of whose columns holds no numbers."""
    from pyarrow import types

    for name in names:
        if name not in file.schema.names:
            raise ValueError(f"{file.path.name} has no column {name!r}.")
        kind = file.schema.field(name).type
        if not any(is_one(kind) for is_one in (types.is_floating, types.is_integer, _is_bool)):
            raise TypeError(
                f"column {name!r} of {file.path.name} has type {kind}: a table that is read in "
                f"blocks must hold numbers alone; leave it out with columns=, or turn it into "
                f"numbers."
            )


def _is_bool(kind: Any) -> bool:
    from pyarrow import types

    return types.is_boolean(kind)


def _groups_of(file: _File) -> list[_Group]:
    sizes = [file.metadata.row_group(i).num_rows for i in range(file.metadata.num_row_groups)]
    return [_Group(file, i, size) for i, size in enumerate(sizes) if size]


def _read(parquet: Any, group: _Group, names: Sequence[str]) -> NDArray[np.float64]:
    """(rows, d) the numbers of a row group, column by column; a missing entry is NaN."""
    import pyarrow as pa

    found, path = np.empty((group.n_rows, len(names))), group.file.path
    try:
        with parquet.ParquetFile(path, metadata=group.file.metadata) as file:
            for j, name in enumerate(names):
                column = file.read_row_group(group.number, columns=[name]).column(name)
                found[:, j] = column.cast(pa.float64(), safe=False).to_numpy()
    except (OSError, ValueError, pa.ArrowException) as error:
        raise OSError(
            f"row group {group.number} of {path.name} cannot be read: {in_one_line(error)}"
        ) from None
    return found
