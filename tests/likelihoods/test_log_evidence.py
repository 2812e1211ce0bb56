"""`log_evidence`: of a single row it is `log_new`; row by row it is the mean of f over theta drawn
given the rows before. Both of these are tested against SciPy elsewhere.
"""

import numpy as np
import pytest

from bhmc.likelihoods import AdaptiveGaussian, FullGaussian, Product
from tests.likelihoods.test_log_maximum import CASES as CONJUGATE
from tests.likelihoods.test_log_maximum import NUMBERS, OWN

SPHERICAL = [0, 2, -1, 0.2, 0.1, 1.5]
CASES = {
    **{name: case[:3] for name, case in CONJUGATE.items()},
    **OWN,
    "adaptive, spherical": (AdaptiveGaussian("spherical"), NUMBERS, SPHERICAL),
    "full": (FullGaussian(nu=6.0, lam=0.5, mu0=[0, 2, -1]), NUMBERS, []),
    "product": (Product([("known_gaussian", [0, 2]), (AdaptiveGaussian(), [1])]), NUMBERS, "mixed"),
}


def bound(name):
    likelihood, X, shared = CASES[name]
    shared = [2.0, 0.2, 0.1, 1.5] if isinstance(shared, str) else shared
    return likelihood.prepare(X).at(np.array(shared, dtype=float))


@pytest.mark.parametrize("name", CASES)
def test_of_a_single_row(name):
    family = bound(name)
    rows = family.statistics(slice(0, family.n_rows))
    np.testing.assert_allclose(family.log_evidence(rows), family.log_new(), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", CASES)
def test_of_nothing(name):
    family = bound(name)
    nothing = np.zeros((1, family.n_statistics))
    np.testing.assert_allclose(family.log_evidence(nothing), 0.0, atol=1e-12)


@pytest.mark.parametrize("name", CASES)
def test_of_a_further_row(name):
    """log p(x | rows) = log of the mean of f(x; theta), theta ~ p(theta | rows)."""
    family, n_draws = bound(name), 20_000
    t = np.asarray(family.statistics(slice(0, family.n_rows)))
    rows, x = t[[1, 2, 4]].sum(axis=0), t[5]
    theta = family.draw_theta(np.tile(rows, (n_draws, 1)), np.random.default_rng(5))
    f = np.exp(family.natural(theta) @ x)
    gained = np.exp(np.diff(family.log_evidence(np.array([rows, rows + x]))))[0]
    assert abs(f.mean() - gained) < 4.5 * f.std() / np.sqrt(n_draws)
    assert f.std() / np.sqrt(n_draws) < 0.1 * gained  # an error of a factor would show
