"""What draws agree on: nodes of enough support, lifted over parents that have too little.

Support of a node says nothing of its parent's: a group that every draw has may sit below a parent
that only this tree has. So a node without support is left out and its children are kept.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bhmc.tree.checks import check_share, known_support
from bhmc.tree.from_parents import Rooted, levelled

if TYPE_CHECKING:
    from bhmc.tree import Tree

Nodes = NDArray[np.int64]


def supported(tree: Tree, min_support: float) -> NDArray[np.bool_]:
    """(n_nodes,) whether a node has the support; the root always has, one not known never."""
    enough = known_support(tree, "min_support") >= check_share(min_support, "min_support")
    enough[0] = True
    return enough


def nearest_above(tree: Tree, shown: NDArray[np.bool_]) -> Nodes:
    """(n_nodes,) the nearest ancestor that is shown, -1 for the root.

    Parameters
    ----------
    tree : Tree
        The tree.
    shown : (n_nodes,) array
        Whether a node is shown; the root is.
    """
    above = tree.parents.copy()
    for level in level_slices(tree)[1:]:
        parents = tree.parents[level]
        above[level] = np.where(shown[parents], parents, above[parents])
    return above


def left_out(tree: Tree, shown: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """(n_nodes,) the uppermost nodes with nothing shown in them: they hold all rows left behind.

    Parameters
    ----------
    tree, shown
        As in `nearest_above`.
    """
    holds = shown.copy()  # the node, or one below it, is shown
    for level in reversed(level_slices(tree)[1:]):
        np.logical_or.at(holds, tree.parents[level], holds[level])
    return ~holds & holds[tree.parents]


def level_slices(tree: Tree) -> list[slice]:
    """The ids of each level."""
    first = np.searchsorted(tree.levels, np.arange(tree.n_levels + 2))
    return [slice(a, b) for a, b in pairwise(first.tolist())]


def without_repeats(tree: Tree, shown: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """(n_nodes,) those shown but for nodes with the same rows as the nearest shown above.

    Parameters
    ----------
    tree, shown
        As in `nearest_above`.
    """
    above = nearest_above(tree, shown)
    return shown & np.append(True, tree.sizes[1:] < tree.sizes[above[1:]])


def consensus_fields(tree: Tree, min_support: float) -> dict[str, Any]:
    """The fields of `tree` that change in `Tree.consensus`."""
    shown = without_repeats(tree, supported(tree, min_support))
    return _fields(tree, shown, nearest_above(tree, shown))


def _fields(tree: Tree, shown: NDArray[np.bool_], above: Nodes) -> dict[str, Any]:
    """Nodes kept come first, then a rest below each node that has rows left behind."""
    kept, out = np.flatnonzero(shown), np.flatnonzero(left_out(tree, shown))
    place = np.full(tree.n_nodes, -1)
    place[kept] = np.arange(len(kept))
    opened = np.zeros(tree.n_nodes, dtype=bool)
    opened[above[kept[1:]]] = True
    out = out[opened[above[out]]]  # else the rows stay in the node itself
    owners, rest = np.unique(above[out], return_inverse=True)
    tip_of = np.where(shown, np.arange(tree.n_nodes), above)[tree.paths[:, -1]]
    tips, rests = place[tip_of], np.full(tree.n_nodes, -1)
    rests[owners] = len(kept) + np.arange(len(owners))
    tips = np.where(rests[tip_of] >= 0, rests[tip_of], tips)
    parents = np.concatenate([[-1], place[above[kept[1:]]], place[owners]]).astype(np.int64)

    made, nodes = levelled(Rooted(parents, tips, None), None)
    carried = _carried(tree, kept, out, rest, above)
    return made | {name: values[nodes] for name, values in carried.items()}


def _carried(tree: Tree, kept: Nodes, out: Nodes, rest: Nodes, above: Nodes) -> dict[str, NDArray]:
    """Weights, supports and heights of the nodes kept, then of the rests.

    `out` are the nodes in the rests, `rest` the number of each one's rest.
    """
    n_rests = int(rest.max(initial=-1)) + 1
    n_put = np.bincount(rest, minlength=n_rests)
    alone = np.flatnonzero(n_put[rest] == 1)  # a rest of one node is that node

    def with_rests(values: NDArray, of_rests: NDArray) -> NDArray:
        of_rests[rest[alone]] = values[out[alone]]
        return np.concatenate([values[kept], of_rests])

    weights = np.zeros((n_rests, tree.weights.shape[1]))
    rows = np.bincount(rest, tree.sizes[out], minlength=n_rests)
    np.add.at(weights, rest, tree.weights[out] * (tree.sizes[out] / rows[rest])[:, None])
    merged = np.ones(tree.n_nodes, dtype=np.int64) if tree.merged is None else tree.merged
    put = np.bincount(rest, merged[out], minlength=n_rests).astype(np.int64)
    found = {
        "weights": with_rests(tree.weights, weights),
        "merged": np.concatenate([merged[kept], put]),
    }
    for name in ("support", "exact_support"):
        if (values := getattr(tree, name)) is not None:
            found[name] = with_rests(values, np.full(n_rests, np.nan))
    if tree.locations is not None:
        nowhere = np.full((n_rests, tree.locations.shape[1]), np.nan)
        found["locations"] = with_rests(tree.locations, nowhere)
    if tree.heights is not None:
        higher = np.zeros(n_rests)
        higher[rest] = tree.heights[above[out]]
        found["heights"] = with_rests(tree.heights, higher)
    return found
