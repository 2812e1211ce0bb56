"""`ArvizExport`: a fitted `BHMC` and its data for ArviZ. Wiring, no mathematics."""

from typing import Any

import numpy as np
from scipy import sparse

from bhmc._compiled.blas_threads import one_blas_thread
from bhmc._estimator.prediction import Prediction
from bhmc._estimator.table_reading import fitted_names
from bhmc._validation.data import check_values
from bhmc._validation.errors import naming_columns
from bhmc._validation.parameters import seed_sequence


class ArvizExport(Prediction):
    """The method of `BHMC` that hands draws and data to ArviZ."""

    def to_arviz(self, X: Any, *, random_state: Any = 0) -> Any:
        """The draws beside their data as a DataTree of ArviZ, for `loo` and predictive checks.

        The draws are those that were kept whole (up to 100 of all chains); `draws_.to_arviz()` has
        the numbers of all draws. Groups are `posterior`, `sample_stats`, `log_likelihood`,
        `posterior_predictive` and `observed_data`; the last three have the variable `X`. Text is
        there as the codes of `categories_`.

        Parameters
        ----------
        X : (n, d) array or frame
            The rows of the fit. Their densities are those of rows whose component is not known.
        random_state : int, SeedSequence, Generator or RandomState, default=0
            Seed of the new tables in `posterior_predictive`.

        Returns
        -------
        tree : xarray.DataTree
        """
        from bhmc.posterior.arviz_data import to_arviz_with_data  # only where it is asked for

        matrix = self._check_new(X)
        if not (sparse.issparse(matrix) or self.likelihood_.allows_missing):
            check_values(matrix, fitted_names(self))
        names = getattr(self, "item_names_", None)
        of_fit = names is not None and len(names) == matrix.shape[0]
        with one_blas_thread(), naming_columns(fitted_names(self), self._origin()):
            return to_arviz_with_data(
                self.draws_,
                self.likelihood_,
                matrix,
                np.random.default_rng(seed_sequence(random_state)),
                row_names=names if of_fit else None,
                column_names=fitted_names(self),
            )
