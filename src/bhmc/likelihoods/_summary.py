"""What a family must know of all rows before it is bound to some of them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from bhmc.likelihoods.blocks import Floats, slices

# The rows of the sample are so many apart that there are at least this many of them, and fewer
# than twice as many. (All rows would cost more, and change the centre little.)
_LEAST_SAMPLE = 1024

# Whole numbers below this are exact in a double, and so are sums and differences of them.
EXACT_BELOW = 2.0**53


@dataclass(frozen=True, eq=False)
class ColumnSummary:
    """A summary of the columns of all rows, or of a block of them.

    The summaries of blocks that follow one another merge to the summary of the whole, bit for bit:
    every field is a count, an extreme value, a selection of rows, or a sum of whole numbers. A
    family takes its centre, its units and the layout of its statistics from the summary. So
    families bound to blocks of rows give every row the statistics that it has among all rows.

    Parameters
    ----------
    n_total : int
        Number of rows of the whole.
    first_row, n_rows : int
        The first row of the block and the number of its rows.
    missing : (d,) bool
        Whether a column has a missing entry (NaN).
    smallest, largest : (d,)
        Extreme values, missing entries left out; NaN for a column without any entry. Those of
        sparse data are not computed: NaN.
    counts : (d,)
        Sums of columns of whole numbers from 0 on, missing entries left out; NaN for other columns.
        A sum of 2^53 or more counts as 2^53: so the sum is the same in any order, although doubles
        round larger sums.
    sample : (m, d)
        Rows 0, s, 2 s, ... of the whole that lie in the block: 1,024 to 2,047 rows of the whole, or
        all rows if there are fewer. Of sparse data none.
    """

    n_total: int
    first_row: int
    n_rows: int
    missing: NDArray[np.bool_]
    smallest: Floats
    largest: Floats
    counts: Floats
    sample: Floats

    @classmethod
    def of(cls, X: Any, first_row: int = 0, n_total: int | None = None) -> Self:
        """The summary of a block of rows.

        Parameters
        ----------
        X : (n, d) array or SciPy sparse matrix
            The rows of the block.
        first_row : int, default=0
            The place of the block's first row among all rows.
        n_total : int, optional
            Number of all rows. Default: the block is the whole.
        """
        n, d = X.shape
        total = first_row + n if n_total is None else n_total
        columns = _sparse_columns(X) if sparse.issparse(X) else _dense_columns(X)
        sample = np.empty((0, d)) if sparse.issparse(X) else _sample(X, first_row, total)
        return cls(total, first_row, n, *columns, sample)

    def merge(self, following: Self) -> Self:
        """The summary of this block and the one that follows it."""
        if following.first_row != self.first_row + self.n_rows or following.n_total != self.n_total:
            raise ValueError(
                f"merge needs the block that begins at row {self.first_row + self.n_rows} of "
                f"{self.n_total}, got one that begins at row {following.first_row} of "
                f"{following.n_total}."
            )
        return replace(
            self,
            n_rows=self.n_rows + following.n_rows,
            missing=self.missing | following.missing,
            smallest=np.fmin(self.smallest, following.smallest),
            largest=np.fmax(self.largest, following.largest),
            counts=np.minimum(self.counts + following.counts, EXACT_BELOW),
            sample=np.concatenate([self.sample, following.sample]),
        )

    def select(self, columns: Sequence[int]) -> Self:
        """The summary of some columns."""
        own = list(columns)
        return replace(
            self,
            missing=self.missing[own],
            smallest=self.smallest[own],
            largest=self.largest[own],
            counts=self.counts[own],
            sample=np.ascontiguousarray(self.sample[:, own]),
        )

    def of_sample(self, n: int) -> Self:
        """The summary for a family of n of these rows alone: centre, units and layout are those of
        all rows.

        Parameters
        ----------
        n : int
            How many rows.
        """
        return replace(self, n_total=n, first_row=0, n_rows=n)

    def filled(self) -> Self:
        """The summary for families that fill missing entries in: their statistics show none."""
        return replace(self, missing=np.zeros_like(self.missing))

    @property
    def has_missing(self) -> bool:
        """Whether an entry of any row is missing."""
        return bool(self.missing.any())

    @property
    def adds_exactly(self) -> bool:
        """Whether sums of all entries are exact, where the entries are counts."""
        return bool(self.counts.sum() < EXACT_BELOW)

    def centre(self) -> Floats:
        """(d,): the median of the sample, a place near the middle of the data."""
        return np.median(self.sample, axis=0)


def summary_of_all(X, summary: ColumnSummary | None) -> ColumnSummary:
    """`summary`, if it is of all rows and of the columns of X; that of X where it is None."""
    if summary is None:
        return ColumnSummary.of(X)
    if summary.first_row or summary.n_rows != summary.n_total:
        raise ValueError(
            f"summary must be of all {summary.n_total} rows, got that of rows {summary.first_row} "
            f"to {summary.first_row + summary.n_rows - 1}: merge the summaries of all blocks."
        )
    if len(summary.missing) != X.shape[1]:
        raise ValueError(
            f"summary has {len(summary.missing)} columns, but X has {X.shape[1]} columns."
        )
    return summary


def _sample(X: Floats, first_row: int, n_total: int) -> Floats:
    """The rows of the block that are in the sample; a copy in the memory order of X."""
    step = max(1, n_total // _LEAST_SAMPLE)
    return np.array(X[-first_row % step :: step], order="K")


def _dense_columns(X: Floats) -> tuple[NDArray[np.bool_], Floats, Floats, Floats]:
    """(missing, smallest, largest, counts)."""
    d = X.shape[1]
    missing, counts = np.zeros(d, dtype=bool), np.zeros(d)
    smallest, largest = np.full(d, np.nan), np.full(d, np.nan)
    for part in (X[rows] for rows in slices(len(X))):
        holes = np.isnan(np.minimum.reduce(part, axis=0))
        least, most = (np.fmin, np.fmax) if holes.any() else (np.minimum, np.maximum)
        smallest = np.fmin(smallest, least.reduce(part, axis=0))
        largest = np.fmax(largest, most.reduce(part, axis=0))
        missing |= holes
        counts = _with_counts(counts, part)
    return missing, smallest, largest, counts


def _with_counts(counts: Floats, part: Floats) -> Floats:
    """Sums of counts before, with those of some rows added; NaN for columns that are no counts."""
    left = np.flatnonzero(~np.isnan(counts))
    if not len(left):
        return counts
    entries = part[:, left]
    entries[np.isnan(entries)] = 0.0
    whole = _are_whole(entries).all(axis=0)
    added = np.minimum(counts[left] + entries.sum(axis=0), EXACT_BELOW)
    counts = counts.copy()
    counts[left] = np.where(whole, added, np.nan)
    return counts


def _sparse_columns(X) -> tuple[NDArray[np.bool_], Floats, Floats, Floats]:
    """(missing, smallest, largest, counts) of a sparse matrix, from its stored entries."""
    d, stored = X.shape[1], sparse.coo_array(X)
    missing, unknown = np.zeros(d, dtype=bool), np.full(d, np.nan)
    missing[stored.col[np.isnan(stored.data)]] = True
    entries = np.where(np.isnan(stored.data), 0.0, stored.data)
    counts = np.minimum(np.bincount(stored.col, entries, minlength=d), EXACT_BELOW)
    counts[stored.col[~_are_whole(entries)]] = np.nan
    return missing, unknown, unknown, counts


def _are_whole(entries: Floats) -> NDArray[np.bool_]:
    return (entries >= 0) & (entries == np.floor(entries))
