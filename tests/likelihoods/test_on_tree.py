"""Families of 0 and 1 and of categories on a diffusing tree: evidence, integrals, draws."""

from functools import reduce

import numpy as np
import pytest
from scipy.special import expit, log_expit

from bhmc._compiled.polya_gamma import draw_polya_gamma
from bhmc._compiled.random_source import random_source
from bhmc.likelihoods import (
    Bernoulli,
    Categorical,
    Gaussian,
    Product,
    SharedGaussian,
    names_with_places,
)
from tests.exact.alarm import Z_LIMIT, rng_for, z_of

BITS = np.array([[1, 0], [1, 1], [0, 1], [1, 0], [0, 0], [1, 0]], dtype=float)
CODES = np.array([[2, 0], [0, 1], [2, 1], [1, 0], [2, 1], [0, 0]], dtype=float)
SHARES = [0.2, 0.3, 0.5, 0.4, 0.6]


def with_hole(X):
    X = X.copy()
    X[1, 0] = X[4, 1] = np.nan
    return X


FAMILIES = {
    "bernoulli": (Bernoulli([0.5, 1.0], [1.5, 2.0]), BITS),
    "bernoulli, holes": (Bernoulli([0.5, 1.0], [1.5, 2.0]), with_hole(BITS)),
    "categorical": (Categorical(1.0, [3, 2], SHARES), CODES),
    "categorical, holes": (Categorical(1.0, [3, 2], SHARES), with_hole(CODES)),
    "mixed": (
        Product(
            [
                (Gaussian(0.5, 0.2, 2.0), [2]),
                (Categorical(1.0, 2, SHARES[3:]), [1]),
                (Bernoulli(0.5, 1.5), [0]),
            ]
        ),
        np.column_stack([BITS[:, 0], CODES[:, 1], np.linspace(-2, 2, 6)]),
    ),
}


def bound(name):
    likelihood, X = FAMILIES[name]
    family = likelihood.prepare(X)
    d = len(family.precision_columns()[0])
    rng = np.random.default_rng(3)
    return family, rng.normal(0, 1.5, (4, d)), rng.exponential(2.0, (4, d)), X


def nodes(m, v):
    """(theta, weights) of an integral over N(m, v) in each of D coordinates: a fine grid."""
    z = np.linspace(-12, 12, 4001)[:, None]
    weights = np.exp(-(z**2) / 2) * (z[1] - z[0]) / np.sqrt(2 * np.pi)
    return m + np.sqrt(v) * z, weights


def log_integral(family, sums, m, v, d):
    """log of the integral of exp(eta . sums) over coordinate d, the others being 0."""
    places = np.zeros((4001, len(m)))
    theta, weights = nodes(m, v)
    places[:, d] = theta[:, d]
    log_f = family.natural(family.leave(places)) @ sums
    top = log_f.max()
    return top + np.log(weights[:, 0] @ np.exp(log_f - top))


def by_quadrature(family, sums, m, v):
    """The same over all coordinates, which are independent given m and v."""
    at_0 = (family.natural(family.leave(np.zeros((1, len(m))))) @ sums)[0]
    return sum(log_integral(family, sums, m, v, d) - at_0 for d in range(len(m))) + at_0


@pytest.mark.parametrize("name", FAMILIES)
def test_rows_have_the_density_of_the_integral(name):
    family, places, variances, _ = bound(name)
    table = family.log_new_at(slice(1, 5), places, variances)
    exact = [
        [by_quadrature(family, t, m, v) for m, v in zip(places, variances, strict=True)]
        for t in family.statistics(slice(1, 5))
    ]
    np.testing.assert_allclose(table, exact, rtol=0, atol=1e-10)


@pytest.mark.parametrize("name", FAMILIES)
def test_groups_have_the_evidence_of_the_integral(name):
    family, places, variances, _ = bound(name)
    t = family.statistics(slice(0, 6))
    sums = np.array([t[:1].sum(axis=0), t[1:4].sum(axis=0), t.sum(axis=0), 40 * t.sum(axis=0)])
    got = family.log_evidence_at(sums, places[0], variances[0])
    exact = [by_quadrature(family, one, places[0], variances[0]) for one in sums]
    np.testing.assert_allclose(got, exact, rtol=1e-12, atol=1e-10)


