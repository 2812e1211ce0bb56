"""Draws from named distributions inside the kernels, against SciPy and against exact laws.

The kernels' text runs uncompiled here, but for normal draws; that the compiled code gives the same
draws is the business of tests/model/test_twin.py.
"""

import numba
import numpy as np
import pytest
from scipy import stats
from scipy.special import loggamma

from bhmc._compiled.distributions import normal_draw
from bhmc._compiled.random_source import random_source, uniform
from tests.exact import alarm
from tests.exact.alarm import P_LIMIT, Z_LIMIT, chi_square_p, rng_for, z_of
from tests.mutants.mutants import build

KERNELS = build(())
N_DRAWS, N_NORMAL = 4_000, 1_000_000


@pytest.mark.parametrize("shape", [0.001, 0.3, 0.999, 1.0, 1.7, 40.0, 1e6])
def test_log_gamma(shape):
    """log G, G ~ Gamma(shape), by Kolmogorov and Smirnov's test."""
    rng = rng_for(71)
    draws = np.array([KERNELS.log_gamma_draw(shape, rng) for _ in range(N_DRAWS)])
    alarm.checks_made += 1
    assert stats.kstest(draws, stats.loggamma(shape).cdf).pvalue > P_LIMIT


def test_a_wrong_gamma_is_noticed():
    """The alarm rings: a shape 7 % off, and a draw that forgets the fall below shape 1."""
    rng = rng_for(72)
    draws = np.array([KERNELS.log_gamma_draw(1.7 * 1.07, rng) for _ in range(N_DRAWS)])
    assert stats.kstest(draws, stats.loggamma(1.7).cdf).pvalue < P_LIMIT
    mutant = build((("math.log(shape) + y - fall\n", "math.log(shape) + y\n"),))
    draws = np.array([mutant.log_gamma_draw(0.3, rng) for _ in range(N_DRAWS)])
    assert stats.kstest(draws, stats.loggamma(0.3).cdf).pvalue < P_LIMIT


def test_gamma_of_shape_0_and_of_a_vanishing_shape():
    rng = np.random.default_rng(0)
    assert KERNELS.log_gamma_draw(0.0, rng) == -np.inf
    assert all(KERNELS.log_gamma_draw(5e-324, rng) < -1e300 for _ in range(20))


@numba.njit
def _normal_draws(source, n):
    out = np.empty(n)
    for i in range(n):
        out[i] = normal_draw(source)
    return out


def _normals(seed: int) -> np.ndarray:
    rng = rng_for(seed)  # a source has its address only
    return _normal_draws(random_source(rng), N_NORMAL)


def test_normal_draws_are_those_of_their_twin():
    """The length and the angle of a point in the plane, from the same uniform numbers."""
    u, angle = rng_for(74).random((N_NORMAL, 2)).T
    slow = np.sqrt(stats.chi2(2).ppf(u[:20_000])) * np.cos(2 * np.pi * angle[:20_000])
    found = _normals(74)
    np.testing.assert_allclose(found[:20_000], slow, rtol=1e-9, atol=1e-12)
    plain = rng_for(74)
    text = [KERNELS.normal_draw(plain) for _ in range(2_000)]
    np.testing.assert_allclose(found[:2_000], text, rtol=1e-12, atol=1e-15)
    assert np.isfinite(found).all()


def normal_scores(x: np.ndarray) -> np.ndarray:
    """z of mean, variance, skewness, kurtosis, and of each draw with the one after it.

    Hermite polynomials of order k have mean 0 and variance k!, those of two draws are uncorrelated.
    """
    hermite = np.array([x, x**2 - 1, x**3 - 3 * x, x**4 - 6 * x**2 + 3])
    size = np.sqrt([1.0, 2.0, 6.0, 24.0])
    alone = hermite.mean(axis=1) / size
    pairs = hermite[:2, :-1] @ hermite[:2, 1:].T / (len(x) - 1) / np.outer(size[:2], size[:2])
    z = np.append(alone, pairs)
    return z_of(z, np.full(len(z), 1 / np.sqrt(len(x))))


def tails_p(x: np.ndarray) -> float:
    """The least p value of the numbers of draws beyond some quantiles, which are binomial."""
    p = np.array([1e-5, 1e-4, 1e-3, 0.01, 0.1, 0.5])
    beyond = [
        ((side * x > end).sum(), q)
        for q, end in zip(p, stats.norm.isf(p), strict=True)
        for side in (1, -1)
    ]
    alarm.checks_made += len(beyond)
    return min(stats.binomtest(int(n), len(x), q).pvalue for n, q in beyond)


def pairs_p(x: np.ndarray) -> float:
    """Chi-square of pairs of draws in 8 x 8 cells of equal probability."""
    cell = np.searchsorted(stats.norm.ppf(np.arange(1, 8) / 8), x).reshape(-1, 2)
    return chi_square_p(np.bincount(cell @ [8, 1], minlength=64), np.full(64, 1 / 64))


