"""x ~ N(theta, Sigma) with Sigma known, and theta ~ N(mu0, Sigma0)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg

from bhmc._checks import check_covariance, check_vector
from bhmc.likelihoods._protocol import Floats

# Beyond this the square of a scaled value is no longer a finite number.
_LARGEST_SCALED = 1e150

# The ratio of prior variance to noise must be a number whose reciprocal is finite.
_SMALLEST_RATIO = 1e-300

# A squared distance this small beside its terms has lost too many digits.
_CANCELLED = 1e-6

# Share of a column's variance taken to lie within components, where the user does not say: that of
# two equal groups whose means are four standard deviations apart, 1 / (1 + 4).
_NOISE_SHARE = 0.2


@dataclass(frozen=True, eq=False)
class Gaussian:
    """Gaussian components with a known, shared covariance; the paper's family.

    Parameters
    ----------
    sigma2 : float, (d,) or (d, d), default=1.0
        Covariance Sigma of the data around their component: a multiple of the identity, a diagonal,
        or a full matrix. These are (co)variances, not standard deviations.
    mu0 : float or (d,), default=0.0
        Prior mean of the component means.
    sigma0 : float, (d,) or (d, d), default=1.0
        Prior covariance Sigma0 of the component means.
    """

    sigma2: ArrayLike = 1.0
    mu0: ArrayLike = 0.0
    sigma0: ArrayLike = 1.0

    @classmethod
    def scaled_to(cls, X: Floats) -> "Gaussian":
        """The family in the units of X: mu0 the column means, Sigma0 the column variances.

        A fifth of each column's variance is taken to lie within components (sigma2), as in two
        equal groups four standard deviations apart. A constant column counts as having variance 1.
        """
        # Centred first: the variance of large equal numbers would be rounding error.
        spread = (X - X[0]).var(axis=0)
        spread = np.where(spread > 0, spread, 1.0)
        return cls(sigma2=_NOISE_SHARE * spread, mu0=X.mean(axis=0), sigma0=spread)

    def prepare(self, X: Floats) -> "GaussianFamily":
        """The family bound to X."""
        return GaussianFamily(self, X)

    def sample_theta(self, size: int, n_features: int, rng: np.random.Generator) -> Floats:
        """theta ~ N(mu0, Sigma0), (size, d)."""
        mu0 = check_vector(self.mu0, n_features, "mu0")
        sigma0 = check_covariance(self.sigma0, n_features, "sigma0")
        return mu0 + _noise(sigma0, size, rng)

    def sample_data(self, theta: Floats, rng: np.random.Generator) -> Floats:
        """x_i ~ N(theta_i, Sigma), (len(theta), d)."""
        sigma = check_covariance(self.sigma2, theta.shape[1], "sigma2")
        return theta + _noise(sigma, len(theta), rng)


class GaussianFamily:
    """The conditionals of `Gaussian` for given data.

    A diagonalises both covariances: A Sigma A' = I and A Sigma0 A' = diag(d). In the coordinates
    y = A (x - mu0) and m = A (theta - mu0) every entry is on its own: y ~ N(m, 1), m ~ N(0, d). So
    one set of scalar formulas serves scalar, diagonal and full covariances.
    """

    def __init__(self, likelihood: Gaussian, X: Floats):
        n_features = X.shape[1]
        self._mu0 = check_vector(likelihood.mu0, n_features, "mu0")
        sigma = check_covariance(likelihood.sigma2, n_features, "sigma2")
        sigma0 = check_covariance(likelihood.sigma0, n_features, "sigma0")
        self._axes = _Axes(sigma, sigma0)
        self._prior_variance = self._axes.prior_variance
        if not (
            _SMALLEST_RATIO < self._prior_variance.min() <= self._prior_variance.max() < np.inf
        ):
            raise ValueError("sigma0 and sigma2 are too far apart: their ratio is beyond a double.")
        self._y = self._axes.enter(X - self._mu0)
        if not np.abs(self._y).max() < _LARGEST_SCALED:
            raise ValueError(
                "X is too far from mu0 in units of sigma2: a scaled value is beyond 1e150."
            )
        self.n_parameters = n_features
        self._log_scale = -0.5 * (n_features * np.log(2 * np.pi) + self._axes.log_det_sigma)
        # Squared distances are taken about the centre: far from the origin they would cancel.
        self._centre = self._y.mean(axis=0)
        self._centred = self._y - self._centre
        self._norms = np.einsum("nd,nd->n", self._centred, self._centred)

    def log_table(self, theta: Floats) -> Floats:
        """log f(x_n; theta_k) = -|y_n - m_k|^2 / 2 - (d log 2 pi + log |Sigma|) / 2."""
        own = self._axes.enter(theta - self._mu0)
        m = own - self._centre
        scale = self._norms[:, None] + np.einsum("kd,kd->k", m, m)
        squares = scale - 2 * self._centred @ m.T
        n, k = np.nonzero(squares < _CANCELLED * scale)  # few; taken again without cancellation
        squares[n, k] = ((self._y[n] - own[k]) ** 2).sum(axis=1)
        return self._log_scale - 0.5 * squares

    def log_marginal(self) -> Floats:
        """log f*(x): y ~ N(0, 1 + d) entry by entry."""
        variance = 1 + self._prior_variance
        squares = (self._y**2 / variance).sum(axis=1)
        return self._log_scale - 0.5 * (squares + np.log(variance).sum())

    def log_prior(self, theta: Floats) -> Floats:
        """log h(theta): m ~ N(0, d) entry by entry, with the Jacobian of A."""
        m = self._axes.enter(theta - self._mu0)
        squares = (m**2 / self._prior_variance).sum(axis=1)
        return self._log_scale - 0.5 * (squares + np.log(self._prior_variance).sum())

    def draw_theta(self, components, n_components: int, rng: np.random.Generator) -> Floats:
        """theta_k ~ N(posterior mean, posterior covariance), precision Sigma0^-1 + N_k Sigma^-1."""
        sizes = np.bincount(components, minlength=n_components)
        sums = np.zeros((n_components, self._y.shape[1]))
        np.add.at(sums, components, self._y)
        return self._draw(sizes, sums, rng)

    def draw_one_theta(self, rows: list[int], rng: np.random.Generator) -> Floats:
        """theta ~ p(theta | x_rows)."""
        sums = self._y[rows].sum(axis=0, keepdims=True)
        return self._draw(np.array([len(rows)]), sums, rng)[0]

    def _draw(self, sizes, sums: Floats, rng: np.random.Generator) -> Floats:
        """m_k ~ N(sum y / (1/d + N_k), 1 / (1/d + N_k)) entry by entry."""
        precision = 1 / self._prior_variance + sizes[:, None]
        m = sums / precision + rng.standard_normal(sums.shape) / np.sqrt(precision)
        return self._mu0 + self._axes.leave(m)


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

    def enter(self, rows: Floats) -> Floats:
        """Rows r of data coordinates to A r."""
        return rows / self._scale if self._scale is not None else rows @ self._enter

    def leave(self, rows: Floats) -> Floats:
        """Back to data coordinates."""
        return rows * self._scale if self._scale is not None else rows @ self._leave


def _matrix(covariance: Floats) -> Floats:
    return np.diag(covariance) if covariance.ndim == 1 else covariance


def _noise(covariance: Floats, size: int, rng: np.random.Generator) -> Floats:
    """(size, d) draws from N(0, covariance), a variance vector or a matrix."""
    z = rng.standard_normal((size, len(covariance)))
    if covariance.ndim == 1:
        return z * np.sqrt(covariance)
    return z @ np.linalg.cholesky(covariance).T
