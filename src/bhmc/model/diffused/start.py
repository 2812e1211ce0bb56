"""Where a chain of the diffused transition begins."""

import numpy as np
from numpy.typing import NDArray

from bhmc.model.diffused.forest import Forest
from bhmc.model.diffused.prior import StepPrior
from bhmc.model.state import Partition

Floats = NDArray[np.float64]


def labelled_partition(labels: NDArray[np.integer], depth: int) -> Partition:
    """Nodes at level j + 1 are the groups of column j of `labels`; the last column has the atoms.

    With more columns than levels the coarsest come first; deeper levels repeat the last.

    Parameters
    ----------
    labels : (n, m) array
        Groups of the rows, coarse to fine.
    depth : int
        The level of the leaves.
    """
    parents, n_nodes = [np.array([-1], dtype=np.int32)], 1
    leaf = np.zeros(len(labels), dtype=np.int32)
    for level in range(1, depth + 1):
        column = labels[:, min(level, labels.shape[1]) - 1]
        groups, group = np.unique(column, return_inverse=True)
        above = np.zeros(len(groups), dtype=np.int32)
        above[group] = leaf
        leaf = (n_nodes + group).astype(np.int32)
        parents.append(above)
        n_nodes += len(groups)
    component = np.unique(labels[:, -1], return_inverse=True)[1]
    return Partition(leaf, component.astype(np.int32), np.concatenate(parents))


def settled_variances(forest: Forest, prior: StepPrior, blocks: NDArray[np.int64]) -> Floats:
    """(L + 2, B): mean squares of the steps between mean places, in order and above the least.

    Parameters
    ----------
    forest : Forest
        With theta where the rows of each atom are.
    prior : StepPrior
        Of the variances.
    blocks : (P,) array
        The block of each precision.
    """
    places, atoms = _mean_places(forest), forest.theta[: forest.used[1]]
    of = blocks[forest.column]
    variances = np.empty((forest.depth + 2, len(prior.spread)))
    variances[0] = prior.spread
    for level in range(1, forest.depth + 1):
        z = np.flatnonzero(forest.level == level)
        variances[level] = _mean_squares(places[z] - places[forest.parent[z]], of)
    variances[-1] = _mean_squares(atoms - places[forest.leaf[: forest.used[1]]], of)
    return in_order(variances, prior.least + 1e-3)


def in_order(variances: Floats, least: Floats) -> Floats:
    """(L + 2, B): the variances, made larger from the last level up where they are too small.

    Parameters
    ----------
    variances : (L + 2, B) array
        v_0 to v_(L+1).
    least : (B,) array
        v_(L+1) is above this.
    """
    raised = variances.copy()
    for level in range(len(variances) - 1, 0, -1):
        raised[level] = least = np.maximum(raised[level], 1.01 * least)
    return raised


def _mean_places(forest: Forest) -> Floats:
    """(S, D): the mean place of the atoms below each node, every child counted once."""
    places = np.zeros_like(forest.location)
    k = forest.used[1]
    np.add.at(places, forest.leaf[:k], forest.theta[:k])
    numbers = np.bincount(forest.leaf[:k], minlength=len(places)).astype(float)
    for level in range(forest.depth, -1, -1):
        z = np.flatnonzero(forest.level == level)
        places[z] /= numbers[z, None]
        if level:
            np.add.at(places, forest.parent[z], places[z])
            np.add.at(numbers, forest.parent[z], 1.0)
    return places


def _mean_squares(steps: Floats, of: NDArray[np.int64]) -> Floats:
    """(B,): over all coordinates of each block."""
    totals = np.bincount(of, (steps**2).sum(axis=0))
    return totals / np.maximum(np.bincount(of) * len(steps), 1)
