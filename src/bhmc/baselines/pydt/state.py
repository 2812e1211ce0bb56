"""A diffusion tree as arrays, and the arrays its compiled samplers work in.

Time t runs from 0 to 1. The clock s = -log(1 - t) runs from 0 to infinity, and on it particles
diverge at a constant rate: a(t) dt = c ds. So the clock is what is stored: near t = 1, where most
divergences are, it loses no digits. `rest` = 1 - t = exp(-s) is what Brownian motion wants.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

NONE = -1

# Places in Work.rates.
ALPHA, THETA, RATE, SIGMA2, NOISE = range(5)
# Places in Work.counts.
TOP, N_FREE, MOVES, MOVED, SCORED = range(5)
# Rows of Work.scratch.
ACC, SUFFIX = range(2)

# No node diverges at this clock or later, where 1 - t is below all numbers. Without an end, a small
# c or a large theta would bring nodes whose times no number can tell apart.
LATEST = 700.0

# A slice that has shrunk to this share of the whole has shrunk to the present place.
SHRUNK = 1e-15

# Pieces of an edge that may hold the attachment of a subtree, see the kernels.
CELLS = 5


class Rates(NamedTuple):
    """The numbers of the process: numbers of one draw, in the paper's symbols."""

    alpha: float
    theta: float
    c: float
    sigma2: float
    noise: float


class DiffusionTree(NamedTuple):
    """Topology and clocks: leaves are nodes 0..n-1, inner nodes come after, in any order."""

    parents: NDArray[np.int64]
    """(m,) parent of each node; -1 for the first divergence, whose parent is the origin."""
    clocks: NDArray[np.float64]
    """(m,) s = -log(1 - t) of each node, infinite for a leaf."""


class Work(NamedTuple):
    """What the kernels change in place. Slots 0..n-1 are leaves, n..2n-2 inner nodes or free."""

    parent: NDArray[np.int64]
    """(2n - 1,) slot of the parent; -1: the origin (or a subtree that is cut off)."""
    first: NDArray[np.int64]
    """(2n - 1,) first child, -1 for none."""
    after: NDArray[np.int64]
    """(2n - 1,) next sibling."""
    before: NDArray[np.int64]
    """(2n - 1,) previous sibling."""
    n_kids: NDArray[np.int64]
    """(2n - 1,) number of children; 0 for leaves and free slots."""
    size: NDArray[np.int64]
    """(2n - 1,) leaves below (a leaf: 1)."""
    free: NDArray[np.int64]
    """(n - 1,) stack of free slots."""
    clock: NDArray[np.float64]
    """(2n - 1,) s."""
    rest: NDArray[np.float64]
    """(2n - 1,) exp(-s)."""
    up: NDArray[np.float64]
    """(2n - 1, d) mean of the message about a node's place from the data below it."""
    up_var: NDArray[np.float64]
    """(2n - 1,) its variance, one for all dimensions."""
    down: NDArray[np.float64]
    """(2n - 1, d) mean of the message about the PARENT's place from all data not below the node."""
    down_var: NDArray[np.float64]
    """(2n - 1,) its variance."""
    apart: NDArray[np.float64]
    """(2n - 1, 3) squared distances on an edge: down-subtree, up-subtree, down-up."""
    log_reach: NDArray[np.float64]
    """(2n - 1,) log prior weight of a subtree that has come to the upper end of an edge."""
    stack: NDArray[np.int64]
    """(2n - 1,) nodes still to be visited."""
    order: NDArray[np.int64]
    """(2n - 1,) nodes, children before parents."""
    piece_of: NDArray[np.int64]
    """(2n - 1,) first piece of each edge."""
    piece_node: NDArray[np.int64]
    """(6n * 2,) the edge's lower node; pieces are listed in the order of the walk."""
    piece_low: NDArray[np.float64]
    """(6n * 2,) clock where the piece starts; equal to `piece_high` for a node itself."""
    piece_high: NDArray[np.float64]
    """(6n * 2,) clock where it ends."""
    piece_fit: NDArray[np.float64]
    """(6n * 2,) log likelihood that stands for the piece."""
    piece_sum: NDArray[np.float64]
    """(6n * 2,) weights of the pieces, summed up to and with this one."""
    scratch: NDArray[np.float64]
    """(2, d)."""
    rates: NDArray[np.float64]
    """(5,) alpha, theta, c, sigma2, noise."""
    log_gamma_less: NDArray[np.float64]
    """(n + 2,) log Gamma(i - alpha), from i = 1."""
    log_gamma_more: NDArray[np.float64]
    """(n + 2,) log Gamma(i + theta), from i = 1."""
    H: NDArray[np.float64]
    """(n + 2,) H(i) = sum over j = 1..i of Gamma(j - alpha) / Gamma(j + 1 + theta)."""
    counts: NDArray[np.int64]
    """(5,) top node, free slots, moves tried, moves that changed the tree, likelihoods scored."""


