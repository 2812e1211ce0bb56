"""Measures of agreement against numbers by hand and against their definitions."""

import time
from dataclasses import replace
from itertools import combinations, pairwise

import numpy as np
import pytest
from scipy.cluster.hierarchy import fcluster, linkage
from sklearn import metrics as sk

from bhmc import Tree, metrics
from bhmc.baselines import Ward
from tests.tree.trees import (
    full_random_trees,
    large_tree,
    random_trees,
    rows_under,
    shuffled,
    state_of,
)

TRUTH = ["a", "a", "a", "a", "b", "b", "c", "c", "c", "c"]
FOUND = [0, 0, 0, 1, 1, 1, 2, 2, 3, 3]


def tree_of(paths):
    """The tree of rows' paths, written as tuples of branch numbers."""
    paths = [(0, *path) for path in paths]
    depth = len(paths[0])
    nodes = sorted({path[: level + 1] for path in paths for level in range(depth)}, key=len)
    number = {node: i for i, node in enumerate(nodes)}
    ids = [[number[path[: level + 1]] for level in range(depth)] for path in paths]
    parents = [-1, *(number[node[:-1]] for node in nodes[1:])]
    return Tree.from_state(state_of(ids, np.zeros(len(ids), dtype=int), parents))


def many_trees():
    """Chains, several children, many data in a leaf; ids in order and not."""
    for seed, (_, tree) in enumerate(random_trees(24)):
        yield tree
        yield shuffled(tree, seed)


def random_classes(n, seed):
    rng = np.random.default_rng(seed)
    return rng.integers(0, rng.integers(1, 8), n)


# ---- Flat labelings ----


def test_purity_by_hand():
    """Clusters hold 3 a; 1 a and 2 b; 2 c; 2 c: 3 + 2 + 2 + 2 of 10."""
    assert metrics.purity(TRUTH, FOUND) == 0.9


def test_f_measure_by_hand():
    """a: 2*3/(4+3); b: 2*2/(2+3); c: 2*2/(4+2); weights 4, 2, 4."""
    by_hand = (4 * 6 / 7 + 2 * 4 / 5 + 4 * 4 / 6) / 10
    assert metrics.f_measure(TRUTH, FOUND) == pytest.approx(by_hand, abs=1e-15)


def test_the_others_are_those_of_scikit_learn():
    assert metrics.nmi(TRUTH, FOUND) == sk.normalized_mutual_info_score(TRUTH, FOUND)
    assert metrics.ari(TRUTH, FOUND) == sk.adjusted_rand_score(TRUTH, FOUND)
    assert metrics.ami(TRUTH, FOUND) == sk.adjusted_mutual_info_score(TRUTH, FOUND)


def test_nmi_is_over_the_arithmetic_mean():
    """Two classes of two, every datum alone: information log 2, entropies log 2 and log 4."""
    assert metrics.nmi([0, 0, 1, 1], [0, 1, 2, 3]) == pytest.approx(2 / 3)


@pytest.mark.parametrize("score", ["purity", "nmi", "ari", "ami", "f_measure"])
def test_scores_see_partitions_not_names(score):
    score = getattr(metrics, score)
    value = score(TRUTH, FOUND)
    assert type(value) is float
    renamed = np.array([9, 4, 7, 1])[FOUND]
    assert score([f"class {x}" for x in TRUTH], renamed) == pytest.approx(value, abs=1e-15)
    assert score(TRUTH, TRUTH) == pytest.approx(1.0)


def test_every_datum_alone_is_no_warning_and_pure():
    """scikit-learn would take so many labels for numbers to be predicted."""
    truth = np.arange(60) % 3
    assert metrics.purity(truth, np.arange(60)) == 1.0
    assert metrics.nmi(truth, np.arange(60)) > 0.4
    assert abs(metrics.ami(truth, np.arange(60))) < 1e-9
    assert metrics.ari(truth, np.arange(60)) == 0.0


