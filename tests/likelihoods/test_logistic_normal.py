"""Logits with a normal law: probabilities against quadrature; draws against their exact law."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad
from scipy.special import expit, log_expit

from bhmc._compiled import (
    distributions,
    log_concave,
    logistic_normal,
    random_source,
    reference,
)
from bhmc._compiled.polya_gamma import draw_polya_gamma
from bhmc.likelihoods.logistic_normal import (
    draw_logits_at,
    log_bernoulli_at,
    log_logit_evidence,
)
from tests.exact import alarm
from tests.exact.alarm import P_LIMIT, Z_LIMIT, rng_for, z_of
from tests.mutants.mutants import build

FILES = (random_source, distributions, log_concave, logistic_normal)
LOCATIONS = [0.0, 1e-3, 0.4, 2.0, 7.0, 19.0, 40.0]
VARIANCES = [1e-8, 1e-3, 0.0999, 0.1001, 0.5, 1.0, 3.0, 12.0, 60.0, 400.0]


# ---- Probabilities -------------------------------------------------------------------------------


def log_integral(sign, m, v):
    """log of the integral of sigmoid(sign theta) N(theta; m, v), adaptive, scaled by its peak."""
    theta = m + np.sqrt(v) * np.linspace(-25, 25, 20_001)

    def log_f(theta):
        return log_expit(sign * theta) - (theta - m) ** 2 / (2 * v)

    peak = theta[np.argmax(log_f(theta))]
    cuts = peak + np.sqrt(v) * np.array([-12, -6, -3, -1.5, -0.5, 0, 0.5, 1.5, 3, 6, 12])
    total = sum(
        quad(lambda theta: np.exp(log_f(theta) - log_f(peak)), a, b, epsabs=1e-15, epsrel=1e-12)[0]
        for a, b in pairwise(cuts)
    )
    return log_f(peak) + np.log(total) - np.log(2 * np.pi * v) / 2


@pytest.mark.parametrize("v", VARIANCES)
def test_probabilities_are_the_integrals(v):
    log_one, log_zero = log_bernoulli_at(LOCATIONS, v)
    np.testing.assert_allclose(
        log_one, [log_integral(1, m, v) for m in LOCATIONS], rtol=0, atol=1e-10
    )
    np.testing.assert_allclose(
        log_zero, [log_integral(-1, m, v) for m in LOCATIONS], rtol=0, atol=1e-10
    )


def test_probabilities_are_those_of_the_slow_twin():
    """An accelerated series of closed integrals, on a fine grid."""
    m, v = np.meshgrid(np.linspace(0, 40, 80), np.logspace(-8, np.log10(400), 120))
    slow = reference.log_smaller_probability(-m, v)
    np.testing.assert_allclose(log_bernoulli_at(-m, v)[0], slow, rtol=0, atol=3e-12)
    np.testing.assert_allclose(log_bernoulli_at(m, v)[1], slow, rtol=0, atol=3e-12)


@pytest.mark.parametrize(
    "edit",
    [
        ("return 0.82 * math.sqrt(v)", "return 1.1 * math.sqrt(v)"),
        ("6.0 * math.pi / (31.0 + 4.5 / v)", "6.0 * math.pi / 25.0"),
        ("_LAST_TERM = 1e-15", "_LAST_TERM = 1e-9"),
        ("math.exp(m * step / v - bend)", "math.exp(-bend)"),
    ],
    ids=["step", "pole", "end", "side"],
)
def test_a_wrong_sum_is_noticed(edit):
    wrong = build((edit,), FILES).log_smaller_probability
    cases = [(-m, v) for m in (0.4, 7.0) for v in (0.05, 0.5, 3.0, 60.0)]
    errors = [abs(wrong(*case) - reference.log_smaller_probability(*case)) for case in cases]
    assert max(errors) > 1e-10


def test_gauss_and_hermite_would_not_do():
    """64 nodes are right for small variances only."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(64)
    for v, right in ((0.5, True), (20.0, False)):
        p = (weights * expit(-3 + np.sqrt(v) * nodes)).sum() / weights.sum()
        assert (abs(np.log(p) - log_bernoulli_at(-3.0, v)[0]) < 1e-10) == right


