"""Both samplers of the diffusion tree leave the joint law of rates, tree and data alone."""

import numpy as np
import pytest

from tests.baselines.pydt_laws import SETTINGS, STEPS, geweke_z, paired_z
from tests.exact.alarm import Z_LIMIT, rng_for

CASES = [
    ("learned", "move", "slice"),
    ("learned", "move", "mh"),
    ("learned", "times", "slice"),
    ("learned", "rates", "slice"),
    ("learned ddt", "move", "slice"),
    ("learned ddt", "move", "mh"),
]
MORE_CASES = [
    *CASES,
    ("learned ddt", "times", "slice"),
    ("learned ddt", "rates", "slice"),
    *((name, "move", sampler) for name in ("bushy", "weak") for sampler in ("slice", "mh")),
]


@pytest.mark.parametrize(("setting", "step", "sampler"), CASES)
def test_step_leaves_the_joint_law_alone(setting, step, sampler):
    assert _largest(setting, step, sampler, 600, 211) < Z_LIMIT


@pytest.mark.exact_long
@pytest.mark.parametrize(("setting", "step", "sampler"), MORE_CASES)
def test_step_leaves_the_joint_law_alone_long(setting, step, sampler):
    largest = _largest(setting, step, sampler, 40_000, 212)
    print(f"{setting}, {step}, {sampler}: largest |z| {largest:.1f}")
    assert largest < Z_LIMIT


def _largest(setting, step, sampler, n_draws, seed) -> float:
    setting = SETTINGS.get(setting, setting)
    return float(np.abs(paired_z(setting, STEPS[step], n_draws, rng_for(seed), sampler)).max())


@pytest.mark.parametrize("sampler", ["slice", "mh"])
def test_geweke(sampler):
    z = geweke_z(sampler, 800, rng_for(213), diffusion=False)
    assert np.abs(z).max() < Z_LIMIT


@pytest.mark.exact_long
@pytest.mark.parametrize("diffusion", [False, True])
@pytest.mark.parametrize("sampler", ["slice", "mh"])
def test_geweke_long(sampler, diffusion):
    z = geweke_z(sampler, 40_000, rng_for(214), diffusion=diffusion)
    print(f"{sampler}, {'ddt' if diffusion else 'pydt'}: largest |z| {np.abs(z).max():.1f}")
    assert np.abs(z).max() < Z_LIMIT
