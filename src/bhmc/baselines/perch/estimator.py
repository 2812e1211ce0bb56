"""PERCH: a tree that grows by one row at a time."""

from collections.abc import Iterator
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import validate_data

from bhmc._validation.parameters import check_choice, check_whole, seed_sequence
from bhmc._validation.reading import read_data
from bhmc.baselines.base import TreeEstimator
from bhmc.baselines.perch import kernels
from bhmc.baselines.perch.state import (
    BY_BOXES,
    BY_MEAN,
    DATA,
    EXACT,
    NO_TEST,
    NONE,
    Nodes,
    empty_nodes,
    with_room,
)
from bhmc.metrics import cut_matched
from bhmc.tree import Tree

MASKING = {
    "mean": BY_MEAN,
    "boxes": BY_BOXES,
    "exact": EXACT,
    "none": NO_TEST,
}

# Rows inserted before Python looks for an interrupt.
_ROWS_AT_ONCE = 1_000


class Perch(TreeEstimator):
    """PERCH: rows are put beside their nearest neighbour, then rotations repair the tree.

    After Kobren, Monath, Krishnamurthy and McCallum (2017), "A Hierarchical Algorithm for Extreme
    Clustering". Where every two rows of a cluster are nearer to each other than to any row outside,
    the tree has every cluster as a node, in whatever order rows come, if masking is "mean" or
    "exact" and the search is exact.

    Parameters
    ----------
    n_clusters : int, default=8
        Clusters of `labels_`; the tree does not depend on it.
    masking : {"mean", "boxes", "exact", "none"}, default="mean"
        When a node leaves its sibling for its aunt. "mean": the mean squared distance to the aunt's
        rows is less than to the sibling's, at any node from the new row to the root. "boxes": boxes
        around the rows prove that all rows of the aunt are nearer, as in the authors' program.
        "exact": some row of the node is nearer to some row of the aunt than to some of the sibling,
        the definition of the paper, which tears apart what is not well separated. "none": never.
        `docs/rivals.md` compares them.
    balance : bool, default=False
        Whether to rotate as well where that makes the two sides of a node more even in size. A node
        all of whose rows are nearer to its sibling's than to its aunt's stays where it is. Trees
        become less deep, and less true where clusters overlap.
    max_leaves : int, optional
        Leaves of the tree at most: beyond it, the two sibling leaves in the smallest common box are
        put together, and their mean stands for them. By default every row has a leaf of its own.
    beam : int, optional
        Search the nearest neighbour with so many nodes a level, and perhaps miss it. By default the
        search is exact.
    max_levels : int, optional
        Levels of `tree_` below the root; what is deeper is put together. A tree of many rows may be
        too deep to be written out without it.
    shuffle : bool, default=True
        Whether `fit` inserts rows in random order. `partial_fit` takes them as they come.
    random_state : int, SeedSequence, Generator, RandomState or None
        Decides that order.

    Attributes
    ----------
    tree_ : Tree
        The tree; the height of a node is the diagonal of the box around its rows.
    labels_ : ndarray of shape (n,)
        The rows cut into `n_clusters` clusters, or into the leaves if there are fewer.

    Examples
    --------
    >>> from bhmc.baselines import Perch
    >>> model = Perch(n_clusters=2, random_state=0).fit([[0.0], [5.0], [0.1]])
    >>> model.labels_
    array([0, 1, 0], dtype=int32)
    >>> model.partial_fit([[5.2], [0.3]]).labels_
    array([0, 1, 0, 1, 0], dtype=int32)
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        masking: str = "mean",
        balance: bool = False,
        max_leaves: int | None = None,
        beam: int | None = None,
        max_levels: int | None = None,
        shuffle: bool = True,
        random_state: Any = None,
    ):
        self.n_clusters = n_clusters
        self.masking = masking
        self.balance = balance
        self.max_leaves = max_leaves
        self.beam = beam
        self.max_levels = max_levels
        self.shuffle = shuffle
        self.random_state = random_state

    def partial_fit(self, X: ArrayLike, y: Any = None) -> "Perch":
        """Insert more rows into the tree, in the order given; `y` is not used.

        The first call begins a tree. The work of building `tree_` from all rows so far is done in
        each call, so give many rows at once.
        """
        n_clusters = check_whole(self.n_clusters, "n_clusters", 1)
        begun = hasattr(self, "_nodes")
        rows, _ = read_data(X)
        validate_data(self, X, reset=not begun, skip_check_array=True)
        if not begun:
            self._nodes = empty_nodes(0, rows.shape[1])
            self._rows = np.empty(0, dtype=np.int64)
        for nodes in self._grow(self._nodes, rows):
            # After every block, so that an interrupt leaves a whole tree behind.
            new = np.arange(len(self._rows), nodes.room[DATA])
            self._nodes, self._rows = nodes, np.append(self._rows, new)
        self.tree_: Tree = self._tree()
        self.labels_: NDArray[np.int32] = cut_matched(self.tree_, n_clusters)
        return self

    def _fit_tree(self, X: NDArray[np.float64]) -> Tree:
        order = np.arange(len(X))
        if self.shuffle:
            order = np.random.default_rng(seed_sequence(self.random_state)).permutation(len(X))
        *_, self._nodes = self._grow(empty_nodes(0, X.shape[1]), X[order])
        self._rows = order
        return self._tree()

    def _grow(self, nodes: Nodes, X: NDArray[np.float64]) -> Iterator[Nodes]:
        """The tree after each block of rows."""
        masking = MASKING[check_choice(self.masking, "masking", tuple(MASKING))]
        beam, max_leaves = _limit(self.beam, "beam", 1), _limit(self.max_leaves, "max_leaves", 2)
        if not isinstance(self.balance, bool | np.bool_):
            raise TypeError(f"balance must be True or False, got {self.balance!r}.")
        for start in range(0, len(X), _ROWS_AT_ONCE):
            block = X[start : start + _ROWS_AT_ONCE]
            nodes = with_room(nodes, len(block))
            kernels.insert(nodes, block, masking, bool(self.balance), beam, max_leaves)
            yield nodes

    def _tree(self) -> Tree:
        tips = np.empty(len(self._rows), dtype=np.int64)
        tips[self._rows] = tips_of(self._nodes)
        return tree_of(self._nodes, tips, self.max_levels)


def tips_of(nodes: Nodes) -> NDArray[np.int64]:
    """(n,) the tip of each datum, in the order of insertion."""
    tips = np.empty(nodes.room[DATA], dtype=np.int64)
    kernels.fill_tips(nodes, tips)
    return tips


def tree_of(nodes: Nodes, tips: NDArray[np.int64], max_levels: int | None = None) -> Tree:
    """The nodes in use as a `Tree`; a height is the diagonal of the node's box."""
    used = nodes.size > 0
    number = np.cumsum(used) - 1
    parents = np.where(nodes.parent == NONE, NONE, number[nodes.parent])[used]
    sides = nodes.box[used, 1] - nodes.box[used, 0]
    heights = np.sqrt(np.einsum("ij,ij->i", sides, sides))
    return Tree.from_parents(parents, number[tips], heights=heights, max_levels=max_levels)


def _limit(value: Any, name: str, least: int) -> int:
    """A whole number, or NONE for None."""
    if value is None:
        return NONE
    if not isinstance(value, Integral):
        raise TypeError(f"{name} must be None or a whole number, got {value!r}.")
    return check_whole(value, name, least)
