"""Every family keeps the estimator's promises: scikit-learn's checks, and our own on fitting data.

scikit-learn feeds numbers with fractions. Families of whole numbers refuse those, so for them the
data are made whole after they have been checked: all checks run, and none is expected to fail.
"""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from bhmc import BHMC, Tree, likelihoods
from bhmc._estimator.prediction import Prediction
from bhmc.likelihoods import NAMES

QUICK = {
    "alpha": "learn",
    "n_warmup": 2,
    "n_draws": 3,
    "n_chains": 1,
    "n_levels": 2,
    "random_state": 0,
}
# Where groups must be found: chains of a length that finds them. Zeros and ones say less.
LONGER = {"n_warmup": 60, "n_draws": 20}
LONGER_ON_WHOLE_NUMBERS = {"n_warmup": 100, "n_draws": 30}
CUTS = (0.2, 0.4, 0.6, 0.8)

OBJECTS = {
    "adaptive, spherical": likelihoods.AdaptiveGaussian("spherical", scale=2.0),
    "shared, spherical": likelihoods.SharedGaussian("spherical", noise_shape=2.0),
    "shared, full": likelihoods.SharedGaussian("full", noise_shape=2.0),
    "free, spherical": likelihoods.FreeGaussian("spherical", shape=1.5),
    "full, loose": likelihoods.FullGaussian(lam=0.05, sigma0=0.2),
    "known, in two units": likelihoods.Gaussian(sigma2=0.4, mu0=0.2, sigma0=3.0),
    "bernoulli, skew": likelihoods.Bernoulli(0.5, 1.5),
    "categorical, sharp": likelihoods.Categorical(0.3),
    "poisson, wide": likelihoods.Poisson(0.7, 0.2),
    "multinomial, sharp": likelihoods.Multinomial(0.4),
}
LIKELIHOODS = {**{name: name for name in NAMES}, **OBJECTS}
KINDS = {name: type(likelihoods.kind_of(value)) for name, value in LIKELIHOODS.items()}
KINDS["auto"] = likelihoods.ShapedGaussian  # for numbers in several columns
WHOLE = (
    likelihoods.Bernoulli,
    likelihoods.Categorical,
    likelihoods.Poisson,
    likelihoods.Multinomial,
)
# scikit-learn's checks see the estimator's code, which does not look at a family's numbers: the
# default, whose components are on a diffusing tree and whose numbers have fractions, and a family
# of "hdp" that takes whole numbers and sparse data. `make exact` runs them for one of every other
# class, some by name and some as objects.
BATTERY = ("auto", "multinomial")
REST = (
    *("gaussian", "bernoulli", "free_gaussian", "known_gaussian"),
    *("shared, spherical", "full, loose", "categorical, sharp", "poisson, wide"),
)
# Every class once; the same class with other numbers is left to `make exact`.
SHORT = (*BATTERY, *REST, "shared, full")
# Containers are read before a family sees the data: one that takes each kind of numbers.
SHORT_CONTAINERS = ("auto", "gaussian", "bernoulli", "categorical, sharp", "multinomial")


def _families(short):
    for name in LIKELIHOODS:
        yield pytest.param(name, marks=() if name in short else pytest.mark.exact_long)


every_family = pytest.mark.parametrize("name", list(_families(SHORT)))


class OnWholeNumbers(BHMC):
    """`BHMC` that sees 0 and 1 in place of the data it has checked.

    Whether a number is above each of some cuts, and whether it is not: then groups stay groups for
    families of counts, too. What is sparse keeps its zeros.
    """

    def _check_data(self, X, feature_names=None):
        given = super()._check_data(X, feature_names)
        if not sparse.issparse(given.data):
            self.cuts_ = np.nanquantile(given.data, CUTS)
        return given._replace(data=self._whole(given.data))

    def _check_new(self, X):
        return self._whole(super()._check_new(X))

    def _whole(self, X):
        if sparse.issparse(X):
            X.data = np.floor(np.abs(X.data) * 2)
            return X
        above = np.hstack([cut < X for cut in self.cuts_])
        bits = np.hstack([above, ~above]).astype(float)
        bits[np.isnan(np.hstack([X] * (2 * len(CUTS))))] = np.nan
        return bits


def _estimator(name):
    kind = OnWholeNumbers if KINDS[name] in WHOLE else BHMC
    settings = {} if name == "auto" else {"transition": "hdp"}
    return kind(likelihood=LIKELIHOODS[name], **settings, **QUICK)


