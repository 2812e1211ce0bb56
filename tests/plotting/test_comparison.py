"""The picture of two trees: arrays against the comparison, artists against the arrays."""

import numpy as np
import pytest

from bhmc import Tree, compare_trees
from bhmc.plotting import comparison_layout, plot_comparison
from tests.plotting.pictures import new_axes, part
from tests.tree.tree_factory import small_tree

pytest.importorskip("matplotlib")


@pytest.fixture
def comparison():
    return compare_trees(small_tree(1, alpha=2.0), small_tree(2, alpha=1.0))


def test_every_compared_node_has_a_place(comparison):
    layout = comparison_layout(comparison, max_nodes=1000)
    for side, pairs, name in (
        (layout.a, (*comparison.pairs, *comparison.only_a), "a"),
        (layout.b, (*comparison.pairs, *comparison.only_b), "b"),
    ):
        tree = getattr(comparison, name)
        assert side.node.tolist() == [0, *sorted(getattr(pair, name) for pair in pairs)]
        np.testing.assert_array_equal(side.size, tree.sizes[side.node])
        slots = np.sort(side.across[side.is_last])
        np.testing.assert_array_equal(slots, np.arange(len(slots)))
        for i in range(1, len(side.node)):
            above = side.node[side.parent[i]]
            assert above in tree.ancestors(int(side.node[i]))
            assert side.depth[i] == side.depth[side.parent[i]] + 1
    ids = [(layout.a.node[i], layout.b.node[j]) for i, j in layout.links[1:].tolist()]
    assert ids == [(pair.a, pair.b) for pair in comparison.pairs]
    np.testing.assert_allclose(layout.jaccard[1:], [pair.jaccard for pair in comparison.pairs])
    matched = {pair.a: pair.jaccard for pair in comparison.pairs}
    wanted = [1.0, *(matched.get(node, 0.0) for node in layout.a.node[1:].tolist())]
    np.testing.assert_allclose(layout.a.jaccard, wanted)


def test_the_largest_nodes_are_shown(comparison):
    layout = comparison_layout(comparison, max_nodes=5)
    assert len(layout.a.node) <= 6
    left_out = set(comparison_layout(comparison, max_nodes=99).a.node) - set(layout.a.node)
    sizes = comparison.a.sizes
    assert max(sizes[list(left_out)]) <= min(layout.a.size)
    assert (layout.links >= 0).all()


def test_equal_trees_have_lines_that_do_not_cross():
    tree = small_tree(4, alpha=2.0)
    twin = Tree.from_parents(tree.parents, tree.paths[:, -1])
    layout = comparison_layout(compare_trees(tree, twin), max_nodes=1000)
    np.testing.assert_allclose(
        layout.a.across[layout.links[:, 0]], layout.b.across[layout.links[:, 1]]
    )


def test_the_picture_shows_the_arrays(comparison, tmp_path):
    ax = plot_comparison(comparison, max_nodes=20)
    layout = comparison_layout(comparison, max_nodes=20)
    ax.figure.savefig(tmp_path / "comparison.png")
    for name, side in (("a", layout.a), ("b", layout.b)):
        assert len(part(ax, f"nodes {name}").get_offsets()) == len(side.node)
        texts = [text for text in ax.texts if text.get_gid().startswith(f"{name} ")]
        assert len(texts) == len(side.node)
        assert texts[0].get_text() == f"tree {name} · 40 rows"
    assert len(part(ax, "links").get_paths()) == len(layout.links) - 1
    x = [part(ax, f"nodes {name}").get_offsets()[:, 0] for name in "ab"]
    assert x[0].max() < x[1].min()  # face to face
    own = new_axes()
    assert plot_comparison(comparison, ax=own) is own


def test_trees_without_anything_to_compare():
    trivial = Tree.from_parents([-1, 0], [1, 1, 1])
    ax = plot_comparison(compare_trees(trivial, trivial))
    assert len(ax.texts) == 2