def test_normal_draws():
    x = _normals(75)
    assert np.abs(normal_scores(x)).max() < Z_LIMIT
    assert tails_p(x) > P_LIMIT
    assert pairs_p(x) > P_LIMIT
    alarm.checks_made += 1
    assert stats.kstest(x[:100_000], "norm").pvalue > P_LIMIT


@pytest.mark.parametrize(
    "wrong",
    [
        lambda x: 0.995 * x,
        lambda x: x + 0.006,
        lambda x: x + 0.1 * (x**2 - 1) / np.sqrt(1.02),
        lambda x: (x + 0.01 * np.roll(x, 1)) / np.sqrt(1.0001),
        lambda x: np.where(np.abs(np.roll(x, 1)) > 2, 1.1 * x, x),
    ],
    ids=["narrow", "moved", "skewed", "correlated", "wider after a large one"],
)
def test_wrong_normal_draws_are_noticed(wrong, monkeypatch):
    monkeypatch.setattr(alarm, "checks_made", alarm.checks_made)
    assert np.abs(normal_scores(wrong(_normals(75)))).max() > Z_LIMIT


def test_normal_draws_without_tails_are_noticed(monkeypatch):
    monkeypatch.setattr(alarm, "checks_made", alarm.checks_made)
    assert tails_p(np.clip(_normals(75), -3.7, 3.7)) < P_LIMIT


def test_pairs_of_normal_draws_that_hang_together_are_noticed(monkeypatch):
    """Two draws of one length: uncorrelated, each normal."""
    monkeypatch.setattr(alarm, "checks_made", alarm.checks_made)
    x = _normals(75)
    x[1::2] = np.abs(x[::2]) * np.sign(x[1::2])
    assert pairs_p(x) < P_LIMIT


@pytest.mark.parametrize(
    ("customers", "concentration"), [(5, 0.7), (50, 3.0), (400, 0.02), (400, 0.6), (5_000, 2.0)]
)
def test_tables(customers, concentration):
    """CRT(n, a) against its exact law, P(m) = |s(n, m)| a^m Gamma(a) / Gamma(a + n)."""
    assert _p_value(KERNELS, customers, concentration) > P_LIMIT


@pytest.mark.parametrize(
    "edit",
    [
        ("        seated += 1.0 + math.floor(", "        seated += 2.0 + math.floor("),
        ("        if wait >= customers - seated:", "        if wait >= customers * 2 - seated:"),
        ("    seated = 1.0\n", "    seated = 2.0\n"),
    ],
    ids=["a step too far", "guests too many", "a guest too many at the start"],
)
def test_a_wrong_wait_is_noticed(edit):
    assert _p_value(build((edit,)), 400, 0.6) < P_LIMIT


def _p_value(kernels, customers, concentration) -> float:
    """Chi-square of the number of tables against the exact law."""
    rng = rng_for(73)
    draws = [kernels.tables_draw(customers, concentration, rng) for _ in range(N_DRAWS)]
    law = _law_of_tables(customers, concentration)
    return chi_square_p(np.bincount(draws, minlength=len(law)), law)


def _law_of_tables(customers, concentration) -> np.ndarray:
    """P(m), m = 0, 1, ..., by adding guest after guest."""
    law = np.zeros(min(customers, 60) + 1)
    law[1] = 1.0
    for i in range(1, customers):
        opens = concentration / (concentration + i)
        law[1:] = law[1:] * (1 - opens) + law[:-1] * opens
    return law


def test_the_exact_law_is_the_one_with_stirling_numbers():
    a, law = 0.7, _law_of_tables(4, 0.7)
    stirling = np.array([0, 6, 11, 6, 1])
    expected = stirling * a ** np.arange(5) * np.exp(loggamma(a) - loggamma(a + 4)).real
    np.testing.assert_allclose(law, expected)


def test_exponentials():
    """Relative error of the kernels' own exp, 0 where it would be denormal, inf far above."""
    x = np.concatenate([-np.logspace(-12, 2.8, 3_000), np.logspace(-12, 2.5, 500), [0.0]])
    got = np.array([KERNELS.exp_within(value) for value in x])
    np.testing.assert_allclose(got, np.exp(x), rtol=2e-13)
    near = np.abs(x) < 1
    np.testing.assert_allclose(got[near], np.exp(x[near]), rtol=6e-16)
    assert KERNELS.exp_within(-800.0) == KERNELS.exp_within(-np.inf) == 0.0
    assert KERNELS.exp_within(350.0) == KERNELS.exp_within(np.inf) == np.inf


def test_random_numbers_are_those_of_the_generator():
    """A source draws what `rng.random()` would draw, and moves the generator on."""
    ours, theirs = np.random.default_rng(3), np.random.default_rng(3)
    source = random_source(ours)

    assert _three(source) == tuple(theirs.random(3))
    assert ours.random() == theirs.random()


@numba.njit
def _three(source):
    return uniform(source), uniform(source), uniform(source)
