"""Numbers of rows in blocks that stay in the cache: bit for bit those of all rows at once.

Every sweep or every kept draw computes them, so draws would change with their last digit.
"""

import numpy as np
import pytest
from scipy.special import gammaln

from bhmc.likelihoods import AdaptiveGaussian, SharedGaussian, blocks


def written_out(family):
    """The formula in its docstring, for all rows at once."""
    shape, d, each = family._shape, family._d, family._each
    t = family.statistics(slice(0, family.n_rows))
    count = family._counts(t)
    half, w = family._halves(count), shape * family._typical * (1 + 1 / family._strength)
    shift = family._pooled(family._m0 * (count * family._m0 - 2 * t[:, :d]))
    squares = np.maximum(t[:, d : d + each] + shift, 0.0)
    fall = (shape + half) * np.log1p(squares / (2 * w))
    return (gammaln(shape + half) - gammaln(shape) - half * np.log(w) - fall).sum(axis=1)


@pytest.mark.parametrize("covariance", ["diagonal", "spherical"])
@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize(("n", "d"), [(1, 3), (37, 1), (700, 16), (300, 201)])
def test_log_new_bit_for_bit(monkeypatch, covariance, missing, n, d):
    rng = np.random.default_rng(n + d)
    X = rng.normal(rng.normal(size=d), rng.gamma(2, size=d), (n, d))
    if missing:
        X[rng.random((n, d)) < 0.2] = np.nan
    likelihood = AdaptiveGaussian(covariance=covariance, location=0.3, scale=1.7)
    family = likelihood.prepare(X).at(likelihood.sample_shared(d, rng))
    expected = written_out(family)
    for numbers in (d, 7 * d, 2**14):
        monkeypatch.setattr(blocks, "_NUMBERS_IN_CACHE", numbers)
        np.testing.assert_array_equal(family.log_new(), expected)


@pytest.mark.parametrize("covariance", ["diagonal", "spherical"])
@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize(("n", "d"), [(1, 3), (37, 1), (700, 16), (300, 201)])
def test_log_base_of_shared_noise_bit_for_bit(monkeypatch, covariance, missing, n, d):
    rng = np.random.default_rng(n + d)
    X = rng.normal(rng.normal(size=d), 1.0, (n, d))
    if missing:
        X[rng.random((n, d)) < 0.2] = np.nan
    likelihood = SharedGaussian(covariance=covariance, location=0.3, scale=1.7)
    family = likelihood.prepare(X).at(likelihood.sample_shared(d, rng))
    t, constant = family.statistics(slice(0, n)), -0.5 * np.log(2 * np.pi * family._v)
    constant = constant - np.log(family._scale)
    y = t[:, :d]
    expected = (y * (-0.5 / family._v * y + np.zeros(d))).sum(axis=1)
    expected += t[:, d:-1] @ constant if missing else constant.sum()
    for numbers in (d, 7 * d, 2**14):
        monkeypatch.setattr(blocks, "_NUMBERS_IN_CACHE", numbers)
        np.testing.assert_array_equal(family.log_base(), expected)
