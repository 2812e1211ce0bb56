"""Rows unlike all that was fitted, and rows with nothing in them."""

from functools import cache

import numpy as np
import pytest
from scipy import sparse, stats
from scipy.special import expit

from bhmc import BHMC
from bhmc._estimator.empty_rows import EmptyRowsWarning
from bhmc.likelihoods import Product, ShapedGaussian
from bhmc.posterior import new_outlier_scores
from bhmc.posterior.predictive import new_component
from tests.posterior.test_predictive import every_walk

N, NUMBERS, BITS = 24, 2, 3
QUICK = {"n_levels": 2, "n_warmup": 8, "n_draws": 6, "n_chains": 1, "random_state": 0}
# Concentrations with which new components count for something.
OPEN = {"alpha": 0.5, "gamma": 0.5}
TRANSITIONS = ("diffused", "hdp")
KINDS = ("numbers", "bits", "mixed")
both = pytest.mark.parametrize("transition", TRANSITIONS)


def data(kind):
    rng, group = np.random.default_rng(0), np.arange(N) % 3
    numbers = 6.0 * (group[:, None] == np.arange(NUMBERS)) + rng.normal(size=(N, NUMBERS))
    likely = np.where(group[:, None] == np.arange(BITS), 0.9, 0.1)
    bits = (rng.random((N, BITS)) < likely).astype(float)
    return {"numbers": numbers, "bits": bits, "mixed": np.hstack([numbers, bits])}[kind]


def likelihood(kind, transition):
    gaussian = "shared_gaussian" if transition == "diffused" else "gaussian"
    parts = Product([(gaussian, [0, 1]), ("bernoulli", [2, 3, 4])])
    return {"numbers": gaussian, "bits": "bernoulli", "mixed": parts}[kind]


@cache
def fitted(kind, transition):
    model = BHMC(transition=transition, likelihood=likelihood(kind, transition), **OPEN, **QUICK)
    return model.fit(data(kind))


def impossible(kind):
    """Rows 100 ranges away from all data, in every column of numbers."""
    X = data(kind)
    wide = np.ptp(X[:, :NUMBERS], axis=0)
    rows = X[:4].copy()
    rows[:, :NUMBERS] += 100 * wide * np.array([[1, 1], [-1, -1], [1, -1], [-1, 1]])
    return rows


# ---- The probability of a new component ----


def slow_density(model, kind, x, middle, variance):
    """f(x) of a component at `middle`, or the mean of f over N(middle, variance); column by column.

    `variance` holds a number for the columns of numbers, in units of the noise, and one for logits.
    """
    noise, density = model.likelihood_.noise_on_tree(model.tree_.shared, len(x)), 1.0
    for j, value in enumerate(x):
        if kind == "numbers" or (kind == "mixed" and j < NUMBERS):
            width = np.sqrt(noise[j] * (1 + variance[0]))
            density *= stats.norm.pdf(value, middle[j], width)
        else:
            # The logit as it is, or even steps over 12 standard deviations to both sides.
            spread = np.sqrt(variance[-1])
            z = np.linspace(-12, 12, 2_001) if spread else np.zeros(1)
            weight = np.exp(-z * z / 2)
            chance = expit((2 * value - 1) * (middle[j] + spread * z))
            density *= (chance * weight).sum() / weight.sum()
    return density


def slow_diffused(model, kind, x):
    """p(new | x) by the walk of a row: to a child, a component of a leaf, or a new one there."""
    tree = model.tree_
    alpha, g = tree.concentrations
    none = np.zeros(tree.step_variances.shape[1])
    known, new, at = 0.0, 0.0, [(0, 1.0)]
    while at:
        node, reached = at.pop()
        level, size = tree.levels[node], tree.sizes[node]
        is_leaf = level == tree.n_levels
        opens = (g if is_leaf else alpha) / (size + (g if is_leaf else alpha))
        below = tree.step_variances[level + 1 :].sum(axis=0)
        new += reached * opens * slow_density(model, kind, x, tree.locations[node], below)
        if is_leaf:
            counts = np.bincount(tree.components[tree.members(node)])
            for k in np.flatnonzero(counts):
                share = (1 - opens) * counts[k] / size
                known += reached * share * slow_density(model, kind, x, tree.theta[k], none)
        else:
            at += [
                (child, reached * (1 - opens) * tree.sizes[child] / size)
                for child in tree.children(node)
            ]
    return new / (new + known)


