"""x ~ N(mean, variance), with a mean and variances of every component's own."""

import copy
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln

from bhmc._validation.parameters import check_positive
from bhmc.likelihoods._missing import observed_points
from bhmc.likelihoods._protocol import ConjugateFamily
from bhmc.likelihoods._summary import ColumnSummary, summary_of_all
from bhmc.likelihoods._units import InUnits
from bhmc.likelihoods.blocks import LARGEST_COPY, Floats, by_rows, over, slices

# The square of a scaled value beyond this costs a sum digits when it is subtracted again.
_VERY_LARGE = 1e3

# Beyond this, a variance that holds the square of a scaled value may overflow.
_LARGEST_SCALED = 1e100

# With a smaller shape an inverse-gamma variance may overflow a double.
_SMALLEST_SHAPE = 0.1


@dataclass(frozen=True, eq=False)
class FreeGaussian(InUnits):
    """Gaussian components, each with a mean and variances of its own, columns independent.

    In units of `scale` around `location`, y = (x - location) / scale, for every column d:

        v_d ~ InverseGamma(shape, noise)    m_d ~ N(0, v_d / strength)    y_d ~ N(m_d, v_d)

    Missing entries (NaN) are skipped exactly. A row of theta holds the d means, then the logarithms
    of the variances (d of them, or one), both in the units of the data.

    Parameters
    ----------
    covariance : {"diagonal", "spherical"}, default="diagonal"
        "spherical" has one variance for all columns of a component: for columns in the same units,
        such as principal components.
    location, scale : float or (d,), default=0.0, 1.0
        Middle and standard deviation of the columns. `BHMC` takes them from the data where the
        likelihood is given by name.
    shape, noise : float, default=2.0, 0.2
        Prior of the variances; their prior mean is noise / (shape - 1).
    strength : float, default=0.2
        How many data the prior mean counts for: component means spread by 1 / strength of their
        variance, so that with the defaults they spread as the data do.
    """

    covariance: str = "diagonal"
    location: ArrayLike = 0.0
    scale: ArrayLike = 1.0
    shape: float = 2.0
    noise: float = 0.2
    strength: float = 0.2

    def prepare(self, X: Floats, summary: ColumnSummary | None = None) -> ConjugateFamily:
        """The family bound to X."""
        return FreeGaussianFamily(self, X, summary)

    def sample_theta(self, size: int, n_features: int, rng: np.random.Generator) -> Floats:
        """v ~ InverseGamma(shape, noise), m ~ N(0, v / strength), (size, d + d or d + 1)."""
        location, scale = self.checked(n_features)
        each = n_features if self.covariance == "diagonal" else 1
        from scipy import stats  # 50 MB, which a worker that keeps rows does not need

        v = stats.invgamma.rvs(self.shape, scale=self.noise, size=(size, each), random_state=rng)
        variance = v * scale[:each] ** 2
        mean = rng.normal(location, np.sqrt(variance / self.strength), (size, n_features))
        return np.hstack([mean, np.log(variance)])

    def sample_data(self, theta: Floats, rng: np.random.Generator) -> Floats:
        """x_i ~ N(mean_i, variance_i), (len(theta), d)."""
        n_parameters = theta.shape[1]
        d = n_parameters // 2 if self.covariance == "diagonal" else n_parameters - 1
        return rng.normal(theta[:, :d], np.exp(theta[:, d:] / 2))

    def checked(self, n_features: int) -> tuple[Floats, Floats]:
        """(location, scale) as (d,) vectors, every setting checked."""
        for name in ("shape", "noise", "strength"):
            check_positive(getattr(self, name), name)
        if self.shape < _SMALLEST_SHAPE:
            raise ValueError(
                f"shape must be at least {_SMALLEST_SHAPE}, because variances overflow double "
                f"precision with less, got {self.shape!r}."
            )
        return super().checked(n_features)


