"""Sweeps of diffusing trees of bits, codes and mixed columns leave the joint law alone."""

import numpy as np
import pytest

from bhmc.likelihoods.bernoulli import BernoulliFamily
from bhmc.likelihoods.categorical import CategoricalFamily
from bhmc.model.diffused.setting import MOVES, Diffused
from tests.exact.alarm import Z_LIMIT, rng_for, z_scores
from tests.exact.discrete_trees import BITS, CODES, SETTINGS, learned
from tests.exact.geweke import from_prior, from_sweeps
from tests.exact.invariance import paired_z, with_family
from tests.likelihoods.test_on_tree import not_centred, one_row_too_many

STAGES = ("redraw_rows", "redraw_atoms", "redraw_tree", "sweep")


def worst(setting, stage, n_draws, seed, **how):
    largest = np.abs(paired_z(setting, "gibbs", stage, n_draws, rng_for(seed), **how)).max()
    print(f"{stage}: |z| {largest:.1f} at {n_draws} draws or fewer")
    return largest


@pytest.mark.parametrize("name", ["bits, holes", "codes", "mixed"])
def test_a_sweep_leaves_exact_draws_alone(name):
    assert worst(SETTINGS[name], "sweep", 120, 411) < Z_LIMIT


@pytest.mark.parametrize("name", ["codes, leaves", "mixed", "mixed, holes"])
def test_steps_leave_exact_draws_alone(name):
    """The move alone: in mixed columns every block has variances of its own."""
    assert worst(SETTINGS[name].with_moves("steps"), "redraw_tree", 300, 416) < Z_LIMIT


@pytest.mark.exact_long
@pytest.mark.parametrize("name", SETTINGS)
def test_steps_leave_exact_draws_alone_long(name):
    assert worst(SETTINGS[name].with_moves("steps"), "redraw_tree", 10_000, 417) < Z_LIMIT


@pytest.mark.exact_long
@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("name", SETTINGS)
def test_every_stage_leaves_exact_draws_alone(name, stage):
    assert worst(SETTINGS[name], stage, 20_000, 412) < Z_LIMIT


@pytest.mark.exact_long
@pytest.mark.parametrize("name", SETTINGS)
def test_sweeps_and_new_data_keep_the_joint_law(name):
    setting = SETTINGS[name]
    exact = from_prior(setting, 10_000, rng_for(413))
    chain = from_sweeps(setting, "gibbs", 20_000, rng_for(414))
    assert np.abs(z_scores(exact, chain)).max() < Z_LIMIT


# ---- Wrong ones are noticed ----------------------------------------------------------------------


WRONG = {
    "bit too many": (BITS, one_row_too_many(BernoulliFamily)),
    "bits not centred": (BITS, not_centred(BernoulliFamily)),
    "code too many": (CODES, one_row_too_many(CategoricalFamily)),
    "codes not centred": (CODES, not_centred(CategoricalFamily)),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_evidence_is_noticed(name):
    likelihood, family = WRONG[name]
    by_evidence = [move for move in MOVES if move != "shift"]  # which looks at the rows
    setting = learned(Diffused, with_family(likelihood, family)).with_moves(*by_evidence)
    assert worst(setting, "redraw_tree", 150, 415, until=Z_LIMIT) > Z_LIMIT
