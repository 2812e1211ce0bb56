"""`Answers`: what a fitted `BHMC` says of rows in memory, whoever holds the other rows."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_is_fitted, validate_data

from bhmc._compiled.blas_threads import one_blas_thread
from bhmc._estimator.empty_rows import NOWHERE
from bhmc._estimator.prediction_blocks import Answer, Block, check_block
from bhmc._estimator.table_reading import (
    fitted_names,
    read_for_prediction,
    width_of,
)
from bhmc._validation.column_plan import ColumnPlan
from bhmc._validation.data import check_values
from bhmc._validation.errors import naming_columns
from bhmc._validation.frames import is_frame
from bhmc._validation.parameters import check_whole
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
)
from bhmc.tree import Tree


class _NewRows(NamedTuple):
    """Checked rows that need not be those of the fit."""

    family: ConjugateFamily
    """The likelihood bound to them; a row without entries holds zeros."""
    empty: NDArray[np.bool_]
    """(n,) which of them have no entry."""


class Answers:
    """The methods that `Question` names: values, and which rows have no entry."""

    transition_: Any
    # Set by `fit`.
    tree_: Tree
    draws_: Draws
    likelihood_: Likelihood
    categories_: dict[Any, list[Any]]
    column_plan_: ColumnPlan
    n_features_in_: int

    def _labels(self, X, level: int | None) -> Answer:
        """What `predict` returns."""
        with one_blas_thread():
            (family, empty), found = self._at_level(X, level)
            labels = np.empty(family.n_rows, dtype=np.int32)
            given = family, self.tree_.theta, found, self._places()
            for rows, joins, _ in node_tables(*given, with_new=False):
                labels[rows] = joins.argmax(axis=1)
        labels[empty] = NOWHERE
        return Answer(labels, empty)

    def _paths(self, X) -> Answer:
        """What `predict_path` returns."""
        label, empty = self._labels(X, None)
        leaf = np.where(empty, 0, label) + self.tree_.leaves[0]
        paths = paths_to(leaf, self.tree_.parents, self.tree_.n_levels)
        paths[empty] = NOWHERE
        return Answer(paths, empty)

    def _joins(self, X, level: int | None) -> Answer:
        """What `predict_proba` returns; the last column is the probability of a new branch."""
        with one_blas_thread():
            (family, empty), found = self._at_level(X, level)
            values = np.empty((family.n_rows, len(found.share) + 1))
            for rows, joins, new in node_tables(family, self.tree_.theta, found, self._places()):
                values[rows, :-1], values[rows, -1] = joins, new
        values[empty] = np.nan
        return Answer(values, empty)

    def _responsibilities(self, X, with_new: bool) -> Answer:
        """What `transform` returns; the last column is the probability of a new component.

        Without `with_new` it is NaN.
        """
        (matrix, empty), tree = self._filled(X), self.tree_
        with one_blas_thread():
            family = self._family(matrix).at(tree.shared)
            weights = self.transition_.component_weights(tree)
            n_new = len(weights) - tree.n_components
            values = np.full((family.n_rows, tree.n_components + 1), np.nan)
            for rows, log_f in log_tables(family, tree.theta, places=self._places()):
                values[rows, :-1] = responsibilities(log_f, weights, n_new)
                if with_new:
                    values[rows, -1] = new_component(log_f, weights, n_new)
        values[empty] = np.nan
        return Answer(values, empty)

    def _components(self, X) -> Answer:
        """What `predict_component` returns."""
        values, empty = self._responsibilities(X, False)
        found = np.where(empty, NOWHERE, values[:, :-1].argmax(axis=1))
        return Answer(found.astype(np.int32), empty)

    def _log_density(self, X) -> Answer:
        """What `score_samples` returns."""
        matrix, empty = self._filled(X)
        with one_blas_thread():
            density = log_density(self._mixtures(), self._family(matrix))
        density[empty] = np.nan
        return Answer(density, empty)

    def _outlier_scores(self, X, seed: np.random.SeedSequence) -> Answer:
        """What `outlier_scores` returns."""
        matrix, empty = self._filled(X)
        with one_blas_thread(), naming_columns(fitted_names(self), self._origin()):
            scores = new_outlier_scores(self._mixtures(), self.likelihood_, matrix, seed)
        return Answer(np.where(empty, np.nan, scores), empty)

    def _at_level(self, X, level: int | None) -> tuple[_NewRows, Predictive]:
        """The family bound to X with the estimate's shared numbers, and a level of the estimate."""
        matrix, empty = self._filled(X)
        found = self.transition_.predictive(self.tree_, self._checked_level(level))
        return _NewRows(self._family(matrix).at(self.tree_.shared), empty), found

    def _checked_level(self, level: int | None) -> int:
        deepest = self.tree_.n_levels
        level = deepest if level is None else check_whole(level, "level", 0)
        if level > deepest:
            raise ValueError(f"level must be at most {deepest}, got {level}.")
        return level

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
        if isinstance(X, Block):
            return check_block(self, X.X)
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
