"""Where items are in posterior draws, in the words of the tree that is shown."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bhmc._explorer.container import Arrays, floats
from bhmc._explorer.shown import Shown
from bhmc.model.state import Partition
from bhmc.posterior.draws import Draws
from bhmc.posterior.summary import evenly_spaced, labels_of
from bhmc.tree import Tree

# Draws and items that can be played; draws that second-best places are counted in.
MOST_DRAWS, MOST_ITEMS, _MOST_COUNTED = 30, 1_500, 100
# A node of a draw whose best Jaccard index is lower is like no node of the tree.
_LEAST_MATCH = 0.1
# Pairs of groups are counted in a full table if it has no more cells than this times the rows.
_FEW_CELLS = 8


class Second(NamedTuple):
    """Where each item is if it is not in its own leaf."""

    node: NDArray[np.int64]
    """The leaf of the tree where it is most often then, -1 if it is nowhere else."""
    share: NDArray[np.float64]
    """In which share of the draws."""
    own: NDArray[np.float64]
    """In which share of the draws it is in its own leaf."""


def draw_arrays(shown: Shown, draws: Draws, rows: NDArray[np.int64], items: NDArray) -> Arrays:
    """The draws that can be played, for some items.

    Parameters
    ----------
    shown : Shown
        The nodes of the tree that are in the page.
    draws : Draws
        Draws with partitions.
    rows : array of int
        The rows that are in the page.
    items : array of int
        The items (places in `rows`) that can be played.
    """
    which = evenly_spaced(len(draws.partitions), MOST_DRAWS)
    n_levels = draws.n_levels
    shape = (len(which), len(items), n_levels + 1)
    match, group = np.full(shape, -1, dtype="<i4"), np.zeros(shape, dtype="<u2")
    for t, one in enumerate(which.tolist()):
        draw = draws.partitions[one]
        for level in range(1, n_levels + 1):
            nodes = draw.nodes_at(level, n_levels)
            best = _places(shown, best_matches(nodes, shown.tree.paths[:, level]))
            match[t, :, level - 1] = best[nodes[rows[items]]]
            group[t, :, level - 1] = _numbered(nodes[rows[items]])
        if len(draw.component):
            group[t, :, -1] = _numbered(labels_of(draw, None, n_levels)[rows[items]])
    return {
        "draws.items": items.astype("<i4"),
        "draws.chain": draws.partition_index[which, 0].astype("<u2"),
        "draws.match": match,
        "draws.group": group,
    }


def best_matches(theirs: NDArray, ours: NDArray) -> NDArray[np.int64]:
    """(most of `theirs` + 1,) our group that is most like each of theirs, by the Jaccard index.

    It is -1 where none is like it. Of equals it is the lowest.

    Parameters
    ----------
    theirs, ours : (n,) arrays
        Groups of the same rows: whole numbers, none below 0.
    """
    size_a, size_b = np.bincount(theirs), np.bincount(ours)
    pairs = theirs.astype(np.int64) * len(size_b) + ours
    if len(size_a) * len(size_b) <= _FEW_CELLS * len(pairs):
        counts = np.bincount(pairs)  # several times quicker than sorting
        pairs = np.flatnonzero(counts)
        both = counts[pairs]
    else:
        pairs, both = np.unique(pairs, return_counts=True)
    a, b = np.divmod(pairs, len(size_b))
    jaccard = both / (size_a[a] + size_b[b] - both)
    best = np.full(len(size_a), -1, dtype=np.int64)
    order = np.lexsort((-b, jaccard))  # the last one that is put at a place stays there
    order = order[jaccard[order] >= _LEAST_MATCH]
    best[a[order]] = b[order]
    return best


def second_places(tree: Tree, draws: Draws, rows: NDArray[np.int64]) -> Second:
    """The leaf, beside its own, in which each row is most often.

    In a draw a row is in the leaf of the tree that is most like its leaf of the draw.

    Parameters
    ----------
    tree : Tree
        The tree that is shown.
    draws : Draws
        Draws with partitions.
    rows : array of int
        Row numbers.
    """
    own = tree.paths[:, -1]
    counted = evenly_spaced(len(draws.partitions), _MOST_COUNTED).tolist()
    found = np.stack([_leaf_in(draws.partitions[one], own, rows) for one in counted])
    here = found == own[rows]
    elsewhere = (found >= 0) & ~here
    item = np.broadcast_to(np.arange(len(rows)), found.shape)[elsewhere]
    pairs, times = np.unique(item * tree.n_nodes + found[elsewhere], return_counts=True)
    node, share = np.full(len(rows), -1), np.zeros(len(rows))
    order = np.lexsort((-pairs, times))  # of equals the lowest node, which is put last
    of = pairs[order] // tree.n_nodes
    node[of], share[of] = pairs[order] % tree.n_nodes, times[order] / len(counted)
    return Second(node, share, here.mean(axis=0))


def second_arrays(shown: Shown, found: Second) -> Arrays:
    """The second-best places of items.

    Parameters
    ----------
    shown : Shown
        The nodes of the tree that are in the page.
    found : Second
        The places.
    """
    return {
        "items.second": _places(shown, found.node).astype("<i4"),
        "items.second_share": floats(found.share),
        "items.own_share": floats(found.own),
    }


def _places(shown: Shown, nodes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Places of nodes in the page; -1 stays -1."""
    return np.where(nodes < 0, -1, shown.place[nodes])


def _leaf_in(draw: Partition, own: NDArray, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    return best_matches(draw.leaf, own)[draw.leaf[rows]]


def _numbered(labels: NDArray) -> NDArray[np.int64]:
    """Labels as 0, 1, ... without gaps."""
    return np.unique(labels, return_inverse=True)[1]
