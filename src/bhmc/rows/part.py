"""Rows that follow one another, read block by block where they are: in a file, or with a worker."""

import os
import shutil
import tempfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bhmc._validation.errors import EntryError, reason_of
from bhmc.likelihoods import ColumnSummary, ConjugateFamily, Likelihood
from bhmc.likelihoods.block_sums import ROWS_PER_BLOCK, BlockSums, Piece
from bhmc.likelihoods.blocks import slices
from bhmc.rows.block_pass import in_order, redraw_block, strip_room
from bhmc.rows.kernels import count_cells, mark_anchored
from bhmc.rows.protocol import Menu, Totals
from bhmc.rows.tiles import add_statistics, tile_height

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# The components of more rows than this are in a file without a name.
_MOST_IN_MEMORY = 2**24


class Look(NamedTuple):
    """What a first pass over a part's rows says."""

    summary: ColumnSummary
    digests: list[int]
    """A check sum of each block."""
    first_infinite: tuple[int, int] | None
    """Row and column of the first entry that is infinite."""


class Begun(NamedTuple):
    """What a part knows of its rows once the family is chosen."""

    sums: list[Piece]
    """The family's `shared_sums` over blocks of rows."""
    subtracts_well: bool
    """As of families."""


class Found(NamedTuple):
    """Some rows that have been asked for."""

    rows: Ints
    """(m,) their numbers among all rows."""
    component: NDArray[np.int32]
    """(m,) their columns."""
    X: Floats
    """(m, d) the rows themselves."""


