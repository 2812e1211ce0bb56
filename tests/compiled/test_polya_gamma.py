"""Draws of PG(h, z): moments, Laplace transform and distribution function; densities; the twin."""

import numpy as np
import pytest
from scipy import stats

from bhmc._compiled import (
    distributions,
    log_concave,
    polya_gamma,
    polya_gamma_many,
    random_source,
    reference,
)
from bhmc._compiled.polya_gamma import MOST_SUMMED, draw_polya_gamma
from tests.compiled import polya_gamma_laws as laws
from tests.exact import alarm
from tests.exact.alarm import P_LIMIT, Z_LIMIT, rng_for, z_of
from tests.mutants.mutants import build

FILES = (random_source, distributions, log_concave, polya_gamma_many, polya_gamma)
KERNELS = build((), FILES)
COUNTS = [1, 10, 51, 1_000, 100_000]
TILTS = [0.0, 0.5, 3.0, 20.0]
N_DRAWS = 100_000


def draws_of(h, z, n, rng):
    return draw_polya_gamma(np.full(n, h), z, random_source.random_source(rng))


def moment_scores(draws, h, z):
    """z of the mean, the variance, the third moment (skewness) and the Laplace transform.

    The third is that of a^3 - 3 a, a = (omega - mean) / deviation: for a normal variable it does
    not depend on the mean of draws, so it varies less than a^3 (6 / n, not 15 / n).
    """
    deviation = np.sqrt(laws.variance(h, z))
    exact = laws.central_moments(h, z) / deviation ** np.arange(7)
    a = (draws - laws.mean(h, z)) / deviation
    powers = np.array([a.mean(), (a**2).mean(), (a**3 - 3 * a).mean()])
    squares = np.array([1, exact[4], exact[6] - 6 * exact[4] + 9])
    errors = np.sqrt((squares - exact[1:4] ** 2) / len(draws))
    t = 1 / deviation
    centre = t * laws.mean(h, z)
    first, second = (np.exp(laws.log_laplace(r * t, h, z) + r * centre) for r in (1, 2))
    laplace = np.exp(-a).mean() - first
    spread = np.sqrt((second - first**2) / len(draws))
    return z_of(np.append(powers - exact[1:4], laplace) / np.append(errors, spread), np.ones(4))


@pytest.mark.parametrize("z", TILTS)
@pytest.mark.parametrize("h", COUNTS)
def test_moments_and_laplace_transform(h, z):
    scores = moment_scores(draws_of(h, z, N_DRAWS, rng_for(81)), h, z)
    assert np.abs(scores).max() < Z_LIMIT


@pytest.mark.parametrize("h", [51, 1_000])
def test_a_normal_approximation_is_noticed(h):
    """Its mean and variance are right; the third moment is not."""
    normal = rng_for(82).normal(laws.mean(h, 0.5), np.sqrt(laws.variance(h, 0.5)), 4 * N_DRAWS)
    scores = np.abs(moment_scores(normal, h, 0.5))
    assert scores[:2].max() < Z_LIMIT < scores[2]


@pytest.mark.parametrize(
    ("h", "z", "edit"),
    [
        (1, 3.0, ("return right / (left + right)", "return 1.3 * right / (left + right)")),
        (1, 20.0, ("1.0 + y - math.sqrt(y * (2.0 + y))", "1.0 + y - math.sqrt(y * (1.0 + y))")),
        (20, 0.5, ("-log_cosh_root(w) - 0.5 *", "-log_cosh_root(w) - 0.48 *")),
        (20, 0.5, ("+ height - (log_saddle", "- (log_saddle")),
        (20, 3.0, ("return h * exponent - 0.5 * math.log(-t1)", "return h * exponent")),
    ],
    ids=["share", "inverse Gaussian", "saddle", "hat", "curvature"],
)
def test_a_wrong_draw_is_noticed(h, z, edit):
    mutant, rng = build((edit,), FILES), rng_for(83)
    draws = np.array([mutant.polya_gamma_draw(float(h), z, rng) for _ in range(8_000)])
    assert np.abs(moment_scores(draws, h, z)).max() > Z_LIMIT


@pytest.mark.parametrize("x", [0.1, 0.5, 0.639, 0.641, 0.8, 2.0])
def test_single_proposals_are_kept_with_the_share_of_the_series(x):
    """The density of 4 PG(1, 0) over the first term of its series: 1 - 8e-4 on average."""
    term = KERNELS.series_term(0, x) * (np.pi if x > 0.64 else np.pi * (2 / (np.pi * x)) ** 1.5)
    share = laws.density(np.array([x / 4]), 1, 0.0)[0] / 4 / term
    assert KERNELS.is_below_series(x, share - 1e-9)
    assert not KERNELS.is_below_series(x, share + 1e-9) or share > 1 - 1e-9


@pytest.mark.parametrize("z", TILTS)
def test_distribution_of_a_single_variable(z):
    """PG(1, z) by Kolmogorov and Smirnov's test; a tilt 1 off would be noticed."""
    draws = draws_of(1, z, 20_000, rng_for(84))
    alarm.checks_made += 1
    assert stats.kstest(draws, lambda x: laws.single_cdf(x, z)).pvalue > P_LIMIT
    assert stats.kstest(draws, lambda x: laws.single_cdf(x, z + 1)).pvalue < P_LIMIT


