"""`open_rows`: a file, or a folder of files, as a table that is read in blocks."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bhmc.rows.sources.arrays import ArraySource
from bhmc.rows.sources.parquet import parquet_source
from bhmc.rows.sources.protocol import Source
from bhmc.rows.sources.zarr_arrays import zarr_source

_NUMBERS = "fiub"


def open_rows(path: Any, columns: Sequence[str] | None = None) -> Source:
    """A table of numbers that stays in its file: `BHMC.fit` and `predict` read it block by block.

    Parameters
    ----------
    path : path-like
        A `.npy` file, a `.parquet` file, a folder of Parquet files (in the order of their names),
        or a Zarr array (a folder that ends in `.zarr`).
    columns : sequence of str, optional
        Which columns of Parquet files, in this order; by default all.

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
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"{path} does not exist.")
    if columns is not None and path.suffix in (".npy", ".zarr"):
        raise ValueError(f"{path.name} has no names of columns: leave out columns=.")
    if path.suffix == ".npy":
        return _mapped(path)
    if path.suffix == ".zarr":
        return zarr_source(path)
    files = sorted(path.glob("*.parquet")) if path.is_dir() else [path]
    if not files or any(file.suffix != ".parquet" for file in files):
        raise ValueError(
            f"{path.name} is no table that can be read in blocks: use a .npy or .parquet file, a "
            f"folder of .parquet files, or a .zarr array."
        )
    return parquet_source(path, files, columns)


def _mapped(path: Path) -> ArraySource:
    try:
        X = np.load(path, mmap_mode="r", allow_pickle=False)
    except ValueError as error:
        raise ValueError(
            f"{path.name} is no .npy file that can be read in blocks: {error}"
        ) from None
    if X.ndim != 2 or X.dtype.kind not in _NUMBERS:
        raise ValueError(
            f"{path.name} must hold a table of numbers, got {X.ndim} dimensions of {X.dtype}."
        )
    return ArraySource(X, path.name)
