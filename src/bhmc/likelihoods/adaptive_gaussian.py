"""Gaussian components with variances of their own, as alike as the data say; all scales learned."""

import copy
import math
from dataclasses import dataclass
from typing import Any, NoReturn, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaincc, gammainccinv, gammaln

from bhmc.likelihoods._protocol import ConjugateFamily, Likelihood
from bhmc.likelihoods._resolution import checked_least, least_variance
from bhmc.likelihoods._summary import ColumnSummary
from bhmc.likelihoods._truncated import gamma_above
from bhmc.likelihoods._units import Learning
from bhmc.likelihoods.blocks import Floats, rows_in_cache, slices
from bhmc.likelihoods.free_gaussian import FreeGaussian, FreeGaussianFamily
from bhmc.likelihoods.slice_sampler import slice_draw

# Priors of what is learned, in units of the columns' standard deviations: Gamma(shape, rate).
_TYPICAL = 1.0, 2.0
_STRENGTH = 1.0, 2.0
_SHAPE = 2.0, 0.5

# Columns of many equal numbers (blank pixels) have densities without end: variances would vanish
# and means spread. So there is a least typical variance, a least strength and a least shape.
_SMALLEST_TYPICAL, _SMALLEST_STRENGTH, _SMALLEST_SHAPE = 0.02, 0.02, 1.0

_START = {"typical": 0.2, "strength": 0.2, "shape": 4.0}


@dataclass(frozen=True, eq=False)
class AdaptiveGaussian(Learning):
    """Gaussian components, columns independent; how they vary among each other is learned.

    In units of `scale` around `location`, for a component and every column d:

        v_d ~ InverseGamma(shape, shape typical_d)    m_d ~ N(mu0_d, v_d / strength_d)
        y_d ~ N(m_d, v_d),   y = (x - location) / scale

    and over all of them, learned,

        mu0_d ~ N(0, 1)    typical_d ~ Gamma(1, 2), at least 0.02 and least_variance_d
        strength_d ~ Gamma(1, 2), at least 0.02    shape ~ Gamma(2, 0.5), at least 1.

    A large shape makes the variances of all components alike; a large strength_d makes column d
    tell little about components, and cost them little. Missing entries (NaN) are skipped exactly.
    A row of theta holds the d means, then the logarithms of the variances (d of them, or one), both
    in the units of the data.

    Parameters
    ----------
    covariance : {"diagonal", "spherical"}, default="diagonal"
        "spherical" has one variance for all columns of a component, and one `typical` and
        `strength`: for columns in the same units.
    location, scale : float or (d,), default=0.0, 1.0
        Middle and standard deviation of the columns. `BHMC` takes them from the data where the
        likelihood is given by name.
    least_variance : float or (d,), default=0.0
        `typical` is no smaller, in units of scale squared. `BHMC` takes it from the data where the
        likelihood is given by name: what so many rows can show (docs/families.md).
    """

    covariance: str = "diagonal"
    location: ArrayLike = 0.0
    scale: ArrayLike = 1.0
    least_variance: ArrayLike = 0.0

    allows_missing = True

    @classmethod
    def scaled_to(cls, X: Floats, **settings: Any) -> "AdaptiveGaussian":
        """The family in the units of X, no finer than its rows can show. X must hold all rows."""
        free = FreeGaussian.scaled_to(X, **settings)
        least = least_variance(X, free)
        return cls(location=free.location, scale=free.scale, least_variance=least, **settings)

    def prepare(self, X: Floats, summary: ColumnSummary | None = None) -> ConjugateFamily:
        """The family bound to X."""
        return AdaptiveGaussianFamily(self, X, summary)

    def at(self, shared: Floats) -> "SettledGaussian":
        """The likelihood with these shared numbers known."""
        return SettledGaussian(self.covariance, *split(shared, self.covariance))

    def sample_shared(self, n_features: int, rng: np.random.Generator) -> Floats:
        """(mu0, typical, strength, shape) from their priors, typical in squared units of X."""
        location, scale = self.free.checked(n_features)
        least = self.least_typical(n_features)
        each = len(least)
        mu0 = location + scale * rng.standard_normal(n_features)
        typical = _sample_above(least, *_TYPICAL, rng) * scale[:each] ** 2
        strength = _sample_above(np.full(each, _SMALLEST_STRENGTH), *_STRENGTH, rng)
        shape = _sample_above(np.array([_SMALLEST_SHAPE]), *_SHAPE, rng)
        return np.concatenate([mu0, typical, strength, shape])

    def least_typical(self, n_features: int) -> Floats:
        """(d,) or (1,): the least typical variance, in units of scale."""
        return np.maximum(checked_least(self, n_features), _SMALLEST_TYPICAL)

    @property
    def free(self) -> FreeGaussian:
        """The family it is with numbers of its own."""
        return FreeGaussian(self.covariance, self.location, self.scale)


