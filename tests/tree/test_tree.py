"""`Tree`: immutable arrays in one id space, and what is looked up in them."""

import copy
import pickle
from dataclasses import FrozenInstanceError, fields

import numpy as np
import pytest

from bhmc import Tree
from bhmc.model.checks import check_state
from tests.tree.trees import (
    assert_same,
    check_tree,
    full_tree,
    random_trees,
    rows_under,
    small_state,
    trees_to_look_up,
)


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
            theta=state.theta[columns],
        )
        columns = np.append(columns, state.n_components)
        other = other.with_params(log_weights=state.log_weights[np.ix_(order, columns)])
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