def make_work(X: NDArray[np.float64], rates: Rates) -> Work:
    """Room for the trees of the rows of X; no leaf is in a tree yet."""
    n, d = X.shape
    slots, pieces = 2 * n - 1, (CELLS + 1) * 2 * n

    def whole(size, value=NONE):
        return np.full(size, value, dtype=np.int64)

    work = Work(
        parent=whole(slots),
        first=whole(slots),
        after=whole(slots),
        before=whole(slots),
        n_kids=whole(slots, 0),
        size=np.ones(slots, dtype=np.int64),
        free=np.arange(slots - 1, n - 1, -1),
        clock=np.full(slots, np.inf),
        rest=np.zeros(slots),
        up=np.zeros((slots, d)),
        up_var=np.full(slots, float(rates.noise)),
        down=np.zeros((slots, d)),
        down_var=np.zeros(slots),
        apart=np.zeros((slots, 3)),
        log_reach=np.zeros(slots),
        stack=whole(slots),
        order=whole(slots),
        piece_of=whole(slots),
        piece_node=whole(pieces),
        piece_low=np.zeros(pieces),
        piece_high=np.zeros(pieces),
        piece_fit=np.zeros(pieces),
        piece_sum=np.zeros(pieces),
        scratch=np.zeros((2, d)),
        rates=np.array(rates, dtype=np.float64),
        log_gamma_less=np.zeros(n + 2),
        log_gamma_more=np.zeros(n + 2),
        H=np.zeros(n + 2),
        counts=np.array([NONE, n - 1, 0, 0, 0], dtype=np.int64),
    )
    work.up[:n] = X
    return work


def put_tree(work: Work, tree: DiffusionTree) -> None:
    """Make `tree` the tree of `work`; children are listed in order of their numbers.

    Messages and tables are not touched: the kernels `tabulate` and `refresh` make them.
    """
    n, m = n_leaves(work), len(tree.parents)
    for links in (work.parent, work.first, work.after, work.before):
        links[:] = NONE
    work.n_kids[:], work.size[:] = 0, 1
    work.parent[:m], work.clock[:m] = tree.parents, tree.clocks
    work.rest[:m] = np.exp(-tree.clocks)
    for node in range(m - 1, -1, -1):
        _put_first(work, node, int(tree.parents[node]))
    work.size[n:] = 0
    for leaf in range(n):
        above = work.parent[leaf]
        while above != NONE:
            work.size[above] += 1
            above = work.parent[above]
    n_free = 2 * n - 1 - m
    work.free[:n_free] = np.arange(2 * n - 2, m - 1, -1)
    work.counts[TOP], work.counts[N_FREE] = int(np.flatnonzero(tree.parents == NONE)[0]), n_free


def _put_first(work: Work, node: int, parent: int) -> None:
    """`node` before the other children of `parent`."""
    if parent == NONE:
        return
    follower = work.first[parent]
    work.after[node], work.first[parent] = follower, node
    if follower != NONE:
        work.before[follower] = node
    work.n_kids[parent] += 1


def tree_of(work: Work) -> DiffusionTree:
    """The tree of `work` with its inner nodes numbered without gaps."""
    n = n_leaves(work)
    used = np.concatenate([np.arange(n), n + np.flatnonzero(work.n_kids[n:])])
    number = np.full(len(work.parent) + 1, NONE)  # the last entry is that of the origin, -1
    number[used] = np.arange(len(used))
    return DiffusionTree(number[work.parent[used]], work.clock[used].copy())


# What of `Work` goes on from one sweep to the next. All else is scratch, the data, or made from
# these by `tabulate`.
_KEPT = (
    *("parent", "first", "after", "before", "n_kids", "size", "free"),
    *("clock", "rest", "up", "up_var", "rates", "counts"),
)


def kept(work: Work) -> dict[str, NDArray[Any]]:
    """A copy of all that goes on from one sweep to the next, by name."""
    found = {name: getattr(work, name).copy() for name in _KEPT}
    found["up"] = found["up"][n_leaves(work) :]  # those of the leaves are the data
    return found


def restore(work: Work, values: Mapping[str, NDArray[Any]]) -> None:
    """Put back what `kept` returned.

    Parameters
    ----------
    work : Work
        Room for trees of the same data.
    values : mapping
        What `kept` returned.
    """
    for name in _KEPT:
        array = getattr(work, name)
        array[n_leaves(work) if name == "up" else 0 :] = values[name]


def parents_first(parents: NDArray[np.int64]) -> NDArray[np.int64]:
    """(m,) all nodes, level by level from the top, in each level by their numbers.

    Parameters
    ----------
    parents : (m,) array
        Parent of each node, -1 for the top.
    """
    level, above = np.zeros(len(parents), dtype=np.int64), parents
    while (below := above >= 0).any():
        level += below
        above = np.where(below, parents[above], NONE)
    return np.argsort(level, kind="stable")


def n_leaves(work: Work) -> int:
    """Number of rows of the data."""
    return (len(work.parent) + 1) // 2
