"""The move "split": rows of a cell become a component at a place of its own, or join a cell again.

A cell is the rows of one leaf and one component. Half of the proposals take two rows i and j of a
cell of n rows, evenly. Every other row goes to the side of i or of j (`split_sides`); q is the
probability of the sides. The side of j, the block B, becomes a component of its own, at a leaf or
on a new branch. The other half are the way back: the component of a row j, if all its rows B are at
one leaf and sit at one table there, joins a cell, drawn by its weight; i is one of that cell's
rows. theta is integrated out: m(S) is the integral of the product over S of f(x; theta) dH(theta).
With the weights of `kernels.splits`, a split is accepted with probability min(1, R) and the way
back with min(1, 1 / R),

    R = m(B) (sum of new places / sum of cells) (n - 1) / (n - n_B) / q.

Proposals are weighed many at a time: after one that is accepted, the others are made anew.
"""

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from bhmc.model.hdp.split_sides import Batch, Flags, Floats, Ints, draw_sides
from bhmc.model.hdp.workspace import DEPTH, FREE_COLUMNS, FREE_SLOTS

# Cells whose statistics are more numbers than this are not split, and none is made by joining.
MOST_NUMBERS = 2**16

# Numbers that are worked on at a time.
_AT_A_TIME = 2**20


class Proposal(NamedTuple):
    """A cell that may be split, or a component that may join a cell."""

    number: int
    """How many proposals came before it."""
    leaf: int
    """Slot of the leaf that the block leaves."""
    component: int
    """Column of the component that the block leaves."""
    rows: Ints
    """All rows: those of the cell, or of the cell to join and then of the block."""
    anchors: tuple[int, int]
    """Places of i and j in `rows`."""
    n_block: int = 0
    """Rows of the block that joins a cell; 0 for a split."""
    target: tuple[int, int] = (0, 0)
    """The cell to join."""
    log_places: float = 0.0
    """log of m(B) times new places over cells."""


def split_and_join(chain: Any, n_proposals: int) -> None:
    """So many proposals. The finite form has none: its components are never born.

    Where rows are so far away that sums of their statistics lose digits nothing is done.

    Parameters
    ----------
    chain : HdpSampler
        Changed in place: leaves and components of rows, theta of components that changed, weights
        of inner nodes; those of leaves are to be drawn.
    n_proposals : int
        How many.
    """
    if chain.rates.n_fixed or not chain.rows.family.subtracts_well or chain.rows.n_rows < 2:
        return
    chain.rows.count_cells(chain.ws.customers)
    while n_proposals > 0:
        n_proposals -= _Proposals(chain).decide(n_proposals)


