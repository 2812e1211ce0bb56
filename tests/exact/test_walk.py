"""The paper's walk of the concentrations: exact draws stay exact, wrong walks are seen."""

import math

import numpy as np
import pytest

from bhmc.model.hdp import kernels as _kernels
from bhmc.model.hdp import published, reference
from tests.exact import alarm
from tests.exact.alarm import Z_LIMIT, rng_for
from tests.exact.invariance import paired_z
from tests.exact.learned import PRIORS, Learned

N_DRAWS = 1_000


def _largest_z(n_draws=N_DRAWS, priors="gamma", n_components=None, seed=81, **how):
    setting = Learned(PRIORS[priors], n_components=n_components, n=5, n_levels=2)
    z = paired_z(setting, "gibbs", "redraw_weights", n_draws, rng_for(seed), walk=True, **how)
    print(f"largest |z| {np.abs(z).max():.1f}")
    return np.abs(z).max()


@pytest.mark.parametrize(
    ("priors", "n_components"),
    [("gamma", None), ("uniform", None), ("gamma", 4)],
)
def test_walk_leaves_the_joint_law_alone(priors, n_components):
    assert _largest_z(priors=priors, n_components=n_components) < Z_LIMIT


def _even_in_x(log_p, x, rng):
    """Without the factor x' / x."""
    new = x * math.exp(published.STEP * rng.standard_normal())
    return new if -rng.standard_exponential() < log_p(new) - log_p(x) else x


def _never_refused(log_p, x, rng):
    new = x * math.exp(published.STEP * rng.standard_normal())
    return new if log_p(new) > -math.inf else x


@pytest.mark.parametrize("step", [_even_in_x, _never_refused])
def test_wrong_steps_are_rejected(step, monkeypatch):
    monkeypatch.setattr(alarm, "checks_made", alarm.checks_made)
    monkeypatch.setattr(published, "walk_step", step)
    assert _largest_z(until=Z_LIMIT) > Z_LIMIT


@pytest.mark.exact_long
def test_a_walk_after_the_weights_is_rejected(monkeypatch):
    def weights_first(chain):
        chain.engine.draw_tables(chain.ws, chain.rates, False, chain.source)
        chain.engine.draw_weights_given_tables(chain.ws, chain.rates, chain.source)
        rates = chain.rates
        for _ in range(5):  # far enough from where it was for the weights to miss it
            rates = published.walk_concentrations(chain.ws, rates, chain.priors, chain.rng)
        return rates

    monkeypatch.setattr(alarm, "checks_made", alarm.checks_made)
    monkeypatch.setattr(published, "draw_weights_and_walk", weights_first)
    assert _largest_z(4_000) > Z_LIMIT


@pytest.mark.parametrize("sampler", ["gibbs", "paper"])
def test_both_engines_walk_alike(sampler):
    setting = Learned(PRIORS["uniform"], n=12, n_levels=2)
    state, X = setting.prior_draw(rng_for(82))
    ends = []
    for engine in (_kernels, reference):
        chain = setting.chain(state, X, sampler, rng_for(83), engine=engine, walk=True)
        for _ in range(5):
            chain.sweep()
        ends.append(chain.state())
    np.testing.assert_array_equal(ends[0].paths, ends[1].paths)
    np.testing.assert_allclose(ends[0].hyper[:3], ends[1].hyper[:3], rtol=1e-9)
    np.testing.assert_allclose(ends[0].log_weights, ends[1].log_weights, rtol=1e-7, atol=1e-9)
    assert ends[0].hyper != state.hyper


@pytest.mark.parametrize("sampler", ["gibbs", "paper"])
def test_with_nothing_to_learn_draws_are_those_of_one_kernel(sampler):
    """Tables and weights by two kernels are the same draws as by one."""
    setting = Learned(PRIORS["gamma"], n=12, n_levels=2)
    state, X = setting.prior_draw(rng_for(84))
    ends = []
    for walk in (False, True):
        chain = setting.chain(state, X, sampler, rng_for(85), walk=walk)
        chain.stop_learning()
        for _ in range(5):
            chain.sweep()
        ends.append(chain.state())
    assert ends[0].hyper == ends[1].hyper == state.hyper
    np.testing.assert_array_equal(ends[0].log_weights, ends[1].log_weights)
