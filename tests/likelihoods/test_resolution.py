"""How fine a component may be: what the bounds are, and draws that keep to them."""

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad
from scipy.optimize import brentq

from bhmc.likelihoods import AdaptiveGaussian, SharedGaussian
from bhmc.likelihoods._resolution import error_of_words, spacing
from bhmc.likelihoods._truncated import gamma_above, gamma_below
from tests.exact.alarm import Z_LIMIT, rng_for, z_of

# ---- Gamma variables within bounds ----

N = 20_000
BELOW = [(2.0, 5.0), (2.0, 0.5), (0.5, 0.01), (50.0, 49.0), (50.0, 20.0), (1e5, 9e4)]
ABOVE = [(1.0, 0.1), (2.0, 5.0), (2.0, 40.0), (50.0, 51.0), (50.0, 90.0), (1e5, 1.1e5)]


def share_below(g, shape, most):
    """Uniform on (0, 1) if g has the law of a gamma variable below `most`."""
    return np.exp(stats.gamma.logcdf(g, shape) - stats.gamma.logcdf(most, shape))


def share_above(g, shape, least):
    return np.exp(stats.gamma.logsf(g, shape) - stats.gamma.logsf(least, shape))


def uniform_z(u):
    """z of the mean and the mean square of numbers that should be uniform."""
    values = np.array([u, u**2])
    errors = values.std(axis=1, ddof=1) / np.sqrt(values.shape[1])
    return z_of(values.mean(axis=1) - [1 / 2, 1 / 3], errors)


@pytest.mark.parametrize(
    ("draw", "share", "cases"),
    [(gamma_below, share_below, BELOW), (gamma_above, share_above, ABOVE)],
)
def test_gamma_within_a_bound(draw, share, cases):
    rng = rng_for(501)
    for shape, bound in cases:
        u = share(draw(np.full(N, shape), np.full(N, bound), rng), shape, bound)
        assert ((u >= 0) & (u <= 1 + 1e-9)).all()
        assert np.abs(uniform_z(u)).max() < Z_LIMIT, (shape, bound)


def test_a_draw_pushed_to_its_bound_is_rejected(monkeypatch):
    """What is easier to write, and wrong."""
    monkeypatch.setattr("tests.exact.alarm.checks_made", 0)
    rng = rng_for(502)
    pushed = np.minimum(rng.standard_gamma(2.0, N), 0.5)
    assert np.abs(uniform_z(share_below(pushed, 2.0, 0.5))).max() > 20
    always = 0.5 * np.exp(-rng.standard_exponential(N) / 1.5)  # proposals, none refused
    assert np.abs(uniform_z(share_below(always, 2.0, 0.5))).max() > 5


def test_bounds_may_differ_and_be_absent():
    rng = rng_for(503)
    g = gamma_below(np.array([3.0, 3.0, 400.0]), np.array([np.inf, 1.0, 100.0]), rng)
    assert g.shape == (3,)
    assert g[1] <= 1.0
    assert 95.0 < g[2] <= 100.0


# ---- Words and neighbours ----


def test_error_of_words_solves_its_equation():
    rng = np.random.default_rng(0)
    for _ in range(20):
        spectrum, nats = rng.gamma(0.5, size=12) + 1e-3, rng.uniform(0.5, 12)
        level = brentq(
            lambda t: np.log(np.maximum(spectrum / np.exp(t), 1)).sum() / 2 - nats,  # noqa: B023
            -80,
            np.log(spectrum.max()),
        )
        expected = np.minimum(spectrum, np.exp(level)).sum()
        assert error_of_words(spectrum, nats) == pytest.approx(expected, rel=1e-9)


def test_error_of_words_in_closed_form():
    assert error_of_words(np.array([4.0]), np.log(10)) == pytest.approx(4 / 100)
    assert error_of_words(np.full(50, 2.0), np.log(1000)) == pytest.approx(100 * 1000 ** (-2 / 50))
    assert error_of_words(np.array([9.0, 0.0]), 1.0) == pytest.approx(9 * np.exp(-2))


def share_of(X):
    """`spacing` of centred columns."""
    return spacing(X - X.mean(axis=0), len(X))


def test_few_columns_are_resolved_finely_and_many_are_not():
    rng = np.random.default_rng(0)
    few, many = (share_of(rng.normal(size=(1000, d))) for d in (2, 200))
    assert few < 0.01
    assert many > 0.8


def test_clusters_are_resolved():
    """Three groups on a line, 20 in ten columns, and 60 of ten rows each: all stay apart."""
    rng = np.random.default_rng(1)
    line = rng.normal(size=(150, 1)) + 8.0 * (np.arange(150) % 3)[:, None]
    groups = rng.normal(size=(2000, 10)) + 8 * rng.normal(size=(20, 10))[np.arange(2000) % 20]
    small = rng.normal(size=(600, 2)) + 30 * rng.normal(size=(60, 2))[np.arange(600) % 60]
    for X in (line, groups, small):
        assert share_of(X) * X.var(axis=0).sum() < 2 * X.shape[1]


