"""How fine a tree is: kappa, chosen before sampling so that the tree can be read.

A larger kappa asks for components that are further apart, in units of the noise: fewer components,
fewer leaves, and at last a root with one child. Held-out density cannot choose it: the noise of
real tables is not Gaussian, and ever more components describe it ever better. So the finest tree
that a person can read is taken. A pilot chain begins at kappa = 1. While the tree has more than 15
branches at the top, more than a leaf for 10 rows or more than a component for 8, kappa doubles;
where its root has one child, kappa is halved, as long as the tree can be read.
"""

from typing import Any, NamedTuple

import numpy as np

# At the top; rows for each leaf and each component; and what few rows may have all the same.
_MOST_BRANCHES = 15
_ROWS_A_LEAF, _LEAVES = 10, 10
_ROWS_A_COMPONENT, _COMPONENTS = 8, 12

# Sweeps of the pilot chain at one kappa, and how many of them, the last, are judged.
_SWEEPS, _JUDGED = 15, 5

_SMALLEST, _LARGEST = 1 / 64, 64.0


class Size(NamedTuple):
    """How many nodes and components a tree has, the mean over some sweeps."""

    branches: float
    """Children of the root."""
    leaves: float
    """Nodes of the last level."""
    components: float
    """Components."""

    def is_too_large(self, n_rows: int) -> bool:
        """Whether a person could not read the tree.

        Parameters
        ----------
        n_rows : int
            Rows of the data.
        """
        return (
            self.branches > _MOST_BRANCHES
            or self.leaves > max(n_rows / _ROWS_A_LEAF, _LEAVES)
            or self.components > max(n_rows / _ROWS_A_COMPONENT, _COMPONENTS)
        )

    @property
    def has_no_top(self) -> bool:
        """Whether the root has one child in most sweeps: the first level says nothing."""
        return self.branches < 1.5


def readable_kappa(chain: Any) -> float:
    """The kappa at which the tree can be read, by the sweeps of a pilot chain.

    Parameters
    ----------
    chain : DiffusedSampler
        At its start, at kappa = 1; changed in place.
    """
    n_rows, kappa = chain.rows.n_rows, 1.0
    size = _size_at(chain, kappa)
    while size.is_too_large(n_rows) and kappa < _LARGEST:
        kappa *= 2
        size = _size_at(chain, kappa)
    if kappa > 1:
        return kappa
    while size.has_no_top and kappa > _SMALLEST:
        size = _size_at(chain, kappa / 2)
        if size.is_too_large(n_rows):
            break
        kappa /= 2
    return kappa


def _size_at(chain: Any, kappa: float) -> Size:
    """The size of the tree after some sweeps at this kappa."""
    chain.turn_to_kappa(kappa)
    seen = []
    for i in range(_SWEEPS):
        chain.sweep()
        if i >= _SWEEPS - _JUDGED:
            seen.append(_size(chain))
    return Size(*np.mean(seen, axis=0))


def _size(chain: Any) -> Size:
    sizes = chain.sizes()
    per_level = np.bincount(sizes.levels)
    return Size(per_level[1], per_level[-1], len(sizes.components))
