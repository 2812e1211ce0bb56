"""The conditionals of `Gaussian` where sigma2, one number for all components, is learned."""

import copy
import math
from typing import TYPE_CHECKING, Self

import numpy as np
from scipy.special import gammainc, gammaincc, gammainccinv, gammaincinv

from bhmc._validation.parameters import check_covariance, check_vector
from bhmc.likelihoods._protocol import ConjugateFamily
from bhmc.likelihoods._scales import column_scales, common_deviation
from bhmc.likelihoods._summary import ColumnSummary, summary_of_all
from bhmc.likelihoods.blocks import LARGEST_COPY, Floats, by_rows, over
from bhmc.likelihoods.slice_sampler import slice_draw
from bhmc.priors import InverseGamma, Prior, Uniform

if TYPE_CHECKING:
    from bhmc.likelihoods.gaussian import Gaussian

# A chain starts with this share of the data's variance as sigma2, where the prior allows it.
_START_SHARE = 0.2

# Equal rows have a density without end as sigma2 vanishes: it stays above this share of the data's
# variance, where digits begin to run out.
_SMALLEST_SHARE = 1e-10

# A row more standard deviations from the middle than this costs a sum digits when it is subtracted
# again.
_VERY_FAR = 1e6

# Probabilities below this are not asked of the distribution function.
_LEAST_PROBABILITY = 1e-150


class LearnedNoiseFamily(ConjugateFamily):
    """`Gaussian` with a prior of sigma2, bound to data; shared = (sigma2,).

    In the coordinates y = Q' (x - c), where Sigma0 = Q diag(w) Q' and c is the mean of a sample of
    the rows, and with v = sigma2, every entry is on its own: y ~ N(m, v), m ~ N(m0, w). With
    t(x) = (y, 1):

        log f(x; theta) = (m / v, -|m|^2 / (2 v)) . (y, 1) + h(x),
        h(x) = -|y|^2 / (2 v) - d log(2 pi v) / 2.
    """

    n_shared = 1

    # Put in by `at`: sigma2.
    _v: float

    def __init__(self, likelihood: "Gaussian", X: Floats, summary: ColumnSummary | None = None):
        assert isinstance(likelihood.sigma2, Prior), "a number is for GaussianFamily"
        self.n_rows, self._d = X.shape
        self.n_parameters, self.n_statistics = self._d, self._d + 1
        self._prior = likelihood.sigma2
        sigma0 = check_covariance(likelihood.sigma0, self._d, "sigma0")
        self._w, self._turn = (sigma0, None) if sigma0.ndim == 1 else np.linalg.eigh(sigma0)
        summary = summary_of_all(X, summary)
        self._n_all = summary.n_rows
        self._centre = column_scales(summary.sample)[0]
        self._m0 = self._enter(check_vector(likelihood.mu0, self._d, "mu0"))
        variance = _deviation(summary) ** 2
        self._start, self._least = _START_SHARE * variance, _SMALLEST_SHARE * variance
        self._X, self._kept = X, None
        self._squares = by_rows(self.n_rows, self._squares_of)
        self._sum_squares = self._squares.sum()
        self.subtracts_well = bool(self._squares.max(initial=0.0) < _VERY_FAR**2 * variance)
        if X.nbytes <= LARGEST_COPY:
            self._kept, self._X = self.statistics(slice(0, self.n_rows)), None

    def at(self, shared: Floats) -> Self:
        """A copy that holds sigma2."""
        family = copy.copy(self)
        family._v = float(shared[0])
        return family

    def shared_sums(self) -> Floats:
        """(sum_n |y|^2,)."""
        return np.array([self._sum_squares])

    def with_shared_sums(self, sums: Floats) -> Self:
        """A copy that draws sigma2 from this sum over all rows."""
        family = copy.copy(self)
        family._sum_squares = sums[0]
        return family

    def start_shared(self) -> Floats:
        """A fifth of the data's variance; where the prior excludes that, a number it allows."""
        allowed = self._prior.log_density(self._start) > -np.inf
        return np.array([self._start if allowed else self._prior.sample(np.random.default_rng(0))])

    def draw_shared(self, theta: Floats, sums: Floats, rng: np.random.Generator) -> Floats:
        """sigma2 ~ prior(s) s^(-N D / 2) exp(-SS / (2 s)), SS = sum_n |x_n - theta_c_n|^2."""
        m = self._enter(theta)
        squares = (m * (m * sums[:, -1:] - 2 * sums[:, :-1])).sum() + self._sum_squares
        count = self._n_all * self._d
        squares = max(float(squares), count * self._least)  # rounding
        return np.array([draw_noise(self._prior, count, squares, self._least, self._v, rng)])

    def log_prior_shared(self) -> float:
        """log p(sigma2)."""
        return self._prior.log_density(self._v)

    def check_precision(self, dtype: str) -> None:
        """Refuse float32: how many digits are lost depends on sigma2, which is not known yet."""
        if dtype == "float32":
            raise ValueError("precision='float32' needs a sigma2 that is a number: use 'float64'.")

    def statistics(self, rows: slice) -> Floats:
        """(y, 1)."""
        if self._kept is not None:
            return self._kept[rows]
        assert self._X is not None, "the data are here if no copy was kept"
        y = self._enter(self._X[rows])
        t = np.column_stack([y, np.ones(len(y))])
        t.flags.writeable = False
        return t

    def natural(self, theta: Floats) -> Floats:
        """(m / v, -|m|^2 / (2 v))."""
        m = self._enter(theta)
        return np.column_stack([m, -0.5 * (m**2).sum(axis=1)]) / self._v

    def log_base(self) -> Floats:
        """-|y|^2 / (2 v) - d log(2 pi v) / 2."""
        return -0.5 * (self._squares / self._v + self._d * np.log(2 * np.pi * self._v))

    def log_base_sum(self) -> float:
        """The same of all rows, from the sum of squares."""
        log_v = self._d * np.log(2 * np.pi * self._v)
        return -0.5 * float(self._sum_squares / self._v + self._n_all * log_v)

    def log_new(self) -> Floats:
        """log f*(x) - h(x): y_d ~ N(m0_d, v + w_d) entry by entry."""
        wide = self._v + self._w

        def of_slice(rows: slice) -> Floats:
            y = self.statistics(rows)[:, :-1]
            return -0.5 * ((y - self._m0) ** 2 / wide).sum(axis=1)

        return (
            by_rows(self.n_rows, of_slice)
            + 0.5 * self._squares / self._v
            - 0.5 * np.log(wide / self._v).sum()
        )

    def log_evidence(self, sums: Floats) -> Floats:
        """sum_d [ b^2 / P - m0^2 / w - log(w P) ] / 2, P = 1 / w + N / v, b = m0 / w + S / v."""
        precision = 1 / self._w + sums[:, -1:] / self._v
        pull = self._m0 / self._w + sums[:, :-1] / self._v
        each = pull**2 / precision - self._m0**2 / self._w - np.log(self._w * precision)
        return 0.5 * each.sum(axis=1)

    def log_prior(self, theta: Floats) -> Floats:
        """m_d ~ N(m0_d, w_d) entry by entry."""
        each = (self._enter(theta) - self._m0) ** 2 / self._w + np.log(2 * np.pi * self._w)
        return -0.5 * each.sum(axis=1)

    def log_maximum(self, sums: Floats) -> Floats:
        """|sum y|^2 / (2 v N_k)."""
        squares = (sums[:, :-1] ** 2).sum(axis=1)
        return over(squares, sums[:, -1]) / (2 * self._v)

    def log_maximum_by_variance(self, sums: Floats) -> tuple[Floats, Floats]:
        """All columns together: they have one variance."""
        return self.log_maximum(sums)[:, None], self._d * sums[:, -1:]

    def draw_theta(self, sums: Floats, rng: np.random.Generator) -> Floats:
        """m_kd ~ N((m0_d / w_d + sum y_d / v) / P, 1 / P), P = 1 / w_d + N_k / v."""
        precision = 1 / self._w + sums[:, -1:] / self._v
        m = (self._m0 / self._w + sums[:, :-1] / self._v) / precision
        m += rng.standard_normal(m.shape) / np.sqrt(precision)
        return self._centre + (m if self._turn is None else m @ self._turn.T)

    def _squares_of(self, rows: slice) -> Floats:
        """(rows,): |y|^2."""
        y = self.statistics(rows)[:, :-1]
        return np.einsum("nd,nd->n", y, y)

    def _enter(self, rows: Floats) -> Floats:
        """Rows of data coordinates as y."""
        y = rows - self._centre
        return y if self._turn is None else y @ self._turn


