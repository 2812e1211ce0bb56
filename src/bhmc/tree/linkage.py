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
    merges: list[tuple[int, int, float, int]] = []
    cluster = [0] * tree.n_nodes
    heights = tree.n_levels + 1.0 - tree.levels if tree.heights is None else tree.heights
    # Lower nodes first, because SciPy reads merges in order of height; of one height leaves first.
    for node in np.lexsort((np.arange(tree.n_nodes), -tree.levels, heights)).tolist():
        level, height = int(tree.levels[node]), float(heights[node])
        if level == tree.n_levels:
            parts = tree.members(node).tolist()
        else:
            parts = [cluster[child] for child in tree._index.children_of(node).tolist()]
        # Neighbours in pairs, then pairs of pairs: the depth stays small, because SciPy draws by
        # recursion.
        while len(parts) > 1:
            paired = []
            for left, right in zip(parts[::2], parts[1::2], strict=False):
                paired.append(n + len(merges))
                sizes.append(sizes[left] + sizes[right])
                merges.append((left, right, height, sizes[-1]))
            parts = paired + parts[2 * len(paired) :]
        cluster[node] = parts[0]
    return np.array(merges, dtype=np.float64).reshape(n - 1, 4)
