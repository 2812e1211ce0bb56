"""What Gaussian families with variances of a component's own should give, written with SciPy.

Both cases have one interface, so that tests/likelihoods/test_own_variances.py runs over both.
"""

import numpy as np
import pytest
from scipy import stats

from bhmc.likelihoods import free_gaussian, full_gaussian
from bhmc.likelihoods.free_gaussian import FreeGaussian
from bhmc.likelihoods.full_gaussian import FullGaussian

SHAPE, NOISE, STRENGTH = 1.7, 0.6, 0.4
LAM = 0.4
SIGMA0 = np.array([[2.0, 0.6, -0.3], [0.6, 1.0, 0.2], [-0.3, 0.2, 0.5]])
MU0 = np.array([0.3, -2.0, 5.0])
COMPONENTS = np.array([0, 3, 0, 1, 1, 0, 3])  # none has number 2


def total(family, rows):
    """(1, s): the sum of t over some rows, each taken from the family on its own."""
    each = [family.statistics(slice(n, n + 1)) for n in rows]
    return np.sum(each, axis=0) if each else np.zeros((1, family.n_statistics))


def outlier(d):
    X = np.random.default_rng(0).normal(size=(20, d))
    X[3] = 1e6
    return X


class FreeCase:
    """`FreeGaussian` in data units, seven rows of data, and four rows of theta."""

    module = free_gaussian

    def __init__(self, d, kind, gaps):
        rng = np.random.default_rng(d)
        self.d, self.kind, self.each = d, kind, d if kind == "diagonal" else 1
        self.location = np.array([0.3, -2.0, 5.0])[:d]
        self.scale = np.array([1.5, 0.1, 20.0])[:d] if kind == "diagonal" else np.full(d, 1.5)
        self.likelihood = FreeGaussian(
            kind, self.location, self.scale, shape=SHAPE, noise=NOISE, strength=STRENGTH
        )
        self.X = self.location + self.scale * rng.normal(size=(7, d))
        if gaps:
            self.X[2], self.X[4, 0], self.X[5, d - 1] = np.nan, np.nan, np.nan
        means = self.location + self.scale * rng.normal(size=(4, d))
        self.theta = np.hstack([means, rng.normal(size=(4, self.each))])
        self.family = self.likelihood.prepare(self.X)

    def log_f(self, X):
        """(n, K): SciPy's log density of the entries that are there."""
        mean, sd = self.theta[:, : self.d], np.exp(self.theta[:, self.d :] / 2)
        return np.nansum(stats.norm.logpdf(X[:, None], mean[None], sd[None]), axis=2)

    def log_new(self, X):
        """(n,): SciPy's Student t of the entries that are there."""
        squared = self.scale**2 * NOISE * (1 + 1 / STRENGTH) / SHAPE
        if self.kind == "diagonal":
            each = stats.t.logpdf(X, 2 * SHAPE, self.location, np.sqrt(squared))
            return np.nansum(each, axis=1)
        value = np.zeros(len(X))
        for n, x in enumerate(X):
            seen = ~np.isnan(x)
            if seen.any():
                t = stats.multivariate_t(self.location[seen], np.diag(squared[seen]), 2 * SHAPE)
                value[n] = t.logpdf(x[seen])
        return value

    def posterior(self, X):
        """(shape', noise', mean', strength') given rows X, in data units and by two passes."""
        n = (~np.isnan(X)).sum(axis=0)
        mean = np.nansum(X, axis=0) / np.maximum(n, 1)
        squares = np.nansum((X - mean) ** 2, axis=0)
        squares += STRENGTH * n / (STRENGTH + n) * (mean - self.location) ** 2
        centre = (STRENGTH * self.location + n * mean) / (STRENGTH + n)
        if self.kind == "spherical":
            n_all, squares = np.array([n.sum()]), np.array([squares.sum()])
        else:
            n_all = n
        noise = NOISE * self.scale[: self.each] ** 2 + squares / 2
        return SHAPE + n_all / 2, noise, centre, STRENGTH + n

    def log_posterior(self, X):
        """(K,): log density of (means, log variances) at theta given rows X, by SciPy."""
        shape, noise, centre, strength = self.posterior(X)
        mean, log_v = self.theta[:, : self.d], self.theta[:, self.d :]
        log_p = (stats.invgamma.logpdf(np.exp(log_v), shape, scale=noise) + log_v).sum(axis=1)
        sd = np.exp(log_v / 2) / np.sqrt(strength)
        return log_p + stats.norm.logpdf(mean, centre, sd).sum(axis=1)