def test_probabilities_mirror_and_add_up():
    rng = np.random.default_rng(0)
    m, v = rng.normal(0, 10, (300, 7)), rng.exponential(30, (300, 1))
    (one, zero), (mirrored_one, mirrored_zero) = log_bernoulli_at(m, v), log_bernoulli_at(-m, v)
    np.testing.assert_array_equal(one, mirrored_zero)
    np.testing.assert_array_equal(zero, mirrored_one)
    np.testing.assert_allclose(np.exp(one) + np.exp(zero), 1, rtol=1e-14)
    assert one.shape == (300, 7)


def test_probabilities_where_the_variance_vanishes():
    """sigmoid(m) at v = 0, and sigmoid(m) + v sigmoid''(m) / 2 next to it."""
    m = np.array([-40.0, -2.0, 0.0, 0.3, 12.0])
    np.testing.assert_allclose(log_bernoulli_at(m, 0.0)[0], log_expit(m), atol=1e-15)
    p, v = expit(m), 1e-6
    expected = p + v / 2 * p * (1 - p) * (1 - 2 * p)
    np.testing.assert_allclose(log_bernoulli_at(m, v)[0], np.log(expected), atol=2e-12)


def test_probabilities_of_what_is_not_a_number():
    assert np.isnan(log_bernoulli_at([np.nan, 1.0], [1.0, np.nan])).all()


# ---- Groups of rows ------------------------------------------------------------------------------

# ones, seen, m, v
GROUPS = [
    (1, 1, 0.0, 400.0),
    (0, 3, 5.0, 9.0),
    (2, 3, 0.0, 0.3),
    (7, 10, 1.0, 1.0),
    (20, 40, -2.0, 0.05),
    (51, 51, -3.0, 4.0),
    (3, 3, -1.0, 100.0),
    (300, 1_000, 0.0, 0.01),
    (5, 100_000, 2.0, 25.0),
    (64, 64, -6000.0, 100.0),  # powers leave the range of numbers
    (1, 2, 900.0, 1.0),
    (0, 3, -900.0, 2.0),
    (20, 64, 1.0, 400.0),
]


def evidence_of(group):
    ones, seen, m, v = (np.array([float(x)]) for x in group)
    return log_logit_evidence(ones[None], seen[None], m, v)[0]


@pytest.mark.parametrize("group", GROUPS, ids=str)
def test_evidence_of_rows_is_the_integral(group):
    slow = reference.log_integral(*group)
    np.testing.assert_allclose(evidence_of(group), slow, rtol=1e-13, atol=1e-11)


def test_evidence_of_one_row_is_its_probability():
    m, v = np.meshgrid(LOCATIONS, VARIANCES[1:])
    for x, log_p in zip((1.0, 0.0), log_bernoulli_at(m.ravel(), v.ravel()), strict=True):
        group = np.full((1, m.size), x), np.ones((1, m.size))
        each = [
            log_logit_evidence(group[0][:, :1], group[1][:, :1], a, b)[0]
            for a, b in zip(m.reshape(-1, 1), v.reshape(-1, 1), strict=True)
        ]
        np.testing.assert_allclose(each, log_p, rtol=0, atol=1e-11)
        np.testing.assert_allclose(
            log_logit_evidence(*group, m.ravel(), v.ravel()), log_p.sum(), rtol=1e-12
        )


def test_evidence_of_nothing_and_without_variance():
    nothing, at = np.zeros((1, 1)), np.array([0.7])
    assert log_logit_evidence(nothing, nothing, at, np.ones(1))[0] == 0.0
    sure = log_logit_evidence(np.array([[2.0]]), np.array([[5.0]]), at, np.zeros(1))[0]
    assert sure == pytest.approx(2 * log_expit(0.7) + 3 * log_expit(-0.7), abs=1e-13)


