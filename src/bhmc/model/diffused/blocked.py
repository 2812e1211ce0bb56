"""`BlockedDiffusedSampler`: all rows redraw at once given the menu, then a few one by one."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from bhmc.model.anchors_and_few import anchor_rate, few_runs
from bhmc.model.diffused.forest import copied
from bhmc.model.diffused.gathered_splits import split_and_merge_gathered
from bhmc.model.diffused.row_stage import RowStage
from bhmc.model.diffused.sampler import DiffusedSampler
from bhmc.model.leaf_shares import log_gamma_draws, log_products
from bhmc.model.state import Partition, State, held_parts, paths_to, without_empty
from bhmc.rows.protocol import Menu

Floats = NDArray[np.float64]


class BlockedDiffusedSampler(DiffusedSampler):
    """A chain of the diffused transition whose rows redraw on many threads; exact.

    Parameters
    ----------
    forest, rows, hyper, setting, rng, engine
        As in `DiffusedSampler`.
    """

    # One row after the other redraws a few rows only, and so finds fewer new atoms by itself.
    power_of_splits = 0.75

    def partition(self) -> Partition:
        """A copy of the current tree and components, as the rows that are watched show them."""
        return without_empty(super().partition())

    def state(self) -> State:
        """A copy of the current state; of rows elsewhere it has those that are watched alone."""
        state = super().state()
        whole = Partition(state.paths[:, -1], state.components, state.parents)
        nodes, components = held_parts(whole)
        if len(nodes) == len(state.parents) and len(components) == len(state.theta):
            return state
        seen = without_empty(whole)
        return State(
            paths_to(seen.leaf, seen.parents, state.n_levels),
            seen.component.astype(np.int32),
            seen.parents,
            state.theta[components],
            state.shared,
            state.params._replace(locations=state.params.locations[nodes]),
        )

    def redraw_rows(self) -> None:
        """Path and component of all rows: most at once given weights of the atoms; some not.

        w ~ Dir(N_child1, ..., N_childm, alpha) at every inner node, b ~ Dir(n_1, ..., n_K, g) at
        every leaf. A row that is no anchor, and whose atom an anchor occupies, draws among such
        atoms: P(k) proportional to w_leaf b_k f(x; theta_k), independently of all other rows.
        w and b are forgotten. Then a random few rows are redrawn as by `DiffusedSampler`.
        """
        before = self.n_nodes, self.n_components
        self.tidy()
        self.redraw_at_once()
        self.redraw_few()
        self.tidy()
        self._count_events(*before)

    def redraw_at_once(self) -> None:
        """All rows that may move, and no others."""
        rows, k = self.rows, int(self.forest.used[1])
        key, rate = int(self.rng.integers(2**63)), anchor_rate(rows.n_rows)
        opened = self.opened(key, rate)
        menu = self.menu(opened, rate)
        totals = rows.redraw(menu, key, (1, k))
        self._count(totals.counts[0])
        self._sums = totals.sums

    def opened(self, key: int, rate: float) -> NDArray[np.int64]:
        """The atoms that anchors occupy.

        Parameters
        ----------
        key : int
            Of this sweep.
        rate : float
            The probability with which a row is an anchor.
        """
        return self.rows.anchored(key, rate)[1]

    def menu(self, opened: NDArray[np.int64], rate: float) -> Menu:
        """The open atoms; their leaves come with them.

        Parameters
        ----------
        opened : (A,) array
            Atoms.
        rate : float
            The probability with which a row is an anchor.
        """
        theta = self.forest.theta[opened]
        return Menu(
            natural=self.family.natural(self.family.leave(theta)),
            columns=opened,
            log_weight=self._log_weights()[opened],
            leaves=np.zeros(1, dtype=np.int64),
            accept=np.ones((len(opened), 1)),
            alias=np.zeros((len(opened), 1), dtype=np.int64),
            anchor_rate=rate,
        )

    def continued(self, rows: Any, transition: Any) -> Self:
        """A chain of other rows of the same table that begins with the tree and atoms of this one.

        Every row is placed by P(k) proportional to w_leaf b_k f(x; theta_k). Atoms and nodes that
        get no row are gone; then m and theta are drawn given all rows.

        Parameters
        ----------
        rows : Rows
            Their places are written over.
        transition : Transition
            Whose chains these are.
        """
        self.tidy()
        k = int(self.forest.used[1])
        rows.turn_to(self.rows.shared)
        rows.put(slice(None), 0, 0)
        menu, key = self.menu(np.arange(k), 0.0), int(self.rng.integers(2**63))
        totals = rows.redraw(menu, key, (1, k))
        forest = copied(self.forest, rows.n_rows)
        chain = type(self)(forest, rows, self._hyper, self._setting, self.rng, self.engine)
        chain._sums = totals.sums
        chain._count(totals.counts[0])
        forest.leaf[:k][totals.counts[0] == 0] = -1
        forest.level[forest.rows == 0] = -1
        chain.tidy()
        chain.redraw_tree()
        return chain

    def _log_weights(self) -> Floats:
        """(K,) log(w_leaf b_k), drawn given the tree."""
        forest, (m, k) = self.forest, self.forest.used.tolist()
        alpha, g = self.rates
        level, leaf = forest.level[:m], forest.leaf[:k]
        inner = level < forest.depth
        log_nodes = log_gamma_draws(forest.rows[:m], self.rng)
        log_atoms = log_gamma_draws(forest.count[:k], self.rng)
        log_new = log_gamma_draws(np.where(inner, alpha, g), self.rng)
        log_w = log_products(forest.parent[:m], level, log_nodes, log_new)
        log_total = np.where(inner, -np.inf, log_new)
        np.logaddexp.at(log_total, leaf, log_atoms)
        return log_w[leaf] + log_atoms - log_total[leaf]

    def _count(self, counts: NDArray[np.int64]) -> None:
        """Atoms have so many rows, and nodes those of their atoms."""
        forest, (m, k) = self.forest, self.forest.used.tolist()
        forest.count[:k] = counts
        forest.rows[:m] = np.bincount(forest.leaf[:k], counts, minlength=m).astype(np.int64)
        for level in range(forest.depth, 0, -1):
            z = np.flatnonzero(forest.level[:m] == level)
            np.add.at(forest.rows, forest.parent[z], forest.rows[z])

    def redraw_few(self) -> None:
        """Some rows one by one, so that nodes and atoms begin and end."""
        sums = self.sums()
        with self.rows.few(few_runs(self.rows.n_rows, self.rng, self.rows.height)) as few:
            rows, stage = few.rows, RowStage(self, few.rows)
            for n_rows in rows.tiles_of(few.runs):
                before = rows.tile.component.copy()
                stage.pass_over_tile(n_rows)
                new = int(self.forest.used[1]) - len(sums)
                sums = np.pad(sums, ((0, new), (0, 0))) if new > 0 else sums
                rows.move_in(sums, before)
        self._sums = sums if self.family.subtracts_well else None

    def redraw_atoms(self) -> None:
        """Atoms split and merge through their rows, which are gathered for each proposal; where
        rows have numbers that the chain draws, as by `DiffusedSampler`.
        """
        if self.family.takes_statistics:
            split_and_merge_gathered(self, self._setting.moves)
        else:
            super().redraw_atoms()

    def sums(self) -> Floats:
        """(K, s) sums of the statistics of every atom's rows, added up block by block."""
        if self._sums is None:
            k = int(self.forest.used[1])
            self._sums = self.rows.totals(self.rows.shared, (1, k)).sums
        return self._sums
