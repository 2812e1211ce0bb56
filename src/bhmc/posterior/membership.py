"""How firmly rows belong to a node: which members are typical of it, and which are borderline."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bhmc.model.state import Partition

# Draws that are looked at, evenly spaced.
_MOST_DRAWS = 100


def node_membership(
    members: NDArray[np.integer], draws: Sequence[Partition]
) -> NDArray[np.float64]:
    """(n,) mean over draws of the best Jaccard match of a node z on the row's path.

    For row i: the mean over draws of the maximum of |z & y| / |z | y| over the nodes y on the path
    of row i in that draw. It is 1 for a row that every draw has in a node of exactly these rows,
    and near 0 for a row that draws have elsewhere. At most 100 draws, evenly spaced, take part.

    Parameters
    ----------
    members : array of int
        Numbers of the rows of z, at least one.
    draws : sequence of Partition
        The draws, at least one.
    """
    step = -(-len(draws) // _MOST_DRAWS)
    chosen = draws[::step]
    inside = np.zeros(len(draws[0].leaf))
    inside[members] = 1.0
    return np.mean([_best_matches(inside, draw) for draw in chosen], axis=0)


def _best_matches(inside: NDArray[np.float64], draw: Partition) -> NDArray[np.float64]:
    """(n,) the best match of the rows marked 1 with a node on each row's path."""
    best, nodes = np.zeros(len(inside)), draw.leaf
    while True:
        n_nodes = len(draw.parents)
        shared = np.bincount(nodes, inside, minlength=n_nodes)
        sizes = np.bincount(nodes, minlength=n_nodes)
        match = shared / (sizes + inside.sum() - shared)
        best = np.maximum(best, match[nodes])
        if not nodes.any():  # all at the root
            return best
        nodes = draw.parents[nodes]
