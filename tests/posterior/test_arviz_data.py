"""Draws beside their data in ArviZ: densities, new tables, `loo`."""

import sys

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from bhmc import BHMC
from bhmc.posterior import arviz_data

QUICK = {"n_levels": 2, "n_warmup": 20, "n_draws": 40, "n_chains": 2, "random_state": 0}
GROUPS = {"log_likelihood", "posterior_predictive", "observed_data"}


def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2)) + 8.0 * (np.arange(40) % 2)[:, None]
    X[3, 1] = np.nan
    names = [f"row{i}" for i in range(40)]
    return pd.DataFrame(X, columns=["width", "height"], index=names)


@pytest.fixture(scope="module")
def model():
    return BHMC(**QUICK).fit(table())


@pytest.fixture(scope="module")
def tree(model):
    return model.to_arviz(table())


def test_groups_and_coordinates(model, tree):
    assert set(tree.children) == GROUPS | {"posterior", "sample_stats", "constant_data"}
    observed = tree["observed_data"]["X"]
    assert observed.dims == ("row", "column")
    assert list(observed["column"].values) == ["width", "height"]
    assert list(observed["row"].values) == list(table().index)
    np.testing.assert_array_equal(observed.values, table().to_numpy())
    new, n_kept = tree["posterior_predictive"]["X"], len(model.draws_.mixtures) // 2
    assert new.dims == ("chain", "draw", "row", "column")
    assert new.shape == (2, n_kept, 40, 2)
    gaps = np.broadcast_to(np.isnan(observed.values), new.shape)
    np.testing.assert_array_equal(np.isnan(new.values), gaps)
    assert tree["posterior"].sizes["draw"] == n_kept
    assert not {"components", "nodes"} & set(tree["posterior"].data_vars)


def test_densities_are_those_of_the_draws(model, tree):
    found = tree["log_likelihood"]["X"]
    assert found.dims == ("chain", "draw", "row")
    mean = np.log(np.exp(found.values).mean(axis=(0, 1)))
    np.testing.assert_allclose(mean, model.score_samples(table()), rtol=1e-9)
    draws = model.draws_
    for chain, kept in ((0, 1), (1, 3)):
        own = draws.mixture_index[:, 0] == chain
        place, at = np.flatnonzero(own)[kept], draws.mixture_index[own][kept, 1]
        x = table().to_numpy()[5]
        family = model.likelihood_.prepare(x[None])
        expected = arviz_data.log_density([draws.mixtures[place]], family)
        np.testing.assert_allclose(found.values[chain, kept, 5], expected[0])
        lp = tree["sample_stats"]["lp"].values[chain, kept]
        assert lp == draws.log_joint[chain, at]


@pytest.mark.filterwarnings("ignore:Estimated shape parameter")  # of 80 draws
def test_loo_runs(tree):
    """Rows that are left out are a little less expected."""
    import arviz_stats

    found = arviz_stats.loo(tree, pointwise=True)
    assert np.isfinite(found.elpd)
    total = np.log(np.exp(tree["log_likelihood"]["X"]).mean(("chain", "draw"))).sum()
    assert found.elpd < float(total)
    assert found.elpd > float(total) - 40


def test_a_predictive_check_runs(tree):
    """Means and deviations of new tables lie around those of the data, column by column."""
    new, observed = tree["posterior_predictive"]["X"], tree["observed_data"]["X"]
    for measure in ("mean", "std"):
        p = (getattr(new, measure)("row") > getattr(observed, measure)("row")).mean(
            ("chain", "draw")
        )
        assert ((p > 0.01) & (p < 0.99)).all()


def test_the_same_seed_gives_the_same_tables(model, tree):
    again = model.to_arviz(table())
    assert again.equals(tree)
    assert not model.to_arviz(table(), random_state=1).equals(tree)


def test_large_tables_have_fewer_new_ones(model, tree, monkeypatch):
    monkeypatch.setattr(arviz_data, "_MOST_NUMBERS", 5 * 2 * 80)
    small = model.to_arviz(table())
    assert small["posterior_predictive"].sizes["draw"] == 5
    draws = small["posterior_predictive"]["draw"].values
    assert (draws[0], draws[-1]) == (0, tree["posterior"].sizes["draw"] - 1)
    assert small["log_likelihood"].sizes == tree["log_likelihood"].sizes
    monkeypatch.setattr(arviz_data, "_MOST_NUMBERS", 79)
    with pytest.raises(ValueError, match="would hold 80 entries of X: give at most 79"):
        model.to_arviz(table())


def test_counts_of_words_keep_their_totals():
    rng = np.random.default_rng(0)
    words = sparse.csr_array(rng.poisson(2.0, (20, 4)) + np.eye(20, 4, dtype=int))
    model = BHMC(**QUICK | {"n_draws": 5}).fit(words)
    tree = model.to_arviz(words)
    new = tree["posterior_predictive"]["X"].values
    np.testing.assert_array_equal(
        new.sum(axis=-1), np.broadcast_to(words.sum(axis=1), new.shape[:-1])
    )
    np.testing.assert_array_equal(tree["observed_data"]["X"].values, words.toarray())


def test_without_arviz(model, monkeypatch):
    monkeypatch.setitem(sys.modules, "arviz_base", None)
    with pytest.raises(ImportError, match=r"to_arviz needs ArviZ: .*bhmc\[arviz\]"):
        model.to_arviz(table())


def test_draws_as_a_frame(model, monkeypatch):
    draws = model.draws_
    frame = draws.to_frame()
    assert list(frame.columns) == ["chain", "draw", *draws.numbers()]
    assert len(frame) == 80
    row = frame.iloc[47]
    assert (row["chain"], row["draw"]) == (1, 7)
    for name, values in draws.numbers().items():
        assert row[name] == values[1, 7]
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"to_frame needs pandas: .*bhmc\[pandas\]"):
        draws.to_frame()
