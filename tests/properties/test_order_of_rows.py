"""Rows in another order, and labels of other names, say the same."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.base import clone
from studies.same_draws import data

from bhmc import BHMC, Tree, log_joint, metrics
from bhmc.model.state import Partition
from bhmc.posterior.summary import expected_losses
from bhmc.posterior.support import soft_support
from tests.exact import alarm
from tests.properties.cases import (
    FEW,
    HYPER,
    MANY,
    PAIRS,
    log_likelihood,
    reordered,
    short_chain,
    some_state,
)

N = data.N_ROWS
ORDERS = st.permutations(range(N)).map(np.array)


@pytest.mark.parametrize(("name", "family"), PAIRS)
@given(order=ORDERS)
@FEW
def test_the_log_joint_is_the_same(name, family, order):
    state, X = some_state(name, family), data.rows_of(family)
    moved, both = reordered(state, order), {"hyper": HYPER, "likelihood": data.FAMILIES[family]}
    assert log_joint(moved, X[order], **both) == pytest.approx(log_joint(state, X, **both), 1e-10)
    right = log_likelihood(name, family, state, X)
    assert log_likelihood(name, family, moved, X[order]) == pytest.approx(right, 1e-10)
    if not np.array_equal(state.components[order], state.components):
        # The rows alone in another order are another table, which the state does not fit.
        assert log_likelihood(name, family, state, X[order]) != pytest.approx(right, 1e-10)


# ---- Summaries and metrics -----------------------------------------------------------------------


def draws_of(name, family="gaussian-scalar", seeds=(1, 2, 3)):
    X = data.rows_of(family)
    return [short_chain(name, family, X, seed, sweeps=3).partition() for seed in seeds]


def in_order(partition, order):
    return Partition(partition.leaf[order], partition.component[order], partition.parents)


@pytest.mark.parametrize("name", sorted({name for name, _ in PAIRS}))
@given(order=ORDERS)
@FEW
def test_summaries_are_the_same(name, order):
    draws = draws_of(name)
    moved = [in_order(one, order) for one in draws]
    n_levels = int(draws[0].levels.max())
    right = expected_losses(draws, draws, n_levels)
    np.testing.assert_allclose(expected_losses(moved, moved, n_levels), right, atol=1e-12)
    paths, n_nodes = draws[0].paths(n_levels), len(draws[0].parents)
    support = soft_support(paths, n_nodes, draws)
    np.testing.assert_allclose(soft_support(paths[order], n_nodes, moved), support, atol=1e-12)


FLAT = [metrics.purity, metrics.nmi, metrics.ari, metrics.ami, metrics.f_measure]
LABELS = st.lists(st.integers(0, 4), min_size=N, max_size=N).map(np.array)


@pytest.mark.parametrize("metric", FLAT)
@given(truth=LABELS, labels=LABELS, order=ORDERS, names=st.permutations("abcde").map(np.array))
@MANY
def test_flat_metrics_are_the_same(metric, truth, labels, order, names):
    right = metric(truth, labels)
    assert metric(truth[order], labels[order]) == pytest.approx(right, abs=1e-12)
    assert metric(names[truth], labels) == pytest.approx(right, abs=1e-12)
    assert metric(truth, names[labels]) == pytest.approx(right, abs=1e-12)


@pytest.mark.parametrize("metric", [metrics.dendrogram_purity, metrics.f_measure_tree])
@given(truth=LABELS, order=ORDERS, names=st.permutations("abcde").map(np.array))
@FEW
def test_metrics_of_trees_are_the_same(metric, truth, order, names):
    state = some_state("hdp", "gaussian-scalar")
    tree, moved = Tree.from_state(state), Tree.from_state(reordered(state, order))
    right = metric(tree, truth)
    assert metric(moved, truth[order]) == pytest.approx(right, abs=1e-12)
    assert metric(tree, names[truth]) == pytest.approx(right, abs=1e-12)


# ---- Fits ----------------------------------------------------------------------------------------

SHORT = {"n_warmup": 4, "n_draws": 6, "n_chains": 2, "random_state": 5, "n_levels": 2}


@pytest.fixture(scope="module", params=["hdp", "diffused", "gaussian"])
def model(request):
    settings = {"transition": request.param, "likelihood": "shared_gaussian"}
    return BHMC(**SHORT, **settings).fit(data.rows_of("shared"))


@given(order=ORDERS)
@FEW
def test_predictions_go_with_their_rows(model, order):
    X = data.rows_of("shared") + 0.25
    for verb in (model.predict, model.predict_path, model.predict_component):
        np.testing.assert_array_equal(verb(X[order]), verb(X)[order])
    for verb in (model.predict_proba, model.score_samples, model.transform):
        np.testing.assert_allclose(verb(X[order]), verb(X)[order], rtol=1e-9, atol=1e-12)


def test_rows_that_are_twice_there_have_one_answer(model):
    X = data.rows_of("shared")
    twice = clone(model).fit(np.repeat(X, 2, axis=0))
    for one in (model, twice):
        answers = one.predict_proba(np.repeat(X, 2, axis=0))
        assert np.isfinite(answers).all()
        np.testing.assert_array_equal(answers[::2], answers[1::2])


@pytest.mark.parametrize("name", ["hdp", "diffused", "gaussian"])
def test_labels_to_start_from_may_have_any_names(name):
    X, labels = data.rows_of("shared"), (np.arange(N) % 4)[:, None]
    renamed = np.array([30, 10, 40, 20])[labels]
    one, other = (
        short_chain(name, "shared", X, 1, 0, init).partition() for init in (labels, renamed)
    )
    for field in ("leaf", "component"):
        assert metrics.ari(getattr(one, field), getattr(other, field)) == 1.0


N_CHAINS, SWEEPS, FEW_ROWS = 100, 12, 8


def last_numbers(name, X, first_seed, n_chains=N_CHAINS):
    """(chains, 3) log likelihood, nodes and components after a few sweeps."""
    chains = (
        short_chain(name, "gaussian-scalar", X, first_seed + i, SWEEPS) for i in range(n_chains)
    )
    return np.array([(one.log_likelihood(), one.n_nodes, one.n_components) for one in chains])


def tail_probabilities(one, other):
    alarm.checks_made += one.shape[1]
    return np.array([stats.ks_2samp(a, b).pvalue for a, b in zip(one.T, other.T, strict=True)])


@pytest.mark.parametrize("name", ["hdp", "diffused", "gaussian"])
def test_fits_have_one_law_in_any_order(name):
    X = data.rows_of("gaussian-scalar", FEW_ROWS)
    order = np.random.default_rng(4).permutation(FEW_ROWS)
    right = last_numbers(name, X, 0)
    assert (tail_probabilities(right, last_numbers(name, X[order], 1_000)) > alarm.P_LIMIT).all()
    other = np.zeros_like(X)  # another table, which the test tells apart
    assert (tail_probabilities(right, last_numbers(name, other, 2_000, 25)) < alarm.P_LIMIT).any()