def test_random_clusters_have_no_adjusted_agreement():
    rng = np.random.default_rng(0)
    truth, found = rng.integers(0, 40, 2000), rng.integers(0, 600, 2000)
    assert metrics.nmi(truth, found) > 0.4
    assert metrics.purity(truth, found) > 0.3
    assert abs(metrics.ami(truth, found)) < 0.02
    assert abs(metrics.ari(truth, found)) < 0.01


def test_bad_labels_are_refused():
    with pytest.raises(ValueError, match="got 2 and 3"):
        metrics.purity([0, 1], [0, 1, 1])
    with pytest.raises(ValueError, match=r"truth must hold one label .* shape \(2, 1\)"):
        metrics.nmi([[0], [1]], [0, 1])
    with pytest.raises(ValueError, match="labels must hold at least one label"):
        metrics.f_measure([0], [])
    tree = tree_of([(0,), (1,)])
    with pytest.raises(ValueError, match="each of the tree's 2 data, got 3"):
        metrics.dendrogram_purity(tree, [0, 1, 1])


# ---- Whole trees ----


def dendrogram_purity_by_pairs(tree, classes):
    """The definition: a loop over all pairs of one class."""
    values = []
    for i, j in combinations(range(len(classes)), 2):
        if classes[i] == classes[j]:
            meeting = tree.paths[i][tree.paths[i] == tree.paths[j]][-1]
            values.append(np.mean(classes[rows_under(tree, meeting)] == classes[i]))
    return np.mean(values) if values else np.nan


def test_dendrogram_purity_by_hand():
    """a meets a in a leaf with a b (2/3); b meets b at the root (2/5)."""
    tree = tree_of([(0, 0), (0, 0), (0, 0), (1, 0), (1, 1)])
    assert metrics.dendrogram_purity(tree, list("aabbc")) == pytest.approx((2 / 3 + 2 / 5) / 2)


def test_dendrogram_purity_is_its_definition():
    n_compared = 0
    for seed, tree in enumerate(many_trees()):
        classes = random_classes(len(tree.paths), seed)
        slow = dendrogram_purity_by_pairs(tree, classes)
        np.testing.assert_allclose(metrics.dendrogram_purity(tree, classes), slow, rtol=1e-12)
        n_compared += not np.isnan(slow)
    assert n_compared > 30


def test_dendrogram_purity_of_the_tree_s_own_nodes_is_one():
    for _, tree in random_trees(12):
        for level in range(tree.n_levels + 1):
            labels = tree.labels_at(level)
            value = metrics.dendrogram_purity(tree, labels)
            assert value == pytest.approx(1.0) or len(np.unique(labels)) == len(labels)


def test_dendrogram_purity_without_pairs_is_not_a_number():
    assert np.isnan(metrics.dendrogram_purity(tree_of([(0,), (1,)]), [0, 1]))


def test_f_measure_tree_by_hand():
    """a (rows 0-2): node of rows 0-3, 2*3/(3+4); b (row 3, 4): the root, 2*2/(2+5)."""
    tree = tree_of([(0, 0), (0, 0), (0, 1), (0, 2), (1, 0)])
    by_hand = (3 * 6 / 7 + 2 * max(4 / 7, 2 / 3)) / 5  # or b's leaf of one: 2*1/(2+1)
    assert metrics.f_measure_tree(tree, list("aaabb")) == pytest.approx(by_hand, abs=1e-15)


def test_f_measure_tree_is_its_definition():
    for seed, tree in enumerate(many_trees()):
        classes = random_classes(len(tree.paths), seed)
        members = [rows_under(tree, node) for node in range(tree.n_nodes)]
        best = 0.0
        for c in np.unique(classes):
            size = np.sum(classes == c)
            best += size * max(
                2 * np.sum(classes[rows] == c) / (size + len(rows)) for rows in members
            )
        np.testing.assert_allclose(metrics.f_measure_tree(tree, classes), best / len(classes))


