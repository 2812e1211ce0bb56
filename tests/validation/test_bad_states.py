"""Bad states, starts and levels; and what a refusal leaves of an estimator."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from bhmc import BHMC
from bhmc.likelihoods import Gaussian
from tests.validation.tools import (
    GOOD,
    HYPER,
    STATE,
    fit,
    framed,
    log_joint,
    no_work,
    put,
    refused,
    sweep,
)

__all__ = ["no_work"]  # a fixture of every test here


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
