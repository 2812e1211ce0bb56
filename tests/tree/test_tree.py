"""`Tree`: immutable arrays in one id space, what is looked up in them, and its text."""

import copy
import pickle
import time
from dataclasses import FrozenInstanceError, fields, replace

import numpy as np
import pytest

from bhmc import Tree
from bhmc.model.checks import check_state
from tests.tree.trees import (
    assert_same,
    check_tree,
    full_random_trees,
    full_tree,
    random_trees,
    rows_under,
    shuffled,
    small_state,
    state_of,
)

# ---- Arrays ----


def test_small_tree_in_numbers():
    tree = Tree.from_state(small_state())
    np.testing.assert_array_equal(tree.parents, [-1, 0, 0, 1, 1, 1, 2])
    np.testing.assert_array_equal(tree.levels, [0, 1, 1, 2, 2, 2, 2])
    np.testing.assert_array_equal(tree.sizes, [7, 5, 2, 3, 1, 1, 2])
    np.testing.assert_array_equal(
        tree.paths,
        [[0, 1, 4], [0, 2, 6], [0, 1, 3], [0, 1, 3], [0, 2, 6], [0, 1, 3], [0, 1, 5]],
    )
    np.testing.assert_array_equal(tree.components, [1, 2, 0, 0, 1, 0, 0])
    np.testing.assert_array_equal(tree.theta, [[2.0], [1.0], [0.0]])
    assert (tree.n_nodes, tree.n_levels, tree.n_components, tree.n_leaves) == (7, 2, 3, 4)


def test_arrays_cannot_be_written_to():
    tree = full_tree()
    for field in fields(Tree):
        value = getattr(tree, field.name)
        if field.name != "alpha":
            with pytest.raises(ValueError, match="read-only"):
                value[...] = 0
        with pytest.raises(FrozenInstanceError):
            setattr(tree, field.name, value)


@pytest.mark.parametrize(
    "again", [lambda tree: pickle.loads(pickle.dumps(tree)), copy.deepcopy, copy.copy]
)
def test_copies_cannot_be_written_to_either(again):
    tree = full_tree()
    tree.members(0)  # what is looked up once is not copied along
    twin = again(tree)
    assert set(vars(twin)) == {field.name for field in fields(Tree)}
    assert_same(twin, tree)
    for field in fields(Tree):
        if field.name != "alpha":
            assert not getattr(twin, field.name).flags.writeable, field.name


def test_the_state_stays_writable_and_apart():
    """A tree shares no memory with the state it came from."""
    state = small_state()
    tree = Tree.from_state(state)
    kept = {field.name: copy.copy(getattr(tree, field.name)) for field in fields(Tree)}
    for array in (state.paths, state.components, state.parents, state.log_weights, state.theta):
        array[...] = 0
    for name, array in kept.items():
        np.testing.assert_array_equal(getattr(tree, name), array)


@pytest.mark.parametrize("n_components", [None, 4])
def test_one_id_space_and_order_of_size(n_components):
    for _, tree in random_trees(n_components=n_components):
        check_tree(tree)
        counts = np.bincount(tree.components, minlength=tree.n_components)
        assert (np.diff(counts) <= 0).all()


@pytest.mark.parametrize("n_components", [None, 4])
def test_nothing_is_lost_from_the_state(n_components):
    """Whatever is looked up through a datum is the same in the state and in the tree."""
    for state, tree in random_trees(n_components=n_components):
        np.testing.assert_array_equal(state.sizes[state.paths], tree.sizes[tree.paths])
        np.testing.assert_array_equal(state.levels[state.paths], tree.levels[tree.paths])
        np.testing.assert_array_equal(state.theta[state.components], tree.theta[tree.components])
        for level in range(tree.n_levels + 1):
            nodes, new_nodes = state.paths[:, level], tree.paths[:, level]
            np.testing.assert_array_equal(
                state.weights[nodes, state.components], tree.weights[new_nodes, tree.components]
            )
            np.testing.assert_array_equal(state.weights[nodes, -1], tree.weights[new_nodes, -1])


def test_ids_do_not_depend_on_the_names_in_the_state():
    """The same hierarchy under other node ids and component numbers gives the same tree."""
    rng = np.random.default_rng(1)
    for state, tree in random_trees():
        order = np.concatenate(
            [
                rng.permutation(np.flatnonzero(state.levels == level))
                for level in range(state.n_levels + 1)
            ]
        )
        new_id = np.argsort(order)
        columns = rng.permutation(state.n_components)
        other = state._replace(
            paths=new_id[state.paths],
            parents=np.append(-1, new_id[state.parents[order[1:]]]),
            components=np.argsort(columns)[state.components],
            log_weights=state.log_weights[np.ix_(order, np.append(columns, state.n_components))],
            theta=state.theta[columns],
        )
        check_state(other)
        twin = Tree.from_state(other)
        for field in fields(Tree):
            np.testing.assert_array_equal(getattr(twin, field.name), getattr(tree, field.name))


