"""Bad input: one clear sentence that names the parameter or the column, before any work."""

import re

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError

import bhmc
from bhmc import BHMC, Hyper
from bhmc._validation.parameters import check_covariance
from bhmc.likelihoods import Gaussian

GOOD = np.random.default_rng(0).normal(size=(6, 2))
HYPER = Hyper(1.0, 1.0, 1.0)
STATE, FINITE_STATE = (
    bhmc.sample_prior(
        6,
        n_levels=2,
        hyper=HYPER,
        likelihood="gaussian",
        rng=np.random.default_rng(0),
        n_features=2,
        n_components=n_components,
    )[0]
    for n_components in (None, 3)
)


@pytest.fixture(autouse=True)
def no_work(monkeypatch):
    """Every refusal comes before the first sweep and the first draw from the prior."""

    def explode(*args, **kwargs):
        raise AssertionError("work was done before the refusal")

    monkeypatch.setattr("bhmc.model.hdp.sampler.HdpSampler.__init__", explode)
    monkeypatch.setattr("bhmc.model.hdp.sampler.HdpSampler.sweep", explode)
    monkeypatch.setattr("bhmc._estimator.chain_run.start_state", explode)
    monkeypatch.setattr("bhmc.model.hdp.simulate._Franchise.__init__", explode)


def refused(call, error, *parts):
    """`call` raises exactly `error`, in one sentence that holds every one of `parts`."""
    with pytest.raises(error) as caught:
        call()
    message = str(caught.value)
    assert type(caught.value) is error, message
    assert "\n" not in message
    assert message.endswith(".")
    assert ". " not in message, f"more than one sentence: {message}"
    assert len(message) < 200, message
    for part in parts:
        assert part in message, f"{part!r} is not in: {message}"
    return message


def fit(X=GOOD, **settings):
    """With the likelihood that lets no missing entries through."""
    return lambda: BHMC(**{"likelihood": "known_gaussian", **settings}).fit(X)


def sweep(X=GOOD, state=STATE, **changes):
    settings = {"hyper": HYPER, "likelihood": "gaussian", "sampler": "gibbs"}
    rng = np.random.default_rng(0)
    return lambda: bhmc.sweep(state, X, **{**settings, "rng": rng, **changes})


def log_joint(X=GOOD, state=STATE, **changes):
    return lambda: bhmc.log_joint(state, X, **{"hyper": HYPER, "likelihood": "gaussian", **changes})


def sample_prior(n=6, **changes):
    settings = {"n_levels": 2, "hyper": HYPER, "likelihood": "gaussian", "n_features": 2}
    rng = np.random.default_rng(0)
    return lambda: bhmc.sample_prior(n, **{**settings, "rng": rng, **changes})


def test_the_alarm_itself():
    """Good input reaches the exploding work, so a refusal before it means something."""
    for call in (fit(), sweep(), sample_prior()):
        with pytest.raises(AssertionError, match="work was done"):
            call()
    assert np.isfinite(log_joint()())
    for message in ("Two. Sentences.", "no full stop", "two\nlines."):
        with pytest.raises(AssertionError):
            refused(lambda message=message: int(message), ValueError)


# ---- The data ----

ON_DATA = [fit, sweep, log_joint]


def put(value, row=4, column=1, like=GOOD, dtype=None):
    X = like.astype(dtype or like.dtype)
    X[row, column] = value
    return X


def framed(X, names=("height", "colour")):
    return pd.DataFrame({name: list(X[:, j]) for j, name in enumerate(names)})


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
    refused(entry(frame), TypeError, "Timestamp", "column 1 ('when'), row 0")


@pytest.mark.parametrize("entry", ON_DATA)
def test_complex(entry):
    said = "Complex data not supported"
    X = put(1 + 2j, dtype=complex)
    for kind in (X, X.astype(np.complex64), X.tolist()):
        refused(entry(kind), ValueError, said, "X has 1+2j in column 1, row 4")
    refused(entry(framed(X)), ValueError, said, "X has 1+2j in column 1 ('colour'), row 4")
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


# ---- Concentrations and counts ----