@pytest.mark.parametrize("name", FAMILIES)
def test_places_are_parameters_in_other_coordinates(name):
    family, places, _, _ = bound(name)
    theta = family.leave(3 * places)
    np.testing.assert_allclose(family.enter(theta), 3 * places, atol=1e-12)
    assert theta.shape == (4, family.n_parameters)


def test_logits_of_categories_are_those_of_what_is_left():
    """In the order of the shares: 2, 1, 0 of the first column, 1, 0 of the second."""
    family, places, _, _ = bound("categorical")
    p = np.exp(family.leave(places))
    s = expit(places)
    rest = 1 - s[:, 0]
    expected = [
        rest * (1 - s[:, 1]),
        rest * s[:, 1],
        s[:, 0],
        1 - s[:, 2],
        s[:, 2],
    ]
    np.testing.assert_allclose(p, np.column_stack(expected), rtol=1e-12)


# ---- Draws ---------------------------------------------------------------------------------------

N_DRAWS = 30_000


def one_row_too_many(base):
    class Wrong(base):
        def evidence(self, places, sums, rng):
            omega, linear = super().evidence(places, sums, rng)
            one_more = draw_polya_gamma(np.ones(omega.shape), places, random_source(rng))
            return omega + one_more, linear  # PG(n, z) + PG(1, z) = PG(n + 1, z)

    return Wrong


def not_centred(base):
    class Wrong(base):
        def evidence(self, places, sums, rng):
            return super().evidence(places, sums, rng)[0], self.logit_counts(sums)[0]

    return Wrong


def by_one_omega(base):
    """theta of new atoms by one draw of omega at their place: no exact draw."""

    class Wrong(base):
        def draw_theta_at(self, sums, places, variances, rng):
            precision, linear = self.evidence(places, sums, rng)
            total = precision + 1 / variances
            mean = (linear + places / variances) / total
            return mean + rng.standard_normal(mean.shape) / np.sqrt(total)

    return Wrong


def redrawn(family, sums, m, v, rng):
    """theta | rows exactly; then evidence given theta, and theta given the evidence."""
    many = np.tile(sums, (N_DRAWS, 1))
    at, wide = np.tile(m, (N_DRAWS, 1)), np.tile(v, (N_DRAWS, 1))
    theta = family.draw_theta_at(many, at, wide, rng)
    precision, linear = family.evidence(theta, many, rng)
    total = precision + 1 / wide
    again = (linear + at / wide) / total + rng.standard_normal(at.shape) / np.sqrt(total)
    return theta, again


def scores(family, draws, sums, m, v):
    """z of the mean and the mean square of every coordinate, against dense integration."""
    ones, seen = family.logit_counts(sums[None])
    theta, weights = nodes(m, v)
    log_f = ones * log_expit(theta) + (seen - ones) * log_expit(-theta)
    p = weights * np.exp(log_f - log_f.max(axis=0))
    p /= p.sum(axis=0)
    moments = [(p * theta**r).sum(axis=0) for r in range(5)]
    each = []
    for r in (1, 2):
        error = np.sqrt((moments[2 * r] - moments[r] ** 2) / len(draws))
        each.append(z_of((draws**r).mean(axis=0) - moments[r], error))
    return np.abs(each).max()


def case(name):
    family, places, variances, X = bound(name)
    return family, family.statistics(slice(0, 6)).sum(axis=0), places[0], variances[0], X


@pytest.mark.parametrize("name", [name for name in FAMILIES if name != "mixed"])
def test_evidence_leaves_the_law_of_theta_alone(name):
    family, *given, _ = case(name)
    first, again = redrawn(family, *given, rng_for(401))
    assert scores(family, first, *given) < Z_LIMIT
    assert scores(family, again, *given) < Z_LIMIT


@pytest.mark.parametrize("wrong", [one_row_too_many, not_centred])
@pytest.mark.parametrize("name", ["bernoulli", "categorical"])
def test_wrong_evidence_is_noticed(name, wrong):
    right, *given, X = case(name)
    family = wrong(type(right))(FAMILIES[name][0], X)
    assert scores(right, redrawn(family, *given, rng_for(402))[1], *given) > Z_LIMIT


