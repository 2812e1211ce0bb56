"""The alarm rings: every mutant is rejected by the test that the true kernels pass."""

import numpy as np
import pytest

from bhmc.model.hdp import kernels
from tests.exact import alarm
from tests.exact.alarm import Z_LIMIT, rng_for
from tests.exact.geweke import Setting
from tests.exact.invariance import paired_z
from tests.exact.learned import PRIORS, Learned
from tests.mutants.mutants import ALWAYS_FAR, MUTANTS, build

SETTINGS = {
    # Many components that fit their data closely: lone components are common, and sticky if kept.
    "loose": {"n": 5, "n_levels": 2, "numbers": (1.5, 3.0, 3.0), "sigma2": 0.05},
    # The same, so small that one branch more or less is a large share of the tree.
    "three": {"n": 3, "n_levels": 2, "numbers": (1.5, 3.0, 3.0), "sigma2": 0.05},
    # One datum is much of the whole: whether it was taken out shows.
    "few": {"n": 3, "n_levels": 2, "numbers": (0.5, 1.0, 1.5), "sigma2": 1.0},
    "two": {"n": 2, "n_levels": 2, "numbers": (0.5, 1.0, 1.5), "sigma2": 1.0},
    # Inner nodes below inner nodes, and data that share their leaf.
    "deep": {"n": 5, "n_levels": 3, "numbers": (0.5, 1.0, 0.5), "sigma2": 0.1},
}
N_DRAWS = 700


def _mutants():
    """Those that take more draws than the suite judges the true kernels by: in `make exact`."""
    for m in MUTANTS:
        marks = pytest.mark.exact_long if m.n_draws > N_DRAWS else ()
        yield pytest.param(m, marks=marks, id=f"{m.name} ({m.sampler})")


@pytest.mark.parametrize("mutant", list(_mutants()))
def test_mutant_is_rejected(mutant, monkeypatch):
    # Chance cannot make a mutant's test fail one time in so many, so it is not counted.
    monkeypatch.setattr(alarm, "checks_made", alarm.checks_made)
    _, sampler, stage, setting, n_draws, edits, n_components = mutant
    how = {"n_components": n_components, "until": Z_LIMIT}
    z = _largest_z(sampler, stage, setting, n_draws, build(edits), **how)
    print(f"{mutant.name} ({mutant.sampler}): |z| {z:.1f}")
    assert z > Z_LIMIT


@pytest.mark.parametrize("setting", ["loose", "few", "deep"])
def test_the_true_kernels_are_accepted(setting):
    """All stages in a row, on the draws that mutants are judged by."""
    assert _largest_z("gibbs", "sweep", setting, N_DRAWS, kernels) < Z_LIMIT


def _settings(*short):
    """The others are left to `make exact`."""
    for name in SETTINGS:
        yield pytest.param(name, marks=() if name in short else pytest.mark.exact_long)


@pytest.mark.parametrize("setting", list(_settings("loose", "deep")))
@pytest.mark.parametrize("n_components", [None, 4])
@pytest.mark.parametrize("sampler", ["gibbs", "mh"])
def test_unmutated_source_draws_what_the_compiled_kernels_draw(sampler, n_components, setting):
    """So a mutant is rejected for its edits, and not because it is not compiled."""
    _check_same_draws(Setting(n_components, **SETTINGS[setting]), sampler)


@pytest.mark.parametrize("n_components", [None, 4])
def test_unmutated_source_learns_what_the_compiled_kernels_learn(n_components):
    """The same of the concentrations."""
    _check_same_draws(Learned(PRIORS["gamma"], n_components=n_components, n=5, n_levels=2), "gibbs")


@pytest.mark.parametrize("setting", [pytest.param("few", marks=pytest.mark.exact_long), "deep"])
def test_the_route_by_logarithms_is_accepted(setting):
    """Every datum drawn as if it were far from everything."""
    engine = build(ALWAYS_FAR)
    assert _largest_z("gibbs", "redraw_data", setting, N_DRAWS, engine) < Z_LIMIT


def _largest_z(sampler, stage, setting, n_draws, engine, n_components=None, **how) -> float:
    setting = Setting(n_components, **SETTINGS[setting])
    z = paired_z(setting, sampler, stage, n_draws, rng_for(51), engine=engine, **how)
    return float(np.abs(z).max())


def _check_same_draws(setting, sampler, n_draws=6, n_sweeps=6):
    """Sweeps of `n_draws` states, uncompiled and compiled: the same states and random numbers."""
    for seed in range(n_draws):
        state, X = setting.prior_draw(rng_for(seed))
        ends = []
        for engine in (build(()), kernels):
            rng = rng_for(52)
            chain = setting.chain(state, X, sampler, rng, engine=engine)
            infos = [chain.sweep() for _ in range(n_sweeps)]
            ends.append((chain.state(), infos, rng.random()))
        (one, *of_one), (other, *of_other) = ends
        assert of_one == of_other
        np.testing.assert_array_equal(one.paths, other.paths)
        np.testing.assert_array_equal(one.components, other.components)
        for name in ("log_weights", "theta"):
            np.testing.assert_allclose(getattr(one, name), getattr(other, name), rtol=1e-12)
        np.testing.assert_allclose(one.hyper[:3], other.hyper[:3], rtol=1e-12)
