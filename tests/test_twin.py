"""The compiled kernels equal their slow twin, draw for draw, from the same random numbers."""

import numpy as np
import pytest

from bhmc import _kernels, _reference
from tests.exact.geweke import Setting

CASES = [("gibbs", None), ("mh", None), ("paper", None), ("gibbs", 4), ("mh", 4)]


def _run(setting, state, X, sampler, engine, seed, n_sweeps):
    chain = setting.chain(state, X, sampler, np.random.default_rng(seed), engine=engine)
    infos = [chain.sweep() for _ in range(n_sweeps)]
    return chain.state(), infos, chain.log_likelihood()


@pytest.mark.parametrize(("sampler", "n_components"), CASES)
@pytest.mark.parametrize(("n", "n_levels"), [(1, 1), (2, 2), (8, 3), (40, 2)])
def test_same_draws(sampler, n_components, n, n_levels):
    setting = Setting(n_components, n=n, n_levels=n_levels)
    for seed in range(6):
        state, X = setting.prior_draw(np.random.default_rng(seed))
        fast = _run(setting, state, X, sampler, _kernels, seed, 8)
        slow = _run(setting, state, X, sampler, _reference, seed, 8)
        assert fast[1] == slow[1]  # every birth, death and acceptance
        for name in ("paths", "components", "parents"):
            np.testing.assert_array_equal(getattr(fast[0], name), getattr(slow[0], name))
        np.testing.assert_allclose(fast[0].log_weights, slow[0].log_weights, rtol=1e-7, atol=1e-9)
        np.testing.assert_allclose(fast[0].theta, slow[0].theta, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(fast[2], slow[2], rtol=1e-9)


@pytest.mark.parametrize("numbers", [(0.05, 0.2, 5.0), (5.0, 4.0, 0.05), (20.0, 30.0, 2.0)])
@pytest.mark.parametrize(("sampler", "n_components"), CASES)
def test_same_draws_in_the_corners(sampler, n_components, numbers):
    setting = Setting(n_components, n=12, n_levels=2, numbers=numbers)
    for seed in range(3):
        state, X = setting.prior_draw(np.random.default_rng(seed))
        fast = _run(setting, state, X, sampler, _kernels, seed, 4)
        slow = _run(setting, state, X, sampler, _reference, seed, 4)
        assert fast[1] == slow[1]
        np.testing.assert_array_equal(fast[0].paths, slow[0].paths)
        np.testing.assert_array_equal(fast[0].components, slow[0].components)


def test_room_runs_out_and_is_made(monkeypatch):
    """A crowded start outgrows the workspace in mid-sweep; the draws do not depend on its size."""
    from bhmc import _workspace

    setting = Setting(None, n=30, n_levels=4)
    setting.hyper = setting.hyper._replace(alpha=20.0, gamma0=20.0)
    state, X = setting.prior_draw(np.random.default_rng(0))
    roomy = _run(setting, state, X, "gibbs", _kernels, 1, 5)[0]
    load = _workspace.load
    monkeypatch.setattr(_workspace, "load", lambda state: load(state, spare=1))
    tight = _run(setting, state, X, "gibbs", _kernels, 1, 5)[0]
    np.testing.assert_array_equal(roomy.paths, tight.paths)
    np.testing.assert_array_equal(roomy.components, tight.components)
    np.testing.assert_array_equal(roomy.log_weights, tight.log_weights)
