"""`Prediction`: what a fitted `BHMC` says of rows it has not seen. Wiring, no mathematics."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from bhmc._estimator.answers import Answers
from bhmc._estimator.empty_rows import warn_of_empty
from bhmc._estimator.prediction_blocks import Answer, Question, answered
from bhmc._estimator.table_reading import (
    rows_with_text,
    width_of,
)
from bhmc._validation.parameters import check_whole, seed_sequence
from bhmc.posterior.predictive import (
    sample_rows,
)


class Prediction(Answers, TransformerMixin):
    """The methods of `BHMC` for rows that need not be those of the fit.

    Only `sample` is random. `predict`, `predict_path`, `predict_proba`, `transform` and
    `predict_component` use one tree, the point estimate; `score_samples`, `score` and `sample`
    average over kept draws.

    The answer for a row is independent of row order and batch, except for rounding: matrix products
    of another height may differ in their last digits, about 1e-16 of a log likelihood. Of nodes and
    components of equal probability the one with the lowest number is chosen.

    Tables in files (`bhmc.rows.open_rows`, memory maps) are read block by block. For a Dask array
    or frame the answer is a Dask array: nothing is computed yet, and nobody is warned.

    Nothing is known of a row without any entry (all missing, or a text without words): it gets NaN
    for every number and -1 for node and component, with a warning.
    """

    def predict(self, X: Any, level: int | None = None, *, out: Any = None) -> NDArray[np.int32]:
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
        out : path-like, optional
            A .npy file that the nodes are written into, block by block where X is read so; what is
            returned is that file, memory-mapped.

        Returns
        -------
        (n,) array
            Nodes numbered from 0 within the level, as in `labels_at`; -1 for a row without entries.
        """
        found = answered(self, Question("_labels", {"level": level}, None, np.int32), X, out)
        warn_of_empty(found.empty)
        return found.values

    def predict_path(self, X: Any) -> NDArray[np.int32]:
        """(n, n_levels + 1) node ids of `tree_`, root first: the path of the most probable leaf.

        A node of the path need not be the most probable node of its level, because the probability
        of a node is a sum over its leaves. A row without any entry has -1 at every level.

        Parameters
        ----------
        X : (n, d) array or frame
            Rows with the columns of the fit, as in `predict`.
        """
        check_is_fitted(self)
        width = self.tree_.n_levels + 1
        found = answered(self, Question("_paths", {}, width, np.int32), X)
        warn_of_empty(found.empty)
        return found.values

    def predict_proba(self, X: Any, level: int | None = None, *, return_new: bool = False) -> Any:
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
        check_is_fitted(self)
        width = 1 + self._n_nodes(level)
        found = answered(self, Question("_joins", {"level": level}, width, np.float64), X)
        warn_of_empty(found.empty)
        known, new = found.values[:, :-1], found.values[:, -1]
        return (known, new) if return_new else known

    def transform(self, X: Any, *, return_new: bool = False) -> Any:
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
        found = self._all_responsibilities(X, return_new)
        warn_of_empty(found.empty, stacklevel=3)  # scikit-learn calls this in the user's place
        probabilities, new = found.values[:, :-1], found.values[:, -1]
        return (probabilities, new) if return_new else probabilities

    def predict_component(self, X: Any, *, out: Any = None) -> NDArray[np.int32]:
        """(n,) the most probable component of each row: the argmax of `transform`.

        Parameters
        ----------
        X : (n, d) array or frame
            Rows with the columns of the fit, as in `predict`. A row without any entry has -1.
        out : path-like, optional
            A .npy file for the components, as in `predict`.
        """
        found = answered(self, Question("_components", {}, None, np.int32), X, out)
        warn_of_empty(found.empty)
        return found.values

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Names of the columns of `transform`: component0, component1, ...

        Parameters
        ----------
        input_features : ignored
            For scikit-learn's conventions.
        """
        check_is_fitted(self)
        names = [f"component{k}" for k in range(self.tree_.n_components)]
        return np.array(names, dtype=object)

    def score_samples(self, X: Any) -> NDArray[np.float64]:
        """(n,) log density of each row: log of the mean over kept draws of p(x | draw).

        The density of a row with missing entries is the density of its other entries, so compare
        rows with as many entries; `outlier_scores` does. For the multinomial family the density is
        the probability of the counts given their total. A row without any entry has NaN.

        Parameters
        ----------
        X : (n, d) array or frame
            Rows with the columns of the fit, as in `predict`.
        """
        found = answered(self, Question("_log_density", {}, None, np.float64), X)
        warn_of_empty(found.empty)
        return found.values

    def outlier_scores(self, X: Any, *, random_state: Any = 0) -> NDArray[np.float64]:
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
        given = {"seed": seed_sequence(random_state)}
        found = answered(self, Question("_outlier_scores", given, None, np.float64), X)
        warn_of_empty(found.empty)
        return found.values

    def score(self, X: Any, y: Any = None) -> float:
        """The mean of `score_samples` over the rows that have entries.

        Parameters
        ----------
        X : (n, d) array or frame
            Rows with the columns of the fit, as in `predict`.
        y : ignored
            For scikit-learn's conventions.
        """
        found = answered(self, Question("_log_density", {}, None, np.float64), X)
        warn_of_empty(found.empty)
        density = np.asarray(found.values)  # what Dask has is computed here
        filled = density[~np.isnan(density)]
        return float(np.mean(filled)) if len(filled) else float("nan")

    def sample(self, n_samples: int = 1, random_state: Any = None) -> Any:
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

    def _all_responsibilities(self, X, with_new: bool) -> Answer:
        """`_responsibilities` of rows wherever they are, as arrays whatever `set_output` says."""
        check_is_fitted(self)
        width = self.tree_.n_components + 1
        given = {"with_new": with_new}
        return answered(self, Question("_responsibilities", given, width, np.float64), X)

    def _n_nodes(self, level: int | None) -> int:
        """How many nodes a level has."""
        return int((self.tree_.levels == self._checked_level(level)).sum())
