"""`AdaptiveGaussian.log_new` in blocks and in place: the same numbers, bit for bit, as written out.

Every sweep computes it for all rows, so draws would change with its last digit.
"""

import numpy as np
import pytest
from scipy.special import gammaln

from bhmc.likelihoods import AdaptiveGaussian
from bhmc.likelihoods import adaptive_gaussian as module


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
        monkeypatch.setattr(module, "_NUMBERS_IN_CACHE", numbers)
        np.testing.assert_array_equal(family.log_new(), expected)