ON_HYPER = [
    lambda **hyper: fit(**hyper),
    lambda **hyper: sweep(hyper=HYPER._replace(**hyper)),
    lambda **hyper: log_joint(hyper=HYPER._replace(**hyper)),
    lambda **hyper: sample_prior(hyper=HYPER._replace(**hyper)),
]
HYPER_IDS = ["fit", "sweep", "log_joint", "sample_prior"]


@pytest.mark.parametrize("entry", ON_HYPER, ids=HYPER_IDS)
@pytest.mark.parametrize("name", ["alpha", "gamma0", "gamma"])
def test_concentrations(entry, name):
    for value in (0, 0.0, -0.5, -3, np.nan, np.inf, -np.inf, np.float32(-1)):
        refused(entry(**{name: value}), ValueError, f"{name} must be", f"got {value!r}")
    for value in ("1", None, True, np.True_, [1.0], np.array(1.0), np.array([1.0, 2.0]), 1j):
        refused(entry(**{name: value}), TypeError, f"{name} must be", f"got {value!r}")


@pytest.mark.parametrize("entry", ON_HYPER, ids=HYPER_IDS)
def test_number_of_components(entry):
    name = "fixed_components" if entry is ON_HYPER[0] else "n_components"
    for value in (0, -2):
        refused(entry(**{name: value}), ValueError, name, f"got {value!r}")
    for value in (2.0, "3", True, np.nan):
        refused(entry(**{name: value}), TypeError, name, f"got {value!r}")


LEAST = {"n_levels": 1, "n_warmup": 0, "n_draws": 1, "thin": 1, "n_chains": 1}


@pytest.mark.parametrize("name", LEAST)
def test_counts_of_the_estimator(name):
    least = LEAST[name]
    for value in (least - 1, -5):
        refused(fit(**{name: value}), ValueError, name, f"at least {least}", f"got {value!r}")
    for value in (1.0, 2.5, np.nan, np.inf, "3", None, True, [2], np.array([2])):
        refused(fit(**{name: value}), TypeError, name, f"at least {least}", f"got {value!r}")


@pytest.mark.parametrize("name", ["n", "n_levels", "n_features"])
def test_counts_of_the_prior(name):
    for value in (0, -1):
        refused(sample_prior(**{name: value}), ValueError, f"{name} must be", f"got {value!r}")
    for value in (1.0, "3", None, True):
        refused(sample_prior(**{name: value}), TypeError, f"{name} must be", f"got {value!r}")


def test_number_of_components_of_the_prior():
    refused(sample_prior(n_components=0), ValueError, "n_components", "got 0")
    refused(sample_prior(n_components=2.0), TypeError, "n_components", "got 2.0")
    finite = HYPER._replace(n_components=3)
    refused(
        sample_prior(hyper=finite, n_components=4),
        ValueError,
        "n_components=4",
        "hyper.n_components=3",
    )


def test_jobs():
    refused(fit(n_jobs=0), ValueError, "n_jobs must not be 0")
    for value in (1.5, "two", True, [1]):
        refused(fit(n_jobs=value), TypeError, "n_jobs must be a whole number", f"got {value!r}")


def test_seeds():
    refused(fit(random_state=-1), ValueError, "random_state", "got -1")
    for value in ("0", 1.5, True, [1, 2], np.nan):
        refused(fit(random_state=value), TypeError, "random_state must be", f"got {value!r}")


@pytest.mark.parametrize("entry", [sweep, sample_prior])
@pytest.mark.parametrize("rng", [0, None, np.random, np.random.RandomState(0)], ids=str)
def test_wrong_rng(entry, rng):
    refused(entry(rng=rng), TypeError, "rng must be a numpy.random.Generator", "default_rng")


def test_wrong_rng_of_sample_data():
    refused(
        lambda: bhmc.sample_data(STATE, likelihood="gaussian", rng=0),
        TypeError,
        "rng must be a numpy.random.Generator",
        "got 0",
    )


@pytest.mark.parametrize("entry", [sweep, log_joint, sample_prior])
def test_hyper_of_another_type(entry):
    for value in ((1.0, 1.0, 1.0), None, {"alpha": 1.0}):
        refused(entry(hyper=value), TypeError, "hyper must be a bhmc.Hyper", type(value).__name__)


