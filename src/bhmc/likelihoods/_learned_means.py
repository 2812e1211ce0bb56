"""What Gaussian families have in common whose component means have a learned mean and variance."""

import copy
from abc import abstractmethod
from typing import TYPE_CHECKING, Self

import numpy as np
from scipy.special import gammaln

from bhmc.likelihoods._missing import observed_points, observed_statistics
from bhmc.likelihoods._protocol import ConjugateFamily
from bhmc.likelihoods._resolution import checked_least
from bhmc.likelihoods._statistics import with_kept, with_unkept
from bhmc.likelihoods._summary import ColumnSummary, summary_of_all
from bhmc.likelihoods._truncated import gamma_below
from bhmc.likelihoods.block_sums import ROWS_PER_BLOCK, BlockSums
from bhmc.likelihoods.blocks import LARGEST_COPY, Floats, slices

if TYPE_CHECKING:
    from bhmc.likelihoods.shared_gaussian import SharedGaussian

# A scaled value beyond this costs a sum digits when it is subtracted again.
VERY_LARGE = 1e6


class LearnedMeans(ConjugateFamily):
    """`SharedGaussian` bound to data, but for the noise: theta_d ~ N(mu0_d, sigma0_d).

    In the coordinates y = (x - location) / scale a component has the mean m, m_d ~ N(m0_d, w_d).
    With o_d = 1 where entry d is observed, t(x) = (o y, 1), or (o y, o, 1) where some entries are
    missing.
    """

    takes_statistics = True

    # Put in by `at`: mu0 and sigma0 in these coordinates.
    _m0: Floats
    _w: Floats

    def __init__(
        self, likelihood: "SharedGaussian", X: Floats, summary: ColumnSummary | None = None
    ):
        self.n_rows, d = X.shape
        self._likelihood = likelihood
        self._location, self._scale = likelihood.checked(d)
        self._least = checked_least(likelihood, d)
        self._spherical = likelihood.covariance == "spherical"
        self._missing = summary_of_all(X, summary).has_missing
        self.n_parameters, self.n_statistics = d, (2 * d if self._missing else d) + 1
        self._X, self._kept, self.subtracts_well = X, None, True
        sums = BlockSums()
        for block in slices(len(X), ROWS_PER_BLOCK):
            sums.add(self._look_at_block(block))
        self._use_shared_sums(sums.total() if len(X) else np.zeros(self._n_products()))
        if X.nbytes <= LARGEST_COPY:
            self._kept, self._X = self.statistics(slice(0, self.n_rows)), None

    def _look_at_block(self, block: slice) -> Floats:
        """The products of a block's rows added up; very large values are noted."""
        total = np.zeros(self._n_products())
        for rows in slices(block.stop - block.start):
            t = self.statistics(slice(block.start + rows.start, block.start + rows.stop))
            total += self._products_of(t)
            largest = np.abs(t[:, : self.n_parameters]).max()
            self.subtracts_well = self.subtracts_well and bool(largest < VERY_LARGE)
        return total

    @abstractmethod
    def _n_products(self) -> int:
        """w, the length of `shared_sums`."""

    @abstractmethod
    def _products_of(self, t: Floats) -> Floats:
        """(w,): sums over some rows of the products that a draw of the noise needs."""

    @abstractmethod
    def _use_shared_sums(self, sums: Floats) -> None:
        """Have draws of the noise use these sums (w,); for families under construction alone."""

    def with_shared_sums(self, sums: Floats) -> Self:
        """A copy that draws shared numbers from these sums of all rows."""
        family = copy.copy(self)
        family._use_shared_sums(sums)
        return family

    def with_statistics(self, t: Floats) -> Self:
        """A copy that holds these rows alone."""
        return with_kept(self, t)

    def with_rows(self, X: Floats) -> Self:
        """A copy that holds these rows alone."""
        return with_unkept(self, X)

    def statistics(self, rows: slice) -> Floats:
        """(o y, 1) or (o y, o, 1)."""
        if self._kept is not None:
            return self._kept[rows]
        assert self._X is not None, "the data are here if no copy was kept"
        return observed_statistics(self._in_units(self._X[rows]), self._missing)

    def points(self, rows: slice) -> Floats:
        """y: columns in units of scale."""
        return observed_points(self.statistics(rows), self.n_parameters, self._missing)

    def log_prior(self, theta: Floats) -> Floats:
        """theta_d ~ N(mu0_d, sigma0_d)."""
        each = -0.5 * (self._scaled(theta) - self._m0) ** 2 / self._w
        each -= 0.5 * np.log(2 * np.pi * self._w)
        return (each - np.log(self._scale)).sum(axis=1)

    def _in_units(self, rows: Floats) -> Floats:
        """(r, d): y of rows x."""
        return (rows - self._location) / self._scale

    def _scaled(self, theta: Floats) -> Floats:
        """(K, d): m."""
        return (theta - self._location) / self._scale

    def _draw_means(self, m: Floats, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """(m0, w): mu0 | theta, sigma0; then sigma0 | theta, mu0.

        mu0_d ~ N(sum_k m_kd / (w_d + K), w_d / (w_d + K));
        sigma0_d ~ IG(spread_shape + K / 2, spread_scale + sum_k (m_kd - m0_d)^2 / 2).
        """
        prior, (k, d) = self._likelihood, m.shape
        m0 = m.sum(axis=0) / (self._w + k)
        m0 += rng.standard_normal(d) * np.sqrt(self._w / (self._w + k))
        squares = ((m - m0) ** 2).sum(axis=0)
        shape, scale = prior.spread_shape, prior.spread_scale
        count = np.full(d, float(k))
        return m0, self._draw_variance(shape, scale, count, squares, np.zeros(1), rng)

    def _log_prior_means(self) -> tuple[float, float]:
        """(log p(mu0), log p(sigma0)), in the units of the data."""
        prior = self._likelihood
        mu0 = -0.5 * (self._m0**2 + np.log(2 * np.pi)).sum() - np.log(self._scale).sum()
        return mu0, self._log_prior_variance(self._w, prior.spread_shape, prior.spread_scale)

    def _log_prior_variance(self, value: Floats, shape: float, scale: float) -> float:
        """value ~ IG(shape, scale), one a column or one for all, in the units of the data."""
        each = shape * np.log(scale) - gammaln(shape) - (shape + 1) * np.log(value)
        each = each - scale / value - 2 * np.log(self._scale)
        return each[0] if self._spherical else each.sum()

    def _draw_variance(self, shape, scale, count, squares, least, rng) -> Floats:
        """IG(shape + count / 2, scale + squares / 2) above `least`, one a column or one for all."""
        if self._spherical:
            count, squares = count.sum(keepdims=True), squares.sum(keepdims=True)
        scale = scale + squares / 2
        with np.errstate(divide="ignore"):
            most = scale / least
        return np.maximum(scale / gamma_below(shape + count / 2, most, rng), least)