def test_the_battery_has_every_family_once():
    kinds = [KINDS[name] for name in (*BATTERY, *REST)]
    assert len(kinds) == len(set(kinds))
    assert set(kinds) == set(KINDS.values())


# Sparse tables of these checks have rows of zeros, which are texts without words.
empty_rows = pytest.mark.filterwarnings("ignore::bhmc._estimator.empty_rows.EmptyRowsWarning")


@empty_rows
@parametrize_with_checks([_estimator(name) for name in BATTERY])
def test_scikit_learn_conventions(estimator, check, monkeypatch):
    _run(check, estimator, monkeypatch)


@empty_rows
@pytest.mark.exact_long
@parametrize_with_checks([_estimator(name) for name in REST])
def test_scikit_learn_conventions_of_the_rest(estimator, check, monkeypatch):
    _run(check, estimator, monkeypatch)


def _run(check, estimator, monkeypatch):
    if check.func.__name__ == "check_clustering":  # which asks that its blobs are found
        whole = isinstance(estimator, OnWholeNumbers)
        # A clone: all checks of an estimator share the object, and the next ones stay short.
        estimator = clone(estimator).set_params(**(LONGER_ON_WHOLE_NUMBERS if whole else LONGER))
    if check.func.__name__.startswith("check_estimator_sparse"):
        # It takes whoever has this method for a classifier of two or four classes.
        monkeypatch.delattr(Prediction, "predict_proba")
    check(estimator)


def test_the_families_of_whole_numbers_are_those_that_refuse_fractions():
    """So nothing but them is fitted to other data than scikit-learn's."""
    X = np.array([[2.5, 1.0], [3.0, 0.5], [-0.2, 0.3]])
    for name in LIKELIHOODS:
        model = BHMC(likelihood=LIKELIHOODS[name], **QUICK)
        if KINDS[name] in WHOLE:
            with pytest.raises(ValueError, match=r"^X has 2\.5 in column 0, row 0; the .* family"):
                model.fit(X)
        else:
            model.fit(X)


# ---- On data that fit the family ----


def groups(n):
    """Three groups in no order that repeats."""
    return np.random.default_rng(n).permutation(np.arange(n) % 3)


def data(name, n=24, d=3, seed=0):
    """Each group is high in a column of its own; in numbers that the family takes."""
    rng = np.random.default_rng(seed)
    X = 6.0 * (groups(n)[:, None] == np.arange(d) % 3) + rng.normal(size=(n, d))
    if KINDS[name] in (likelihoods.Bernoulli, likelihoods.Categorical):
        return (X > 2).astype(float)
    return (
        np.maximum(np.round(X), 0) if KINDS[name] in WHOLE else np.round(X * 4) / 4
    )  # exact in float32


def fit(name, X=None, **changes):
    X = data(name) if X is None else X
    return BHMC(**{"likelihood": LIKELIHOODS[name], **QUICK, **changes}).fit(X)


def numbers(model):
    """Every number of a fit; a frame's names are not numbers."""
    found = dict(model.draws_.numbers())
    fields = set(Tree.__dataclass_fields__) - {"feature_names"}
    found |= {f"tree {name}": getattr(model.tree_, name) for name in fields}
    return found | {"labels": model.labels_, "paths": model.paths_}


def assert_same_fit(one, other):
    one, other = numbers(one), numbers(other)
    for name in one:
        np.testing.assert_array_equal(one[name], other[name], err_msg=name)


@every_family
def test_copies_and_repeats(name):
    """clone, set_params, a pickle, a second fit: the same numbers, bit for bit."""
    model = fit(name)
    copy = clone(model)
    assert not hasattr(copy, "tree_")
    parameters = model.get_params()
    assert set(parameters) == set(copy.get_params()) == set(BHMC().get_params())
    rebuilt = BHMC().set_params(**parameters)
    for other in (copy.fit(data(name)), rebuilt.fit(data(name)), pickle.loads(pickle.dumps(model))):
        assert_same_fit(model, other)
    before = numbers(model)
    again = numbers(model.fit(data(name)))
    for key in before:
        np.testing.assert_array_equal(before[key], again[key], err_msg=key)
    assert all(parameters[key] is value for key, value in model.get_params().items())
    other = fit(name, random_state=1)
    assert not np.array_equal(other.draws_.log_likelihood, model.draws_.log_likelihood)


