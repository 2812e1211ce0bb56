"""The alarm rings: wrong kernels of the diffusion tree fail the test that the true ones pass.

That uncompiled kernels without edits are the true ones is seen in `test_pydt_twin`.
"""

import numpy as np
import pytest

from bhmc.baselines.pydt import chain as _pydt_chain
from tests.baselines.pydt_laws import SETTINGS, paired_z
from tests.baselines.pydt_mutants import QUICK, SLOW, Mutant, build
from tests.exact.alarm import Z_LIMIT, rng_for
from tests.mutants.mutants import build_plain


@pytest.mark.parametrize("mutant", QUICK, ids=lambda mutant: mutant.name)
def test_mutant_is_rejected(mutant):
    assert _largest(mutant) > Z_LIMIT


@pytest.mark.exact_long
@pytest.mark.parametrize("mutant", SLOW, ids=lambda mutant: mutant.name)
def test_slow_mutant_is_rejected(mutant):
    assert _largest(mutant) > Z_LIMIT


def test_rates_without_their_jacobian_are_rejected():
    wrong = build_plain(_pydt_chain, ((" + y  # dx = x dy", ""),))
    z = paired_z("learned", "redraw_rates", 600, rng_for(222), kind=wrong.DiffusionChain)
    assert np.abs(z).max() > Z_LIMIT


def _largest(mutant: Mutant) -> float:
    setting, engine = SETTINGS[mutant.setting], build(mutant.edits)
    arguments = (setting, mutant.stage, mutant.n_draws, rng_for(221), mutant.sampler)
    largest = float(np.abs(paired_z(*arguments, engine=engine)).max())
    print(f"{mutant.name}: largest |z| {largest:.1f}")
    return largest
