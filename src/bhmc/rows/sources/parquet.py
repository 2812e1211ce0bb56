"""Parquet files as a table that is read one row group at a time."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bhmc._extras import import_pyarrow_parquet
from bhmc.rows.sources.pieces import Pieces


class _Group(NamedTuple):
    """A row group."""

    file: Path
    number: int
    """Its number in the file."""
    n_rows: int


def parquet_source(path: Path, files: Sequence[Path], columns: Sequence[str] | None) -> Pieces:
    """The rows of Parquet files, one after the other.

    Parameters
    ----------
    path : Path
        What the user named.
    files : sequence of Path
        The files, in order; all have the same columns.
    columns : sequence of str, optional
        Which columns, in this order; by default all.
    """
    parquet = import_pyarrow_parquet(f"{path.name} in blocks")
    names = _checked_columns(parquet, files[0], columns)
    groups = [group for file in files for group in _groups_of(parquet, file, names)]

    def load(i: int) -> NDArray[np.float64]:
        return _read(parquet, groups[i], names)

    return Pieces([group.n_rows for group in groups], len(names), load, path.name, names)


def _groups_of(parquet: Any, file: Path, names: Sequence[str]) -> list[_Group]:
    _checked_columns(parquet, file, names)
    metadata = _opened(parquet, file).metadata
    sizes = [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)]
    return [_Group(file, i, size) for i, size in enumerate(sizes) if size]


def _opened(parquet: Any, file: Path) -> Any:
    try:
        return parquet.ParquetFile(file)
    except OSError:
        raise
    except Exception as error:
        raise ValueError(f"{file.name} is no Parquet file that can be read: {error}") from None


def _checked_columns(parquet: Any, file: Path, wanted: Sequence[str] | None) -> list[str]:
    """The names of the columns, each of which holds numbers."""
    import pyarrow as pa

    schema = _opened(parquet, file).schema_arrow
    names = list(schema.names) if wanted is None else list(wanted)
    for name in names:
        if name not in schema.names:
            raise ValueError(f"{file.name} has no column {name!r}.")
        kind = schema.field(name).type
        if not (
            pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_boolean(kind)
        ):
            raise TypeError(
                f"column {name!r} of {file.name} has type {kind}: a table that is read in blocks "
                f"must hold numbers alone; leave it out with columns=, or turn it into numbers."
            )
    return names


def _read(parquet: Any, group: _Group, names: Sequence[str]) -> NDArray[np.float64]:
    """(rows, d) the numbers of a row group; a missing entry is NaN."""
    import pyarrow as pa

    try:
        table = _opened(parquet, group.file).read_row_group(group.number, columns=list(names))
    except (OSError, pa.ArrowException) as error:
        raise OSError(
            f"{group.file.name}: row group {group.number} cannot be read: {error}"
        ) from None
    found = np.empty((group.n_rows, len(names)))
    for j, name in enumerate(names):
        found[:, j] = table.column(name).cast(pa.float64(), safe=False).to_numpy()
    return found
