"""Tiles: so many rows that their statistics and their table stay in a core's cache."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from bhmc.rows import kernels

# A tile's statistics fill about this many numbers: with its table they stay in a core's cache.
_NUMBERS_PER_TILE = 2**16
_LOWEST, _HIGHEST = 768, 2048

# Where rows are very wide a tile is lower still: never more numbers than this.
_MOST_NUMBERS = 2**21


def tile_height(n_statistics: int) -> int:
    """Rows of a tile, fewer where a row is wide.

    Parameters
    ----------
    n_statistics : int
        Sufficient statistics of a row.
    """
    height = 2 ** int(np.log2(max(1, _NUMBERS_PER_TILE // n_statistics)))
    height = min(max(height, _LOWEST), _HIGHEST)
    return max(1, min(height, _MOST_NUMBERS // n_statistics))


def add_statistics(statistics: Any, components: NDArray, sums: NDArray[np.float64]) -> None:
    """sums[components[i]] += t(x_i), row by row.

    Parameters
    ----------
    statistics : (m, s) array or CSR array
        t(x_i).
    components : (m,) array
        Columns.
    sums : (columns, s) array
        Changed in place.
    """
    if sparse.issparse(statistics):
        add_sparse(statistics, components, sums, 1.0)
    else:
        kernels.add_rows(statistics, components, sums)


def add_sparse(statistics, components: NDArray, sums: NDArray[np.float64], sign: float) -> None:
    """sums[components[i]] += sign t(x_i), entry by entry."""
    rows = np.repeat(components, np.diff(statistics.indptr))
    np.add.at(sums, (rows, statistics.indices), sign * statistics.data)
