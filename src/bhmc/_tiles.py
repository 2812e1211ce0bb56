"""Likelihoods a tile of rows at a time: never a table of all rows and components.

Tiles have a fixed height and start at multiples of it, whatever the number of threads or chains,
so that every row's numbers are the same in every run.
"""

import numpy as np
from numpy.typing import NDArray

from bhmc.likelihoods import Family

# A tile's statistics fill about this many numbers: with its table they stay in a core's cache.
_NUMBERS_PER_TILE = 2**16
_LOWEST, _HIGHEST = 768, 2048


def tile_height(n_statistics: int) -> int:
    """Rows of a tile: a power of two, lower where a row is wide."""
    height = 2 ** int(np.log2(_NUMBERS_PER_TILE / n_statistics))
    return min(max(height, _LOWEST), _HIGHEST)


class Tiles:
    """The tiles of a family's data, one open at a time; the table they fill is the caller's."""

    def __init__(self, family: Family, *, finite: bool):
        self._family = family
        self._height = min(tile_height(family.n_statistics), family.n_rows)
        self._log_new = None if finite else family.log_new()
        self._rows = slice(0, 0)
        self._statistics = family.statistics(self._rows)

    @property
    def height(self) -> int:
        """Rows of a tile; the last may have fewer."""
        return self._height

    @property
    def first_rows(self) -> range:
        """The first row of every tile."""
        return range(0, self._family.n_rows, self._height)

    def open(self, first: int) -> int:
        """Take the tile that starts at row `first` in hand; returns its number of rows."""
        rows = slice(first, min(first + self._height, self._family.n_rows))
        if rows != self._rows:
            self._rows, self._statistics = rows, self._family.statistics(rows)
        return rows.stop - first

    def fill(self, natural: NDArray[np.float64], log_f: NDArray) -> None:
        """Every column of the table from its natural parameters; but column 0 is f*."""
        table = log_f[: len(self._statistics)]
        self._family.fill(self._rows, self._statistics, natural, table)
        if self._log_new is not None:
            table[:, 0] = self._log_new[self._rows]

    def fill_column(
        self, k: int, natural: NDArray[np.float64], log_f: NDArray, skip: int = 0
    ) -> None:
        """One column, for a component just born; without the first rows where those are done."""
        rows = slice(self._rows.start + skip, self._rows.stop)
        column = log_f[skip : len(self._statistics), k : k + 1]
        self._family.fill(rows, self._statistics[skip:], natural[None, :], column)

    @property
    def statistics(self) -> NDArray[np.float64]:
        """t(x_n) of the tile's rows."""
        return self._statistics