def test_evidence_of_many_groups_is_that_of_each():
    """More different groups than are remembered, in any order."""
    rng = np.random.default_rng(1)
    seen = rng.integers(0, 6, (200, 3)).astype(float)
    ones = np.floor(rng.random((200, 3)) * (seen + 1))
    m, v = rng.normal(size=3), rng.exponential(size=3)
    alone = [log_logit_evidence(ones[k : k + 1], seen[k : k + 1], m, v)[0] for k in range(200)]
    np.testing.assert_array_equal(log_logit_evidence(ones, seen, m, v), alone)


@pytest.mark.parametrize(
    "edit",
    [
        ("return 2.0 * math.pi * a / (_SURE + growth)", "return 2.0 * math.pi * a / _SURE"),
        ("for way in (-step, step):", "for way in (step,):"),
        (
            "if not term > _LAST_TERM * (1.0 + total):",
            "if not term > 1e-9 * (1.0 + total):",
        ),
        ("fall *= bend", "fall *= 1.0"),
        ("math.log(step * total / math.sqrt(2.0 * math.pi * v))", "math.log(step * total)"),
    ],
    ids=["step", "side", "end", "normal", "scale"],
)
def test_wrong_evidence_is_noticed(edit):
    wrong = build((edit,), FILES).log_integral
    errors = [
        abs(wrong(*(float(x) for x in group)) / reference.log_integral(*group) - 1)
        for group in GROUPS[:7]
    ]
    assert max(errors) > 1e-10


# ---- Draws ---------------------------------------------------------------------------------------

# ones, seen, m, v
CASES = [
    (0, 31, 8.85010139872534, 0.42128001283701993),  # Newton's steps alone go to and fro there
    (0, 0, -1.0, 2.0),
    (1, 1, 0.0, 400.0),
    (0, 3, 5.0, 9.0),
    (7, 10, 1.0, 1.0),
    (51, 51, -3.0, 4.0),
    (300, 1_000, 0.0, 0.01),
    (5, 100_000, 2.0, 25.0),
    (2, 4, 40.0, 1e-8),
]
N_DRAWS = 40_000


def grid_of(ones, seen, m, v):
    """(theta, probabilities) on a fine grid: a trapezoidal sum, exact to rounding."""
    reach = 34 * np.sqrt(v)  # rows may pull theta far from m
    wide = np.linspace(m - reach, m + reach, 400_001)
    log_f = log_target(wide, ones, seen, m, v)
    near = wide[log_f > log_f.max() - 45]
    theta = np.linspace(near[0], near[-1], 20_001)
    log_f = log_target(theta, ones, seen, m, v)
    weights = np.exp(log_f - log_f.max())
    return theta, weights / weights.sum()


def log_target(theta, ones, seen, m, v):
    logistic = ones * log_expit(theta) + (seen - ones) * log_expit(-theta)
    return logistic - (theta - m) ** 2 / (2 * v)


def moment_scores(draws, case):
    """z of the mean and of the second and third moments about it."""
    theta, p = grid_of(*case)
    away = theta - p @ theta
    exact = np.array([p @ away**r for r in range(7)])
    got = np.array([np.mean((draws - p @ theta) ** r) for r in (1, 2, 3)])
    errors = np.sqrt((exact[2::2] - exact[1:4] ** 2) / len(draws))
    return z_of((got - exact[1:4]) / errors, np.ones(3))


def ks_p(draws, case):
    theta, p = grid_of(*case)
    cdf = np.cumsum(p) - p / 2
    alarm.checks_made += 1
    return stats.kstest(draws, lambda x: np.interp(x, theta, cdf)).pvalue


