"""Rows not seen: every family, every container, and what is refused."""

import itertools
import sys
from copy import copy
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.metrics import adjusted_rand_score

from bhmc import BHMC
from bhmc.likelihoods import (
    Bernoulli,
    Categorical,
    FreeGaussian,
    FullGaussian,
    Gaussian,
    Multinomial,
    Poisson,
    Product,
)
from bhmc.model.hdp.predictive import component_weights
from bhmc.posterior import predictive
from bhmc.posterior.draws import Mixture
from bhmc.priors import Uniform
from tests.exact.alarm import P_LIMIT, chi_square_p, rng_for
from tests.posterior.test_predictive import enumerated

# What new rows are predicted to be with components on a diffusing tree: `test_transitions`.
QUICK = {
    "transition": "hdp",
    "alpha": "learn",
    "n_warmup": 10,
    "n_draws": 5,
    "n_chains": 1,
    "n_levels": 2,
    "random_state": 0,
}

LIKELIHOODS = {
    **{name: name for name in ("gaussian", "spherical_gaussian", "shared_gaussian")},
    **{
        name: name for name in ("free_gaussian", "full_gaussian", "known_gaussian", "tied_gaussian")
    },
    **{name: name for name in ("bernoulli", "categorical", "poisson", "multinomial")},
    "free, spherical": FreeGaussian("spherical", shape=1.5),
    "full, loose": FullGaussian(lam=0.05),
    "noise learned": Gaussian(sigma2=Uniform(0, 2), sigma0=9.0),
    "bernoulli, skew": Bernoulli(0.5, 1.5),
    "categorical, sharp": Categorical(0.3),
    "poisson, wide": Poisson(0.7, 0.2),
    "multinomial, sharp": Multinomial(0.4, n_trials=4),
    "product": Product([("gaussian", 1), ("categorical", [0, 3]), (Poisson(), 2)]),
}
every_family = pytest.mark.parametrize("name", LIKELIHOODS)
METHODS = ("predict_proba", "transform", "score_samples", "predict", "predict_component")


def groups(n):
    return np.random.default_rng(n).permutation(np.arange(n) % 3)


