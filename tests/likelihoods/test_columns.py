"""Tests that `Bernoulli`, `Poisson` and `Categorical` share: protocol, holes, the joint law."""

import numpy as np
import pytest

from tests.exact.alarm import Z_LIMIT, rng_for
from tests.exact.invariance import with_family
from tests.likelihoods.column_cases import BERNOULLI, CATEGORICAL, POISSON
from tests.likelihoods.joint import (
    HIDDEN,
    Setting,
    assert_keeps_the_protocol,
    assert_same_numbers,
    geweke_z,
    invariance_z,
    mean_z,
)

CASES = {"Bernoulli": BERNOULLI, "Poisson": POISSON, "Categorical": CATEGORICAL}
every_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES)
with_and_without_holes = pytest.mark.parametrize("holes", [False, True], ids=["complete", "holed"])


def data_of(case, holes):
    return case.holed if holes else case.X


@every_case
def test_log_marginal_is_the_mean_over_the_prior(case):
    family = case.likelihood.prepare(case.holed)
    theta = case.likelihood.sample_theta(20_000, 3, rng_for(case.seed + 1))
    # Row 3 has f = 1, whatever theta.
    assert mean_z(np.exp(family.log_table(theta)).T, np.exp(family.log_marginal())) < Z_LIMIT


@with_and_without_holes
@every_case
def test_protocol(case, holes):
    assert_keeps_the_protocol(case.likelihood.prepare(data_of(case, holes)), case.theta)


@every_case
def test_a_missing_entry_is_a_factor_left_out(case):
    family = case.likelihood.prepare(case.holed)
    table, log_marginal = family.log_table(case.theta), family.log_marginal()
    for n, row in enumerate(case.holed):
        seen = ~np.isnan(row)
        if not seen.any():
            np.testing.assert_array_equal(table[n], 0)
            assert log_marginal[n] == 0
            continue
        part = case.part(seen).prepare(row[None, seen])
        theta = case.theta[:, np.repeat(seen, case.widths)]
        np.testing.assert_allclose(table[n], part.log_table(theta)[0], rtol=1e-13)
        np.testing.assert_allclose(log_marginal[n], part.log_marginal()[0], rtol=1e-13)


@with_and_without_holes
@every_case
def test_large_data_are_not_copied(case, holes, monkeypatch):
    data = data_of(case, holes)
    small = case.likelihood.prepare(data)
    monkeypatch.setattr(case.module, "LARGEST_COPY", 0)
    large = case.likelihood.prepare(data)
    assert large._kept is None
    assert_same_numbers(small, large, case.theta)


# ---- Joint tests ----


# A wrong family shows in 600 draws: see below.
@pytest.mark.parametrize(
    ("n_components", "hidden", "n_draws"),
    [
        (None, HIDDEN, 900),
        pytest.param(None, (), 3_000, marks=pytest.mark.exact_long),
        pytest.param(None, HIDDEN, 3_000, marks=pytest.mark.exact_long),
        pytest.param(3, HIDDEN, 3_000, marks=pytest.mark.exact_long),
    ],
    ids=["short", "infinite", "infinite with holes", "finite with holes"],
)
@every_case
def test_joint_law(case, n_components, hidden, n_draws):
    setting = Setting(case.joint, case.measure, n_components=n_components, hidden=hidden)
    assert geweke_z(setting, n_draws, case.seed + 10) < Z_LIMIT


@every_case
def test_the_joint_law_rejects_a_count_too_many(case):
    class OneTooMany(case.family):
        def draw_theta(self, sums, rng):
            return super().draw_theta(sums + np.eye(self.n_statistics)[0], rng)

    setting = Setting(with_family(case.joint, OneTooMany), case.measure, hidden=HIDDEN)
    assert geweke_z(setting, 600, case.seed + 11) > Z_LIMIT


@every_case
def test_a_missing_entry_taken_for_0_is_rejected(case):
    class MissingIsZero(case.family):
        def __init__(self, likelihood, X):
            super().__init__(likelihood, np.nan_to_num(X))

    setting = Setting(with_family(case.joint, MissingIsZero), case.measure, hidden=HIDDEN)
    assert invariance_z(setting, "redraw_theta", 500, case.seed + 20) > Z_LIMIT
