"""Agreement of a whole tree with classes: no cut, no number of clusters.

Both measures need n_zc, the data of class c under node z. A table of all nodes and classes would
be far too large, so the pairs with data are carried from the leaves to the root, a level at a time.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bhmc.metrics._pairs import codes
from bhmc.tree import Tree


class _Level(NamedTuple):
    """The pairs (node, class) with data at one level."""

    nodes: NDArray[np.int64]
    classes: NDArray[np.int64]
    counts: NDArray[np.int64]
    """n_zc, never 0."""
    joined_below: NDArray[np.int64]
    """Pairs of data of class c that are together in a child of z already."""


def dendrogram_purity(tree: Tree, labels: ArrayLike) -> float:
    """Average, over pairs of one class, of that class's share of the smallest node with both.

    Exact, over all pairs of distinct data. A leaf may hold many data, a node may have any number of
    children. It is 1 if and only if the data of every class meet in a node without any other.

    Parameters
    ----------
    tree : Tree
        The tree of n data.
    labels : array-like of shape (n,)
        The true class of each datum. Classes of one datum have no pairs and do not count.

    Returns
    -------
    float
        From 0 to 1; NaN if no class has two data.
    """
    total, n_pairs = 0.0, 0
    for level in _upwards(tree, labels):
        met_here = _pairs_of(level.counts) - level.joined_below
        total += float(met_here @ (level.counts / tree.sizes[level.nodes]))
        n_pairs += int(met_here.sum())
    return total / n_pairs if n_pairs else float("nan")


def f_measure_tree(tree: Tree, labels: ArrayLike) -> float:
    """The F-measure of Karypis over a tree: for every class the best F over all nodes.

    F of class c and node z is 2 n_zc / (n_c + n_z); classes are weighted by size. A deep tree has
    many nodes to choose from, so compare it with a control of as many nodes. See `f_measure`.

    Parameters
    ----------
    tree : Tree
        The tree of n data.
    labels : array-like of shape (n,)
        The true class of each datum.
    """
    class_sizes = np.bincount(codes(labels, "labels"))
    best = np.zeros(len(class_sizes))
    for level in _upwards(tree, labels):
        sizes = class_sizes[level.classes] + tree.sizes[level.nodes]
        np.maximum.at(best, level.classes, 2 * level.counts / sizes)
    return float(np.average(best, weights=class_sizes))


def _upwards(tree: Tree, labels: ArrayLike) -> Iterator[_Level]:
    """The levels of the tree from the leaves to the root."""
    classes = codes(labels, "labels")
    if len(classes) != len(tree.paths):
        raise ValueError(
            f"labels must hold one label for each of the tree's {len(tree.paths)} data, "
            f"got {len(classes)}."
        )
    n_classes = int(classes.max()) + 1
    ones, zeros = np.ones(len(classes), np.int64), np.zeros(len(classes), np.int64)
    level = _summed(tree.paths[:, -1].astype(np.int64), classes, ones, zeros, n_classes)
    yield level
    for _ in range(tree.n_levels):
        above, pairs = tree.parents[level.nodes], _pairs_of(level.counts)
        level = _summed(above, level.classes, level.counts, pairs, n_classes)
        yield level


def _summed(
    nodes: NDArray[np.int64],
    classes: NDArray[np.int64],
    counts: NDArray[np.int64],
    joined: NDArray[np.int64],
    n_classes: int,
) -> _Level:
    """Entries of the same node and class put together."""
    keys = nodes * n_classes + classes
    order = np.argsort(keys, kind="stable")  # nearly sorted already: children of a node are near
    keys = keys[order]
    first = np.flatnonzero(np.append(True, keys[1:] != keys[:-1]))
    return _Level(
        *np.divmod(keys[first], n_classes),
        np.add.reduceat(counts[order], first),
        np.add.reduceat(joined[order], first),
    )


def _pairs_of(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    return counts * (counts - 1) // 2
