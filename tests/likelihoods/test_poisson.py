"""The Poisson family against SciPy, quadrature, sums over all x, and the joint tests."""

import numpy as np
import pytest
from scipy import integrate, stats

from bhmc.likelihoods._discrete import log_rising
from bhmc.likelihoods.poisson import Poisson, PoissonFamily
from tests.exact.alarm import Z_LIMIT, rng_for
from tests.exact.invariance import with_family
from tests.likelihoods.column_cases import POISSON, RATE, SHAPE, both
from tests.likelihoods.joint import (
    Setting,
    draws_of,
    invariance_z,
    log_gamma_cumulants,
    moment_z,
)

LIKELIHOOD, X, HOLED, THETA = POISSON.likelihood, POISSON.X, POISSON.holed, POISSON.theta
DATA = both(POISSON)


def posterior(data, rows):
    """Shape and rate of each column given some rows: the sum and the number of what is observed."""
    return SHAPE + np.nansum(data[rows], axis=0), RATE + (~np.isnan(data[rows])).sum(axis=0)


@DATA
def test_log_table(data):
    each = stats.poisson.logpmf(np.nan_to_num(data)[:, None], np.exp(THETA))
    expected = np.where(np.isnan(data)[:, None], 0, each).sum(axis=2)
    np.testing.assert_allclose(
        LIKELIHOOD.prepare(data).log_table(THETA), expected, rtol=1e-10, atol=1e-12
    )


@DATA
def test_log_marginal(data):
    each = stats.nbinom.logpmf(np.nan_to_num(data), SHAPE, RATE / (RATE + 1))
    expected = np.where(np.isnan(data), 0, each).sum(axis=1)
    np.testing.assert_allclose(LIKELIHOOD.prepare(data).log_marginal(), expected, atol=1e-12)


def test_densities_sum_to_one():
    likelihood = Poisson(0.7, 0.9)
    family = likelihood.prepare(np.arange(200.0)[:, None])
    assert np.exp(family.log_marginal()).sum() == pytest.approx(1, rel=1e-12)
    np.testing.assert_allclose(np.exp(family.log_table(THETA[:, :1])).sum(axis=0), 1, rtol=1e-12)


def test_log_prior_is_the_density_of_the_logarithm():
    expected = (stats.gamma.logpdf(np.exp(THETA), SHAPE, scale=1 / RATE) + THETA).sum(axis=1)
    np.testing.assert_allclose(LIKELIHOOD.prepare(X).log_prior(THETA), expected, rtol=1e-10)


def test_log_marginal_is_the_integral():
    """Of f(x; theta) h(theta) over log lambda, by quadrature of the family's own densities."""
    family = Poisson(0.7, 0.4).prepare(np.array([[0.0], [1.0], [6.0], [np.nan]]))

    def integrand(theta):
        theta = np.array([[theta]])
        return np.exp(family.log_table(theta)[:, 0] + family.log_prior(theta))

    value, error = integrate.quad_vec(integrand, -60, 6, epsabs=1e-12, points=[0.0, 2.0])
    assert error < 1e-8
    np.testing.assert_allclose(np.log(value), family.log_marginal(), atol=1e-9)


@DATA
def test_bayes_rule(data):
    """h(theta) f(x; theta) / f*(x) is Gamma(shape + x, rate + 1) for the observed entries."""
    family = LIKELIHOOD.prepare(data)
    log_posterior = (
        family.log_prior(THETA)[None] + family.log_table(THETA) - family.log_marginal()[:, None]
    )
    for n in range(len(data)):
        shape, rate = posterior(data, [n])
        each = stats.gamma.logpdf(np.exp(THETA), shape, scale=1 / rate) + THETA
        np.testing.assert_allclose(log_posterior[n], each.sum(axis=1), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    ("data", "rows", "seed"),
    [(X, [], 402), (X, [2], 403), (HOLED, [0, 1, 3, 4], 404)],
    ids=["prior", "one row", "rows with holes"],
)
def test_draw_theta_is_the_posterior(data, rows, seed):
    family = LIKELIHOOD.prepare(data)
    sums = family.statistics(slice(0, 7))[rows].sum(axis=0)
    theta = draws_of(family, sums, 20_000, seed)
    shape, rate = posterior(data, rows)
    assert moment_z(theta + np.log(rate), log_gamma_cumulants(shape)) < Z_LIMIT


def test_sample_theta_and_sample_data():
    rng = rng_for(405)
    theta = LIKELIHOOD.sample_theta(20_000, 3, rng)
    assert moment_z(theta + np.log(RATE), log_gamma_cumulants(SHAPE)) < Z_LIMIT
    x = LIKELIHOOD.sample_data(np.tile(THETA[0], (20_000, 1)), rng)
    assert moment_z(x, np.exp(THETA[[0, 0, 0]])) < Z_LIMIT  # all cumulants are lambda


