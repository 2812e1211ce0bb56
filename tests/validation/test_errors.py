"""Errors about entries carry row, column, value and need; sentences are made from these alone."""

import pickle

import numpy as np
import pytest
from scipy import sparse

from bhmc import BHMC, baselines
from bhmc._validation.errors import EntryError, WrongEntryError, WrongTypeError, naming_columns
from bhmc._validation.reading import read_data
from bhmc.likelihoods import Product
from tests.validation.tools import GOOD, framed, put


def error_of(X, **options) -> EntryError:
    with pytest.raises(EntryError) as caught:
        read_data(X, **options)
    return caught.value


@pytest.mark.parametrize(
    ("X", "kind", "value", "row", "need"),
    [
        (put(np.inf), WrongEntryError, np.inf, 4, "values must be finite numbers"),
        (put(-1e200), WrongEntryError, -1e200, 4, "values must be within 1e150"),
        (put("red", dtype=object), WrongEntryError, "red", 4, "values must be numbers"),
        (put(1 + 2j, dtype=complex), WrongEntryError, 1 + 2j, 4, "real numbers"),
        (put({}, dtype=object), WrongTypeError, {}, 4, "free of strings"),
        (put(np.datetime64("2020"), dtype="M8[D]"), WrongTypeError, "dates or times", None, "days"),
    ],
    ids=["inf", "large", "text", "complex", "object", "dates"],
)
def test_an_error_carries_its_place(X, kind, value, row, need):
    if row is not None:
        plain = error_of(X)
        assert (type(plain), plain.column, plain.names) == (kind, 1, None)
        assert (plain.row, plain.value) == (row, value)
    named = error_of(framed(GOOD).assign(colour=X[:, 1]))
    assert (type(named), named.row, named.value) == (kind, row, value)
    assert need in named.need
    assert named.names[named.column] == "colour"
    assert "column 1 ('colour')" + ("; " if row is None else ", row 4; ") in str(named)


def test_missing_and_sparse_entries_have_a_place():
    hole = error_of(put(np.nan))
    assert (hole.row, hole.column) == (4, 1)
    assert "NaN (a missing value)" in str(hole)
    wrong = error_of(sparse.csc_array(put(np.inf, row=2)), allow_sparse=True)
    assert (wrong.row, wrong.column, wrong.value) == (2, 1, np.inf)


def test_a_column_of_a_part_is_named_as_a_column_of_the_whole():
    X = np.column_stack([GOOD, np.tile([0.0, 1.0, 0.5], 2)])
    likelihood = Product([("gaussian", [0]), ("bernoulli", [2]), ("gaussian", [1])])
    with pytest.raises(WrongEntryError) as caught:
        BHMC(likelihood=likelihood).fit(framed(X, ("a", "b", "c")))
    error = caught.value
    assert (error.row, error.column, error.value) == (2, 2, 0.5)
    assert "column 2 ('c'), row 2" in str(error)


def test_naming_columns_is_setting_an_attribute():
    with pytest.raises(WrongEntryError) as caught, naming_columns(["a", "it's"]):
        raise WrongEntryError(3.0, 7, 1, "be small")
    assert str(caught.value) == """X has 3 in column 1 ("it's"), row 7; be small."""
    assert caught.value.sentence("zoo.csv", "line 9") == "zoo.csv has 3 in line 9; be small."


def test_errors_come_back_from_other_processes():
    error = WrongTypeError([1], 7, 1, "be a number", names=["a", "b"])
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), vars(again)) == (WrongTypeError, str(error), vars(error))


@pytest.mark.parametrize("make", [BHMC, baselines.Ward, baselines.Perch, baselines.PYDT])
def test_every_estimator_reads_by_the_same_path(make):
    with pytest.raises(WrongEntryError, match=r"X has inf in column 1 \('colour'\), row 4; "):
        make().fit(framed(put(np.inf)))
