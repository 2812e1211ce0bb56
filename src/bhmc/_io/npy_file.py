"""Arrays as `.npy` files, where a full disk is an error that says so.

`np.save` writes files by itself: its error does not name the cause. A memory map of a file
without room ends the whole process, so its room is asked for first.
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from bhmc._io.atomic_write import atomic_file
from bhmc._validation.errors import NO_ROOM


class _Writer(NamedTuple):
    """What NumPy takes for no file, so that it hands over bytes."""

    write: Callable[[bytes], Any]


def write_npy(path: Path, array: NDArray) -> None:
    """Put an array in the place of `path`, in an atomic write."""
    with atomic_file(path) as file:
        npy.write_array(_Writer(file.write), np.asanyarray(array), allow_pickle=False)  # pyright: ignore


def new_npy(path: Path, dtype: np.dtype, shape: tuple[int, ...]) -> Any:
    """A new `.npy` file as a memory map to write to; the disk has room for all of it.

    Parameters
    ----------
    path : Path
        The file.
    dtype, shape
        Of the array.
    """
    array = npy.open_memmap(path, mode="w+", dtype=dtype, shape=shape)
    if hasattr(os, "posix_fallocate"):
        _take_room(path)
    return array


def _take_room(path: Path) -> None:
    """Have the disk set aside as many bytes as the file is long, where it can."""
    descriptor = os.open(path, os.O_RDWR)
    try:
        os.posix_fallocate(descriptor, 0, os.fstat(descriptor).st_size)
    except OSError as error:
        if error.errno in NO_ROOM:
            raise
    finally:
        os.close(descriptor)