# ---- Names ----


@pytest.mark.parametrize("entry", [fit, sweep])
def test_unknown_sampler(entry):
    for value in ("Gibbs", "", None, 3, ["gibbs"], np.array(["gibbs", "mh"])):
        refused(entry(sampler=value), ValueError, f"sampler={value!r} is not known", "'gibbs'")


def test_the_published_sampler_has_no_finite_form():
    refused(fit(sampler="paper", fixed_components=3), ValueError, "sampler='paper'", "components")
    for hyper in (HYPER, FINITE_STATE.hyper):  # without n_components the state's own form counts
        entry = sweep(GOOD, FINITE_STATE, sampler="paper", hyper=hyper)
        refused(entry, ValueError, "sampler='paper'", "components")


@pytest.mark.parametrize("entry", [*ON_DATA, sample_prior])
def test_unknown_likelihood(entry):
    refused(entry(likelihood="normal"), ValueError, "likelihood='normal'", "gaussian,")
    for value in (None, 3, ["gaussian"], object):
        refused(entry(likelihood=value), TypeError, "likelihood must be", f"got {value!r}")


@pytest.mark.parametrize("entry", [*ON_DATA, sample_prior])
def test_the_class_of_a_likelihood_is_not_one(entry):
    refused(entry(likelihood=Gaussian), TypeError, "likelihood must be", "Gaussian")


# ---- The likelihood's numbers ----

ON_LIKELIHOOD = [*ON_DATA, sample_prior]
NOT_POSITIVE_DEFINITE = [
    [[1.0, 2.0], [2.0, 1.0]],
    [[1.0, 1.0], [1.0, 1.0]],
    [[1.0, 1 - 1e-17], [1 - 1e-17, 1.0]],
    [[1.0, 1e3], [1e3, 1e6]],
]


@pytest.mark.parametrize("entry", ON_LIKELIHOOD)
@pytest.mark.parametrize("name", ["sigma2", "sigma0"])
class TestCovariance:
    def refused(self, entry, name, value, *rest):
        refused(entry(likelihood=Gaussian(**{name: value})), *rest)

    def test_not_above_zero(self, entry, name):
        for value, shown in ((0, "0"), (-1.5, "-1.5"), ([1.0, -2.0], "-2"), (np.zeros(2), "0")):
            self.refused(entry, name, value, ValueError, f"{name} must be above 0, got {shown}.")
        for value in ([[-1.0, 0.0], [0.0, 1.0]], np.zeros((2, 2))):
            self.refused(entry, name, value, ValueError, f"{name} must have a diagonal above 0")

    def test_not_finite(self, entry, name):
        for value in (np.nan, np.inf, [1.0, np.nan], [[1.0, np.inf], [np.inf, 1.0]]):
            shown = "nan" if np.isnan(value).any() else "inf"
            self.refused(entry, name, value, ValueError, f"{name} must be finite, got {shown}.")

    def test_not_numbers(self, entry, name):
        for value in ("1.0", None, True, 1j, ["a", "b"], [1.0, None], [[1.0, 2.0], [3.0]]):
            rest = (TypeError, f"{name} must be made of real numbers", f"got {value!r}")
            self.refused(entry, name, value, *rest)

    def test_wrong_shape(self, entry, name):
        for value in ([1.0, 1.0, 1.0], [], np.eye(3), np.ones((2, 1)), np.ones((2, 2, 2))):
            shape = str(np.shape(value))
            self.refused(entry, name, value, ValueError, f"{name} must be", "2", f"shape {shape}")

    def test_not_symmetric(self, entry, name):
        value = [[1.0, 0.5], [0.4, 1.0]]
        rest = (ValueError, f"{name} must be a symmetric matrix", "0.5 at [0, 1]", "0.4 at [1, 0]")
        self.refused(entry, name, value, *rest)

    def test_not_positive_definite(self, entry, name):
        for value in NOT_POSITIVE_DEFINITE:
            self.refused(entry, name, value, ValueError, f"{name} must be a positive definite")


