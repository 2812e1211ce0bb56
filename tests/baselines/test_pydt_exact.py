"""Both samplers of the diffusion tree leave the joint law of rates, tree and data alone."""

import numpy as np
import pytest

from bhmc.baselines.pydt.chain import DiffusionChain
from tests.baselines.pydt_laws import SETTINGS, geweke_z, paired_z
from tests.exact.alarm import Z_LIMIT, rng_for

CASES = [
    ("learned", "move_subtrees", "slice"),
    ("learned", "move_subtrees", "mh"),
    ("learned", "redraw_times", "slice"),
    ("learned", "redraw_rates", "slice"),
    ("learned ddt", "move_subtrees", "slice"),
    ("learned ddt", "move_subtrees", "mh"),
]
MORE_CASES = [
    *CASES,
    ("learned ddt", "redraw_times", "slice"),
    ("learned ddt", "redraw_rates", "slice"),
    *(
        (name, "move_subtrees", sampler)
        for name in ("bushy", "weak")
        for sampler in ("slice", "mh")
    ),
]


@pytest.mark.parametrize(("setting", "stage", "sampler"), CASES)
def test_stage_leaves_the_joint_law_alone(setting, stage, sampler):
    assert _largest(setting, stage, sampler, 600, 211) < Z_LIMIT


def test_every_stage_has_a_case():
    assert {stage for _, stage, _ in CASES} == set(DiffusionChain.stages)


@pytest.mark.exact_long
@pytest.mark.parametrize(("setting", "stage", "sampler"), MORE_CASES)
def test_stage_leaves_the_joint_law_alone_long(setting, stage, sampler):
    largest = _largest(setting, stage, sampler, 40_000, 212)
    print(f"{setting}, {stage}, {sampler}: largest |z| {largest:.1f}")
    assert largest < Z_LIMIT


def _largest(setting, stage, sampler, n_draws, seed) -> float:
    setting = SETTINGS.get(setting, setting)
    return float(np.abs(paired_z(setting, stage, n_draws, rng_for(seed), sampler)).max())


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
