"""The control: a tree that has not seen the data."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bhmc._validation.parameters import check_positive, check_whole, seed_sequence
from bhmc.baselines.base import TreeEstimator
from bhmc.model.hdp.start import prior_partition
from bhmc.model.state import Hyper
from bhmc.tree import Tree


class RandomTree(TreeEstimator):
    """A tree of the nested Chinese restaurant process; of the data only their number counts.

    A measure of agreement that such trees do well in proves nothing about others of as many
    clusters. Set `alpha` and `n_levels` to those of the tree it stands beside.

    Parameters
    ----------
    n_clusters : int, default=8
        Clusters of `labels_`; the tree does not depend on it.
    alpha : float, default=1.0
        How readily data open new branches.
    n_levels : int, default=3
        Steps from the root to a leaf.
    random_state : int, SeedSequence, Generator or RandomState, optional
        Seed of the tree.

    Attributes
    ----------
    tree_ : Tree
        The tree.
    labels_ : ndarray of shape (n,)
        The rows cut into `n_clusters` clusters, or into the leaves if there are fewer.

    Examples
    --------
    >>> from bhmc.baselines import RandomTree
    >>> RandomTree(alpha=3.0, n_levels=2, random_state=0).fit([[0.0]] * 50).tree_.n_levels
    2
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        alpha: float = 1.0,
        n_levels: int = 3,
        random_state: Any = None,
    ):
        self.n_clusters = n_clusters
        self.alpha = alpha
        self.n_levels = n_levels
        self.random_state = random_state

    def _fit_tree(self, X: NDArray[np.float64]) -> Tree:
        alpha = check_positive(self.alpha, "alpha")
        n_levels = check_whole(self.n_levels, "n_levels", 1)
        rng = np.random.default_rng(seed_sequence(self.random_state))
        # Components are drawn too, after the tree, and not used.
        hyper = Hyper(alpha=alpha, gamma0=1.0, gamma=1.0)
        paths, _ = prior_partition(len(X), n_levels=n_levels, hyper=hyper, rng=rng)
        parents = np.full(int(paths.max()) + 1, -1, dtype=np.int64)
        parents[paths[:, 1:]] = paths[:, :-1]
        return replace(Tree.from_parents(parents, paths[:, -1]), alpha=alpha)