def data(name, n, seed=0):
    """Three groups, each high in a column of its own; four columns of what the family takes."""
    X = 6.0 * (groups(n)[:, None] == np.arange(4) % 3)
    X += np.random.default_rng(seed).normal(size=X.shape)
    whole = np.clip(np.round(X), 0, 8)
    if name == "product":
        codes = np.minimum(whole[:, [0, 3]] // 3, 2)
        return np.column_stack([codes[:, 0], X[:, 1], whole[:, 2], codes[:, 1]])
    if "bernoulli" in name:
        return (X > 2).astype(float)
    if "categorical" in name:
        return np.minimum(whole // 3, 2)
    return whole if name.split(",")[0] in ("poisson", "multinomial") else X


@cache
def fitted(name):
    return BHMC(likelihood=LIKELIHOODS[name], **QUICK).fit(data(name, 30))


def rows(name):
    return data(name, 12, seed=1)


# ---- What every family keeps ----


@every_family
def test_probabilities(name):
    model, X = fitted(name), rows(name)
    tree, before = model.tree_, np.zeros(len(X))
    for level in range(tree.n_levels + 1):
        proba, new = model.predict_proba(X, level, return_new=True)
        assert proba.shape == (len(X), (tree.levels == level).sum())
        np.testing.assert_allclose(proba.sum(axis=1), 1, rtol=0, atol=1e-12)
        np.testing.assert_array_equal(model.predict(X, level), proba.argmax(axis=1))
        np.testing.assert_array_equal(proba, model.predict_proba(X, level))
        assert (new >= before).all()  # who has left stays away
        assert (new < 1).all()
        before = new
    assert (before > 0).all()
    np.testing.assert_array_equal(model.predict(X), model.predict(X, tree.n_levels))
    paths = model.predict_path(X)
    np.testing.assert_array_equal(tree.levels[paths], [range(tree.n_levels + 1)] * len(X))
    np.testing.assert_array_equal(tree.parents[paths[:, 1:]], paths[:, :-1])
    np.testing.assert_array_equal(paths[:, -1] - (tree.n_nodes - tree.n_leaves), model.predict(X))
    for method in (model.predict, model.predict_path, model.predict_component):
        assert method(X).dtype == np.int32


@every_family
def test_responsibilities(name):
    model, X = fitted(name), rows(name)
    found = model.transform(X)
    assert found.shape == (len(X), model.tree_.n_components)
    np.testing.assert_allclose(found.sum(axis=1), 1, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(model.predict_component(X), found.argmax(axis=1))
    # Of 20 seeds full covariances, drawn given a few rows each, have 0.38 to 1; chance has 0.
    assert adjusted_rand_score(groups(len(X)), model.predict_component(X)) > 0.35


@every_family
def test_places_by_enumeration(name):
    """Every way down the estimate's tree, with the densities of the estimate's own numbers."""
    model, X = fitted(name), rows(name)[:3]
    tree = model.tree_
    family = model.likelihood_.prepare(X).at(tree.shared)
    f = np.exp(np.column_stack([family.log_table(tree.theta), family.log_marginal()]))
    for level in range(tree.n_levels + 1):
        proba, new = model.predict_proba(X, level, return_new=True)
        for row in range(3):
            expected, expected_new = enumerated(tree, f[row], level)
            np.testing.assert_allclose(proba[row], expected, rtol=1e-9, atol=1e-12)
            assert new[row] == pytest.approx(expected_new, rel=1e-9, abs=1e-12)
    w = component_weights(tree)[:-1] * f[:, :-1]
    np.testing.assert_allclose(model.transform(X), w / w.sum(axis=1, keepdims=True), atol=1e-12)


@every_family
def test_densities_row_by_row(name):
    """Each row alone, under each mixture alone: nothing but what fit has kept is used."""
    model, X = fitted(name), rows(name)
    expected = []
    for x in X:
        density = 0.0
        for weights, theta, shared, _ in model.draws_.mixtures:
            family = model.likelihood_.prepare(x[None]).at(shared)
            log_f = np.append(family.log_table(theta)[0], family.log_marginal())
            density += weights @ np.exp(log_f) / len(model.draws_.mixtures)
        expected.append(np.log(density))
    np.testing.assert_allclose(model.score_samples(X), expected, rtol=1e-11, atol=1e-12)
    assert model.score(X) == np.mean(model.score_samples(X))


@every_family
def test_rows_are_taken_as_in_fit(name):
    """A family bound to the rows of the fit and to new ones has the same numbers for the latter."""
    model, X = fitted(name), rows(name)
    tree, both = model.tree_, np.concatenate([data(name, 30), X])
    alone, together = (model.likelihood_.prepare(Y).at(tree.shared) for Y in (X, both))
    assert alone.n_parameters == tree.theta.shape[1]
    np.testing.assert_allclose(
        alone.log_table(tree.theta), together.log_table(tree.theta)[30:], rtol=1e-11, atol=1e-11
    )
    np.testing.assert_allclose(
        alone.log_marginal(), together.log_marginal()[30:], rtol=1e-11, atol=1e-11
    )


@every_family
def test_a_row_does_not_depend_on_the_others(name, monkeypatch):
    """But for the last digits: a product of one row is not made as one of many."""
    model, X = fitted(name), rows(name)
    order = np.random.default_rng(0).permutation(len(X))
    whole = {method: getattr(model, method)(X) for method in METHODS}
    for method in METHODS:
        call = getattr(model, method)
        one_by_one = np.concatenate([call(X[i : i + 1]) for i in range(len(X))])
        thirds = np.concatenate([call(X[i : i + 4]) for i in range(0, len(X), 4)])
        for other in (one_by_one, thirds, call(X[order])[np.argsort(order)]):
            np.testing.assert_allclose(other, whole[method], rtol=1e-12, atol=1e-12)
        monkeypatch.setattr(predictive, "_MOST_ROWS", 5)
        np.testing.assert_allclose(call(X), whole[method], rtol=1e-12, atol=1e-12)
        monkeypatch.undo()


@every_family
def test_missing_entries_of_new_rows(name):
    model, X = fitted(name), rows(name)
    X[1, 2] = X[4, 0] = np.nan
    if not model.likelihood_.allows_missing:
        for method in METHODS:
            with pytest.raises(ValueError, match=r"^X has NaN \(a missing value\) in column"):
                getattr(model, method)(X)
        return
    complete = ~np.isnan(X).any(axis=1)
    for method in METHODS:
        call = getattr(model, method)
        np.testing.assert_allclose(call(X)[complete], call(X[complete]), rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("name", ["multinomial", "multinomial, sharp"])
@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csr_matrix, sparse.coo_array])
def test_sparse_rows(name, form):
    model, X = fitted(name), rows(name)
    for method in METHODS:
        call = getattr(model, method)
        np.testing.assert_allclose(call(form(X)), call(X), rtol=1e-12, atol=1e-12)


def test_sparse_rows_are_refused_where_fit_would():
    with pytest.raises(TypeError, match=r"^X is sparse, and this likelihood needs a dense array"):
        fitted("gaussian").predict(sparse.csr_array(rows("gaussian")))


def test_auto_takes_new_rows_as_it_took_the_old():
    """New rows that look like another family are still those of the fit's."""
    X = data("gaussian", 30)
    bits = (X[:5] > 2).astype(float)  # "auto" would take bernoulli
    for transition, likelihood in (("auto", "tailed_gaussian"), ("hdp", "gaussian")):
        settings = QUICK | {"transition": transition}
        model, by_name = (BHMC(likelihood=a, **settings).fit(X) for a in ("auto", likelihood))
        np.testing.assert_array_equal(model.score_samples(bits), by_name.score_samples(bits))


def test_a_row_far_away():
    for name in ("gaussian", "known_gaussian", "free_gaussian", "shared_gaussian", "tied_gaussian"):
        model = fitted(name)
        X = np.array([[1e4, -1e4, 0, 3e3], [0.0, 0, 0, 0]])
        proba, new = model.predict_proba(X, return_new=True)
        np.testing.assert_allclose(proba.sum(axis=1), 1, rtol=0, atol=1e-12)
        np.testing.assert_allclose(model.transform(X).sum(axis=1), 1, rtol=0, atol=1e-12)
        assert np.isfinite(model.score_samples(X)).all()
        assert new[0] > new[1]


# ---- Must show: held-out points of three clear groups ----


def test_held_out_points_of_three_groups():
    rng = np.random.default_rng(3)
    middle = np.array([[0.0, 0.0], [8.0, 0.0], [0.0, 8.0]])
    group, new_group = rng.integers(3, size=90), rng.integers(3, size=60)
    X, new = middle[group] + rng.normal(size=(90, 2)), middle[new_group] + rng.normal(size=(60, 2))
    model = BHMC(**{**QUICK, "n_warmup": 60, "n_draws": 20}).fit(X)
    # A component stands for the group that most of its rows are of.
    votes = np.zeros((model.tree_.n_components, 3))
    np.add.at(votes, (model.component_labels_, group), 1)
    stands_for = votes.argmax(axis=1)
    np.testing.assert_array_equal(stands_for[model.predict_component(new)], new_group)
    assert model.transform(new).max(axis=1).min() > 0.5
    far = middle.mean(axis=0) + 40
    assert model.score(new) > model.score(np.tile(far, (2, 1))) + 10
    assert model.score_samples(new).min() > model.score_samples([far])[0]


# ---- Densities add up to 1 ----


def test_probabilities_of_all_tables_add_up():
    bits = np.array(list(itertools.product([0.0, 1.0], repeat=4)))
    codes = np.array(list(itertools.product([0.0, 1.0, 2.0], repeat=4)))
    counts = np.array([x for x in itertools.product(range(4), repeat=4) if sum(x) == 3], float)
    for cells, names in (
        (bits, ("bernoulli", "bernoulli, skew")),
        (codes, ("categorical", "categorical, sharp")),
        (counts, ("multinomial", "multinomial, sharp")),
    ):
        for name in names:
            assert np.exp(fitted(name).score_samples(cells)).sum() == pytest.approx(1, abs=1e-10)


ON_A_LINE = ("gaussian", "spherical_gaussian", "free_gaussian", "full_gaussian", "known_gaussian")


@cache
def on_a_line(name):
    X = data("gaussian", 30)[:, :1]
    return BHMC(likelihood=name, **QUICK).fit(X)


@pytest.mark.parametrize("name", ON_A_LINE)
def test_densities_on_a_line_add_up(name):
    """Far tails included: a component not seen has those of Student's t."""
    grid = 3 + np.sinh(np.linspace(-10, 10, 8_001))
    density = np.exp(on_a_line(name).score_samples(grid[:, None]))
    assert np.trapezoid(density, grid) == pytest.approx(1, abs=1e-3)


# ---- Rows drawn ----


def cells_of(model, name, X):
    """The cell of each row of X, and the probability of each cell by `score_samples`."""
    if name in ON_A_LINE:
        edges = np.quantile(data("gaussian", 30)[:, 0], np.linspace(0.02, 0.98, 12))
        grid = np.sort(np.append(3 + np.sinh(np.linspace(-9, 9, 20_001)), edges))
        density = np.exp(model.score_samples(grid[:, None]))
        mass = (density[1:] + density[:-1]) / 2 * np.diff(grid)
        below = np.interp(edges, grid, np.concatenate([[0], np.cumsum(mass)]))
        return np.searchsorted(edges, X[:, 0]), np.diff([0, *below, 1])
    tops = {"poisson": 4, "bernoulli": 2}.get(name.split(",")[0], 3)
    if "multinomial" in name:
        tops = int(model.likelihood_.n_trials) + 1
    cells = np.array(list(itertools.product(range(tops), repeat=4)), dtype=float)
    if "multinomial" in name:
        cells = cells[cells.sum(axis=1) == tops - 1]
    place = {tuple(cell): i for i, cell in enumerate(cells)}
    p = np.exp(model.score_samples(cells))
    return np.array([place.get(tuple(x), len(p)) for x in X]), np.append(p, max(1 - p.sum(), 0))


def p_value_of_samples(model, name, seed, n=20_000):
    X = model.sample(n, random_state=rng_for(seed))
    cell, p = cells_of(model, name, X)
    return chi_square_p(np.bincount(cell, minlength=len(p)), p)


DRAWN = ("bernoulli", "categorical", "poisson", "multinomial, sharp", *ON_A_LINE)


def with_much_new(name):
    """A model whose kept draws leave three tenths to components not seen: so they count."""
    model = copy(on_a_line(name) if name in ON_A_LINE else fitted(name))
    mixtures = [
        Mixture(np.append(0.7 * w[:-1] / w[:-1].sum(), 0.3), *rest)
        for w, *rest in model.draws_.mixtures
    ]
    model.draws_ = replace(model.draws_, mixtures=tuple(mixtures))
    return model


@pytest.mark.parametrize("name", DRAWN)
def test_rows_drawn_have_the_density_of_score_samples(name):
    assert p_value_of_samples(with_much_new(name), name, 901) > P_LIMIT


@pytest.mark.parametrize("name", DRAWN)
def test_the_test_of_rows_drawn_can_fail(name, monkeypatch):
    """Mutants: no component is ever new, or all rows are of one draw."""

    def never_new(mixtures, *rest):
        known = [Mixture(np.append(w[:-1], 0.0), *more) for w, *more in mixtures]
        return predictive.sample_rows(tuple(known), *rest)

    def of_one_draw(mixtures, *rest):
        return predictive.sample_rows(mixtures[:1], *rest)

    for mutant in (never_new, of_one_draw):
        with monkeypatch.context() as patch:
            patch.setattr("bhmc._estimator.prediction.sample_rows", mutant)
            assert p_value_of_samples(with_much_new(name), name, 902, 40_000) < P_LIMIT


def test_products_draw_every_part():
    """Parts of a row drawn have the densities that rows with the others missing have."""
    model = fitted("product")
    X = model.sample(20_000, random_state=rng_for(903))
    assert X.shape == (20_000, 4)
    for column, top in ((0, 3), (3, 3), (2, 12)):
        cells = np.full((top, 4), np.nan)
        cells[:, column] = range(top)
        p = np.exp(model.score_samples(cells))
        seen = np.bincount(np.minimum(X[:, column], top).astype(int), minlength=top + 1)
        assert chi_square_p(seen, np.append(p, max(1 - p.sum(), 0))) > P_LIMIT


@every_family
def test_rows_drawn_can_be_scored(name):
    model = fitted(name)
    X = model.sample(7, random_state=5)
    assert X.shape == (7, 4)
    assert np.isfinite(model.score_samples(X)).all()
    np.testing.assert_array_equal(X, model.sample(7, random_state=5))
    assert not np.array_equal(X, model.sample(7, random_state=6))
    assert model.sample().shape == (1, 4)
    if name == "multinomial":
        np.testing.assert_array_equal(
            X.sum(axis=1), np.floor(np.median(data(name, 30).sum(axis=1)))
        )


def test_number_of_samples():
    for wrong, error in ((0, ValueError), (2.5, TypeError)):
        with pytest.raises(error, match=r"^n_samples must be"):
            fitted("gaussian").sample(wrong)


def test_no_mixture_was_kept():
    model = BHMC(likelihood="gaussian", **QUICK).fit(data("gaussian", 30))
    model.draws_ = replace(model.draws_, mixtures=())
    for call in (model.sample, lambda: model.score_samples(rows("gaussian"))):
        with pytest.raises(ValueError, match=r"need the mixtures of draws, and none was kept"):
            call()


# ---- Frames ----

BOTH = pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
COLOUR = ["red", "green", "blue", "green"] * 6
WIDTH = np.random.default_rng(0).normal(size=24) + np.repeat([0.0, 9.0], 12)
TABLE = {"colour": COLOUR, "width": WIDTH, "wild": [True, False] * 12}
NEW = {"colour": ["green", "red", None], "width": [0.3, 9.0, 8.8], "wild": [True, None, False]}
CODES = np.array([[1, 0.3, 1], [2, 9.0, np.nan], [np.nan, 8.8, 0]])


@cache
def of_frame(frame):
    return BHMC(**QUICK).fit(frame(TABLE))


@BOTH
def test_text_is_coded_as_in_fit(frame):
    """Other categories, or only some of them, do not change the codes."""
    model = of_frame(frame)
    for other in (pd.DataFrame, pl.DataFrame):
        for method in METHODS:
            call = getattr(model, method)
            with pytest.warns(UserWarning, match="does not have valid feature names"):
                coded = call(CODES)
            np.testing.assert_array_equal(call(other(NEW)), coded)
    declared = pd.DataFrame(NEW).astype({"colour": pd.CategoricalDtype(["green", "red"])})
    np.testing.assert_array_equal(
        model.score_samples(declared), model.score_samples(pd.DataFrame(NEW))
    )


@BOTH
def test_a_category_not_seen_is_missing(frame):
    model = of_frame(frame)
    strange = {**NEW, "colour": ["green", "pink", "mauve"]}
    sentence = (
        r"^X has 'pink' in column 0 \('colour'\), row 1, a category that fit did not see, and 1 "
        r"more like it: taken for missing\.$"
    )
    with pytest.warns(UserWarning, match=sentence):
        found = model.score_samples(frame(strange))
    expected = model.score_samples(frame({**NEW, "colour": ["green", None, None]}))
    np.testing.assert_array_equal(found, expected)


def test_categories_of_another_type_are_refused():
    X = pd.DataFrame({**NEW, "colour": [1, 2, 3]})
    with pytest.raises(
        ValueError,
        match=r"^X has 1 in column 0 \('colour'\), row 0; fit saw categories such as 'blue'",
    ):
        of_frame(pd.DataFrame).predict(X)


def test_categories_that_are_numbers():
    """A column declared as categories in fit may come as plain numbers later."""
    kind = pd.Series([10, 20, 30, 20] * 6, dtype="category")
    model = BHMC(**QUICK).fit(pd.DataFrame({"kind": kind, "width": WIDTH}))
    plain = pd.DataFrame({"kind": [10, 30], "width": [0.1, 9.0]})
    np.testing.assert_array_equal(
        model.score_samples(plain), model.score_samples(plain.astype({"kind": "category"}))
    )


def test_text_where_fit_saw_numbers():
    X = pd.DataFrame({**NEW, "width": ["a", "b", "c"]})
    with pytest.raises(ValueError, match=r"^X has the text 'a' in column 1 \('width'\), row 0"):
        of_frame(pd.DataFrame).predict(X)


def test_dates_where_fit_saw_numbers():
    X = pd.DataFrame({**NEW, "width": pd.to_datetime(["2020-01-01"] * 3)})
    with pytest.raises(TypeError, match=r"^X has dates or times in column 1 \('width'\)"):
        of_frame(pd.DataFrame).predict(X)


@BOTH
def test_names_and_their_order(frame):
    model = of_frame(frame)
    for wrong in ({"width": "breadth"}, {}):
        columns = {wrong.get(key, key): value for key, value in NEW.items()}
        X = frame(columns if wrong else dict(reversed(columns.items())))
        with pytest.raises(ValueError, match="feature names"):
            model.predict(X)


def test_frames_without_names():
    table, new = (pd.DataFrame(one).set_axis(range(3), axis=1) for one in (TABLE, NEW))
    model = BHMC(**QUICK).fit(table)
    np.testing.assert_array_equal(
        model.score_samples(new), of_frame(pd.DataFrame).score_samples(pd.DataFrame(NEW))
    )
    drawn = model.sample(3, random_state=0)
    assert drawn.columns.tolist() == [0, 1, 2]


@BOTH
def test_rows_drawn_have_text_where_fit_saw_it(frame):
    model = of_frame(frame)
    drawn = model.sample(50, random_state=0)
    assert type(drawn) is frame
    assert list(drawn.columns) == list(TABLE)
    assert set(drawn["colour"]) == {"red", "green", "blue"}
    assert set(drawn["wild"]) == {0.0, 1.0}
    assert np.isfinite(model.score_samples(drawn)).all()


def test_rows_drawn_without_pandas(monkeypatch):
    model = of_frame(pd.DataFrame)
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert model.predict(pl.DataFrame(NEW)).shape == (3,)
    with pytest.raises(
        ImportError, match=r"^sample, where the fit saw text, needs pandas: install"
    ):
        model.sample(2)


# ---- From a file ----


@pytest.mark.parametrize("name", ["gaussian", "categorical", "multinomial", "product", "frame"])
def test_a_model_from_a_file_says_the_same(name, tmp_path):
    model, X = (
        (of_frame(pd.DataFrame), pd.DataFrame(NEW))
        if name == "frame"
        else (fitted(name), rows(name))
    )
    model.save(tmp_path / "model.bhmc")
    loaded = BHMC.load(tmp_path / "model.bhmc")
    for method in METHODS:
        np.testing.assert_array_equal(getattr(loaded, method)(X), getattr(model, method)(X))
    drawn, again = (one.sample(5, random_state=0) for one in (model, loaded))
    assert np.array_equal(drawn, again)


# ---- Names of what comes out ----


def test_output_of_transform():
    model = BHMC(likelihood="gaussian", **QUICK).set_output(transform="pandas")
    X = pd.DataFrame(data("gaussian", 30), columns=list("abcd")).set_index(np.arange(30) + 7)
    frame = model.fit_transform(X)
    assert frame.columns.tolist() == [f"component{k}" for k in range(model.tree_.n_components)]
    assert frame.index.tolist() == X.index.tolist()
    np.testing.assert_array_equal(model.get_feature_names_out(), frame.columns)
    np.testing.assert_array_equal(model.predict_component(X), frame.to_numpy().argmax(axis=1))
    np.testing.assert_array_equal(
        frame.to_numpy(), model.set_output(transform="default").transform(X)
    )


# ---- What is refused ----


def test_before_fit():
    model, X = BHMC(), rows("gaussian")
    calls = [
        lambda name=name: getattr(model, name)(X) for name in (*METHODS, "predict_path", "score")
    ]
    for call in (*calls, model.sample, model.get_feature_names_out):
        with pytest.raises(NotFittedError):
            call()


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda X: X[:, :3], "X has 3 features, but BHMC is expecting 4 features as input"),
        (lambda X: X[0], "X must be a matrix of rows and columns"),
        (lambda X: X[:0], r"X has 0 sample\(s\) .* while a minimum of 1 is required"),
        (
            lambda X: np.where(np.arange(48).reshape(12, 4) == 9, np.inf, X),
            "X has inf in column 1, row 2",
        ),
    ],
)
def test_other_shapes_and_values(change, sentence):
    for method in METHODS:
        with pytest.raises(ValueError, match=sentence):
            getattr(fitted("gaussian"), method)(change(rows("gaussian")))


