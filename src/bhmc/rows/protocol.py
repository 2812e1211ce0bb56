"""What a sampler may ask of the rows, wherever they live.

Rows know their data, their leaves and their components. They know no weights and no tree: leaves
are slots and components are columns, numbers that the sampler hands out. What goes out to rows is a
`Menu`; what comes back is `Totals`. Both are small: neither grows with the number of rows.
"""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from bhmc.likelihoods.block_sums import sum_of_blocks


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


def add_up(totals: Iterable[Totals]) -> Totals:
    """The totals of all blocks, in the fixed order: the same bits wherever the blocks live.

    Parameters
    ----------
    totals : iterable of Totals
        One for each block of rows, in the order of the rows.
    """
    return sum_of_blocks(totals, Totals.plus)


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
    """Rows of data with their leaves and components."""

    @property
    def n_rows(self) -> int:
        """Number of rows."""
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

    def tiles(self) -> Iterator[Any]:
        """Tiles of rows, for sequential samplers. Rows elsewhere refuse in one sentence."""
        ...

    def take(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """(m, s) the sufficient statistics of a few rows.

        Parameters
        ----------
        rows : (m,) array
            Their numbers.
        """
        ...

    def put(self, rows: Any, leaf: NDArray, component: NDArray) -> None:
        """Place rows.

        Parameters
        ----------
        rows : (m,) array or slice
            Their numbers.
        leaf, component : (m,) arrays
            Slots and columns.
        """
        ...

    def labels(self) -> Iterator[tuple[NDArray[np.int32], NDArray[np.int32]]]:
        """(slots of leaves, columns of components) of all rows, block by block in order."""
        ...