def test_labels_at():
    tree = Tree.from_state(small_state())
    np.testing.assert_array_equal(tree.labels_at(0), [0, 0, 0, 0, 0, 0, 0])
    np.testing.assert_array_equal(tree.labels_at(1), [0, 1, 0, 0, 1, 0, 0])
    np.testing.assert_array_equal(tree.labels_at(2), [1, 3, 0, 0, 3, 0, 2])
    for _, other in random_trees():
        for level in range(other.n_levels + 1):
            labels = other.labels_at(level)
            np.testing.assert_array_equal(np.unique(labels), np.arange(labels.max() + 1))


# ---- Looking up ----


def trees_to_look_up():
    for tree in full_random_trees():
        yield tree
        yield shuffled(tree)


def test_members_children_and_ancestors():
    for tree in trees_to_look_up():
        for node in range(tree.n_nodes):
            np.testing.assert_array_equal(tree.members(node), rows_under(tree, node))
            np.testing.assert_array_equal(tree.children(node), np.flatnonzero(tree.parents == node))
            path = tree.paths[rows_under(tree, node)[0], : tree.levels[node]]
            np.testing.assert_array_equal(tree.ancestors(node), path)


def test_answers_may_be_written_to():
    """What a caller does with an answer is the caller's affair."""
    tree = full_tree()
    for answer in (tree.members, tree.children):
        kept = answer(0).copy()
        answer(0)[:] = 99
        np.testing.assert_array_equal(answer(0), kept)


@pytest.mark.parametrize("what", ["members", "children", "ancestors", "top_features"])
@pytest.mark.parametrize(("node", "error"), [(7, ValueError), (-1, ValueError), (1.5, TypeError)])
def test_nodes_that_are_not_there(what, node, error):
    with pytest.raises(error, match="node must be"):
        getattr(full_tree(), what)(node)


# ---- Cuts ----


def slow_cut(tree, n_clusters):
    """The rule of `cut` in the plainest words: a list of nodes, searched anew for every split."""
    clusters, refused = [0], set()
    while True:
        best = None
        for node in clusters:
            bottom = node
            while len(children := np.flatnonzero(tree.parents == bottom)) == 1:
                bottom = children[0]
            if len(children) and node not in refused:
                key = (tree.levels[bottom], -tree.sizes[bottom], bottom)
                best = min(best or (key, node, children), (key, node, children), key=lambda b: b[0])
        if best is None or len(clusters) == n_clusters:
            break
        _, node, children = best
        if len(clusters) - 1 + len(children) > n_clusters:
            refused.add(node)
            continue
        at = clusters.index(node)
        clusters[at : at + 1] = children.tolist()
    labels = np.full(len(tree.paths), -1)
    for label, node in enumerate(clusters):
        labels[rows_under(tree, node)] = label
    return labels


def test_cut_into_a_number():
    for tree in trees_to_look_up():
        for n_clusters in range(1, tree.n_leaves + 3):
            labels = tree.cut(n_clusters=n_clusters)
            np.testing.assert_array_equal(labels, slow_cut(tree, n_clusters))
            assert labels.max() + 1 <= n_clusters
            assert labels.dtype == np.int32


def test_cut_into_as_many_as_a_level_has_is_that_level():
    for tree in full_random_trees():
        for level in range(tree.n_levels + 1):
            labels = tree.labels_at(level)
            np.testing.assert_array_equal(tree.cut(labels.max() + 1), labels)


def test_a_split_that_does_not_fit_is_passed_over():
    """Node 1 splits into 3, node 2 into 2: for 3 clusters node 1 stays whole, though larger."""
    state = state_of(
        paths=[[0, 1, 3], [0, 1, 4], [0, 1, 5], [0, 2, 6], [0, 2, 7]],
        components=[0] * 5,
        parents=[-1, 0, 0, 1, 1, 1, 2, 2],
    )
    tree = Tree.from_state(state)
    np.testing.assert_array_equal(tree.cut(1), [0, 0, 0, 0, 0])
    np.testing.assert_array_equal(tree.cut(2), [0, 0, 0, 1, 1])
    np.testing.assert_array_equal(tree.cut(3), [0, 0, 0, 1, 2])
    np.testing.assert_array_equal(tree.cut(4), [0, 1, 2, 3, 3])
    np.testing.assert_array_equal(tree.cut(5), [0, 1, 2, 3, 4])
    np.testing.assert_array_equal(tree.cut(50), [0, 1, 2, 3, 4])


