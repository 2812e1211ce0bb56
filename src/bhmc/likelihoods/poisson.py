"""x_d ~ Poisson(lambda_d) with lambda_d ~ Gamma(shape_d, rate_d), every column on its own."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln, xlogy

from bhmc._validation.parameters import check_positive
from bhmc.likelihoods._discrete import (
    LARGEST_COUNT,
    ColumnFamily,
    check_between,
    check_entries,
    check_float32,
    check_shapes,
    draw_log_gamma,
    is_count,
    log_rising,
)
from bhmc.likelihoods._protocol import ConjugateFamily, Likelihood
from bhmc.likelihoods._scales import column_scales
from bhmc.likelihoods._summary import ColumnSummary, summary_of_all
from bhmc.likelihoods.blocks import Floats, by_rows, over

_LEAST_RATE, _LARGEST_RATE = 1e-100, 1e100


@dataclass(frozen=True, eq=False)
class Poisson(Likelihood):
    """Columns of counts, each with its own mean lambda; NaN is a missing entry.

    A component's parameters are theta_d = log lambda_d: where the shape is small, lambda itself may
    be too small for a double.

    Parameters
    ----------
    shape, rate : float or (d,), default=1.0
        lambda_d ~ Gamma(shape_d, rate_d), with mean shape / rate.
    """

    shape: ArrayLike = 1.0
    rate: ArrayLike = 1.0

    allows_missing = True

    @classmethod
    def scaled_to(cls, X: Floats, shape: float = 1.0) -> "Poisson":
        """The family in the units of X: the prior mean of lambda_d is the mean of column d.

        A column of zeros, or without any entry, has rate 1. X must hold all rows.
        """
        shape = check_positive(shape, "shape")
        mean, _ = column_scales(X)
        some = mean > 0
        return cls(shape=shape, rate=np.where(some, shape / np.where(some, mean, 1.0), 1.0))

    def prepare(self, X: Floats, summary: ColumnSummary | None = None) -> ConjugateFamily:
        """The family bound to X."""
        return PoissonFamily(self, X, summary)

    def sample_theta(self, size: int, n_features: int, rng: np.random.Generator) -> Floats:
        """theta = log lambda, lambda ~ Gamma(shape, rate)."""
        shape, rate = self.checked(n_features)
        # G(s) = G(s + 1) U^(1 / s): small shapes give a logarithm, not the number 0.
        log_g = np.log(rng.standard_gamma(shape + 1, (size, n_features)))
        log_g += np.log1p(-rng.random((size, n_features))) / shape
        return log_g - np.log(rate)

    def sample_data(self, theta: Floats, rng: np.random.Generator) -> Floats:
        """x_id ~ Poisson(exp(theta_id))."""
        return rng.poisson(np.exp(theta)).astype(np.float64)

    def checked(self, n_features: int) -> tuple[Floats, Floats]:
        """(shape, rate) as (d,) vectors."""
        rate = check_between(self.rate, n_features, "rate", _LEAST_RATE, _LARGEST_RATE)
        return check_shapes(self.shape, n_features, "shape"), rate


class PoissonFamily(ColumnFamily):
    """The conditionals of `Poisson` for given data.

    Slope theta, level -exp(theta), h(x) = -sum_d o_d log x_d!.
    """

    def __init__(self, likelihood: Poisson, X: Floats, summary: ColumnSummary | None = None):
        # Entries first: settings that were taken from wrong ones are wrong for that reason.
        check_entries(
            X,
            lambda x: is_count(x) | np.isnan(x),
            f"the Poisson family needs whole numbers from 0 to {LARGEST_COUNT:g}",
        )
        self._shape, self._rate = likelihood.checked(X.shape[1])
        summary = summary_of_all(X, summary)
        super().__init__(X, summary)
        self.subtracts_well = summary.adds_exactly

    def check_precision(self, dtype: str) -> None:
        """Refuse float32 where x log lambda is too large in some row."""
        if dtype == "float32":
            sizes = by_rows(self.n_rows, lambda rows: _sizes(self._counts(rows)))
            check_float32(float(sizes.max(initial=0.0)))

    def points(self, rows: slice) -> Floats:
        """Roots of the counts, whose variance hardly depends on the rate."""
        return np.sqrt(super().points(rows))

    def natural(self, theta: Floats) -> Floats:
        """(theta, -sum_d lambda_d), by column where entries are missing."""
        return self._joined(theta, -np.exp(theta))

    def log_base(self) -> Floats:
        """h(x) = -sum_d o_d log x_d!."""
        return by_rows(self.n_rows, lambda rows: -gammaln(self._counts(rows) + 1).sum(axis=1))

    def log_new(self) -> Floats:
        """log f*(x) - h(x): a negative binomial without its x!, for every observed entry.

        sum_d o_d [ log Gamma(shape + x) / Gamma(shape)
        + shape log(rate / (rate + 1)) - x log(rate + 1) ].
        """
        level = -self._shape * np.log1p(1 / self._rate)

        def of_slice(rows: slice) -> Floats:
            x, seen = self._parts(self.statistics(rows))
            each = log_rising(self._shape, x) - x * np.log1p(self._rate) + seen * level
            return each.sum(axis=1)

        return by_rows(self.n_rows, of_slice)

    def log_evidence(self, sums: Floats) -> Floats:
        """sum_d log G(shape + S) / G(shape) - shape log((rate + N) / rate) - S log(rate + N)."""
        total, seen = self._parts(sums)
        each = log_rising(self._shape, total) - self._shape * np.log1p(seen / self._rate)
        return (each - total * np.log(self._rate + seen)).sum(axis=1)

    def log_prior(self, theta: Floats) -> Floats:
        """log of the density of log lambda.

        sum_d [ shape (log rate + theta) - rate exp(theta) - log Gamma(shape) ]: Gamma(shape, rate)
        for lambda times the Jacobian dlambda / dtheta = lambda.
        """
        log_scaled = np.log(self._rate) + theta
        each = self._shape * log_scaled - np.exp(log_scaled) - gammaln(self._shape)
        return each.sum(axis=1)

    def log_maximum(self, sums: Floats) -> Floats:
        """sum_d [ S log(S / N) - S ], with S = sum o x and N = sum o."""
        total, seen = self._parts(sums)
        return (xlogy(total, over(total, seen)) - total).sum(axis=1)

    def draw_theta(self, sums: Floats, rng: np.random.Generator) -> Floats:
        """log lambda_kd, lambda_kd ~ Gamma(shape_d + sum o x, rate_d + sum o)."""
        total, seen = self._parts(sums)
        return draw_log_gamma(self._shape + total, rng) - np.log(self._rate + seen)

    def _counts(self, rows: slice) -> Floats:
        """Counts of a slice of rows, 0 for missing ones."""
        return self.statistics(rows)[:, : self.n_parameters]


def _sizes(x: Floats) -> Floats:
    """(rows,): how large x log lambda - lambda is for lambda = x."""
    return (x * (1 + np.log(np.maximum(x, 1)))).sum(axis=1)