def slow_hdp(model, x):
    """p(new | x) by every way down the tree: all leave the same share to a component not seen."""
    tree = model.tree_
    family = model.likelihood_.prepare(x[None]).at(tree.shared)
    f = np.exp(np.append(family.log_table(tree.theta)[0], family.log_marginal()))
    mass = sum(p * tree.weights[nodes[-1]] * f for nodes, p in every_walk(tree))
    return mass[-1] / mass.sum()


@both
@pytest.mark.parametrize("kind", KINDS)
def test_a_new_component_against_every_way_written_out(kind, transition):
    model, X = fitted(kind, transition), data(kind)[:4]
    found, new = model.transform(X, return_new=True)
    np.testing.assert_array_equal(found, model.transform(X))
    slow = [
        slow_diffused(model, kind, x) if transition == "diffused" else slow_hdp(model, x) for x in X
    ]
    np.testing.assert_allclose(new, slow, rtol=1e-6)
    assert (new > 0).all()


def test_every_place_of_a_new_component_counts():
    """The last place alone is another number."""
    rng = np.random.default_rng(0)
    log_f, weights = rng.normal(size=(5, 7)), rng.dirichlet(np.ones(7))
    f = weights * np.exp(log_f)
    np.testing.assert_allclose(
        new_component(log_f, weights, 3), f[:, 4:].sum(axis=1) / f.sum(axis=1)
    )
    assert (
        np.abs(new_component(log_f, weights, 3) - new_component(log_f, weights, 1)) > 0.05
    ).any()


# ---- Must show: impossible rows ----


@both
@pytest.mark.parametrize("kind", ["numbers", "mixed"])
def test_impossible_rows_begin_a_component_and_have_the_top_scores(kind, transition):
    model, X, rows = fitted(kind, transition), data(kind), impossible(kind)
    assert (model.transform(rows, return_new=True)[1] >= 0.99).all()
    assert (model.transform(X, return_new=True)[1] < 0.5).mean() > 0.9
    both = model.outlier_scores(np.vstack([X, rows]))
    assert (both[N:] >= both[:N].max()).all()
    assert (both[N:] == 1).all()
    assert np.median(both[:N]) < 0.9


def test_heavy_tails_explain_a_row_at_any_distance_but_its_score_is_the_highest():
    rng = np.random.default_rng(1)
    X = np.vstack([rng.standard_t(2, (20, 2)), rng.standard_t(2, (20, 2)) + 12])
    model = BHMC(likelihood=ShapedGaussian(degrees=3.0), **QUICK).fit(X)
    far = X[:1] + 100 * np.ptp(X, axis=0)
    assert model.transform(far, return_new=True)[1] < 0.1
    assert model.outlier_scores(far) > 0.98


# ---- Scores of new rows ----


@pytest.mark.parametrize("kind", KINDS)
def test_scores_of_rows_of_the_model_are_even(kind):
    """Rows drawn from the model: at most a share s has a score of at least 1 - s (with ties)."""
    model = fitted(kind, "diffused")
    scores = model.outlier_scores(model.sample(400, random_state=3))
    assert 0 <= scores.min() <= scores.max() <= 1
    for share in (0.1, 0.3, 0.5):
        assert (scores >= 1 - share).mean() < share + 0.1
    if kind != "bits":  # where there are no ties
        assert abs(scores.mean() - 0.5) < 0.07


def test_scores_depend_on_nothing_but_the_row_and_the_seed():
    model, X = fitted("numbers", "diffused"), data("numbers")
    X = np.vstack([X, X])
    X[3, 0] = X[5, 1] = np.nan
    scores = model.outlier_scores(X)
    np.testing.assert_array_equal(scores, model.outlier_scores(X))
    for i in (0, 3, 5, 30):
        assert model.outlier_scores(X[i : i + 1])[0] == pytest.approx(scores[i], abs=0.003)
    assert (model.outlier_scores(X, random_state=1) != scores).any()


def test_a_row_with_gaps_is_compared_with_rows_of_the_same_gaps():
    """Half of a row is more probable than the whole, but is no less unusual for it."""
    model, X = fitted("numbers", "diffused"), impossible("numbers")
    X[:, 1] = np.nan
    assert (model.outlier_scores(X) == 1).all()
    ordinary = data("numbers")
    ordinary[:, 1] = np.nan
    assert 0.2 < np.median(model.outlier_scores(ordinary)) < 0.8