def test_cut_by_support():
    """By hand: node 2 lacks support, so its child 6 does not count however sure it is."""
    support = np.array([1, 0.9, 0.4, 0.8, 0.3, 0.8, 0.99])
    tree = replace(Tree.from_state(small_state()), support=support)
    # Deepest nodes with support all the way: rows 2, 3, 5 in node 3; row 6 in node 5; row 0 in 1.
    np.testing.assert_array_equal(tree.cut(min_support=0.8), [1, 0, 2, 2, 0, 2, 3])
    np.testing.assert_array_equal(tree.cut(min_support=0.81), [1, 0, 1, 1, 0, 1, 1])
    np.testing.assert_array_equal(tree.cut(min_support=1), [0] * 7)
    np.testing.assert_array_equal(tree.cut(min_support=0), tree.labels_at(2))


def test_cut_by_support_of_random_trees():
    for tree in trees_to_look_up():
        for min_support in (0.0, 0.3, 0.7, 1.0):
            nodes = np.zeros(len(tree.paths), dtype=int)
            for row, path in enumerate(tree.paths):
                for node in path[1:]:
                    if tree.support[node] < min_support:
                        break
                    nodes[row] = node
            labels = tree.cut(min_support=min_support)
            pairs = {(node, label) for node, label in zip(nodes, labels, strict=True)}
            assert len(pairs) == len(np.unique(nodes)) == labels.max() + 1


def test_support_that_is_not_known_is_too_little():
    tree = replace(full_tree(), support=np.array([np.nan, 0.9, np.nan, 0.9, 0.9, 0.9, 0.9]))
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
        lambda tree: tree.to_newick(labels="support"),
    ],
)
def test_support_that_the_tree_does_not_carry(ask):
    with pytest.raises(
        ValueError, match="needs the support of the nodes, which this tree does not"
    ):
        ask(Tree.from_state(small_state()))


# ---- Pruning ----


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


# ---- Text ----

SMALL = """\
root 7 (c0: 4, c1: 2, c2: 1)
├── [1] 5 (c0: 4, c1: 1)
│   ├── [3] 3 (c0: 3)
│   ├── [4] 1 (c1: 1)
│   └── [5] 1 (c0: 1)
└── [2 > 6] 2 (c1: 1, c2: 1)"""

NAMED = """\
root 7 (c0: 4, c1: 2, c2: 1)
├── [1] 5 (c0: 4, c1: 1)
│   ├── [3] 3 (c0: 3) cat, dog and 1 more
│   ├── [4] 1 (c1: 1) ant
│   └── [5] 1 (c0: 1) gnu
└── [2 > 6] 2 (c1: 1, c2: 1) bee, eel"""

NAMES = ["ant", "bee", "cat", "dog", "eel", "fox", "gnu"]


def test_text_of_a_small_tree():
    tree = Tree.from_state(small_state())
    assert str(tree) == SMALL
    assert tree.to_text() == SMALL


@pytest.mark.parametrize("kind", [list, tuple, np.array])
def test_text_with_names(kind):
    assert Tree.from_state(small_state()).to_text(kind(NAMES), max_names=2) == NAMED


def test_all_names_fit_by_default():
    text = Tree.from_state(small_state()).to_text(NAMES)
    assert "[3] 3 (c0: 3) cat, dog, fox\n" in text
    assert "more" not in text
    listed = [line.split(") ")[1] for line in text.splitlines() if ") " in line]
    assert sorted(", ".join(listed).split(", ")) == NAMES


def test_names_may_be_anything_with_a_text():
    assert "[3] 3 (c0: 3) 2, 3, 5" in Tree.from_state(small_state()).to_text(range(7))


@pytest.mark.parametrize("n_names", [0, 6, 8])
def test_wrong_number_of_names(n_names):
    with pytest.raises(ValueError, match=f"names must hold 7 names, got {n_names}"):
        Tree.from_state(small_state()).to_text(["x"] * n_names)


def test_a_chain_is_one_line():
    state = state_of([[0, 1, 2, 3]] * 3, [0, 0, 0], [-1, 0, 1, 2])
    assert str(Tree.from_state(state)) == "[root > 1 > 2 > 3] 3 (c0: 3)"
    assert Tree.from_state(state).to_text("abc") == "[root > 1 > 2 > 3] 3 (c0: 3) a, b, c"


