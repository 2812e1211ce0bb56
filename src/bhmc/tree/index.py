"""Where children and members are found: computed once for a tree, then looked up."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

if TYPE_CHECKING:
    from bhmc.tree import Tree


class Index(NamedTuple):
    """Children next to each other, and rows in the order of the leaves, depth first.

    In that order the members of any node are one slice.
    """

    children: NDArray[np.int64]
    """(n_nodes - 1,) node ids, by parent."""
    first_child: NDArray[np.int64]
    """(n_nodes + 1,) the children of z are `children[first_child[z]:first_child[z + 1]]`."""
    rows: NDArray[np.int64]
    """(n,) row numbers, by leaf."""
    first_row: NDArray[np.int64]
    """(n_nodes,) the members of z are `rows[first_row[z]:first_row[z] + sizes[z]]`."""

    def children_of(self, node: int) -> NDArray[np.int64]:
        """Ids of the node's children."""
        return self.children[self.first_child[node] : self.first_child[node + 1]]


class Counts(NamedTuple):
    """How many members of each node each component holds, pairs without members left out."""

    first: NDArray[np.int64]
    """(n_nodes + 1,) the entries of z are `first[z]:first[z + 1]` of the arrays below."""
    component: NDArray[np.int64]
    """Component of each entry; in a node the fullest first, of equals the lowest number."""
    size: NDArray[np.int64]
    """Members of the node in this component."""


def build_index(tree: Tree) -> Index:
    """The index of `tree`."""
    children = np.argsort(tree.parents, kind="stable")[1:]  # the root, of parent -1, comes first
    parents = tree.parents[children]
    first_child = np.searchsorted(parents, np.arange(tree.n_nodes + 1))

    # Members of earlier siblings: a running sum that starts anew with every parent.
    before = np.concatenate([[0], np.cumsum(tree.sizes[children])])[:-1]
    before -= before[first_child[parents]]
    first_row = np.zeros(tree.n_nodes, dtype=np.int64)
    first_row[children] = before
    order = children[np.argsort(tree.levels[children], kind="stable")]
    ends = np.searchsorted(tree.levels[order], np.arange(1, tree.n_levels + 2))
    for start, end in pairwise(ends):
        nodes = order[start:end]
        first_row[nodes] += first_row[tree.parents[nodes]]

    rows = np.argsort(first_row[tree.paths[:, -1]], kind="stable")
    return Index(children, first_child, rows, first_row)


def count_components(tree: Tree) -> Counts:
    """The components among the members of every node."""
    ones = np.ones(len(tree.paths), dtype=np.int64)
    shape = (tree.n_nodes, tree.n_components)
    # First the leaves, where rows collapse to far fewer pairs; then each pair for its ancestors.
    leaves = sparse.coo_array(sparse.csr_array((ones, (tree.paths[:, -1], tree.components)), shape))
    nodes = np.empty((tree.n_levels + 1, leaves.nnz), dtype=np.int64)
    nodes[-1] = leaves.row
    for level in range(tree.n_levels, 0, -1):
        nodes[level - 1] = tree.parents[nodes[level]]
    components = np.broadcast_to(leaves.col, nodes.shape).ravel()
    counts = np.broadcast_to(leaves.data, nodes.shape).ravel()
    table = sparse.coo_array(sparse.csr_array((counts, (nodes.ravel(), components)), shape))
    order = np.lexsort((table.col, -table.data, table.row))
    first = np.searchsorted(table.row[order], np.arange(tree.n_nodes + 1))
    return Counts(first, table.col[order].astype(np.int64), table.data[order])


def order_nodes(
    paths: NDArray[Any], parents: NDArray[Any], levels: NDArray[Any], sizes: NDArray[Any]
) -> NDArray[np.int64]:
    """Node ids in a tree's own order: by level, then parent, larger first, then first member."""
    n, n_columns = paths.shape
    first_member = np.full(len(parents), n)
    for level in range(n_columns):
        np.minimum.at(first_member, paths[:, level], np.arange(n))
    rank = np.zeros(len(parents), dtype=np.int64)
    by_level = np.argsort(levels, kind="stable")
    ends = np.searchsorted(levels[by_level], np.arange(1, n_columns + 1))
    order = [by_level[: ends[0]]]
    for start, end in pairwise(ends):
        nodes = by_level[start:end]
        keys = (first_member[nodes], -sizes[nodes], rank[parents[nodes]])
        nodes = nodes[np.lexsort(keys)]
        rank[nodes] = np.arange(len(nodes))
        order.append(nodes)
    return np.concatenate(order)


def uppermost(parents: NDArray[Any], sizes: NDArray[Any]) -> NDArray[np.int64]:
    """(n_nodes,) the uppermost node of the same rows: an only child has the rows of its parent.

    Parameters
    ----------
    parents : (n_nodes,) array
        Id of each node's parent, which comes before the node.
    sizes : (n_nodes,) array
        Rows under each node.
    """
    top = np.arange(len(parents))
    for node in np.flatnonzero(sizes[1:] == sizes[parents[1:]]) + 1:
        top[node] = top[parents[node]]
    return top


def inverse(order: NDArray[np.int64]) -> NDArray[np.int32]:
    """The place of each number in `order`."""
    places = np.empty(len(order), dtype=np.int32)  # a label for each of many rows: half the memory
    places[order] = np.arange(len(order))
    return places
