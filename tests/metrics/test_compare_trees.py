"""`compare_trees`, against sets of rows compared one by one."""

from dataclasses import replace

import numpy as np
import pytest

from bhmc import BHMC, Tree, compare_trees, metrics
from tests.tree.tree_factory import small_tree


def sets_of(tree, min_size=2):
    """The different sets of rows by the id of their uppermost node, without the root's."""
    found = {}
    for node in range(tree.n_nodes):
        rows = frozenset(tree.members(node).tolist())
        if min_size <= len(rows) < len(tree.paths) and rows not in found.values():
            found[node] = rows
    return found


def jaccard(one, two):
    return len(one & two) / len(one | two)


@pytest.mark.parametrize("seed", range(6))
def test_matches_against_all_pairs_of_sets(seed):
    a, b = small_tree(seed, alpha=2.0), small_tree(seed + 50, alpha=1.0, n_levels=2)
    found = compare_trees(a, b)
    of_a, of_b = sets_of(a), sets_of(b)
    assert len(of_a) > 3
    np.testing.assert_allclose(
        found.best_a, [max(jaccard(one, two) for two in of_b.values()) for one in of_a.values()]
    )
    np.testing.assert_allclose(
        found.best_b, [max(jaccard(one, two) for one in of_a.values()) for two in of_b.values()]
    )
    for pair in found.pairs:
        one, two = of_a[pair.a], of_b[pair.b]
        assert pair[2:] == (len(one), len(two), len(one & two), pytest.approx(jaccard(one, two)))
        assert found.left(pair).tolist() == sorted(one - two)
        assert found.joined(pair).tolist() == sorted(two - one)
    for alone in (*found.only_a, *found.only_b):
        best = found.best_a if alone.b < 0 else found.best_b
        assert alone.jaccard in best
    # One to one, and every node is somewhere.
    ids = [pair.a for pair in (*found.pairs, *found.only_a)]
    assert sorted(ids) == sorted(of_a)
    assert sorted(pair.b for pair in (*found.pairs, *found.only_b)) == sorted(of_b)
    # No two nodes would both have a better partner in each other.
    held_a = {pair.a: pair.jaccard for pair in found.pairs}
    held_b = {pair.b: pair.jaccard for pair in found.pairs}
    for node, one in of_a.items():
        for other, two in of_b.items():
            mutual = jaccard(one, two)
            assert mutual <= max(held_a.get(node, 0), held_b.get(other, 0)) + 1e-12


def test_a_tree_with_itself():
    tree = small_tree(3)
    found = compare_trees(tree, tree)
    assert found.similarity == 1.0
    assert all(pair.a == pair.b and pair.jaccard == 1 for pair in found.pairs)
    assert not found.only_a
    assert not found.moved
    assert "left" not in str(found)
    trivial = Tree.from_parents([-1, 0], [1, 1, 1])
    assert compare_trees(trivial, trivial).similarity == 1.0


def test_rows_that_moved_are_named():
    names = np.array(["ant", "bee", "cat", "dog", "eel"])
    one = replace(Tree.from_parents([-1, 0, 0], [1, 1, 2, 2, 2]), names=names)
    two = Tree.from_parents([-1, 0, 0], [1, 1, 1, 2, 2])
    found = compare_trees(one, two)
    assert found.moved == {2: 2}
    assert found.name(2) == "cat"
    text = str(found)
    assert "left: cat" in text
    assert "joined: cat" in text
    assert "1 row left or joined a matched node: cat" in text
    assert "<pre>" in found._repr_html_()
    frame = found.to_frame()
    assert frame.jaccard.tolist() == [2 / 3, 2 / 3]


def test_rows_are_compared_by_name():
    a = small_tree(0, n=30)
    order = np.random.default_rng(0).permutation(30)[:20]
    b = Tree.from_parents(a.parents, a.paths[order, -1], names=a.names[order])
    found = compare_trees(a, b)
    assert len(found.rows) == 20
    assert found.similarity == 1.0
    assert "(10 of a and 0 of b are left out)" in str(found)
    assert (a.names[found.rows[:, 0]] == b.names[found.rows[:, 1]]).all()
    same = np.array(["frog", "frog", *a.names[2:]])  # by place where all names are the same
    assert compare_trees(replace(a, names=same), replace(a, names=same)).similarity == 1.0


def test_labels_are_trees_too():
    labels = np.array([["animal", "bird"]] * 3 + [["animal", "fish"]] * 2 + [["plant", "bird"]] * 3)
    tree = Tree.from_parents([-1, 0, 0, 1, 1], [3] * 3 + [4] * 2 + [2] * 3)
    found = compare_trees(tree, labels)
    assert found.similarity == 1.0
    assert sorted(found.b.node_names.tolist()) == ["", "animal", "bird", "bird", "fish", "plant"]
    assert found.b.n_levels == 2
    for pair in found.pairs:
        rows = found.b.members(pair.b)
        level = found.b.levels[pair.b] - 1
        assert set(labels[rows, level]) == {found.b.node_names[pair.b]}
    assert compare_trees([0, 0, 1, 1], [5, 5, 2, 2]).similarity == 1.0


def test_fitted_models_and_refusals():
    X = np.repeat([[0.0], [9.0]], 6, axis=0) + np.linspace(0, 1, 12)[:, None]
    model = BHMC(n_levels=1, n_warmup=20, n_draws=20, random_state=0).fit(X)
    found = compare_trees(model, np.repeat([0, 1], 6))
    assert found.a is model.tree_
    for a, b, words in (
        (BHMC(), model, "a is not fitted: call fit first"),
        (model, [1, 2], "a has 12 rows and b has 2: without names"),
        (model, 3, "b must be a Tree, a fitted model, or labels of shape"),
        (model, [None] * 12, "that of row 0 is missing"),
    ):
        with pytest.raises(ValueError, match=words):
            compare_trees(a, b)
    with pytest.raises(ValueError, match="min_size must be at least 1"):
        compare_trees(model, model, min_size=0)
    tree = small_tree(0, n=30)
    other = replace(tree, names=np.array([f"other {i}" for i in range(30)]))
    with pytest.raises(ValueError, match="no row in common"):
        compare_trees(tree, other)
    twice = replace(tree, names=np.array(["frog"] * 30))
    with pytest.raises(ValueError, match="the rows of b have names that occur more than once"):
        compare_trees(tree, twice)


def test_large_trees_are_quick():
    rng = np.random.default_rng(0)
    labels = np.sort(rng.integers(0, 3000, size=20_000))
    levels = np.column_stack([labels // 300, labels // 30, labels])
    found = metrics.compare_trees(levels, rng.permutation(levels))
    assert len(found.best_a) > 2500
    assert len(str(found).splitlines()) < 40
