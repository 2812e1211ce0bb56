"""`Forest`: the arrays that the kernels of the diffused transition work on.

Nodes have slots and atoms (components) have slots of their own. A free node has level -1, a free
atom has leaf -1. Slot 0 is the root, which never goes. Coordinates are those of the family, in
which the noise has variance 1 and locations diffuse alike in all directions.

Many coordinates may have seen the same rows: then one number is the precision of all of them.
`column[d]` says which precision coordinate d has, `repeats[p]` how many coordinates share it.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bhmc.model.state import Partition

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


# Logarithms of gamma functions that are kept: a sweep of many rows asks for few of them.
_MOST_LOG_GAMMAS = 2**20


class Forest(NamedTuple):
    """Tree, atoms, their evidence, and room for messages."""

    parent: Ints
    """(S,) slot of each node's parent, -1 for the root."""
    level: Ints
    """(S,) level of each node, -1 where the slot is free."""
    rows: Ints
    """(S,) rows under each node."""
    location: Floats
    """(S, D) m_z."""
    leaf: Ints
    """(C,) slot of each atom's leaf, -1 where the atom does not exist."""
    count: Ints  # pyright: ignore[reportIncompatibleMethodOverride]
    """(C,) rows of each atom."""
    theta: Floats
    """(C, D) theta_k in the family's coordinates."""
    precision: Floats
    """(C, P) precision of the rows' evidence on theta_k."""
    linear: Floats
    """(C, D) precision times mean of that evidence."""
    origin: Floats
    """(D,) the mean of the root's location."""
    variance: Floats
    """(L + 2, P): of the root, of the steps to levels 1..L, and of the step to atoms."""
    column: Ints
    """(D,) which precision a coordinate has."""
    repeats: Floats
    """(P,) how many coordinates have it."""
    up_precision: Floats
    """(S, P) sum of the messages from below on m_z: precisions."""
    up_linear: Floats
    """(S, D) the same, precisions times means."""
    mean: Floats
    """(S, D) mean of m_z given all atoms."""
    spread: Floats
    """(S, P) variance of m_z given all atoms."""
    weight: Floats
    """(S + C,) log weights of the options of a draw."""
    option: Floats
    """(C,) weights of a row's atoms."""
    opening: Floats
    """(S,) weights of new atoms that begin at nodes."""
    share: Floats
    """(S,) N_z / (N_z + c_z), 0 where the slot is free."""
    loss: Floats
    """(S,) by which the share of a node is multiplied when one of its rows leaves."""
    losses: Floats
    """(S,) the product of `loss` from below the root to the node."""
    atom_prior: Floats
    """(C,) the weight of each atom before a row is seen, 0 where the slot is free."""
    node_prior: Floats
    """(S,) the weight of a new atom that begins at each node, 0 where the slot is free."""
    path: Floats
    """(S,) log p(a block of rows passes from the root to z)."""
    log_gamma: Floats
    """(3, rows + 1) log Gamma(n), log Gamma(n + alpha), log Gamma(n + g); NaN until asked for. Of
    many rows only the first few."""
    log_gamma_at: Floats
    """(3,) 0, and the alpha and g of `log_gamma`."""
    scratch: Floats
    """(16, D) room for one message each."""
    lists: Ints
    """(4, S + C) room for lists of items."""
    used: Ints
    """(2,) the slots of nodes and of atoms before which all others are free."""

    @property
    def depth(self) -> int:
        """L: the level of the leaves."""
        return len(self.variance) - 2


