"""A tree as a linkage of SciPy, which knows merges of two only."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from bhmc.tree import Tree


def linkage(tree: Tree) -> NDArray[np.float64]:
    """The matrix of `Tree.to_linkage`."""
    n = len(tree.paths)
    sizes = [1] * n  # of each cluster; merge i makes cluster n + i
    merges: list[tuple[int, int, int, int]] = []
    cluster = [0] * tree.n_nodes
    for node in np.lexsort((np.arange(tree.n_nodes), -tree.levels)).tolist():  # leaves first
        level = int(tree.levels[node])
        if level == tree.n_levels:
            parts = tree.members(node).tolist()
        else:
            parts = [cluster[child] for child in tree._index.children_of(node).tolist()]
        # Neighbours in pairs, then pairs of pairs: the depth stays small, for SciPy's own drawing
        # is recursive.
        while len(parts) > 1:
            paired = []
            for left, right in zip(parts[::2], parts[1::2], strict=False):
                paired.append(n + len(merges))
                sizes.append(sizes[left] + sizes[right])
                merges.append((left, right, tree.n_levels + 1 - level, sizes[-1]))
            parts = paired + parts[2 * len(paired) :]
        cluster[node] = parts[0]
    return np.array(merges, dtype=np.float64).reshape(n - 1, 4)
