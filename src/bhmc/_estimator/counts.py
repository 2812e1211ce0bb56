"""`Counts`: numbers of a fit under the names that scikit-learn gives them."""

from sklearn.utils.validation import check_is_fitted

from bhmc.tree import Tree


class Counts:
    """The numbers of a fitted `BHMC` that other estimators of scikit-learn have, too."""

    # Set by `fit`.
    tree_: Tree
    n_sweeps_: int

    @property
    def n_clusters_(self) -> int:
        """Clusters of `labels_`: leaves of `tree_`."""
        check_is_fitted(self, "tree_")
        return self.tree_.n_leaves

    @property
    def n_iter_(self) -> int:
        """Iterations of a chain: `n_sweeps_`."""
        check_is_fitted(self, "n_sweeps_")
        return self.n_sweeps_
