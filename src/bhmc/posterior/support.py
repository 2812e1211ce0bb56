"""How sure is a node: the share of the draws that have a node of the same rows."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bhmc.model.state import Partition


def node_support(paths: NDArray, draws: Sequence[Partition], n_nodes: int) -> NDArray[np.float64]:
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
