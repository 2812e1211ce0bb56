"""Which rows and nodes a page of a large tree has."""

from dataclasses import replace

import numpy as np
import pytest

from bhmc import Tree
from bhmc._explorer.effects import Members
from bhmc._explorer.items import chosen_rows, oddest
from bhmc._explorer.shown import shown
from tests.explorer.reading import Page, read


@pytest.fixture(scope="module")
def tree() -> Tree:
    """5,000 rows: 40 leaves of 2 rows, 10 leaves of hundreds."""
    parents = [-1, *[0] * 5, *(1 + np.arange(50) % 5)]
    tips = 6 + np.concatenate([np.repeat(np.arange(40), 2), 40 + np.arange(4920) % 10])
    order = np.random.default_rng(0).permutation(5000)
    return Tree.from_parents(parents, tips[order], names=[f"row {i}" for i in range(5000)])


def test_all_rows_are_there_if_they_are_few(tree):
    np.testing.assert_array_equal(chosen_rows(tree, 5000, None, ()), np.arange(5000))


def test_a_sample_has_odd_rows_typical_members_and_every_leaf(tree):
    scores = np.random.default_rng(1).random(5000)
    scores[7] = np.nan
    members = [Members(typical=(3, 4), borderline=(5,))]
    rows = chosen_rows(tree, 400, scores, members)
    assert len(rows) == 400
    assert (np.diff(rows) > 0).all()
    assert {3, 4, 5} <= set(rows.tolist())
    known = np.where(np.isnan(scores), -1, scores)
    assert set(np.argsort(-known)[:100].tolist()) <= set(rows.tolist())
    leaves = np.bincount(tree.paths[rows, -1], minlength=tree.n_nodes)[tree.leaves]
    assert (leaves[tree.sizes[tree.leaves] == 2] == 2).all()
    assert leaves.min() >= 2


def test_the_rest_of_a_sample_is_evenly_spaced(tree):
    rows = chosen_rows(tree, 2500, None, ())
    assert len(rows) == 2500
    share = np.bincount(tree.paths[rows, 1])[1:] / tree.sizes[1:6]
    np.testing.assert_allclose(share, 0.5, atol=0.02)


@pytest.mark.parametrize("most", [1, 10, 99])
def test_a_sample_is_never_larger_than_asked(tree, most):
    rows = chosen_rows(tree, most, np.linspace(0, 1, 5000), [Members((1, 2), (3,))])
    assert len(rows) == most
    assert rows[-1] == 4999  # the oddest comes first


def test_the_oddest_come_in_order_and_unknown_scores_never():
    assert oddest(np.array([0.1, np.nan, 0.9, 0.5]), 9).tolist() == [2, 3, 0]
    assert oddest(None, 9).tolist() == []


def test_a_page_of_a_sample_says_so_and_counts_all_rows(tree, tmp_path):
    info, found = read(tree.explore(tmp_path / "a.html", max_items=300))
    assert info["n_items"] == 5000
    assert info["n_embedded"] == 300 == len(found["items.names"])
    np.testing.assert_array_equal(found["tree.sizes"], tree.sizes)
    rows = found["items.row"].astype(int)
    assert found["items.names"] == [f"row {row}" for row in rows]
    np.testing.assert_array_equal(found["tree.leaf"], tree.paths[rows, -1])
    assert "This page holds 300 of 5,000 rows" in " ".join(info["about"])


def test_rows_without_names_are_called_by_their_number(tree, tmp_path):
    _, found = read(replace(tree, names=None).explore(tmp_path / "a.html", max_items=10))
    assert found["items.names"] == [f"row {row}" for row in found["items.row"]]


def test_of_too_many_nodes_the_largest_are_shown(tree):
    found = shown(tree, 16)
    assert len(found.ids) == 16
    assert tree.sizes[found.ids].min() >= np.sort(tree.sizes)[-16]
    assert found.ids[0] == 0
    leaf = found.leaf_of(np.array([0, -1]))
    kept = set(found.ids.tolist())
    path = tree.paths[0].tolist()
    assert found.ids[leaf[0]] == [node for node in path if node in kept][-1]
    assert leaf[1] == -1
    np.testing.assert_array_equal(found.levels, tree.levels[found.ids])


def test_a_large_tree_is_written_small_and_the_same_twice(tmp_path):
    rng = np.random.default_rng(0)
    parents = [-1, *((np.arange(1, 2000) - 1) // 8)]
    tips = rng.integers(250, 2000, size=100_000)
    tree = Tree.from_parents(parents, tips)
    paths = [tree.explore(tmp_path / name) for name in ("a.html", "b.html")]
    first, second = (Page(path) for path in paths)
    assert first.text == second.text
    assert len(first.block) < 300_000
