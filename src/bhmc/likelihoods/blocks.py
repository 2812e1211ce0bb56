"""Rows a block at a time, so that no step needs memory for all rows at once."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Data of at most so many bytes are kept as statistics: a second copy.
LARGEST_COPY = 64 * 2**20

# 128 kB.
_NUMBERS_IN_CACHE = 2**14


def slices(n: int, height: int = 4096) -> list[slice]:
    """Slices of at most `height` rows that cover n rows."""
    return [slice(first, min(first + height, n)) for first in range(0, n, height)]


def over(sums: Floats, counts: Floats) -> Floats:
    """sums / counts, 0 where a count is 0."""
    return sums / np.where(counts > 0, counts, np.inf)


def rows_in_cache(n_columns: int) -> int:
    """Rows of so many numbers that stay in the cache of a core while they are worked with."""
    return max(_NUMBERS_IN_CACHE // n_columns, 1)


def by_rows(n: int, of_slice: Callable[[slice], Floats], height: int = 4096) -> Floats:
    """(n,): one number a row, from a function that gives those of a slice of `height` rows."""
    numbers = np.empty(n)
    for rows in slices(n, height):
        numbers[rows] = of_slice(rows)
    return numbers


def product_in_double(statistics: NDArray[Any], natural: NDArray[Any], out: NDArray[Any]) -> None:
    """out = statistics natural', computed in float64 whatever the type of `out`."""
    if out.dtype == np.float64:
        np.matmul(statistics, natural.T, out=out)
    else:
        out[:] = statistics @ natural.T
