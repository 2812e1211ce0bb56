"""Frames of pandas and of polars: a family for every column, by its type and values."""

import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest

from bhmc import BHMC
from bhmc._validation.frames import is_frame, read_frame
from bhmc.datasets import load_zoo
from bhmc.likelihoods import AdaptiveGaussian, Bernoulli, Categorical, Poisson, Product
from tests.estimator.test_estimator import assert_same_fit

# The families named here are those that "hdp" takes for numbers.
QUICK = {"transition": "hdp", "n_warmup": 4, "n_draws": 4, "n_chains": 1, "random_state": 0}
N = 12
WIDTH = np.random.default_rng(0).normal(size=N) + np.repeat([0.0, 9.0], 6)
COLOUR = ["red", "green", "blue", "green"] * 3
BOTH = pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])


def fit(X, **settings):
    return BHMC(**{**QUICK, **settings}).fit(X)


def families(X, **settings):
    """What each column got, by name."""
    model = fit(X, **settings)
    likelihood = model.likelihood_
    names = list(X.columns)
    if not isinstance(likelihood, Product):
        return dict.fromkeys(names, type(likelihood))
    pairs = zip(likelihood.families, likelihood.columns(len(names)), strict=True)
    return {names[j]: type(family) for family, own in pairs for j in own}


def with_gap(values, at=2):
    return [None if i == at else value for i, value in enumerate(values)]


# ---- The family of every column ----


@BOTH
def test_mixed_columns(frame):
    legs = [2, 4, 8] * 4
    X = frame({"width": WIDTH, "wild": [True, False] * 6, "colour": COLOUR, "legs": legs})
    model = fit(X)
    assert model.likelihood_.describe() == (
        "AdaptiveGaussian for 'width', 'legs'; Bernoulli for 'wild'; Categorical for 'colour'"
    )
    assert model.categories_ == {"colour": ["blue", "green", "red"]}
    assert model.feature_names_in_.tolist() == ["width", "wild", "colour", "legs"]
    assert model.n_features_in_ == 4
    assert model.tree_.theta.shape[1] == 2 * 2 + 1 + 3


PANDAS_COLUMNS = {
    "float": (pd.Series(WIDTH), AdaptiveGaussian),
    "float with gaps": (pd.Series(with_gap(WIDTH)), AdaptiveGaussian),
    "int": (pd.Series(range(N))[::-1].reset_index(drop=True), AdaptiveGaussian),
    "Int64": (pd.Series(with_gap(range(N)), dtype="Int64"), AdaptiveGaussian),
    "Float64": (pd.Series(with_gap(WIDTH), dtype="Float64"), AdaptiveGaussian),
    "numbers as objects": (pd.Series(with_gap(WIDTH), dtype=object), AdaptiveGaussian),
    "bool": (pd.Series([True, False] * 6), Bernoulli),
    "bool, all true": (pd.Series([True] * N), Bernoulli),
    "boolean": (pd.Series(with_gap([True, False] * 6), dtype="boolean"), Bernoulli),
    "truths as objects": (pd.Series(with_gap([True, False] * 6), dtype=object), Bernoulli),
    "0 and 1": (pd.Series([0, 1] * 6), Bernoulli),
    "0.0 and 1.0 with gaps": (pd.Series(with_gap([0.0, 1.0] * 6)), Bernoulli),
    "Int64 0 and 1": (pd.Series(with_gap([0, 1] * 6), dtype="Int64"), Bernoulli),
    "all 0": (pd.Series([0] * N), AdaptiveGaussian),
    "constant": (pd.Series([7.5] * N), AdaptiveGaussian),
    "text": (pd.Series(with_gap(COLOUR)), Categorical),
    "text as objects": (pd.Series(with_gap(COLOUR), dtype=object), Categorical),
    "string": (pd.Series(with_gap(COLOUR), dtype="string"), Categorical),
    "category": (pd.Series(with_gap(COLOUR), dtype="category"), Categorical),
    "category of numbers": (pd.Series(with_gap([10, 20, 30] * 4), dtype="category"), Categorical),
    "one category": (pd.Series(["red"] * N), Categorical),
}


@pytest.mark.parametrize(("column", "kind"), PANDAS_COLUMNS.values(), ids=PANDAS_COLUMNS)
def test_pandas_columns(column, kind):
    assert families(pd.DataFrame({"x": column, "width": WIDTH[::-1]})) == {
        "x": kind,
        "width": AdaptiveGaussian,
    }


