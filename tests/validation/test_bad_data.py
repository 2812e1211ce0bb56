"""Bad data: one clear sentence that names the column and the row, before any work."""

import re

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from bhmc.likelihoods import Gaussian
from tests.validation.tools import (
    GOOD,
    ON_DATA,
    fit,
    framed,
    log_joint,
    no_work,
    put,
    refused,
    sample_prior,
    sweep,
)

__all__ = ["no_work"]  # a fixture of every test here


def test_the_alarm_itself():
    """Good input reaches the exploding work, so a refusal before it means something."""
    for call in (fit(), sweep(), sample_prior()):
        with pytest.raises(AssertionError, match="work was done"):
            call()
    assert np.isfinite(log_joint()())
    for message in ("Two. Sentences.", "no full stop", "two\nlines."):
        with pytest.raises(AssertionError):
            refused(lambda message=message: int(message), ValueError)


@pytest.mark.parametrize("entry", ON_DATA)
@pytest.mark.parametrize(
    ("value", "word", "rule"),
    [
        (np.nan, "NaN", "cannot skip"),
        (np.inf, "inf", "finite"),
        (-np.inf, "-inf", "finite"),
        (1.5e150, "1.5e+150", "1e150"),
        (-1e200, "-1e+200", "1e150"),
    ],
)
def test_values_that_are_no_use(entry, value, word, rule):
    X = put(value)
    refused(entry(X), ValueError, "X", word, "column 1, row 4", rule)
    refused(entry(X.tolist()), ValueError, word, "column 1, row 4", rule)
    refused(entry(X.astype(object)), ValueError, word, "column 1, row 4", rule)
    refused(entry(framed(X)), ValueError, word, "column 1 ('colour'), row 4", rule)


@pytest.mark.parametrize("entry", ON_DATA)
def test_the_first_bad_column_is_named(entry):
    X = put(np.nan, row=5, column=1)
    X[3, 0] = np.inf
    refused(entry(X), ValueError, "inf", "column 0, row 3")


@pytest.mark.parametrize("entry", ON_DATA)
def test_the_largest_value_is_fine(entry):
    wide = {"likelihood": Gaussian(sigma2=1e200, sigma0=1e200)}
    if entry is log_joint:
        assert np.isfinite(entry(put(1e150), **wide)())
    else:
        with pytest.raises(AssertionError, match="work was done"):
            entry(put(1e150), **wide)()


@pytest.mark.parametrize("entry", ON_DATA)
@pytest.mark.parametrize("missing", [None, pd.NA, pd.NaT], ids=str)
def test_missing_values(entry, missing):
    X = put(missing, dtype=object)
    refused(entry(X), ValueError, "NaN (a missing value)", "column 1, row 4")
    refused(entry(framed(X)), ValueError, "NaN", "column 1 ('colour'), row 4")


@pytest.mark.parametrize("entry", ON_DATA)
def test_a_masked_value_is_missing(entry):
    X = np.ma.masked_array(GOOD, mask=np.arange(12).reshape(6, 2) == 9)
    refused(entry(X), ValueError, "NaN", "column 1, row 4")


@pytest.mark.parametrize("entry", ON_DATA)
@pytest.mark.parametrize("dtype", ["Int64", "Float64", "boolean"])
def test_missing_values_of_pandas_types(entry, dtype):
    frame = pd.DataFrame({"a": GOOD[:, 0], "b": pd.array([1, 1, None, 1, 0, 1], dtype=dtype)})
    refused(entry(frame), ValueError, "NaN", "column 1 ('b'), row 2")


@pytest.mark.parametrize("entry", ON_DATA)
@pytest.mark.parametrize("text", ["red", "", b"red", "1,5", "1.5"])
def test_text(entry, text):
    X = put(text, dtype=object)
    shown = f"the text {text!r}"
    refused(entry(X), ValueError, "X", shown, "column 1, row 4", "numbers")
    refused(entry(X.tolist()), ValueError, shown, "column 1, row 4")
    refused(entry(framed(X)), ValueError, shown, "column 1 ('colour'), row 4")


@pytest.mark.parametrize("entry", ON_DATA)
def test_text_among_numbers_that_numpy_made_text(entry):
    X = np.array([[1.5, "red"]] * 6)
    assert X.dtype.kind == "U"
    refused(entry(X), ValueError, "the text 'red'", "column 1, row 0")
    refused(entry(np.array([["1", "2"]] * 6)), ValueError, "the text '1'", "column 0, row 0")
    refused(entry(np.array([[b"1", b"x"]] * 6)), ValueError, "the text b'x'", "column 1, row 0")


@pytest.mark.parametrize("entry", ON_DATA)
@pytest.mark.parametrize("dtype", ["str", "category", "string", object])
def test_text_columns_of_a_frame(entry, dtype):
    frame = pd.DataFrame({"height": GOOD[:, 0], "colour": pd.Series(["red"] * 6, dtype=dtype)})
    refused(entry(frame), ValueError, "the text 'red'", "column 1 ('colour'), row 0")
    spelled = frame.assign(colour=pd.Series(["1"] * 6, dtype=dtype))
    refused(entry(spelled), ValueError, "the text '1'", "column 1 ('colour'), row 0")


@pytest.mark.parametrize("entry", ON_DATA)
@pytest.mark.parametrize("thing", [{"a": 1}, object(), pd.Timestamp("2020-01-01"), []])
def test_things_that_are_not_numbers(entry, thing):
    X = GOOD.astype(object)
    X[4, 1] = thing
    kind = type(thing).__name__
    refused(entry(X), TypeError, "X", kind, "column 1, row 4", "numbers")
    refused(entry(framed(X)), TypeError, kind, "column 1 ('colour'), row 4")


