"""Likelihoods a tile of rows at a time: never a table of all rows and components.

Tiles have a fixed height and start at multiples of it, whatever the number of threads or chains,
so that every row's numbers are the same in every run.
"""

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from bhmc.likelihoods import Family
from bhmc.rows import kernels

# A tile's statistics fill about this many numbers: with its table they stay in a core's cache.
_NUMBERS_PER_TILE = 2**16
_LOWEST, _HIGHEST = 768, 2048

# Where rows are very wide a tile is lower still: never more numbers than this.
_MOST_NUMBERS = 2**21


def tile_height(n_statistics: int) -> int:
    """Rows of a tile, fewer where a row is wide."""
    height = 2 ** int(np.log2(max(1, _NUMBERS_PER_TILE // n_statistics)))
    height = min(max(height, _LOWEST), _HIGHEST)
    return max(1, min(height, _MOST_NUMBERS // n_statistics))


class Tiles:
    """The tiles of a family's data, one open at a time; the table they fill is the caller's."""

    def __init__(self, family: Family, *, finite: bool):
        self._height = min(tile_height(family.n_statistics), family.n_rows)
        self._finite = finite
        self.turn_to(family)
        self._rows = slice(0, 0)
        self._statistics = family.statistics(self._rows)

    def turn_to(self, family: Family) -> None:
        """Go on with the same data under other shared numbers."""
        self._family = family
        self._log_new = None if self._finite else family.log_new()

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
        table = log_f[: self._n_rows]
        self._family.fill(self._rows, self._statistics, natural, table)
        if self._log_new is not None:
            table[:, 0] = self._log_new[self._rows]

    def fill_column(
        self, k: int, natural: NDArray[np.float64], log_f: NDArray, skip: int = 0
    ) -> None:
        """One column, for a component just born; without the first rows where those are done."""
        rows = slice(self._rows.start + skip, self._rows.stop)
        column = log_f[skip : self._n_rows, k : k + 1]
        self._family.fill(rows, self._statistics[skip:], natural[None, :], column)

    def statistics_of(self, i: int) -> NDArray[np.float64]:
        """(s,): t(x_n) of row i of the tile."""
        row = self._statistics[i]
        return row.toarray().ravel() if sparse.issparse(row) else row

    def add_to(self, sums: NDArray[np.float64], components: NDArray) -> None:
        """sums[components[i]] += t(x_i) over the tile's rows."""
        if sparse.issparse(self._statistics):
            _add_sparse(self._statistics, components, sums, 1.0)
        else:
            kernels.add_rows(self._statistics, components, sums)

    def move_in(self, sums: NDArray[np.float64], before: NDArray, components: NDArray) -> None:
        """The same where sums hold every row under its component before."""
        if sparse.issparse(self._statistics):
            moved = np.flatnonzero(before != components)
            _add_sparse(self._statistics[moved], before[moved], sums, -1.0)
            _add_sparse(self._statistics[moved], components[moved], sums, 1.0)
        else:
            kernels.move_rows(self._statistics, before, components, sums)

    @property
    def _n_rows(self) -> int:
        return self._rows.stop - self._rows.start


def _add_sparse(statistics, components: NDArray, sums: NDArray[np.float64], sign: float) -> None:
    """sums[components[i]] += sign t(x_i), entry by entry."""
    rows = np.repeat(components, np.diff(statistics.indptr))
    np.add.at(sums, (rows, statistics.indices), sign * statistics.data)
