"""x ~ N(theta, sigma2), one unknown sigma2 for all components; theta ~ N(mu0, sigma0), learned."""

import copy
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammainc, gammaincinv, gammaln

from bhmc._validation.parameters import check_positive
from bhmc.likelihoods._missing import observed_points, observed_statistics
from bhmc.likelihoods._protocol import ConjugateFamily
from bhmc.likelihoods._resolution import checked_least, least_variance
from bhmc.likelihoods._summary import ColumnSummary, summary_of_all
from bhmc.likelihoods._truncated import gamma_below
from bhmc.likelihoods._units import InUnits, Learning
from bhmc.likelihoods.blocks import LARGEST_COPY, Floats, by_rows, over, slices
from bhmc.likelihoods.gaussian import Gaussian

# A scaled value beyond this costs a sum digits when it is subtracted again.
_VERY_LARGE = 1e6


@dataclass(frozen=True, eq=False)
class SharedGaussian(InUnits, Learning):
    """Gaussian components around means of their own, with one noise variance for all of them.

    The noise variance, and the mean and variance of the component means, are learned. In units of
    `scale` around `location`, for every column d on its own:

        sigma2_d ~ InverseGamma(noise_shape, noise_scale)      x_d ~ N(theta_d, sigma2_d)
        sigma0_d ~ InverseGamma(spread_shape, spread_scale)    theta_d ~ N(mu0_d, sigma0_d)
        mu0_d ~ N(0, 1)

    with sigma2_d no smaller than least_variance_d. A column whose groups do not differ ends with a
    small sigma0_d: the column then costs a component little and tells nothing. Missing entries
    (NaN) are skipped exactly.

    Parameters
    ----------
    covariance : {"diagonal", "spherical"}, default="diagonal"
        "spherical" has one sigma2 and one sigma0 for all columns: for columns in the same units,
        such as principal components.
    location, scale : float or (d,), default=0.0, 1.0
        Middle and standard deviation of the columns. `BHMC` takes them from the data where the
        likelihood is given by name.
    noise_shape, noise_scale : float, default=1.0, 0.2
        Prior of sigma2.
    spread_shape, spread_scale : float, default=1.0, 0.2
        Prior of sigma0.
    least_variance : float or (d,), default=0.0
        sigma2 is no smaller, in units of scale squared. `BHMC` takes it from the data where the
        likelihood is given by name: what so many rows can show (docs/families.md).
    """

    covariance: str = "diagonal"
    location: ArrayLike = 0.0
    scale: ArrayLike = 1.0
    noise_shape: float = 1.0
    noise_scale: float = 0.2
    spread_shape: float = 1.0
    spread_scale: float = 0.2
    least_variance: ArrayLike = 0.0

    @classmethod
    def scaled_to(cls, X: Floats, **settings) -> Self:
        """The family in the units of X, no finer than its rows can show. X must hold all rows."""
        likelihood = super().scaled_to(X, **settings)
        return replace(likelihood, least_variance=least_variance(X, likelihood))

    def prepare(self, X: Floats, summary: ColumnSummary | None = None) -> "SharedGaussianFamily":
        """The family bound to X."""
        return SharedGaussianFamily(self, X, summary)

    def at(self, shared: Floats) -> Gaussian:
        """Gaussian components with these numbers known."""
        mu0, sigma2, sigma0 = self._split(shared)
        return Gaussian(sigma2=sigma2, mu0=mu0, sigma0=sigma0)

    def sample_shared(self, n_features: int, rng: np.random.Generator) -> Floats:
        """(mu0, sigma2, sigma0) from their priors."""
        location, scale = self.checked(n_features)
        each = n_features if self.covariance == "diagonal" else 1
        units = scale[:each] ** 2
        least = checked_least(self, n_features)
        with np.errstate(divide="ignore"):
            mass = gammainc(self.noise_shape, self.noise_scale / least)
        u = mass * (1 - rng.random(each))
        sigma2 = np.maximum(self.noise_scale / gammaincinv(self.noise_shape, u), least)
        sigma0 = self.spread_scale / rng.standard_gamma(self.spread_shape, each)
        mu0 = location + scale * rng.standard_normal(n_features)
        return np.concatenate([mu0, sigma2 * units, sigma0 * units])

    def checked(self, n_features: int) -> tuple[Floats, Floats]:
        """(location, scale) as (d,) vectors, every setting checked."""
        for name in ("noise_shape", "noise_scale", "spread_shape", "spread_scale"):
            check_positive(getattr(self, name), name)
        return super().checked(n_features)

    def _split(self, shared: Floats) -> tuple[Floats, Floats, Floats]:
        """(mu0, sigma2, sigma0), each (d,)."""
        if self.covariance == "diagonal":
            mu0, sigma2, sigma0 = np.split(shared, 3)
            return mu0, sigma2, sigma0
        mu0 = shared[:-2]
        return mu0, np.full(len(mu0), shared[-2]), np.full(len(mu0), shared[-1])


