"""Two ways to make a tree flat, so that it can be compared with one level of true classes."""

import heapq

import numpy as np
from numpy.typing import NDArray

from bhmc._checks import check_whole
from bhmc.tree import Tree


def cut_by_depth(tree: Tree, level: int) -> NDArray[np.int32]:
    """(n,) the node of each datum `level` steps below the root, the paper's way to compare levels.

    Below its last level a tree goes on with its leaves. Trees of many splits in two reach few
    clusters so, and bushy ones many: numbers of clusters differ, and `purity` and `nmi` with them.
    """
    return tree.labels_at(min(check_whole(level, "level", 0), tree.n_levels))


def cut_matched(tree: Tree, n_clusters: int) -> NDArray[np.int32]:
    """(n,) labels of a cut into exactly `n_clusters`, so that trees compare like with like.

    From the root down nodes are split into their children: the highest first where the tree knows
    heights, otherwise those of an upper level before those below, of one level the largest first.
    A node with more children than there are clusters left to make gives its largest ones and keeps
    the rest together. A tree with fewer leaves gives its leaves.
    """
    n_clusters = check_whole(n_clusters, "n_clusters", 1)
    index, rank = tree._index, _order_of_splits(tree)
    n_children = np.diff(index.first_child)
    nodes = np.zeros(len(tree.paths), dtype=np.int64)  # of each datum, in the order of the leaves
    splits, n = [(int(rank[0]), 0)], 1
    while splits and n < n_clusters:
        node = heapq.heappop(splits)[1]
        children = index.children_of(node)
        if n + len(children) - 1 > n_clusters:  # those not taken stay behind as a cluster
            largest_first = np.argsort(-tree.sizes[children], kind="stable")
            children = children[largest_first[: n_clusters - n]]
        n = min(n + int(n_children[node]) - 1, n_clusters)
        for child in children.tolist():
            first = index.first_row[child]
            nodes[first : first + tree.sizes[child]] = child
            if n_children[child]:
                heapq.heappush(splits, (int(rank[child]), child))
    return _in_order(nodes, index.rows)


def _order_of_splits(tree: Tree) -> NDArray[np.int64]:
    """(n_nodes,) which node is split before which; never a child before its parent."""
    first = tree.levels if tree.heights is None else -tree.heights
    rank = np.empty(tree.n_nodes, dtype=np.int64)
    rank[np.lexsort((-tree.sizes, tree.levels, first))] = np.arange(tree.n_nodes)
    return rank


def _in_order(nodes: NDArray[np.int64], rows: NDArray[np.int64]) -> NDArray[np.int32]:
    """Labels 0, 1, ... in the order of the tree, from the node of each place in it.

    What a split left behind may lie on both sides of another cluster: it has one label.
    """
    kinds, first, label = np.unique(nodes, return_index=True, return_inverse=True)
    rank = np.empty(len(kinds), dtype=np.int32)
    rank[np.argsort(first)] = np.arange(len(kinds))
    labels = np.empty(len(rows), dtype=np.int32)
    labels[rows] = rank[label]
    return labels