POLARS_COLUMNS = {
    "Float64": (pl.Series(with_gap(WIDTH)), AdaptiveGaussian),
    "Float32": (pl.Series(WIDTH, dtype=pl.Float32), AdaptiveGaussian),
    "Int64": (pl.Series(with_gap(range(N))), AdaptiveGaussian),
    "UInt8": (pl.Series(range(N), dtype=pl.UInt8).reverse(), AdaptiveGaussian),
    "Decimal": (pl.Series(WIDTH).cast(pl.Decimal(10, 3)), AdaptiveGaussian),
    "Boolean": (pl.Series(with_gap([True, False] * 6)), Bernoulli),
    "0 and 1": (pl.Series(with_gap([0, 1] * 6)), Bernoulli),
    "String": (pl.Series(with_gap(COLOUR)), Categorical),
    "Categorical": (pl.Series(with_gap(COLOUR), dtype=pl.Categorical), Categorical),
    "Enum": (pl.Series(with_gap(COLOUR), dtype=pl.Enum(["red", "green", "blue"])), Categorical),
    "Object of numbers": (pl.Series(list(WIDTH), dtype=pl.Object), AdaptiveGaussian),
}


@pytest.mark.parametrize(("column", "kind"), POLARS_COLUMNS.values(), ids=POLARS_COLUMNS)
def test_polars_columns(column, kind):
    assert families(pl.DataFrame({"x": column, "width": WIDTH[::-1]})) == {
        "x": kind,
        "width": AdaptiveGaussian,
    }


@pytest.mark.parametrize(
    "column",
    [
        pd.Series([np.nan] * N),
        pd.Series([None] * N, dtype=object),
        pl.Series([None] * N),
        pl.Series([None] * N, dtype=pl.String),
        pl.Series([None] * N, dtype=pl.Boolean),
    ],
)
def test_empty_columns_are_left_out(column):
    frame = pl.DataFrame if isinstance(column, pl.Series) else pd.DataFrame
    with pytest.warns(UserWarning, match="column 'x' is empty, so it is not fitted"):
        model = fit(frame({"x": column, "width": WIDTH[::-1]}))
    assert model.column_plan_.names == ["width"]
    assert model.n_features_in_ == 2


@BOTH
def test_columns_of_0_and_1_are_judged_together(frame):
    """As in an array: a column that is all 0 goes with the others, but not with numbers alone."""
    bits = {"a": [0, 1] * 6, "b": [0] * N}
    assert type(fit(frame(bits)).likelihood_) is Bernoulli
    assert families(frame({**bits, "w": WIDTH}))["b"] is Bernoulli
    assert type(fit(frame({"b": [0] * N, "w": WIDTH})).likelihood_) is AdaptiveGaussian


# ---- One family for all columns changes nothing ----


@BOTH
def test_plain_frames_fit_as_arrays_do(frame):
    numbers = np.column_stack([WIDTH, WIDTH[::-1] ** 2])
    bits = (numbers > 1).astype(int)
    for data in (numbers, bits, bits.astype(bool)):
        named = frame({"a": data[:, 0], "b": data[:, 1]})
        model = fit(named)
        assert_same_fit(model, fit(data))
        assert model.categories_ == {}
        assert not isinstance(model.likelihood_, Product)
    holed = numbers.copy()
    holed[3, 0] = np.nan
    assert_same_fit(fit(frame({"a": with_gap(WIDTH, 3), "b": numbers[:, 1]})), fit(holed))


PROFILES = ("feature_names", "component_means", "feature_means", "feature_scales")


@BOTH
def test_text_fits_as_its_codes_do(frame):
    X = frame({"colour": with_gap(COLOUR), "size": ["S", "L"] * 6})
    codes = np.column_stack([np.tile([2.0, 1.0, 0.0, 1.0], 3), np.tile([1.0, 0.0], 6)])
    codes[2, 0] = np.nan
    for likelihood in ("auto", "categorical", Categorical()):
        model = fit(X, likelihood=likelihood)
        assert type(model.likelihood_) is Categorical
        # Of text every category is a feature of the tree; of codes the column is.
        assert_same_fit(model, fit(codes, likelihood="categorical"), besides=PROFILES)
        names = ["colour=blue", "colour=green", "colour=red", "size=L", "size=S"]
        assert model.tree_.feature_names.tolist() == names
        assert model.categories_ == {"colour": ["blue", "green", "red"], "size": ["L", "S"]}


