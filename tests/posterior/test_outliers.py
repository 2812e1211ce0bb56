"""Outlier scores: densities without a row, against closed forms; scores of rows of the model."""

import warnings

import numpy as np
import pytest
from scipy import sparse, stats
from sklearn.metrics import roc_auc_score

from bhmc import BHMC
from bhmc.likelihoods import Bernoulli, ColumnSummary, Gaussian, Multinomial, Product
from bhmc.posterior.draws import Mixture
from bhmc.posterior.outliers import (
    SeatedDraw,
    densities_of_new,
    densities_of_rows,
    outlier_scores,
    share_above,
    sums_of_others,
)

NOISE, WIDE = 0.7, 3.0


def predictive(x, rows):
    """p(x | rows of its component): N with mean theta ~ N(0, WIDE), noise of variance NOISE."""
    precision = 1 / WIDE + len(rows) / NOISE
    return stats.norm.pdf(x, rows.sum() / NOISE / precision, np.sqrt(NOISE + 1 / precision))


def exact_density(X, c, weights, theta, n):
    """The density of row n, seen from the others, theta' integrated out."""
    sizes = np.bincount(c)
    others = np.arange(len(X)) != n
    w = weights.copy()
    w[c[n]] *= (sizes[c[n]] - 1) / sizes[c[n]]
    w /= w.sum()
    found = w[-1] * stats.norm.pdf(X[n], 0, np.sqrt(NOISE + WIDE))
    for k in range(len(theta)):
        if k != c[n]:
            found += w[k] * stats.norm.pdf(X[n], theta[k], np.sqrt(NOISE))
        elif sizes[k] > 1:
            found += w[k] * predictive(X[n], X[others & (c == k)])
    return float(found)


def test_densities_are_those_without_the_row():
    """The mean over theta' is the predictive density in closed form; a lone row sees f*."""
    rng = np.random.default_rng(0)
    X, c = np.array([-2.0, -1.5, -2.2, 2.0, 2.4, 9.0]), np.array([0, 0, 0, 1, 1, 2])
    mixture = Mixture(np.array([0.4, 0.3, 0.2, 0.1]), np.array([[-2.0], [2.1], [8.8]]), np.empty(0))
    family = Gaussian(NOISE, 0.0, WIDE).prepare(X[:, None])
    draws = np.exp([densities_of_rows(family, c, mixture, rng) for _ in range(4000)])
    wanted = [exact_density(X, c, mixture.weights, mixture.theta[:, 0], n) for n in range(6)]
    error = draws.std(axis=0) / np.sqrt(len(draws))
    assert (np.abs(draws.mean(axis=0) - wanted) < 4.5 * error + 1e-12).all()
    with_itself = mixture.weights[2] * stats.norm.pdf(9.0, 8.8, np.sqrt(NOISE))
    assert wanted[5] < 0.01 * with_itself  # what a version that keeps the row would say


def test_new_rows_do_not_see_their_own_parameters():
    rng = np.random.default_rng(1)
    X, c = np.array([[-1.0], [1.0]]), np.array([0, 0])
    mixture = Mixture(np.array([0.75, 0.25]), np.array([[0.3]]), np.empty(0))
    likelihood = Gaussian(NOISE, 0.0, WIDE)
    family = likelihood.prepare(X)
    sums = family.sums(c, 1)
    new = likelihood.prepare(np.array([[0.5], [0.5]]), ColumnSummary.of(X))
    draws = np.exp(
        [densities_of_new(new, np.array([0, 1]), mixture, rng, sums) for _ in range(2000)]
    )
    fresh = 0.25 * stats.norm.pdf(0.5, 0, np.sqrt(NOISE + WIDE))
    known = 0.75 * stats.norm.pdf(0.5, 0.3, np.sqrt(NOISE))
    wanted = [fresh + 0.75 * predictive(0.5, X[:, 0]), fresh + known]
    error = draws.std(axis=0) / np.sqrt(len(draws))
    assert (np.abs(draws.mean(axis=0) - wanted) < 4.5 * error + 1e-12).all()


@pytest.mark.parametrize("kind", ["gaussian", "bernoulli", "words", "mixed"])
def test_scores_of_rows_of_the_model_are_uniform(kind):
    """Rows and components from a Dirichlet process mixture, weights given the components."""
    rng = np.random.default_rng(2)
    likelihood, d = {
        "gaussian": (Gaussian(1.0, 0.0, 4.0), 3),
        "bernoulli": (Bernoulli(0.5, 0.5), 12),
        "words": (Multinomial(0.5, n_trials=30), 20),
        "mixed": (Product([(Gaussian(1.0, 0.0, 4.0), [0, 2]), (Bernoulli(), [1])]), 3),
    }[kind]
    scores = []
    for _ in range(60):
        draw, X = forward(likelihood, d, rng)
        scores.append(outlier_scores([draw], likelihood, X, rng))
    scores = np.concatenate(scores)
    # Rows of one draw are not independent: the error is of the draws' means.
    deciles = np.histogram(
        scores, np.linspace(0, 1, 6), weights=np.full(len(scores), 1 / len(scores))
    )
    np.testing.assert_allclose(deciles[0], 0.2, atol=0.05)