def test_many_components_are_cut_short():
    state = state_of([[0, 1]] * 7 + [[0, 2]], [0, 1, 2, 3, 4, 5, 6, 0], [-1, 0, 0])
    assert str(Tree.from_state(state)) == (
        "root 8 (c0: 2, c1: 1, c2: 1, c3: 1, c4: 1, ...)\n"
        "├── [1] 7 (c0: 1, c1: 1, c2: 1, c3: 1, c4: 1, ...)\n"
        "└── [2] 1 (c0: 1)"
    )


def test_empty_components_are_not_printed():
    state = state_of([[0, 1], [0, 2]], [3, 3], [-1, 0, 0], n_components=5)
    text = str(Tree.from_state(state))
    assert text == "root 2 (c0: 2)\n├── [1] 1 (c0: 1)\n└── [2] 1 (c0: 1)"


def test_every_line_of_random_trees():
    """Each node is named once, and the numbers of each line add up."""
    for _, tree in random_trees():
        lines = str(tree).splitlines()
        named = []
        for line in lines:
            title = line.lstrip("│├└─ ").split(" (")[0]
            if title.startswith("root"):
                named.append(0)
                continue
            ids, size = title[1:].replace("root", "0").split("] ")
            chain = [int(node) for node in ids.split(" > ")]
            named += chain
            assert (tree.sizes[chain] == int(size)).all()
            np.testing.assert_array_equal(tree.parents[chain[1:]], chain[:-1])
            assert (np.bincount(tree.parents[1:], minlength=tree.n_nodes)[chain[:-1]] == 1).all()
        np.testing.assert_array_equal(np.sort(named), np.arange(tree.n_nodes))


def test_repr():
    tree = Tree.from_state(small_state())
    assert repr(tree) == "Tree(7 data, 7 nodes, 4 leaves, 2 levels, 3 components)"


SUPPORT = np.array([1, 0.9, 0.4, 0.8, 0.3, 0.826, 0.4])


def told_tree():
    """The small tree with support, names and features in round numbers."""
    return replace(
        Tree.from_state(small_state()),
        support=SUPPORT,
        names=np.array(NAMES),
        feature_names=np.array(["wings", "legs"]),
        component_means=np.array([[0.0, 1.0], [2.0, 1.0], [4.0, 1.1]]),
        feature_means=np.array([1.0, 1.0]),
        feature_scales=np.array([0.5, 1.0]),
    )


def test_text_with_support_and_names_of_its_own():
    assert (
        str(told_tree())
        == """\
root 7 (c0: 4, c1: 2, c2: 1)
├── [1] 5, 90 % (c0: 4, c1: 1)
│   ├── [3] 3, 80 % (c0: 3) cat, dog, fox
│   ├── [4] 1, 30 % (c1: 1) ant
│   └── [5] 1, 83 % (c0: 1) gnu
└── [2 > 6] 2, 40 % (c1: 1, c2: 1) bee, eel"""
    )


def test_support_that_is_not_known_is_not_told():
    tree = replace(told_tree(), support=np.array([1, 0.9, 0.4, np.nan, 0.3, 0.8, 0.4]))
    assert "[3] 3 (c0: 3) cat, dog, fox" in str(tree)
    assert "[4] 1, 30 % (c1: 1) ant" in str(tree)
    assert "… 2 less supported nodes, 4 data" in tree.to_text(min_support=0.5)


def test_names_given_come_before_the_tree_s_own():
    assert "[3] 3, 80 % (c0: 3) 2, 3, 5" in told_tree().to_text(range(7))


def test_text_to_a_depth():
    assert (
        told_tree().to_text(max_depth=1, max_names=3)
        == """\
root 7 (c0: 4, c1: 2, c2: 1)
├── [1] 5, 90 % (c0: 4, c1: 1) ant, cat, dog and 2 more … 3 deeper nodes
└── [2] 2, 40 % (c1: 1, c2: 1) bee, eel … 1 deeper node"""
    )
    assert Tree.from_state(small_state()).to_text(max_depth=0) == (
        "root 7 (c0: 4, c1: 2, c2: 1) … 2 deeper nodes"
    )
    assert told_tree().to_text(max_depth=2) == told_tree().to_text(max_depth=9) == str(told_tree())