def test_large_trees_take_a_second_or_so():
    """100,301 nodes, 150,000 data, 5,000 classes; and a chain 300 levels deep."""
    tree, rng = large_tree(), np.random.default_rng(0)
    deep = tree_of([(0,) * k + (1,) * (300 - k) for k in range(300)])
    start = time.process_time()
    metrics.dendrogram_purity(tree, rng.integers(0, 5_000, len(tree.paths)))
    metrics.f_measure_tree(deep, rng.integers(0, 5, len(deep.paths)))
    metrics.cut_matched(tree, 50_000)
    assert time.process_time() - start < 3


# ---- Cuts ----


def test_cut_by_depth_stays_at_the_leaves():
    for _, tree in random_trees(6):
        for level in range(tree.n_levels + 3):
            expected = tree.labels_at(min(level, tree.n_levels))
            np.testing.assert_array_equal(metrics.cut_by_depth(tree, level), expected)


def test_cut_matched_has_as_many_clusters_as_wanted():
    for tree in many_trees():
        for n in range(1, tree.n_leaves + 3):
            labels = metrics.cut_matched(tree, n)
            assert labels.dtype == np.int32
            np.testing.assert_array_equal(np.unique(labels), np.arange(min(n, tree.n_leaves)))


def test_cut_matched_is_made_of_whole_nodes_but_for_one_rest():
    """Every cluster is a node, but one may be the rest of a node: whole children of it."""
    for tree in many_trees():
        nodes = {frozenset(rows_under(tree, node).tolist()) for node in range(tree.n_nodes)}
        for n in range(1, tree.n_leaves + 1):
            labels = metrics.cut_matched(tree, n)
            clusters = [frozenset(np.flatnonzero(labels == k).tolist()) for k in range(n)]
            odd = [cluster for cluster in clusters if cluster not in nodes]
            assert len(odd) <= 1
            for cluster in odd:
                pieces = sum(1 for node in nodes if node < cluster)
                assert pieces >= 2


def test_cut_matched_gives_the_largest_children_and_keeps_the_rest():
    sizes = [4, 1, 3, 2, 1]
    tree = tree_of([(branch,) for branch, size in enumerate(sizes) for _ in range(size)])
    labels = metrics.cut_matched(tree, 3)
    parts = {tuple(np.flatnonzero(labels == k)) for k in range(3)}
    assert parts == {(0, 1, 2, 3), (5, 6, 7), (4, 8, 9, 10)}


def test_cut_matched_splits_upper_levels_first_then_the_largest():
    """Root into 2 (sizes 6 and 3); then the larger, then the smaller, then below."""
    rows = [(0, 0, 0)] * 2 + [(0, 0, 1)] * 2 + [(0, 1, 0)] * 2 + [(1, 0, 0)] * 2 + [(1, 1, 0)]
    tree = tree_of(rows)
    expected = {
        2: [0] * 6 + [1] * 3,
        3: [0] * 4 + [1] * 2 + [2] * 3,
        4: [0] * 4 + [1] * 2 + [2] * 2 + [3],
        5: [0] * 2 + [1] * 2 + [2] * 2 + [3] * 2 + [4],
    }
    for n, labels in expected.items():
        assert metrics.ari(labels, metrics.cut_matched(tree, n)) == 1.0


def test_cut_matched_follows_heights_where_they_are_known():
    """As SciPy cuts merges, level or no level."""
    X = np.random.default_rng(0).normal(size=(60, 2))
    tree, merges = Ward().fit(X).tree_, linkage(X, "ward")
    for n in (2, 5, 17, 60):
        expected = fcluster(merges, n, "maxclust")
        assert metrics.ari(expected, metrics.cut_matched(tree, n)) == 1.0


# ---- Levels ----


def test_true_levels_extend_short_paths_by_their_last_label():
    paths = [("x", "s", "u"), ("x", "s"), ("y", "s"), ("x",), ("x", "s", "s")]
    levels = metrics.true_levels(paths)
    assert levels.tolist() == [[0, 0, 0], [0, 0, 1], [1, 1, 2], [0, 2, 3], [0, 0, 1]]


