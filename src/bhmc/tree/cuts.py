"""Flat clusterings cut from a tree, and smaller trees."""

from __future__ import annotations

import heapq
import warnings
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bhmc.tree.consensus import supported
from bhmc.tree.index import inverse, order_nodes

if TYPE_CHECKING:
    from bhmc.tree import Tree


def cut_into(tree: Tree, n_clusters: int) -> NDArray[np.int32]:
    """Labels of a cut into `n_clusters`, or into the leaves where there are fewer; see `Tree.cut`.

    A node with more children than there are clusters left to make gives its largest children, and
    the others stay together.

    Parameters
    ----------
    tree : Tree
        The tree of n data.
    n_clusters : int
        Clusters wanted, at least 1.
    """
    index = tree._index
    # Without heights all nodes are equally high, and the level decides.
    heights = np.zeros(tree.n_nodes) if tree.heights is None else tree.heights
    nodes = np.zeros(len(tree.paths), dtype=np.int64)  # of each datum, in the order of the leaves
    splits: list[tuple[float, int, int, int]] = []

    def consider(node: int) -> None:
        """Put the node in the queue of splits; an only child is a split that always fits."""
        if len(index.children_of(node)):
            key = (-float(heights[node]), int(tree.levels[node]), -int(tree.sizes[node]), node)
            heapq.heappush(splits, key)

    consider(0)
    n = 1
    while splits and n < n_clusters:
        children = index.children_of(heapq.heappop(splits)[-1])
        more = len(children) - 1
        if n + more > n_clusters:
            more = n_clusters - n
            children = children[np.argsort(-tree.sizes[children], kind="stable")[:more]]
        n += more
        for child in children.tolist():
            first = index.first_row[child]
            nodes[first : first + tree.sizes[child]] = child
            consider(child)
    return _in_order(nodes, index.rows)


def warn_of_few_leaves(tree: Tree, n_clusters: int, stacklevel: int) -> None:
    """Warn that a tree has fewer leaves than clusters are wanted."""
    if n_clusters > tree.n_leaves:
        leaves = "1 leaf" if tree.n_leaves == 1 else f"{tree.n_leaves:,} leaves"
        warnings.warn(
            f"cut gives {tree.n_leaves:,} of the {n_clusters:,} clusters wanted, because the tree "
            f"has only {leaves}.",
            stacklevel=stacklevel + 1,
        )


def _in_order(nodes: NDArray[np.int64], rows: NDArray[np.int64]) -> NDArray[np.int32]:
    """Labels 0, 1, ... in the order of the tree, from the node of each place in it.

    What a split left behind may lie on both sides of another cluster: it has one label.
    """
    _, first, label = np.unique(nodes, return_index=True, return_inverse=True)
    labels = np.empty(len(rows), dtype=np.int32)
    labels[rows] = inverse(np.argsort(first))[label]
    return labels


def cut_supported(tree: Tree, min_support: float) -> NDArray[np.int32]:
    """Labels by the deepest node of each row that has the support; see `Tree.cut`."""
    enough = supported(tree, min_support)[tree.paths]
    depth = tree.n_levels - enough[:, ::-1].argmax(axis=1)
    deepest = np.take_along_axis(tree.paths, depth[:, None], axis=1)[:, 0]
    nodes, labels = np.unique(deepest, return_inverse=True)
    order = np.lexsort((tree.levels[nodes], tree._index.first_row[nodes]))
    return inverse(order)[labels]


