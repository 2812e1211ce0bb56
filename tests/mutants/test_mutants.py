"""The alarm rings: every mutant is rejected by the test that the true kernels pass."""

import numpy as np
import pytest

from tests.exact import alarm
from tests.exact.alarm import Z_LIMIT, rng_for
from tests.exact.geweke import Setting
from tests.exact.invariance import paired_z
from tests.mutants.mutants import ALWAYS_FAR, MUTANTS, build

SETTINGS = {
    # Many components that fit their data closely: lone components are common, and sticky if kept.
    "loose": {"n": 5, "n_levels": 2, "numbers": (1.5, 3.0, 3.0), "sigma2": 0.05},
    # One datum is much of the whole: whether it was taken out shows.
    "few": {"n": 3, "n_levels": 2, "numbers": (0.5, 1.0, 1.5), "sigma2": 1.0},
    # Inner nodes below inner nodes, and data that share their leaf.
    "deep": {"n": 5, "n_levels": 3, "numbers": (0.5, 1.0, 0.5), "sigma2": 0.1},
}
N_DRAWS = 2_000


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda m: f"{m.name} ({m.sampler})")
def test_mutant_is_rejected(mutant, monkeypatch):
    # Chance cannot make a mutant's test fail one time in so many, so it is not counted.
    monkeypatch.setattr(alarm, "checks_made", alarm.checks_made)
    _, sampler, stage, setting, n_draws, edits, n_components = mutant
    z = _largest_z(sampler, stage, setting, n_draws, build(edits), n_components)
    print(f"{mutant.name} ({mutant.sampler}): |z| {z:.1f}")
    assert z > Z_LIMIT


@pytest.mark.parametrize(
    ("sampler", "stage", "setting", "n_components"),
    [
        *(("gibbs", "redraw_data", setting, None) for setting in SETTINGS),
        ("mh", "redraw_data", "loose", None),
        ("mh", "redraw_data", "deep", None),
        ("gibbs", "redraw_weights", "loose", None),
        ("gibbs", "redraw_weights", "deep", None),
        ("gibbs", "redraw_data", "loose", 4),
        ("mh", "redraw_data", "loose", 4),
        ("gibbs", "redraw_weights", "loose", 4),
    ],
)
def test_unmutated_source_is_accepted(sampler, stage, setting, n_components):
    """The control: the same tests with nothing changed."""
    assert _largest_z(sampler, stage, setting, N_DRAWS, build(()), n_components) < Z_LIMIT


@pytest.mark.parametrize("setting", ["few", "deep"])
def test_the_route_by_logarithms_is_accepted(setting):
    """Every datum drawn as if it were far from everything."""
    engine = build(ALWAYS_FAR)
    assert _largest_z("gibbs", "redraw_data", setting, N_DRAWS, engine) < Z_LIMIT


def _largest_z(sampler, stage, setting, n_draws, engine, n_components=None) -> float:
    setting = Setting(n_components, **SETTINGS[setting])
    z = paired_z(setting, sampler, stage, n_draws, rng_for(51), engine=engine)
    return float(np.abs(z).max())
