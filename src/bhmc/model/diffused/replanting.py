"""Another tree over the atoms of a chain, m and theta integrated out: which one is more probable?

No move shifts a whole tree by a level: nodes and the variances of all steps would have to change at
once. So a chain whose atoms are right may stay in a tree whose first level is what should be the
second, hundreds of nats below the other one. Where it begins, such trees are compared.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bhmc.model.diffused.start import labelled_partition
from bhmc.model.state import Partition

Floats = NDArray[np.float64]

# Rounds in which a tree settles before it is judged, and those that are not judged.
_ROUNDS, _DISCARDED = 30, 10


class Atoms(NamedTuple):
    """What a tree is planted over."""

    places: Floats
    """(K, D) where the rows of each atom are, in coordinates in which noise is alike."""
    counts: NDArray[np.int64]
    """(K,) rows of each."""
    noise: float
    """Squared distance of a row from its atom, the sum over coordinates."""


def has_comparable_trees(chain: Any) -> bool:
    """Whether trees over the atoms of a chain can be compared.

    Logits have no evidence but that of auxiliary variables, which every tree would draw anew.

    Parameters
    ----------
    chain : DiffusedSampler
        The chain.
    """
    return chain.forest.depth >= 1 and not chain.is_logit.any()


def atoms_of(chain: Any) -> Atoms | None:
    """The atoms of a chain; None where no other tree can be compared.

    Parameters
    ----------
    chain : DiffusedSampler
        Its evidence is made anew.
    """
    if not has_comparable_trees(chain) or chain.n_components < 2:
        return None
    _renew_evidence(chain)
    forest, k = chain.forest, int(chain.forest.used[1])
    precision, counts = forest.precision[:k][:, forest.column], forest.count[:k].copy()
    seen = np.maximum(precision, np.finfo(float).tiny)  # a column that no row of an atom has
    noise = float((counts[:, None] / seen)[precision.min(axis=1) > 0].mean(axis=0).sum())
    return Atoms(forest.linear[:k] / seen, counts, noise)


def log_tree_of_atoms(chain: Any) -> float:
    """log p(V, c, variances, evidence on the atoms), with m and theta integrated out.

    Parameters
    ----------
    chain : DiffusedSampler
        Its evidence is made anew.
    """
    _renew_evidence(chain)
    evidence = float(chain.engine.log_evidence(chain.forest))
    return chain.log_partition() + chain.steps.log_density(chain.variances) + evidence


def partition_over(chain: Any, labels: NDArray[np.integer]) -> Partition:
    """Leaf and component of every row, where atoms are grouped in another way.

    Parameters
    ----------
    chain : DiffusedSampler
        Whose atoms they are.
    labels : (K, L) array
        Groups of the atoms at levels 1 to L.
    """
    atoms = np.column_stack([labels, np.arange(len(labels))])
    of_atoms, component = labelled_partition(atoms, chain.forest.depth), chain.rows.component
    return of_atoms._replace(leaf=of_atoms.leaf[component], component=component.astype(np.int32))


def settled_log_tree(chain: Any) -> float:
    """The mean of `log_tree_of_atoms` over some rounds of moves of the tree, its atoms fixed.

    One round alone differs by some nats from the next, as much as two trees may.

    Parameters
    ----------
    chain : DiffusedSampler
        Changed in place.
    """
    found = []
    for i in range(_ROUNDS):
        chain.redraw_tree()
        if i >= _DISCARDED:
            found.append(log_tree_of_atoms(chain))
    return float(np.mean(found))


def _renew_evidence(chain: Any) -> None:
    chain.tidy()
    forest, k = chain.forest, int(chain.forest.used[1])
    evidence = chain.family.evidence(forest.theta[:k], chain.sums(), chain.rng)
    forest.precision[:k], forest.linear[:k] = evidence