FREE_CASES = [
    pytest.param(FreeCase(d, kind, gaps), id=f"d={d}, {kind}{', gaps' * gaps}")
    for d in (1, 3)
    for kind in ("diagonal", "spherical")
    for gaps in (False, True)
]


class FullCase:
    """`FullGaussian`, seven rows of data, and four rows of theta."""

    module, scale = full_gaussian, 1.0

    def __init__(self, d, more_freedom):
        rng = np.random.default_rng(d)
        self.d, self.nu = d, d - 1 + more_freedom
        self.mu0, self.sigma0 = MU0[:d], SIGMA0[:d, :d]
        self.likelihood = FullGaussian(nu=self.nu, lam=LAM, mu0=self.mu0, sigma0=self.sigma0)
        self.X = self.mu0 + 2 * rng.normal(size=(7, d))
        self.means = self.mu0 + rng.normal(size=(4, d))
        self.factors = np.tril(rng.normal(size=(4, d, d)), -1)
        self.factors[:, np.arange(d), np.arange(d)] = rng.uniform(0.5, 2.0, size=(4, d))
        self.theta = packed(self.means, self.factors)
        self.family = self.likelihood.prepare(self.X)

    def log_f(self, X):
        """(n, K): SciPy's log density."""
        return np.column_stack(
            [
                stats.multivariate_normal(m, t @ t.T).logpdf(X)
                for m, t in zip(self.means, self.factors, strict=True)
            ]
        ).reshape(len(X), 4)

    def log_new(self, X):
        """(n,): SciPy's multivariate Student t."""
        freedom = self.nu - self.d + 1
        scale = self.sigma0 * (LAM + 1) / (LAM * freedom)
        return np.reshape(stats.multivariate_t(self.mu0, scale, freedom).logpdf(X), len(X))

    def posterior(self, X):
        """(nu', sigma0', mu', lam') given rows X, in data units and by two passes."""
        n, mean = len(X), X.mean(axis=0) if len(X) else self.mu0
        scatter = (X - mean).T @ (X - mean)
        away = np.outer(mean - self.mu0, mean - self.mu0) * LAM * n / (LAM + n)
        centre = (LAM * self.mu0 + n * mean) / (LAM + n)
        return self.nu + n, self.sigma0 + scatter + away, centre, LAM + n

    def log_posterior(self, X):
        """(4,): log density of (mean, T) at theta given rows X, by SciPy."""
        nu, scale, centre, lam = self.posterior(X)
        value = []
        for m, t in zip(self.means, self.factors, strict=True):
            sigma = t @ t.T
            jacobian = self.d * np.log(2) + np.log(np.diag(t)) @ np.arange(self.d, 0, -1)
            value.append(
                stats.invwishart.logpdf(sigma, nu, scale)
                + stats.multivariate_normal(centre, sigma / lam).logpdf(m)
                + jacobian
            )
        return np.array(value)


def packed(means, factors):
    """Rows of theta."""
    return np.hstack([means, factors[:, *np.tril_indices(means.shape[1])]])


def unpacked(theta, d):
    """(K, d) means and (K, d, d) factors."""
    factors = np.zeros((len(theta), d, d))
    factors[:, *np.tril_indices(d)] = theta[:, d:]
    return theta[:, :d], factors


FULL_CASES = [
    pytest.param(FullCase(d, freedom), id=f"d={d}, nu={d - 1 + freedom}")
    for d in (1, 2, 3)
    for freedom in (1.3, 5.0)
]