@pytest.mark.parametrize("name", ["bernoulli", "categorical"])
def test_a_draw_by_one_omega_is_noticed(name):
    right, *given, X = case(name)
    family = by_one_omega(type(right))(FAMILIES[name][0], X)
    assert scores(right, redrawn(family, *given, rng_for(404))[0], *given) > Z_LIMIT


def test_another_order_of_categories_is_another_law():
    """sigmoid of normal logits: the first category's share varies more than the last one's."""
    rng = rng_for(403)
    here = np.log(np.full((N_DRAWS, 3), 1 / 3))
    wide, nothing = np.full((N_DRAWS, 1), 2.0), np.empty(0)
    first = Categorical(1.0, 3, [0.5, 0.3, 0.2]).sample_theta_at(here, wide, nothing, rng)
    last = Categorical(1.0, 3, [0.2, 0.3, 0.5]).sample_theta_at(here, wide, nothing, rng)
    p, q = np.exp(first[:, 0]), np.exp(last[:, 0])
    error = np.sqrt((p.var() + q.var()) / N_DRAWS)
    assert abs(z_of(np.array([p.mean() - q.mean()]), np.array([error]))[0]) > Z_LIMIT


def test_shares_are_counted_in_the_data():
    X = np.array([[0, 1], [2, 1], [2, np.nan], [2, 0]])
    counted = Categorical().counted(X)
    np.testing.assert_array_equal(counted.n_categories, [3, 2])
    np.testing.assert_allclose(counted.shares, [1.5 / 5.5, 0.5 / 5.5, 3.5 / 5.5, 1.5 / 4, 2.5 / 4])
    assert counted.counted(X[:1]).shares is counted.shares


# ---- Products ------------------------------------------------------------------------------------


def test_all_logits_share_a_block_and_every_gaussian_part_has_its_own():
    parts = [
        (Bernoulli(), [0]),
        (SharedGaussian(), [1, 2]),
        (Categorical(1.0, 3), [3]),
        (Gaussian(), [4]),
    ]
    likelihood = Product(parts)
    np.testing.assert_array_equal(likelihood.blocks_on_tree(5), [0, 1, 1, 0, 0, 2])
    prior = likelihood.prior_on_tree(5)
    np.testing.assert_array_equal(prior.has_noise, [False, True, True])
    np.testing.assert_array_equal(prior.spread, [4.0, 5.0, 1.0])
    X = np.array([[0, 1.0, 2.0, 2, 0.5], [1, 0.0, -1.0, 0, 0.1]])
    family = likelihood.prepare(X)
    family = family.at(family.start_shared())
    columns, repeats = family.precision_columns()
    np.testing.assert_array_equal(columns, [0, 1, 1, 2, 3, 4])
    np.testing.assert_array_equal(repeats, [1, 2, 1, 1, 1])
    np.testing.assert_array_equal(family.blocks(), [0, 1, 0, 0, 2])
    np.testing.assert_array_equal(family.blocks()[columns], likelihood.blocks_on_tree(5))


def test_names_with_places_are_read_from_the_registry():
    names = names_with_places()
    assert {"shared_gaussian", "known_gaussian", "bernoulli", "categorical"} <= set(names)
    assert not {"gaussian", "free_gaussian", "full_gaussian", "poisson", "multinomial"} & set(names)


def test_sums_of_statistics_of_a_place_are_those_of_its_parts():
    """log_new_at of a product is the sum over its parts, each bound alone."""
    family, places, variances, X = bound("mixed")
    parts = [
        Gaussian(0.5, 0.2, 2.0).prepare(X[:, [2]]),
        Categorical(1.0, 2, SHARES[3:]).prepare(X[:, [1]]),
        Bernoulli(0.5, 1.5).prepare(X[:, [0]]),
    ]
    each = [
        part.log_new_at(slice(0, 6), places[:, [d]], variances[:, [d]])
        for d, part in enumerate(parts)
    ]
    np.testing.assert_allclose(
        family.log_new_at(slice(0, 6), places, variances), reduce(np.add, each), rtol=1e-13
    )
