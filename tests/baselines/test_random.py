"""The control: the law of the nested Chinese restaurant process, blind to the data."""

import numpy as np
import pytest

from bhmc import metrics
from bhmc.baselines import RandomTree
from bhmc.model.describe_prior import expected_tables
from tests.tree.trees import check_tree


def tree_of(seed, n=60, **settings):
    return RandomTree(random_state=seed, **settings).fit(np.zeros((n, 2))).tree_


def test_it_is_a_tree_of_the_wanted_depth():
    tree = tree_of(0, alpha=2.0, n_levels=4)
    check_tree(tree)
    assert (tree.n_levels, tree.sizes[0], tree.alpha) == (4, 60, 2.0)


def test_three_data_in_two_levels_have_their_exact_probabilities():
    """For alpha 1: all together at both levels 1/3 x 1/3, all apart at the first 1/6."""
    shapes = [tree_of(seed, n=3, alpha=1.0, n_levels=2).levels for seed in range(1_500)]
    nodes = np.array([[np.sum(levels == level) for level in (1, 2)] for levels in shapes])
    together, apart = np.mean((nodes == 1).all(axis=1)), np.mean(nodes[:, 0] == 3)
    for share, chance in ((together, 1 / 9), (apart, 1 / 6)):
        assert abs(share - chance) < 4 * np.sqrt(chance * (1 - chance) / 1_500)


def test_branches_are_as_many_as_alpha_says():
    counts = [np.sum(tree_of(seed, alpha=3.0, n_levels=1).levels == 1) for seed in range(400)]
    error = np.std(counts) / 20
    assert abs(np.mean(counts) - expected_tables(60, 3.0)) < 4 * error


def test_a_seed_gives_one_tree_whatever_the_data():
    rng = np.random.default_rng(0)
    one = RandomTree(random_state=5).fit(rng.normal(size=(40, 3)))
    other = RandomTree(random_state=5).fit(rng.normal(size=(40, 1)))
    np.testing.assert_array_equal(one.tree_.paths, other.tree_.paths)
    np.testing.assert_array_equal(one.labels_, one.tree_.cut(8))
    assert not np.array_equal(one.tree_.paths, tree_of(6, n=40).paths)


def test_chance_alone_is_pure_but_not_adjusted():
    """Many small leaves: high purity and NMI of classes it has never seen."""
    truth = np.random.default_rng(0).integers(0, 30, 1_000)
    leaves = tree_of(0, n=1_000, alpha=3.0, n_levels=6).labels_at(6)
    assert metrics.purity(truth, leaves) > 0.5
    assert metrics.nmi(truth, leaves) > 0.5
    assert abs(metrics.ami(truth, leaves)) < 0.05
    assert abs(metrics.ari(truth, leaves)) < 0.01


def test_bad_settings_are_refused():
    with pytest.raises(ValueError, match="alpha must be finite and above 0"):
        tree_of(0, alpha=0.0)
    with pytest.raises(ValueError, match="n_levels must be at least 1"):
        tree_of(0, n_levels=0)
