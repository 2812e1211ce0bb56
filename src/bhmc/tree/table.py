"""The nodes of a tree as a table, and what sets a node apart from the rest of the data."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

if TYPE_CHECKING:
    from bhmc.tree import Tree

# Entries of (nodes, features) that are in memory at once.
_BLOCK = 4_000_000
# Smaller differences, which would read +0.0, are not shown.
_LEAST_SHOWN = 0.05


def knows_features(tree: Tree) -> bool:
    """Whether the tree carries what features are described from."""
    parts = (tree.component_means, tree.feature_means, tree.feature_scales)
    return all(part is not None for part in parts)


def node_table(tree: Tree, n_features: int) -> dict[str, NDArray]:
    """The columns of `Tree.nodes`."""
    counts = tree._counts
    unknown = np.full(tree.n_nodes, np.nan)
    texts = np.full(tree.n_nodes, "", dtype=object)
    if n_features and knows_features(tree):
        texts[:] = feature_texts(tree, n_features)
    table = {
        "id": np.arange(tree.n_nodes),
        **({} if tree.node_names is None else {"name": tree.node_names.astype(object)}),
        "parent": tree.parents.copy(),
        "level": tree.levels.copy(),
        "label": np.arange(tree.n_nodes) - np.searchsorted(tree.levels, tree.levels),
        "size": tree.sizes.copy(),
        "support": unknown if tree.support is None else tree.support.copy(),
        "exact_support": unknown if tree.exact_support is None else tree.exact_support.copy(),
        "n_components": np.diff(counts.first),
        "main_component": counts.component[counts.first[:-1]],
        "main_share": counts.size[counts.first[:-1]] / tree.sizes,
        "features": texts,
    }
    if tree.merged is not None:
        table["merged"] = tree.merged.copy()
    if tree.heights is not None:
        table["height"] = tree.heights.copy()
    return table


def height_text(tree: Tree, node: int) -> str:
    """The height of a node with three digits, as `1,230`; empty where it is 0 or not known."""
    if tree.heights is None or tree.heights[node] == 0:
        return ""
    height = float(tree.heights[node])
    return f"{float(f'{height:.3g}'):,.0f}" if abs(height) >= 100 else f"{height:.3g}"


def top_features(
    tree: Tree, nodes: NDArray[np.int64], n: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The n columns in which each node differs most, and by how much: (nodes, n) twice.

    The difference is of the node's mean from that of all data, in standard deviations of all data.
    """
    if tree.component_means is None or tree.feature_means is None or tree.feature_scales is None:
        raise ValueError(
            "features cannot be described: this tree does not carry component_means, "
            "feature_means and feature_scales, as the tree_ of a fitted BHMC does."
        )
    counts = tree._counts
    shape = (tree.n_nodes, tree.n_components)
    table = sparse.csr_array((counts.size, counts.component, counts.first), shape)
    known = ~np.isnan(tree.component_means)
    means = np.where(known, tree.component_means, 0.0)
    n = min(n, means.shape[1])
    columns = np.zeros((len(nodes), n), dtype=np.int64)
    z = np.zeros((len(nodes), n))
    step = max(1, _BLOCK // max(1, means.shape[1]))
    for start in range(0, len(nodes), step):
        block = slice(start, start + step)
        part = table[nodes[block]]
        # A component whose entries are all missing in a column does not count in that column.
        weight = part @ known.astype(float)
        with np.errstate(invalid="ignore", divide="ignore"):
            all_z = ((part @ means) / weight - tree.feature_means) / tree.feature_scales
        columns[block], z[block] = _largest(all_z, n)
    return columns, z


def named_features(tree: Tree, node: int, n: int) -> list[tuple[str, float]]:
    """The names of the n columns in which a node differs most, and by how much."""
    columns, z = top_features(tree, np.array([node]), n)
    return [
        (feature_name(tree, j), value)
        for j, value in zip(columns[0].tolist(), z[0].tolist(), strict=True)
    ]


def _largest(values: NDArray[np.float64], n: int) -> tuple[NDArray, NDArray]:
    """Columns and values of the n largest magnitudes of each row; NaN counts as 0."""
    values = np.nan_to_num(values)
    left = np.abs(values)
    every = np.arange(len(values))
    columns = np.zeros((len(values), n), dtype=np.int64)
    for i in range(n):  # n is small: sorting whole rows would cost more
        columns[:, i] = left.argmax(axis=1)  # the first of equals
        left[every, columns[:, i]] = -1
    return columns, np.take_along_axis(values, columns, axis=1)


def feature_name(tree: Tree, column: int) -> str:
    """The column's name, or x and its number."""
    return f"x{column}" if tree.feature_names is None else str(tree.feature_names[column])


def feature_texts(tree: Tree, n: int, nodes: NDArray[np.int64] | None = None) -> list[str]:
    """For every node, or for some, a text such as "feathers +2.1, eggs +1.0"."""
    columns, z = top_features(tree, np.arange(tree.n_nodes) if nodes is None else nodes, n)
    return [
        ", ".join(
            f"{feature_name(tree, j)} {value:+.1f}"
            for j, value in zip(row, values, strict=True)
            if abs(value) >= _LEAST_SHOWN
        )
        for row, values in zip(columns.tolist(), z.tolist(), strict=True)
    ]
