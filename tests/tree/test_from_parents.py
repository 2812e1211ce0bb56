"""Trees from parents and from merges: what a dendrogram is as a `Tree`."""

import io
from dataclasses import replace

import numpy as np
import pytest
from Bio import Phylo
from matplotlib.text import Text
from scipy.cluster.hierarchy import cophenet, fcluster, linkage

from bhmc import Tree, plotting
from tests.tree.trees import assert_same, check_tree

#        8            heights 4
#      /   \
#     7     \          3
#    / \     \
#   5   \     6        1, 2
#  / \   \   / \
# 0   1   2 3   4      0
PARENTS = [5, 5, 7, 6, 6, 7, 8, 8, -1]
HEIGHTS = [0, 0, 0, 0, 0, 1, 2, 3, 4]


def small(**more):
    return Tree.from_parents(PARENTS, [0, 1, 2, 3, 4], heights=HEIGHTS, **more)


def random_merges(seed, n=40):
    return linkage(np.random.default_rng(seed).normal(size=(n, 2)), "average")


def test_by_hand():
    tree = small(names="abcde")
    check_tree(tree)
    np.testing.assert_array_equal(tree.parents, [-1, 0, 0, 1, 1, 2, 2, 3, 3, 4, 5, 6])
    np.testing.assert_array_equal(tree.sizes, [5, 3, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1])
    np.testing.assert_array_equal(tree.heights, [4, 3, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0])
    np.testing.assert_array_equal(
        tree.paths, [[0, 1, 3, 7], [0, 1, 3, 8], [0, 1, 4, 9], [0, 2, 5, 10], [0, 2, 6, 11]]
    )
    assert not tree.has_mixtures
    assert tree.to_text() == (
        "root 5, height 4\n"
        "├── [1] 3, height 3\n"
        "│   ├── [3] 2, height 1\n"
        "│   │   ├── [7] 1 a\n"
        "│   │   └── [8] 1 b\n"
        "│   └── [4 > 9] 1 c\n"
        "└── [2] 2, height 2\n"
        "    ├── [5 > 10] 1 d\n"
        "    └── [6 > 11] 1 e"
    )


def test_numbers_of_the_nodes_do_not_matter():
    order = np.random.default_rng(0).permutation(9)
    parents = np.empty(9, dtype=int)
    parents[order] = np.append(order, -1)[PARENTS]
    heights = np.empty(9)
    heights[order] = HEIGHTS
    assert_same(Tree.from_parents(parents, order[:5], heights=heights), small())


def test_the_highest_is_split_first():
    tree = small()
    np.testing.assert_array_equal(tree.cut(2), [0, 0, 0, 1, 1])
    np.testing.assert_array_equal(tree.cut(3), [0, 0, 1, 2, 2])
    np.testing.assert_array_equal(tree.cut(4), [0, 0, 1, 2, 3])
    # Without heights the nodes of level 1 come before those of level 2, the larger first.
    upside_down = Tree.from_parents(PARENTS, [3, 3, 4, 0, 1])
    np.testing.assert_array_equal(upside_down.cut(3), [0, 0, 1, 2, 2])


@pytest.mark.parametrize("seed", range(5))
def test_merges_come_back(seed):
    Z = random_merges(seed)
    tree = Tree.from_linkage(Z)
    check_tree(tree)
    np.testing.assert_allclose(cophenet(tree.to_linkage()), cophenet(Z))
    for n_clusters in (2, 5, 17):
        labels, expected = tree.cut(n_clusters), fcluster(Z, n_clusters, "maxclust")
        assert len(set(zip(labels.tolist(), expected.tolist(), strict=True))) == n_clusters


def test_every_level_is_a_cut_at_that_depth():
    """A datum whose branch ended above a level is alone there."""
    Z = random_merges(7, n=12)
    tree = Tree.from_linkage(Z)
    above = {int(child): 12 + i for i, row in enumerate(Z) for child in row[:2]}
    for level in range(tree.n_levels + 1):
        ancestors = []
        for row in range(12):
            line = [row]
            while line[-1] in above:
                line.append(above[line[-1]])
            ancestors.append(line[::-1][min(level, len(line) - 1)])
        labels = tree.labels_at(level)
        for i in range(12):
            np.testing.assert_array_equal(labels == labels[i], np.array(ancestors) == ancestors[i])


