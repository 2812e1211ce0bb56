"""`BlockedHdpSampler`: all rows redraw at once given the menu, then a few one by one."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bhmc.model.anchors_and_few import anchor_rate, few_runs
from bhmc.model.hdp import workspace
from bhmc.model.hdp.menu import count_under, make_menu
from bhmc.model.hdp.sampler import HdpSampler
from bhmc.model.state import Partition, without_empty

# With more rows than this a sweep is so short that block moves are made in one of eight.
_ROWS_OF_EVERY_SWEEP, _SWEEPS_PER_MOVES = 10_000, 8


class BlockedHdpSampler(HdpSampler):
    """A chain of the hdp transition whose rows redraw on many threads; exact.

    Parameters
    ----------
    held, rows, sampler, rng, **settings
        As in `HdpSampler`. The few rows that are redrawn one by one are so by path Gibbs.
    """

    def __init__(self, *args: Any, **settings: Any):
        super().__init__(*args, **settings)
        self._sampler = "gibbs"

    @staticmethod
    def sweeps_per_moves(n_rows: int) -> int:
        """Sweeps from block moves to block moves."""
        return _SWEEPS_PER_MOVES if n_rows > _ROWS_OF_EVERY_SWEEP else 1

    def redraw_data(self) -> None:
        """Paths and components of all rows: most at once given weights of the tree, w; some not.

        w ~ Dir(N_child1, ..., N_childm, alpha) at every inner node. A row that is no anchor, and
        whose leaf and component anchors occupy, draws among those: P(leaf, k) proportional to
        w_leaf beta_leaf,k f(x; theta_k), independently of all other rows. w is forgotten. Then a
        random few rows are redrawn as by `HdpSampler`.
        """
        self._begin_pass()
        self.redraw_at_once()
        self.redraw_few()

    def redraw_at_once(self) -> None:
        """All rows that may move, and no others."""
        rows, n = self.rows, self.rows.n_rows
        key, shape = int(self.rng.integers(2**63)), self.ws.log_beta.shape
        rate = anchor_rate(n)
        opened = self.opened(key, rate)
        if len(opened[0]):
            menu = make_menu(self.ws, self.natural, opened, self.rates.alpha, rate, self.rng)
            totals = rows.redraw(menu, key, shape)
            count_under(self.ws, totals.counts)
        else:  # no row is an anchor
            totals = rows.totals(rows.shared, shape)
        self.sums[:] = totals.sums

    def opened(self, key: int, rate: float) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Slots of the leaves and columns of the components that anchors occupy.

        Parameters
        ----------
        key : int
            Of this sweep.
        rate : float
            The probability with which a row is an anchor.
        """
        return self.rows.anchored(key, rate)

    def continued(self, rows: Any, transition: Any) -> "BlockedHdpSampler":
        """A chain of other rows of the same table that begins with the tree and the components of
        this one.

        Every row is placed by P(leaf, k) proportional to w_leaf beta_leaf,k f(x; theta_k). What
        gets no row is gone; then weights and theta are drawn given all rows.

        Parameters
        ----------
        rows : LocalRows
            Their places are written over.
        transition : Transition
            Whose chains these are.
        """
        partition = without_empty(self._placed(rows))
        state = transition.complete(rows, partition, self.state(), self.rng)
        return transition.sampler(state, rows, "blocked", self.rng)

    def _placed(self, rows: Any) -> Partition:
        ws, order = self.ws, workspace.compact(self.ws)
        leaves = np.flatnonzero(ws.level == ws.room[workspace.DEPTH])
        opened = leaves, order.columns
        menu = make_menu(ws, self.natural, opened, self.rates.alpha, 0.0, self.rng)
        rows.turn_to(self.shared)
        rows.put(slice(None), leaves[0], order.columns[0])
        rows.redraw(menu, int(self.rng.integers(2**63)), ws.log_beta.shape)
        return Partition(
            leaf=order.node_of[rows.leaf],
            component=order.label_of[rows.component],
            parents=workspace.parents(ws, order),
        )

    def redraw_few(self) -> None:
        """Some rows one by one, so that nodes and components begin and end."""
        runs = few_runs(self.rows.n_rows, self.rng, self.rows.height)
        self._sums_are_old = True
        for n_rows in self.rows.tiles_of(runs):
            self._pass_over_tile(n_rows)
        if not self.rows.family.subtracts_well:  # what left by subtraction has lost digits
            self.sums[:] = self.rows.totals(self.rows.shared, self.ws.log_beta.shape).sums

    def _find_log_new(self) -> None:
        """Nothing: only tiles of the few need it."""

    def _log_new_of_tile(self) -> NDArray[np.float64] | None:
        return None if self.rates.n_fixed else self.rows.log_new()