def forward(likelihood, d, rng, n=40, gamma0=1.0):
    """A draw: c ~ CRP, theta ~ H, x ~ F; then theta and w given them."""
    c = [0]
    for i in range(1, n):
        w = np.append(np.bincount(c), gamma0) / (i + gamma0)
        c.append(int(rng.choice(len(w), p=w)))
    c = np.array(c)
    theta = likelihood.sample_theta(c.max() + 1, d, rng)
    if isinstance(likelihood, Multinomial):  # texts of different lengths
        likelihood = Multinomial(likelihood.concentration, rng.integers(5, 60, size=n))
    X = likelihood.sample_data(theta[c], rng)
    family = likelihood.prepare(X)
    theta = family.draw_theta(family.sums(c, c.max() + 1), rng)
    w = rng.dirichlet(np.append(np.bincount(c), gamma0))
    return SeatedDraw(c, Mixture(w, theta, np.empty(0))), X


def test_lengths_and_missing_entries_alone_make_no_outlier():
    """Compared with all new rows, every long text would be an outlier."""
    rng = np.random.default_rng(3)
    likelihood, scores, totals = Multinomial(0.5, n_trials=30), [], []
    for _ in range(20):
        draw, X = forward(likelihood, 20, rng)
        scores.append(outlier_scores([draw], likelihood, sparse.csr_array(X), rng))
        totals.append(X.sum(axis=1))
    assert abs(stats.spearmanr(np.concatenate(scores), np.concatenate(totals)).statistic) < 0.12


def test_share_above_against_the_definition():
    rng = np.random.default_rng(4)
    own, others = rng.normal(size=7), rng.normal(size=300)
    one = np.ones(7)
    wanted = [(others > x).mean() for x in own]
    np.testing.assert_allclose(share_above(own, others, one, np.ones(300)), wanted)
    extents, theirs = rng.integers(1, 50, 7) * 1.0, rng.integers(1, 50, 300) * 1.0
    found = share_above(own, others, extents, theirs)
    assert not np.allclose(found, wanted)
    far = share_above(
        own, np.where(theirs > 25, 100.0, -100.0), np.array([1.0] * 6 + [49.0]), theirs
    )
    assert far.tolist() == [0.0] * 6 + [1.0]


def planted(seed, n=200, d=8):
    """Five groups; 2 % of the rows are moved by six noise widths in random directions."""
    rng = np.random.default_rng(seed)
    X = rng.normal(0, 5, (5, d))[rng.integers(5, size=n)] + rng.normal(size=(n, d))
    rows = rng.choice(n, n // 50, replace=False)
    away = rng.normal(size=(len(rows), d))
    X[rows] += 6 * away / np.linalg.norm(away, axis=1, keepdims=True)
    return X, np.isin(np.arange(n), rows)


@pytest.mark.parametrize("seed", range(3))
def test_planted_outliers_are_found(seed):
    X, is_out = planted(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = BHMC(n_warmup=100, n_draws=100, random_state=seed).fit(X)
    scores = model.outlier_scores_
    assert scores.shape == (len(X),)
    assert 0 <= scores.min() <= scores.max() <= 1
    assert roc_auc_score(is_out, scores) >= 0.97
    assert np.median(scores[~is_out]) < 0.6


def test_scores_depend_on_data_and_seed_alone(tmp_path):
    X, _ = planted(0, n=60)
    settings = {"n_warmup": 10, "n_draws": 10, "random_state": 5}
    model = BHMC(**settings).fit(X)
    again = BHMC(**settings, n_jobs=2).fit(X)
    np.testing.assert_array_equal(model.outlier_scores_, again.outlier_scores_)
    model.save(tmp_path / "m")
    np.testing.assert_array_equal(BHMC.load(tmp_path / "m").outlier_scores_, model.outlier_scores_)


def test_a_very_large_row_leaves_no_digits_behind():
    """Subtracted from the sums of its component it would leave rounding errors."""
    X = np.random.default_rng(6).normal(size=(30, 2))
    X[0] = 1e18
    family = Gaussian(1.0, 0.0, 1.0).prepare(X)
    assert not family.subtracts_well
    c = np.zeros(30, dtype=np.int64)
    found = sums_of_others(family, slice(0, 30), c, family.sums(c, 1))[0]
    wanted = family.statistics(slice(1, 30)).sum(axis=0)
    np.testing.assert_allclose(found, wanted, rtol=1e-12)
    assert np.abs(family.sums(c, 1)[0] - family.statistics(slice(0, 1))[0] - wanted).max() > 1
