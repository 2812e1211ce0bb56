"""Ranks of the truth among draws are uniform (`studies.rank_calibration`), and a wrong posterior's
are not.
"""

import numpy as np
import pytest
from studies import rank_calibration
from studies.rank_calibration import N_DRAWS, SETTINGS, all_ranks, probabilities

import bhmc
from tests.exact import alarm

N_TABLES = 20


def least_p(ranks) -> float:
    """The least probability of all numbers, each of which is one check."""
    found = probabilities(ranks)
    alarm.checks_made += len(found)
    return min(found.values())


def test_the_limit_is_that_of_the_exact_tests():
    assert pytest.approx(alarm.P_LIMIT) == rank_calibration.LEAST_P


def test_even_ranks_pass_and_others_do_not():
    rng = np.random.default_rng(0)
    even = rng.integers(N_DRAWS + 1, size=(3, 500))
    assert min(probabilities(dict(enumerate(even))).values()) > alarm.P_LIMIT
    low = rng.integers((N_DRAWS + 1) // 2, size=500)
    wide = rng.choice([*(4 * [0, 1, 2, 47, 48, 49]), *range(50)], size=500)
    assert max(probabilities({"low": low, "wide": wide}).values()) < alarm.P_LIMIT


@pytest.mark.parametrize(
    "name",
    [
        "gaussian",
        *(pytest.param(one, marks=pytest.mark.exact_long) for one in SETTINGS if one != "gaussian"),
    ],
)
def test_ranks_are_even(name):
    assert least_p(all_ranks(SETTINGS[name], N_TABLES, seed=1 + alarm.SOAK_SEED)) > alarm.P_LIMIT


def test_ranks_of_another_model_are_not_even():
    right = SETTINGS["gaussian"]
    wrong = right._replace(hyper=bhmc.Hyper(12.0, 1.0, 1.3))
    assert least_p(all_ranks(right, N_TABLES, seed=1, fitted_by=wrong)) < alarm.P_LIMIT
