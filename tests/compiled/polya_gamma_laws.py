"""What is known of PG(h, z) in closed form, written apart from the code that draws it.

PG(h, z) = sum_k G_k / d_k with G_k ~ Gamma(h) and d_k = 2 pi^2 (k - 1/2)^2 + z^2 / 2, k = 1, 2, ...
"""

import numpy as np
from scipy.special import gammaln, log_ndtr, zeta


def mean(h, z):
    """h tanh(z / 2) / (2 z)."""
    return h * np.tanh(z / 2) / (2 * z) if z else h / 4


def variance(h, z):
    """h (sinh z - z) / (4 z^3 cosh(z / 2)^2)."""
    return h * (np.sinh(z) - z) / (4 * z**3 * np.cosh(z / 2) ** 2) if z else h / 24


def third_moment(h, z):
    """E (omega - mean)^3 = h (3 (sinh z - z) - z^2 tanh(z / 2)) / (4 z^5 cosh(z / 2)^2)."""
    if not z:
        return h / 60
    top = 3 * (np.sinh(z) - z) - z**2 * np.tanh(z / 2)
    return h * top / (4 * z**5 * np.cosh(z / 2) ** 2)


def cumulants(h, z, highest=6, n_terms=20_000):
    """The first cumulants h (r - 1)! sum_k d_k^-r, the end of the sums by a zeta function."""
    d = 2 * np.pi**2 * (np.arange(n_terms) + 0.5) ** 2 + z**2 / 2
    orders = np.arange(1, highest + 1)
    sums = (d[:, None] ** -orders).sum(axis=0)
    sums += zeta(2 * orders, n_terms + 0.5) / (2 * np.pi**2) ** orders
    return h * np.exp(gammaln(orders)) * sums


def central_moments(h, z):
    """E (omega - mean)^r, r = 0, ..., 6, from cumulants."""
    _, k2, k3, k4, k5, k6 = cumulants(h, z)
    sixth = k6 + 15 * k4 * k2 + 10 * k3**2 + 15 * k2**3
    return np.array([1, 0, k2, k3, k4 + 3 * k2**2, k5 + 10 * k3 * k2, sixth])


def log_laplace(t, h, z):
    """log E exp(-t omega)."""
    return h * (_log_cosh(z / 2) - _log_cosh(np.sqrt(z**2 / 4 + t / 2)))


def _log_cosh(x):
    return np.logaddexp(x, -x) - np.log(2)


def density(x, h, z, n_terms=400):
    """The alternating series of the density of PG(h, z); for small h, else its terms cancel."""
    n = np.arange(n_terms)[:, None]
    log_term = gammaln(n + h) - gammaln(n + 1) - (2 * n + h) ** 2 / (8 * x)
    series = ((-1) ** n * (2 * n + h) * np.exp(log_term)).sum(axis=0)
    log_factor = (h - 1) * np.log(2) - gammaln(h) + h * _log_cosh(z / 2) - z**2 * x / 2
    return np.exp(log_factor) * series / np.sqrt(2 * np.pi * x**3)


def single_cdf(x, z, n_terms=30):
    """P(omega <= x), omega ~ PG(1, z): every term of the series is an inverse Gaussian."""
    n = np.arange(n_terms)[:, None]
    a, root, factor = n + 0.5, np.sqrt(x), _log_cosh(z / 2) + np.log(2)
    terms = np.exp(factor - a * z + log_ndtr((z * x - a) / root))
    terms += np.exp(factor + a * z + log_ndtr(-(z * x + a) / root))
    return ((-1.0) ** n * terms).sum(axis=0)
