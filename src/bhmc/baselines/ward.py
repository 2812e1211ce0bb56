"""Ward's method, by SciPy."""

import numpy as np
from numpy.typing import NDArray

from bhmc.baselines.base import TreeEstimator
from bhmc.tree import Tree


class Ward(TreeEstimator):
    """Ward's method: of all pairs the two clusters are merged that add least to the sum of squares.

    Parameters
    ----------
    n_clusters : int, default=8
        Clusters of `labels_`; the tree does not depend on it.

    Attributes
    ----------
    tree_ : Tree
        The merges, with their heights.
    linkage_ : ndarray of shape (n - 1, 4)
        The same as SciPy writes it.
    labels_ : ndarray of shape (n,)
        The rows cut into `n_clusters` clusters.

    Examples
    --------
    >>> from bhmc.baselines import Ward
    >>> Ward(n_clusters=2).fit([[0.0], [0.1], [5.0]]).labels_
    array([0, 0, 1], dtype=int32)
    """

    def __init__(self, n_clusters: int = 8):
        self.n_clusters = n_clusters

    def _fit_tree(self, X: NDArray[np.float64]) -> Tree:
        from scipy.cluster.hierarchy import linkage  # slow to import, and seldom needed

        self.linkage_: NDArray[np.float64] = linkage(X, method="ward")
        return Tree.from_linkage(self.linkage_)
