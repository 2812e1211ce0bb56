"""Which nodes are shown: the largest, the rest counted, rows in order."""

import numpy as np
import pytest

from bhmc.plotting import _colors
from bhmc.plotting._collapse import collapse
from tests.plotting.pictures import EVERYTHING, SEEDS, members
from tests.tree.tree_factory import large_tree, small_tree


@pytest.mark.parametrize("seed", SEEDS)
def test_all_nodes_are_shown_as_they_are(seed):
    tree = small_tree(seed)
    marks = collapse(tree, max_nodes=EVERYTHING)
    np.testing.assert_array_equal(marks.node, np.arange(tree.n_nodes))
    np.testing.assert_array_equal(marks.parent, tree.parents)
    np.testing.assert_array_equal(marks.level, tree.levels)
    np.testing.assert_array_equal(marks.size, tree.sizes)
    np.testing.assert_array_equal(marks.support, tree.support)
    np.testing.assert_array_equal(marks.mark_of, tree.paths[:, -1])
    assert not marks.hidden.any()
    assert not marks.is_rest.any()


def hung_from(tree, node, shown):
    """The nearest shown ancestor of a node; None for the root."""
    while node:
        node = int(tree.parents[node])
        if node in shown:
            return node
    return None


def rows_left(tree, node, shown):
    """Rows of a shown node that are in no shown node below it; None where none is below it."""
    hung = [z for z in shown if hung_from(tree, z, shown) == node]
    if not hung:
        return None
    return set(members(tree, node)) - {row for z in hung for row in members(tree, z)}


def naive_shown(tree, allowed, max_nodes):
    """Shown nodes, one more at a time, counting marks from scratch."""
    shown, best = {0}, {0}
    for node in sorted(allowed, key=lambda z: (-tree.sizes[z], z)):
        shown = shown | {node}
        rests = sum(bool(rows_left(tree, one, shown)) for one in shown)
        if len(shown) + rests <= max_nodes:
            best = shown
    return best


def naive_allowed(tree, min_size=1, min_support=None, max_depth=99):
    """Nodes that may be shown; where support is asked for, no two with the same rows."""
    allowed = {0}
    for node in range(1, tree.n_nodes):
        good = tree.sizes[node] >= min_size and tree.levels[node] <= max_depth
        if min_support is not None:
            repeated = tree.sizes[hung_from(tree, node, allowed)] == tree.sizes[node]
            good = good and tree.support[node] >= min_support and not repeated
        if good:
            allowed.add(node)
    return allowed


LIMITS = [
    {},
    {"min_size": 3},
    {"min_support": 0.5},
    {"max_depth": 2},
    {"min_size": 2, "min_support": 0.3, "max_depth": 1},
]


@pytest.mark.parametrize("limits", LIMITS, ids=str)
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("max_nodes", [1, 2, 7, 15, EVERYTHING])
def test_the_largest_nodes_are_shown_and_the_rest_is_counted(seed, max_nodes, limits):
    tree = small_tree(seed)
    marks = collapse(tree, max_nodes=max_nodes, **limits)
    shown = naive_shown(tree, naive_allowed(tree, **limits), max_nodes)
    assert set(marks.node[~marks.is_rest].tolist()) == shown
    assert len(marks.node) <= max_nodes
    holds = {up for z in shown for up in [z, *tree.ancestors(z).tolist()]}
    unseen = [z for z in range(tree.n_nodes) if z not in holds]
    for one, node in enumerate(marks.node.tolist()):
        mark_above = int(marks.parent[one])
        if node >= 0:
            rows = members(tree, node)
            assert one == 0 or marks.node[mark_above] == hung_from(tree, node, shown)
            level = tree.levels[node]
            hidden = [z for z in unseen if hung_from(tree, z, shown) == node]
            hidden = hidden if marks.is_last[one] else []
        else:
            above = int(marks.node[mark_above])
            rows = np.array(sorted(rows_left(tree, above, shown)))
            level = tree.levels[above] + 1
            hidden = [z for z in unseen if hung_from(tree, z, shown) == above]
        if "min_support" in limits:
            level = 0 if one == 0 else marks.level[mark_above] + 1
        assert marks.size[one] == len(rows)
        assert marks.level[one] == level
        held = np.bincount(tree.components[rows], minlength=tree.n_components)
        assert marks.hidden[one] == len(hidden)
        np.testing.assert_array_equal(marks.counts[one, :-1], held[marks.components])
        assert marks.counts[one].sum() == len(rows)
        assert (marks.main[one], marks.main_size[one]) == (held.argmax(), held.max())
        if marks.is_last[one]:
            assert set(np.flatnonzero(marks.mark_of == one)) == set(rows)
    assert marks.hidden.sum() == len(unseen)
    if "min_support" not in limits:  # then no node is passed over
        assert len(shown) + len(unseen) == tree.n_nodes


def test_rows_are_in_the_order_of_the_marks():
    marks = collapse(small_tree(3), max_nodes=20)
    for one in np.flatnonzero(marks.is_last):
        start = marks.placed(marks.size)[one]
        rows = marks.row_order[start : start + marks.size[one]]
        assert (marks.mark_of[rows] == one).all()


def test_every_component_has_a_colour_of_its_own():
    tree = large_tree(n=3_000, fans=(4, 3), n_components=40)
    marks = collapse(tree)
    used = np.unique(tree.components)
    assert len(used) > 30
    assert marks.components.tolist() == used.tolist()
    assert len(set(marks.colors)) == len(used) + 1
    assert marks.colors[-1] == _colors.OTHER
    given = collapse(tree, colors=[f"#{k:06X}" for k in range(40)])
    assert given.colors[:2] == ["#000000", "#000001"]
