"""Zarr arrays, and others with chunks of rows, as a table that is read a chunk at a time."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bhmc._extras import import_zarr
from bhmc.rows.sources.pieces import Pieces


def zarr_source(path: Path) -> Pieces:
    """The rows of a Zarr array.

    Parameters
    ----------
    path : Path
        Its folder.
    """
    zarr = import_zarr(f"{path.name}")
    try:
        array = zarr.open_array(path, mode="r")
    except Exception as error:
        raise ValueError(f"{path.name} is no Zarr array that can be read: {error}") from None
    return chunked_source(array, path.name)


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


def chunked_source(X: Any, said: str = "an array in chunks") -> Pieces:
    """The rows of an array in chunks.

    Parameters
    ----------
    X : (n, d) array of Zarr or h5py
        The rows.
    said : str
        What the array is, for messages.
    """
    if len(X.shape) != 2 or X.dtype.kind not in "fiub":
        raise ValueError(
            f"{said} must hold a table of numbers, got {len(X.shape)} dimensions of {X.dtype}."
        )
    n, height = int(X.shape[0]), max(1, int(X.chunks[0]))
    starts = list(range(0, n, height))

    def load(i: int) -> NDArray[np.float64]:
        return np.asarray(X[starts[i] : min(starts[i] + height, n)], dtype=np.float64)

    lengths = [min(start + height, n) - start for start in starts]
    return Pieces(lengths, int(X.shape[1]), load, said)
