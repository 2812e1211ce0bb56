"""What all baselines share: rows go in, a `Tree` and a flat cut of it come out."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import validate_data

from bhmc._validation.parameters import check_whole
from bhmc._validation.reading import read_data
from bhmc.metrics import cut_matched
from bhmc.tree import Tree


class TreeEstimator(ClusterMixin, BaseEstimator):
    """A maker of trees over the rows of X.

    A subclass gives `_fit_tree`, and `n_clusters` among its parameters.
    """

    n_clusters: int
    tree_: Tree
    """The tree over the rows."""
    labels_: NDArray[np.int32]
    """(n,) the rows cut from the tree into `n_clusters` clusters, or into its leaves if fewer."""

    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Make the tree of the rows of X; `y` is not used."""
        n_clusters = check_whole(self.n_clusters, "n_clusters", 1)
        rows, _ = read_data(X, least_rows=2)
        validate_data(self, X, skip_check_array=True)  # n_features_in_, feature_names_in_
        self.tree_ = self._fit_tree(rows)
        self.labels_ = cut_matched(self.tree_, n_clusters)
        return self

    def _fit_tree(self, X: NDArray[np.float64]) -> Tree:
        raise NotImplementedError
