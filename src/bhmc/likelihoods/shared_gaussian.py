"""x ~ N(theta, sigma2), one unknown sigma2 for all components; theta ~ N(mu0, sigma0), learned."""

import copy
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammainc, gammaincinv

from bhmc._validation.parameters import check_positive
from bhmc.likelihoods._learned_means import LearnedMeans
from bhmc.likelihoods._located import NoiseUnits, TreePrior, prior_in_noise_units
from bhmc.likelihoods._missing import has_missing
from bhmc.likelihoods._protocol import ConjugateFamily
from bhmc.likelihoods._resolution import checked_least, least_variance
from bhmc.likelihoods._summary import ColumnSummary
from bhmc.likelihoods._units import InUnits, Learning
from bhmc.likelihoods.blocks import Floats, by_rows, over, rows_in_cache
from bhmc.likelihoods.gaussian import Gaussian
from bhmc.likelihoods.tied_gaussian import TiedGaussianFamily


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

    With covariance "full", sigma2 is a matrix that all components share, and x ~ N(theta, sigma2):

        sigma2 ~ InverseWishart(nu diag(psi), nu),  nu = d - 1 + 2 noise_shape
        psi_d - least_variance_d ~ Exponential(mean noise_scale)

    So the prior counts as nu rows, d + 1 of them by default, whose columns are uncorrelated: it
    shrinks sigma2 towards a diagonal, and psi, the variances of that diagonal, are learned. The
    mean of sigma2^-1 given psi is diag(1 / psi). A sweep costs d^2 a row more, and d^3. Missing
    entries are drawn by the chain, where components have a place on the tree; "hdp" refuses them.

    Parameters
    ----------
    covariance : {"diagonal", "spherical", "full"}, default="diagonal"
        "spherical" has one sigma2 and one sigma0 for all columns: for columns in the same units,
        such as principal components. "full" is for columns that are correlated within components.
    location, scale : float or (d,), default=0.0, 1.0
        Middle and standard deviation of the columns. `BHMC` takes them from the data where the
        likelihood is given by name.
    noise_shape, noise_scale : float, default=1.0, 0.2
        Prior of sigma2, and of psi where the covariance is full.
    spread_shape, spread_scale : float, default=1.0, 0.2
        Prior of sigma0.
    least_variance : float or (d,), default=0.0
        sigma2 is no smaller, in units of scale squared. `BHMC` takes it from the data where the
        likelihood is given by name: what so many rows can show (docs/families.md). Where the
        covariance is full, psi is no smaller, and never below 0.001.
    """

    covariance: str = "diagonal"
    location: ArrayLike = 0.0
    scale: ArrayLike = 1.0
    noise_shape: float = 1.0
    noise_scale: float = 0.2
    spread_shape: float = 1.0
    spread_scale: float = 0.2
    least_variance: ArrayLike = 0.0

    has_places = True
    covariances: ClassVar[tuple[str, ...]] = ("diagonal", "spherical", "full")

    @property
    def draws_missing(self) -> bool:  # type: ignore[override]
        """Whether a chain draws missing entries: correlated columns tell of each other."""
        return self.covariance == "full"

    @classmethod
    def scaled_to(cls, X: Floats, **settings: Any) -> Self:
        """The family in the units of X, no finer than its rows can show. X must hold all rows.

        With a full covariance `least_variance` is left as it is.
        """
        likelihood = super().scaled_to(X, **settings)
        if likelihood.covariance == "full":
            return likelihood
        return replace(likelihood, least_variance=least_variance(X, likelihood))

    def prepare(self, X: Floats, summary: ColumnSummary | None = None) -> ConjugateFamily:
        """The family bound to X."""
        if self.covariance != "full":
            return SharedGaussianFamily(self, X, summary)
        if not has_missing(X):
            return TiedGaussianFamily(self, X, summary)
        from bhmc.likelihoods.gaussian_gaps import TiedGaussianWithGaps

        return TiedGaussianWithGaps(self, X, summary)

    def at(self, shared: Floats) -> Gaussian:
        """Gaussian components with these numbers known."""
        mu0, sigma2, sigma0 = self.split(shared)
        return Gaussian(sigma2=sigma2, mu0=mu0, sigma0=sigma0)

    def sample_shared(self, n_features: int, rng: np.random.Generator) -> Floats:
        """(mu0, sigma2, sigma0) from their priors."""
        location, scale = self.checked(n_features)
        if self.covariance == "full":
            return self._sample_tied(location, scale, rng)
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

    def noise_on_tree(self, shared: Floats, n_features: int) -> Floats:
        """sigma2."""
        return self.split(shared)[1]

    def prior_on_tree(self, n_features: int) -> TreePrior:
        """`location`, and 1 / noise_scale: the columns have variance 1 in units of `scale`."""
        return prior_in_noise_units(self.checked(n_features)[0], 1 / self.noise_scale)

    def shared_on_tree(self, shared: Floats, root: Floats, total: Floats) -> Floats:
        """The root's location as mu0, and sigma0 = total sigma2."""
        n = len(root)
        if self.covariance == "full":
            sigma0 = total * np.diag(self.split(shared)[1])
            return np.concatenate([root, shared[n : -2 * n], sigma0, shared[-n:]])
        sigma2 = shared[n:-1] if self.covariance == "spherical" else shared[n : 2 * n]
        return np.concatenate([root, sigma2, total * sigma2])

    def checked(self, n_features: int) -> tuple[Floats, Floats]:
        """(location, scale) as (d,) vectors, every setting checked."""
        for name in ("noise_shape", "noise_scale", "spread_shape", "spread_scale"):
            check_positive(getattr(self, name), name)
        return super().checked(n_features)

    def _sample_tied(self, location: Floats, scale: Floats, rng: np.random.Generator) -> Floats:
        """(mu0, lower triangle of sigma2, sigma0, psi) from their priors; sigma2 by SciPy."""
        d = len(location)
        nu = d - 1 + 2 * self.noise_shape
        psi = checked_least(self, d) + self.noise_scale * rng.standard_exponential(d)
        from scipy import stats  # 50 MB, which a worker that keeps rows does not need

        drawn = stats.invwishart.rvs(nu, np.diag(nu * psi), random_state=rng)
        sigma2 = np.reshape(drawn, (d, d)) * scale * scale[:, None]
        sigma0 = self.spread_scale / rng.standard_gamma(self.spread_shape, d)
        mu0 = location + scale * rng.standard_normal(d)
        lower = sigma2[np.tril_indices(d)]
        return np.concatenate([mu0, lower, sigma0 * scale**2, psi * scale**2])

    def split(self, shared: Floats) -> tuple[Floats, Floats, Floats]:
        """(mu0, sigma2, sigma0), each (d,); with a full covariance sigma2 is (d, d).

        Parameters
        ----------
        shared : (q,) array
            The numbers that components share.
        """
        if self.covariance == "full":
            return _split_tied(shared)
        if self.covariance == "diagonal":
            d = len(shared) // 3
            return shared[:d], shared[d : 2 * d], shared[2 * d :]
        mu0 = shared[:-2]
        return mu0, np.full(len(mu0), shared[-2]), np.full(len(mu0), shared[-1])


