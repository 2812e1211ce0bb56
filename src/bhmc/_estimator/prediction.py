"""`Prediction`: what a fitted `BHMC` says of rows it has not seen. Wiring, no mathematics."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from bhmc._compiled.blas_threads import one_blas_thread
from bhmc._estimator.empty_rows import NOWHERE, warn_of_empty
from bhmc._estimator.table_reading import (
    fitted_names,
    read_for_prediction,
    rows_with_text,
    width_of,
)
from bhmc._validation.column_plan import ColumnPlan
from bhmc._validation.data import check_values
from bhmc._validation.errors import naming_columns
from bhmc._validation.frames import is_frame
from bhmc._validation.parameters import check_whole, seed_sequence
from bhmc._validation.planned_frames import known_frame
from bhmc.likelihoods import ConjugateFamily, Likelihood
from bhmc.model.protocol import Places, Predictive
from bhmc.model.state import paths_to
from bhmc.posterior.draws import Draws, Mixture
from bhmc.posterior.new_outliers import new_outlier_scores
from bhmc.posterior.predictive import (
    log_density,
    log_tables,
    new_component,
    node_tables,
    responsibilities,
    sample_rows,
)
from bhmc.tree import Tree


class _NewRows(NamedTuple):
    """Checked rows that need not be those of the fit."""

    family: ConjugateFamily
    """The likelihood bound to them; a row without entries holds zeros."""
    empty: NDArray[np.bool_]
    """(n,) which of them have no entry."""


class Prediction(TransformerMixin):
    """The methods of `BHMC` for rows that need not be those of the fit.

    Only `sample` is random. `predict`, `predict_path`, `predict_proba`, `transform` and
    `predict_component` use one tree, the point estimate; `score_samples`, `score` and `sample`
    average over kept draws.

    The answer for a row is independent of row order and batch, except for rounding: matrix products
    of another height may differ in their last digits, about 1e-16 of a log likelihood. Of nodes and
    components of equal probability the one with the lowest number is chosen.

    Nothing is known of a row without any entry (all missing, or a text without words): it gets NaN
    for every number and -1 for node and component, with a warning.
    """

    transition_: Any
    # Set by `fit`.
    tree_: Tree
    draws_: Draws
    likelihood_: Likelihood
    categories_: dict[Any, list]
    column_plan_: ColumnPlan
    n_features_in_: int

    def predict(self, X, level: int | None = None) -> NDArray[np.int32]:
        """The most probable node of each row at a level: the argmax of `predict_proba`.

        Nodes are numbered from 0 within the level, as in `labels_` and `labels_at`: at the leaves
        `tree_.leaves[predict(X)]` are the node ids, which `predict_path` gives for all levels.

        On the rows of the fit `predict` need not equal `labels_`, which is one joint draw of all
        rows. `predict` treats every row on its own. Rows of the same component usually get the
        same predicted leaf.

        Parameters
        ----------
        X : (n, d) array or frame
            Rows with the columns of the fit. In a column of text a category that fit did not see
            counts as a missing entry, with a warning.
        level : int, optional
            0 is the root; the leaves where not given.

        Returns
        -------
        (n,) array
            Nodes numbered from 0 within the level, as in `labels_at`; -1 for a row without entries.
        """
        new, labels = self._labels(X, level)
        warn_of_empty(new.empty)
        return labels

    def predict_path(self, X) -> NDArray[np.int32]:
        """(n, n_levels + 1) node ids of `tree_`, root first: the path of the most probable leaf.

        A node of the path need not be the most probable node of its level, because the probability
        of a node is a sum over its leaves. A row without any entry has -1 at every level.

        Parameters
        ----------
        X : (n, d) array or frame
            Rows with the columns of the fit, as in `predict`.
        """
        new, label = self._labels(X, None)
        warn_of_empty(new.empty)
        leaf = np.where(new.empty, 0, label) + self.tree_.leaves[0]
        paths = paths_to(leaf, self.tree_.parents, self.tree_.n_levels)
        paths[new.empty] = NOWHERE
        return paths

    def predict_proba(self, X, level: int | None = None, *, return_new: bool = False):
        """Probability of each node of a level, given that the row joins one that exists.

        p(z | x) is proportional to the probability that the row's walk down the tree, by the nested
        Chinese restaurant process, passes through z, times the density of x under the mixture of
        what it may meet at z and below: S_z(x) = sum_k beta_zk f(x; theta_k) + beta*_z f*(x) at a
        leaf, and at a new branch below an inner node z the same with z's own weights, the mean of
        those that it would have.

        Parameters
        ----------
        X : (n, d) array or frame
            Rows with the columns of the fit, as in `predict`.
        level : int, optional
            0 is the root; the leaves where not given.
        return_new : bool, default=False
            Return how probable a new branch is, too.

        Returns
        -------
        probabilities : (n, nodes of the level) array
            Rows sum to 1. Column j is the node labelled j at this level, `predict`'s numbers.
        new : (n,) array
            Only with `return_new`: the probability that the row's path leaves the known tree before
            it reaches a node of this level.
        """
        with one_blas_thread():
            (family, empty), found = self._at_level(X, level)
            known, new = np.empty((family.n_rows, len(found.share))), np.empty(family.n_rows)
            tables = node_tables(family, self.tree_.theta, found, self._places())
            for rows, joins, leaves in tables:
                known[rows], new[rows] = joins, leaves
        warn_of_empty(empty)
        known[empty], new[empty] = np.nan, np.nan
        return (known, new) if return_new else known

    def transform(self, X, *, return_new: bool = False):
        """Responsibilities: how probable each component of the tree is for each row.

        p(k | x) is proportional to w_k f(x; theta_k), with w_k the probability of component k for
        the next row before it is seen. A component not seen before is left out, and `return_new`
        says how probable it is.

        Parameters
        ----------
        X : (n, d) array or frame
            Rows with the columns of the fit, as in `predict`.
        return_new : bool, default=False
            Return how probable a component is that no row of the fit belongs to, too.

        Returns
        -------
        probabilities : (n, n_components) array
            Rows sum to 1. Columns are the components of `component_labels_`.
        new : (n,) array
            Only with `return_new`: the probability that the row begins a component, at a leaf of
            the tree or on a new branch. A row unlike all that was fitted has nearly 1, unless the
            components have heavy tails (`likelihood_.degrees`), which explain rows at any
            distance; `outlier_scores` finds such rows with every family.
        """
        found, new, empty = self._responsibilities(X, return_new)
        warn_of_empty(empty, stacklevel=3)  # scikit-learn calls this method in the user's place
        return (found, new) if return_new else found

    def predict_component(self, X) -> NDArray[np.int32]:
        """(n,) the most probable component of each row: the argmax of `transform`.

        Parameters
        ----------
        X : (n, d) array or frame
            Rows with the columns of the fit, as in `predict`. A row without any entry has -1.
        """
        found, _, empty = self._responsibilities(X)
        warn_of_empty(empty)
        return np.where(empty, NOWHERE, found.argmax(axis=1)).astype(np.int32)

    def get_feature_names_out(self, input_features=None) -> NDArray[np.object_]:
        """Names of the columns of `transform`: component0, component1, ...

        Parameters
        ----------
        input_features : ignored
            For scikit-learn's conventions.
        """
        check_is_fitted(self)
        names = [f"component{k}" for k in range(self.tree_.n_components)]
        return np.array(names, dtype=object)

    def score_samples(self, X) -> NDArray[np.float64]:
        """(n,) log density of each row: log of the mean over kept draws of p(x | draw).

        The density of a row with missing entries is the density of its other entries, so compare
        rows with as many entries; `outlier_scores` does. For the multinomial family the density is
        the probability of the counts given their total. A row without any entry has NaN.

        Parameters
        ----------
        X : (n, d) array or frame
            Rows with the columns of the fit, as in `predict`.
        """
        density, empty = self._log_density(X)
        warn_of_empty(empty)
        return density

    def outlier_scores(self, X, *, random_state=0) -> NDArray[np.float64]:
        """(n,) how unusual each new row is, from 0 to 1: 1 minus a predictive tail probability.

        A score of 0.99 says that 99 % of new rows of the model have a higher density than this row.
        A row is compared with 500 new rows that have its missing entries (and, for counts, its
        total), so that rows with few entries are not at an advantage. A row without any entry has
        NaN. For rows of the fit take `outlier_scores_`, which scores each row without itself.

        Parameters
        ----------
        X : (n, d) array or frame
            Rows with the columns of the fit, as in `predict`.
        random_state : int, SeedSequence, Generator or RandomState, default=0
            Seed of the new rows. With a whole number the score of a row is always the same,
            whatever other rows are scored with it.
        """
        (matrix, empty), seed = self._filled(X), seed_sequence(random_state)
        with one_blas_thread(), naming_columns(fitted_names(self), self._origin()):
            scores = new_outlier_scores(self._mixtures(), self.likelihood_, matrix, seed)
        warn_of_empty(empty)
        return np.where(empty, np.nan, scores)

    def score(self, X, y=None) -> float:
        """The mean of `score_samples` over the rows that have entries.

        Parameters
        ----------
        X : (n, d) array or frame
            Rows with the columns of the fit, as in `predict`.
        y : ignored
            For scikit-learn's conventions.
        """
        density, empty = self._log_density(X)
        warn_of_empty(empty)
        return float("nan") if empty.all() else float(np.mean(density[~empty]))

    def sample(self, n_samples: int = 1, random_state=None):
        """New rows from the posterior predictive distribution.

        For each row: a kept draw chosen at random, a component by that draw's weights (possibly one
        not seen before), and data of that component.

        Parameters
        ----------
        n_samples : int, default=1
            The number of rows.
        random_state : int, SeedSequence, Generator or RandomState, optional
            Seed; the seed of the fit is not used.

        Returns
        -------
        (n_samples, d) array or frame
            The columns that were fitted, in order. A frame with text if the fit saw columns of
            text, of the kind that it was given (pandas, polars, pyarrow), else an array. Rows of
            counts (multinomial) have `likelihood_.n_trials` counts each, the median of the fit
            where the family was given by name.
        """
        check_is_fitted(self)
        n_samples = check_whole(n_samples, "n_samples", 1)
        rng = np.random.default_rng(seed_sequence(random_state))
        X = sample_rows(self._mixtures(), self.likelihood_, n_samples, width_of(self), rng)
        return rows_with_text(self, X) if self.categories_ else X

    def _labels(self, X, level: int | None) -> tuple[_NewRows, NDArray[np.int32]]:
        """What `predict` returns, before the warning of empty rows."""
        with one_blas_thread():
            new, found = self._at_level(X, level)
            labels = np.empty(new.family.n_rows, dtype=np.int32)
            for rows, joins, _ in node_tables(new.family, self.tree_.theta, found, self._places()):
                labels[rows] = joins.argmax(axis=1)
        labels[new.empty] = NOWHERE
        return new, labels

    def _at_level(self, X, level: int | None) -> tuple[_NewRows, Predictive]:
        """The family bound to X with the estimate's shared numbers, and a level of the estimate."""
        (matrix, empty), deepest = self._filled(X), self.tree_.n_levels
        level = deepest if level is None else check_whole(level, "level", 0)
        if level > deepest:
            raise ValueError(f"level must be at most {deepest}, got {level}.")
        found = self.transition_.predictive(self.tree_, level)
        return _NewRows(self._family(matrix).at(self.tree_.shared), empty), found

    def _responsibilities(
        self, X, with_new: bool = False
    ) -> tuple[NDArray, NDArray, NDArray[np.bool_]]:
        """What `transform` returns, as arrays whatever `set_output` asks for; and empty rows.

        Without `with_new` the probabilities of a new component are NaN.
        """
        (matrix, empty), tree = self._filled(X), self.tree_
        with one_blas_thread():
            family = self._family(matrix).at(tree.shared)
            weights = self.transition_.component_weights(tree)
            n_new = len(weights) - tree.n_components
            found, new = (
                np.empty((family.n_rows, tree.n_components)),
                np.full(family.n_rows, np.nan),
            )
            for rows, log_f in log_tables(family, tree.theta, places=self._places()):
                found[rows] = responsibilities(log_f, weights, n_new)
                if with_new:
                    new[rows] = new_component(log_f, weights, n_new)
        found[empty], new[empty] = np.nan, np.nan
        return found, new, empty

    def _log_density(self, X) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """What `score_samples` returns, and which rows are empty."""
        matrix, empty = self._filled(X)
        with one_blas_thread():
            density = log_density(self._mixtures(), self._family(matrix))
        density[empty] = np.nan
        return density, empty

    def _filled(self, X) -> tuple[Any, NDArray[np.bool_]]:
        """Checked rows, and which of them have no entry: all are missing, or there are no words.

        Zeros stand for what is missing in these, so that every family takes them.
        """
        matrix = self._check_new(X)
        if sparse.issparse(matrix):
            return matrix, self.likelihood_.extents(matrix) == 0
        missing = np.isnan(matrix).all(axis=1)
        matrix = np.where(missing[:, None], 0.0, matrix) if missing.any() else matrix
        if not self.likelihood_.allows_missing:
            check_values(matrix, fitted_names(self))
        return matrix, missing | (self.likelihood_.extents(matrix) == 0)

    def _places(self) -> Places | None:
        """Where components of the estimate begin, if they have a place on the tree."""
        return self.transition_.places(self.tree_)

    def _mixtures(self) -> tuple[Mixture, ...]:
        """The mixtures of the kept draws."""
        if not self.draws_.mixtures:
            raise ValueError(
                "densities and new rows need the mixtures of draws, and none was kept."
            )
        return self.draws_.mixtures

    def _family(self, matrix) -> ConjugateFamily:
        """The family bound to checked rows; a wrong entry is said with its column's name."""
        with naming_columns(fitted_names(self), self._origin()):
            return self.likelihood_.prepare(matrix)

    def _check_new(self, X) -> Any:
        """X as a float64 matrix of at least one row, with the columns of the fit."""
        check_is_fitted(self)
        X = known_frame(X)
        framed = is_frame(X)
        if framed or width_of(self) < self.n_features_in_:
            # Names first: entries of a column in the wrong place say little.
            validate_data(self, X, reset=False, skip_check_array=True)
        matrix, _ = read_for_prediction(self, X)
        if not framed:
            validate_data(self, X, reset=False, skip_check_array=True)
        return matrix

    def _origin(self) -> list[int] | None:
        """Numbers in X of the fitted columns, where these are not all."""
        return self.column_plan_.fitted if width_of(self) < self.n_features_in_ else None
