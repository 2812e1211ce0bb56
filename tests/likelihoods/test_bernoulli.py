"""The Bernoulli family against SciPy, quadrature, sums over all x, and the joint tests."""

import itertools

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.special import expit

from bhmc.likelihoods.bernoulli import Bernoulli, BernoulliFamily
from tests.exact.alarm import Z_LIMIT, rng_for
from tests.exact.invariance import with_family
from tests.likelihoods.column_cases import BERNOULLI, A, B, both
from tests.likelihoods.joint import (
    Setting,
    draws_of,
    invariance_z,
    log_gamma_cumulants,
    mean_z,
    moment_z,
)

LIKELIHOOD, X, HOLED, THETA = BERNOULLI.likelihood, BERNOULLI.X, BERNOULLI.holed, BERNOULLI.theta
DATA = both(BERNOULLI)


def counts(data, rows):
    """Ones and zeros of each column among some rows."""
    return (data[rows] == 1).sum(axis=0), (data[rows] == 0).sum(axis=0)


def logit_cumulants(a, b):
    """Of log G - log G', G ~ Gamma(a), G' ~ Gamma(b)."""
    signs = np.array([-1, 1, 1])[:, None]
    return log_gamma_cumulants(a) + signs * log_gamma_cumulants(b)


@DATA
def test_log_table(data):
    each = stats.bernoulli.logpmf(np.nan_to_num(data)[:, None], expit(THETA))
    expected = np.where(np.isnan(data)[:, None], 0, each).sum(axis=2)
    np.testing.assert_allclose(LIKELIHOOD.prepare(data).log_table(THETA), expected, rtol=1e-10)


@DATA
def test_log_marginal(data):
    each = stats.betabinom.logpmf(np.nan_to_num(data), 1, A, B)
    expected = np.where(np.isnan(data), 0, each).sum(axis=1)
    np.testing.assert_allclose(LIKELIHOOD.prepare(data).log_marginal(), expected, atol=1e-12)


def test_densities_sum_to_one():
    family = LIKELIHOOD.prepare(np.array(list(itertools.product([0.0, 1.0], repeat=3))))
    assert np.exp(family.log_marginal()).sum() == pytest.approx(1, rel=1e-12)
    np.testing.assert_allclose(np.exp(family.log_table(THETA)).sum(axis=0), 1, rtol=1e-12)


def test_log_prior_is_the_density_of_the_logit():
    p = expit(THETA)
    expected = (stats.beta.logpdf(p, A, B) + np.log(p * (1 - p))).sum(axis=1)
    np.testing.assert_allclose(LIKELIHOOD.prepare(X).log_prior(THETA), expected, rtol=1e-9)


def test_log_marginal_is_the_integral():
    """Of f(x; theta) h(theta) over the logit, by quadrature of the family's own densities."""
    family = Bernoulli(0.7, 1.4).prepare(np.array([[0.0], [1.0], [np.nan]]))

    def integrand(theta):
        theta = np.array([[theta]])
        return np.exp(family.log_table(theta)[:, 0] + family.log_prior(theta))

    value, error = integrate.quad_vec(integrand, -70, 70, epsabs=1e-12, points=[0.0])
    assert error < 1e-8
    np.testing.assert_allclose(np.log(value), family.log_marginal(), atol=1e-9)


@DATA
def test_bayes_rule(data):
    """h(theta) f(x; theta) / f*(x) is Beta(a + x, b + 1 - x) for the observed entries."""
    family = LIKELIHOOD.prepare(data)
    log_posterior = (
        family.log_prior(THETA)[None] + family.log_table(THETA) - family.log_marginal()[:, None]
    )
    for n in range(len(data)):
        ones, zeros = counts(data, [n])
        own = Bernoulli(A + ones, B + zeros).prepare(data)
        np.testing.assert_allclose(log_posterior[n], own.log_prior(THETA), rtol=1e-10)


@pytest.mark.parametrize(
    ("data", "rows", "seed"),
    [(X, [], 302), (X, [2], 303), (HOLED, [0, 1, 3, 4], 304)],
    ids=["prior", "one row", "rows with holes"],
)
def test_draw_theta_is_the_posterior(data, rows, seed):
    family = LIKELIHOOD.prepare(data)
    sums = family.statistics(slice(0, 7))[rows].sum(axis=0)
    theta = draws_of(family, sums, 20_000, seed)
    ones, zeros = counts(data, rows)
    assert moment_z(theta, logit_cumulants(A + ones, B + zeros)) < Z_LIMIT


