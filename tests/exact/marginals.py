"""p(X | c) of the families whose components share nothing, with theta integrated out.

Written from the families' definitions with SciPy, not with their code: it judges them. Data are
three rows, so that (tree, partition) can be enumerated; NaN is a missing entry.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import stats
from scipy.linalg import block_diag
from scipy.special import gammaln, multigammaln

from bhmc.likelihoods import (
    Bernoulli,
    Categorical,
    FreeGaussian,
    FullGaussian,
    Gaussian,
    Likelihood,
    Multinomial,
    Poisson,
)
from tests.exact.enumeration import Labels

NUMBERS = np.array([[-1.1, 0.3], [0.2, np.nan], [1.4, -0.9]])
COMPLETE = np.array([[-1.1, 0.3], [0.2, 0.8], [1.4, -0.9]])
BITS = np.array([[0, 1, 1, 0], [0, np.nan, 1, 0], [1, 0, 0, 0.0]])
CODES = np.array([[0, 2, 1], [0, np.nan, 1], [1, 0, 0.0]])
COUNTS = np.array([[0, 3], [1, np.nan], [4, 2.0]])
WORDS = np.array([[2, 0, 1], [3, 1, 0], [0, 1, 2.0]])


class Case(NamedTuple):
    """A family, data, and log p(X | c) up to a constant."""

    likelihood: Likelihood
    X: np.ndarray
    log_p_data: Callable[[Labels], float]


def groups(c: Labels) -> list[list[int]]:
    """Rows of each component."""
    return [[n for n, k in enumerate(c) if k == label] for label in sorted(set(c))]


def _of_groups(likelihood: Likelihood, X, log_m: Callable[[np.ndarray], float]) -> Case:
    """Components are independent given c: log p(X | c) is a sum of log m(rows of a component)."""
    return Case(likelihood, X, lambda c: sum(log_m(X[rows]) for rows in groups(c)))


def gaussian() -> Case:
    """All numbers of a group are jointly normal: I x sigma2 + 1 1' x sigma0 (x of Kronecker)."""
    sigma2, sigma0 = np.array([[0.6, 0.2], [0.2, 0.5]]), np.array([[1.4, -0.3], [-0.3, 0.9]])
    mu0 = np.array([0.1, -0.2])

    def log_m(x):
        n = len(x)
        cov = np.kron(np.eye(n), sigma2) + np.kron(np.ones((n, n)), sigma0)
        return stats.multivariate_normal(np.tile(mu0, n), cov).logpdf(x.ravel())

    return _of_groups(Gaussian(sigma2, mu0, sigma0), COMPLETE, log_m)


def free_gaussian(covariance: str) -> Case:
    """Student t: 2 shape degrees of freedom, scale (noise / shape) (I + 1 1' / strength) a column.

    Diagonal: every column on its own. Spherical: one t of all entries.
    """
    shape, noise, strength, location = 1.4, 0.5, 0.4, np.array([0.2, -0.1])
    scale = np.array([1.2, 0.7]) if covariance == "diagonal" else np.array([0.9, 0.9])

    def log_m(x):
        seen = ~np.isnan(x)
        entries = [(x[seen[:, d], d] - location[d]) / scale[d] for d in range(2)]
        parts = [np.eye(len(y)) + 1 / strength for y in entries]
        if covariance == "spherical":
            entries, parts = [np.concatenate(entries)], [block_diag(*parts)]
        log_p = sum(
            stats.multivariate_t(shape=noise / shape * part, df=2 * shape).logpdf(y)
            for y, part in zip(entries, parts, strict=True)
            if len(y)
        )
        return log_p - seen.sum(axis=0) @ np.log(scale)

    return _of_groups(
        FreeGaussian(covariance, location, scale, shape, noise, strength), NUMBERS, log_m
    )


def full_gaussian() -> Case:
    """Normal-inverse-Wishart: the ratio of normalising constants, posterior over prior."""
    nu, lam, mu0 = 3.7, 0.4, np.array([0.2, -0.1])
    sigma0 = np.array([[1.0, 0.3], [0.3, 0.8]])

    def log_m(x):
        n, mean = len(x), x.mean(axis=0)
        apart = np.outer(mean - mu0, mean - mu0) * lam * n / (lam + n)
        sigma = sigma0 + (x - mean).T @ (x - mean) + apart
        return (
            multigammaln((nu + n) / 2, 2)
            - multigammaln(nu / 2, 2)
            + nu / 2 * np.log(np.linalg.det(sigma0))
            - (nu + n) / 2 * np.log(np.linalg.det(sigma))
            + np.log(lam / (lam + n))
            - n * np.log(np.pi)
        )

    return _of_groups(FullGaussian(nu, lam, mu0, sigma0), COMPLETE, log_m)


def _log_dirichlet_ratio(counts, shapes) -> float:
    """log of the integral of prod p^counts over Dir(shapes)."""
    counts, shapes = np.asarray(counts, dtype=float), np.asarray(shapes, dtype=float)
    each = gammaln(shapes + counts) - gammaln(shapes)
    return each.sum() + gammaln(shapes.sum()) - gammaln(shapes.sum() + counts.sum())


def bernoulli() -> Case:
    a, b = np.array([0.7, 1.5, 0.9, 0.5]), np.array([1.6, 0.8, 0.6, 1.2])

    def log_m(x):
        return sum(
            _log_dirichlet_ratio([(x[:, d] == 1).sum(), (x[:, d] == 0).sum()], [a[d], b[d]])
            for d in range(4)
        )

    return _of_groups(Bernoulli(a, b), BITS, log_m)


def categorical() -> Case:
    concentration, widths = [0.4, 0.7, 0.5], [2, 3, 2]

    def log_m(x):
        return sum(
            _log_dirichlet_ratio(
                [(x[:, d] == code).sum() for code in range(k)], np.full(k, concentration[d])
            )
            for d, k in enumerate(widths)
        )

    return _of_groups(Categorical(concentration, widths), CODES, log_m)


def poisson() -> Case:
    """The integral of Poisson(x; l) Gamma(l; shape, rate), column by column."""
    shape, rate = np.array([1.3, 2.0]), np.array([0.6, 0.9])

    def log_m(x):
        total, n = np.nansum(x, axis=0), (~np.isnan(x)).sum(axis=0)
        log_p = gammaln(shape + total) - gammaln(shape) + shape * np.log(rate)
        log_p -= (shape + total) * np.log(rate + n)
        return log_p.sum() - np.nansum(gammaln(x + 1))

    return _of_groups(Poisson(shape, rate), COUNTS, log_m)


def multinomial() -> Case:
    a = np.array([0.5, 0.9, 0.7])

    def log_m(x):
        coefficient = gammaln(x.sum(axis=1) + 1).sum() - gammaln(x + 1).sum()
        return coefficient + _log_dirichlet_ratio(x.sum(axis=0), a)

    return _of_groups(Multinomial(a), WORDS, log_m)