class SharedGaussianFamily(ConjugateFamily):
    """The conditionals of `SharedGaussian` for given data.

    In the coordinates y = (x - location) / scale, with v, w the variances there and o_d = 1 where
    entry d is observed, t(x) = (o y, 1), or (o y, o, 1) where some entries are missing, and

        log f(x; theta) = sum_d o_d [ y_d m_d / v_d - m_d^2 / (2 v_d) ] + h(x).
    """

    # Put in by `at`: mu0, sigma2 and sigma0 in these coordinates.
    _m0: Floats
    _v: Floats
    _w: Floats

    def __init__(self, likelihood: SharedGaussian, X: Floats, summary: ColumnSummary | None = None):
        self.n_rows, d = X.shape
        self._likelihood = likelihood
        self._location, self._scale = likelihood.checked(d)
        self._least = checked_least(likelihood, d)
        self._spherical = likelihood.covariance == "spherical"
        self._missing = summary_of_all(X, summary).has_missing
        self.n_parameters, self.n_statistics = d, (2 * d if self._missing else d) + 1
        self.n_shared = d + 2 if self._spherical else 3 * d
        self._X, self._kept = X, None
        self._observed, self._squares, largest = np.zeros(d), np.zeros(d), 0.0
        for rows in slices(len(X)):
            t = self.statistics(rows)
            self._observed += self._counts(t).sum(axis=0)
            self._squares += np.einsum("nd,nd->d", t[:, :d], t[:, :d])
            largest = max(largest, np.abs(t[:, :d]).max())
        self.subtracts_well = bool(largest < _VERY_LARGE)
        if X.nbytes <= LARGEST_COPY:
            self._kept, self._X = self.statistics(slice(0, self.n_rows)), None

    def at(self, shared: Floats) -> Self:
        """A copy that holds mu0, sigma2 and sigma0."""
        family = copy.copy(self)
        mu0, sigma2, sigma0 = self._likelihood._split(shared)
        family._m0 = (mu0 - self._location) / self._scale
        family._v, family._w = sigma2 / self._scale**2, sigma0 / self._scale**2
        return family

    def shared_sums(self) -> Floats:
        """(sum_n o, sum_n o y^2), column by column."""
        return np.concatenate([self._observed, self._squares])

    def with_shared_sums(self, sums: Floats) -> Self:
        """A copy that draws shared numbers from these sums of all rows."""
        family = copy.copy(self)
        family._observed, family._squares = np.split(sums, 2)
        return family

    def start_shared(self) -> Floats:
        """mu0 at the location, sigma2 a fifth of the scale squared, sigma0 the scale squared."""
        units = self._scale[:1] ** 2 if self._spherical else self._scale**2
        return np.concatenate([self._location, np.maximum(0.2, self._least) * units, units])

    def draw_shared(self, theta: Floats, sums: Floats, rng: np.random.Generator) -> Floats:
        """sigma2 | theta, X; then mu0 | theta, sigma0; then sigma0 | theta, mu0.

        With N_d observed entries and SS_d = sum_n o_d (y_d - m_d)^2 in units of scale:
        sigma2_d ~ IG(noise_shape + N_d / 2, noise_scale + SS_d / 2), above least_variance_d;
        mu0_d ~ N(sum_k m_kd / (w_d + K), w_d / (w_d + K));
        sigma0_d ~ IG(spread_shape + K / 2, spread_scale + sum_k (m_kd - m0_d)^2 / 2).
        Spherical: shapes and scales add up over the columns.
        """
        prior, d, k = self._likelihood, self.n_parameters, len(theta)
        m = (theta - self._location) / self._scale
        count, y = self._counts(sums), sums[:, :d]
        ss = np.maximum(self._squares + (m * (m * count - 2 * y)).sum(axis=0), 0.0)
        v = self._draw_variance(
            prior.noise_shape, prior.noise_scale, self._observed, ss, self._least, rng
        )
        m0 = m.sum(axis=0) / (self._w + k)
        m0 += rng.standard_normal(d) * np.sqrt(self._w / (self._w + k))
        ss0 = ((m - m0) ** 2).sum(axis=0)
        w = self._draw_variance(
            prior.spread_shape, prior.spread_scale, np.full(d, float(k)), ss0, np.zeros(1), rng
        )
        units = self._scale[:1] ** 2 if self._spherical else self._scale**2
        return np.concatenate([self._location + self._scale * m0, v * units, w * units])

    def log_prior_shared(self) -> float:
        """log p(mu0) + log p(sigma2) + log p(sigma0), in the units of the data."""
        prior = self._likelihood
        log_p = -0.5 * (self._m0**2 + np.log(2 * np.pi)).sum() - np.log(self._scale).sum()
        for value, shape, scale in (
            (self._v, prior.noise_shape, prior.noise_scale),
            (self._w, prior.spread_shape, prior.spread_scale),
        ):
            each = shape * np.log(scale) - gammaln(shape) - (shape + 1) * np.log(value)
            each = each - scale / value - 2 * np.log(self._scale)
            log_p += each[0] if self._spherical else each.sum()
        with np.errstate(divide="ignore"):
            above = gammainc(prior.noise_shape, prior.noise_scale / self._least)
        return float(log_p - np.log(above).sum())

    def statistics(self, rows: slice) -> Floats:
        """(o y, 1) or (o y, o, 1)."""
        if self._kept is not None:
            return self._kept[rows]
        assert self._X is not None, "the data are here if no copy was kept"
        return observed_statistics((self._X[rows] - self._location) / self._scale, self._missing)

    def points(self, rows: slice) -> Floats:
        """y: columns in units of scale."""
        return observed_points(self.statistics(rows), self.n_parameters, self._missing)

    def natural(self, theta: Floats) -> Floats:
        """(m / v, -|m|^2 / (2 v)), by column where entries are missing."""
        m = (theta - self._location) / self._scale
        slope, fall = m / self._v, -0.5 * m**2 / self._v
        if self._missing:
            return np.column_stack([slope, fall, np.zeros(len(theta))])
        return np.column_stack([slope, fall.sum(axis=1)])

    def log_base(self) -> Floats:
        """sum_d o_d [ -y_d^2 / (2 v_d) - log(2 pi v_d) / 2 - log scale_d ]."""
        each = -0.5 * np.log(2 * np.pi * self._v) - np.log(self._scale)
        return self._quadratic(-0.5 / self._v, np.zeros_like(each), each)

    def log_new(self) -> Floats:
        """log f*(x) - h(x): y_d ~ N(m0_d, v_d + w_d) for every observed entry."""
        wide = self._v + self._w
        return self._quadratic(
            0.5 / self._v - 0.5 / wide,
            self._m0 / wide,
            -0.5 * self._m0**2 / wide - 0.5 * np.log(wide / self._v),
        )

    def log_prior(self, theta: Floats) -> Floats:
        """theta_d ~ N(mu0_d, sigma0_d)."""
        m = (theta - self._location) / self._scale
        each = -0.5 * (m - self._m0) ** 2 / self._w - 0.5 * np.log(2 * np.pi * self._w)
        return (each - np.log(self._scale)).sum(axis=1)

    def log_maximum(self, sums: Floats) -> Floats:
        """sum_d (sum o y_d)^2 / (2 v_d N_kd)."""
        squares = sums[:, : self.n_parameters] ** 2 / (2 * self._v)
        return over(squares, self._counts(sums)).sum(axis=1)

    def draw_theta(self, sums: Floats, rng: np.random.Generator) -> Floats:
        """m_kd ~ N((m0_d / w_d + sum o y / v_d) / P, 1 / P), P = 1 / w_d + N_kd / v_d."""
        precision = 1 / self._w + self._counts(sums) / self._v
        m = (self._m0 / self._w + sums[:, : self.n_parameters] / self._v) / precision
        m += rng.standard_normal(m.shape) / np.sqrt(precision)
        return self._location + self._scale * m

    def _counts(self, sums: Floats) -> Floats:
        """(K, d) or (K, 1): how many entries of each column a component has seen."""
        return sums[:, self.n_parameters : -1] if self._missing else sums[:, -1:]

    def _quadratic(self, square: Floats, linear: Floats, constant: Floats) -> Floats:
        """(n,): sum_d o_d [ square_d y_d^2 + linear_d y_d + constant_d ]."""
        d = self.n_parameters

        def of_slice(rows: slice) -> Floats:
            t = self.statistics(rows)
            y = t[:, :d]
            total = (y * (square * y + linear)).sum(axis=1)
            total += t[:, d:-1] @ constant if self._missing else constant.sum()
            return total

        return by_rows(self.n_rows, of_slice)

    def _draw_variance(self, shape, scale, count, squares, least, rng) -> Floats:
        """IG(shape + count / 2, scale + squares / 2) above `least`, one a column or one for all."""
        if self._spherical:
            count, squares = count.sum(keepdims=True), squares.sum(keepdims=True)
        scale = scale + squares / 2
        with np.errstate(divide="ignore"):
            most = scale / least
        return np.maximum(scale / gamma_below(shape + count / 2, most, rng), least)
