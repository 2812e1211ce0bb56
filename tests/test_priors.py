"""Priors of a positive number: their densities, and what they refuse, in whole sentences."""

import re
from dataclasses import fields

import numpy as np
import pytest
from scipy import integrate

import bhmc
from bhmc.priors import Beta, Gamma, InverseGamma, Uniform, prior_of
from tests.exact.alarm import Z_LIMIT, rng_for
from tests.likelihoods.joint import mean_z

PRIORS = [
    (Gamma(2, 3), 2 / 3),
    (Uniform(0.2, 1.5), 0.85),
    (Beta(2, 3), 0.4),
    (InverseGamma(5, 2), 0.5),
]


@pytest.mark.parametrize(("prior", "mean"), PRIORS, ids=str)
def test_densities_and_draws_agree(prior, mean):
    ends = [0.2, 1.0, 1.5]

    def moment(power):
        return integrate.quad(
            lambda x: x**power * np.exp(prior.log_density(x)), 1e-9, 60, points=ends, limit=200
        )[0]

    assert moment(0) == pytest.approx(1, abs=1e-6)
    assert moment(1) == pytest.approx(mean, abs=1e-6)
    rng = rng_for(360)
    draws = np.array([[prior.sample(rng)] for _ in range(5_000)])
    assert mean_z(draws, np.array([mean])) < Z_LIMIT
    assert prior_of(prior.code) == prior


@pytest.mark.parametrize("kind", [Gamma, Uniform, Beta, InverseGamma])
@pytest.mark.parametrize("bad", ["1", None, True, [1.0], 1j])
def test_what_is_no_number_is_refused(kind, bad):
    names = [field.name for field in fields(kind)]
    for first, second, name in ((bad, 1.0, names[0]), (0.5, bad, names[1])):
        with pytest.raises(
            TypeError, match=rf"^{name} must be a number, got {re.escape(repr(bad))}"
        ):
            kind(first, second)


@pytest.mark.parametrize("kind", [Gamma, Uniform, Beta, InverseGamma])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -1.0])
def test_numbers_out_of_range_are_refused(kind, bad):
    names = [field.name for field in fields(kind)]
    for first, second, name in ((bad, 1.0, names[0]), (0.5, bad, names[1])):
        rule = "at least 0" if name == "low" else "above 0"
        with pytest.raises(ValueError, match=f"^{name} must be finite and {rule}, got {bad}"):
            kind(first, second)


def test_zero_is_the_least_low_and_no_shape():
    assert Uniform(0, 1).code == (2, 0.0, 1.0)
    for kind in (Gamma, Beta, InverseGamma):
        with pytest.raises(ValueError, match=r"must be finite and above 0, got 0\.$"):
            kind(0, 1)
    for high in (0.5, 0.3):
        with pytest.raises(ValueError, match=f"^low must be below high, got 0.5 and {high}"):
            Uniform(0.5, high)


@pytest.mark.parametrize("name", ["alpha", "gamma0", "gamma"])
def test_a_state_outside_its_prior_is_refused(name):
    """It would stay there: a slice sampler cannot start where the density is 0."""
    hyper = bhmc.Hyper(1.0, 1.0, 1.0)
    rng = np.random.default_rng(0)
    state, X = bhmc.sample_prior(5, n_levels=1, hyper=hyper, likelihood="gaussian", rng=rng)
    settings = {"likelihood": "gaussian", "sampler": "gibbs", "rng": rng}
    outside = hyper._replace(**{name: Uniform(2, 3)})
    words = rf"^the state has {name}=1, which its prior Uniform\(low=2, high=3\) excludes\.$"
    with pytest.raises(ValueError, match=words):
        bhmc.sweep(state, X, hyper=outside, **settings)
    with pytest.raises(ValueError, match=words):
        bhmc.log_joint(state, X, hyper=outside, likelihood="gaussian")
    inside = hyper._replace(**{name: Uniform(0.5, 3)})
    new, _ = bhmc.sweep(state, X, hyper=inside, **settings)
    assert 0.5 <= getattr(new.hyper, name) <= 3
    assert getattr(new.hyper, name) != 1.0