def test_sample_theta_and_sample_data():
    rng = rng_for(305)
    theta = LIKELIHOOD.sample_theta(20_000, 3, rng)
    assert moment_z(theta, logit_cumulants(A, B)) < Z_LIMIT
    x = LIKELIHOOD.sample_data(np.tile(THETA[0], (20_000, 1)), rng)
    assert set(np.unique(x)) == {0.0, 1.0}
    assert mean_z(x, expit(THETA[0])) < Z_LIMIT


@pytest.mark.parametrize("value", [0.5, 2, -1, np.inf])
def test_other_values_are_refused(value):
    data = np.zeros((9, 4))
    data[7, 3] = value
    with pytest.raises(
        ValueError, match=f"^X has {value} in column 3, row 7; the Bernoulli family"
    ):
        Bernoulli().prepare(data)


def test_scaled_to():
    """a / (a + b) is each column's share of ones, drawn to a half by one datum; a + b = 2."""
    data = np.array([[1.0, 0.0, np.nan, 1.0], [1.0, 0.0, np.nan, np.nan], [0.0, 0.0, np.nan, 1.0]])
    scaled = Bernoulli.scaled_to(data)
    np.testing.assert_allclose(scaled.a, [2 * 2.5 / 4, 2 * 0.5 / 4, 1.0, 2 * 2.5 / 3])
    np.testing.assert_allclose(np.add(scaled.a, scaled.b), 2)
    # A table of all ones too is a prior with room for zeros.
    assert (Bernoulli.scaled_to(np.ones((50, 1))).b > 0).all()


def test_settings_are_refused():
    with pytest.raises(ValueError, match=r"^a must be between 1e-08 and 1e\+12, got 0\.$"):
        Bernoulli(a=0.0).prepare(X)
    with pytest.raises(ValueError, match=r"^b must be a number or hold one for each of the 3"):
        Bernoulli(b=[1.0, 2.0]).prepare(X)
    with pytest.raises(ValueError, match=r"^b must be between"):
        Bernoulli(b=-1.0).sample_theta(1, 2, rng_for(0))


@pytest.mark.parametrize(("a", "b"), [(1e-3, 1e-3), (1e-8, 1e-8), (1e-3, 1e12), (1e12, 1e12)])
def test_extreme_settings_give_finite_numbers(a, b):
    likelihood = Bernoulli(a, b)
    family = likelihood.prepare(HOLED)
    sums = family.sums(np.arange(7) % 3, 5)
    sums[4] = 1e6 * sums[0]
    for theta in (family.draw_theta(sums, rng_for(1)), likelihood.sample_theta(50, 3, rng_for(2))):
        for numbers in (theta, family.natural(theta), family.log_table(theta)):
            assert np.isfinite(numbers).all()
        assert np.isfinite(family.log_prior(theta)).all()
        assert np.isin(likelihood.sample_data(theta, rng_for(3)), [0, 1]).all()
    assert np.isfinite(family.log_marginal()).all()


def test_tiny_shapes_still_have_the_right_law():
    """p is then 0 or 1 to the last digit, yet its logit has its mean and variance."""
    family = Bernoulli(1e-3, 2e-3).prepare(np.zeros((1, 1)))
    theta = draws_of(family, np.array([0.0, 0.0]), 20_000, 306)
    assert moment_z(theta, logit_cumulants([1e-3], [2e-3])) < Z_LIMIT
    assert mean_z(expit(theta), np.array([1 / 3])) < Z_LIMIT


def test_float32_is_refused_where_logits_are_large():
    LIKELIHOOD.prepare(X).check_precision("float32")
    Bernoulli(1e-4).prepare(X).check_precision("float64")
    with pytest.raises(ValueError, match=r"may reach 3e\+04: use 'float64'"):
        Bernoulli(1e-4).prepare(X).check_precision("float32")


# ---- Joint tests ----

SKEW = Bernoulli([0.5, 4.0], [4.0, 0.5])


class _MarginalForgetsThePrior(BernoulliFamily):
    def log_new(self):
        return self.log_table(np.zeros((1, self.n_parameters)))[:, 0]


def test_a_wrong_marginal_is_rejected():
    setting = Setting(with_family(SKEW, _MarginalForgetsThePrior), expit)
    assert invariance_z(setting, "redraw_data", 1_500, 320) > Z_LIMIT
