"""R-hat, effective sample sizes and the error of the mean against ArviZ."""

import warnings

import numpy as np
import pytest
from scipy import stats

from bhmc.posterior.diagnostics import (
    ess_bulk,
    ess_tail,
    mcse_mean,
    rhat,
)
from bhmc.posterior.rhat_ess import _BLOCK
from tests.posterior.long_chains import autoregression, figures

TOLERANCE = 1e-8


def traces(n_chains, n_draws):
    """Numbers of many kinds by name."""
    shape = (n_chains, n_draws)
    rng = np.random.default_rng(n_chains * 1000 + n_draws)
    still = rng.normal(size=shape)
    still[0] = 0.3
    found = {
        "independent": rng.normal(size=shape),
        "integer": rng.poisson(1.5, shape),
        "slow integer": np.round(2 * autoregression(0.9, shape, n_draws)).astype(int),
        "constant": np.full(shape, 0.1),
        "constant in one chain": still,
        "heavy tails": rng.standard_cauchy(shape),
        "boolean": rng.random(shape) < 0.3,
        "rare": rng.random(shape) < 0.02,
        "far from 0": 1e8 + rng.normal(size=shape),
        "drift": rng.normal(size=shape) + np.linspace(0, 3, n_draws),
    }
    for strength in (-0.9, 0.3, 0.9, 0.99):
        found[f"AR {strength}"] = autoregression(strength, shape, n_draws)
    return found


KINDS = list(traces(2, 4))
# 4 is the least; odd numbers lose their middle draw; 10 are the first to hold two pairs of lags.
LENGTHS = [4, 5, 6, 7, 9, 10, 11, 50, 301]


def by_arviz(values):
    """R-hat, bulk and tail effective sample size and error of the mean, as ArviZ has them."""
    from arviz_stats.base import array_stats

    values = np.asarray(values, dtype=float)  # ArviZ has no quantiles of truth values
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [
            float(array_stats.rhat(values)),
            float(array_stats.ess(values, method="bulk")),
            float(array_stats.ess(values, method="tail", prob=(0.05, 0.95))),
            float(array_stats.mcse(values, method="mean")),
        ]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_chains", [1, 2, 4])
def test_equal_to_arviz(kind, n_chains):
    for n_draws in LENGTHS:
        values = traces(n_chains, n_draws)[kind]
        expected, found = by_arviz(values), figures(values)
        if n_chains == 1:  # ArviZ has no R-hat of one chain; see below
            assert np.isnan(expected[0])
            expected, found = expected[1:], found[1:]
        np.testing.assert_allclose(
            found, expected, rtol=TOLERANCE, atol=1e-12, err_msg=f"{n_draws}"
        )


def test_many_numbers_at_once_are_each_its_own():
    columns = list(traces(2, 50).values()) * 10  # more than are measured in one go
    values = np.stack(columns, axis=-1).astype(float).reshape(2, 50, 2, -1)
    assert len(columns) > 2 * _BLOCK
    for measure in (rhat, ess_bulk, ess_tail, mcse_mean):
        each = np.reshape([measure(column) for column in columns], (2, -1))
        np.testing.assert_allclose(measure(values), each, rtol=1e-12)


def test_one_chain_has_the_rhat_of_its_halves():
    """ArviZ gives NaN, but has the plain R-hat of two chains: the halves, as normal scores."""
    from arviz_stats.base import array_stats

    def plain(halves):
        scores = stats.norm.ppf((stats.rankdata(halves).reshape(2, -1) - 0.375) / (60 + 0.25))
        return float(array_stats.rhat(scores, method="identity"))

    for seed in range(5):
        values = autoregression(0.8, (1, 60), seed)
        halves = values.reshape(2, 30)
        expected = max(plain(halves), plain(np.abs(halves - np.median(halves))))
        assert float(rhat(values)) == pytest.approx(expected, rel=TOLERANCE)
    assert np.isnan(rhat(values, split=False))


def test_rhat_of_whole_chains_does_not_see_drift():
    values = np.random.default_rng(0).normal(size=(2, 200)) + np.linspace(0, 4, 200)
    assert rhat(values) > 1.3
    assert rhat(values, split=False) < 1.01


def test_rhat_of_a_constant_is_not_a_number():
    """There is nothing to compare; ArviZ says the same, with a warning of NumPy's."""
    for n_chains in range(1, 8):
        for n_draws in range(4, 60):
            values = np.full((n_chains, n_draws), 0.1)
            assert np.isnan(rhat(values))
            assert mcse_mean(values) == 0


@pytest.mark.parametrize("n_chains", [2, 3, 4, 7])
def test_rhat_of_chains_that_stand_still_apart_is_infinite(n_chains):
    """ArviZ says infinity or, where rounding leaves a variance, a number beyond 1e14."""
    values = np.repeat(0.1 * np.arange(1, n_chains + 1)[:, None], 300, axis=1)
    assert rhat(values) == np.inf
    assert by_arviz(values)[0] > 1e14
    # However often a chain repeats itself, it is worth about one draw.
    assert ess_bulk(values) < 2 * n_chains


def test_no_answer_from_three_draws_or_from_what_is_not_finite():
    rng = np.random.default_rng(0)
    for measure in (rhat, ess_bulk, ess_tail, mcse_mean):
        assert np.isnan(measure(rng.normal(size=(2, 3))))
        assert np.isnan(measure(np.full((2, 20), np.nan)))
        values = rng.normal(size=(2, 20, 3))
        values[0, 3, 0], values[1, 0, 1] = np.nan, -np.inf
        found = measure(values)
        np.testing.assert_array_equal(np.isnan(found), [True, True, False])
        assert found[2] == measure(values[:, :, 2])


def test_effective_draws_of_an_autoregression():
    """n (1 - r) / (1 + r), the truth for the mean, on average over 200 numbers."""
    values = autoregression(0.6, (4, 500, 200), 1)
    assert np.mean(ess_bulk(values)) == pytest.approx(2000 * 0.4 / 1.6, rel=0.05)
    standard_error = mcse_mean(values)
    assert np.std(values.mean(axis=(0, 1))) == pytest.approx(np.mean(standard_error), rel=0.15)
