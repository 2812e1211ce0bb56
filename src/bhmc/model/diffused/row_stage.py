"""The pass over all rows: tables of likelihoods, tile by tile."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bhmc.model.diffused.forest import grown
from bhmc.model.diffused.row_numbers import (
    RowNumbers,
    has_plain_rows,
    lines_of,
    plain_numbers,
    row_numbers,
)

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
    anchors: NDArray[np.int64]
    """(L + 1,) a node of each level that has a column in `nodes`; that of atoms is atom 0."""


class Options(NamedTuple):
    """What the tables of a tile are made from; the same until atoms or nodes begin."""

    used: tuple[int, int]
    """Nodes and atoms that have a column."""
    atoms: Floats
    """(K, s) of the atoms: natural parameters, or lines where rows are plain."""
    nodes: Floats
    """(M, D) locations of the nodes, or lines (M, D + 2) where rows are plain."""
    below: Floats
    """(M, P) variances of theta around them."""
    anchors: NDArray[np.int64]
    """As in `Tables`."""


class RowStage:
    """Row after row: P(atom k) ~ p(path) n_k / (N + g) f(x; theta_k), a new atom at leaf z
    ~ p(path) g / (N + g) f*(x; m_z), a new branch below z ~ p(path) alpha / (N + alpha) f*(x; m_z).

    Parameters
    ----------
    chain : DiffusedSampler
        Changed in place.
    rows : LocalRows, optional
        A few of the chain's rows; by default all of them.
    """

    def __init__(self, chain: Any, rows: Any = None):
        self._chain, self._rows = chain, chain.rows if rows is None else rows
        chain.tidy(*self._room())
        self._below = np.cumsum(chain.forest.variance[::-1], axis=0)[::-1]
        self._is_plain = has_plain_rows(self._rows.family)
        self._options: Options | None = None
        self._memory: dict[str, Floats] = {}

    def run(self) -> None:
        """All rows, tile by tile."""
        for n_rows in self._rows.tiles():
            self.pass_over_tile(n_rows)

    def pass_over_tile(self, n_rows: int) -> None:
        """The rows of the open tile.

        Parameters
        ----------
        n_rows : int
            How many there are.
        """
        chain, rows = self._chain, self._rows.open_rows
        numbers, component = self._numbers(), self._rows.component[rows]
        tables, done = self._tables(n_rows, numbers), 0
        while done < n_rows:
            done = chain.engine.pass_rows(
                chain.forest, numbers, tables, component, done, *chain.rates, chain.source
            )
            if done < n_rows:
                tables = self._with_room(tables)

    def _numbers(self) -> RowNumbers:
        """The rows of the open tile."""
        family, rows = self._rows.family, self._rows.open_rows
        if not self._is_plain:
            own = self._rows is self._chain.rows
            return self._chain.numbers_of(rows) if own else row_numbers(family, rows)
        shape = (rows.stop - rows.start, len(self._chain.forest.column) + 2)
        return plain_numbers(family, rows, self._room_for("rows", *shape))

    def _tables(self, n_rows: int, numbers: RowNumbers) -> Tables:
        """Of the open tile's rows and all options that there are."""
        options = self._current_options()
        if self._is_plain:
            atoms, nodes = self._plain(n_rows, numbers, options)
        else:
            atoms, nodes = self._general(n_rows, options)
        (m, k), (n_nodes, n_atoms) = options.used, self._room()
        return Tables(
            atoms=atoms,
            nodes=nodes,
            young_atoms=self._room_for("young atoms", n_rows, n_atoms - k),
            young_nodes=self._room_for("young nodes", n_rows, n_nodes - m),
            anchors=options.anchors,
        )

    def _plain(self, n_rows: int, numbers: RowNumbers, options: Options) -> tuple[Floats, Floats]:
        """(atoms, nodes): log f and log f* are lines in (u, 1, |u|^2)."""
        made = []
        for name, lines in (("atoms", options.atoms), ("nodes", options.nodes)):
            made.append(self._room_for(name, n_rows, len(lines)))
            np.matmul(numbers.value, lines.T, out=made[-1])
        return made[0], made[1]

    def _general(self, n_rows: int, options: Options) -> tuple[Floats, Floats]:
        """(atoms, nodes) from the family's own tables."""
        family, rows = self._rows.family, self._rows
        rows.fill(options.atoms, None)
        atoms = rows.tile.log_f[:n_rows].astype(np.float64, copy=False)
        nodes = family.log_new_at(rows.open_rows, options.nodes, options.below)
        return atoms, np.ascontiguousarray(nodes)

    def _current_options(self) -> Options:
        """Atoms and nodes do not change in a pass, but new ones begin."""
        forest = self._chain.forest
        used = int(forest.used[0]), int(forest.used[1])
        if self._options is None or self._options.used != used:
            self._options = self._new_options(*used)
        return self._options

    def _new_options(self, m: int, k: int) -> Options:
        forest, family = self._chain.forest, self._rows.family
        below = self._below[np.maximum(forest.level[:m], 0) + 1]
        atoms, nodes = forest.theta[:k], forest.location[:m]
        if self._is_plain:
            atoms, nodes = lines_of(atoms, np.zeros(k)), lines_of(nodes, below[:, 0])
        else:
            atoms, nodes = family.natural(family.leave(atoms)), nodes.copy()
        levels = forest.level[:m].tolist()
        anchors = [levels.index(level) for level in range(forest.depth + 1)]
        return Options((m, k), atoms, nodes, below, np.array(anchors))

    def _room_for(self, name: str, n_rows: int, n_columns: int) -> Floats:
        """Memory of a table, the same for all tiles as long as it is large enough."""
        size, held = n_rows * n_columns, self._memory.get(name)
        if held is None or len(held) < size:
            held = self._memory[name] = np.empty(size)
        return held[:size].reshape(n_rows, n_columns)

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
