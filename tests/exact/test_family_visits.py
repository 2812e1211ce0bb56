"""Every family visits every state as often as it should, and wrong versions of it do not."""

import numpy as np
import pytest
from scipy import stats

from bhmc.likelihoods._registry import FAMILIES, class_of
from tests.exact import alarm
from tests.exact import enumeration as en
from tests.exact.alarm import T_LIMIT
from tests.exact.family_visits import CASES, exact, largest_z
from tests.exact.learned import PRIORS
from tests.exact.learned_enumeration import learned_prior
from tests.exact.marginals_shared import (
    adaptive_gaussian,
    log_t,
    shaped_gaussian,
    shared_gaussian,
    tied_gaussian,
)

REFUSE_MISSING = (
    "Gaussian",
    "FullGaussian",
    "SharedGaussian, full",
    "ShapedGaussian",
    "Multinomial",
)
N_SWEEPS, N_WRONG = 1_200, 1_200
every_family = pytest.mark.parametrize("name", CASES)


def test_no_family_is_left_out_and_missing_entries_are_on():
    likelihoods = [exact(name)[0].likelihood for name in CASES]
    assert {type(likelihood) for likelihood in likelihoods} == {class_of(name) for name in FAMILIES}
    for name, likelihood in zip(CASES, likelihoods, strict=True):
        skips = likelihood.allows_missing and not likelihood.draws_missing  # "hdp" draws none
        assert np.isnan(exact(name)[0].X).any() == skips, name


# ---- What is exact, against other ways to compute it ----


def test_learned_concentrations_are_integrated_out():
    """Against plain averages over the middles of 60 equal shares; and more nodes change nothing."""
    prior, more = (learned_prior(3, 2, PRIORS["gamma"], size) for size in (24, 32))
    np.testing.assert_allclose(prior.p, more.p, rtol=1e-9)
    np.testing.assert_allclose(prior.moments, more.moments, atol=1e-3)
    middles = (np.arange(60) + 0.5) / 60
    alpha, gamma0, gamma = (
        stats.gamma.ppf(middles, prior.shape, scale=1 / prior.rate) for prior in PRIORS["gamma"][:3]
    )
    for i in (0, 17, 59):
        tree, c = prior.keys[i]
        p_tree = np.exp([en.log_p_tree(tree, a) for a in alpha])
        p_c = np.exp([[en.log_p_components(tree, c, g0, g) for g in gamma] for g0 in gamma0])
        assert prior.p[i] == pytest.approx(p_tree.mean() * p_c.mean(), rel=0.01)
        means = [
            p_tree @ np.log(alpha) / p_tree.sum(),
            p_c.sum(axis=1) @ np.log(gamma0) / p_c.sum(),
            p_c.sum(axis=0) @ np.log(gamma) / p_c.sum(),
        ]
        np.testing.assert_allclose(prior.moments[i, :, 0], means, atol=0.01)


@pytest.mark.parametrize(
    ("case", "sizes"),
    [
        (lambda size: shared_gaussian("diagonal", size), (60, 90)),
        (lambda size: shared_gaussian("spherical", size), (60, 90)),
        (shaped_gaussian, (60, 90)),
        (tied_gaussian, (15, 16)),
        (lambda size: adaptive_gaussian("diagonal", size), (24, 28)),
        (lambda size: adaptive_gaussian("spherical", size), (16, 18)),
    ],
)
def test_more_nodes_change_nothing(case, sizes):
    """By 1 in 200: a chain of 1,200 sweeps does not see that."""
    few, many = (np.array([case(n).log_p_data(c) for c in en.partitions(3)]) for n in sizes)
    np.testing.assert_allclose(few - few[0], many - many[0], atol=5e-3)


def test_log_t():
    """SciPy's, with its scale matrix written out."""
    first, second, typical, strength, shape = np.array([0.3, -1.0]), np.array([0.7]), 0.4, 0.3, 1.8
    scale = typical * np.array(
        [
            [1 + 1 / strength, 1 / strength, 0],
            [1 / strength, 1 + 1 / strength, 0],
            [0, 0, 1 + 1 / strength],
        ]
    )
    expected = stats.multivariate_t(shape=scale, df=2 * shape).logpdf([*first, *second])
    assert log_t([first, second], typical, strength, shape) == pytest.approx(expected, rel=1e-12)


@every_family
def test_components_of_one_row_have_the_density_of_a_new_one(name):
    """Where no number is shared, p(X | all apart) is the product of f*."""
    case, _ = exact(name)
    family = case.likelihood.prepare(case.X)
    if not family.n_shared:
        apart = case.log_p_data((0, 1, 2))
        assert family.log_marginal().sum() == pytest.approx(apart, rel=1e-10)


# ---- Visits ----


@every_family
def test_every_state_is_visited_as_often_as_it_should(name):
    z = largest_z(name, N_SWEEPS, 91)
    print(f"{name}: largest |z| {z:.1f}")
    assert z < T_LIMIT


@pytest.mark.exact_long
@every_family
@pytest.mark.parametrize("sampler", ["gibbs", "mh"])
def test_every_state_is_visited_as_often_as_it_should_long(name, sampler):
    z = largest_z(name, 40_000, 92, sampler=sampler)
    print(f"{name}, {sampler}: largest |z| {z:.1f}")
    assert z < T_LIMIT


def _wrong_f_star(family):
    class WrongFStar(family):
        def log_new(self):
            return super().log_new() - 1.0

    return WrongFStar


def _wrong_posterior(family):
    class WrongPosterior(family):
        """The prior: data are forgotten."""

        def draw_theta(self, sums, rng):
            return super().draw_theta(0 * sums, rng)

    return WrongPosterior


def _missing_is_a_number(family):
    class MissingIsANumber(family):
        """The largest of all, or of whole numbers 0."""

        def __init__(self, likelihood, X):
            filled = np.nanmax(X) if np.nanmin(X) < 0 else 0.0
            super().__init__(likelihood, np.nan_to_num(X, nan=filled))

    return MissingIsANumber


def _wrong_versions():
    """One of every family, each error in its turn; the others are left to `make exact`."""
    for i, name in enumerate(CASES):
        wrongs = [_wrong_f_star, _wrong_posterior]
        if name not in REFUSE_MISSING:
            wrongs.append(_missing_is_a_number)
        for j, wrong in enumerate(wrongs):
            marks = () if j == i % len(wrongs) else pytest.mark.exact_long
            yield pytest.param(name, wrong, marks=marks)


@pytest.mark.parametrize(("name", "wrong"), list(_wrong_versions()))
def test_wrong_versions_are_noticed(name, wrong, monkeypatch):
    monkeypatch.setattr(alarm, "checks_made", alarm.checks_made)
    case, _ = exact(name)
    family = wrong(type(case.likelihood.prepare(case.X)))
    z = largest_z(name, N_WRONG, 93, family)
    print(f"{name}, {wrong.__name__}: largest |z| {z:.1f}")
    assert z > T_LIMIT
