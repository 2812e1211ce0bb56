"""A point estimate that need not be a draw: draws improved row by row and node by node.

The loss is that of `nearest_draw`: the expected variation of information (VI) of the components and
of the levels of the tree. Components and tree do not meet in it, so each is searched on its own;
but where every component of every draw belongs to one leaf, components are searched as one more
level of the tree, and each belongs to one leaf in the answer, too. The search is greedy, as SALSO's
(Dahl, Johnson and Mueller 2022). It edits one tree, so levels stay nested.

Where draws agree little on a level, the VI is least if all rows are in one node there: a tree that
says nothing. So the tree is searched several times, by the generalised VI of the same authors,
A H(draw | estimate) + (2 - A) H(estimate | draw), which prefers more nodes as A grows from 1. Of
the trees whose levels have not collapsed, that of the least VI is taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bhmc.model.state import Partition
from bhmc.posterior.summary import compared, expected_losses, expected_vi, labels_of

if TYPE_CHECKING:
    from bhmc.posterior.kernels.tables import Tables

# Data of more rows are not searched: there the nearest draw is the estimate.
MOST_ROWS = 20_000

# A search ends after so many rounds over all rows and nodes, or where one gains less, in nats.
_MOST_ROUNDS, _LEAST_GAIN = 20, 1e-4

# The A of the generalised VI.
_WEIGHTS = (1.0, 1.25, 1.5, 1.75)

# A tree of more branches at the top cannot be read.
_MOST_CHILDREN = 15

# A level with fewer nodes than this share of those of the median draw has collapsed, and so has one
# with a single node where the median draw has more.
_LEAST_SHARE = 0.5

# Draws that are improved, fewer where rows x draws x levels are many.
_MOST_STARTS, _MOST_ENTRIES = 4, 2**20

Labels = NDArray[np.integer]


class Nearest(NamedTuple):
    """A partition near to all draws."""

    partition: Partition
    loss: float
    """Its expected VI, as in `nearest_draw`."""
    draw: int
    """Index of the candidate of the least loss."""
    is_draw: bool
    """Whether the partition is that candidate."""


def nearest_partition(
    candidates: Sequence[Partition],
    draws: Sequence[Partition],
    n_levels: int,
    rng: np.random.Generator,
) -> Nearest:
    """A partition whose expected VI is at most that of the nearest draw, and mostly lower.

    The components and the trees of a few candidates are improved, and the best of each is taken. No
    level gets more nodes, and there are no more components, than half of the draws have, or the
    candidate itself: otherwise every uncertain row would become a leaf of its own. The root gets 15
    children at most. Where there are more than 20,000 rows the nearest draw is the answer.

    Parameters
    ----------
    candidates : sequence of Partition
        Draws to begin from.
    draws : sequence of Partition
        The draws to be near to, at least one.
    n_levels : int
        Level of the leaves.
    rng : numpy.random.Generator
        For the order of rows and nodes.
    """
    losses = expected_losses(candidates, draws, n_levels)
    total = losses.sum(axis=1)
    draw = int(total.argmin())
    nearest = Nearest(candidates[draw], float(total[draw]), draw, is_draw=True)
    if len(draws[0].leaf) > MOST_ROWS:
        return nearest
    found = _searched(candidates, losses, draws, n_levels, rng)
    loss = float(expected_losses([found], draws, n_levels).sum())
    return Nearest(found, loss, draw, is_draw=False) if loss < nearest.loss else nearest


def _searched(
    candidates: Sequence[Partition],
    losses: NDArray[np.float64],
    draws: Sequence[Partition],
    n_levels: int,
    rng: np.random.Generator,
) -> Partition:
    """The best of a few candidates after their components and trees were improved."""
    others, levels = compared(draws), list(range(1, n_levels + 1))
    nearest = int(losses.sum(axis=1).argmin())

    def starts_of(levels: Sequence[int | None], losses: NDArray[np.float64]):
        theirs = [[labels_of(one, at, n_levels) for one in others] for at in levels]
        order = [nearest, *(i for i in np.argsort(losses, kind="stable") if i != nearest)]
        chosen = [candidates[i] for i in order[: _n_starts(theirs)]]
        return [[labels_of(one, at, n_levels) for at in levels] for one in chosen], theirs

    if all(_has_components_in_leaves(one) for one in (*others, *candidates)):
        whole = _best_tree(*starts_of([*levels, None], losses.sum(axis=1)), rng)
        return partition_of(whole[:-1], whole[-1])
    components = _best_of(*starts_of([None], losses[:, 0]), rng)
    return partition_of(_best_tree(*starts_of(levels, losses[:, 1]), rng), components[0])


def _has_components_in_leaves(partition: Partition) -> bool:
    """Whether all rows of a component are in one leaf, for every component."""
    leaf = np.zeros(int(partition.component.max()) + 1, dtype=partition.leaf.dtype)
    leaf[partition.component] = partition.leaf
    return bool((leaf[partition.component] == partition.leaf).all())


def partition_of(levels: Sequence[Labels], component: Labels) -> Partition:
    """The partition whose nodes are the groups of each level's labels.

    Parameters
    ----------
    levels : sequence of (n,) arrays
        Labels of levels 1, 2, ..., each within the one before.
    component : (n,) array
        Labels of the components.
    """
    nodes, parents, n_nodes = np.zeros(len(component), dtype=np.int32), [np.array([-1])], 1
    for labels in levels:
        kinds, own = np.unique(labels, return_inverse=True)
        parents.append(np.zeros(len(kinds), dtype=np.int64))
        parents[-1][own] = nodes  # the same for all rows of a group
        nodes = (own + n_nodes).astype(np.int32)
        n_nodes += len(kinds)
    own = np.unique(component, return_inverse=True)[1].astype(np.int32)
    return Partition(nodes, own, np.concatenate(parents).astype(np.int32))


def improved(
    start: Sequence[Labels],
    draws: Sequence[Sequence[Labels]],
    rng: np.random.Generator,
    weight: float = 1.0,
    most: int | None = None,
) -> list[NDArray[np.int32]]:
    """Nested labels whose VI to the draws, summed over levels, is no higher than that of `start`.

    In every round rows, then nodes, in random order, go where the sum falls most: to a node that
    exists, or on a new branch.

    Parameters
    ----------
    start : sequence of (n,) arrays
        Labels of each level, from coarse to fine, each within the one before.
    draws : sequence of sequences of (n,) arrays
        For every level the labels of the draws.
    rng : numpy.random.Generator
        For the order.
    weight : float, default=1.0
        A of the generalised VI: that is what is no higher.
    most : int, optional
        The first level gets no more nodes, if it has no more.
    """
    from bhmc.posterior.kernels.relocation import sweep  # the cache on disk is looked up here

    tables, n, leaves = tables_of(start, draws, weight), len(start[0]), len(start)
    if most is not None:
        tables.most[1] = min(tables.most[1], most)
    blocks = [(leaves + 1, leaves)]
    blocks += [(level, depth) for level in range(1, leaves + 1) for depth in (level - 1, level)]
    for _ in range(_MOST_ROUNDS):
        gained = 0.0
        for level, depth in blocks:
            if depth:
                rows = rng.permutation(n)
                if level <= leaves:  # nodes in random order
                    rows = np.argsort(rows[tables.node[level]], kind="stable")
                gained += sweep(tables, rows, level, depth)
        if gained < _LEAST_GAIN * n * leaves:
            break
    return list(tables.node[1:])


def tables_of(
    start: Sequence[Labels], draws: Sequence[Sequence[Labels]], weight: float = 1.0
) -> Tables:
    """The tables of a search at its start; parameters as in `improved`."""
    from bhmc.posterior.kernels.tables import Tables

    shape = (len(start) + 1, len(start[0]))
    node, parent = np.zeros((2, *shape), dtype=np.int32)
    n_nodes = np.ones(shape[0], dtype=np.int64)
    for level, labels in enumerate(start, start=1):
        kinds, node[level] = np.unique(labels, return_inverse=True)
        parent[level, node[level]] = node[level - 1]
        n_nodes[level] = len(kinds)
    slots = np.tile(np.arange(shape[1], dtype=np.int32), (shape[0], 1))
    cluster, sizes, typical = _clusters(draws)
    first = np.cumsum(sizes) - sizes
    used, met, both = _lists(cluster, node, first)
    moving, touched = np.zeros((2, len(sizes)), dtype=np.int32)
    return Tables(
        node=node,
        parent=parent,
        size=np.stack([np.bincount(one, minlength=shape[1]) for one in node]).astype(np.int32),
        slots=slots,
        place=slots.copy(),
        n_nodes=n_nodes,
        most=typical,
        cluster=cluster,
        first=first,
        used=used,
        met=met,
        both=both,
        moving=moving,
        touched=touched,
        candidates=np.zeros(shape, dtype=np.int32),
        n_candidates=np.ones(shape[0], dtype=np.int64),
        is_candidate=np.zeros(shape, dtype=bool),
        cost=np.zeros(shape),
        chosen=np.zeros(shape[0], dtype=np.int32),
        f=_x_log_x(shape[1]),
        size_cost=weight * _x_log_x(shape[1]),
    )


def _lists(
    cluster: NDArray[np.int32], node: NDArray[np.int32], first: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
    """`used`, `met` and `both` of `Tables`, counted."""
    n = node.shape[1]
    pairs = cluster[1:].astype(np.int64) * n + node[1:, :, None]
    met, both = np.zeros((2, pairs.size), dtype=np.int32)
    kinds, counts = np.unique(pairs, return_counts=True)
    q, z = np.divmod(kinds, n)
    used = np.bincount(q, minlength=len(first))
    place = first[q] + np.arange(len(q)) - (np.cumsum(used) - used)[q]
    met[place], both[place] = z, counts
    return used.astype(np.int32), met, both


def _best_of(
    starts: Sequence[Sequence[Labels]], draws: Sequence[Sequence[Labels]], rng: np.random.Generator
) -> list[NDArray[np.int32]]:
    """The best of all starts after they were improved; parameters as in `improved`."""
    found = [improved(one, draws, rng) for one in starts]
    return found[int(np.argmin([_loss(one, draws) for one in found]))]


def _best_tree(
    starts: Sequence[Sequence[Labels]], draws: Sequence[Sequence[Labels]], rng: np.random.Generator
) -> list[NDArray[np.int32]]:
    """The same for trees: the first start with every A, the others with the last.

    The best tree of those that have not collapsed; of all, where all have.
    """
    starts = [_few_children(one, draws[0]) for one in starts]
    tries = [(starts[0], weight) for weight in _WEIGHTS]
    tries += [(one, _WEIGHTS[-1]) for one in starts[1:]]
    found = [improved(one, draws, rng, weight, _MOST_CHILDREN) for one, weight in tries]
    typical = [_typical_number(theirs) for theirs in draws]
    typical[0] = min(typical[0], _MOST_CHILDREN)
    whole = [one for one in found if _has_not_collapsed(one, typical)]
    return min(whole or found, key=lambda one: _loss(one, draws))


def _loss(levels: Sequence[Labels], draws: Sequence[Sequence[Labels]]) -> float:
    """The expected VI, summed over levels."""
    pairs = zip(levels, draws, strict=True)
    return sum(float(expected_vi([ours], theirs)[0]) for ours, theirs in pairs)


def _typical_number(draws: Sequence[Labels]) -> int:
    """How many groups the median draw has."""
    return int(np.median([len(np.unique(one)) for one in draws]))


def _has_not_collapsed(levels: Sequence[Labels], typical: Sequence[int]) -> bool:
    least = [max(_LEAST_SHARE * number, min(number, 2)) for number in typical]
    pairs = zip(levels, least, strict=True)
    return all(len(np.unique(ours)) >= number for ours, number in pairs)


def _few_children(levels: Sequence[Labels], draws: Sequence[Labels]) -> list[Labels]:
    """The levels with at most 15 nodes in the first: the smallest joins that with which its rows
    share most clusters of the draws, a pair of rows counting as one, and so on.
    """
    kinds, top = np.unique(levels[0], return_inverse=True)
    if len(kinds) <= _MOST_CHILDREN:
        return list(levels)
    counts = np.hstack([_crossed(top, one) for one in draws]).astype(float)
    sizes = np.bincount(top).astype(float)
    while (sizes > 0).sum() > _MOST_CHILDREN:
        least = int(np.where(sizes > 0, sizes, np.inf).argmin())
        shared = (counts @ counts[least]) / np.maximum(sizes, 1)
        shared[[least, *np.flatnonzero(sizes == 0)]] = -1.0
        into = int(shared.argmax())
        counts[into] += counts[least]
        sizes[into] += sizes[least]
        counts[least], sizes[least] = 0.0, 0.0
        top[top == least] = into
    return [top, *levels[1:]]


def _crossed(ours: Labels, theirs: Labels) -> NDArray[np.int64]:
    """(our groups, their groups) how many rows are in both."""
    n_theirs = int(theirs.max()) + 1
    pairs = ours.astype(np.int64) * n_theirs + theirs
    return np.bincount(pairs, minlength=(int(ours.max()) + 1) * n_theirs).reshape(-1, n_theirs)


def _n_starts(draws: Sequence[Sequence[Labels]]) -> int:
    entries = len(draws) * len(draws[0]) * len(draws[0][0])
    return int(np.clip(_MOST_ENTRIES // entries, 1, _MOST_STARTS))


def _clusters(
    draws: Sequence[Sequence[Labels]],
) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64]]:
    """Clusters of all levels and draws, numbered in turn.

    (L + 1, n, T) that of each row; the sizes of all; (L + 1,) how many the median draw has.
    """
    n, n_draws = len(draws[0][0]), len(draws[0])
    cluster = np.zeros((len(draws) + 1, n, n_draws), dtype=np.int32)
    typical = np.ones(len(draws) + 1, dtype=np.int64)
    sizes: list[NDArray[np.int64]] = []
    n_clusters = 0
    for level, labels in enumerate(draws, start=1):
        for t, one in enumerate(labels):
            _, own, counts = np.unique(one, return_inverse=True, return_counts=True)
            cluster[level, :, t] = own + n_clusters
            n_clusters += len(counts)
            sizes.append(counts)
        typical[level] = int(np.median([len(counts) for counts in sizes[-n_draws:]]))
    return cluster, np.concatenate(sizes), typical


def _x_log_x(n: int) -> NDArray[np.float64]:
    x = np.arange(n + 1.0)
    x[1:] *= np.log(x[1:])
    return x
