"""How fine a tree is: kappa, chosen before sampling so that the tree can be read.

A larger kappa asks for components that are further apart, in units of the noise: fewer components,
fewer leaves, and at last a root with one child. Held-out density cannot choose it: the noise of
real tables is not Gaussian, and ever more components describe it ever better. So the finest tree
that a person can read is taken.

A person can read a tree of up to 15 branches at the top, a leaf for 10 rows and a component for 8.
A pilot chain begins at kappa = 1. While its tree has more than 95 % of these nodes, or less than
one to spare, or more than 90 % of the components, kappa grows by steps of a factor of 1.26, but not
to where the root has one child; for components alone it grows to 2 at most, because where the noise
has heavy tails their number hardly falls and the tree is lost. Where the tree is not too large,
kappa falls by the same steps to 8 / D, at which components of a leaf are four standard deviations
of the noise from each other, whatever the number D of coordinates, and further as long as the root
has one child; but not to where the tree is too large.

Some are to spare, because the tree of long chains may have a node more than the mean of a short
one; of many rows the components become more for a hundred sweeps. The pilot chain has the same
seed in every fit: kappa is a function of the table, so that fits with other seeds have trees that
are equally fine.
"""

from typing import Any, NamedTuple

import numpy as np

# At the top; rows for each leaf and each component; and what few rows may have all the same.
_MOST_BRANCHES = 15
_ROWS_A_LEAF, _LEAVES = 10, 10
_ROWS_A_COMPONENT, _COMPONENTS = 8, 12

# The share of these that a pilot chain may have: of nodes, and of components.
_TO_SPARE, _COMPONENTS_TO_SPARE = 0.95, 0.9

# Sweeps of the pilot chain at one kappa: fewer of many rows, whose trees change less from sweep to
# sweep. Those after the first two thirds, or after so many, are judged.
_ROWS_A_KAPPA, _LEAST_SWEEPS, _MOST_SWEEPS, _SETTLED = 12_000, 12, 60, 20

# Half the square of four standard deviations, because two components have two steps between them;
# kappa's steps and ends. A table without groups has no top at any kappa.
_FAR = 8.0
_STEP, _SMALLEST, _LARGEST = 2.0 ** (1 / 3), 1 / 16, 8.0

# Too many components alone are no reason for a larger kappa than this.
_LARGEST_FOR_COMPONENTS = 2.0


class Size(NamedTuple):
    """How many nodes and components a tree has, the mean over some sweeps."""

    branches: float
    """Children of the root."""
    leaves: float
    """Nodes of the last level."""
    components: float
    """Components."""

    def is_too_large(self, n_rows: int, kappa: float) -> bool:
        """Whether a person could not read the tree.

        Parameters
        ----------
        n_rows : int
            Rows of the data.
        kappa : float
            At which the tree has this size.
        """
        many = self.has_too_many_components(n_rows)
        return (
            self.branches > _with_nodes_to_spare(_MOST_BRANCHES)
            or self.leaves > _with_nodes_to_spare(max(n_rows / _ROWS_A_LEAF, _LEAVES))
            or (many and kappa < _LARGEST_FOR_COMPONENTS - 1e-9)
        )

    def has_too_many_components(self, n_rows: int) -> bool:
        """Whether there are more components than a person can read.

        Parameters
        ----------
        n_rows : int
            Rows of the data.
        """
        return self.components / _COMPONENTS_TO_SPARE > max(n_rows / _ROWS_A_COMPONENT, _COMPONENTS)

    @property
    def has_no_top(self) -> bool:
        """Whether the root often has one child only: the first level may say nothing."""
        return self.branches < 2.0


def _with_nodes_to_spare(most: float) -> float:
    """How many nodes a pilot chain may have on average, where a tree may have `most`."""
    return min(most - 1, _TO_SPARE * most)


def readable(chain: Any) -> tuple[float, Size]:
    """The kappa at which the tree can be read, by the sweeps of a pilot chain, and its size there.

    Parameters
    ----------
    chain : DiffusedSampler
        At its start; changed in place.
    """
    size = _size_at(chain, 1.0)
    if size.is_too_large(chain.rows.n_rows, 1.0):
        return _coarser(chain, size)
    return _finer(chain, size)


def _coarser(chain: Any, size: Size) -> tuple[float, Size]:
    """The first kappa above 1 at which the tree can be read; the last at which it has a top."""
    kappa = 1.0
    while kappa < _LARGEST:
        further = _size_at(chain, kappa * _STEP)
        if further.has_no_top:
            break
        kappa, size = kappa * _STEP, further
        if not size.is_too_large(chain.rows.n_rows, kappa):
            break
    return kappa, size


def _finer(chain: Any, size: Size) -> tuple[float, Size]:
    """8 / D or, where the tree has no top there, the first smaller kappa at which it has one.

    The last kappa on the way at which the tree can be read, if there is one at which it cannot.
    """
    kappa, goal = 1.0, _FAR / len(chain.forest.column)
    while (kappa > goal or size.has_no_top) and kappa > _SMALLEST:
        further = kappa / _STEP
        if kappa > goal:
            further = max(further, goal)
        found = _size_at(chain, further)
        if found.is_too_large(chain.rows.n_rows, further):
            break
        kappa, size = further, found
    return kappa, size


def _size_at(chain: Any, kappa: float) -> Size:
    """The size of the tree after some sweeps at this kappa."""
    chain.turn_to_kappa(kappa)
    sweeps = int(np.clip(_ROWS_A_KAPPA // chain.rows.n_rows, _LEAST_SWEEPS, _MOST_SWEEPS))
    seen = []
    for i in range(sweeps):
        chain.sweep()
        if i >= min(sweeps - sweeps // 3, _SETTLED):
            seen.append(_size(chain))
    return Size(*np.mean(seen, axis=0))


def _size(chain: Any) -> Size:
    sizes = chain.sizes()
    per_level = np.bincount(sizes.levels)
    return Size(per_level[1], per_level[-1], len(sizes.components))