class RowsPart:
    """A part of all rows, and the columns at which each chain has them.

    Chains call from threads of their own: what belongs to a chain is kept by its number.

    Parameters
    ----------
    source : Source
        The rows, numbered from 0.
    first_row : int, default=0
        The number of the first of them among all rows: a multiple of `ROWS_PER_BLOCK`.
    n_threads : int, default=1
        Threads that work on blocks; no result depends on them.
    precision : {"float64", "float32"}, default="float64"
        Type of the likelihood tables.
    """

    def __init__(
        self, source: Any, first_row: int = 0, *, n_threads: int = 1, precision: str = "float64"
    ):
        if first_row % ROWS_PER_BLOCK:
            raise ValueError(f"a part begins at a multiple of {ROWS_PER_BLOCK}, got {first_row}.")
        self.first_row, self.n_rows = first_row, source.shape[0]
        self._source, self._n_threads, self._dtype = source, n_threads, precision
        self._blocks = slices(self.n_rows, ROWS_PER_BLOCK)
        self._components: dict[int, NDArray[np.int32]] = {}
        self._family: ConjugateFamily | None = None

    # ---- Before chains begin -------------------------------------------------------------------

    def look(self, n_total: int) -> Look:
        """The summary of the part's columns, check sums, and whether a number is infinite.

        Parameters
        ----------
        n_total : int
            Number of all rows.
        """

        def look_at(rows: slice) -> Look:
            X, first = self._source.read(rows), self.first_row + rows.start
            i, j = np.nonzero(np.isinf(X))
            infinite = (first + int(i[0]), int(j[0])) if len(i) else None
            return Look(ColumnSummary.of(X, first, n_total), [zlib.crc32(X)], infinite)

        looks: list[Look] = list(in_order(look_at, self._blocks, self._n_threads))
        whole = looks[0]
        for one in looks[1:]:
            whole = Look(
                whole.summary.merge(one.summary),
                whole.digests + one.digests,
                whole.first_infinite or one.first_infinite,
            )
        return whole

    def take(self, rows: Ints) -> Floats:
        """(m, d) some rows.

        Parameters
        ----------
        rows : (m,) array
            Their numbers among all rows, in increasing order.
        """
        return self._source.take(rows - self.first_row)

    def bind(self, likelihood: Likelihood, summary: ColumnSummary) -> Begun:
        """Choose the family, and check all rows; from now on chains may place them.

        Parameters
        ----------
        likelihood : Likelihood
            The family's setting.
        summary : ColumnSummary
            Of all rows.
        """

        def sums_of(rows: slice) -> tuple[Floats, bool]:
            with _rows_from(self.first_row + rows.start):
                family = likelihood.prepare(self._source.read(rows), summary)
            return family.shared_sums(), family.subtracts_well

        sums, well = BlockSums(self.first_row // ROWS_PER_BLOCK), True
        for own, block_well in in_order(sums_of, self._blocks, self._n_threads):
            sums.add(own)
            well = well and block_well
        self._family = likelihood.prepare(self._no_rows(), summary)
        return Begun(sums.pieces, well)

    # ---- For a chain ---------------------------------------------------------------------------

    def fill(self, chain: int, component: NDArray[np.int32] | int) -> None:
        """All rows are in these columns.

        Parameters
        ----------
        chain : int
            The number of the chain.
        component : (n,) array or int
            A column for each row, or one for all.
        """
        if chain not in self._components:
            self._components[chain] = room_for(self.n_rows)
        self._components[chain][:] = component

    def redraw(
        self, chain: int, menu: Menu, key: int, shape: tuple[int, int], shared: Floats
    ) -> list[Piece]:
        """Redraw all rows that may move, and add them up; parameters as in `Rows.redraw`.

        Parameters
        ----------
        chain : int
            The number of the chain.
        menu, key, shape
            As in `Rows.redraw`; all leaves are one slot.
        shared : (q,) array
            Numbers that all components share.
        """
        component, family = self._components[chain], self._family_at(shared)

        def redraw(rows: slice) -> Totals:
            own, leaf = component[rows], np.zeros(rows.stop - rows.start, dtype=np.int32)
            block, first = family.with_rows(self._source.read(rows)), self.first_row + rows.start
            given = menu, key, first, block, slice(0, len(own)), leaf, own, shape
            return redraw_block(*given, self._dtype)

        return self._added(redraw)

    def totals(self, chain: int, shape: tuple[int, int], shared: Floats) -> list[Piece]:
        """Counts and sums of the rows; parameters as in `redraw`."""
        component, family = self._components[chain], self._family_at(shared)
        height = tile_height(family.n_statistics)

        def add(rows: slice) -> Totals:
            block, own = family.with_rows(self._source.read(rows)), component[rows]
            counts = np.zeros(shape, dtype=np.int64)
            sums = np.zeros((shape[1], family.n_statistics))
            count_cells(np.zeros(len(own), dtype=np.int32), own, counts)
            for tile in slices(len(own), height):
                add_statistics(block.statistics(tile), own[tile], sums)
            return Totals(counts, sums)

        return self._added(add)

    def anchored(self, chain: int, key: int, rate: float) -> Ints:
        """The columns that anchors occupy; parameters as in `Rows.anchored`."""
        component = self._components[chain]
        columns = np.zeros(int(component.max(initial=-1)) + 1, dtype=bool)
        room = strip_room(0)[1]
        for rows in self._blocks:
            own, leaf = component[rows], np.zeros(rows.stop - rows.start, dtype=np.int32)
            first, open_leaf = self.first_row + rows.start, np.zeros(1, dtype=bool)
            mark_anchored(np.uint64(key), first, rate, leaf, own, open_leaf, columns, room)
        return np.flatnonzero(columns)

    def gather(self, chain: int, columns: Sequence[int]) -> Found:
        """All rows of a few components.

        Parameters
        ----------
        chain : int
            The number of the chain.
        columns : sequence of int
            The components.
        """
        component = self._components[chain]

        def find(rows: slice) -> Ints:
            own = component[rows]
            found = np.zeros(len(own), dtype=bool)
            for column in columns:
                found |= own == column
            return rows.start + np.flatnonzero(found)

        here = np.concatenate(list(in_order(find, self._blocks, self._n_threads)))
        return Found(self.first_row + here, component[here], self._source.take(here))

    def few(self, chain: int, runs: Sequence[slice]) -> Found:
        """Some runs of rows.

        Parameters
        ----------
        chain : int
            The number of the chain.
        runs : sequence of slice
            Which rows of all, in order.
        """
        first = self.first_row
        local = [slice(run.start - first, run.stop - first) for run in runs]
        X = [self._source.read(run) for run in local] or [self._no_rows()]
        rows = np.concatenate([np.arange(run.start, run.stop) for run in runs] or [np.arange(0)])
        return Found(rows, self._components[chain][rows - first], np.concatenate(X))

    def put(self, chain: int, rows: Ints, component: NDArray[np.int32]) -> None:
        """Place some rows, whose numbers are those among all rows.

        Parameters
        ----------
        chain : int
            The number of the chain.
        rows : (m,) array
            Their numbers.
        component : (m,) array
            Their columns.
        """
        self._components[chain][rows - self.first_row] = component

    def renumber_columns(self, chain: int, new_column: NDArray[np.int32]) -> None:
        """Columns have other numbers.

        Parameters
        ----------
        chain : int
            The number of the chain.
        new_column : (columns,) array
            The new number of each.
        """
        component = self._components[chain]
        for rows in self._blocks:
            component[rows] = new_column[component[rows]]

    def components_of(self, chain: int, rows: Ints | None = None) -> NDArray[np.int32]:
        """Columns of some rows, or of all.

        Parameters
        ----------
        chain : int
            The number of the chain.
        rows : (m,) array, optional
            Their numbers among all rows.
        """
        component = self._components[chain]
        if rows is not None:
            return component[rows - self.first_row]
        copy = room_for(self.n_rows)
        copy[:] = component
        return copy

    def forget(self, chain: int) -> None:
        """A chain has ended.

        Parameters
        ----------
        chain : int
            The number of the chain.
        """
        self._components.pop(chain, None)

    def _family_at(self, shared: Floats) -> ConjugateFamily:
        """The family of no rows: blocks were checked by `bind`, and are bound to it one by one."""
        assert self._family is not None, "bind comes first"
        return self._family.at(shared)

    def _added(self, work: Callable[[slice], Totals]) -> list[Piece]:
        sums = BlockSums(self.first_row // ROWS_PER_BLOCK, Totals.plus)
        for one in in_order(work, self._blocks, self._n_threads):
            sums.add(one)
        return sums.pieces

    def _no_rows(self) -> Floats:
        return np.empty((0, self._source.shape[1]))


@contextmanager
def _rows_from(first: int) -> Iterator[None]:
    """Errors about entries count the rows of the data from this one on."""
    try:
        yield
    except EntryError as error:
        if error.row is None:
            raise
        own = error.value, first + error.row, error.column, error.need, error.names
        raise type(error)(*own) from None


def room_for(n: int) -> NDArray[np.int32]:
    """(n,) columns, in a file that ends with the process where they are many.

    Parameters
    ----------
    n : int
        Number of rows.
    """
    if n <= _MOST_IN_MEMORY:
        return np.zeros(n, dtype=np.int32)
    with tempfile.TemporaryFile(prefix="bhmc-components-") as file:
        _reserve(file.fileno(), n)
        return np.asarray(np.memmap(file, dtype=np.int32, mode="w+", shape=(n,)))


def _reserve(file: int, n: int) -> None:
    """Set the room on the disk aside: who writes to a map that finds none is killed."""
    folder, size = tempfile.gettempdir(), 4 * n
    try:
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(file, 0, size)
        elif shutil.disk_usage(folder).free < size:
            raise OSError("the disk is full")
    except OSError as error:
        raise OSError(
            f"The components of {n:,} rows need a file of {size / 1e9:.1f} GB in {folder}, and it "
            f"cannot be made ({reason_of(error)}): make room there, or have TMPDIR name a folder "
            f"on another disk."
        ) from None