def test_true_levels_refuses_text_and_nothing():
    with pytest.raises(TypeError, match="split it first"):
        metrics.true_levels(["a > b"])
    with pytest.raises(ValueError, match="row 1 is empty"):
        metrics.true_levels([("a",), ()])
    with pytest.raises(ValueError, match="no paths"):
        metrics.true_levels([])


@pytest.mark.parametrize("missing", [None, float("nan"), np.nan])
def test_missing_labels_are_refused(missing):
    """NaN is not equal to itself: every such path would be a class of its own."""
    with pytest.raises(ValueError, match="that of row 1 has: end it before them"):
        metrics.true_levels([("a", "b"), ("a", missing)])
    for truth in (["b", missing], [2.0, np.nan]):
        with pytest.raises(ValueError, match=r"truth must hold a label .* row 1 is missing"):
            metrics.purity(np.array(truth, dtype=object if truth[0] == "b" else float), [0, 1])
    with pytest.raises(ValueError, match="labels must hold a label"):
        metrics.dendrogram_purity(tree_of([(0,), (1,)]), [np.nan, 1.0])


@pytest.mark.parametrize("heights", [False, True])
def test_cut_matched_into_one_more_is_a_refinement(heights):
    ward = Ward().fit(np.random.default_rng(0).normal(size=(20, 2))).tree_
    for tree in (ward, *(tree for _, tree in random_trees(5))):
        if not heights:
            tree = replace(tree, heights=None)
        cuts = [metrics.cut_matched(tree, k) for k in range(1, len(tree.paths) + 1)]
        for coarse, fine in pairwise(cuts):
            assert len(set(zip(coarse, fine, strict=True))) == len(set(fine))


def test_level_table_of_a_tree_against_itself():
    """Its own levels are found again; a matched cut of a level is that level."""
    for _, tree in random_trees(8):
        truth = tree.paths[:, 1:]
        for cut in ("depth", "matched"):
            rows = metrics.level_table(tree, truth, cut)
            assert [row.level for row in rows] == list(range(1, tree.n_levels + 1))
            for row in rows:
                assert row.n_true == row.n_found
                assert row[3:] == pytest.approx((1.0,) * 5)


def test_level_table_rows_are_the_scores_of_the_cuts():
    tree = next(full_random_trees(1))
    truth = np.column_stack([random_classes(len(tree.paths), seed) for seed in (1, 2)])
    for cut, cut_at in (("depth", metrics.cut_by_depth), ("matched", metrics.cut_matched)):
        for row in metrics.level_table(tree, truth, cut=cut):
            classes = truth[:, row.level - 1]
            n_true = len(np.unique(classes))
            found = cut_at(tree, row.level if cut == "depth" else n_true)
            scores = [getattr(metrics, name)(classes, found) for name in row._fields[3:]]
            assert row == (row.level, n_true, len(np.unique(found)), *scores)


def test_level_table_with_more_true_levels_than_the_tree_has():
    tree = tree_of([(0,), (0,), (1,)])
    rows = metrics.level_table(tree, [[0, 0], [0, 1], [1, 2]])
    assert [(row.n_true, row.n_found) for row in rows] == [(2, 2), (3, 2)]


def test_level_table_takes_one_column_and_text():
    tree = tree_of([(0,), (0,), (1,)])
    (row,) = metrics.level_table(tree, ["a", "a", "b"])
    assert row == metrics.LevelRow(1, 2, 2, 1.0, 1.0, 1.0, 1.0, 1.0)


def test_level_table_refuses_what_it_does_not_know():
    tree = tree_of([(0,), (1,)])
    with pytest.raises(ValueError, match="cut='height' is not known"):
        metrics.level_table(tree, [0, 1], cut="height")
    with pytest.raises(ValueError, match=r"tree's 2 data, got shape \(3,\)"):
        metrics.level_table(tree, [0, 1, 1])


def test_names_of_trees_do_not_matter():
    tree = next(full_random_trees(1))
    classes = random_classes(len(tree.paths), 3)
    bare = replace(tree, support=None, names=None)
    assert metrics.dendrogram_purity(tree, classes) == metrics.dendrogram_purity(bare, classes)