def test_entries_that_the_family_cannot_have():
    X = pd.DataFrame(data("poisson", 30), columns=list("abcd"))
    model = BHMC(likelihood="poisson", **QUICK).fit(X)
    new = X[:2].assign(c=[1.0, 0.5])
    with pytest.raises(ValueError, match=r"^X has 0\.5 in column 2 \('c'\), row 1; the Poisson"):
        model.predict(new)
    with pytest.raises(ValueError, match=r"^X has 3 in column 0, row 0; codes must be below n_cat"):
        fitted("categorical").predict(np.full((1, 4), 3.0))


@pytest.mark.parametrize(
    ("level", "error", "sentence"),
    [
        (3, ValueError, "^level must be at most 2, got 3"),
        (-1, ValueError, "^level must be at least 0, got -1"),
        (1.0, TypeError, "^level must be a whole number"),
    ],
)
def test_levels(level, error, sentence):
    for method in ("predict", "predict_proba"):
        with pytest.raises(error, match=sentence):
            getattr(fitted("gaussian"), method)(rows("gaussian"), level)


@pytest.mark.parametrize("transition", ["hdp", "diffused", "gaussian"])
@pytest.mark.parametrize("deep", [{"alpha": 1e300}, {"alpha": 100.0, "n_levels": 60}])
def test_probabilities_of_paths_that_underflow(transition, deep):
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(centre, 1.0, (12, 2)) for centre in (-8.0, 8.0)])
    settings = {"transition": transition, "likelihood": "shared_gaussian", "n_chains": 1}
    model = BHMC(**settings, **deep, n_warmup=1, n_draws=2, random_state=0).fit(X)
    found = model.predict_proba(X)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    joins, new = model.predict_proba(X, return_new=True)
    np.testing.assert_allclose(joins, found)
    assert (new > 0.5).all()  # nearly all probability is on branches not seen
