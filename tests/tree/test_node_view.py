"""`tree[3]`: one node and what the tree knows of it, and the two ways of numbering nodes."""

from dataclasses import replace

import numpy as np
import pytest

from bhmc import Tree
from tests.tree.trees import full_random_trees, rows_under, small_state, told_tree


def test_a_view_is_what_the_tree_says():
    for tree in full_random_trees(8):
        table = tree.nodes()
        for node in tree:  # a loop over the nodes, by id
            rows = rows_under(tree, node.id)
            np.testing.assert_array_equal(node.rows, rows)
            assert node.size == len(rows) == tree.sizes[node.id]
            assert node.children == np.flatnonzero(tree.parents == node.id).tolist()
            assert node.parent == tree.parents[node.id]
            assert node.level == len(node.ancestors) == tree.levels[node.id]
            assert set(node.leaves) == set(tree.paths[rows, -1].tolist())
            assert node.label == table["label"][node.id]
            assert node.support == tree.support[node.id]
            assert node.exact_support == tree.exact_support[node.id]
            assert node.features == tree.top_features(node.id)
            counts = np.bincount(tree.components[rows])
            assert node.components == {k: n for k, n in enumerate(counts) if n}
            assert list(node.components.values()) == sorted(node.components.values(), reverse=True)
            assert node.row_names == tree.names[rows].tolist()
        assert node.id == tree.n_nodes - 1


def test_labels_are_places_in_the_leaves():
    for tree in full_random_trees(20):
        np.testing.assert_array_equal(tree.leaves[tree.labels_at(tree.n_levels)], tree.paths[:, -1])
        table = tree.nodes()
        for level in range(tree.n_levels + 1):
            label_of = dict(zip(table["id"].tolist(), table["label"].tolist(), strict=True))
            labels = [label_of[node] for node in tree.paths[:, level].tolist()]
            np.testing.assert_array_equal(labels, tree.labels_at(level))


def test_a_view_reads_well():
    tree = told_tree().rename({3: "hunters"})
    text = """\
Node 3 (hunters): level 2, 3 rows, support 80 %
  parent: 1
  components: c0: 3
  features: wings -2.0
  rows: cat, dog, fox"""
    assert repr(tree["hunters"]) == repr(tree[3]) == text
    assert repr(tree[0]).startswith("Node 0: level 0, 7 rows")
    assert "\n  children: 1, 2\n" in repr(tree[0])
    assert "1 row, " in repr(tree[4])


def test_a_view_of_a_bare_tree():
    node = Tree.from_state(small_state())[1]
    assert np.isnan([node.support, node.exact_support, node.height]).all()
    assert (node.name, node.features, node.location) == ("", [], None)
    assert node.row_names == node.rows.tolist()
    assert replace(node.tree, heights=np.arange(7, 0, -1.0))[1].height == 6


@pytest.mark.parametrize(
    ("node", "error", "words"),
    [
        (7, IndexError, "node must be at most 6, got 7"),
        (-1, IndexError, "node must be at least 0, got -1"),
        ("fish", KeyError, "no node of the tree is called 'fish'"),
        (1.0, TypeError, "node must be the id or the name of a node, got 1.0"),
    ],
)
def test_nodes_that_are_not_there(node, error, words):
    with pytest.raises(error, match=words):
        told_tree()[node]