def new_forest(
    n_nodes: int, n_atoms: int, depth: int, column: Ints, repeats: Floats, n_rows: int
) -> Forest:
    """Arrays of so many slots, all free but the root.

    Parameters
    ----------
    n_nodes, n_atoms : int
        S and C, the slots of nodes and of atoms.
    depth : int
        L, the level of the leaves.
    column : (D,) array
        Which precision a coordinate has.
    repeats : (P,) array
        How many coordinates have it.
    n_rows : int
        Rows of the data.
    """
    d, p, s, c = len(column), len(repeats), n_nodes, n_atoms
    forest = Forest(
        parent=np.full(s, -1, dtype=np.int64),
        level=np.full(s, -1, dtype=np.int64),
        rows=np.zeros(s, dtype=np.int64),
        location=np.zeros((s, d)),
        leaf=np.full(c, -1, dtype=np.int64),
        count=np.zeros(c, dtype=np.int64),
        theta=np.zeros((c, d)),
        precision=np.zeros((c, p)),
        linear=np.zeros((c, d)),
        origin=np.zeros(d),
        variance=np.ones((depth + 2, p)),
        column=column,
        repeats=repeats,
        up_precision=np.zeros((s, p)),
        up_linear=np.zeros((s, d)),
        mean=np.zeros((s, d)),
        spread=np.ones((s, p)),
        weight=np.zeros(s + c),
        option=np.zeros(c),
        opening=np.zeros(s),
        share=np.zeros(s),
        loss=np.zeros(s),
        losses=np.zeros(s),
        atom_prior=np.zeros(c),
        node_prior=np.zeros(s),
        path=np.zeros(s),
        log_gamma=_no_log_gammas(n_rows),
        log_gamma_at=np.array([0.0, np.nan, np.nan]),
        scratch=np.zeros((16, d)),
        lists=np.zeros((4, s + c), dtype=np.int64),
        used=np.array([1, 0], dtype=np.int64),
    )
    forest.level[0] = 0
    return forest


def copied(forest: Forest, n_rows: int) -> Forest:
    """A copy for so many rows; nothing is shared.

    Parameters
    ----------
    forest : Forest
        Left as it is.
    n_rows : int
        Rows of the data.
    """
    copy = Forest._make(array.copy() for array in forest)
    copy = copy._replace(log_gamma=_no_log_gammas(n_rows))
    copy.log_gamma_at[1:] = np.nan
    return copy


def _no_log_gammas(n_rows: int) -> Floats:
    """Room for those of so many rows, all unknown."""
    return np.full((3, min(n_rows + 1, _MOST_LOG_GAMMAS)), np.nan)


def planted(
    partition: Partition, depth: int, column: Ints, repeats: Floats, spare: int = 0
) -> Forest:
    """The forest of a partition of the rows; locations, theta and evidence are 0.

    Parameters
    ----------
    partition : Partition
        Tree and components; parents come before children.
    depth : int
        L, the level of the leaves.
    column, repeats : (D,) and (P,) array
        As in `Forest`.
    spare : int, default=0
        Free slots for nodes and for atoms.
    """
    sizes = partition.sizes()
    m, k = len(partition.parents), len(sizes.components)
    forest = new_forest(m + spare, k + spare, depth, column, repeats, len(partition.leaf))
    forest.parent[:m], forest.level[:m] = partition.parents, sizes.levels
    forest.rows[:m], forest.count[:k] = sizes.nodes, sizes.components
    forest.leaf[partition.component] = partition.leaf
    forest.used[:] = m, k
    return forest


# Arrays over slots of nodes and of atoms, with what a free slot holds.
_OF_NODES = {
    "parent": -1,
    "level": -1,
    "rows": 0,
    "location": 0,
    "up_precision": 0,
    "up_linear": 0,
    "mean": 0,
    "spread": 1,
    "opening": 0,
    "share": 0,
    "loss": 0,
    "losses": 0,
    "node_prior": 0,
    "path": 0,
}
_OF_ATOMS = {
    "leaf": -1,
    "count": 0,
    "theta": 0,
    "precision": 0,
    "linear": 0,
    "option": 0,
    "atom_prior": 0,
}


def grown(forest: Forest, n_nodes: int = 0, n_atoms: int = 0) -> Forest:
    """The forest with so many more slots for nodes and atoms; slots keep their numbers.

    Parameters
    ----------
    forest : Forest
        Left as it is.
    n_nodes, n_atoms : int
        More slots.
    """
    longer = {}
    for names, more in ((_OF_NODES, n_nodes), (_OF_ATOMS, n_atoms)):
        for name, free in names.items():
            array = getattr(forest, name)
            pad = np.full((more, *array.shape[1:]), free, dtype=array.dtype)
            longer[name] = np.concatenate([array, pad])
    size = len(longer["level"]) + len(longer["leaf"])
    longer["weight"], longer["lists"] = np.zeros(size), np.zeros((4, size), dtype=np.int64)
    return forest._replace(**longer)
