"""x ~ N(theta, Sigma) with Sigma known, and theta ~ N(mu0, Sigma0)."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import linalg

from bhmc._validation.parameters import check_covariance, check_vector
from bhmc.likelihoods._protocol import ConjugateFamily, Likelihood
from bhmc.likelihoods._summary import ColumnSummary, summary_of_all
from bhmc.likelihoods.blocks import LARGEST_COPY, Floats, by_rows, over, slices
from bhmc.likelihoods.learned_noise import LearnedNoiseFamily
from bhmc.priors import Prior

# Beyond this the square of a scaled value is no longer a finite number.
_LARGEST_SCALED = 1e150

# The ratio of prior variance to noise must be a number whose reciprocal is finite.
_SMALLEST_RATIO = 1e-300

# A row whose squared distance from the centre, in units of the noise, is beyond this is far: the
# cancellation in its log likelihoods could reach 1e-7.
_FAR = 1e8

# A float32 log likelihood of a row so many noise standard deviations from the centre is off by
# about the square of this times 6e-8.
_WIDEST_FLOAT32 = 100.0

# Share of a column's variance taken to lie within components, where the user does not say: that of
# two equal groups whose means are four standard deviations apart, 1 / (1 + 4).
_NOISE_SHARE = 0.2


@dataclass(frozen=True, eq=False)
class Gaussian(Likelihood):
    """Gaussian components with a known, shared covariance; the paper's family.

    Parameters
    ----------
    sigma2 : float, (d,), (d, d) or prior, default=1.0
        Covariance Sigma of the data around their component: a multiple of the identity, a diagonal,
        or a full matrix. These are (co)variances, not standard deviations. One of `bhmc.priors` has
        it learned, as a multiple of the identity: the paper has `Uniform(0, 0.1)`. Equal rows make
        its density grow without end as it vanishes: then give a prior that keeps it from 0.
    mu0 : float or (d,), default=0.0
        Prior mean of the component means.
    sigma0 : float, (d,) or (d, d), default=1.0
        Prior covariance Sigma0 of the component means.
    """

    sigma2: ArrayLike | Prior = 1.0
    mu0: ArrayLike = 0.0
    sigma0: ArrayLike = 1.0

    @classmethod
    def scaled_to(cls, X: Floats) -> "Gaussian":
        """The family in the units of X: mu0 the column means, Sigma0 the column variances.

        A fifth of each column's variance is taken to lie within components (sigma2), as in two
        equal groups four standard deviations apart. A constant column counts as having variance 1.
        X must hold all rows.
        """
        # Centred first, because the variance of large equal numbers would be rounding error.
        shift = sum((X[rows] - X[0]).sum(axis=0) for rows in slices(len(X))) / len(X)
        mean = X[0] + shift
        squares = sum((((X[rows] - X[0]) - shift) ** 2).sum(axis=0) for rows in slices(len(X)))
        spread = np.where(squares > 0, squares / len(X), 1.0)
        return cls(sigma2=_NOISE_SHARE * spread, mu0=mean, sigma0=spread)

    def prepare(
        self, X: Floats, summary: ColumnSummary | None = None
    ) -> "GaussianFamily | LearnedNoiseFamily":
        """The family bound to X."""
        learned = isinstance(self.sigma2, Prior)
        bound = LearnedNoiseFamily if learned else GaussianFamily
        return bound(self, X, summary)

    def at(self, shared: Floats) -> "Gaussian":
        """A copy with this sigma2, where sigma2 is learned."""
        if not isinstance(self.sigma2, Prior):
            return self
        return replace(self, sigma2=float(shared[0]))

    def sample_shared(self, n_features: int, rng: np.random.Generator) -> Floats:
        """(sigma2,) from its prior, where it is learned."""
        if not isinstance(self.sigma2, Prior):
            return np.empty(0)
        return np.array([self.sigma2.sample(rng)])

    def sample_theta(self, size: int, n_features: int, rng: np.random.Generator) -> Floats:
        """theta ~ N(mu0, Sigma0), (size, d)."""
        mu0 = check_vector(self.mu0, n_features, "mu0")
        sigma0 = check_covariance(self.sigma0, n_features, "sigma0")
        return mu0 + _noise(sigma0, size, rng)

    def sample_data(self, theta: Floats, rng: np.random.Generator) -> Floats:
        """x_i ~ N(theta_i, Sigma), (len(theta), d)."""
        if isinstance(self.sigma2, Prior):
            raise TypeError("Gaussian samples data only once its sigma2 is known: call at(shared).")
        sigma = check_covariance(self.sigma2, theta.shape[1], "sigma2")
        return theta + _noise(sigma, len(theta), rng)


class GaussianFamily(ConjugateFamily):
    """The conditionals of `Gaussian` for given data.

    A diagonalises both covariances: A Sigma A' = I and A Sigma0 A' = diag(d). In the coordinates
    y = A (x - c) and m = A (theta - c) every entry is on its own: y ~ N(m, 1), m ~ N(m0, d). So one
    set of scalar formulas serves scalar, diagonal and full covariances. With t(x) = (y, 1):

        log f(x; theta) = (m, -|m|^2 / 2) . (y, 1) + h(x),  h(x) = -|y|^2 / 2 + constant.

    The centre c is near the middle of the data, because y . m - |m|^2 / 2 cancels far from it.
    A row that is far from everything is taken by differences instead, with h(x) = constant.
    """

    def __init__(self, likelihood: Gaussian, X: Floats, summary: ColumnSummary | None = None):
        self.n_rows, n_features = X.shape
        self.n_parameters, self.n_statistics = n_features, n_features + 1
        mu0 = check_vector(likelihood.mu0, n_features, "mu0")
        assert not isinstance(likelihood.sigma2, Prior), "a prior is for LearnedNoiseFamily"
        sigma = check_covariance(likelihood.sigma2, n_features, "sigma2")
        sigma0 = check_covariance(likelihood.sigma0, n_features, "sigma0")
        self._axes = _Axes(sigma, sigma0)
        self._prior_variance = self._axes.prior_variance
        if not (
            _SMALLEST_RATIO < self._prior_variance.min() <= self._prior_variance.max() < np.inf
        ):
            raise ValueError(
                "sigma0 and sigma2 are too far apart: their ratio overflows double precision."
            )
        self._prior_precision = 1 / self._prior_variance
        self._constant = -0.5 * (n_features * np.log(2 * np.pi) + self._axes.log_det_sigma)
        self._centre = summary_of_all(X, summary).centre()
        self._prior_mean = self._axes.enter(mu0 - self._centre)
        self._prior_pull = self._prior_precision * self._prior_mean
        self._X, self._kept = X, None
        self._squares = by_rows(self.n_rows, lambda rows: _squares(self.statistics(rows)[:, :-1]))
        if not max(self._squares.max(initial=0.0), _squares(self._prior_mean)) < _LARGEST_SCALED**2:
            raise ValueError(
                "X is too far from mu0 in units of sigma2: a scaled value is beyond 1e150."
            )
        self._far = np.flatnonzero(self._squares > _FAR)
        self.subtracts_well = not len(self._far)
        if X.nbytes <= LARGEST_COPY:
            self._kept = self.statistics(slice(0, self.n_rows))
            self._X = None

    def check_precision(self, dtype: str) -> None:
        """Refuse float32 for data so wide that log likelihoods would be off by 1e-3 and more."""
        widest = np.sqrt(self._squares.max(initial=0.0))
        if dtype == "float32" and widest > _WIDEST_FLOAT32:
            raise ValueError(
                f"precision='float32' needs data within {_WIDEST_FLOAT32:g} noise standard "
                f"deviations of their middle, and a row is {widest:.3g} away: use 'float64'."
            )

    def statistics(self, rows: slice) -> Floats:
        """(y, 1)."""
        if self._kept is not None:
            return self._kept[rows]
        assert self._X is not None, "the data are here if no copy was kept"
        X = self._X[rows]
        t = np.empty((len(X), self.n_statistics))
        self._axes.enter(X, self._centre, out=t[:, :-1])
        t[:, -1] = 1.0
        t.flags.writeable = False
        return t

    def natural(self, theta: Floats) -> Floats:
        """(m, -|m|^2 / 2)."""
        eta = np.empty((len(theta), self.n_statistics))
        m = self._axes.enter(theta, self._centre, out=eta[:, :-1])
        np.multiply(_squares(m), -0.5, out=eta[:, -1])
        return eta

    def fill(self, rows: slice, statistics, natural, out) -> None:
        """y . m - |m|^2 / 2, and -|y - m|^2 / 2 for rows far from everything."""
        super().fill(rows, statistics, natural, out)
        far = self._far_rows(rows)
        if len(far):
            y = statistics[far, :-1]
            for k, m in enumerate(natural[:, :-1]):
                out[far, k] = -0.5 * _squares(y - m)

    def log_base(self) -> Floats:
        """-|y|^2 / 2 + constant; the constant alone for rows far from everything."""
        base = self._constant - 0.5 * self._squares
        base[self._far] = self._constant
        return base

    def log_new(self) -> Floats:
        """log f*(x) - h(x): y ~ N(m0, 1 + d) entry by entry."""
        variance = 1 + self._prior_variance

        def of_slice(rows: slice) -> Floats:
            y = self.statistics(rows)[:, :-1]
            return -0.5 * ((y - self._prior_mean) ** 2 / variance).sum(axis=1)

        log_new = by_rows(self.n_rows, of_slice)
        near = np.ones(self.n_rows, dtype=bool)
        near[self._far] = False
        log_new += 0.5 * np.where(near, self._squares, 0.0)
        return log_new - 0.5 * np.log(variance).sum()

    def log_prior(self, theta: Floats) -> Floats:
        """log h(theta): m ~ N(m0, d) entry by entry, with the Jacobian of A."""
        m = self._axes.enter(theta, self._centre)
        squares = ((m - self._prior_mean) ** 2 / self._prior_variance).sum(axis=1)
        return self._constant - 0.5 * (squares + np.log(self._prior_variance).sum())

    def log_likelihood(self, natural: Floats, sums: Floats, components) -> float:
        """sum over n of log f(x_n; theta_c_n) - h(x_n); row by row where some rows are far."""
        if not len(self._far):
            return super().log_likelihood(natural, sums, components)
        m = natural[:, :-1]
        squares = [
            _squares(self.statistics(rows)[:, :-1] - m[components[rows]]).sum()
            for rows in slices(self.n_rows)
        ]
        constants = self.n_rows * self._constant - self.log_base().sum()
        return float(constants - 0.5 * np.sum(squares))

    def log_maximum(self, sums: Floats) -> Floats:
        """|sum y|^2 / (2 N_k)."""
        return 0.5 * over(_squares(sums[:, :-1]), sums[:, -1])

    def draw_theta(self, sums: Floats, rng: np.random.Generator) -> Floats:
        """theta_k ~ N(posterior mean, posterior covariance), precision Sigma0^-1 + N_k Sigma^-1.

        m_k ~ N((m0 / d + sum y) / (1 / d + N_k), 1 / (1 / d + N_k)) entry by entry.
        """
        precision = self._prior_precision + sums[:, -1:]
        m = self._prior_pull + sums[:, :-1]
        m /= precision
        m += rng.standard_normal(m.shape) / np.sqrt(precision)
        return self._axes.leave(m) + self._centre

    def _far_rows(self, rows: slice) -> NDArray[np.int64]:
        """Places within the slice of the rows that are far from everything."""
        if not len(self._far):
            return self._far
        return self._far[(self._far >= rows.start) & (self._far < rows.stop)] - rows.start


class _Axes:
    """The linear map A of `GaussianFamily`; a vector where both covariances are diagonal."""

    def __init__(self, sigma: Floats, sigma0: Floats):
        if sigma.ndim == sigma0.ndim == 1:
            self._scale = np.sqrt(sigma)
            with np.errstate(over="ignore", under="ignore"):  # refused by the family, in words
                self.prior_variance = sigma0 / sigma
            self.log_det_sigma = np.log(sigma).sum()
            return
        # Singular values of root(Sigma)^-1 root(Sigma0): their squares, d, cannot turn negative
        # however far apart the two covariances are, as generalised eigenvalues can.
        root, root0 = (np.linalg.cholesky(_matrix(covariance)) for covariance in (sigma, sigma0))
        turn, singular, _ = np.linalg.svd(linalg.solve_triangular(root, root0, lower=True))
        self._scale = None
        self.prior_variance = singular**2
        self._enter = linalg.solve_triangular(root, turn, lower=True, trans="T")
        self._leave = (root @ turn).T
        self.log_det_sigma = 2 * np.log(np.diag(root)).sum()

    def enter(self, rows: Floats, centre: Floats | float = 0.0, out: Floats | None = None):
        """Rows x of data coordinates to A (x - centre)."""
        y = np.subtract(rows, centre, out=out if self._scale is not None else None)
        if self._scale is not None:
            return np.divide(y, self._scale, out=y)
        return np.matmul(y, self._enter, out=out)

    def leave(self, rows: Floats) -> Floats:
        """Back to data coordinates."""
        return rows * self._scale if self._scale is not None else rows @ self._leave


def _squares(y: Floats) -> Floats:
    """Squared lengths along the last axis."""
    return np.einsum("...d,...d->...", y, y)


def _matrix(covariance: Floats) -> Floats:
    return np.diag(covariance) if covariance.ndim == 1 else covariance


def _noise(covariance: Floats, size: int, rng: np.random.Generator) -> Floats:
    """(size, d) draws from N(0, covariance), a variance vector or a matrix."""
    z = rng.standard_normal((size, len(covariance)))
    if covariance.ndim == 1:
        return z * np.sqrt(covariance)
    return z @ np.linalg.cholesky(covariance).T
