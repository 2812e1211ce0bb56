"""Rows in this process's memory; sequential samplers see them a tile at a time.

Tiles have a fixed height and start at multiples of it, whatever the number of threads or chains,
so that every row's numbers are the same in every run.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from bhmc._compiled.aligned import aligned
from bhmc.likelihoods import ConjugateFamily
from bhmc.likelihoods.block_sums import ROWS_PER_BLOCK, BlockSums, Piece, sum_of_pieces
from bhmc.likelihoods.blocks import slices
from bhmc.rows import kernels
from bhmc.rows.block_pass import in_order, redraw_block, strip_room
from bhmc.rows.kernels import mark_anchored
from bhmc.rows.protocol import Few, Gathered, Menu, Tile, Totals
from bhmc.rows.tiles import add_sparse, add_statistics, tile_height

# Types of the likelihood tables.
PRECISIONS = ("float64", "float32")


class _ByColumn(NamedTuple):
    """The rows of each column, one column after the other."""

    rows: NDArray
    """(n,) numbers of rows."""
    first: NDArray[np.int64]
    """(columns + 1,) where those of a column begin."""

    def of(self, k: int) -> NDArray[np.int64]:
        """Those of column k, in order.

        Parameters
        ----------
        k : int
            The column.
        """
        if k >= len(self.first) - 1:
            return np.empty(0, dtype=np.int64)
        return self.rows[self.first[k] : self.first[k + 1]].astype(np.int64)


class LocalRows:
    """Rows of a family's data, their leaves and components; one tile is open at a time.

    Parameters
    ----------
    family : ConjugateFamily
        The likelihood bound to the data.
    precision : {"float64", "float32"}, default="float64"
        Type of the likelihood tables.
    block : int, optional
        Rows of a block, by default 16,384: totals are sums of the totals of blocks.
    first_row : int, default=0
        The number of the first row, where these are a part of all rows.
    n_threads : int, default=1
        Threads that redraw all rows at once; the draws do not depend on them.
    """

    def __init__(
        self,
        family: ConjugateFamily,
        precision: str = "float64",
        block: int | None = None,
        first_row: int = 0,
        n_threads: int = 1,
    ):
        self.family, self.shared = family, np.empty(0)
        self.height = min(tile_height(family.n_statistics), family.n_rows)
        self.leaf = np.zeros(family.n_rows, dtype=np.int32)
        self.component = np.zeros(family.n_rows, dtype=np.int32)
        self._block, self._first_row = block or ROWS_PER_BLOCK, first_row
        self._n_threads = n_threads
        self._is_gathering, self._by_column = False, None
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

    def put(self, rows: Any, leaf: Any, component: Any) -> None:
        """Place rows at leaves (slots) and in components (columns)."""
        self.leaf[rows], self.component[rows] = leaf, component
        self._by_column = None

    def take(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """(m, s) the sufficient statistics of a few rows."""
        if self.n_rows <= self.height:  # they are there at once
            few: Any = self.family.statistics(slice(0, self.n_rows))[rows]
            return few.toarray() if sparse.issparse(few) else few
        found: list[Any] = [self.family.statistics(slice(int(n), int(n) + 1)) for n in rows]
        dense = [one.toarray() if sparse.issparse(one) else one for one in found]
        return np.vstack([np.empty((0, self.family.n_statistics)), *dense])

    @contextmanager
    def few(self, runs: Sequence[slice]) -> Iterator[Few]:
        """The rows are here: the same object."""
        yield Few(self, list(runs))

    @contextmanager
    def gathering(self) -> Iterator[None]:
        """Rows stay sorted by their columns from one `gather` to the next."""
        self._is_gathering, self._by_column = True, None
        try:
            yield
        finally:
            self._is_gathering, self._by_column = False, None

    def gather(self, columns: Sequence[int]) -> Gathered:
        """All rows of a few components."""
        sorted_rows = self._by_column or self._sorted()
        if self._is_gathering:
            self._by_column = sorted_rows
        rows = np.concatenate([sorted_rows.of(k) for k in columns])
        if len(columns) > 1:
            rows.sort()
        family: Any = self.family
        t = family.statistics(rows)
        t.flags.writeable = False
        component = self.component[rows]
        return Gathered(self._first_row + rows, component, family.with_statistics(t))

    def renumber_columns(self, new_column: NDArray[np.int64]) -> None:
        """Columns have other numbers: new_column[old]."""
        new = new_column.astype(np.int32)
        for rows in slices(self.n_rows, self._block):
            self.component[rows] = new[self.component[rows]]
        self._by_column = None

    def _sorted(self) -> "_ByColumn":
        """The rows of each column."""
        first = np.zeros(int(self.component.max()) + 2, dtype=np.int64)
        rows = np.empty(self.n_rows, dtype=np.int32 if self.n_rows < 2**31 else np.int64)
        kernels.sort_by_column(self.component, first, rows)
        return _ByColumn(rows, first)

    def components_of(self, rows: NDArray[np.int64]) -> NDArray[np.int32]:
        """(m,) columns of a few rows."""
        return self.component[rows]

    def watched(self) -> NDArray[np.int32]:
        """Those of all rows."""
        return self.component

    def all_components(self) -> NDArray[np.int32]:
        """A copy."""
        return np.array(self.component)

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
        """Counts and sums of all rows."""
        return sum_of_pieces(self.totals_in_pieces(shared, shape), Totals.plus)

    def totals_in_pieces(self, shared: NDArray[np.float64], shape: tuple[int, int]) -> list[Piece]:
        """The same for who holds rows before or after these, too."""
        return self._added(self.block_totals(shared, shape))

    def block_totals(self, shared: NDArray[np.float64], shape: tuple[int, int]) -> Iterator[Totals]:
        """The totals of each block of rows, in order."""
        family = self.family.at(shared)

        def add(rows: slice) -> Totals:
            counts = np.zeros(shape, dtype=np.int64)
            kernels.count_cells(self.leaf[rows], self.component[rows], counts)
            sums = np.zeros((shape[1], family.n_statistics))
            for first in range(rows.start, rows.stop, self.height):
                tile = slice(first, min(first + self.height, rows.stop))
                add_statistics(family.statistics(tile), self.component[tile], sums)
            return Totals(counts, sums)

        yield from in_order(add, slices(self.n_rows, self._block), self._n_threads)

    def _added(self, blocks: Iterator[Totals]) -> list[Piece]:
        sums = BlockSums(self._first_row // self._block, Totals.plus)
        for one in blocks:
            sums.add(one)
        return sums.pieces

    def anchored(self, key: int, rate: float) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The leaves and the components that anchors occupy."""
        width = 1 + int(max(self.leaf.max(), self.component.max()))

        def mark(rows: slice) -> NDArray[np.bool_]:
            marked, room = np.zeros((2, width), dtype=bool), strip_room(0)[1]
            numbers = np.uint64(key), self._first_row + rows.start, rate
            mark_anchored(
                *numbers, self.leaf[rows], self.component[rows], marked[0], marked[1], room
            )
            return marked

        blocks = slices(self.n_rows, self._block)
        leaves, components = np.any(list(in_order(mark, blocks, self._n_threads)), axis=0)
        return np.flatnonzero(leaves), np.flatnonzero(components)

    def redraw(self, menu: Menu, key: int, shape: tuple[int, int]) -> Totals:
        """Redraw all rows that may move, and add all rows up, block by block on some threads."""
        return sum_of_pieces(self.redraw_in_pieces(menu, key, shape), Totals.plus)

    def redraw_in_pieces(self, menu: Menu, key: int, shape: tuple[int, int]) -> list[Piece]:
        """The same for who holds rows before or after these, too."""
        blocks = slices(self.n_rows, self._block)

        def redraw(rows: slice) -> Totals:
            return redraw_block(
                menu,
                key,
                self._first_row + rows.start,
                self.family,
                rows,
                self.leaf[rows],
                self.component[rows],
                shape,
                self._table.dtype,
            )

        return self._added(iter(in_order(redraw, blocks, self._n_threads)))

    # ---- One tile ------------------------------------------------------------------------------

    def tiles(self) -> Iterator[int]:
        """Open tile after tile; yields the number of rows of each."""
        return self.tiles_of(slices(self.n_rows, self.height))

    def tiles_of(self, parts: list[slice]) -> Iterator[int]:
        """Open these parts of the rows, none higher than a tile, one after the other.

        Parameters
        ----------
        parts : list of slice
            Which rows.
        """
        for rows in parts:
            if rows != self._rows:
                self._rows, self._statistics = rows, self.family.statistics(rows)
            yield rows.stop - rows.start

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
        log_new : (rows,) array, optional
            log f* of the tile's rows, for column 0.
        """
        if len(natural) != self.width:
            self._table = aligned((self.height, len(natural)), 0.0, self._table.dtype)
        table = self._table[: self._rows.stop - self._rows.start]
        self.family.fill(self._rows, self._statistics, natural, table)
        if log_new is not None:
            table[:, 0] = log_new

    def log_new(self) -> NDArray[np.float64]:
        """(rows,) log f* - h of the open tile's rows."""
        statistics: Any = self._statistics
        dense = statistics.toarray() if sparse.issparse(statistics) else statistics
        return self.family.log_evidence(dense)

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
            add_sparse(self._statistics[moved], before[moved], sums, -1.0)
            add_sparse(self._statistics[moved], components[moved], sums, 1.0)
        else:
            kernels.move_rows(self._statistics, before, components, sums)