@pytest.mark.parametrize("name", list(_families(SHORT_CONTAINERS)))
def test_every_container_gives_the_same_fit(name):
    X = data(name)
    read_only = X.copy()
    read_only.flags.writeable = False
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    kinds = [X.tolist(), X.astype(np.float32), np.asfortranarray(X), read_only, frame]
    if np.array_equal(X, np.round(X)):
        kinds += [X.astype(np.int64), X.astype(np.int8)]
    plain = fit(name, X)
    for kind in kinds:
        assert_same_fit(plain, fit(name, kind))
    np.testing.assert_array_equal(X, data(name))  # nothing was written to
    assert plain.n_features_in_ == 3
    assert not hasattr(plain, "feature_names_in_")
    assert fit(name, frame).feature_names_in_.tolist() == ["a", "b", "c"]


@every_family
def test_another_shape_forgets_the_first(name):
    model = fit(name)
    other = data(name, n=11, d=2, seed=1)
    assert model.fit(other).n_features_in_ == 2
    assert len(model.labels_) == 11
    assert_same_fit(model, fit(name, other))


@every_family
def test_labels_are_in_the_order_of_rows(name):
    X = data(name, n=60, d=9 if KINDS[name] in WHOLE else 2)
    model = fit(name, X, n_warmup=50, n_draws=25)
    np.testing.assert_array_equal(model.labels_, model.labels_at(2))
    np.testing.assert_array_equal(model.paths_, model.tree_.paths)
    agreement = [
        adjusted_rand_score(order, model.component_labels_)
        for order in (groups(60), groups(60)[::-1])
    ]
    assert agreement[0] > 0.2 > agreement[1]


@every_family
def test_too_few_rows_are_refused(name):
    with pytest.raises(ValueError, match=r"^X has 1 sample\(s\) .* a minimum of 2 is required"):
        fit(name, data(name)[:1])
    assert len(fit(name, data(name)[:2]).labels_) == 2


@every_family
def test_missing_entries_are_skipped_or_refused(name):
    X = data(name)
    X[3, 1] = X[5, 0] = np.nan
    X[7] = np.nan
    if likelihoods.kind_of(LIKELIHOODS[name]).allows_missing:
        assert np.isfinite(fit(name, X).draws_.log_likelihood).all()
    else:
        with pytest.raises(ValueError, match=r"^X has NaN \(a missing value\) in column 0, row 5"):
            fit(name, X)
    X[3, 1] = np.inf
    with pytest.raises(ValueError, match=r"^X has inf in column 1, row 3|NaN .* in column 0"):
        fit(name, X)


@every_family
def test_sparse_data_are_taken_or_refused(name):
    X = data(name)
    for form in (sparse.csr_array, sparse.csr_matrix, sparse.csc_array, sparse.coo_array):
        if KINDS[name].allows_sparse:
            thin, dense = fit(name, form(X)), fit(name, X)
            np.testing.assert_array_equal(thin.paths_, dense.paths_)
            np.testing.assert_array_equal(thin.component_labels_, dense.component_labels_)
        else:
            with pytest.raises(TypeError, match=r"^X is sparse, and this likelihood needs a dense"):
                fit(name, form(X))


IN_UNITS_OF_X = [name for name in NAMES if KINDS[name] not in WHOLE]


@pytest.mark.parametrize("name", IN_UNITS_OF_X)
@pytest.mark.parametrize(
    "move",
    [
        pytest.param(lambda X: 1000 * X + 50, id="both"),
        pytest.param(lambda X: 1000 * X, id="X * 1000", marks=pytest.mark.exact_long),
        pytest.param(lambda X: X + 50, id="X + 50", marks=pytest.mark.exact_long),
    ],
)
def test_units_do_not_matter(name, move):
    assert same_groups(name, move)


@pytest.mark.parametrize("name", [name for name in OBJECTS if KINDS[name] not in WHOLE])
def test_units_of_an_object_are_its_own(name):
    """Nothing is scaled behind the user's back: so the test above can fail."""
    assert not same_groups(name, lambda X: X / 1000)


def same_groups(name, move) -> bool:
    one, other = (fit(name, X, n_warmup=15, n_draws=10) for X in (data(name), move(data(name))))
    return all(
        np.array_equal(getattr(one.draws_, key), getattr(other.draws_, key))
        for key in ("n_components", "n_nodes")
    ) and np.array_equal(one.paths_, other.paths_)