@pytest.mark.parametrize("z", TILTS)
@pytest.mark.parametrize("h", [0, 1, 3, MOST_SUMMED, MOST_SUMMED + 1, 51, 100_000])
def test_draws_are_those_of_the_slow_twin(h, z):
    ours, theirs = np.random.default_rng(5), np.random.default_rng(5)
    fast = draws_of(h, -z, 30, ours)
    np.testing.assert_allclose(
        fast, reference.draw_polya_gamma(np.full(30, h), z, theirs), rtol=1e-8
    )
    assert ours.random() == theirs.random()


def test_shapes_and_limits():
    rng = np.random.default_rng(0)
    source = random_source.random_source(rng)
    draws = draw_polya_gamma(np.array([[0], [4], [40]]), np.array([[0.0, -9.0]]), source)
    assert draws.shape == (3, 2)
    assert (draws[0] == 0).all()
    assert (draws[1:] > 0).all()
    np.testing.assert_array_equal(draw_polya_gamma([3, 30], [np.inf, -np.inf], source), 0.0)
    assert np.isnan(draw_polya_gamma([3, 30], np.nan, source)).all()
    np.testing.assert_allclose(draw_polya_gamma([1e7], [2_000.0], source), 1e7 / 4_000, rtol=1e-3)


@pytest.mark.parametrize("z", TILTS)
def test_closed_forms_of_moments(z):
    """Mean, variance and third central moment against the sums over gamma variables."""
    closed = [law(7, z) for law in (laws.mean, laws.variance, laws.third_moment)]
    np.testing.assert_allclose(closed, laws.cumulants(7, z)[:3], rtol=1e-11)


# ---- The density that draws of many rows are judged by -------------------------------------------


def log_density(h, z, w):
    """(x, log f(x), log g(x)) at saddle points w, with normalising constants."""
    start, constant = z**2 / 4, h * np.logaddexp(z / 2, -z / 2) - h * np.log(2)
    rows = []
    for one in w:
        t0, t1, _ = KERNELS.tanh_ratio(one)
        log_g = KERNELS.log_saddle(h, start, one, t0, t1) - np.log(2 * np.pi * h / 8) / 2
        log_g += constant
        rows.append((h * t0 / 4, log_g + KERNELS.log_correction(h, one, t0, t1), log_g))
    return np.array(rows).T


@pytest.mark.parametrize("h", [MOST_SUMMED + 1, 12])
def test_density_equals_its_alternating_series(h):
    x, log_f, _ = log_density(h, 0.7, np.linspace(-1.2, 6.0, 40))
    np.testing.assert_allclose(np.exp(log_f), laws.density(x, h, 0.7), rtol=1e-10)


@pytest.mark.parametrize("h", [MOST_SUMMED + 1, 20, 51, 1_000, 100_000])
def test_density_lies_within_the_bounds_that_draws_rely_on(h):
    """log g - 1 / (12 h) <= log f <= log g, over all saddle points; log g is concave in x."""
    w = np.concatenate(
        [-(np.pi**2) / 4 + np.logspace(-2, 0, 20), np.linspace(-1, 1, 21), 2.0 ** np.arange(1, 14)]
    )
    gap = -h * np.array([KERNELS.log_correction(h, one, *KERNELS.tanh_ratio(one)[:2]) for one in w])
    assert gap.min() > -1e-8 * h
    assert np.diff(gap).max() < 1e-8 * h
    assert 0.08 < gap.max() < 1 / 12 + 1e-8 * h  # Stirling's bound is nearly reached
    x, _, slopes = np.array([KERNELS.saddle_tangent(h, 0.0, -2 * one) for one in w]).T
    assert (np.diff(x) < 0).all()
    assert (np.diff(slopes) > 0).all()


@pytest.mark.parametrize("z", TILTS)
@pytest.mark.parametrize("h", [MOST_SUMMED + 1, 51, 1_000, 100_000])
def test_density_has_the_moments(h, z):
    """Mass, mean, variance and third moment of f by the trapezoidal rule, w = r^2 - pi^2 / 4."""
    deviation = np.sqrt(laws.variance(h, z))
    middle = np.sqrt(z**2 / 4 + np.pi**2 / 4)
    reach = 25 / (4 * middle * deviation)
    r = np.linspace(max(middle - reach, 0.03), middle + reach, 300)
    w = r**2 - np.pi**2 / 4
    x, log_f, _ = log_density(h, z, w)
    dx = -h / 4 * np.array([KERNELS.tanh_ratio(one)[1] for one in w]) * 2 * r * (r[1] - r[0])
    away = (x - laws.mean(h, z)) / deviation
    got = [(away**k * np.exp(log_f) * dx).sum() for k in range(4)]
    skewness = laws.third_moment(h, z) / deviation**3
    np.testing.assert_allclose(got, [1, 0, 1, skewness], rtol=1e-9, atol=1e-8)


def test_the_package_polyagamma_agrees():
    """An independent program, where it is installed: sums of its exact draws of PG(1, z)."""
    package = pytest.importorskip("polyagamma")
    theirs = package.random_polyagamma(1, 1.5, size=(20_000, 12), method="devroye", random_state=3)
    ours = draws_of(12, 1.5, 20_000, rng_for(85))
    alarm.checks_made += 1
    assert stats.ks_2samp(ours, theirs.sum(axis=1)).pvalue > P_LIMIT
