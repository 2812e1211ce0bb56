"""Arrays that begin at a cache line."""

import numpy as np
from numpy.typing import NDArray

_CACHE_LINE = 64


def aligned(shape: tuple[int, int], fill: float, dtype: str | np.dtype = "float64") -> NDArray:
    """A full array that begins at a cache line, so that no block of a row lies across two."""
    n_bytes = shape[0] * shape[1] * np.dtype(dtype).itemsize
    memory = np.empty(n_bytes + _CACHE_LINE, dtype=np.uint8)
    start = -memory.ctypes.data % _CACHE_LINE
    array = memory[start : start + n_bytes].view(dtype).reshape(shape)
    array[...] = fill
    return array