def test_pandas_and_polars_give_the_same_fit():
    data = {"w": with_gap(WIDTH), "c": with_gap(COLOUR, 5), "b": with_gap([True, False] * 6, 1)}
    assert_same_fit(fit(pd.DataFrame(data)), fit(pl.DataFrame(data)))


# ---- Categories ----


def test_declared_order_is_kept_and_what_is_not_seen_is_left_out():
    order = ["small", "middle", "large", "huge"]
    sizes = ["large", "small", "middle", "small"] * 3
    for X in (
        pd.DataFrame({"size": pd.Categorical(sizes, categories=order, ordered=True)}),
        pl.DataFrame({"size": pl.Series(sizes, dtype=pl.Enum(order))}),
    ):
        model = fit(X)
        assert model.categories_ == {"size": ["small", "middle", "large"]}
        assert model.tree_.theta.shape[1] == 3


def test_columns_without_names_are_known_by_number():
    X = pd.DataFrame({0: WIDTH, 1: COLOUR})
    model = fit(X)
    assert model.categories_ == {1: ["blue", "green", "red"]}
    assert model.likelihood_.describe() == "AdaptiveGaussian for 0; Categorical for 1"
    twice = pd.DataFrame({"a": WIDTH, "b": COLOUR}).set_axis(["a", "a"], axis=1)
    matrix, columns = read_frame(twice, range(2))
    np.testing.assert_array_equal(matrix[:, 0], WIDTH)
    assert columns.categories == {1: ["blue", "green", "red"]}


def test_a_second_fit_forgets_the_categories():
    model = fit(pd.DataFrame({"colour": COLOUR, "w": WIDTH}))
    assert model.categories_
    assert model.fit(WIDTH[:, None]).categories_ == {}


# ---- A family named by the user ----


@BOTH
def test_a_product_by_names_of_columns(frame):
    X = frame({"width": WIDTH, "eggs": range(12), "colour": COLOUR})
    product = Product([("gaussian", "width"), (Poisson(2.0), ["eggs"]), ("categorical", "colour")])
    model = fit(X, likelihood=product)
    assert model.likelihood_.describe() == (
        "AdaptiveGaussian for 'width'; Poisson for 'eggs'; Categorical for 'colour'"
    )
    assert model.categories_ == {"colour": ["blue", "green", "red"]}
    by_number = Product([("gaussian", 0), (Poisson(2.0), [1]), ("categorical", 2)])
    assert_same_fit(model, fit(X, likelihood=by_number))
    assert product.names is None
    with pytest.raises(ValueError, match="the column name 'width', but no names of columns"):
        fit(np.ones((4, 3)), likelihood=product)
    with pytest.raises(ValueError, match="has the column name 'eggs', which X does not have"):
        fit(frame({"width": WIDTH, "legs": WIDTH, "colour": COLOUR}), likelihood=product)
    with pytest.raises(ValueError, match=r"^X has 0\.5 in column 1 \('eggs'\), row 0; the Poisson"):
        fit(frame({"width": WIDTH, "eggs": [0.5] * N, "colour": COLOUR}), likelihood=product)


@BOTH
def test_a_product_takes_names_of_rows_if_told_to(frame):
    names = [f"animal {i}" for i in range(N)]
    product = Product([("gaussian", "w"), ("categorical", "name")])
    model = fit(frame({"w": WIDTH, "name": names}), likelihood=product)
    assert len(model.categories_["name"]) == N


# ---- What is refused ----


def refused(X, error, words, **settings):
    with pytest.raises(error, match=words) as caught:
        fit(X, **settings)
    message = str(caught.value)
    assert message.endswith(".")
    assert len(message) < 200