def _deviation(summary: ColumnSummary) -> float:
    """The typical standard deviation of a column that varies, from the sample.

    Where no column varies in the sample, the widest range of a column over all rows counts; 1 if
    all rows are equal.
    """
    sample, widest = summary.sample, float((summary.largest - summary.smallest).max())
    varies = bool((sample.max(axis=0) > sample.min(axis=0)).any())
    return common_deviation(sample) if varies or widest == 0 else widest


def draw_noise(
    prior: Prior, count: int, squares: float, least: float, now: float, rng: np.random.Generator
) -> float:
    """s ~ prior(s) s^(-count / 2) exp(-squares / (2 s)), above `least`.

    Inverse gamma prior: IG(shape + count / 2, scale + squares / 2). Uniform prior:
    IG(count / 2 - 1, squares / 2) between its ends. Any other, and where the ends are too far out
    in a tail: one step of a slice sampler from where it is now.
    """
    if isinstance(prior, InverseGamma):
        return (prior.scale + squares / 2) / rng.standard_gamma(prior.shape + count / 2)
    if isinstance(prior, Uniform):
        low = max(prior.low, least)
        drawn = draw_between(count / 2 - 1, squares / 2, low, prior.high, rng.random())
        if drawn is not None:
            return drawn

    def log_density(s: float) -> float:
        if s < least or prior.log_density(s) == -math.inf:
            return -math.inf
        return prior.log_density(s) - 0.5 * (count * math.log(s) + squares / s)

    return slice_draw(log_density, now, rng)


def draw_between(shape: float, scale: float, low: float, high: float, u: float) -> float | None:
    """s ~ IG(shape, scale) given low < s < high, from u ~ U(0, 1); None where that is out of reach.

    scale / s ~ Gamma(shape) between scale / high and scale / low, by the distribution function: its
    upper tail where both ends are above the middle, because the lower tail would be 1 to all
    digits.
    """
    if shape <= 0 or low >= high:
        return None
    ends = scale / np.array([high, low])
    upper = ends[0] > shape
    p, inverse = (gammaincc, gammainccinv) if upper else (gammainc, gammaincinv)
    first, last = p(shape, ends)
    if not abs(last - first) > _LEAST_PROBABILITY:
        return None
    g = inverse(shape, first + (last - first) * u)
    return float(np.clip(scale / g, low, high))
