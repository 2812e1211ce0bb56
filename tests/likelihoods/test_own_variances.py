"""Tests that `FreeGaussian` and `FullGaussian` share: densities, sums, large and extreme data."""

import numpy as np
import pytest

from bhmc.likelihoods.free_gaussian import FreeGaussian
from bhmc.likelihoods.full_gaussian import FullGaussian
from tests.likelihoods.gaussian_cases import (
    COMPONENTS,
    FREE_CASES,
    FULL_CASES,
    FreeCase,
    FullCase,
    outlier,
    total,
)

every_case = pytest.mark.parametrize("case", [*FREE_CASES, *FULL_CASES])


# ---- Densities ----


@every_case
def test_log_table(case):
    expected = case.log_f(case.X)
    np.testing.assert_allclose(case.family.log_table(case.theta), expected, rtol=1e-10, atol=1e-12)
    assert case.family.log_table(case.theta[:0]).shape == (7, 0)


@every_case
def test_natural_times_statistics_is_log_f(case):
    t = case.family.statistics(slice(0, 7))
    assert t.shape == (7, case.family.n_statistics)
    assert not t.flags.writeable
    np.testing.assert_array_equal(t[:, -1], 1.0)
    log_f = t @ case.family.natural(case.theta).T + case.family.log_base()[:, None]
    np.testing.assert_allclose(log_f, case.log_f(case.X), rtol=1e-10, atol=1e-12)


@every_case
def test_log_marginal(case):
    expected = case.log_new(case.X)
    np.testing.assert_allclose(case.family.log_marginal(), expected, rtol=1e-10, atol=1e-12)


@every_case
def test_log_prior(case):
    expected = case.log_posterior(case.X[:0])
    np.testing.assert_allclose(case.family.log_prior(case.theta), expected, rtol=1e-10)


@every_case
def test_bayes_rule(case):
    """h(theta) f(x; theta) / f*(x) is the posterior density given one datum."""
    for n in range(7):
        log_posterior = (
            case.family.log_prior(case.theta)
            + case.family.log_table(case.theta)[n]
            - case.family.log_marginal()[n]
        )
        expected = case.log_posterior(case.X[n : n + 1])
        np.testing.assert_allclose(log_posterior, expected, rtol=1e-9)


@every_case
def test_sums_merge(case):
    sums = case.family.sums(COMPONENTS, 4)
    np.testing.assert_array_equal(sums[:, -1], [3, 2, 0, 2])
    for k in range(4):
        expected = total(case.family, np.flatnonzero(k == COMPONENTS))[0]
        np.testing.assert_allclose(sums[k], expected, rtol=1e-12, atol=1e-13)
    together = case.family.sums(np.minimum(COMPONENTS, 1), 2)
    np.testing.assert_allclose(together[1], sums[1:].sum(axis=0), rtol=1e-12, atol=1e-13)


@every_case
def test_log_likelihood(case):
    family = case.family
    value = family.log_likelihood(
        family.natural(case.theta), family.sums(COMPONENTS, 4), COMPONENTS
    )
    expected = case.log_f(case.X)[np.arange(7), COMPONENTS].sum()
    assert value + family.log_base().sum() == pytest.approx(expected, rel=1e-10)


@every_case
def test_a_table_in_float32(case):
    """Only rounded to float32: wide terms cancel in float64 before."""
    theta = case.theta.copy()
    theta[:, : case.d] += 300 * case.scale
    family = case.likelihood.prepare(case.X + 300 * case.scale)
    out = np.empty((7, 4), dtype=np.float32)
    family.fill(slice(0, 7), family.statistics(slice(0, 7)), family.natural(theta), out)
    expected = family.log_table(theta) - family.log_base()[:, None]
    np.testing.assert_allclose(out, expected, rtol=1e-6, atol=1e-6)


# ---- Extremes, large data ----


def everything(family, rng, k=4):
    """Every number that a family gives, for data dealt out to k components."""
    components = np.arange(family.n_rows) % k
    sums = family.sums(components, k + 1)
    theta = family.draw_theta(sums, rng)
    return {
        "theta": theta,
        "eta": family.natural(theta),
        "f": family.log_table(theta),
        "f*": family.log_marginal(),
        "h": family.log_base(),
        "H": family.log_prior(theta),
        "f / h of all": family.log_likelihood(family.natural(theta), sums, components),
    }


EXTREMES = {
    "outlier": outlier(3),
    "outlier, d = 1": outlier(1),
    "constant columns": np.column_stack([np.full((20, 2), 0.1), outlier(1)]),
    "all equal": np.full((20, 2), 1e8 + 0.1),
    "collinear": outlier(1) * [1.0, 2.0, -3.0],
    "more columns than rows": np.random.default_rng(1).normal(size=(5, 9)),
    "tiny": 1e-140 * outlier(2),
    "huge": 1e140 * outlier(2),
    "far": outlier(2) + 1e12,
}
SCALED = {
    "free, diagonal": lambda X: FreeGaussian.scaled_to(X, covariance="diagonal"),
    "free, spherical": lambda X: FreeGaussian.scaled_to(X, covariance="spherical"),
    "full": FullGaussian.scaled_to,
}


@pytest.mark.parametrize("family", SCALED)
@pytest.mark.parametrize("name", EXTREMES)
def test_extreme_data_stay_finite(name, family):
    X = EXTREMES[name]
    bound = SCALED[family](X).prepare(X)
    for what, numbers in everything(bound, np.random.default_rng(2)).items():
        assert np.isfinite(numbers).all(), what


@every_case
def test_large_data_give_the_same_numbers(case, monkeypatch):
    monkeypatch.setattr(case.module, "LARGEST_COPY", 0)
    family = case.likelihood.prepare(case.X)
    assert family._kept is None
    assert case.family._kept is not None
    numbers, kept = (everything(f, np.random.default_rng(0)) for f in (family, case.family))
    for name in numbers:
        np.testing.assert_allclose(numbers[name], kept[name], rtol=1e-12, err_msg=name)
    for rows in (slice(0, 3), slice(4, 4), slice(6, 7)):
        np.testing.assert_array_equal(family.statistics(rows), case.family.statistics(rows))


@pytest.mark.parametrize("case", [FreeCase(3, "diagonal", gaps=True), FullCase(3, 1.3)])
def test_prepare_does_not_keep_or_change_the_data(case):
    before = case.X.copy()
    expected = case.family.log_table(case.theta)
    np.testing.assert_array_equal(case.X, before)
    case.X[:] = 0
    np.testing.assert_array_equal(case.family.log_table(case.theta), expected)
    np.testing.assert_allclose(expected, case.log_f(before), atol=1e-12)


@pytest.mark.parametrize(("likelihood", "p"), [(FreeGaussian(), 6), (FullGaussian(), 9)])
def test_forward_draws_of_no_rows_use_no_randomness(likelihood, p):
    rng = np.random.default_rng(0)
    theta = likelihood.sample_theta(0, 3, rng)
    assert theta.shape == (0, p)
    assert likelihood.sample_data(theta, rng).shape == (0, 3)
    assert rng.random() == np.random.default_rng(0).random()