def test_near_copies_are_not_worth_a_component():
    """In many columns, a pair of like rows is no sign of a finer scale."""
    rng = np.random.default_rng(2)
    once = rng.normal(size=(400, 100))
    twice = np.vstack([once, once + 0.01 * rng.normal(size=once.shape)])
    assert share_of(twice) > 0.5


def test_rotations_and_units_do_not_matter():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(300, 8)) * np.arange(1, 9)
    turn = np.linalg.qr(rng.normal(size=(8, 8)))[0]
    assert share_of(1000 * X @ turn + 50) == pytest.approx(share_of(X), rel=1e-6)


def test_equal_rows_and_missing_entries():
    assert share_of(np.ones((5, 2))) == 0.0
    holes = np.random.default_rng(4).normal(size=(200, 30))
    whole = share_of(holes)
    holes[np.random.default_rng(5).random(holes.shape) < 0.1] = np.nan
    assert spacing(holes - np.nanmean(holes, axis=0), 200) == pytest.approx(whole, rel=0.15)


# ---- Families that keep to it ----


@pytest.mark.parametrize("covariance", ["diagonal", "spherical"])
def test_variances_stay_above_the_least(covariance):
    """Data without noise would have it vanish."""
    X = np.repeat(np.random.default_rng(0).normal(size=(4, 3)), 30, axis=0)
    rng, components = np.random.default_rng(1), np.repeat(np.arange(4), 30)
    for kind in (SharedGaussian, AdaptiveGaussian):
        likelihood = kind(covariance, least_variance=0.4)
        family = likelihood.prepare(X)
        shared, each = family.start_shared(), 3 if covariance == "diagonal" else 1
        for _ in range(20):
            bound = family.at(shared)
            sums = family.sums(components, 4)
            shared = bound.draw_shared(bound.draw_theta(sums, rng), sums, rng)
            assert (shared[3 : 3 + each] >= 0.4).all(), kind


def test_the_prior_is_that_above_the_least():
    """Integrated over sigma2 above it, log_prior_shared leaves the priors of mu0 and sigma0."""
    family = SharedGaussian("spherical", least_variance=0.3).prepare(np.zeros((2, 1)))
    sigma2 = 0.3 + np.geomspace(1e-6, 1e5, 20_001)
    p = np.exp([family.at(np.array([0.0, v, 1.0])).log_prior_shared() for v in sigma2])
    others = stats.norm.pdf(0.0) * stats.invgamma.pdf(1.0, 1.0, scale=0.2)
    assert np.trapezoid(p, sigma2) == pytest.approx(others, rel=1e-3)


# What AdaptiveGaussian learns above a least value, as its docstring says: Gamma shape, rate, least.
LEARNED = {"typical": (1.0, 2.0, 0.3), "strength": (1.0, 2.0, 0.02), "shape": (2.0, 0.5, 1.0)}


@pytest.mark.parametrize("covariance", ["diagonal", "spherical"])
@pytest.mark.parametrize("which", LEARNED)
def test_the_adaptive_prior_is_that_above_its_least_values(which, covariance):
    """Integrated over one number above its least, log_prior_shared leaves the others' priors."""
    scale, each = np.array([2.0, 2.0]), 2 if covariance == "diagonal" else 1
    likelihood = AdaptiveGaussian(covariance, scale=scale, least_variance=0.3)
    family = likelihood.prepare(np.zeros((2, 2)))
    names = ["typical"] * each + ["strength"] * each + ["shape"]
    values = np.array([0.5, 0.8, 0.1, 0.3, 2.5] if each == 2 else [0.5, 0.1, 2.5])
    units = np.where(np.array(names) == "typical", scale[0] ** 2, 1.0)  # of typical: X squared
    at = names.index(which)

    def density(x: float) -> float:
        mu0, numbers = np.zeros(2), np.where(np.arange(len(values)) == at, x, values) * units
        return np.exp(family.at(np.concatenate([mu0, numbers])).log_prior_shared())

    def above(name: str, x: float) -> float:
        shape, rate, least = LEARNED[name]
        return stats.gamma.pdf(x, shape, scale=1 / rate) / stats.gamma.sf(
            least, shape, scale=1 / rate
        )

    integral = quad(density, LEARNED[which][2], np.inf)[0] * units[at]
    expected = stats.norm.pdf(0.0, scale=scale).prod() * np.prod(
        [above(name, x) / unit for name, x, unit in zip(names, values, units, strict=True)]
    )
    expected *= units[at] / above(which, values[at])
    assert integral == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"least_variance": -1.0}, "least_variance must not be below 0, got -1"),
        ({"least_variance": [0.1, 0.2, 0.3]}, "must be a number or hold one for each of the 2"),
        (
            {"covariance": "spherical", "least_variance": [0.1, 0.2]},
            "least_variance must be one number where covariance is 'spherical'",
        ),
    ],
)
def test_wrong_settings_are_named(settings, words):
    for kind in (SharedGaussian, AdaptiveGaussian):
        with pytest.raises(ValueError, match=words):
            kind(**settings).prepare(np.zeros((3, 2)))
