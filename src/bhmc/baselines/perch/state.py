"""A growing binary tree as arrays, which the compiled code changes in place."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

# "No node", "no datum", "no limit".
NONE = -1

# Places in Nodes.room: the root, tips in use, rows of `free` in use, data inserted so far.
ROOT, TIPS, FREE, DATA = range(4)

# Which test decides that a node is masked.
NO_TEST, BY_MEAN, BY_BOXES, EXACT = range(4)


class Nodes(NamedTuple):
    """A growing binary tree, with room for nodes to come."""

    parent: NDArray[np.int64]
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    size: NDArray[np.int64]
    """(m,) number of data under each node."""
    box: NDArray[np.float64]
    """(m, 2, d) least and largest value of the data in every column."""
    center: NDArray[np.float64]
    """(m, d) mean of the data."""
    spread: NDArray[np.float64]
    """(m,) mean squared distance of the data from their mean."""
    first: NDArray[np.int64]
    """(m,) the earliest datum of a tip."""
    last: NDArray[np.int64]
    """(m,) the last of a tip's data in the order of `following`."""
    following: NDArray[np.int64]
    """(n,) the datum that comes after each in its tip, -1 for the last."""
    free: NDArray[np.int64]
    """(m,) rows not in use, a stack."""
    room: NDArray[np.int64]
    """(4,) see ROOT, TIPS, FREE, DATA."""
    stack: NDArray[np.int64]
    """(2, m) scratch of searches: nodes to visit."""
    bound: NDArray[np.float64]
    """(2, m) scratch: the nearest that data of these nodes can be."""


def empty_nodes(n_rows: int, n_features: int) -> Nodes:
    """A tree without nodes, with room for `n_rows` data."""
    m = 2 * n_rows
    whole = np.zeros((3, m), dtype=np.int64)
    return Nodes(
        parent=np.full(m, NONE),
        left=np.full(m, NONE),
        right=np.full(m, NONE),
        size=whole[0],
        box=np.zeros((m, 2, n_features)),
        center=np.zeros((m, n_features)),
        spread=np.zeros(m),
        first=whole[1],
        last=whole[2],
        following=np.full(n_rows, NONE),
        free=np.arange(m)[::-1].copy(),
        room=np.array([NONE, 0, m, 0]),
        stack=np.zeros((2, m + 2), dtype=np.int64),
        bound=np.zeros((2, m + 2)),
    )


def with_room(nodes: Nodes, n_more: int) -> Nodes:
    """The same tree with room for `n_more` data; arrays at least double where they must grow."""
    n_rows, n_data = len(nodes.following), nodes.room[DATA]
    if n_data + n_more > n_rows:
        following = np.full(max(n_data + n_more, 2 * n_rows), NONE)
        following[:n_rows] = nodes.following
        nodes = nodes._replace(following=following)
    if nodes.room[FREE] >= 2 * n_more:
        return nodes
    m = len(nodes.parent)
    larger = empty_nodes(max(m // 2 + n_more, m), nodes.center.shape[1])
    for name in ("parent", "left", "right", "size", "box", "center", "spread", "first", "last"):
        getattr(larger, name)[:m] = getattr(nodes, name)
    n_free, n_new = nodes.room[FREE], len(larger.parent) - m
    larger.free[:n_new] = np.arange(m, m + n_new)[::-1]
    larger.free[n_new : n_new + n_free] = nodes.free[:n_free]
    larger.room[:] = nodes.room
    larger.room[FREE] = n_new + n_free
    return larger._replace(following=nodes.following)
