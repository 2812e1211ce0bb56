"""Zarr arrays, and others with chunks of rows, as a table that is read some chunks at a time."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bhmc._extras import import_zarr
from bhmc.likelihoods.block_sums import ROWS_PER_BLOCK
from bhmc.rows.sources.checks import check_table, in_one_line
from bhmc.rows.sources.pieces import MEMORY, Pieces


def zarr_source(path: Path, memory: int) -> Pieces:
    """The rows of a Zarr array.

    Parameters
    ----------
    path : Path
        Its folder.
    memory : int
        As in `open_rows`.
    """
    zarr = import_zarr(f"{path.name}")
    try:
        array = zarr.open_array(str(path), mode="r")
    except Exception as error:
        raise ValueError(
            f"{path.name} is no Zarr array that can be read: {in_one_line(error)}"
        ) from None
    return chunked_source(array, path.name, memory)


def is_chunked(X: Any) -> bool:
    """Whether X is an array in chunks that lives elsewhere: of Zarr or of h5py.

    Parameters
    ----------
    X : object
        What a user gives for data.
    """
    chunks, shape = getattr(X, "chunks", None), getattr(X, "shape", None)
    return (
        isinstance(chunks, tuple)
        and isinstance(shape, tuple)
        and len(chunks) == len(shape) == 2
        and all(isinstance(size, int | np.integer) for size in chunks)
        and hasattr(X, "dtype")
    )


def chunked_source(X: Any, said: str = "an array in chunks", memory: int = MEMORY) -> Pieces:
    """The rows of an array in chunks.

    Parameters
    ----------
    X : (n, d) array of Zarr or h5py
        The rows.
    said : str
        What the array is, for messages.
    memory : int, default=268435456
        As in `open_rows`.
    """
    check_table(X.shape, X.dtype, said)
    n, height = int(X.shape[0]), _height(int(X.chunks[0]), int(X.shape[1]), memory)
    starts = list(range(0, n, height))

    def load(i: int) -> NDArray[np.float64]:
        rows = slice(starts[i], min(starts[i] + height, n))
        try:
            return np.asarray(X[rows], dtype=np.float64)
        except Exception as error:  # what a chunk is compressed by has errors of its own
            found = f"rows {rows.start:,} to {rows.stop - 1:,} of {said}"
            raise OSError(f"{found} cannot be read: {in_one_line(error)}") from error

    lengths = [min(start + height, n) - start for start in starts]
    return Pieces(lengths, int(X.shape[1]), load, said, None, memory, "chunk")


def _height(n_rows: int, n_columns: int, memory: int) -> int:
    """Rows that are read together: low chunks as many as fill a block, if memory allows."""
    most = min(ROWS_PER_BLOCK, memory // (8 * max(1, n_columns)))
    return max(1, n_rows) * max(1, most // max(1, n_rows))
