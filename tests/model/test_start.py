"""A chain's start has the law of the forward simulator, and is quick for many data."""

import time

import numpy as np
import pytest

import bhmc
from bhmc.model.checks import check_state
from bhmc.model.hdp import start as _start
from bhmc.model.hdp.start import prior_state
from tests.exact.alarm import Z_LIMIT, rng_for, z_of
from tests.exact.geweke import STATISTICS, Setting, statistics
from tests.exact.invariance import forward

N_DRAWS, N_LONG = 1_000, 15_000
# Those of tree, components and weights; the start has no theta or data of its own.
PLACES = [i for i, name in enumerate(STATISTICS) if not name.startswith(("x", "theta"))]


def _largest_z(n_components, n_draws) -> float:
    """z of the start's statistics against as many exact draws, which tests of a form share."""
    setting, rng = Setting(n_components, n=5, n_levels=2), rng_for(81)
    ours = []
    for _ in range(n_draws):
        state = prior_state(5, n_levels=2, hyper=setting.hyper, rng=rng)
        state = state._replace(theta=np.zeros((state.n_components, 1)))
        check_state(state)
        ours.append(statistics(state, np.zeros((5, 1)))[PLACES])
    exact = list(forward(setting.forward_key()).first(n_draws, setting))
    ours, theirs = np.array(ours), np.array([values[PLACES] for _, _, values in exact])
    error = np.sqrt((ours.var(axis=0) + theirs.var(axis=0)) / n_draws)
    return float(np.abs(z_of(ours.mean(axis=0) - theirs.mean(axis=0), error)).max())


@pytest.mark.parametrize("n_draws", [N_DRAWS, pytest.param(N_LONG, marks=pytest.mark.exact_long)])
@pytest.mark.parametrize("n_components", [None, 4])
def test_the_law_of_the_prior(n_components, n_draws):
    assert _largest_z(n_components, n_draws) < Z_LIMIT


def test_a_wrong_start_is_noticed(monkeypatch):
    """The alarm rings: sticks of twice the concentration."""
    right = _start._stick_choices
    monkeypatch.setattr(_start, "_stick_choices", lambda size, a, rng: right(size, 2 * a, rng))
    z = _largest_z(None, 500)
    print(f"sticks of twice the concentration: |z| {z:.1f}")
    assert z > Z_LIMIT


def test_many_data():
    start = time.process_time()
    hyper = bhmc.Hyper(alpha=1.0, gamma0=2.0, gamma=1.0)
    state = prior_state(300_000, n_levels=3, hyper=hyper, rng=np.random.default_rng(0))
    assert time.process_time() - start < 10
    assert len(state.paths) == 300_000
    check_state(state._replace(theta=np.zeros((state.n_components, 1))))
