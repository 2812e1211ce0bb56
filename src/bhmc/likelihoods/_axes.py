"""Two covariances made diagonal at once, and normal variables entry by entry."""

import numpy as np

from bhmc.likelihoods._wishart import over_triangle
from bhmc.likelihoods.blocks import Floats


class Axes:
    """A linear map A with A Sigma A' = I and A Sigma0 A' = diag(delta).

    A is a vector where both covariances are diagonal.

    Parameters
    ----------
    sigma, sigma0 : (d,) or (d, d) array
        Sigma and Sigma0: variances, or a matrix.
    """

    def __init__(self, sigma: Floats, sigma0: Floats):
        if sigma.ndim == sigma0.ndim == 1:
            self._scale = np.sqrt(sigma)
            with np.errstate(over="ignore", under="ignore"):  # refused by the family, in words
                self.prior_variance = sigma0 / sigma
            self.log_det_sigma = np.log(sigma).sum()
            return
        # Singular values of root(Sigma)^-1 root(Sigma0): their squares, delta, cannot turn negative
        # however far apart the two covariances are, as generalised eigenvalues can.
        root, root0 = (np.linalg.cholesky(matrix(covariance)) for covariance in (sigma, sigma0))
        turn, singular, _ = np.linalg.svd(over_triangle(root0.T, root, transposed=True).T)
        self._scale = None
        self.prior_variance = singular**2
        self._enter = over_triangle(turn.T, root).T
        self._leave = (root @ turn).T
        self.log_det_sigma = 2 * np.log(np.diag(root)).sum()

    @property
    def matrix(self) -> Floats:
        """(d, d): A itself, for which A' A = Sigma^-1."""
        return np.diag(1 / self._scale) if self._scale is not None else self._enter.T

    def enter(self, rows: Floats, centre: Floats | float = 0.0, out: Floats | None = None):
        """Rows x of data coordinates to A (x - centre)."""
        y = np.subtract(rows, centre, out=out if self._scale is not None else None)
        if self._scale is not None:
            return np.divide(y, self._scale, out=y)
        return np.matmul(y, self._enter, out=out)

    def leave(self, rows: Floats) -> Floats:
        """Back to data coordinates."""
        return rows * self._scale if self._scale is not None else rows @ self._leave


class UnitNormals:
    """y ~ N(m, 1) with m ~ N(mean, variance), every entry on its own.

    Parameters
    ----------
    mean, variance : (d,) array
        Of m before y is seen.
    """

    def __init__(self, mean: Floats, variance: Floats):
        self.mean, self.variance = mean, variance
        self._precision = 1 / variance
        self._pull = self._precision * mean

    def log_evidence(self, sums: Floats, counts: Floats) -> Floats:
        """(K,): sum of (pull + S)^2 / (2 P) - mean^2 / (2 variance) - log(variance P) / 2,

        with pull = mean / variance, P = 1 / variance + N, sums S (K, d) and numbers N (K, 1) of y.
        """
        if len(counts) and (counts == counts[0]).all():  # single rows: one line of logarithms
            counts = counts[:1]
        precision = self._precision + counts
        squares = (self._pull + sums) ** 2 / precision - self._pull * self.mean
        return 0.5 * (squares - np.log(self.variance * precision)).sum(axis=1)

    def draw(self, sums: Floats, counts: Floats, rng: np.random.Generator) -> Floats:
        """(K, d): m ~ N((pull + S) / P, 1 / P), with pull, S, P and N of `log_evidence`."""
        precision = self._precision + counts
        m = self._pull + sums
        m /= precision
        m += rng.standard_normal(m.shape) / np.sqrt(precision)
        return m


def matrix(covariance: Floats) -> Floats:
    return np.diag(covariance) if covariance.ndim == 1 else covariance