def split(shared: Floats, covariance: str) -> tuple[Floats, Floats, Floats, float]:
    """(mu0 (d,), typical, strength, shape); the second and third (d,) or (1,)."""
    rest = len(shared) - 1
    d = rest // 3 if covariance == "diagonal" else rest - 2
    each = (rest - d) // 2
    return shared[:d], shared[d : d + each], shared[d + each : rest], float(shared[-1])


@dataclass(frozen=True, eq=False)
class SettledGaussian(Likelihood):
    """`AdaptiveGaussian` with its shared numbers known, for simulation alone."""

    covariance: str
    mu0: Floats
    typical: Floats
    strength: Floats
    shape: float

    def prepare(self, X: Floats, summary: ColumnSummary | None = None) -> NoReturn:
        """Refused: this class simulates data and cannot be fitted."""
        raise TypeError("SettledGaussian simulates data and cannot be fitted.")

    def sample_theta(self, size: int, n_features: int, rng: np.random.Generator) -> Floats:
        """v ~ InverseGamma(shape, shape typical), m ~ N(mu0, v / strength)."""
        v = self.shape * self.typical / rng.gamma(self.shape, size=(size, len(self.typical)))
        mean = self.mu0 + np.sqrt(v / self.strength) * rng.standard_normal((size, n_features))
        return np.hstack([mean, np.log(v)])

    def sample_data(self, theta: Floats, rng: np.random.Generator) -> Floats:
        """x_i ~ N(mean_i, variance_i)."""
        d = len(self.mu0)
        return theta[:, :d] + np.exp(theta[:, d:] / 2) * rng.standard_normal((len(theta), d))