def test_texts_are_compared_with_texts_of_their_length():
    rng = np.random.default_rng(0)
    p = np.repeat([[8.0, 0.5], [0.5, 8.0]], 20, axis=1)
    p /= p.sum(axis=1, keepdims=True)
    words = np.array([rng.multinomial(n, p[n % 2]) for n in range(5, 35)])
    model = BHMC(likelihood="multinomial", **QUICK).fit(words)
    odd = np.zeros((2, 40), dtype=int)
    odd[:, [0, -1]] = [[8, 8], [15, 15]]
    scores = model.outlier_scores(sparse.csr_array(np.vstack([odd, words])))
    assert (scores[:2] > 0.97).all()
    assert 0.2 < np.median(scores[2:]) < 0.8
    assert scores[2:7].max() > 0.3  # short texts are no less unusual than others,
    assert scores[-5:].min() < 0.7  # and long ones no more
    with pytest.warns(EmptyRowsWarning, match="row 0 of X has no entry"):
        assert np.isnan(model.score_samples(np.zeros((1, 40)))).all()


# ---- Must show: rows without any entry ----


@both
@pytest.mark.parametrize("kind", KINDS)
def test_rows_without_an_entry_are_nowhere(kind, transition):
    model, X = fitted(kind, transition), data(kind)[:5]
    X[1] = X[3] = np.nan
    X[4, 0] = np.nan
    empty = np.array([False, True, False, True, False])
    numbers = {
        "transform": lambda: np.column_stack(model.transform(X, return_new=True)),
        "proba": lambda: np.column_stack(model.predict_proba(X, return_new=True)),
        "score_samples": lambda: model.score_samples(X)[:, None],
        "outlier_scores": lambda: model.outlier_scores(X)[:, None],
    }
    sentence = "^2 rows of X have no entry, such as row 1, and get NaN for every number and -1 for"
    for call in numbers.values():
        with pytest.warns(EmptyRowsWarning, match=sentence) as said:
            found = call()
        assert len(said) == 1
        assert said[0].filename == __file__
        assert np.isnan(found[empty]).all()
        assert np.isfinite(found[~empty]).all()
    for call in (model.predict, model.predict_path, model.predict_component):
        with pytest.warns(EmptyRowsWarning, match=sentence) as said:
            found = call(X)
        assert said[0].filename == __file__
        assert (found[empty] == -1).all()
        assert (found[~empty] >= 0).all()
    with pytest.warns(EmptyRowsWarning):
        assert model.score(X) == pytest.approx(np.mean(model.score_samples(X[~empty])))
    with pytest.warns(EmptyRowsWarning, match=r"^row 0 of X has no entry and gets NaN"):
        assert np.isnan(model.score(X[1:2]))


@pytest.mark.parametrize("name", ["known_gaussian", "full_gaussian", "multinomial"])
def test_families_that_take_no_gaps_still_know_an_empty_row(name):
    X = np.clip(data("numbers").round(), 0, None) + 1
    model = BHMC(likelihood=name, **QUICK).fit(X)
    new = np.array([X[0], [np.nan, np.nan]])
    with pytest.warns(EmptyRowsWarning, match="row 1 of X has no entry"):
        assert np.isnan(model.score_samples(new)).tolist() == [False, True]
    np.testing.assert_allclose(model.score_samples(new[:1]), model.score_samples(X)[:1])
    assert np.isnan(new[1]).all()  # the caller's rows stay as they are
    with pytest.raises(ValueError, match="missing"):
        model.score_samples([[1.0, 2.0], [np.nan, 2.0]])


def test_an_empty_row_of_the_fit_has_no_score():
    X = data("numbers")
    X[2] = np.nan
    model = BHMC(likelihood="shared_gaussian", **QUICK).fit(X)
    assert np.isnan(model.outlier_scores_[2])
    assert np.isfinite(np.delete(model.outlier_scores_, 2)).all()


def test_the_function_behind_the_scores():
    model, X = fitted("numbers", "hdp"), data("numbers")
    scores = new_outlier_scores(
        model.draws_.mixtures, model.likelihood_, X, np.random.SeedSequence(0)
    )
    np.testing.assert_array_equal(scores, model.outlier_scores(X))


def test_frames_come_back_with_the_new_component_beside_them():
    pandas = pytest.importorskip("pandas")
    model = BHMC(**QUICK).set_output(transform="pandas").fit(data("numbers"))
    frame, new = model.transform(data("numbers"), return_new=True)
    assert isinstance(frame, pandas.DataFrame)
    assert new.shape == (N,)