def test_rank_deficient_matrices_are_never_taken():
    """Cholesky would let some of these through, by rounding."""
    rng = np.random.default_rng(0)
    for _ in range(200):
        half = rng.normal(size=(4, 3)) * 10.0 ** rng.uniform(-6, 6, size=(4, 1))
        with pytest.raises(ValueError, match="positive definite"):
            check_covariance(half @ half.T, 4, "sigma2")


def test_sound_matrices_are_taken():
    rng = np.random.default_rng(0)
    for _ in range(200):
        half = rng.normal(size=(4, 8)) * 10.0 ** rng.uniform(-6, 6, size=(4, 1))
        covariance = half @ half.T
        np.testing.assert_array_equal(check_covariance(covariance, 4, "sigma2"), covariance)
    # Rounding noise where a zero should be is not asymmetry.
    check_covariance([[1.0, 1e-17], [-2e-17, 1.0]], 2, "sigma2")


@pytest.mark.parametrize("entry", ON_LIKELIHOOD)
def test_mu0(entry):
    for value in ([1.0, 2.0, 3.0], [], np.zeros((2, 2)), np.zeros((1, 2))):
        shape = str(np.shape(value))
        refused(entry(likelihood=Gaussian(mu0=value)), ValueError, "mu0 must be", f"shape {shape}")
    for value in (np.nan, [0.0, -np.inf]):
        refused(entry(likelihood=Gaussian(mu0=value)), ValueError, "mu0 must be finite")
    for value in ("0", None, True, 1j):
        refused(entry(likelihood=Gaussian(mu0=value)), TypeError, "mu0 must be made of real")


@pytest.mark.parametrize("entry", ON_DATA)
def test_data_too_far_from_the_prior(entry):
    for likelihood in (Gaussian(sigma2=1e-300), Gaussian(mu0=1e155)):
        refused(entry(GOOD * 1e10, likelihood=likelihood), ValueError, "X", "mu0", "sigma2")


# ---- The state ----


@pytest.mark.parametrize("entry", [sweep, log_joint])
class TestStateOfOtherData:
    def test_rows(self, entry):
        refused(entry(GOOD[:4]), ValueError, "X has 4 rows", "state holds 6 data")

    def test_columns(self, entry):
        refused(entry(np.zeros((6, 3))), ValueError, "X has 3 columns", "2")
        refused(entry(np.zeros((6, 1))), ValueError, "X has 1 column", "2")

    def test_columns_of_a_single_parameter(self, entry):
        """One parameter must not be spread over three columns in silence."""
        narrow = STATE._replace(theta=STATE.theta[:, :1])
        refused(entry(np.zeros((6, 3)), narrow), ValueError, "X has 3 columns", "1")

    def test_form(self, entry):
        finite = HYPER._replace(n_components=40)
        refused(entry(hyper=finite), ValueError, "n_components=40", "state", "n_components=None")

    def test_broken(self, entry):
        broken = STATE._replace(components=STATE.components + 50)
        refused(entry(state=broken), ValueError, "state is not valid", "component label")

    def test_not_a_state(self, entry):
        refused(entry(state=None), TypeError, "state must be a bhmc.State", "NoneType")


# ---- Where chains start ----

LABELS = np.array([0, 0, 0, 1, 1, 2])


@pytest.mark.parametrize(
    ("init", "error", "parts"),
    [
        ("k-means", ValueError, ["init='k-means' is not known", "'kmeans'", "'prior'"]),
        (None, TypeError, ["init must be one of 'prior'", "NoneType"]),
        (3.5, ValueError, ["init must hold whole numbers", "got 3.5"]),
        (3, ValueError, ["init must hold a label a row", "got shape ()"]),
        (["a"] * 6, TypeError, ["init must be one of", "whole numbers"]),
        ([[0], [0, 1], 2, 3, 4, 5], TypeError, ["init must be one of", "got list"]),
        (LABELS == 1, TypeError, ["init must be one of", "dtype bool"]),
        (LABELS[:5], ValueError, ["labels for 5 rows", "X has 6"]),
        (np.zeros((6, 0), int), ValueError, ["1 to 3 levels", "got shape (6, 0)"]),
        (np.zeros((6, 4), int), ValueError, ["1 to 3 levels", "got shape (6, 4)"]),
        (np.zeros((6, 1, 1), int), ValueError, ["1 to 3 levels", "got shape (6, 1, 1)"]),
        (LABELS - 1, ValueError, ["at least 0", "got -1"]),
        (LABELS + 0.5, ValueError, ["whole numbers", "got 0.5"]),
        (np.where(LABELS == 2, np.nan, LABELS), ValueError, ["NaN among its labels"]),
        (np.where(LABELS == 2, np.inf, LABELS), ValueError, ["whole numbers", "got inf"]),
        (
            np.column_stack([LABELS, [0, 0, 0, 0, 1, 2]]),
            ValueError,
            ["nested", "rows 0 and 3 share label 0 in column 1", "have 0 and 1"],
        ),
    ],
)
def test_starts_that_cannot_be_followed(init, error, parts):
    refused(fit(init=init), error, *parts)


