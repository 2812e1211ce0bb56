"""The nearest draw and co-clustering, against slow and obvious versions."""

import itertools
from collections import Counter

import numpy as np
import pytest
from sklearn.metrics import mutual_info_score

from bhmc import BHMC
from bhmc.posterior import summary
from bhmc.posterior.draws import Draws, Partition
from bhmc.posterior.kernels.joint import add_joint_terms
from tests.posterior.draws_factory import make_draws

QUICK = {"n_warmup": 10, "n_draws": 7, "random_state": 0}


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(c, 0.4, (12, 2)) for c in (-3.0, 0.0, 3.0)])
    return BHMC(keep="paths", **QUICK).fit(X)


def slow_vi(a, b) -> float:
    """H(a) + H(b) - 2 I(a, b), by scikit-learn's mutual information."""
    return mutual_info_score(a, a) + mutual_info_score(b, b) - 2 * mutual_info_score(a, b)


@pytest.mark.parametrize("n_groups", [1, 3, 40])
def test_expected_vi(n_groups):
    rng = np.random.default_rng(n_groups)
    ours, theirs = rng.integers(0, n_groups, (4, 60)), rng.integers(0, 5, (6, 60))
    expected = [np.mean([slow_vi(a, b) for b in theirs]) for a in ours]
    np.testing.assert_allclose(summary.expected_vi(ours, theirs), expected, atol=1e-12)


def test_expected_vi_where_cells_outnumber_rows():
    """The other way of counting, for trees of many leaves."""
    rng = np.random.default_rng(0)
    ours, theirs = rng.integers(0, 900, (2, 50)), rng.integers(0, 900, (3, 50))
    expected = [np.mean([slow_vi(a, b) for b in theirs]) for a in ours]
    np.testing.assert_allclose(summary.expected_vi(ours, theirs), expected, atol=1e-12)


def test_the_table_of_pairs_is_left_empty():
    rng = np.random.default_rng(2)
    labels, others = rng.integers(0, 3, 40), rng.integers(0, 4, (5, 40))
    counts, terms = np.zeros(12, dtype=np.int64), np.empty(5)
    add_joint_terms(labels, others, others.max(axis=1) + 1, counts, terms)
    assert not counts.any()
    for one, term in zip(others, terms, strict=True):
        met = np.array(list(Counter(zip(labels, one, strict=True)).values()))
        np.testing.assert_allclose(term, np.sum(met * np.log(met)), rtol=1e-12)


def test_labels_mean_nothing():
    rng = np.random.default_rng(1)
    labels = rng.integers(0, 4, 30)
    other = np.array([2, 0, 3, 1])[labels]
    assert summary.expected_vi([labels], [other])[0] < 1e-12


def test_the_nearest_draw_is_the_one_of_the_least_loss(model):
    draws = model.draws_
    n_levels = draws.n_levels
    some = draws.partitions[::4]
    chosen, losses = summary.nearest_draw(some, draws.partitions, n_levels)
    expected = [slow_loss(one, draws, n_levels) for one in some]
    np.testing.assert_allclose(losses, expected, atol=1e-10)
    # Draws with the same partition tie, and their sums differ in the last digit.
    assert expected[chosen] == pytest.approx(min(expected), abs=1e-10)


def slow_loss(candidate: Partition, draws: Draws, n_levels: int) -> float:
    total = 0.0
    for other in draws.partitions:
        total += slow_vi(candidate.component, other.component)
        for level in range(1, n_levels + 1):
            ours, theirs = (one.nodes_at(level, n_levels) for one in (candidate, other))
            total += slow_vi(ours, theirs) / n_levels
    return total / len(draws.partitions)


@pytest.mark.parametrize("level", ["component", 1, 3])
def test_coclustering(model, level):
    draws, n = model.draws_, model.draws_.n_rows
    share = summary.coclustering(draws, level)
    for i, j in itertools.product((0, 5, 20), (0, 7, 35)):
        together = [
            one.component[i] == one.component[j]
            if level == "component"
            else one.nodes_at(level, 3)[i] == one.nodes_at(level, 3)[j]
            for one in draws.partitions
        ]
        assert share[i, j] == pytest.approx(np.mean(together))
    part = summary.coclustering(draws, level, rows=[3, 1], columns=np.arange(5, 9))
    np.testing.assert_array_equal(part, share[[3, 1]][:, 5:9])
    blocks = list(summary.coclustering_blocks(draws, level))
    np.testing.assert_array_equal(np.concatenate([block for _, block in blocks]), share)
    assert np.array_equal(share, share.T)
    assert (np.diag(share) == 1).all()
    assert share.shape == (n, n)


def test_coclustering_comes_in_blocks(model, monkeypatch):
    monkeypatch.setattr(summary, "_BLOCK_ENTRIES", 100)
    blocks = list(summary.coclustering_blocks(model.draws_, 2))
    assert len(blocks) == 18
    assert all(block.size <= 100 for _, block in blocks)


def test_coclustering_of_too_many_is_refused(monkeypatch):
    draws = make_draws()
    monkeypatch.setattr(summary, "_MOST_ENTRIES", 10)
    with pytest.raises(ValueError, match="shares take too much memory"):
        summary.coclustering(draws)
    assert summary.coclustering(draws, rows=[0, 1], columns=[0, 1]).shape == (2, 2)


@pytest.mark.parametrize(
    ("level", "sentence"),
    [
        (0, "level must be at least 1"),
        (9, "level must be at most"),
        ("leaf", "level must be 'component' or a whole number"),
    ],
)
def test_bad_levels(level, sentence):
    with pytest.raises(ValueError, match=sentence):
        summary.coclustering(make_draws(), level)
