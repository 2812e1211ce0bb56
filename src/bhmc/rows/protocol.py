"""What a sampler may ask of the rows, wherever they live.

Rows know their data, their leaves and their components. They know no weights and no tree: leaves
are slots and components are columns, numbers that the sampler hands out. What goes out to rows is a
`Menu`; what comes back is `Totals`. Both are small: neither grows with the number of rows.
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from bhmc.likelihoods import ConjugateFamily


class Tile(NamedTuple):
    """Some rows in a kernel's hand, changed in place."""

    leaf: NDArray[np.int32]
    """(rows,) slot of each row's leaf; its path is the leaf's ancestors."""
    component: NDArray[np.int32]
    """(rows,) column of each row's component."""
    log_f: NDArray[np.floating]
    """(rows, width) log f(x_n; theta_k), log f*(x_n) in column 0, all less a number of the row's
    own. No wider than need be: a product fills a whole array fastest."""


class Totals(NamedTuple):
    """What rows add up to. Totals of two blocks of rows add up (`block_sums.py` has the order)."""

    counts: NDArray[np.int64]
    """(slots, columns) rows at each leaf in each component."""
    sums: NDArray[np.float64]
    """(columns, s) sums of the sufficient statistics of each component's rows."""
    moved: int = 0
    """Rows whose leaf or component changed."""

    def plus(self, other: "Totals") -> "Totals":
        """The totals of these rows and of those in the next block.

        Parameters
        ----------
        other : Totals
            Of the block that comes next, with the same slots and columns.
        """
        return Totals(self.counts + other.counts, self.sums + other.sums, self.moved + other.moved)


class Gathered(NamedTuple):
    """All rows of a few components, in one place."""

    rows: NDArray[np.int64]
    """(m,) their numbers among all rows, in order."""
    component: NDArray[np.int32]
    """(m,) their columns."""
    family: ConjugateFamily
    """Bound to these rows, at the current shared numbers."""


class Few(NamedTuple):
    """Runs of rows in a place where a sequential sampler may redraw them, tile by tile."""

    rows: Any
    """A `LocalRows` that holds them."""
    runs: list[slice]
    """Where they are there."""


class Menu(NamedTuple):
    """What a row may choose among when all rows choose at once: open leaves times open components.

    A row chooses component k with probability proportional to exp(log_weight_k) f(x_n; theta_k),
    and then its leaf given k, which does not look at the row.
    """

    natural: NDArray[np.float64]
    """(A, s) natural parameters of the open components."""
    columns: NDArray[np.int64]
    """(A,) their columns."""
    log_weight: NDArray[np.float64]
    """(A,) log of the sum over open leaves of w_leaf beta_leaf,k."""
    leaves: NDArray[np.int64]
    """(M,) slots of the open leaves."""
    accept: NDArray[np.float64]
    """(A, M) alias table of the leaf given k: the probability that entry j means leaf j."""
    alias: NDArray[np.int64]
    """(A, M) the leaf that entry j means otherwise."""
    anchor_rate: float
    """The probability with which a row is an anchor: anchors stay where they are."""


class Rows(Protocol):
    """Rows of data with their leaves and components, as samplers of all rows at once see them."""

    family: ConjugateFamily
    """At the current shared numbers. It draws from sums; rows are bound to it or are elsewhere."""
    shared: NDArray[np.float64]
    """(q,) the current numbers that all components share."""

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        ...

    @property
    def height(self) -> int:
        """Rows of a tile at most."""
        ...

    def turn_to(self, shared: NDArray[np.float64]) -> None:
        """Go on with the same data under other shared numbers.

        Parameters
        ----------
        shared : (q,) array
            Numbers that all components share.
        """
        ...

    def few(self, runs: Sequence[slice]) -> AbstractContextManager[Few]:
        """Some runs of rows for a sequential sampler; where they then are counts when it is done.

        Parameters
        ----------
        runs : sequence of slice
            Which rows, in order; none is higher than a tile.
        """
        ...

    def gathering(self) -> AbstractContextManager[None]:
        """While it lasts rows are gathered many times, and only `put` and new numbers of columns
        change where they are.
        """
        ...

    def gather(self, columns: Sequence[int]) -> Gathered:
        """All rows of a few components.

        Parameters
        ----------
        columns : sequence of int
            The components.
        """
        ...

    def renumber_columns(self, new_column: NDArray[np.int64]) -> None:
        """Columns have other numbers.

        Parameters
        ----------
        new_column : (columns,) array
            The new number of each.
        """
        ...

    def components_of(self, rows: NDArray[np.int64]) -> NDArray[np.int32]:
        """(m,) columns of a few rows.

        Parameters
        ----------
        rows : (m,) array
            Their numbers.
        """
        ...

    def watched(self) -> NDArray[np.int32]:
        """Columns of the rows whose places are noted in draws: of all rows, or of a sample."""
        ...

    def all_components(self) -> NDArray[np.int32]:
        """(n,) columns of all rows, a copy: what a checkpoint holds."""
        ...

    def totals(self, shared: NDArray[np.float64], shape: tuple[int, int]) -> Totals:
        """Counts and sums of all rows.

        Parameters
        ----------
        shared : (q,) array
            Numbers that all components share, which statistics may depend on.
        shape : (slots, columns)
            Of the sampler's arrays.
        """
        ...

    def anchored(self, key: int, rate: float) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The leaves and the components that anchors occupy, each once, in order.

        Parameters
        ----------
        key : int
            Key of this sweep's random numbers: row n is an anchor by the number of (key, n).
        rate : float
            The probability with which a row is an anchor, whatever its state.
        """
        ...

    def redraw(self, menu: Menu, key: int, shape: tuple[int, int]) -> Totals:
        """Redraw all rows that may move, at once, and add all rows up.

        Parameters
        ----------
        menu : Menu
            What rows may choose.
        key : int
            Key of this sweep's random numbers: row n uses the numbers of (key, n), whatever its
            block.
        shape : (slots, columns)
            Of the sampler's arrays.
        """
        ...

    def put(self, rows: Any, leaf: Any, component: Any) -> None:
        """Place rows.

        Parameters
        ----------
        rows : (m,) array or slice
            Their numbers.
        leaf, component : (m,) arrays or int
            Slots and columns.
        """
        ...
