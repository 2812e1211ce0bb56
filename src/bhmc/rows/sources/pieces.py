"""Rows in pieces that follow one another, each of which is loaded as a whole."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Bytes of pieces in memory, where a user names no other number.
MEMORY = 2**28


class Pieces:
    """Rows of a table in pieces: row groups of Parquet, chunks of Zarr, arrays of a worker.

    Parameters
    ----------
    lengths : sequence of int
        Rows of each piece.
    n_columns : int
        Columns of every piece.
    load : callable
        load(i) is the (length, d) float64 array of piece i.
    said : str
        What the table is, for messages.
    names : sequence of str, optional
        Names of the columns.
    memory : int, optional
        Bytes that pieces in memory may take, as in `KeptPieces`. Default: they are in memory
        already, and `load` only hands them out.
    kind : str, default="piece"
        What a piece is called in messages.
    """

    def __init__(
        self,
        lengths: Sequence[int],
        n_columns: int,
        load: Callable[[int], Floats],
        said: str,
        names: Sequence[str] | None = None,
        memory: int | None = None,
        kind: str = "piece",
    ):
        rows = np.asarray(lengths, dtype=np.int64)
        self._ends = np.cumsum(rows)
        self._starts = self._ends - rows
        n_rows = int(self._ends[-1]) if len(rows) else 0
        self.shape, self.names, self._said = (n_rows, n_columns), names, said
        self._piece = load
        if memory is not None:
            _check_sizes(int(rows.max(initial=0)), n_columns, memory, said, kind)
            self._piece = KeptPieces((8 * n_columns * rows).tolist(), load, memory).piece

    def read(self, rows: slice) -> Floats:
        """(m, d) a run of rows.

        Parameters
        ----------
        rows : slice
            Which rows.
        """
        found = np.empty((rows.stop - rows.start, self.shape[1]))
        first = int(np.searchsorted(self._ends, rows.start, side="right"))
        last = int(np.searchsorted(self._starts, rows.stop, side="left"))
        for i in range(first, last):
            start = int(self._starts[i])
            own = slice(max(rows.start, start), min(rows.stop, int(self._ends[i])))
            if own.start < own.stop:
                there = slice(own.start - rows.start, own.stop - rows.start)
                found[there] = self._piece(i)[own.start - start : own.stop - start]
        return found

    def take(self, rows: NDArray[np.int64]) -> Floats:
        """(m, d) some rows.

        Parameters
        ----------
        rows : (m,) array
            Their numbers, in increasing order.
        """
        found = np.empty((len(rows), self.shape[1]))
        at = np.searchsorted(rows, [self._starts, self._ends])
        for i in np.flatnonzero(at[0] < at[1]).tolist():
            own = slice(at[0, i], at[1, i])
            found[own] = self._piece(i)[rows[own] - self._starts[i]]
        return found

    def describe(self) -> str:
        """What the table is, and its size."""
        return f"{self._said} ({self.shape[0]:,} rows, {self.shape[1]:,} columns)"


class KeptPieces:
    """Pieces that are in memory, and others that are loaded when they are asked for.

    Every sweep reads all rows from first to last. If the oldest piece always made room for the
    next, none would be there when its turn comes again. So pieces stay for good as far as a half
    of the memory goes, or all of them where it is enough; the rest is for those read last, because
    blocks of rows are smaller than most pieces.

    Parameters
    ----------
    sizes : sequence of int
        Bytes of each piece.
    load : callable
        Of the number of a piece.
    memory : int
        Bytes that pieces may take together, no fewer than the largest one takes.
    """

    def __init__(self, sizes: Sequence[int], load: Callable[[int], Floats], memory: int):
        self._sizes, self._load, self._lock = sizes, load, threading.Lock()
        fits = sum(sizes) <= memory
        for_good = memory if fits else memory - max(memory // 2, max(sizes))
        self._n_stay = int(np.searchsorted(np.cumsum(sizes), for_good, side="right"))
        self._stay: dict[int, Floats] = {}
        self._last: OrderedDict[int, Floats] = OrderedDict()
        self._room = memory - sum(sizes[: self._n_stay])

    def piece(self, i: int) -> Floats:
        """Piece i. Threads wait for each other: so one at a time is loaded beyond the memory.

        Parameters
        ----------
        i : int
            Its number.
        """
        with self._lock:
            if i in self._stay:
                return self._stay[i]
            if i < self._n_stay:
                self._stay[i] = self._load(i)
                return self._stay[i]
            if i not in self._last:
                while self._last and self._taken() + self._sizes[i] > self._room:
                    self._last.popitem(last=False)
                self._last[i] = self._load(i)
            self._last.move_to_end(i)
            return self._last[i]

    def _taken(self) -> int:
        return sum(self._sizes[i] for i in self._last)


def _check_sizes(n_rows: int, n_columns: int, memory: int, said: str, kind: str) -> None:
    """Refuse a piece that is larger than all memory for pieces."""
    size = 8 * n_rows * n_columns
    if size > memory:
        raise ValueError(
            f"{said} has a {kind} of {n_rows:,} rows, which is read as a whole and takes "
            f"{size / 1e6:,.1f} MB, more than memory={memory}: write the table in smaller {kind}s, "
            f"or open it with bhmc.rows.open_rows(..., memory={size})."
        )
