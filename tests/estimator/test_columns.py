"""`columns=`, `column_plan_`, `feature_names=` and Arrow tables: what a fit makes of a table."""

import pickle

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.base import clone

from bhmc import BHMC

QUICK = {"n_levels": 1, "n_warmup": 2, "n_draws": 2, "n_chains": 1, "random_state": 0}
N = 12
RNG = np.random.default_rng(0)
WIDTH = RNG.normal(size=N) + np.repeat([0.0, 9.0], 6)
TABLE = {
    "code": [int(code) for code in RNG.permutation(N) + 500],
    "width": WIDTH.tolist(),
    "price": [f"€{x:.2f}" for x in WIDTH + 20],
    "year": [2007, 2008, 2009] * 4,
    "paid": ["yes", "no"] * 6,
    "day": [f"2024-01-{i + 10}" for i in range(N)],
    "empty": [None] * N,
}
COLUMNS = {"code": "id", "day": "date", "empty": "drop", "price": "number", "year": "category"}


@pytest.fixture(scope="module")
def model() -> BHMC:
    return BHMC(columns=COLUMNS, **QUICK).fit(pd.DataFrame(TABLE))


def test_what_columns_were_taken_for(model):
    assert {one.name: (one.kind, one.use) for one in model.column_plan_.columns} == {
        "code": ("id", "id"),
        "width": ("number", "number"),
        "price": ("currency", "number"),
        "year": ("category", "category"),
        "paid": ("truth", "truth"),
        "day": ("date", "date"),
        "empty": ("dropped", "drop"),
    }
    families = {one.name: one.family for one in model.column_plan_.columns}
    assert families["paid"] == "Bernoulli"
    assert families["year"] == "Categorical"
    assert families["code"] == ""
    assert model.item_names_.tolist() == [str(code) for code in TABLE["code"]]
    assert model.feature_names_.tolist() == ["width", "price", "year", "paid", "day"]
    assert model.n_features_in_ == 7
    assert model.categories_ == {"year": [2007, 2008, 2009]}
    assert "currency (" in str(model.column_plan_)
    assert model.column_plan_.to_frame().shape == (7, 6)


def test_values_are_those_of_the_table(model):
    means = dict(zip(model.tree_.feature_names, model.tree_.feature_means, strict=True))
    assert means["price"] == pytest.approx(np.mean([float(x[1:]) for x in TABLE["price"]]))
    assert means["paid"] == 0.5
    assert means["day"] == pytest.approx(19732 + 5.5)  # 2024-01-10 is day 19732


def test_columns_survive_clone_save_load_and_pickle(model, tmp_path):
    X = pd.DataFrame(TABLE)
    model.save(tmp_path / "m.bhmc")
    for copy in (BHMC.load(tmp_path / "m.bhmc"), pickle.loads(pickle.dumps(model))):
        assert copy.columns == COLUMNS
        assert copy.column_plan_ == model.column_plan_
        np.testing.assert_array_equal(copy.predict_proba(X), model.predict_proba(X))
    assert clone(model).columns == COLUMNS
    refitted = clone(model).fit(X)
    np.testing.assert_array_equal(refitted.labels_, model.labels_)


def test_predict_reads_as_fit_did(model):
    X = pd.DataFrame(TABLE)
    plain = X.assign(price=[float(x[1:]) for x in TABLE["price"]], paid=[1, 0] * 6)
    np.testing.assert_array_equal(model.score_samples(plain), model.score_samples(X))
    with pytest.raises(ValueError, match=r"the text '\$3' in column 2 \('price'\), row 0"):
        model.predict(X.assign(price=["$3"] * N))
    with pytest.raises(ValueError, match=r"'maybe' in column 4 \('paid'\), row 0"):
        model.predict(X.assign(paid=["maybe"] * N))


@pytest.mark.parametrize("package", ["polars", "pyarrow", "duckdb"])
def test_any_arrow_table_and_frames_come_back_as_given(model, package):
    frame = pl.DataFrame(TABLE)
    table = frame.to_arrow() if package != "polars" else frame
    given = duckdb.from_arrow(table) if package == "duckdb" else table
    other = BHMC(columns=COLUMNS, **QUICK).fit(given)
    np.testing.assert_array_equal(other.labels_, model.labels_)
    np.testing.assert_array_equal(other.predict(given), model.predict(pd.DataFrame(TABLE)))
    assert type(other.sample(2, random_state=0)) is (
        pl.DataFrame if package == "polars" else pa.Table
    )
    assert type(model.sample(2, random_state=0)) is pd.DataFrame


def test_arrow_tables_need_a_reader(monkeypatch):
    import sys

    table = pa.table({"a": [1.0, 2.0]})
    for package in ("polars", "pandas", "pyarrow"):
        monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match="install polars"):
        BHMC(**QUICK).fit(table)