@pytest.mark.parametrize("value", [0.5, -1, np.inf, 2e12])
def test_other_values_are_refused(value):
    data = np.zeros((9, 4))
    data[7, 3] = value
    with pytest.raises(
        ValueError,
        match=rf"^X has {value:.15g} in column 3, row 7; the Poisson family needs whole numbers",
    ):
        Poisson().prepare(data)


def test_settings_are_refused():
    with pytest.raises(ValueError, match=r"^shape must be between 1e-08 and 1e\+12, got 0\.$"):
        Poisson(shape=0.0).prepare(X)
    with pytest.raises(ValueError, match=r"^rate must be between"):
        Poisson(rate=-1.0).sample_theta(1, 2, rng_for(0))
    with pytest.raises(ValueError, match=r"^shape must be finite and above 0"):
        Poisson.scaled_to(X, shape=0.0)


def test_scaled_to():
    """Prior means are column means; a column of zeros, or without entries, has rate 1."""
    data = np.column_stack([HOLED, np.zeros(7), np.full(7, np.nan)])
    scaled = Poisson.scaled_to(data, shape=2.0)
    rate = np.append(2.0 / np.nanmean(HOLED, axis=0), [1.0, 1.0])
    np.testing.assert_allclose(scaled.rate, rate, rtol=1e-12)
    assert scaled.shape == 2.0
    assert Poisson.scaled_to(data).shape == 1.0
    assert np.isfinite(scaled.prepare(data).log_marginal()).all()


@pytest.mark.parametrize(
    ("shape", "rate"), [(1e-3, 1.0), (1e-8, 1e-6), (1e12, 1e12), (1e-3, 1e50), (1.0, 1e-50)]
)
def test_extreme_settings_give_finite_numbers(shape, rate):
    likelihood, data = Poisson(shape, rate), HOLED.copy()
    data[6], data[5, 0] = 1e6, 1e12
    family = likelihood.prepare(data)
    sums = family.sums(np.arange(7) % 3, 5)
    for theta in (family.draw_theta(sums, rng_for(1)), likelihood.sample_theta(50, 3, rng_for(2))):
        for numbers in (theta, family.natural(theta), family.log_table(theta)):
            assert np.isfinite(numbers).all()
        assert np.isfinite(family.log_prior(theta)).all()
    assert np.isfinite(family.log_marginal()).all()


def test_tiny_shapes_still_have_the_right_law():
    """lambda is then too small for a double, yet its logarithm has its mean and variance."""
    family = Poisson(1e-3, 2.0).prepare(np.zeros((1, 1)))
    theta = draws_of(family, np.array([0.0, 0.0]), 20_000, 406)
    assert moment_z(theta + np.log(2), log_gamma_cumulants([1e-3])) < Z_LIMIT


@pytest.mark.parametrize("a", [1e-8, 0.3, 7.0, 1e6, 1e9, 1e12])
def test_log_rising(a):
    """The product a (a + 1) ... (a + x - 1), whatever the size of a."""
    x = np.array([0.0, 1.0, 2.0, 50.0])
    expected = [np.log(a + np.arange(count)).sum() for count in x]
    np.testing.assert_allclose(log_rising(np.full(4, a), x), expected, rtol=1e-9, atol=1e-12)


def test_large_counts_keep_their_digits():
    """Counts of a million beside a sharp lambda: log f to 1e-8."""
    data = np.array([[1_000_000.0], [1_000_500.0]])
    theta = np.log([[1_000_000.0], [1_001_000.0]])
    expected = stats.poisson.logpmf(data, np.exp(theta).T)
    np.testing.assert_allclose(Poisson().prepare(data).log_table(theta), expected, atol=1e-7)


def test_rows_leave_sums_by_subtraction_only_where_that_is_exact():
    assert LIKELIHOOD.prepare(X).subtracts_well
    assert not Poisson().prepare(np.full((10_000, 1), 1e12)).subtracts_well


def test_float32_is_refused_for_large_counts():
    LIKELIHOOD.prepare(X).check_precision("float32")
    family = Poisson().prepare(np.array([[3.0], [1e5]]))
    family.check_precision("float64")
    with pytest.raises(ValueError, match=r"may reach 1.25e\+06: use 'float64'"):
        family.check_precision("float32")


# ---- Joint tests ----

WIDE = Poisson(0.7, 0.1)


class _MarginalAtThePriorMean(PoissonFamily):
    def log_new(self):
        mean = np.log(self._shape / self._rate)[None, :]
        return self.log_table(mean)[:, 0] - self.log_base()


def test_a_wrong_marginal_is_rejected():
    setting = Setting(with_family(WIDE, _MarginalAtThePriorMean), np.exp)
    assert invariance_z(setting, "redraw_data", 1_200, 420) > Z_LIMIT