def test_several_data_in_a_tip_and_branches_without_data():
    tree = Tree.from_parents([-1, 0, 0, 2, 2], [1, 3, 3], heights=[3, 1, 2, 2, 0])
    np.testing.assert_array_equal(tree.sizes, [3, 2, 1, 2, 1])
    np.testing.assert_array_equal(tree.heights, [3, 2, 1, 2, 1])
    Z = tree.to_linkage()
    np.testing.assert_array_equal(Z[:, 2], [2, 3])


def test_levels_may_be_left_out():
    tree = small(max_levels=1)
    assert tree.n_levels == 1
    np.testing.assert_array_equal(tree.labels_at(1), [0, 0, 0, 1, 1])
    np.testing.assert_array_equal(tree.heights, [4, 3, 2])
    deep = small()
    for level in range(3):
        np.testing.assert_array_equal(small(max_levels=2).labels_at(level), deep.labels_at(level))


def test_deep_chains_need_no_recursion_and_too_deep_ones_a_limit():
    n = 30_000
    merges = np.arange(n, 2 * n - 1)  # datum i + 1 joins all before it
    parents = np.concatenate([merges[:1], merges, merges[1:], [-1]])
    with pytest.raises(ValueError, match="max_levels"):
        Tree.from_parents(parents, np.arange(n))
    assert Tree.from_parents(parents, np.arange(n), max_levels=3).n_nodes == 1 + 2 + 3 + 4


def test_newick_has_lengths_and_no_chains():
    tree = small(names="abcde")
    assert tree.to_newick(labels="none") == ("(((a:1.0,b:1.0):2.0,c:3.0):1.0,(d:2.0,e:2.0):2.0);")
    read = Phylo.read(io.StringIO(tree.to_newick()), "newick")
    assert read.distance("a", "c") == 6
    assert read.distance("a", "e") == 8


def test_rests_come_together_where_their_parent_does():
    pruned = small().prune(2)
    np.testing.assert_array_equal(pruned.heights[pruned.paths[0]], [4, 3, 1, 1])
    np.testing.assert_array_equal(pruned.heights[pruned.paths[3]], [4, 2, 2, 2])
    assert (np.diff(pruned.heights[pruned.paths], axis=1) <= 0).all()


def test_nothing_is_lost_on_the_way(tmp_path):
    tree = replace(small(), names=np.array(list("abcde")))
    assert_same(Tree.from_json(tree.to_json()), tree)
    tree.save(tmp_path / "t.bhmc")
    assert_same(Tree.load(tmp_path / "t.bhmc"), tree)
    np.testing.assert_array_equal(tree.nodes()["height"], tree.heights)


@pytest.mark.parametrize(
    ("parents", "tips", "heights", "words"),
    [
        ([-1, -1], [0], None, "-1 once"),
        ([1, 0], [0], None, "-1 once, for the root, got 0"),
        ([-1, 2, 1], [0], None, "form a cycle"),
        ([-1, 0, 7], [1], None, "numbers of nodes below 3"),
        ([-1, 0], [0], None, "without children"),
        ([-1, 0], [2], None, "tips must hold numbers of nodes below 2"),
        ([-1, 0], [], None, "whole numbers"),
        ([-1, 0], [1], [1, 2], "node 1 is higher than its parent"),
        ([-1, 0], [1], [1], "2 finite numbers"),
        ([-1, 0.5], [1], None, "parents must be a list of whole numbers"),
    ],
)
def test_what_is_no_tree(parents, tips, heights, words):
    with pytest.raises(ValueError, match=words):
        Tree.from_parents(parents, tips, heights=heights)


@pytest.mark.parametrize("draw", ["plot_tree", "plot_icicle"])
def test_pictures_of_dendrograms_speak_of_no_components(draw):
    """One component stands for all data: to name it would say something that is not known."""
    ax = getattr(plotting, draw)(small(names="abcde"), min_size=2)
    texts = [text.get_text() for text in ax.figure.findobj(Text)]
    assert any("5 rows" in text for text in texts)
    assert not any("c0" in text for text in texts)


def test_a_dendrogram_says_that_it_has_no_mixtures():
    assert repr(small()) == "Tree(5 data, 12 nodes, 5 leaves, 3 levels, no mixtures)"