def _split_tied(shared: Floats) -> tuple[Floats, Floats, Floats]:
    """(mu0, sigma2, sigma0) of mu0, the lower triangle of sigma2, sigma0 and psi."""
    d = round((np.sqrt(49 + 8 * len(shared)) - 7) / 2)  # 3 d + d (d + 1) / 2 numbers
    lower = np.zeros((d, d))
    lower[np.tril_indices(d)] = shared[d : -2 * d]
    return shared[:d], lower + np.tril(lower, -1).T, shared[-2 * d : -d]


class SharedGaussianFamily(NoiseUnits, LearnedMeans):
    """The conditionals of `SharedGaussian` for given data, where columns are independent.

    In the coordinates of `LearnedMeans`, with v the variances of the noise there,

        log f(x; theta) = sum_d o_d [ y_d m_d / v_d - m_d^2 / (2 v_d) ] + h(x).
    """

    # Put in by `at`: sigma2 in these coordinates.
    _v: Floats

    def __init__(self, likelihood: SharedGaussian, X: Floats, summary: ColumnSummary | None = None):
        d = X.shape[1]
        super().__init__(likelihood, X, summary)
        self.n_shared = d + 2 if self._spherical else 3 * d

    def _n_products(self) -> int:
        return 2 * self.n_parameters

    def _products_of(self, t: Floats) -> Floats:
        y, d = t[:, : self.n_parameters], self.n_parameters
        observed = np.broadcast_to(self._counts(t).sum(axis=0), d)
        return np.concatenate([observed, np.einsum("nd,nd->d", y, y)])

    def _use_shared_sums(self, sums: Floats) -> None:
        self._observed, self._squares = np.split(sums, 2)

    def at(self, shared: Floats) -> Self:
        """A copy that holds mu0, sigma2 and sigma0."""
        family = copy.copy(self)
        mu0, sigma2, sigma0 = self._likelihood.split(shared)
        family._m0 = (mu0 - self._location) / self._scale
        family._v, family._w = sigma2 / self._scale**2, sigma0 / self._scale**2
        return family

    def shared_sums(self) -> Floats:
        """(sum_n o, sum_n o y^2), column by column."""
        return np.concatenate([self._observed, self._squares])

    def start_shared(self) -> Floats:
        """mu0 at the location, sigma2 a fifth of the scale squared, sigma0 the scale squared."""
        units = self._scale[:1] ** 2 if self._spherical else self._scale**2
        return np.concatenate([self._location, np.maximum(0.2, self._least) * units, units])

    def draw_shared(self, theta: Floats, sums: Floats, rng: np.random.Generator) -> Floats:
        """sigma2 | theta, X; then mu0 and sigma0 by `_draw_means`.

        With N_d observed entries and SS_d = sum_n o_d (y_d - m_d)^2 in units of scale:
        sigma2_d ~ IG(noise_shape + N_d / 2, noise_scale + SS_d / 2), above least_variance_d.
        Spherical: shapes and scales add up over the columns.
        """
        prior, d, m = self._likelihood, self.n_parameters, self._scaled(theta)
        count, y = self._counts(sums), sums[:, :d]
        ss = np.maximum(self._squares + (m * (m * count - 2 * y)).sum(axis=0), 0.0)
        v = self._draw_variance(
            prior.noise_shape, prior.noise_scale, self._observed, ss, self._least, rng
        )
        m0, w = self._draw_means(m, rng)
        return self._joined(m0, v, w)

    def _joined(self, m0: Floats, v: Floats, w: Floats) -> Floats:
        """(q,): mu0, sigma2 and sigma0 in the units of the data."""
        if self._spherical:
            v, w = v[:1], w[:1]
        units = self._scale[: len(v)] ** 2
        return np.concatenate([self._location + self._scale * m0, v * units, w * units])

    def log_prior_shared(self) -> float:
        """log p(mu0) + log p(sigma2) + log p(sigma0), in the units of the data."""
        mu0, sigma0 = self._log_prior_means()
        return float(mu0 + sigma0) + self.log_prior_noise()

    def natural(self, theta: Floats) -> Floats:
        """(m / v, -|m|^2 / (2 v)), by column where entries are missing."""
        m = self._scaled(theta)
        slope, fall = m / self._v, -0.5 * m**2 / self._v
        if self._missing:
            return np.column_stack([slope, fall, np.zeros(len(theta))])
        return np.column_stack([slope, fall.sum(axis=1)])

    def log_base(self) -> Floats:
        """sum_d o_d [ -y_d^2 / (2 v_d) - log(2 pi v_d) / 2 - log scale_d ]."""
        each = -0.5 * np.log(2 * np.pi * self._v) - np.log(self._scale)
        return self._quadratic(-0.5 / self._v, np.zeros_like(each), each)

    def log_base_sum(self) -> float:
        """The same of all rows, from sums of squares."""
        each = -0.5 * np.log(2 * np.pi * self._v) - np.log(self._scale)
        return float((self._observed * each).sum() - 0.5 * (self._squares / self._v).sum())

    def log_new(self) -> Floats:
        """log f*(x) - h(x): y_d ~ N(m0_d, v_d + w_d) for every observed entry."""
        wide = self._v + self._w
        return self._quadratic(
            0.5 / self._v - 0.5 / wide,
            self._m0 / wide,
            -0.5 * self._m0**2 / wide - 0.5 * np.log(wide / self._v),
        )

    def log_evidence(self, sums: Floats) -> Floats:
        """sum_d [ b^2 / P - m0^2 / w - log(w P) ] / 2, P = 1 / w + N / v, b = m0 / w + S / v."""
        precision = 1 / self._w + self._counts(sums) / self._v
        pull = self._m0 / self._w + sums[:, : self.n_parameters] / self._v
        each = pull**2 / precision - self._m0**2 / self._w - np.log(self._w * precision)
        return 0.5 * each.sum(axis=1)

    def log_maximum(self, sums: Floats) -> Floats:
        """sum_d (sum o y_d)^2 / (2 v_d N_kd)."""
        return self.log_maximum_by_variance(sums)[0].sum(axis=1)

    def log_maximum_by_variance(self, sums: Floats) -> tuple[Floats, Floats]:
        """Column by column; spherical: all of them together."""
        count = self._counts(sums)
        each = over(sums[:, : self.n_parameters] ** 2 / (2 * self._v), count)
        entries = np.broadcast_to(count, each.shape)
        if self._spherical:
            each, entries = (part.sum(axis=1, keepdims=True) for part in (each, entries))
        return each, entries

    def draw_theta(self, sums: Floats, rng: np.random.Generator) -> Floats:
        """m_kd ~ N((m0_d / w_d + sum o y / v_d) / P, 1 / P), P = 1 / w_d + N_kd / v_d."""
        precision = 1 / self._w + self._counts(sums) / self._v
        m = (self._m0 / self._w + sums[:, : self.n_parameters] / self._v) / precision
        m += rng.standard_normal(m.shape) / np.sqrt(precision)
        return self._location + self._scale * m

    # ---- On a tree ------------------------------------------------------------------------------

    def precision_columns(self) -> tuple[NDArray[np.int64], Floats]:
        """One precision for all coordinates, or one for each where entries are missing."""
        d = self.n_parameters
        if self._missing:
            return np.arange(d), np.ones(d)
        return np.zeros(d, dtype=np.int64), np.array([float(d)])

    def prior_on_tree(self) -> TreePrior:
        """`location`, and 1 / noise_scale."""
        return self._likelihood.prior_on_tree(self.n_parameters)

    def enter(self, theta: Floats) -> Floats:
        """(theta - location) / scale, in units of the noise."""
        return (theta - self._location) / (self._scale * np.sqrt(self._v))

    def leave(self, places: Floats) -> Floats:
        """location + scale times places, in units of the noise."""
        return self._location + places * (self._scale * np.sqrt(self._v))

    def carried_to(self, other: Self, places: Floats) -> Floats:  # type: ignore[override]
        """Only the unit of the noise is another one."""
        return places * np.sqrt(self._v / other._v)

    def whitened(self, rows: slice) -> tuple[Floats, Floats | None]:
        """y in units of the noise."""
        t, d = self.statistics(rows), self.n_parameters
        return t[:, :d] / np.sqrt(self._v), t[:, d:-1] if self._missing else None

    def whitened_sums(self, sums: Floats) -> tuple[Floats, Floats]:
        """(N_kd, sum of y in units of the noise)."""
        return self._counts(sums), sums[:, : self.n_parameters] / np.sqrt(self._v)

    def draw_shared_at(
        self, theta: Floats, sums: Floats, increments: Floats, rng: np.random.Generator
    ) -> Floats:
        """v ~ IG(shape + (N + J) / 2, scale + (squares of residuals + v squares of steps) / 2)."""
        prior, d = self._likelihood, self.n_parameters
        m = (theta - self._location) / self._scale
        ss = self._squares + (m * (m * self._counts(sums) - 2 * sums[:, :d])).sum(axis=0)
        ss = np.maximum(ss, 0.0) + self._v * (increments**2).sum(axis=0)
        count = self._observed + len(increments)
        v = self._draw_variance(prior.noise_shape, prior.noise_scale, count, ss, self._least, rng)
        return self._joined(self._m0, v, self._w)

    def shared_at(self, root: Floats, total: Floats) -> Floats:
        """mu0 is the root's location, sigma0 the variance from there to a component."""
        return self._joined((root - self._location) / self._scale, self._v, total * self._v)

    def log_prior_noise(self) -> float:
        """log p(sigma2), in the units of the data."""
        prior = self._likelihood
        with np.errstate(divide="ignore"):
            above = gammainc(prior.noise_shape, prior.noise_scale / self._least)
        log_p = self._log_prior_variance(self._v, prior.noise_shape, prior.noise_scale)
        return float(log_p - np.log(above).sum())

    def _counts(self, sums: Floats) -> Floats:
        """(K, d) or (K, 1): how many entries of each column a component has seen."""
        return sums[:, self.n_parameters : -1] if self._missing else sums[:, -1:]

    def _quadratic(self, square: Floats, linear: Floats, constant: Floats) -> Floats:
        """(n,): sum_d o_d [ square_d y_d^2 + linear_d y_d + constant_d ]."""
        d = self.n_parameters

        def of_slice(rows: slice) -> Floats:
            t = self.statistics(rows)
            y = t[:, :d]
            each = square * y
            each += linear
            each *= y
            total = each.sum(axis=1)
            total += t[:, d:-1] @ constant if self._missing else constant.sum()
            return total

        # A product with a vector may differ in its last digit in blocks of other heights.
        height = 4096 if self._missing else rows_in_cache(d)
        return by_rows(self.n_rows, of_slice, height)
