"""Flat clusterings cut from a tree, and pruned trees."""

from dataclasses import replace

import numpy as np
import pytest

from bhmc import Tree
from tests.tree.trees import (
    assert_same,
    check_tree,
    full_random_trees,
    full_tree,
    rows_under,
    small_state,
    state_of,
    told_tree,
    trees_to_look_up,
)


def slow_cut(tree, n_clusters):
    """The rule of `cut` in the plainest words: a list of clusters, searched anew for every split.

    A cluster is a node and the rows that it still holds.
    """
    clusters = [(0, set(range(len(tree.paths))))]
    while len(clusters) < n_clusters:
        best = None
        for node, _ in clusters:
            bottom = node
            while len(children := np.flatnonzero(tree.parents == bottom)) == 1:
                bottom = children[0]
            if len(children):
                key = (tree.levels[bottom], -tree.sizes[bottom], bottom)
                best = min(best or (key, node, children), (key, node, children), key=lambda b: b[0])
        if best is None:
            break
        _, node, children = best
        rows = dict(clusters)[node]
        wanted = n_clusters - len(clusters) + 1
        if len(children) > wanted:  # the smaller ones stay together
            children = sorted(children, key=lambda child: -tree.sizes[child])[: wanted - 1]
        new = [(child, set(rows_under(tree, child))) for child in children]
        left = rows.difference(*(held for _, held in new))
        clusters = [one for one in clusters if one[0] != node] + new
        clusters += [(f"rest of {node}", left)] if left else []
        if left:
            break
    return {frozenset(map(int, rows)) for _, rows in clusters}


def clusters_of(labels):
    return {frozenset(np.flatnonzero(labels == label).tolist()) for label in np.unique(labels)}


def test_cut_into_a_number():
    """Exactly so many clusters wherever there are as many leaves; labels in order of the tree."""
    for tree in trees_to_look_up():
        for n_clusters in range(1, tree.n_leaves + 1):
            labels = tree.cut(n_clusters=n_clusters)
            assert clusters_of(labels) == slow_cut(tree, n_clusters)
            assert len(np.unique(labels)) == labels.max() + 1 == n_clusters
            assert labels.dtype == np.int32
            _, first = np.unique(labels[tree._index.rows], return_index=True)
            assert (np.diff(first) > 0).all()


def test_a_tree_of_too_few_leaves_gives_its_leaves_and_says_so():
    for tree in trees_to_look_up():
        leaves = "1 leaf" if tree.n_leaves == 1 else f"{tree.n_leaves} leaves"
        wanted = tree.n_leaves + 2
        sentence = (
            f"^cut gives {tree.n_leaves} of the {wanted} clusters wanted, because the tree has "
            rf"only {leaves}\.$"
        )
        with pytest.warns(UserWarning, match=sentence) as said:
            labels = tree.cut(wanted)
        assert said[0].filename == __file__
        assert clusters_of(labels) == clusters_of(tree.labels_at(tree.n_levels))


def test_cut_into_as_many_as_a_level_has_is_that_level():
    for tree in full_random_trees():
        for level in range(tree.n_levels + 1):
            labels = tree.labels_at(level)
            np.testing.assert_array_equal(tree.cut(labels.max() + 1), labels)


def test_a_split_of_too_many_gives_its_largest_children():
    """Node 1 splits into 3, node 2 into 2: for 3 clusters node 1 gives one child, the larger."""
    state = state_of(
        paths=[[0, 1, 3], [0, 1, 4], [0, 1, 4], [0, 1, 5], [0, 2, 6], [0, 2, 7]],
        components=[0] * 6,
        parents=[-1, 0, 0, 1, 1, 1, 2, 2],
    )
    tree = Tree.from_state(state)
    np.testing.assert_array_equal(tree.cut(1), [0, 0, 0, 0, 0, 0])
    np.testing.assert_array_equal(tree.cut(2), [0, 0, 0, 0, 1, 1])
    np.testing.assert_array_equal(tree.cut(3), [1, 0, 0, 1, 2, 2])
    np.testing.assert_array_equal(tree.cut(4), [1, 0, 0, 2, 3, 3])
    np.testing.assert_array_equal(tree.cut(5), [1, 0, 0, 2, 3, 4])


def test_cut_by_support():
    """By hand: node 2 lacks support, its child 6 does not, and counts."""
    support = np.array([1, 0.9, 0.4, 0.8, 0.3, 0.8, 0.99])
    tree = replace(Tree.from_state(small_state()), support=support)
    # The deepest nodes with support: rows 2, 3, 5 in node 3; row 6 in 5; row 0 in 1; 1, 4 in 6.
    np.testing.assert_array_equal(tree.cut(min_support=0.8), [0, 3, 1, 1, 3, 1, 2])
    np.testing.assert_array_equal(tree.cut(min_support=0.81), [0, 1, 0, 0, 1, 0, 0])
    np.testing.assert_array_equal(tree.cut(min_support=1), [0] * 7)
    np.testing.assert_array_equal(tree.cut(min_support=0), tree.labels_at(2))


def test_cut_by_support_of_random_trees():
    for tree in trees_to_look_up():
        for min_support in (0.0, 0.3, 0.7, 1.0):
            nodes = [
                max((node for node in path if tree.support[node] >= min_support), default=0)
                for path in tree.paths
            ]
            labels = tree.cut(min_support=min_support)
            pairs = {(node, label) for node, label in zip(nodes, labels, strict=True)}
            assert len(pairs) == len(np.unique(nodes)) == labels.max() + 1


