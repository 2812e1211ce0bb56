"""The pass over all rows: tables of likelihoods, tile by tile."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bhmc.model.diffused.forest import grown
from bhmc.model.diffused.row_numbers import row_numbers

Floats = NDArray[np.float64]

# Free slots that a pass over the rows begins with, and a half of those that exist.
_SPARE = 32


class Tables(NamedTuple):
    """log f of a tile's rows under every option, less what is the same for all options of a row."""

    atoms: Floats
    """(n, K) f(x; theta_k)."""
    nodes: Floats
    """(n, M) f*(x; m_z), theta around m_z integrated out."""
    young_atoms: Floats
    """(n, ...) the same of atoms that began in this tile, for the rows after that."""
    young_nodes: Floats
    """(n, ...) of nodes that did."""
    top: Floats
    """(n,) the largest of `atoms` and `nodes`."""
    anchors: NDArray[np.int64]
    """(L + 1,) a node of each level that has a column in `nodes`; that of atoms is atom 0."""


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
        chain.tidy(*self._room())
        self._below = np.cumsum(chain.forest.variance[::-1], axis=0)[::-1]

    def run(self) -> None:
        """All rows, tile by tile."""
        for n_rows in self._rows.tiles():
            self._pass_over_tile(n_rows)

    def _pass_over_tile(self, n_rows: int) -> None:
        chain, rows = self._chain, self._rows.open_rows
        tables, component = self._tables(n_rows), self._rows.component[rows]
        numbers, done = row_numbers(self._rows.family, rows), 0
        while done < n_rows:
            done = chain.engine.pass_rows(
                chain.forest, numbers, tables, component, done, *chain.rates, chain.source
            )
            if done < n_rows:
                tables = self._with_room(tables)

    def _tables(self, n_rows: int) -> Tables:
        """Of the open tile's rows and all options that there are."""
        forest, family, rows = self._chain.forest, self._rows.family, self._rows
        m, k = forest.used
        rows.fill(family.natural(family.leave(forest.theta[:k])), None)
        below = self._below[np.maximum(forest.level[:m], 0) + 1]
        places, (n_nodes, n_atoms) = forest.location[:m], self._room()
        atoms = rows.tile.log_f[:n_rows].astype(np.float64, copy=False)
        nodes = np.ascontiguousarray(family.log_new_at(rows.open_rows, places, below))
        return Tables(
            atoms=atoms,
            nodes=nodes,
            young_atoms=np.empty((n_rows, n_atoms - k)),
            young_nodes=np.empty((n_rows, n_nodes - m)),
            top=np.maximum(atoms.max(axis=1), nodes.max(axis=1)),
            anchors=np.array([np.argmax(forest.level == i) for i in range(forest.depth + 1)]),
        )

    def _room(self) -> tuple[int, int]:
        """Slots for nodes and for atoms."""
        forest = self._chain.forest
        m, k = (int(used) for used in forest.used)
        return m + m // 2 + _SPARE + forest.depth, k + k // 2 + _SPARE

    def _with_room(self, tables: Tables) -> Tables:
        """More slots for nodes and atoms, and columns for those to come."""
        forest = self._chain.forest
        n_nodes, n_atoms = self._room()
        more_nodes, more_atoms = n_nodes - len(forest.level), n_atoms - len(forest.leaf)
        self._chain.forest = grown(forest, max(more_nodes, 0), max(more_atoms, 0))
        return tables._replace(
            young_atoms=_wider(tables.young_atoms, n_atoms - tables.atoms.shape[1]),
            young_nodes=_wider(tables.young_nodes, n_nodes - tables.nodes.shape[1]),
        )


def _wider(table: Floats, width: int) -> Floats:
    """With more columns."""
    made = np.empty((len(table), max(width, table.shape[1])))
    made[:, : table.shape[1]] = table
    return made
