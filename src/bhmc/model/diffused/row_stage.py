"""The pass over all rows: tables of likelihoods, and what a new atom brings with it."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bhmc.model.diffused.forest import grown
from bhmc.model.diffused.locations import draw_bridge

# Free slots that a pass over the rows begins with.
_SPARE = 32

# A row's likelihoods are divided by the largest of them. One that comes later may be larger, by no
# more than this in logarithms before all are divided anew.
_MOST = 300.0

# log f of an atom that does not exist, whatever the row.
_NEVER = -1e30


class RowStage:
    """Row after row: P(atom k) ~ p(path) n_k / (N + g) f(x; theta_k), a new atom at leaf z
    ~ p(path) g / (N + g) f*(x; m_z), a new branch below z ~ p(path) alpha / (N + alpha) f*(x; m_z).

    Parameters
    ----------
    chain : DiffusedSampler
        Changed in place.
    """

    def __init__(self, chain: Any):
        self._chain, self._rows = chain, chain.rows
        chain.tidy(_SPARE)
        self._below = np.cumsum(chain.forest.variance[::-1], axis=0)[::-1]
        self._atoms = self._nodes = np.empty((0, 0))
        self._top = np.empty(0)

    def run(self) -> None:
        """All rows, tile by tile."""
        for n_rows in self._rows.tiles():
            self._pass_over_tile(n_rows)

    def _pass_over_tile(self, n_rows: int) -> None:
        chain, first = self._chain, self._rows.open_rows.start
        self._fill(n_rows)
        slots = self._rows.component[first : first + n_rows].astype(np.int64)
        position = 0
        while True:
            position, z = chain.engine.pass_rows(
                chain.forest, self._atoms, self._nodes, slots, position, *chain.rates, chain.source
            )
            if z < 0:
                break
            slots[position - 1] = self._begin_atom(position - 1, z)
        self._rows.component[first : first + n_rows] = slots

    def _fill(self, n_rows: int) -> None:
        """f of the open tile's rows under every option, divided by the largest of each row."""
        forest, family = self._chain.forest, self._rows.family
        m, k = forest.used
        natural = np.zeros((len(forest.leaf), family.n_statistics))
        natural[:, -1] = _NEVER
        natural[:k] = family.natural(family.leave(forest.theta[:k]))
        self._rows.fill(natural, None)
        atoms = self._rows.tile.log_f[:n_rows].astype(np.float64)
        nodes = np.full((n_rows, len(forest.level)), -np.inf)
        rows = self._rows.open_rows
        nodes[:, :m] = family.log_new_at(rows, forest.location[:m], self._below_of(slice(0, m)))
        self._top = np.maximum(atoms.max(axis=1, initial=_NEVER), nodes.max(axis=1))
        self._atoms, self._nodes = (np.exp(table - self._top[:, None]) for table in (atoms, nodes))

    def _below_of(self, slots: slice) -> NDArray[np.float64]:
        """(slots, P) variance from nodes to an atom of a new branch below them."""
        return self._below[np.maximum(self._chain.forest.level[slots], 0) + 1]

    def _begin_atom(self, i: int, z: int) -> int:
        """A new atom of row i of the tile, below node z: theta given the row, then what lies
        between.
        """
        self._make_room()
        forest, family, rng = self._chain.forest, self._rows.family, self._chain.rng
        v, start = forest.variance[forest.level[z] + 1 :], forest.location[z]
        total = v.sum(axis=0)
        statistics = self._rows.statistics_of(i)[None]
        theta = family.draw_theta_at(statistics, start[None], total[None], rng)[0]
        first = int(forest.used[0])
        for place in draw_bridge(start, theta, v[:, forest.column], rng):
            z = _add_node(forest, z, place)
        k = _add_atom(forest, z, theta)
        self._fill_new(i + 1, k, slice(first, int(forest.used[0])))
        return k

    def _make_room(self) -> None:
        """Slots for one atom and a chain of nodes, and columns of the tables for them."""
        forest = self._chain.forest
        short_of_atoms = forest.used[1] == len(forest.leaf)
        short_of_nodes = forest.used[0] + forest.depth > len(forest.level)
        if not short_of_atoms and not short_of_nodes:
            return
        more_atoms = len(forest.leaf) // 2 + _SPARE if short_of_atoms else 0
        more_nodes = len(forest.level) // 2 + _SPARE + forest.depth if short_of_nodes else 0
        self._chain.forest = grown(forest, more_nodes, more_atoms)
        self._atoms = np.pad(self._atoms, ((0, 0), (0, more_atoms)))
        self._nodes = np.pad(self._nodes, ((0, 0), (0, more_nodes)))

    def _fill_new(self, skip: int, k: int, nodes: slice) -> None:
        """Columns of a new atom and of new nodes, for the rows still to come."""
        forest, family, rows = self._chain.forest, self._rows.family, self._rows
        left = slice(rows.open_rows.start + skip, rows.open_rows.stop)
        if left.start == left.stop:
            return
        tops = self._top[skip:]
        if k >= rows.width:
            log_f = np.empty((left.stop - left.start, 1))
            t = np.vstack([rows.statistics_of(i) for i in range(skip, skip + len(log_f))])
            family.fill(left, t, family.natural(family.leave(forest.theta[k : k + 1])), log_f)
            new = log_f[:, 0]
        else:
            rows.fill_column(k, family.natural(family.leave(forest.theta[k : k + 1]))[0], skip)
            new = rows.tile.log_f[skip : skip + len(tops), k]
        log_new = family.log_new_at(left, forest.location[nodes], self._below_of(nodes))
        highest = np.maximum(new, log_new.max(axis=1, initial=-np.inf))
        above = np.flatnonzero(highest > tops + _MOST)
        if len(above):
            fall = np.exp(tops[above] - highest[above])[:, None]
            self._atoms[skip + above] *= fall
            self._nodes[skip + above] *= fall
            tops[above] = highest[above]
        self._atoms[skip:, k] = np.exp(new - tops)
        self._nodes[skip:, nodes] = np.exp(log_new - tops[:, None])


def _add_node(forest, parent: int, place: NDArray[np.float64]) -> int:
    """A new node without rows, at a place."""
    z = int(forest.used[0])
    forest.used[0] += 1
    forest.parent[z], forest.level[z], forest.rows[z] = parent, forest.level[parent] + 1, 0
    forest.location[z] = place
    return z


def _add_atom(forest, leaf: int, theta: NDArray[np.float64]) -> int:
    """A new atom of one row."""
    k = int(forest.used[1])
    forest.used[1] += 1
    forest.leaf[k], forest.count[k], forest.theta[k] = leaf, 1, theta
    z = leaf
    while z >= 0:
        forest.rows[z] += 1
        z = int(forest.parent[z])
    return k
