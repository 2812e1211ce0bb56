"""`Shown`: the nodes of a tree that a page has, in an order with parents before children."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bhmc.tree import Tree
from bhmc.tree.index import uppermost

# Nodes of a page at most; a tree of merges has two for every row.
MOST_NODES = 20_000


@dataclass(frozen=True, eq=False)
class Shown:
    """Which nodes of a tree are in the page. A place is the number of a node in the page."""

    tree: Tree
    ids: NDArray[np.int64]
    """(N,) id of the node at each place."""
    place: NDArray[np.int64]
    """(n_nodes,) place of each node; of one that is not in the page, of the node above it."""

    @property
    def parents(self) -> NDArray[np.int64]:
        """(N,) place of the parent, -1 for the root."""
        above = self.tree.parents[self.ids]
        return np.where(above < 0, -1, self.place[above])

    @property
    def levels(self) -> NDArray[np.int64]:
        """(N,) steps from the root, counted in nodes of the page."""
        if len(self.ids) == self.tree.n_nodes:
            return self.tree.levels
        levels = np.zeros(len(self.ids), dtype=np.int64)
        for place, above in enumerate(self.parents.tolist()):
            levels[place] = levels[above] + 1 if above >= 0 else 0
        return levels

    def leaf_of(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Place of the lowest node of some rows; -1 for a row -1, which the tree does not have.

        Parameters
        ----------
        rows : array of int
            Row numbers.
        """
        return np.where(rows < 0, -1, self.place[self.tree.paths[rows, -1]])


def shown(tree: Tree, most: int = MOST_NODES) -> Shown:
    """The largest nodes of a tree, all of them if they are few enough.

    Where heights are known, only children are left out: they stand there only so that all rows end
    at one level.

    Parameters
    ----------
    tree : Tree
        The tree.
    most : int, default=20,000
        Most nodes.
    """
    kept = np.ones(tree.n_nodes, dtype=bool)
    if tree.heights is not None:
        kept = uppermost(tree.parents, tree.sizes) == np.arange(tree.n_nodes)
    if kept.sum() > most:
        # No node is larger than its parent, whose id is lower: with a node its ancestors are kept.
        candidates = np.flatnonzero(kept)
        order = candidates[np.argsort(-tree.sizes[candidates], kind="stable")]
        kept[order[most:]] = False
    ids = np.flatnonzero(kept)
    place = np.full(tree.n_nodes, -1, dtype=np.int64)
    place[ids] = np.arange(len(ids))
    for node in np.flatnonzero(~kept).tolist():  # a parent's id is lower than its child's
        place[node] = place[tree.parents[node]]
    return Shown(tree, ids, place)