class _Proposals:
    """Proposals from one state of a chain, and what they are weighed with."""

    def __init__(self, chain: Any):
        self._chain, self._rng, self._family = chain, chain.rng, chain.rows.family
        self._components = np.flatnonzero(chain.ws.alive)[1:]
        self._log_m = np.zeros(len(chain.ws.alive))
        self._log_m[self._components] = self._log_evidence(chain.sums[self._components])

    def decide(self, n_proposals: int) -> int:
        """How many of so many proposals were decided: up to one that was accepted, or all."""
        proposals = self._propose(n_proposals)
        if not proposals:
            return n_proposals
        batch = self._batch(proposals)
        sides, log_q = draw_sides(self._family, batch, self._rng)
        blocks = np.add.reduceat(np.where(sides[:, None], 0.0, batch.t), batch.starts, axis=0)
        for p, one in enumerate(self._with_places(proposals, sides, batch, blocks)):
            theirs = one.rows[~sides[batch.starts[p] : batch.starts[p] + len(one.rows)]]
            if self._accepts(one, len(theirs), float(log_q[p])):
                if one.n_block:
                    _join(self._chain, one)
                else:
                    _split(self._chain, one, theirs, blocks[p])
                return one.number + 1
        return n_proposals

    # ---- Proposals -----------------------------------------------------------------------------

    def _propose(self, n_proposals: int) -> list[Proposal]:
        """Rows drawn evenly, and what may happen to their cells, where anything may."""
        kinds = self._rng.random(n_proposals) < 0.5
        rows = (self._rng.random(n_proposals) * self._chain.rows.n_rows).astype(np.int64)
        splits = [self._cell_to_split(p, int(rows[p])) for p in np.flatnonzero(kinds).tolist()]
        movable = [p for p in np.flatnonzero(~kinds).tolist() if self._may_join(int(rows[p]))]
        components = self._chain.rows.component[rows[movable]]
        gains = self._gains(self._chain.sums[components], np.zeros(len(movable), dtype=np.int64))
        joins = [
            self._cell_to_join(p, int(rows[p]), gain)
            for p, gain in zip(movable, gains, strict=True)
        ]
        return sorted(one for one in (*splits, *joins) if one is not None)

    def _cell_to_split(self, number: int, row: int) -> Proposal | None:
        """i is the row, j any other of its cell."""
        leaf, component, n = self._cell_of(row)
        if n < 2 or n * self._family.n_statistics > MOST_NUMBERS:
            return None
        rows = self._rows_of(leaf, component)
        i, j = int(np.searchsorted(rows, row)), int(self._rng.random() * (n - 1))
        return Proposal(number, leaf, component, rows, (i, j + (j >= i)))

    def _may_join(self, row: int) -> bool:
        """Whether all rows of the row's component are at one leaf, and sit at one table there.

        That they sit at one has the probability Gamma(n) Gamma(c + 1) / Gamma(c + n), with
        c = gamma beta_qk of the node above.
        """
        ws, (leaf, component, n) = self._chain.ws, self._cell_of(row)
        if n != ws.held[component] or len(self._components) < 2:
            return False
        c = self._chain.rates.gamma * ws.beta[ws.parent[leaf], component]
        one_table = math.lgamma(n) + math.lgamma(c + 1) - math.lgamma(c + n)
        return math.log(1 - self._rng.random()) < one_table

    def _cell_to_join(self, number: int, row: int, gain: Floats) -> Proposal | None:
        """j is the row, its component the block, i any row of the cell."""
        leaf, component, n = self._cell_of(row)
        one = Proposal(number, leaf, component, np.empty(0, dtype=np.int64), (0, 0), n)
        to, into, log_places = self._weigh(one, n, gain, 1 - self._rng.random())
        there = int(self._chain.ws.customers[to, into])
        i = int(self._rng.random() * there)
        if (there + n) * self._family.n_statistics > MOST_NUMBERS:
            return None
        block = self._rows_of(leaf, component)
        return one._replace(
            rows=np.concatenate([self._rows_of(to, into), block]),
            anchors=(i, there + int(np.searchsorted(block, row))),
            target=(int(to), int(into)),
            log_places=float(log_places + self._log_m[component]),
        )

    def _cell_of(self, row: int) -> tuple[int, int, int]:
        """(leaf, component, rows) of the row's cell."""
        rows = self._chain.rows
        leaf, component = int(rows.leaf[row]), int(rows.component[row])
        return leaf, component, int(self._chain.ws.customers[leaf, component])

    def _rows_of(self, leaf: int, component: int) -> Ints:
        rows = self._chain.rows
        return np.flatnonzero((rows.leaf == leaf) & (rows.component == component))

    def _batch(self, proposals: list[Proposal]) -> Batch:
        sizes = np.array([len(one.rows) for one in proposals])
        blocks = np.array([one.n_block for one in proposals])
        starts, owner = np.cumsum(sizes) - sizes, np.repeat(np.arange(len(sizes)), sizes)
        i, j = starts + np.array([one.anchors for one in proposals]).T
        sums = self._chain.sums
        whole = sums[[one.component for one in proposals]]
        whole[blocks > 0] += sums[[one.target[1] for one in proposals if one.n_block]]
        t = self._chain.rows.take(np.concatenate([one.rows for one in proposals]))
        ours: Flags = np.arange(len(owner)) - starts[owner] < (sizes - blocks)[owner]
        return Batch(t, starts, owner, i, j, whole, (blocks > 0)[owner], ours)

    # ---- Weights -------------------------------------------------------------------------------

    def _with_places(
        self, proposals: list[Proposal], sides: Flags, batch: Batch, blocks: Floats
    ) -> Iterator[Proposal]:
        """The proposals, `log_places` of splits worked out: the block is known with the sides."""
        splits = [p for p, one in enumerate(proposals) if not one.n_block]
        left = np.array([proposals[p].component for p in splits], dtype=np.int64)
        gains = dict(zip(splits, self._gains(blocks[splits], left), strict=True))
        log_m = self._log_evidence(blocks)
        n_blocks = np.add.reduceat(~sides, batch.starts, dtype=np.int64)
        for p, one in enumerate(proposals):
            if p in gains:
                log_places = self._weigh(one, int(n_blocks[p]), gains[p], 1.0)[2]
                yield one._replace(log_places=float(log_places + log_m[p]))
            else:
                yield one

    def _accepts(self, one: Proposal, n_block: int, log_q: float) -> bool:
        """True with probability min(1, R), or min(1, 1 / R) where a block joins a cell."""
        n = len(one.rows)
        log_ratio = one.log_places + math.log(n - 1) - math.log(n - n_block) - log_q
        return math.log(1 - self._rng.random()) < (-log_ratio if one.n_block else log_ratio)

    def _weigh(self, one: Proposal, n: int, gain: Floats, u: float) -> tuple[int, int, float]:
        """(leaf, component) of a cell drawn with u; log of new places over cells."""
        chain, is_split = self._chain, not one.n_block
        return chain.engine.weigh_block(
            chain.ws, chain.rates, one.leaf, one.component, n, is_split, gain, u
        )

    def _gains(self, blocks: Floats, left: Ints) -> Floats:
        """(blocks, columns) log m(S_k and the block) / m(S_k); of the component that a block has
        `left`, S_k is without it. 0 in `left`: it has left none.
        """
        own = self._components == left[:, None]
        sums, log_m = self._chain.sums[self._components], self._log_m[self._components]
        changed = sums + np.where(own[:, :, None], -blocks[:, None], blocks[:, None])
        found = self._log_evidence(changed.reshape(-1, sums.shape[1])).reshape(own.shape)
        gains = np.zeros((len(blocks), len(self._log_m)))
        gains[:, self._components] = np.where(own, log_m - found, found - log_m)
        return gains

    def _log_evidence(self, sums: Floats) -> Floats:
        """A part after the other, so that memory does not grow with their number."""
        most = max(1, _AT_A_TIME // self._family.n_statistics)
        parts = [sums[first : first + most] for first in range(0, len(sums), most)]
        return np.concatenate([np.empty(0), *(self._family.log_evidence(part) for part in parts)])


def _split(chain: Any, one: Proposal, rows: Ints, block: Floats) -> None:
    """The rows become a component."""
    room = chain.ws.room
    if room[FREE_SLOTS] < room[DEPTH] or room[FREE_COLUMNS] == 0:
        chain.make_room()
    leaf, new = chain.engine.split_off(
        chain.ws, chain.rates, one.leaf, one.component, len(rows), chain.source
    )
    chain.rows.put(rows, leaf, new)
    chain.sums[one.component] -= block
    chain.sums[new] = block
    for k in (one.component, int(new)):
        chain.draw_new_theta(k, chain.sums[k])


def _join(chain: Any, one: Proposal) -> None:
    """All rows of a component join a cell."""
    leaf, component = one.target
    chain.engine.join_cell(chain.ws, one.leaf, one.component, one.n_block, leaf, component)
    chain.rows.put(one.rows[-one.n_block :], leaf, component)
    chain.sums[component] += chain.sums[one.component]
    chain.sums[one.component] = 0.0
    chain.draw_new_theta(component, chain.sums[component])