@pytest.mark.parametrize(
    ("likelihood", "needs"),
    [
        ("bernoulli", "the Bernoulli family needs 0 or 1"),
        ("categorical", "the Categorical family needs whole numbers from 0 to 65535"),
        ("poisson", "the Poisson family needs whole numbers from 0 to 1e+12"),
        ("multinomial", "the Multinomial family needs whole numbers from 0 to 1e+12"),
    ],
)
@pytest.mark.parametrize("value", [-5.0, 0.5, 1e140])
def test_entries_are_named_before_settings_taken_from_them(likelihood, needs, value):
    """Scales taken from wrong entries are wrong too: the entries are what to name."""
    X = put(value, like=np.tile([0.0, 1.0], (6, 1)))
    shown = f"X has {value:.15g} in column 1{{}}, row 4; {needs}."
    cases = [(X, ""), (framed(X), " ('colour')")]
    if likelihood == "multinomial":
        cases.append((sparse.csr_array(X), ""))
    for data, name in cases:
        with pytest.raises(ValueError, match=rf"^{re.escape(shown.format(name))}$"):
            fit(data, likelihood=likelihood)()


@pytest.mark.parametrize("entry", ON_DATA)
def test_dates_and_times(entry):
    for dtype in ("M8[D]", "M8[ns]", "m8[s]"):
        X = np.arange(12).reshape(6, 2).astype(dtype)
        refused(entry(X), TypeError, "X", "dates or times")
        refused(entry(pd.DataFrame(X)), TypeError, "X", "dates or times")
    frame = pd.DataFrame({"a": GOOD[:, 0], "when": pd.date_range("2020-01-01", periods=6)})
    refused(entry(frame), TypeError, "dates or times", "column 1 ('when')")


@pytest.mark.parametrize("entry", ON_DATA)
def test_complex(entry):
    said = "Complex data not supported"
    X = put(1 + 2j, dtype=complex)
    for kind in (X, X.astype(np.complex64), X.tolist()):
        refused(entry(kind), ValueError, said, "X has 1+2j in column 1, row 4")
    frame = framed(GOOD).assign(colour=X[:, 1])
    refused(entry(frame), ValueError, said, "X has 1+2j in column 1 ('colour'), row 4")
    refused(entry(GOOD + 0j), ValueError, said, "column 0, row 0")
    refused(entry(put(1j, dtype=object)), TypeError, "X has a complex in column 1, row 4")


@pytest.mark.parametrize("entry", ON_DATA)
@pytest.mark.parametrize(
    "make", [sparse.csr_matrix, sparse.csr_array, sparse.coo_array, sparse.csc_matrix]
)
def test_sparse(entry, make):
    refused(entry(make(GOOD)), TypeError, "X is sparse", "X.toarray()")


@pytest.mark.parametrize("entry", ON_DATA)
@pytest.mark.parametrize(
    ("X", "shape"),
    [
        (GOOD[:, 0], "(6,)"),
        (GOOD[:, 0].tolist(), "(6,)"),
        (pd.Series(GOOD[:, 0]), "(6,)"),
        (3.0, "()"),
        (None, "()"),
        ("animals.csv", "()"),
        ({"a": [1, 2]}, "()"),
        (GOOD[None], "(1, 6, 2)"),
    ],
    ids=lambda value: str(value)[:12],
)
def test_not_a_matrix(entry, X, shape):
    refused(entry(X), ValueError, "X must be a matrix of rows and columns", f"shape {shape}")


@pytest.mark.parametrize("entry", ON_DATA)
def test_ragged_rows(entry):
    for X in ([[1.0, 2.0], [3.0]], [[1.0], [2.0, "red"]], [[1.0, [2.0]], [3.0, 4.0]]):
        refused(entry(X), ValueError, "X must be a matrix, got rows of different lengths")


@pytest.mark.parametrize("entry", ON_DATA)
def test_no_columns_and_no_rows(entry):
    refused(entry(GOOD[:, :0]), ValueError, "X has 0 feature(s) (shape=(6, 0))", "minimum of 1")
    refused(entry(GOOD[:0]), ValueError, "X has 0 sample(s) (shape=(0, 2))", "minimum of")
    refused(entry(pd.DataFrame()), ValueError, "X has 0 sample(s)")


def test_one_row():
    """A hierarchy needs two rows; the functional layer takes one, for tests at n = 1."""
    refused(fit(GOOD[:1]), ValueError, "X has 1 sample(s) (shape=(1, 2))", "minimum of 2")


def test_column_names_of_two_kinds():
    frame = pd.DataFrame({"a": GOOD[:, 0], 3: GOOD[:, 1]})
    refused(fit(frame), TypeError, "X has column names", "int and str", "strings")


def test_a_number_too_long_for_a_double():
    refused(fit([[10**400, 1], [1, 2]]), ValueError, "inf", "column 0, row 0")
    X = GOOD.astype(np.longdouble)
    X[4, 1] = np.longdouble("1e2000")
    refused(fit(X), ValueError, "inf", "column 1, row 4")


@pytest.mark.parametrize("entry", ON_DATA)
def test_data_too_far_from_the_prior(entry):
    for likelihood in (Gaussian(sigma2=1e-300), Gaussian(mu0=1e155)):
        refused(entry(GOOD * 1e10, likelihood=likelihood), ValueError, "X", "mu0", "sigma2")
