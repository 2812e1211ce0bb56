"""The alarm rings: every mutant is rejected by the test that the true kernels pass."""

import numpy as np
import pytest

from tests.exact.alarm import Z_LIMIT, rng_for
from tests.exact.geweke import Setting
from tests.exact.invariance import paired_z
from tests.mutants.mutants import MUTANTS, build

N_DRAWS = 4_000
# Many components that fit their data closely: lone components are common, and sticky if kept.
LOOSE = {"n": 5, "n_levels": 2, "numbers": (1.5, 3.0, 3.0), "sigma2": 0.05}


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda m: f"{m.name} ({m.sampler})")
def test_mutant_is_rejected(mutant):
    z = _largest_z(mutant.sampler, mutant.stage, mutant.n_components, build(mutant.edits))
    print(f"{mutant.name} ({mutant.sampler}): |z| {z:.1f}")
    assert z > Z_LIMIT


@pytest.mark.parametrize("n_components", [None, 4])
@pytest.mark.parametrize(
    ("sampler", "stage"),
    [("gibbs", "redraw_data"), ("mh", "redraw_data"), ("gibbs", "redraw_weights")],
)
def test_unmutated_source_is_accepted(sampler, stage, n_components):
    """The control: the same test, seed and number of draws with nothing changed."""
    assert _largest_z(sampler, stage, n_components, build(())) < Z_LIMIT


def _largest_z(sampler, stage, n_components, engine) -> float:
    setting = Setting(n_components, **LOOSE)
    z = paired_z(setting, sampler, stage, N_DRAWS, rng_for(51), engine=engine)
    return float(np.abs(z).max())
