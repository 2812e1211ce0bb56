"""Rows in pieces that follow one another, each of which is loaded as a whole."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Pieces that stay in memory: two threads may be on either side of a border.
_KEPT = 2


class Pieces:
    """Rows of a table in pieces: row groups of Parquet, chunks of Zarr, arrays of a worker.

    The last pieces that were read stay in memory, because blocks of rows are read in order and are
    smaller than most pieces.

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
    """

    def __init__(
        self,
        lengths: Sequence[int],
        n_columns: int,
        load: Callable[[int], Floats],
        said: str,
        names: Sequence[str] | None = None,
    ):
        self._ends = np.cumsum(np.asarray(lengths, dtype=np.int64))
        self._starts = self._ends - np.asarray(lengths, dtype=np.int64)
        n_rows = int(self._ends[-1]) if len(self._ends) else 0
        self.shape, self.names, self._said = (n_rows, n_columns), names, said
        self._load, self._lock = load, threading.Lock()
        self._kept: OrderedDict[int, Floats] = OrderedDict()

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
        piece_of = np.searchsorted(self._ends, rows, side="right")
        for i in np.unique(piece_of).tolist():
            own = piece_of == i
            found[own] = self._piece(i)[rows[own] - self._starts[i]]
        return found

    def describe(self) -> str:
        """What the table is, and its size."""
        return f"{self._said} ({self.shape[0]:,} rows, {self.shape[1]:,} columns)"

    def _piece(self, i: int) -> Floats:
        with self._lock:
            if i in self._kept:
                self._kept.move_to_end(i)
            else:
                while len(self._kept) >= _KEPT:
                    self._kept.popitem(last=False)
                self._kept[i] = self._load(i)
            return self._kept[i]
