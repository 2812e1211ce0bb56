"""The tree of nodes with enough support, against sets of rows."""

from dataclasses import replace

import numpy as np
import pytest

from tests.tree.trees import (
    assert_same,
    check_tree,
    full_random_trees,
    full_tree,
    rows_under,
    told_tree,
    trees_to_look_up,
)


def sets_of(tree, nodes):
    return {frozenset(rows_under(tree, node).tolist()) for node in nodes}


@pytest.mark.parametrize("min_support", [0.0, 0.3, 0.6, 1.0])
def test_it_has_all_groups_of_enough_support_and_rests(min_support):
    for tree in trees_to_look_up():
        small = tree.consensus(min_support)
        check_tree(small)
        good = np.flatnonzero(tree.support >= min_support)
        wanted = sets_of(tree, [0, *good])
        # A rest holds what is left of a group after the largest groups inside it.
        for group in list(wanted):
            inside = [one for one in wanted if one < group]
            left = group.difference(*inside) if inside else frozenset()
            wanted |= {left} if left else set()
        assert sets_of(small, range(small.n_nodes)) == wanted
        # No longer than it must be: the last level has a node that is no only child.
        assert small.n_levels == 0 or (
            np.bincount(small.parents[1:])[small.parents[small.levels == small.n_levels]].max() > 1
        )


@pytest.mark.parametrize("min_support", [0.0, 0.3, 0.6, 1.0])
def test_the_cut_of_the_same_support_has_its_leaves(min_support):
    """So a supported child of a parent without support is a cluster."""
    for tree in trees_to_look_up():
        labels = tree.cut(min_support=min_support)
        clusters = {frozenset(np.flatnonzero(labels == one).tolist()) for one in np.unique(labels)}
        small = tree.consensus(min_support)
        assert clusters == sets_of(small, small.leaves)


def test_nodes_keep_what_they_carry():
    for tree in full_random_trees(20):
        small = tree.consensus(0.4)
        for node in range(small.n_nodes):
            rows = rows_under(small, node)
            same = [z for z in range(tree.n_nodes) if set(rows_under(tree, z)) == set(rows)]
            if small.merged[node] == 1:  # the upper one of a chain that has the support
                assert small.support[node] in tree.support[same]
                assert small.exact_support[node] in tree.exact_support[same]
                weights = tree.weights[same]
                assert (weights == small.weights[node]).all(axis=1).any()
            else:
                assert np.isnan(small.support[node])
                assert np.isnan(small.exact_support[node])
        for name in ("components", "theta", "names", "component_means", "alpha"):
            np.testing.assert_array_equal(getattr(small, name), getattr(tree, name))


def test_a_rest_has_the_mean_of_its_nodes():
    """Nodes 4 and 5 of one row each are the rest beside node 3."""
    tree = replace(told_tree(), support=np.array([1, 0.9, 0.4, 0.8, 0.3, 0.4, 0.4]))
    weights = np.random.default_rng(0).dirichlet(np.ones(4), 7)
    small = replace(tree, weights=weights, heights=7.0 - np.arange(7.0)).consensus()
    np.testing.assert_array_equal(small.sizes, [7, 5, 2, 3, 2, 2])
    np.testing.assert_array_equal(small.merged, [1, 1, 1, 1, 2, 1])
    np.testing.assert_array_equal(small.support, [1, 0.9, 0.4, 0.8, np.nan, 0.4])
    np.testing.assert_allclose(small.weights[4], weights[4:6].mean(axis=0))
    np.testing.assert_array_equal(small.heights, [7, 6, 5, 4, 6, 5])


def test_children_are_lifted_over_a_parent_without_support():
    tree = replace(told_tree(), support=np.array([1, 0.1, 0.8, 0.9, 0.7, 0.2, 0.8]))
    text = """\
root 7 (c0: 4, c1: 2, c2: 1)
├── [3] 3, 90 % (c0: 3) cat, dog, fox
├── [2 > 6] 2, 80 % (c1: 1, c2: 1) bee, eel
├── [4] 1, 70 % (c1: 1) ant
└── … 1 less supported node, 1 datum"""
    assert tree.to_text(min_support=0.5) == text
    assert (
        str(tree.consensus())
        == """\
root 7 (c0: 4, c1: 2, c2: 1)
├── [1] 3, 90 % (c0: 3) cat, dog, fox
├── [2] 2, 80 % (c1: 1, c2: 1) bee, eel
├── [3] 1, 70 % (c1: 1) ant
└── [4] 1, 20 % (c0: 1) gnu"""
    )


def test_a_consensus_of_itself():
    for tree in full_random_trees(20):
        small = tree.consensus(0.5)
        assert_same(small.consensus(0.5), small)


def test_nothing_but_the_root():
    tree = replace(full_tree(), support=np.zeros(7))
    small = tree.consensus(0.5)
    assert (small.n_nodes, small.n_levels) == (1, 0)
    np.testing.assert_array_equal(small.cut(min_support=0.5), np.zeros(7))


def test_min_support_is_checked():
    with pytest.raises(ValueError, match="min_support must be from 0 to 1, got 50"):
        full_tree().consensus(50)