@pytest.mark.parametrize("case", CASES, ids=str)
def test_draws_have_the_exact_law(case):
    draws = draw_logits_at(np.full(N_DRAWS, case[0]), *case[1:], rng_for(91))
    assert np.abs(moment_scores(draws, case)).max() < Z_LIMIT
    assert ks_p(draws, case) > P_LIMIT


def augmented(case, rng, extra=0):
    """theta from its exact law, omega ~ PG(seen + extra, theta), theta again given omega."""
    ones, seen, m, v = case
    theta = draw_logits_at(np.full(N_DRAWS, ones), seen, m, v, rng)
    omega = draw_polya_gamma(seen + extra, theta, random_source.random_source(rng))
    variance = 1 / (1 / v + omega)
    return rng.normal(variance * (m / v + ones - seen / 2), np.sqrt(variance))


@pytest.mark.parametrize(
    "case", [(1, 3, 0.5, 4.0), (7, 10, 1.0, 1.0), (5, 400, 2.0, 25.0)], ids=str
)
def test_polya_gamma_augmentation_leaves_the_law_alone(case):
    """Given omega the logistic likelihood is Gaussian: precision omega, linear ones - seen / 2."""
    assert np.abs(moment_scores(augmented(case, rng_for(94)), case)).max() < Z_LIMIT
    assert ks_p(augmented(case, rng_for(95)), case) > P_LIMIT


def test_one_row_too_many_in_the_augmentation_is_noticed():
    case = (7, 10, 1.0, 1.0)
    assert np.abs(moment_scores(augmented(case, rng_for(96), extra=1), case)).max() > Z_LIMIT


def test_a_normal_approximation_is_noticed():
    case = (1, 1, 0.0, 400.0)
    theta, p = grid_of(*case)
    mean = p @ theta
    draws = rng_for(92).normal(mean, np.sqrt(p @ (theta - mean) ** 2), N_DRAWS)
    assert np.abs(moment_scores(draws, case)).max() > Z_LIMIT
    assert ks_p(draws, case) < P_LIMIT


@pytest.mark.parametrize(
    "edit",
    [
        ("<= value - top - height:", "<= value - top:"),
        ("top += 0.5 * slope * slope * v", "top -= 0.3"),
        ("value = ones * theta - seen * (max", "value = ones * theta - (seen + 1) * (max"),
    ],
    ids=["hat", "top", "rows"],
)
def test_a_wrong_draw_is_noticed(edit):
    case = (7.0, 10.0, 1.0, 1.0)
    mutant, rng = build((edit,), FILES), rng_for(93)
    draws = np.array([mutant.logit_draw(*case, rng) for _ in range(8_000)])
    scores = np.abs(moment_scores(draws, case)).max()
    assert scores > Z_LIMIT or ks_p(draws, case) < P_LIMIT


@pytest.mark.parametrize("case", CASES, ids=str)
def test_draws_are_those_of_the_slow_twin(case):
    ours, theirs = np.random.default_rng(4), np.random.default_rng(4)
    slow = [reference.logit_draw(*case, theirs) for _ in range(30)]
    fast = draw_logits_at(np.full((5, 6), case[0]), *case[1:], ours)
    np.testing.assert_allclose(fast.ravel(), slow, rtol=1e-7)
    assert ours.random() == theirs.random()


def test_draws_at_the_edges():
    """A variance of 0 leaves the location, and a location far from the rows ends in finite time."""
    rng = np.random.default_rng(0)
    np.testing.assert_array_equal(draw_logits_at([0, 5], 9, [3.0, -1.0], 0.0, rng), [3.0, -1.0])
    assert np.isnan(draw_logits_at(1, 2, np.nan, 1.0, rng))
    m = np.array([-40.0, 40.0])
    far = draw_logits_at([[0], [50_000], [100_000]], 100_000, m, 400.0, rng)
    assert np.isfinite(far).all()
    np.testing.assert_allclose(far[1], 0, atol=0.05)
