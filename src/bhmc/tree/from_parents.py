"""Any rooted tree over the data as the fields of a `Tree`: dendrograms, other programs' trees.

A `Tree` has all leaves at its last level. A branch that ends above it is extended by only children,
each with the same data, so that a cut at any level is a clustering of all data.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bhmc.tree.index import inverse, order_nodes

# Entries of the array of paths, 800 MB: a deeper tree of as many data is refused.
_MOST_ENTRIES = 200_000_000


class Rooted(NamedTuple):
    """A rooted tree as it was given, checked: parents, the tip of each datum, heights."""

    parents: NDArray[np.int64]
    tips: NDArray[np.int64]
    heights: NDArray[np.float64] | None


def check_rooted(parents: ArrayLike, tips: ArrayLike, heights: ArrayLike | None) -> Rooted:
    """The arrays, if they are one rooted tree with data at its tips."""
    above, ends = _whole(parents, "parents"), _whole(tips, "tips")
    n_nodes = len(above)
    roots = np.flatnonzero(above == -1)
    if len(roots) != 1:
        raise ValueError(f"parents must hold -1 once, for the root, got {len(roots)} of them.")
    if above.min() < -1 or above.max() >= n_nodes:
        raise ValueError(f"parents must hold -1 and numbers of nodes below {n_nodes}.")
    if not len(ends):
        raise ValueError("tips must hold a node for each datum, got none.")
    if ends.min() < 0 or ends.max() >= n_nodes:
        raise ValueError(f"tips must hold numbers of nodes below {n_nodes}.")
    if np.isin(ends, above).any():
        raise ValueError("tips must be nodes without children.")
    return Rooted(above, ends, None if heights is None else _heights(heights, above))


def from_linkage(Z: ArrayLike) -> Rooted:
    """The tree of merges of a linkage of SciPy: data first, merge i is node n + i."""
    from scipy.cluster.hierarchy import is_valid_linkage  # slow to import, and seldom needed

    merges = np.asarray(Z, dtype=np.float64)
    is_valid_linkage(merges, throw=True, name="Z")
    n = len(merges) + 1
    parents = np.full(2 * n - 1, -1, dtype=np.int64)
    parents[merges[:, :2].astype(np.int64)] = n + np.arange(n - 1)[:, None]
    return check_rooted(parents, np.arange(n), np.append(np.zeros(n), merges[:, 2]))


def fields_of(rooted: Rooted, max_levels: int | None) -> dict[str, Any]:
    """The fields of a `Tree` with one component, which stands for no mixture."""
    made, nodes = levelled(rooted, max_levels)
    made |= {
        "weights": np.tile([1.0, 0.0], (len(nodes), 1)),
        "components": np.zeros(len(rooted.tips), dtype=np.int32),
        "theta": np.empty((1, 0)),
    }
    if rooted.heights is not None:
        made["heights"] = rooted.heights[nodes]
    return made


def levelled(rooted: Rooted, max_levels: int | None) -> tuple[dict[str, Any], NDArray[np.int64]]:
    """Parents, levels, sizes and paths of a `Tree`; and the node that each of its nodes stands for.

    Parameters
    ----------
    rooted : Rooted
        The tree.
    max_levels : int, optional
        Levels kept below the root.
    """
    depth = _depths(rooted.parents)
    n, n_levels = len(rooted.tips), int(depth[rooted.tips].max())
    n_levels = n_levels if max_levels is None else min(n_levels, max_levels)
    if n * (n_levels + 1) > _MOST_ENTRIES:
        raise ValueError(
            f"a tree of {n} data and {n_levels} levels takes too much memory: leave out its lowest "
            "levels with max_levels."
        )
    paths, parents, levels, nodes = _levels(rooted, depth, n_levels)
    sizes = np.bincount(paths.ravel(), minlength=len(parents)).astype(np.int64)
    order = order_nodes(paths, parents, levels, sizes)
    new_id = inverse(order)
    made: dict[str, Any] = {
        "parents": np.append(-1, new_id[parents[order[1:]]]).astype(np.int64),
        "levels": levels[order],
        "sizes": sizes[order],
        "paths": new_id[paths],
    }
    return made, nodes[order]


def _levels(
    rooted: Rooted, depth: NDArray[np.int64], n_levels: int
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Paths; of the new nodes, level by level, parents, levels and the node each stands for."""
    n = len(rooted.tips)
    old = np.empty((n, n_levels + 1), dtype=np.int64)  # the node of each datum at each level
    at = rooted.tips.copy()
    for _ in range(int(depth[at].max()) - n_levels):  # below max_levels: the ancestor there
        deeper = depth[at] > n_levels
        at[deeper] = rooted.parents[at[deeper]]
    for level in range(n_levels, -1, -1):
        old[:, level] = at
        reached = depth[at] == level
        at[reached & (level > 0)] = rooted.parents[at[reached & (level > 0)]]
    paths = np.empty((n, n_levels + 1), dtype=np.int64)
    parents, nodes, levels = [np.array([-1])], [], []
    n_nodes = 0
    for level in range(n_levels + 1):
        here = np.zeros(len(rooted.parents), dtype=np.int64)
        here[old[:, level]] = 1
        kept = np.flatnonzero(here)
        here[kept] = n_nodes + np.arange(len(kept))
        paths[:, level] = here[old[:, level]]
        if level:
            above = np.empty(len(kept), dtype=np.int64)
            above[paths[:, level] - n_nodes] = paths[:, level - 1]
            parents.append(above)
        nodes.append(kept)
        levels.append(np.full(len(kept), level))
        n_nodes += len(kept)
    return paths, np.concatenate(parents), np.concatenate(levels), np.concatenate(nodes)


def _depths(parents: NDArray[np.int64]) -> NDArray[np.int64]:
    """Steps from the root, found from the root down; what is never reached is in a cycle."""
    order = np.argsort(parents, kind="stable")
    first = np.searchsorted(parents[order], np.arange(len(parents) + 1))
    depth = np.full(len(parents), -1, dtype=np.int64)
    stack = [int(order[0])]
    depth[stack] = 0
    while stack:
        node = stack.pop()
        children = order[first[node] : first[node + 1]]
        depth[children] = depth[node] + 1
        stack += children.tolist()
    if (depth < 0).any():
        node = int(np.flatnonzero(depth < 0)[0])
        raise ValueError(
            f"parents must lead to the root, but the parents of node {node} form a cycle."
        )
    return depth


def _whole(values: ArrayLike, name: str) -> NDArray[np.int64]:
    array = np.asarray(values)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise ValueError(f"{name} must be a list of whole numbers.")
    return array.astype(np.int64)


def _heights(values: ArrayLike, parents: NDArray[np.int64]) -> NDArray[np.float64]:
    heights = np.array(values, dtype=np.float64)
    if heights.shape != parents.shape or not np.isfinite(heights).all():
        raise ValueError(f"heights must be {len(parents)} finite numbers, one for each node.")
    below = np.flatnonzero(parents >= 0)
    higher = below[heights[below] > heights[parents[below]]]
    if len(higher):
        node = int(higher[0])
        raise ValueError(f"heights must not grow downwards: node {node} is higher than its parent.")
    return heights