def test_text_of_large_nodes_only():
    assert (
        told_tree().to_text(min_size=2, max_names=1)
        == """\
root 7 (c0: 4, c1: 2, c2: 1)
├── [1] 5, 90 % (c0: 4, c1: 1)
│   ├── [3] 3, 80 % (c0: 3) cat and 2 more
│   └── … 2 smaller nodes, 2 data
└── [2 > 6] 2, 40 % (c1: 1, c2: 1) bee and 1 more"""
    )
    assert (
        told_tree().to_text(min_size=4, max_names=0)
        == """\
root 7 (c0: 4, c1: 2, c2: 1)
├── [1] 5, 90 % (c0: 4, c1: 1) … 3 smaller nodes
└── … 1 smaller node, 2 data"""
    )


def test_text_of_supported_nodes_only():
    assert (
        told_tree().to_text(min_support=0.5)
        == """\
root 7 (c0: 4, c1: 2, c2: 1)
├── [1] 5, 90 % (c0: 4, c1: 1)
│   ├── [3] 3, 80 % (c0: 3) cat, dog, fox
│   ├── [5] 1, 83 % (c0: 1) gnu
│   └── … 1 less supported node, 1 datum
└── … 1 less supported node, 2 data"""
    )
    text = told_tree().to_text(min_support=0.82, min_size=2)
    assert "(c0: 4, c1: 1) ant, cat, dog, fox, gnu … 3 smaller or less supported nodes" in text


def test_text_with_features():
    """Node 3 is all of component 0, with mean 0 where all data have 1 ± 0.5. Legs tell nothing."""
    text = told_tree().to_text(features=2)
    assert "[3] 3, 80 % (c0: 3) {wings -2.0} cat, dog, fox" in text
    assert "[2 > 6] 2, 40 % (c1: 1, c2: 1) {wings +4.0, legs +0.1} bee, eel" in text
    with pytest.raises(ValueError, match="features cannot be described: this tree does not carry"):
        Tree.from_state(small_state()).to_text(features=1)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"max_depth": -1}, "max_depth must be at least 0"),
        ({"min_size": 0}, "min_size must be at least 1"),
        ({"min_support": 2}, "min_support must be from 0 to 1"),
        ({"features": -1}, "features must be at least 0"),
    ],
)
def test_text_that_is_refused(asked, words):
    with pytest.raises(ValueError, match=words):
        told_tree().to_text(**asked)


# ---- Size ----


def test_a_very_deep_tree():
    """3,000 levels, two long arms: no recursion."""
    depth = 3000
    one = np.arange(0, 2 * depth, 2) + 1
    two = one + 1
    paths = [[0, *one], [0, *two], [0, *one]]
    parents = np.concatenate([[-1, 0, 0], np.arange(1, 2 * depth - 1)])
    state = state_of(paths, [0, 1, 0], parents)
    start = time.process_time()
    lines = Tree.from_state(state).to_text(["a", "b", "c"]).splitlines()
    seconds = time.process_time() - start
    assert len(lines) == 3
    assert lines[0] == "root 3 (c0: 2, c1: 1)"
    assert lines[1].endswith("> 5999] 2 (c0: 2) a, c")
    assert lines[2].endswith("> 6000] 1 (c1: 1) b")
    assert seconds < 5, f"{seconds:.1f} s"


def test_a_caterpillar():
    """150 branchings, one below the other, each side branch a chain down to its leaf."""
    depth = 150
    parents, paths = [-1], np.zeros((depth, depth + 1), dtype=np.int64)
    for level in range(1, depth + 1):
        # Rows 0..level-2 have branched off already; row level-1 does so now; the rest stay.
        paths[:, level] = len(parents) + np.minimum(np.arange(depth), level)
        for node in np.unique(paths[:, level]):
            parents.append(paths[np.argmax(paths[:, level] == node), level - 1])
    lines = str(Tree.from_state(state_of(paths, np.zeros(depth, dtype=int), parents))).splitlines()
    assert len(lines) == 2 * depth - 1
    assert lines[0] == "root 150 (c0: 150)"
    assert max(len(line) - len(line.lstrip("│├└─ ")) for line in lines) == 4 * (depth - 1)


def test_a_very_wide_tree():
    """20,000 leaves, printed in seconds, not minutes."""
    n = 20_000
    paths = np.column_stack([np.zeros(n, dtype=int), np.arange(n) // 10 + 1, np.arange(n) + 2001])
    parents = np.concatenate([[-1], np.zeros(2000, dtype=int), np.arange(n) // 10 + 1])
    state = state_of(paths, np.zeros(n, dtype=int), parents)
    start = time.process_time()
    lines = str(Tree.from_state(state)).splitlines()
    seconds = time.process_time() - start
    assert len(lines) == 22_001
    assert lines[-1] == "    └── [22000] 1 (c0: 1)"
    assert seconds < 10, f"{seconds:.1f} s"