def test_support_that_is_not_known_is_too_little():
    tree = replace(full_tree(), support=np.array([np.nan, 0.9, np.nan, 0.9, 0.9, 0.9, np.nan]))
    np.testing.assert_array_equal(tree.cut(min_support=0.0), [2, 0, 1, 1, 0, 1, 3])


@pytest.mark.parametrize(
    ("asked", "error", "words"),
    [
        ({}, ValueError, "cut takes n_clusters or min_support: give one of them"),
        ({"n_clusters": 2, "min_support": 0.5}, ValueError, "give one of them"),
        ({"n_clusters": 0}, ValueError, "n_clusters must be at least 1, got 0"),
        ({"n_clusters": 2.0}, TypeError, "n_clusters must be a whole number"),
        ({"min_support": 82}, ValueError, "min_support must be from 0 to 1, got 82"),
        ({"min_support": float("nan")}, ValueError, "min_support must be from 0 to 1"),
        ({"min_support": "high"}, TypeError, "min_support must be a number from 0 to 1"),
    ],
)
def test_cuts_that_are_refused(asked, error, words):
    with pytest.raises(error, match=words):
        full_tree().cut(**asked)


@pytest.mark.parametrize(
    "ask",
    [
        lambda tree: tree.cut(min_support=0.5),
        lambda tree: tree.to_text(min_support=0.5),
        lambda tree: tree.consensus(),
        lambda tree: tree.to_newick(labels="support"),
    ],
)
def test_support_that_the_tree_does_not_carry(ask):
    with pytest.raises(
        ValueError, match="needs the support of the nodes, which this tree does not"
    ):
        ask(Tree.from_state(small_state()))


def slow_groups(tree, min_size, level):
    """What becomes one node: a text for each row, built from the root down."""
    groups = [""] * len(tree.paths)
    for below in range(1, level + 1):
        for row, path in enumerate(tree.paths):
            node = path[below]
            groups[row] += f"/{node if tree.sizes[node] >= min_size else 'rest'}"
    return groups


@pytest.mark.parametrize("min_size", [1, 2, 3, 6, 100])
def test_pruned_trees(min_size):
    for tree in full_random_trees(20):
        small = tree.prune(min_size)
        check_tree(small)
        assert small.n_levels == tree.n_levels
        for level in range(tree.n_levels + 1):
            groups = slow_groups(tree, min_size, level)
            pairs = set(zip(groups, small.paths[:, level].tolist(), strict=True))
            assert len(pairs) == len(set(groups)) == (small.levels == level).sum()
            # Every node of the old tree is counted once, at its own level.
            assert small.merged[small.levels == level].sum() == (tree.levels == level).sum()
        for name in ("components", "theta", "names", "component_means", "alpha"):
            np.testing.assert_array_equal(getattr(small, name), getattr(tree, name))
        known = {}
        for node in range(tree.n_nodes):
            known.setdefault(tuple(tree.members(node)), []).append(tree.support[node])
        for node in range(small.n_nodes):
            rows = tree.paths[small.members(node), small.levels[node]]  # the old nodes, row by row
            np.testing.assert_allclose(small.weights[node], tree.weights[rows].mean(axis=0))
            assert small.merged[node] == len(np.unique(rows))
            if small.merged[node] == 1:
                assert small.support[node] == tree.support[rows[0]]
                assert small.exact_support[node] == tree.exact_support[rows[0]]
            elif tuple(small.members(node)) in known:  # an only child, after pruning
                assert small.support[node] in known[tuple(small.members(node))]
            else:
                assert np.isnan(small.support[node])
        assert_same(small.prune(min_size), small)


def test_pruning_nothing_changes_nothing():
    for tree in full_random_trees():
        assert_same(tree.prune(1), tree)
        assert_same(tree.prune(int(tree.sizes.min())), tree)


def test_a_pruned_tree_by_hand():
    """Nodes 4 and 5 hold a datum each. A second pruning counts what the first put together."""
    tree = told_tree().prune(2)
    np.testing.assert_array_equal(tree.parents, [-1, 0, 0, 1, 1, 2])
    np.testing.assert_array_equal(tree.sizes, [7, 5, 2, 3, 2, 2])
    np.testing.assert_array_equal(tree.merged, [1, 1, 1, 1, 2, 1])
    np.testing.assert_array_equal(tree.support, [1, 0.9, 0.4, 0.8, np.nan, 0.4])
    again = tree.prune(4)
    np.testing.assert_array_equal(again.sizes, [7, 5, 2, 5, 2])
    np.testing.assert_array_equal(again.merged, [1, 1, 1, 3, 1])
    # The one child of node 1 has its members, and so its support.
    assert again.support[3] == again.support[1] == 0.9
    text = """\
root 7 (c0: 4, c1: 2, c2: 1)
├── [1] 5, 90 % (c0: 4, c1: 1)
│   ├── [3] 3, 80 % (c0: 3) cat, dog, fox
│   └── [4] 2, others: 2 nodes (c0: 1, c1: 1) ant, gnu
└── [2 > 5] 2, 40 % (c1: 1, c2: 1) bee, eel"""
    assert str(tree) == text


def test_min_size_is_checked():
    with pytest.raises(ValueError, match="min_size must be at least 1, got 0"):
        full_tree().prune(0)
