"""`Tree`: immutable arrays in one id space, and its text."""

import copy
import pickle
import time
from dataclasses import FrozenInstanceError, fields, replace

import numpy as np
import pytest

import bhmc
from bhmc import Hyper, State, Tree
from bhmc._state import check_state

HYPER = Hyper(0.8, 1.0, 1.0)


def state_of(paths, components, parents, hyper=HYPER, n_components=None):
    """A state with equal weights, for tests that look at its shape only."""
    components = np.asarray(components)
    k = n_components or components.max() + 1
    log_weights = np.full((len(parents), k + 1), -np.log(k + 1))
    if n_components:
        log_weights[:] = -np.log(k)
        log_weights[:, -1] = -np.inf
    state = State(
        paths=np.asarray(paths),
        components=components,
        parents=np.asarray(parents),
        log_weights=log_weights,
        theta=np.arange(k, dtype=float)[:, None],
        hyper=hyper._replace(n_components=n_components),
    )
    check_state(state)
    return state


def small_state():
    """Seven data. Node 1 (2 data) comes before node 2 (5 data), and component 0 is the smallest."""
    return state_of(
        paths=[
            [0, 2, 4],
            [0, 1, 3],
            [0, 2, 5],
            [0, 2, 5],
            [0, 1, 3],
            [0, 2, 5],
            [0, 2, 6],
        ],
        components=[1, 0, 2, 2, 1, 2, 2],
        parents=[-1, 0, 0, 1, 2, 2, 2],
    )


def random_trees(n_trees=12, **changes):
    """Trees of random prior draws, with their states."""
    for seed in range(n_trees):
        rng = np.random.default_rng(seed)
        state, _ = bhmc.sample_prior(
            int(rng.integers(1, 60)),
            n_levels=int(rng.integers(1, 6)),
            hyper=Hyper(*rng.gamma(1.0, 2.0, size=3) + 0.05),
            likelihood="gaussian",
            rng=rng,
            n_features=2,
            **changes,
        )
        yield state, Tree.from_state(state)


def full_tree(state=None):
    """The tree of a state, by default the small one, with every optional field filled."""
    tree = Tree.from_state(state or small_state())
    rng = np.random.default_rng(3)
    means = rng.normal(size=(tree.n_components, 3))
    support = rng.uniform(size=tree.n_nodes)
    support[0] = 1
    return replace(
        tree,
        support=support,
        names=np.array([f"item {i}" for i in range(len(tree.paths))]),
        feature_names=np.array(["wings", "legs", "tail"]),
        component_means=means,
        feature_means=means[tree.components].mean(axis=0),
        feature_scales=np.array([1.0, 2.0, 0.5]),
        merged=np.ones(tree.n_nodes, dtype=np.int64),
    )


def assert_same(one, other):
    """All fields are equal, value by value and in type."""
    for field in fields(Tree):
        mine, its = getattr(one, field.name), getattr(other, field.name)
        assert type(mine) is type(its), field.name
        np.testing.assert_array_equal(mine, its, err_msg=field.name)
        if isinstance(mine, np.ndarray):
            assert mine.dtype == its.dtype, field.name
            assert mine.shape == its.shape, field.name


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
def test_one_id_space(n_components):
    for _, tree in random_trees(n_components=n_components):
        ids = np.arange(tree.n_nodes)
        assert tree.parents[0] == -1
        assert (tree.parents[1:] >= 0).all()
        assert (tree.parents[1:] < ids[1:]).all()
        assert tree.levels[0] == 0
        np.testing.assert_array_equal(tree.levels[1:], tree.levels[tree.parents[1:]] + 1)
        assert (np.diff(tree.levels) >= 0).all()
        np.testing.assert_array_equal(tree.parents[tree.paths[:, 1:]], tree.paths[:, :-1])
        np.testing.assert_array_equal(np.unique(tree.paths), ids)
        np.testing.assert_array_equal(np.bincount(tree.paths.ravel()), tree.sizes)
        for level in range(tree.n_levels + 1):
            assert (tree.levels[tree.paths[:, level]] == level).all()
        assert tree.weights.shape == (tree.n_nodes, tree.n_components + 1)
        np.testing.assert_allclose(tree.weights.sum(axis=1), 1)


@pytest.mark.parametrize("n_components", [None, 4])
def test_siblings_and_components_are_in_order_of_size(n_components):
    for _, tree in random_trees(n_components=n_components):
        for node in range(tree.n_nodes):
            children = np.flatnonzero(tree.parents == node)
            assert (np.diff(tree.sizes[children]) <= 0).all()
            if len(children):  # siblings are next to each other
                assert children[-1] - children[0] == len(children) - 1
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