def pruned_fields(tree: Tree, min_size: int) -> dict[str, Any]:
    """The fields of `tree` that change where small siblings are put together; see `Tree.prune`."""
    group = _groups(tree, min_size)
    n_groups = int(group.max()) + 1
    sizes = _sums(group, tree.sizes, n_groups)
    levels = np.empty(n_groups, dtype=np.int64)
    levels[group] = tree.levels
    parents = np.full(n_groups, -1, dtype=np.int64)
    parents[group[1:]] = group[tree.parents[1:]]
    paths = group[tree.paths]
    order = order_nodes(paths, parents, levels, sizes)
    new_id = inverse(order)

    merged = np.ones(tree.n_nodes, dtype=np.int64) if tree.merged is None else tree.merged
    changed: dict[str, Any] = {
        "parents": np.append(-1, new_id[parents[order[1:]]]).astype(np.int64),
        "levels": levels[order],
        "sizes": sizes[order],
        "weights": _mean_weights(tree, group, sizes)[order],
        "paths": new_id[paths],
        "merged": _sums(group, merged, n_groups)[order],
    }
    same = tree.sizes == sizes[group]  # nodes that keep their data
    if tree.node_names is not None:
        names = np.full(n_groups, "", dtype=tree.node_names.dtype)
        names[group[same]] = tree.node_names[same]
        changed["node_names"] = names[order]
    for name in ("support", "exact_support"):
        if (support := getattr(tree, name)) is not None:
            kept = np.full(n_groups, np.nan)
            kept[group[same]] = support[same]
            changed[name] = _handed_down(kept[order], changed)
    if tree.locations is not None:
        places = np.full((n_groups, tree.locations.shape[1]), np.nan)
        places[group[same]] = tree.locations[same]
        changed["locations"] = places[order]
    if tree.heights is not None:
        changed["heights"] = _pruned_heights(tree.heights, group, parents)[order]
    return changed


def _groups(tree: Tree, min_size: int) -> NDArray[np.int64]:
    """(n_nodes,) which nodes become one: 0, 1, ... in order of level, the root 0."""
    group = np.zeros(tree.n_nodes, dtype=np.int64)
    ends = np.searchsorted(tree.levels, np.arange(1, tree.n_levels + 2))
    n_groups = 1
    for start, end in pairwise(ends):
        nodes = np.arange(start, end)
        small = tree.sizes[nodes] < min_size
        # Small siblings share a key. Children of a rest are all small, so a rest is a chain below.
        keys = np.where(small, -1 - group[tree.parents[nodes]], nodes)
        kinds, labels = np.unique(keys, return_inverse=True)
        group[nodes] = n_groups + labels
        n_groups += len(kinds)
    return group


def _pruned_heights(
    heights: NDArray[np.float64], group: NDArray[np.int64], parents: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Nodes keep their heights; data of a rest come together no lower than in its parent."""
    new = np.empty(len(parents))
    new[group] = heights
    for rest in np.flatnonzero(np.bincount(group) > 1).tolist():  # in order of level
        new[rest] = new[parents[rest]]
    return new


def _sums(group: NDArray[Any], values: NDArray[np.int64], n_groups: int) -> NDArray[np.int64]:
    sums = np.zeros(n_groups, dtype=np.int64)
    np.add.at(sums, group, values)
    return sums


def _mean_weights(tree: Tree, group: NDArray[Any], sizes: NDArray[Any]) -> NDArray[np.float64]:
    """Weights of a rest: what its rows have on average, the mean of its nodes' by their sizes."""
    weights = np.zeros((len(sizes), tree.weights.shape[1]))
    share = tree.sizes / sizes[group]  # exactly 1 where a node stays as it was
    np.add.at(weights, group, tree.weights * share[:, None])
    return weights


def _handed_down(support: NDArray[np.float64], tree: dict[str, Any]) -> NDArray[np.float64]:
    """Support of nodes that kept their members; an only child has that of its parent.

    A rest keeps NaN: no draw was asked about its members.
    """
    sizes, parents = tree["sizes"], tree["parents"]
    only = np.flatnonzero(np.isnan(support[1:]) & (sizes[1:] == sizes[parents[1:]])) + 1
    for node in only.tolist():  # in order of level, so that a chain is handed down step by step
        support[node] = support[parents[node]]
    return support
