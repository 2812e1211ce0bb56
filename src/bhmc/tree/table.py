"""The nodes of a tree as a table, and what sets a node apart from the rest of the data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from bhmc.tree.node_words import words_of

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


def node_table(tree: Tree, n_features: int) -> dict[str, NDArray[Any]]:
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
    Words are compared with the node's siblings: see `node_words`. Where there are words and other
    columns, words fill the first half of the places.
    """
    if tree.component_means is None or tree.feature_means is None or tree.feature_scales is None:
        raise ValueError(
            "features cannot be described: this tree does not carry component_means, "
            "feature_means and feature_scales, as the tree_ of a fitted BHMC does."
        )
    counts = tree._counts
    shape = (tree.n_nodes, tree.n_components)
    table = sparse.csr_array((counts.size, counts.component, counts.first), shape)
    d = tree.component_means.shape[1]
    words = np.zeros(d, dtype=bool) if tree.is_word is None else tree.is_word
    others, words = np.flatnonzero(~words), np.flatnonzero(words)
    n_words = 0 if not len(words) else -(-n // 2) if len(others) else n
    found = [np.zeros((len(nodes), 0))], [np.zeros((len(nodes), 0))]
    step = max(1, _BLOCK // max(1, d))
    blocks = [nodes[start : start + step] for start in range(0, len(nodes), step)]
    for chosen, most in ((words, n_words), (others, n - n_words)):
        if not len(chosen) or not most:
            continue
        parts = [_of_columns(tree, table, chosen, block, most) for block in blocks]
        for side, part in zip(found, zip(*parts, strict=True), strict=True):
            side.append(np.vstack(part))
    columns, values = (np.hstack(side) for side in found)
    return columns.astype(np.int64), values


def _of_columns(
    tree: Tree, table: sparse.csr_array, chosen: NDArray[Any], nodes: NDArray[Any], n: int
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Numbers and values of the n most telling of some columns, all words or none."""
    assert tree.component_means is not None
    means = tree.component_means[:, chosen]
    if tree.is_word is not None and tree.is_word[chosen[0]]:
        order, values = words_of(tree, table, means, nodes, n)
        return chosen[order], values
    assert tree.feature_means is not None
    assert tree.feature_scales is not None
    known = ~np.isnan(means)
    part = table[nodes]
    # A component whose entries are all missing in a column does not count in that column.
    weight = part @ known.astype(float)
    with np.errstate(invalid="ignore", divide="ignore"):
        z = (part @ np.where(known, means, 0.0)) / weight - tree.feature_means[chosen]
        z /= tree.feature_scales[chosen]
    order, values = _largest(z, min(n, len(chosen)))
    return chosen[order], values


def named_features(tree: Tree, node: int, n: int) -> list[tuple[str, float]]:
    """The names of the n columns in which a node differs most, and by how much."""
    columns, z = top_features(tree, np.array([node]), n)
    return [
        (feature_name(tree, j), value)
        for j, value in zip(columns[0].tolist(), z[0].tolist(), strict=True)
        if value or tree.is_word is None or not tree.is_word[j]
    ]


def _largest(values: NDArray[np.float64], n: int) -> tuple[NDArray[Any], NDArray[Any]]:
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