class FreeGaussianFamily(ConjugateFamily):
    """The conditionals of `FreeGaussian` for given data.

    With o_d = 1 where entry d is observed, t(x) = (o y, o y^2, 1), or (o y, o y^2, o, 1) where some
    entries are missing (spherical: |o y|^2 in place of o y^2), and

        log f(x; theta) = sum_d o_d [ y_d m_d / v_d - y_d^2 / (2 v_d)
                                      - m_d^2 / (2 v_d) - log(v_d) / 2 ] + h(x),
        h(x) = -sum_d o_d [ log(2 pi) / 2 + log scale_d ].

    The terms cancel where a component is narrow and far from location. But strength ties the mean
    to the variance: given n rows, m^2 / v is of the order of n / strength at most, and no more
    digits than this number has are lost.
    """

    # Put in by `with_spread`: variances in the coordinates y.
    _within: Floats

    def __init__(self, likelihood: FreeGaussian, X: Floats, summary: ColumnSummary | None = None):
        self.n_rows, self._d = X.shape
        self._prior = likelihood
        self._location, self._scale = likelihood.checked(self._d)
        self._log_scale = np.log(self._scale)
        self._spherical = likelihood.covariance == "spherical"
        self._missing = summary_of_all(X, summary).has_missing
        self._each = 1 if self._spherical else self._d
        # What to add to log v for a variance in the units of the data.
        self._log_units = 2 * self._log_scale[: self._each]
        self.n_parameters = self._d + self._each
        self.n_statistics = self._d + self._each + self._d * self._missing + 1
        self._X, self._kept = X, None
        widest = max((self._widest(rows) for rows in slices(self.n_rows)), default=0.0)
        if not widest < _LARGEST_SCALED:
            raise ValueError(
                "X is too far from location in units of scale: a scaled value is beyond "
                f"{_LARGEST_SCALED:g}."
            )
        self.subtracts_well = bool(widest < _VERY_LARGE)
        if self.n_rows * self.n_statistics * X.itemsize <= LARGEST_COPY:
            self._kept, self._X = self.statistics(slice(0, self.n_rows)), None

    def statistics(self, rows: slice) -> Floats:
        """(o y, o y^2, 1) or (o y, o y^2, o, 1)."""
        if self._kept is not None:
            return self._kept[rows]
        y, d = self._scaled(rows), self._d
        t = np.ones((len(y), self.n_statistics))
        if self._missing:
            observed = ~np.isnan(y)
            t[:, -d - 1 : -1] = observed
            y = np.where(observed, y, 0.0)
        t[:, :d] = y
        t[:, d : d + self._each] = self._pooled(y**2)
        t.flags.writeable = False
        return t

    def points(self, rows: slice) -> Floats:
        """y: every column in units of its scale, all in the same where the family is spherical."""
        return observed_points(self.statistics(rows), self._d, self._missing)

    def natural(self, theta: Floats) -> Floats:
        """(m / v, -1 / (2 v), -sum_d [ m_d^2 / v_d + log v_d ] / 2), the last by column where some
        entries are missing.
        """
        m, log_v = self._enter(theta)
        v = np.exp(log_v)
        slope = m / v
        fall = -0.5 * (slope * m + log_v)
        last = [fall, np.zeros((len(theta), 1))] if self._missing else [fall.sum(axis=1)[:, None]]
        return np.hstack([slope, -0.5 / v, *last])

    def fill(
        self, rows: slice, statistics: NDArray[Any], natural: NDArray[Any], out: NDArray[Any]
    ) -> None:
        """eta . t in float64 whatever the type of the table: y^2 / v is large before it cancels."""
        if out.dtype == np.float64:
            super().fill(rows, statistics, natural, out)
        else:
            out[:] = statistics @ natural.T

    def log_base(self) -> Floats:
        """-sum_d o_d [ log(2 pi) / 2 + log scale_d ]."""
        each = -0.5 * np.log(2 * np.pi) - self._log_scale
        return by_rows(self.n_rows, lambda rows: self._entries(self.statistics(rows)) @ each)

    def log_new(self) -> Floats:
        """log f*(x) - h(x): y_d ~ Student t with 2 shape degrees of freedom, location 0 and squared
        scale w / shape, w = noise (1 + 1 / strength).

        Spherical: the multivariate t of all q observed entries. In both cases (q = 1 or 0 above),

            log f*(y) = log G(shape + q / 2) - log G(shape) - (q / 2) log(2 pi w)
                        - (shape + q / 2) log(1 + |y|^2 / (2 w)).
        """
        shape, d = self._prior.shape, self._d
        w = self._prior.noise * (1 + 1 / self._prior.strength)

        def of_slice(rows: slice) -> Floats:
            t = self.statistics(rows)
            half = self._halves(self._counts(t))
            fall = (shape + half) * np.log1p(t[:, d : d + self._each] / (2 * w))
            each = gammaln(shape + half) - gammaln(shape) - half * np.log(w) - fall
            return each.sum(axis=1)

        return by_rows(self.n_rows, of_slice)

    def log_evidence(self, sums: Floats) -> Floats:
        """With shape a, scale b and l = strength + n, for n entries, R as in `draw_theta`:

        sum_d log G(a + n / 2) / G(a) + a log b - (a + n / 2) log(b + R / 2)
              + log(strength / l) / 2.
        Spherical: n and R add up over the columns.
        """
        d, count = self._d, self._counts(sums)
        strength = self._prior.strength + count
        rest = sums[:, d : d + self._each] - self._pooled(sums[:, :d] ** 2 / strength)
        return self._log_evidence(count, rest, strength, np.log(self._prior.strength))

    def _log_evidence(
        self, count: Floats, rest: Floats, strength: Floats, log_strength: Floats | float
    ) -> Floats:
        """`log_evidence` from the entries n, R, which is written to, l and log strength."""
        (shape, noise), half = self._variance_prior(), self._halves(count)
        exponent, wide = shape + half, np.maximum(rest, 0.0, out=rest)
        wide /= 2
        wide += noise
        value = -(exponent * np.log(wide, out=wide)).sum(axis=1)
        each = gammaln(exponent) - gammaln(shape) + shape * np.log(noise)
        value += np.broadcast_to(each, wide.shape).sum(axis=1)
        shares = np.broadcast_to(log_strength - np.log(strength), (len(count), self._d))
        return value + 0.5 * shares.sum(axis=1)

    def log_prior(self, theta: Floats) -> Floats:
        """Log density of (means, log variances) as theta holds them: v ~ IG(shape, noise) and
        m ~ N(0, v / strength), with the factors v of dv = v dlog(v) and 1 / scale of each mean.
        """
        prior = self._prior
        m, log_v = self._enter(theta)
        log_p = prior.shape * (np.log(prior.noise) - log_v) - prior.noise * np.exp(-log_v)
        log_m = np.log(prior.strength / (2 * np.pi)) - log_v - prior.strength * m**2 / np.exp(log_v)
        log_m = 0.5 * log_m - self._log_scale
        return (log_p - gammaln(prior.shape)).sum(axis=1) + log_m.sum(axis=1)

    def draw_theta(self, sums: Floats, rng: np.random.Generator) -> Floats:
        """v ~ IG(shape + n / 2, noise + R / 2), then m ~ N(s / l, v / l), l = strength + n,

        for every component and column: n entries with sum s and sum of squares Q, R = Q - s^2 / l.
        Spherical: n and R of a component add up over its columns.
        """
        d, count = self._d, self._counts(sums)
        strength = self._prior.strength + count
        centre = sums[:, :d] / strength
        # Never below 0, but for rounding.
        rest = sums[:, d : d + self._each] - self._pooled(sums[:, :d] * centre)
        shape = self._prior.shape + self._halves(count)
        v = self._prior.noise + np.maximum(rest, 0.0) / 2
        v = v / rng.standard_gamma(shape, v.shape)
        m = centre + rng.standard_normal(centre.shape) * np.sqrt(v / strength)
        return np.hstack([self._location + self._scale * m, np.log(v) + self._log_units])

    def log_maximum(self, sums: Floats) -> Floats:
        """sum_d (sum o y_d)^2 / (2 v_d N_kd), v being the variances within all components."""
        return self.log_maximum_by_variance(sums)[0].sum(axis=1)

    def log_maximum_by_variance(self, sums: Floats) -> tuple[Floats, Floats]:
        """Column by column; spherical: all of them together."""
        count = self._counts(sums)
        squares = self._pooled(over(sums[:, : self._d] ** 2, count)) / (2 * self._within)
        return squares, np.broadcast_to(2 * self._halves(count), squares.shape)

    def with_spread(self, sums: Floats) -> Self:
        """A copy with v = (sum_k R_k + 2 K noise) / (sum_k n_k + 2 K shape), column by column.

        R_k is the sum of squares of n_k entries about their mean. Each component's prior counts for
        2 shape entries of variance noise / shape, so that v is above 0 where all components are
        single rows. Spherical: R and n add up over the columns.
        """
        family, (shape, noise) = copy.copy(self), self._variance_prior()
        d, count = self._d, self._counts(sums)
        rest = sums[:, d : d + self._each] - self._pooled(over(sums[:, :d] ** 2, count))
        total = np.maximum(rest, 0.0).sum(axis=0) / 2 + len(sums) * noise
        family._within = total / (self._halves(count).sum(axis=0) + len(sums) * shape)
        return family

    def _variance_prior(self) -> tuple[float, Floats | float]:
        """(shape, scale) of the inverse gamma law of v."""
        return self._prior.shape, self._prior.noise

    def _enter(self, theta: Floats) -> tuple[Floats, Floats]:
        """(m, log v), (K, d) and (K, d) or (K, 1), in units of scale."""
        m = (theta[:, : self._d] - self._location) / self._scale
        return m, theta[:, self._d :] - self._log_units

    def _scaled(self, rows: slice) -> Floats:
        """y, with NaN where it is missing."""
        assert self._X is not None, "the data are here if no copy was kept"
        return (self._X[rows] - self._location) / self._scale

    def _widest(self, rows: slice) -> float:
        with np.errstate(over="ignore"):  # refused, in words
            return np.fmax.reduce(np.abs(self._scaled(rows)), axis=None, initial=0.0)

    def _counts(self, t: Floats) -> Floats:
        """(K, d): how many entries of each column are in statistics or sums of them; (K, 1) where
        every column has as many, so that what is a number's alone is not worked out d times.
        """
        return t[:, -self._d - 1 : -1] if self._missing else t[:, -1:]

    def _entries(self, t: Floats) -> Floats:
        """(K, d): the same, always for every column."""
        return np.broadcast_to(self._counts(t), (len(t), self._d))

    def _halves(self, count: Floats) -> Floats:
        """Half the entries behind each variance, from those of each column."""
        if self._spherical and not self._missing:
            return count * self._d / 2
        return self._pooled(count) / 2

    def _pooled(self, by_column: Floats) -> Floats:
        """What belongs to one variance, added up: all columns where it is spherical."""
        return by_column.sum(axis=1, keepdims=True) if self._spherical else by_column