@pytest.mark.parametrize("init", ["singletons", np.arange(6)])
def test_more_groups_than_components(init):
    refused(fit(init=init, fixed_components=5), ValueError, "6 groups", "fixed at 5")


def test_more_groups_than_memory_holds():
    X, many = np.zeros((4_000, 1)), np.arange(4_000)
    for init in ("singletons", many, np.column_stack([many // 2, many])):
        refused(fit(X, init=init), ValueError, "4000 groups in", "init='kmeans'")


# ---- After the fit ----


def test_labels_at_before_fit():
    with pytest.raises(NotFittedError, match="BHMC"):
        BHMC().labels_at(0)


@pytest.mark.parametrize("entry", ["estimator", "tree"])
def test_labels_at_out_of_range(entry, monkeypatch):
    monkeypatch.undo()
    model = BHMC(n_levels=2, n_warmup=1, n_draws=1, random_state=0).fit(GOOD)
    calls = {"estimator": model.labels_at, "tree": model.tree_.labels_at}
    refused(lambda: calls[entry](3), ValueError, "level must be at most 2", "got 3")
    refused(lambda: calls[entry](-1), ValueError, "level must be at least 0", "got -1")
    refused(lambda: calls[entry](1.0), TypeError, "level must be a whole number", "got 1.0")
    refused(lambda: calls[entry]("1"), TypeError, "level must be a whole number", "got '1'")
    refused(lambda: calls[entry](None), TypeError, "level must be a whole number", "got None")


def test_a_refusal_leaves_an_unfitted_estimator_unfitted():
    model = BHMC()
    for X in (put(np.inf), GOOD[:1]):
        with pytest.raises(ValueError, match="X has"):
            model.fit(X)
        assert not [name for name in vars(model) if name.endswith("_")]


NOT_BITS = np.array([[0.0, 1.0], [1.0, 0.5], [1.0, 1.0]])
LATE_REFUSALS = pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"likelihood": "bernoulli"}, "Bernoulli family"),  # when the family is bound to the data
        ({"likelihood": Gaussian(sigma2=1e-12), "precision": "float32"}, "float32"),
        ({"init": [0, 1]}, "labels for 2 rows"),
    ],
    ids=["likelihood", "precision", "init"],
)


@LATE_REFUSALS
def test_a_late_refusal_leaves_an_unfitted_estimator_unfitted(settings, words):
    model = BHMC(**settings)
    with pytest.raises(ValueError, match=words):
        model.fit(NOT_BITS)
    assert not [name for name in vars(model) if name.endswith("_")]


@LATE_REFUSALS
def test_a_late_refusal_leaves_a_fitted_estimator_as_it_was(settings, words, monkeypatch):
    monkeypatch.undo()
    frame = framed(np.repeat([[0.0, 1.0], [1.0, 0.0]], 3, axis=0))
    model = BHMC(n_warmup=1, n_draws=1, random_state=0).fit(frame)
    before = {name: value for name, value in vars(model).items() if name.endswith("_")}
    with pytest.raises(ValueError, match=words):
        model.set_params(**settings).fit(NOT_BITS)
    after = {name: value for name, value in vars(model).items() if name.endswith("_")}
    assert before.keys() == after.keys()
    assert all(after[name] is before[name] for name in before)
