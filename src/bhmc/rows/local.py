"""Rows in this process's memory; sequential samplers see them a tile at a time.

Tiles have a fixed height and start at multiples of it, whatever the number of threads or chains,
so that every row's numbers are the same in every run.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from bhmc._compiled.aligned import aligned
from bhmc.likelihoods import ConjugateFamily
from bhmc.likelihoods.blocks import slices
from bhmc.rows import kernels, reference
from bhmc.rows.protocol import Menu, Tile, Totals, add_up

# Types of the likelihood tables.
PRECISIONS = ("float64", "float32")

# A tile's statistics fill about this many numbers: with its table they stay in a core's cache.
_NUMBERS_PER_TILE = 2**16
_LOWEST, _HIGHEST = 768, 2048

# Where rows are very wide a tile is lower still: never more numbers than this.
_MOST_NUMBERS = 2**21

# Rows of a block of totals.
_ROWS_PER_BLOCK = 2**16


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


class LocalRows:
    """Rows of a family's data, their leaves and components; one tile is open at a time.

    Parameters
    ----------
    family : ConjugateFamily
        The likelihood bound to the data.
    precision : {"float64", "float32"}, default="float64"
        Type of the likelihood tables.
    block : int, default=65,536
        Rows of a block: totals are sums of the totals of blocks.
    first_row : int, default=0
        The number of the first row, where these are a part of all rows.
    """

    def __init__(
        self,
        family: ConjugateFamily,
        precision: str = "float64",
        block: int = _ROWS_PER_BLOCK,
        first_row: int = 0,
    ):
        self.family, self.shared = family, np.empty(0)
        self.height = min(tile_height(family.n_statistics), family.n_rows)
        self.leaf = np.zeros(family.n_rows, dtype=np.int32)
        self.component = np.zeros(family.n_rows, dtype=np.int32)
        self._block, self._first_row = block, first_row
        self._table = aligned((self.height, 0), 0.0, precision)
        self._rows = slice(0, 0)
        self._statistics = family.statistics(self._rows)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.family.n_rows

    def turn_to(self, shared: NDArray[np.float64]) -> None:
        """Go on with the same data under other shared numbers.

        Parameters
        ----------
        shared : (q,) array
            Numbers that all components share.
        """
        self.family, self.shared = self.family.at(shared), shared

    def hold(self, latent: NDArray[np.float64]) -> None:
        """Go on with other numbers of the rows that a chain draws, where the family has some.

        Parameters
        ----------
        latent : (q,) array
            How often each row counts, or its missing entries.
        """
        family: Any = self.family
        self.family = family.given(latent)
        self._rows = slice(0, 0)  # the open tile's statistics had others

    # ---- All rows ------------------------------------------------------------------------------

    def put(self, rows: Any, leaf: Any, component: NDArray) -> None:
        """Place rows at leaves (slots) and in components (columns)."""
        self.leaf[rows], self.component[rows] = leaf, component

    def take(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """(m, s) the sufficient statistics of a few rows."""
        if self.n_rows <= self.height:  # they are there at once
            few: Any = self.family.statistics(slice(0, self.n_rows))[rows]
            return few.toarray() if sparse.issparse(few) else few
        found: list[Any] = [self.family.statistics(slice(int(n), int(n) + 1)) for n in rows]
        dense = [one.toarray() if sparse.issparse(one) else one for one in found]
        return np.vstack([np.empty((0, self.family.n_statistics)), *dense])

    def labels(self) -> Iterator[tuple[NDArray[np.int32], NDArray[np.int32]]]:
        """(slots, columns) of all rows, block by block in order."""
        for rows in slices(self.n_rows, self._block):
            yield self.leaf[rows], self.component[rows]

    def renumber(self, new_slot: NDArray, new_column: NDArray) -> None:
        """Slots and columns have other numbers: new_slot[old], new_column[old]."""
        # Narrow and one after the other: copies of all rows are large.
        self.leaf[:] = new_slot.astype(np.int32)[self.leaf]
        self.component[:] = new_column.astype(np.int32)[self.component]

    def count_cells(self, out: NDArray[np.int64]) -> None:
        """out[slot, column] = rows at that leaf in that component; all of `out` is written."""
        out[:] = 0
        kernels.count_cells(self.leaf, self.component, out)

    def log_likelihood(self, natural: NDArray[np.float64], sums: NDArray[np.float64]) -> float:
        """sum over n of log f(x_n; theta_c_n) - h(x_n), from numbers by column."""
        return self.family.log_likelihood(natural, sums, self.component)

    def sums_by(self, group: NDArray, label: NDArray, n_groups: int) -> NDArray[np.float64]:
        """(n_groups, s) sums of the sufficient statistics of rows; row n is in group[label[n]].

        Parameters
        ----------
        group : (labels,) array
            The group of each label; `n_groups` for none.
        label : (n,) array
            The label of each row.
        n_groups : int
            Number of groups.
        """
        sums = np.zeros((n_groups + 1, self.family.n_statistics))
        for rows in slices(self.n_rows, self.height):
            is_open = rows == self._rows
            statistics = self._statistics if is_open else self.family.statistics(rows)
            add_statistics(statistics, group[label[rows]], sums)
        return sums[:n_groups]

    def totals(self, shared: NDArray[np.float64], shape: tuple[int, int]) -> Totals:
        """Counts and sums of all rows, added up block by block."""
        return add_up(self.block_totals(shared, shape))

    def block_totals(self, shared: NDArray[np.float64], shape: tuple[int, int]) -> Iterator[Totals]:
        """The totals of each block of rows, in order."""
        return self._block_totals(self.family.at(shared), shape)

    def _block_totals(self, family: ConjugateFamily, shape: tuple[int, int]) -> Iterator[Totals]:
        for rows in slices(self.n_rows, self._block):
            counts = np.zeros(shape, dtype=np.int64)
            kernels.count_cells(self.leaf[rows], self.component[rows], counts)
            sums = np.zeros((shape[1], family.n_statistics))
            add_statistics(family.statistics(rows), self.component[rows], sums)
            yield Totals(counts, sums)

    def anchored(self, key: int, rate: float) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The leaves and the components that anchors occupy."""
        numbers = np.arange(self._first_row, self._first_row + self.n_rows)
        anchors = reference.anchors(numbers, key, rate)
        leaves, components = np.unique(self.leaf[anchors]), np.unique(self.component[anchors])
        return leaves.astype(np.int64), components.astype(np.int64)

    def redraw(self, menu: Menu, key: int, shape: tuple[int, int]) -> Totals:
        """Redraw all rows that may move, and add all rows up.

        The slow form: it makes a table of all rows and open components.
        """
        numbers = np.arange(self._first_row, self._first_row + self.n_rows)
        log_f = np.empty((self.n_rows, len(menu.natural)))
        everything = slice(0, self.n_rows)
        self.family.fill(everything, self.family.statistics(everything), menu.natural, log_f)
        leaf, component = reference.redraw(menu, key, numbers, log_f, self.leaf, self.component)
        moved = int(((leaf != self.leaf) | (component != self.component)).sum())
        self.put(everything, leaf, component)
        return add_up(self._block_totals(self.family, shape))._replace(moved=moved)

    # ---- One tile ------------------------------------------------------------------------------

    def tiles(self) -> Iterator[int]:
        """Open tile after tile; yields the number of rows of each."""
        for first in range(0, self.n_rows, self.height):
            rows = slice(first, min(first + self.height, self.n_rows))
            if rows != self._rows:
                self._rows, self._statistics = rows, self.family.statistics(rows)
            yield rows.stop - first

    @property
    def open_rows(self) -> slice:
        """The rows of the open tile."""
        return self._rows

    @property
    def tile(self) -> Tile:
        """The open tile; its table holds what `fill` wrote."""
        return Tile(self.leaf[self._rows], self.component[self._rows], self._table)

    @property
    def width(self) -> int:
        """Columns of the table."""
        return self._table.shape[1]

    def fill(self, natural: NDArray[np.float64], log_new: NDArray[np.float64] | None) -> None:
        """Every column of the open tile's table from its natural parameters.

        Parameters
        ----------
        natural : (width, s) array
            The table becomes as wide as these.
        log_new : (n,) array, optional
            log f* of all rows, for column 0.
        """
        if len(natural) != self.width:
            self._table = aligned((self.height, len(natural)), 0.0, self._table.dtype)
        table = self._table[: self._rows.stop - self._rows.start]
        self.family.fill(self._rows, self._statistics, natural, table)
        if log_new is not None:
            table[:, 0] = log_new[self._rows]

    def fill_column(self, k: int, natural: NDArray[np.float64], skip: int = 0) -> None:
        """One column, for a component just born; without the first rows where those are done."""
        rows = slice(self._rows.start + skip, self._rows.stop)
        column = self._table[skip : rows.stop - self._rows.start, k : k + 1]
        self.family.fill(rows, self._statistics[skip:], natural[None, :], column)

    def statistics_of(self, i: int) -> NDArray[np.float64]:
        """(s,): t(x_n) of row i of the open tile."""
        row = self._statistics[i]
        return row.toarray().ravel() if sparse.issparse(row) else row

    def add_to(self, sums: NDArray[np.float64]) -> None:
        """sums[component of row i] += t(x_i) over the open tile's rows."""
        add_statistics(self._statistics, self.component[self._rows], sums)

    def move_in(self, sums: NDArray[np.float64], before: NDArray) -> None:
        """The same where sums hold every row under its component before."""
        components = self.component[self._rows]
        if sparse.issparse(self._statistics):
            moved = np.flatnonzero(before != components)
            _add_sparse(self._statistics[moved], before[moved], sums, -1.0)
            _add_sparse(self._statistics[moved], components[moved], sums, 1.0)
        else:
            kernels.move_rows(self._statistics, before, components, sums)


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
        _add_sparse(statistics, components, sums, 1.0)
    else:
        kernels.add_rows(statistics, components, sums)


def _add_sparse(statistics, components: NDArray, sums: NDArray[np.float64], sign: float) -> None:
    """sums[components[i]] += sign t(x_i), entry by entry."""
    rows = np.repeat(components, np.diff(statistics.indptr))
    np.add.at(sums, (rows, statistics.indices), sign * statistics.data)
