"""Extreme numbers: answers are right, or there is one sentence that says why there are none."""

import tempfile
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from bhmc import BHMC

N = 20
SETTINGS = {"n_warmup": 5, "n_draws": 10, "n_chains": 1, "random_state": 0}
SHARED = {"likelihood": "shared_gaussian"}


def groups() -> np.ndarray:
    """Three groups in three columns, 8 noise widths apart."""
    rng = np.random.default_rng(0)
    return np.concatenate([rng.normal(centre, 1.0, (N, 3)) for centre in (-8.0, 0.0, 8.0)])


TRUE = np.repeat(np.arange(3), N)


def fitted(X, transition, **settings):
    """A short fit, all of whose answers must be finite and probabilities; its chain may resume."""
    with tempfile.TemporaryDirectory() as folder:
        settings |= {"transition": transition, "checkpoint": Path(folder) / "chain"}
        model = BHMC(**SETTINGS, **settings).fit(X)
        more = BHMC(**{**SETTINGS, "n_draws": 11}, **settings).fit(X)
    np.testing.assert_array_equal(more.draws_.log_joint[:, :10], model.draws_.log_joint)
    found = model.predict_proba(X)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    assert np.isfinite(model.score_samples(X)).all()
    assert np.isfinite(model.draws_.log_likelihood).all()
    return model


@pytest.mark.parametrize("transition", ["hdp", "diffused", "gaussian"])
@pytest.mark.parametrize("name", ["alpha", "gamma"])
@pytest.mark.parametrize("value", [1e-300, 1e-8, 1e8, 1e300])
def test_concentrations(transition, name, value):
    model = fitted(groups(), transition, **SHARED, **{name: value})
    if transition == "hdp" or value == 1e-8:
        assert adjusted_rand_score(TRUE, model.component_labels_) > 0.9


@pytest.mark.parametrize("value", [1e-8, 1e8])
def test_concentration_of_the_root(value):
    model = fitted(groups(), "hdp", **SHARED, gamma0=value)
    assert adjusted_rand_score(TRUE, model.component_labels_) == 1.0


TABLES = {
    "scale 1e-150": lambda X: X * 1e-150,
    "scale 1e-30": lambda X: X * 1e-30,
    "scale 1e30": lambda X: X * 1e30,
    "scale 1e140": lambda X: X * 1e140,
    "columns of different scales": lambda X: X * [1e-100, 1.0, 1e100],
    "far from 0": lambda X: X + 1e12,
    "a constant column": lambda X: np.column_stack([X, np.ones(len(X))]),
}


@pytest.mark.parametrize("transition", ["hdp", "diffused"])
@pytest.mark.parametrize("name", TABLES)
def test_tables(transition, name):
    model = fitted(TABLES[name](groups()), transition, **SHARED)
    assert adjusted_rand_score(TRUE, model.component_labels_) == 1.0


@pytest.mark.parametrize("transition", ["hdp", "diffused"])
def test_rows_that_are_all_equal(transition):
    assert fitted(np.full((30, 3), 7.5), transition, **SHARED).n_clusters_ == 1


@pytest.mark.parametrize("transition", ["hdp", "diffused"])
def test_many_copies_of_few_rows(transition):
    X = np.repeat(groups()[::12], 400, axis=0)
    model = fitted(X, transition, **SHARED)
    parted = model.component_labels_.reshape(-1, 400)
    assert (parted == parted[:, :1]).mean() > 0.99


@pytest.mark.parametrize("transition", ["hdp", "diffused"])
def test_five_thousand_columns(transition):
    rng = np.random.default_rng(1)
    centres = rng.normal(0.0, 0.3, (3, 5_000))
    X = np.concatenate([rng.normal(centre, 1.0, (N, 5_000)) for centre in centres])
    model = fitted(X, transition, **SHARED)
    # One row after the other, rows seldom leave a component in so many columns.
    assert transition == "hdp" or adjusted_rand_score(TRUE, model.component_labels_) > 0.9


@pytest.mark.parametrize("transition", ["hdp", "diffused"])
@pytest.mark.parametrize("value", [1e151, -1e300, np.inf])
def test_numbers_that_are_too_large(transition, value):
    X = groups()
    X[4, 1] = value
    with pytest.raises(ValueError, match=r"in column 1, row 4; values must be (within|finite)"):
        fitted(X, transition, **SHARED)
