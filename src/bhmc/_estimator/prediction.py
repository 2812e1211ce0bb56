"""`Prediction`: what a fitted `BHMC` says of rows it has not seen. Wiring, no mathematics."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from bhmc._compiled.blas_threads import one_blas_thread
from bhmc._estimator.table_reading import (
    fitted_names,
    read_for_prediction,
    rows_with_text,
    width_of,
)
from bhmc._validation.column_plan import ColumnPlan
from bhmc._validation.errors import naming_columns
from bhmc._validation.frames import is_frame
from bhmc._validation.parameters import check_whole, seed_sequence
from bhmc._validation.planned_frames import known_frame
from bhmc.likelihoods import ConjugateFamily, Likelihood
from bhmc.model.protocol import Places, Predictive
from bhmc.model.state import paths_to
from bhmc.posterior.draws import Draws, Mixture
from bhmc.posterior.predictive import (
    log_density,
    log_tables,
    node_tables,
    responsibilities,
    sample_rows,
)
from bhmc.tree import Tree


class Prediction(TransformerMixin):
    """The methods of `BHMC` for rows that need not be those of the fit.

    Only `sample` is random. `predict`, `predict_path`, `predict_proba`, `transform` and
    `predict_component` use one tree, the point estimate; `score_samples`, `score` and `sample`
    average over kept draws.

    The answer for a row is independent of row order and batch, except for rounding: matrix products
    of another height may differ in their last digits, about 1e-16 of a log likelihood. Of nodes and
    components of equal probability the one with the lowest number is chosen.
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
            Nodes numbered from 0 within the level, as in `labels_at`.
        """
        with one_blas_thread():
            family, found = self._at_level(X, level)
            labels = np.empty(family.n_rows, dtype=np.int32)
            for rows, joins, _ in node_tables(family, self.tree_.theta, found, self._places()):
                labels[rows] = joins.argmax(axis=1)
        return labels

    def predict_path(self, X) -> NDArray[np.int32]:
        """(n, n_levels + 1) node ids of `tree_`, root first: the path of the most probable leaf.

        A node of the path need not be the most probable node of its level, because the probability
        of a node is a sum over its leaves.

        Parameters
        ----------
        X : (n, d) array or frame
            Rows with the columns of the fit, as in `predict`.
        """
        leaf, tree = self.predict(X), self.tree_
        first_leaf = np.searchsorted(tree.levels, tree.n_levels)
        return paths_to(leaf + first_leaf, tree.parents, tree.n_levels)

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
            Rows sum to 1.
        new : (n,) array
            Only with `return_new`: the probability that the row's path leaves the known tree before
            it reaches a node of this level.
        """
        with one_blas_thread():
            family, found = self._at_level(X, level)
            known, new = np.empty((family.n_rows, len(found.share))), np.empty(family.n_rows)
            tables = node_tables(family, self.tree_.theta, found, self._places())
            for rows, joins, leaves in tables:
                known[rows], new[rows] = joins, leaves
        return (known, new) if return_new else known

    def transform(self, X) -> NDArray[np.float64]:
        """Responsibilities: how probable each component of the tree is for each row.

        p(k | x) is proportional to w_k f(x; theta_k), with w_k the probability of component k for
        the next row before it is seen. A component not seen before is left out.

        Parameters
        ----------
        X : (n, d) array or frame
            Rows with the columns of the fit, as in `predict`.

        Returns
        -------
        (n, n_components) array
            Rows sum to 1. Columns are the components of `component_labels_`.
        """
        return self._responsibilities(X)

    def predict_component(self, X) -> NDArray[np.int32]:
        """(n,) the most probable component of each row: the argmax of `transform`.

        Parameters
        ----------
        X : (n, d) array or frame
            Rows with the columns of the fit, as in `predict`.
        """
        return self._responsibilities(X).argmax(axis=1).astype(np.int32)

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

        The density of a row with missing entries is the density of its other entries. For the
        multinomial family the density is the probability of the counts given their total.

        Parameters
        ----------
        X : (n, d) array or frame
            Rows with the columns of the fit, as in `predict`.
        """
        with one_blas_thread():
            family = self._family(self._check_new(X))
            return log_density(self._mixtures(), family)

    def score(self, X, y=None) -> float:
        """The mean of `score_samples`.

        Parameters
        ----------
        X : (n, d) array or frame
            Rows with the columns of the fit, as in `predict`.
        y : ignored
            For scikit-learn's conventions.
        """
        return float(np.mean(self.score_samples(X)))

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

    def _at_level(self, X, level: int | None) -> tuple[ConjugateFamily, Predictive]:
        """The family bound to X with the estimate's shared numbers, and a level of the estimate."""
        matrix, deepest = self._check_new(X), self.tree_.n_levels
        level = deepest if level is None else check_whole(level, "level", 0)
        if level > deepest:
            raise ValueError(f"level must be at most {deepest}, got {level}.")
        found = self.transition_.predictive(self.tree_, level)
        return self._family(matrix).at(self.tree_.shared), found

    def _responsibilities(self, X) -> NDArray[np.float64]:
        """What `transform` returns, as an array whatever `set_output` asks for."""
        matrix, tree = self._check_new(X), self.tree_
        with one_blas_thread():
            family = self._family(matrix).at(tree.shared)
            weights = self.transition_.component_weights(tree)
            found = np.empty((family.n_rows, tree.n_components))
            for rows, log_f in log_tables(family, tree.theta, places=self._places()):
                found[rows] = responsibilities(log_f, weights, len(weights) - tree.n_components)
        return found

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