class AdaptiveGaussianFamily(FreeGaussianFamily):
    """The conditionals of `AdaptiveGaussian`: those of `FreeGaussianFamily` around mu0.

    With n entries of sum s and sum of squares Q, those around mu0 are s - n mu0 and
    Q - 2 mu0 s + n mu0^2.
    """

    # Put in by `at`, in the coordinates y.
    _m0: Floats
    _typical: Floats
    _strength: Floats
    _shape: float

    def __init__(
        self, likelihood: AdaptiveGaussian, X: Floats, summary: ColumnSummary | None = None
    ):
        super().__init__(likelihood.free, X, summary)
        self._least = likelihood.least_typical(self._d)
        self.n_shared = self._d + 2 * self._each + 1

    def at(self, shared: Floats) -> Self:
        """A copy that holds (mu0, typical, strength, shape)."""
        family = copy.copy(self)
        mu0, typical, strength, family._shape = split(shared, self._prior.covariance)
        family._m0 = (mu0 - self._location) / self._scale
        family._typical = typical / self._scale[: self._each] ** 2
        family._strength = strength
        return family

    def start_shared(self) -> Floats:
        """mu0 at the location, a fifth of the variance within components, and so on: `_START`."""
        typical = np.maximum(_START["typical"], self._least) * self._scale[: self._each] ** 2
        strength = np.full(self._each, _START["strength"])
        return np.concatenate([self._location, typical, strength, [_START["shape"]]])

    def draw_shared(self, theta: Floats, sums: Floats, rng: np.random.Generator) -> Floats:
        """In turn, given the K components' m and v (spherical: sums over columns as well),

        mu0_d ~ N(sum_k strength m / v / P, 1 / P), P = 1 + sum_k strength / v;
        strength_d ~ Gamma(1 + K / 2, 2 + sum_k (m - mu0)^2 / (2 v)), above its least value;
        typical_d ~ Gamma(1 + K shape, 2 + shape sum_k 1 / v), likewise;
        shape by a slice of its conditional.
        """
        m, log_v = self._enter(theta)
        inverse = np.exp(-log_v)
        precision = 1 + (self._strength * inverse).sum(axis=0)
        m0 = (self._strength * inverse * m).sum(axis=0) / precision
        m0 = m0 + rng.standard_normal(self._d) / np.sqrt(precision)
        count = len(theta) * self._d / self._each
        squares = self._pooled((m - m0) ** 2 * inverse).sum(axis=0)
        strength = _gamma_above(
            np.full(self._each, _SMALLEST_STRENGTH),
            _STRENGTH[0] + count / 2,
            _STRENGTH[1] + squares / 2,
            rng,
        )
        total = inverse.sum(axis=0)
        typical = _gamma_above(
            self._least,
            _TYPICAL[0] + len(theta) * self._shape,
            _TYPICAL[1] + self._shape * total,
            rng,
        )
        ratio = (np.log(typical) - log_v).sum() - (typical * total).sum()
        n = log_v.size

        def log_density(shape: float) -> float:
            if shape < _SMALLEST_SHAPE:
                return -math.inf
            likelihood = shape * (n * math.log(shape) + ratio) - n * math.lgamma(shape)
            return likelihood + (_SHAPE[0] - 1) * math.log(shape) - _SHAPE[1] * shape

        shape = slice_draw(log_density, self._shape, rng)
        units = self._scale[: self._each] ** 2
        mu0 = self._location + self._scale * m0
        return np.concatenate([mu0, typical * units, strength, [shape]])

    def log_prior_shared(self) -> float:
        """Log density of (mu0, typical, strength, shape)."""
        log_p = (-0.5 * (self._m0**2 + np.log(2 * np.pi)) - np.log(self._scale)).sum()
        log_p += _log_gamma_density(self._typical, *_TYPICAL, self._least).sum()
        log_p -= 2 * np.log(self._scale[: self._each]).sum()
        log_p += _log_gamma_density(self._strength, *_STRENGTH, _SMALLEST_STRENGTH).sum()
        return float(log_p + _log_gamma_density(np.array(self._shape), *_SHAPE, _SMALLEST_SHAPE))

    def log_new(self) -> Floats:
        """log f*(x) - h(x): as `FreeGaussianFamily`, with y - mu0, and a column's own w.

        Spherical: the multivariate t with entries of equal scale.
        """
        shape, d = self._shape, self._d
        w = shape * self._typical * (1 + 1 / self._strength)
        log_new = np.empty(self.n_rows)
        # Every sweep does this for all rows: in the cache of a core, and in place.
        for rows in slices(self.n_rows, rows_in_cache(d)):
            t = self.statistics(rows)
            # Where nothing is missing, a row has one entry of each column, as any other.
            count = self._counts(t) if self._missing else self._counts(t)[:1]
            half = self._halves(count)
            fall = self._around(t[:, :d], t[:, d : d + self._each], count)
            fall /= 2 * w
            np.log1p(fall, out=fall)
            fall *= shape + half
            constant = gammaln(shape + half) - gammaln(shape) - half * np.log(w)
            np.subtract(constant, fall, out=fall)
            log_new[rows] = fall.sum(axis=1)
        return log_new

    def log_evidence(self, sums: Floats) -> Floats:
        """As `FreeGaussianFamily`, with R = Q + strength mu0^2 - (s + strength mu0)^2 / l."""
        d, count = self._d, self._counts(sums)
        strength, pull = self._strength + count, sums[:, :d] + self._strength * self._m0
        pull *= pull
        pull /= strength
        rest = sums[:, d : d + self._each] - self._pooled(pull)
        rest += self._pooled((self._strength * self._m0**2)[None])
        return self._log_evidence(count, rest, strength, np.log(self._strength))

    def log_prior(self, theta: Floats) -> Floats:
        """Log density of (means, log variances) as theta holds them."""
        m, log_v = self._enter(theta)
        scale = self._shape * self._typical
        log_p = self._shape * (np.log(scale) - log_v) - scale * np.exp(-log_v)
        log_p = log_p - gammaln(self._shape)
        log_m = np.log(self._strength / (2 * np.pi)) - log_v
        log_m = 0.5 * (log_m - self._strength * (m - self._m0) ** 2 / np.exp(log_v))
        return log_p.sum(axis=1) + (log_m - self._log_scale).sum(axis=1)

    def draw_theta(self, sums: Floats, rng: np.random.Generator) -> Floats:
        """v ~ IG(shape + n / 2, shape typical + R / 2), m ~ N(mu0 + s' / l, v / l),

        l = strength + n, with s', Q' around mu0 and R = Q' - s'^2 / l.
        """
        d, count = self._d, self._counts(sums)
        strength = self._strength + count
        s = sums[:, :d] - count * self._m0
        rest = self._around(sums[:, :d], sums[:, d : d + self._each], count)
        rest = rest - self._pooled(s * s / strength)
        shape = self._shape + self._halves(count)
        v = self._shape * self._typical + np.maximum(rest, 0.0) / 2
        v = v / rng.standard_gamma(shape, v.shape)
        m = self._m0 + s / strength + rng.standard_normal(s.shape) * np.sqrt(v / strength)
        return np.hstack([self._location + self._scale * m, np.log(v) + self._log_units])

    def _variance_prior(self) -> tuple[float, Floats | float]:
        """(shape, shape typical)."""
        return self._shape, self._shape * self._typical

    def _around(self, s: Floats, squares: Floats, count: Floats) -> Floats:
        """Sums of (y - mu0)^2 from those of y and y^2."""
        change = 2 * s
        np.subtract(count * self._m0, change, out=change)
        change *= self._m0
        change = self._pooled(change)
        change += squares
        return np.maximum(change, 0.0, out=change)


def _gamma_above(least: Floats, shape: float, rate: Floats | float, rng) -> Floats:
    """Gamma(shape, rate), given that it is above `least`."""
    return np.maximum(gamma_above(np.asarray(shape), least * rate, rng) / rate, least)


def _sample_above(least: Floats, shape: float, rate: float, rng) -> Floats:
    """The same by its distribution function, for simulation."""
    mass = gammaincc(shape, least * rate)
    return np.maximum(gammainccinv(shape, mass * (1 - rng.random(len(least)))) / rate, least)


def _log_gamma_density(x: Floats, shape: float, rate: float, least: Floats | float = 0.0) -> Floats:
    """Log density of Gamma(shape, rate) above `least`."""
    log_p = shape * np.log(rate) - gammaln(shape) + (shape - 1) * np.log(x) - rate * x
    return log_p - np.log(gammaincc(shape, rate * least))