@BOTH
def test_columns_that_auto_refuses(frame):
    many = [f"text {i // 2}" for i in range(202)]
    refused(
        frame({"w": np.arange(202.0), "name": many}),
        ValueError,
        r"^X has 101 different values in column 1 \('name'\); at most 100 are taken",
    )
    assert families(frame({"w": np.arange(202.0), "name": many}).head(200))["name"] is Categorical
    with pytest.warns(UserWarning, match="column 'name' is text that differs in every row"):
        model = fit(frame({"w": WIDTH, "name": [f"animal {i}" for i in range(N)]}))
    assert model.item_names_[3] == "animal 3"
    for times in (
        pd.date_range("2020-01-01", periods=N).to_pydatetime().tolist(),
        [t.date() for t in pd.date_range("2020-01-01", periods=N)],
        [pd.Timedelta(i, "s").to_pytimedelta() for i in range(N)],
    ):
        X = frame({"w": WIDTH, "when": times})
        words = r"^X has (dates or times|a date) in column 1 \('when'\)"
        refused(X, TypeError, words)
        refused(X, TypeError, words, likelihood="categorical")
    refused(
        frame({"w": [*WIDTH[:-1], np.inf], "c": COLOUR}),
        ValueError,
        r"inf in column 0 \('w'\), row",
    )
    refused(frame({"w": WIDTH[:1], "c": COLOUR[:1]}), ValueError, r"^X has 1 sample")
    refused(frame({}), ValueError, r"minimum of \d is required")


def test_objects_that_auto_refuses():
    mixed = pd.DataFrame({"w": WIDTH, "c": [*COLOUR[:-1], 3.5]}, dtype=object)
    refused(
        mixed,
        ValueError,
        r"both text such as 'red' and other values such as 3\.5 in column 1 \('c'\)",
    )
    for thing, error in (({}, TypeError), (b"red", ValueError), (1 + 2j, TypeError)):
        X = pd.DataFrame({"w": WIDTH, "c": pd.Series([1.0] * 11 + [thing], dtype=object)})
        refused(X, error, r"in column 1 \('c'\), row 11")
    zoned = pd.date_range("2020-01-01", periods=N, tz="UTC")
    refused(pd.DataFrame({"w": WIDTH, "when": zoned}), TypeError, "dates or times in column 1")
    complex_ = pd.DataFrame({"w": WIDTH, "c": WIDTH * 1j})
    refused(
        complex_, ValueError, r"^X has .* in column 1 \('c'\), row 0; .*Complex data not supported"
    )


@BOTH
def test_text_is_refused_by_families_of_numbers(frame):
    for likelihood in ("gaussian", "bernoulli", Product([("gaussian", [0, 1])])):
        refused(
            frame({"w": WIDTH, "c": COLOUR}),
            ValueError,
            r"^X has the text 'red' in column 1 \('c'\), row 0; values must be numbers\.$",
            likelihood=likelihood,
        )


def test_arrays_of_text_are_refused_as_before():
    for X in (np.array([["a"], ["b"]]), np.array([["a"], ["b"]], dtype=object), [["a"], ["b"]]):
        refused(X, ValueError, r"^X has the text 'a' in column 0, row 0; values must be numbers\.$")


# ---- Without pandas and polars ----

_STAND_IN = """
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("pandas", "polars"):
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Absent())
import numpy as np
from bhmc import BHMC

class Column(list):
    dtype = "string"

class Frame:
    columns, dtypes, shape = ["w", "c"], [np.dtype(float), "string"], (6, 2)
    def __getitem__(self, place):
        _, j = place
        return np.arange(6.0) if j == 0 else Column("aabbab")

assert "pandas" not in sys.modules
model = BHMC(n_warmup=1, n_draws=1, n_chains=1, random_state=0).fit(np.arange(6.0)[:, None])
from bhmc._validation.frames import is_frame, read_frame
assert is_frame(Frame()) and not is_frame(np.ones((2, 2))) and not is_frame([[1]])
matrix, columns = read_frame(Frame(), range(2), most=100)
assert matrix[:, 1].tolist() == [0, 0, 1, 1, 0, 1], matrix
assert columns.categories == {1: ["a", "b"]}
"""


def test_neither_package_is_needed():
    done = subprocess.run([sys.executable, "-c", _STAND_IN], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_what_is_a_frame():
    assert is_frame(pd.DataFrame({"a": [1]}))
    assert is_frame(pl.DataFrame({"a": [1]}))
    for other in (pd.Series([1]), pl.Series([1]), np.ones((1, 1)), pl.LazyFrame({"a": [1]}), None):
        assert not is_frame(other)


def test_zoo_as_a_frame():
    """15 columns of 0 and 1 and the number of legs: a family for each kind."""
    X = load_zoo(as_frame=True).data
    assert families(X) == {
        name: AdaptiveGaussian if name == "legs" else Bernoulli for name in X.columns
    }
