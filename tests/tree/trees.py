"""Small trees to test with, and what must hold of any tree."""

from dataclasses import fields, replace

import numpy as np

import bhmc
from bhmc import Hyper, Tree
from bhmc.model.checks import check_state
from bhmc.model.hdp.params import hdp_state

HYPER = Hyper(0.8, 1.0, 1.0)


def state_of(paths, components, parents, hyper=HYPER, n_components=None):
    """A state with equal weights, for tests that look at its shape only."""
    components = np.asarray(components)
    k = n_components or components.max() + 1
    log_weights = np.full((len(parents), k + 1), -np.log(k + 1))
    if n_components:
        log_weights[:] = -np.log(k)
        log_weights[:, -1] = -np.inf
    state = hdp_state(
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
        exact_support=support**2,
        names=np.array([f"item {i}" for i in range(len(tree.paths))]),
        feature_names=np.array(["wings", "legs", "tail"]),
        component_means=means,
        feature_means=means[tree.components].mean(axis=0),
        feature_scales=np.array([1.0, 2.0, 0.5]),
        is_word=np.zeros(3, dtype=bool),
        merged=np.ones(tree.n_nodes, dtype=np.int64),
        heights=10.0 - tree.levels,
        node_names=np.full(tree.n_nodes, ""),
        locations=rng.normal(size=(tree.n_nodes, tree.theta.shape[1])),
        step_variances=rng.uniform(size=(tree.n_levels + 2, 1)),
        concentrations=np.array([0.2, 0.3]),
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


def check_tree(tree):
    """Every promise of the class's docstring about ids, sizes and paths."""
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
    for node in range(tree.n_nodes):
        children = np.flatnonzero(tree.parents == node)
        assert (np.diff(tree.sizes[children]) <= 0).all()
        if len(children):  # siblings are next to each other
            assert children[-1] - children[0] == len(children) - 1


def full_random_trees(n_trees=12, **changes):
    """Trees of random prior draws, with every optional field but heights, which change views."""
    for state, _ in random_trees(n_trees, **changes):
        yield replace(full_tree(state), heights=None)


def shuffled(tree, seed=0):
    """The same hierarchy with ids in random order within a level: siblings are scattered."""
    rng = np.random.default_rng(seed)
    order = np.lexsort((rng.uniform(size=tree.n_nodes), tree.levels))
    new_id = np.argsort(order)
    return replace(
        tree,
        parents=np.append(-1, new_id[tree.parents[order[1:]]]),
        sizes=tree.sizes[order],
        weights=tree.weights[order],
        paths=new_id[tree.paths].astype(np.int32),
        support=None if tree.support is None else tree.support[order],
        exact_support=None if tree.exact_support is None else tree.exact_support[order],
    )


def rows_under(tree, node):
    """Members, by the definition."""
    return np.flatnonzero(tree.paths[:, tree.levels[node]] == node)


def large_tree(n=150_000):
    """Two thirds as many nodes as data: 100,301 of 150,000."""
    rng = np.random.default_rng(0)
    wide = n // 500, n // 15, 3 * n // 5
    leaf = np.concatenate([np.arange(wide[2]), rng.integers(0, wide[2], n - wide[2])])
    middle = leaf % wide[1]
    first = np.cumsum([0, 1, *wide])
    columns = [np.zeros(n, dtype=int), first[1] + middle % wide[0], first[2] + middle]
    paths = np.column_stack([*columns, first[3] + leaf]).astype(np.int32)
    parents = np.full(first[-1], -1)
    for level in (1, 2, 3):
        parents[paths[:, level]] = paths[:, level - 1]
    means = rng.normal(size=(4, 10))
    components = rng.integers(0, len(means), n).astype(np.int32)
    return Tree(
        parents=parents,
        levels=np.repeat(np.arange(4), np.diff(first)),
        sizes=np.bincount(paths.ravel()),
        weights=np.full((len(parents), 5), 1 / 5),
        paths=paths,
        components=components,
        theta=means.copy(),
        support=rng.uniform(size=len(parents)),
        names=np.array([f"item {i}" for i in range(n)]),
        component_means=means,
        feature_means=means[components].mean(axis=0),
        feature_scales=np.ones(10),
    )


NAMES = ["ant", "bee", "cat", "dog", "eel", "fox", "gnu"]
SUPPORT = np.array([1, 0.9, 0.4, 0.8, 0.3, 0.826, 0.4])


def trees_to_look_up():
    """Random trees, also with ids in no order of size."""
    for tree in full_random_trees():
        yield tree
        yield shuffled(tree)


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
