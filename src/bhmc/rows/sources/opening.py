"""`open_rows`: a file, or a folder of files, as a table that is read in blocks."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bhmc._validation.parameters import check_whole
from bhmc._validation.plain_files import irregular
from bhmc.rows.sources.arrays import ArraySource
from bhmc.rows.sources.checks import check_table
from bhmc.rows.sources.parquet import parquet_source
from bhmc.rows.sources.pieces import MEMORY
from bhmc.rows.sources.protocol import Source
from bhmc.rows.sources.zarr_arrays import zarr_source

_KINDS = "use a .npy file, a .parquet file, a folder of .parquet files, or a .zarr array"


def open_rows(path: Any, columns: Sequence[str] | None = None, memory: int = MEMORY) -> Source:
    """A table of numbers that stays in its file: `BHMC.fit` and `predict` read it block by block.

    Parameters
    ----------
    path : path-like
        A `.npy` file, a `.parquet` file, a folder of Parquet files (in the order of their names),
        or a Zarr array (a folder that ends in `.zarr`).
    columns : sequence of str, optional
        Which columns of Parquet files, in this order; by default all.
    memory : int, default=268435456
        Bytes (by default 256 MiB) that row groups of Parquet, or chunks of Zarr, may take in
        memory, 8 for each number. Those that fit are read and decompressed once, others anew in
        every sweep. A `.npy` file needs none: the system keeps what it has room for.

    Returns
    -------
    Source
        The table. It has `shape` and `names`.

    Examples
    --------
    >>> import tempfile, numpy as np
    >>> from bhmc.rows import open_rows
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(f"{folder}/rows.npy", np.eye(4))
    ...     open_rows(f"{folder}/rows.npy").shape
    (4, 4)
    """
    path, memory = Path(path), check_whole(memory, "memory", 0)
    if not path.exists():
        raise FileNotFoundError(f"{path} does not exist.")
    other = None if path.is_dir() else irregular(path)
    if other is not None:
        raise ValueError(f"{path.name} is {other}, not a file or a folder: {_KINDS}.")
    if columns is not None and path.suffix in (".npy", ".zarr"):
        raise ValueError(f"{path.name} has no names of columns: leave out columns=.")
    source = _opened(path, columns, memory)
    if not source.shape[0]:
        raise ValueError(f"{path.name} has no rows.")
    return source


def _opened(path: Path, columns: Sequence[str] | None, memory: int) -> Source:
    if path.suffix == ".npy":
        return _mapped(path)
    if path.suffix == ".zarr":
        return zarr_source(path, memory)
    if path.suffix == ".parquet" and path.is_file():
        return parquet_source(path, [path], columns, memory)
    if not path.is_dir():
        raise ValueError(f"{path.name} is no table that can be read in blocks: {_KINDS}.")
    files = sorted(path.glob("*.parquet"))
    if not files:
        raise ValueError(f"{path.name} is a folder without .parquet files: {_KINDS}.")
    return parquet_source(path, files, columns, memory)


def _mapped(path: Path) -> ArraySource:
    try:
        X: Any = np.lib.format.open_memmap(path, mode="r")
    except (ValueError, EOFError) as error:
        raise ValueError(f"{path.name} is no whole .npy file of numbers: {error}") from None
    check_table(X.shape, X.dtype, path.name)
    return ArraySource(X, path.name)