def test_pandas_strings_and_nullable_types():
    X = pd.DataFrame(
        {
            "c": pd.Series(["a", "b", None] * 4, dtype="str"),
            "n": pd.Series([1.5, None, 3.5] * 4, dtype="Float64"),
            "t": pd.Series(["yes", None, "no"] * 4, dtype="string"),
            "a": pd.Series([3, None, 5] * 4, dtype="Int64"),
        }
    )
    plan = BHMC(**QUICK).fit(X).column_plan_
    assert [one.kind for one in plan.columns] == ["category", "number", "truth", "whole number"]


def test_what_the_rules_do_is_said():
    X = pd.DataFrame({"id": range(N), "year": [2007, 2008, 2009] * 4, "w": WIDTH})
    with pytest.warns(UserWarning, match="column 'id' is called an id.*column 'year' holds 3") as w:
        model = BHMC(**QUICK).fit(X)
    assert w[0].filename == __file__
    assert model.column_plan_.names == ["year", "w"]
    assert model.item_names_[3] == "3"
    asked = BHMC(columns={"id": "number", "year": "number"}, **QUICK).fit(X)
    assert asked.column_plan_.names == ["id", "year", "w"]
    assert not hasattr(asked, "item_names_")
    named = BHMC(likelihood="gaussian", transition="hdp", **QUICK).fit(X)  # a family for all
    assert named.tree_.theta.shape[1] == 2 * 3


def test_an_index_of_numbers_names_rows_when_asked():
    X = pd.DataFrame({"w": WIDTH}, index=np.arange(N) * 10)
    assert not hasattr(BHMC(**QUICK).fit(X), "item_names_")
    assert BHMC(columns={"index": "id"}, **QUICK).fit(X).item_names_[2] == "20"
    X.index.name = "animal"
    assert BHMC(columns={"animal": "id"}, **QUICK).fit(X).item_names_[2] == "20"


def test_feature_names_of_arrays_and_sparse_matrices():
    counts = RNG.poisson(1.0, size=(N, 4))
    words = ["ant", "bee", "cow", "dog"]
    for X in (counts.astype(float), sparse.csr_array(counts)):
        model = BHMC(**QUICK).fit(X, feature_names=np.array(words))
        assert model.tree_.feature_names.tolist() == words
        assert model.feature_names_.tolist() == words
        assert not hasattr(model, "feature_names_in_")
        model.predict(X)  # without a warning of names


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (["a"], "feature_names has 1 names, but X has 2 columns"),
        (["a", "a"], "'a' twice"),
        ([1, 2], "must be text, got 1"),
    ],
)
def test_wrong_feature_names(names, words):
    with pytest.raises((TypeError, ValueError), match=words):
        BHMC(**QUICK).fit(np.ones((3, 2)), feature_names=names)
    with pytest.raises(ValueError, match="names of its own"):
        BHMC(**QUICK).fit(pd.DataFrame({"a": WIDTH}), feature_names=["b"])


def test_columns_of_an_array_by_number():
    X = np.column_stack([WIDTH, np.tile([1.0, 2.0, 3.0], 4), np.arange(N)])
    model = BHMC(columns={1: "category", 2: "drop"}, **QUICK).fit(X)
    assert model.categories_ == {1: [1, 2, 3]}
    assert model.column_plan_.fitted == [0, 1]
    assert model.predict(X).shape == (N,)
    with pytest.raises(TypeError, match="this X is sparse"):
        BHMC(columns={1: "category"}, **QUICK).fit(sparse.csr_array(X))


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ("year", "columns must be a dict"),
        ({"year": "years"}, r"columns\['year'\] is 'years'; choose one of 'number'"),
        ({"yaer": "number"}, "columns has 'yaer', which is no column of X"),
        (dict.fromkeys(TABLE, "drop"), "no column left to fit"),
    ],
)
def test_wrong_columns(columns, words):
    with pytest.raises((TypeError, ValueError), match=words):
        BHMC(columns=columns, **QUICK).fit(pd.DataFrame(TABLE))


def test_a_family_that_cannot_take_a_category():
    with pytest.raises(ValueError, match="'category' for 'year', which this likelihood cannot"):
        BHMC(columns={"year": "category"}, likelihood="gaussian", **QUICK).fit(
            pd.DataFrame({"year": [1, 2] * 6, "w": WIDTH})
        )


def test_whole_numbers_that_doubles_would_round():
    large = [2**53 + 1, 2**53 + 3] * 6
    with pytest.raises(ValueError, match=r"9007199254740993 in column 0, row 0; doubles would"):
        BHMC(**QUICK).fit(np.array(large)[:, None])
    with pytest.raises(ValueError, match=r"in column 0 \('n'\), row 0; whole numbers beyond"):
        BHMC(**QUICK).fit(pd.DataFrame({"n": large, "w": WIDTH}))
