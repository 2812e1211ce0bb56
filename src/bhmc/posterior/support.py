"""How sure is a node, and how sure is a row's place: agreement of a tree with the draws.

Two nodes are compared by the rows they hold: J(A, B) = |A & B| / |A | B|, the Jaccard index, which
is 1 for the same rows and 0 for none in common.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bhmc.model.state import Partition
from bhmc.posterior.summary import evenly_spaced

# Draws that a tree is compared with; the mean over more differs by less than a percent or two.
_MOST_COMPARED = 100


def soft_support(
    paths: NDArray[Any], n_nodes: int, draws: Sequence[Partition]
) -> NDArray[np.float64]:
    """(n_nodes,) mean over draws of max over B of J(A, B), B being any node of the draw.

    The root of every draw has all rows, so the support of a node is at least its share of the rows.
    At most 100 draws, evenly spaced, take part.

    Parameters
    ----------
    paths : (n, m) array
        Node ids from each row's outermost node to its innermost, in any tree over the rows: the
        rows of one id in a column are a node, and ids of different columns differ.
    n_nodes : int
        Nodes of that tree, ids being 0..n_nodes-1.
    draws : sequence of Partition
        The draws, at least one.
    """
    return _mean_matches(paths, n_nodes, draws, np.empty((paths.shape[1], 0)))


def path_support(
    paths: NDArray[Any], n_nodes: int, draws: Sequence[Partition]
) -> NDArray[np.float64]:
    """(n, m) mean over draws of max over B of J(A, B), A being the row's node at a level.

    B is any node of the draw that holds the row. So a row has less support than its node where the
    draws have the node without this row. The first column is 1 where it is the root.

    Parameters
    ----------
    paths, n_nodes, draws
        As in `soft_support`.
    """
    of_rows = np.zeros(paths.T.shape)
    _mean_matches(paths, n_nodes, draws, of_rows)
    return of_rows.T


def _mean_matches(
    paths: NDArray, n_nodes: int, draws: Sequence[Partition], of_rows: NDArray[np.float64]
) -> NDArray[np.float64]:
    """(n_nodes,) mean best matches of nodes; those of rows are put into `of_rows` (m, n or 0)."""
    from bhmc.posterior.kernels.matches import add_best_matches  # loads Numba

    compared = [draws[i] for i in evenly_spaced(len(draws), _MOST_COMPARED)]
    their_sizes = [draw.sizes().nodes for draw in compared]
    of_nodes = np.zeros(n_nodes)
    for column, of_row in zip(paths.T, of_rows, strict=True):  # one level at a time: n is large
        nodes = column.astype(np.int32)
        rows = np.argsort(nodes, kind="stable").astype(np.int32)  # rows of a node follow each other
        sizes = np.bincount(nodes, minlength=n_nodes)
        for draw, theirs in zip(compared, their_sizes, strict=True):
            leaf, parents = draw.leaf.astype(np.int32), draw.parents.astype(np.int32)
            shared = np.zeros(len(parents), dtype=np.int64)
            add_best_matches(rows, nodes, sizes, leaf, parents, theirs, shared, of_nodes, of_row)
    of_rows /= len(compared)
    return of_nodes / len(compared)


def node_support(
    paths: NDArray[Any], draws: Sequence[Partition], n_nodes: int
) -> NDArray[np.float64]:
    """(n_nodes,) share of the draws that have a node, at any level, of exactly the same rows.

    Sets of rows are compared by sums of random 64-bit numbers, one a row: two different sets have
    the same sum with probability 2^-64.

    Parameters
    ----------
    paths : (n, n_levels + 1) array
        Node ids of each row's path in the tree whose nodes are asked about, root first.
    draws : sequence of Partition
        The draws, at least one.
    n_nodes : int
        Nodes of that tree.
    """
    keys = np.random.default_rng(0).integers(0, 2**64, size=len(paths), dtype=np.uint64)
    ours = np.zeros(n_nodes, dtype=np.uint64)
    for nodes in paths.T:
        np.add.at(ours, nodes, keys)
    found = np.zeros(n_nodes)
    for draw in draws:
        found += np.isin(ours, _sums_of_nodes(draw, keys))
    return found / len(draws)


def _sums_of_nodes(draw: Partition, keys: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """(n_nodes,) sum of the keys of the rows under each node, modulo 2^64."""
    sums = np.zeros(len(draw.parents), dtype=np.uint64)
    nodes = draw.leaf
    while True:
        np.add.at(sums, nodes, keys)
        if not nodes.any():  # all at the root
            return sums
        nodes = draw.parents[nodes]
