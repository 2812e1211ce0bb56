"""`plot_tree`: its arrays equal the tree, its artists equal the arrays."""

from dataclasses import replace

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.colors import to_rgba

from bhmc import Tree, plotting
from bhmc.plotting import _text
from bhmc.plotting._collapse import collapse
from bhmc.plotting._tree_layout import node_radii
from tests.plotting.pictures import (
    EVERYTHING,
    SEEDS,
    boxes_of,
    labels_on,
    members,
    much_overlap,
    new_axes,
    part,
)
from tests.tree.tree_factory import small_tree


@pytest.mark.parametrize("seed", SEEDS)
def test_nodes_are_in_levels_and_slots(seed):
    layout = plotting.tree_layout(small_tree(seed), max_nodes=25)
    marks, last = layout.marks, layout.marks.is_last
    np.testing.assert_array_equal(layout.depth, marks.level)
    assert sorted(layout.across[last]) == list(range(layout.n_slots))
    slots = {one: {layout.across[one]} for one in np.flatnonzero(last).tolist()}
    for one in range(len(marks.node) - 1, -1, -1):
        children = np.flatnonzero(marks.parent == one).tolist()
        if children:
            across = layout.across[children]
            assert (np.diff(across) > 0).all()
            assert layout.across[one] == (across[0] + across[-1]) / 2
            slots[one] = set().union(*(slots[child] for child in children))
            assert max(slots[one]) - min(slots[one]) + 1 == len(slots[one])  # no line crosses


@pytest.mark.parametrize("slot", [14.0, 7.0])
def test_areas_are_in_proportion_and_nodes_do_not_touch(slot):
    layout = plotting.tree_layout(small_tree(1), max_nodes=25)
    radii = node_radii(layout, 90.0, slot)
    assert slot == 14.0 or radii.max() < 14  # smaller because neighbours need it
    large = radii > radii.min()
    assert large.sum() > 3
    ratio = radii[large] ** 2 / layout.marks.size[large]
    np.testing.assert_allclose(ratio, ratio[0])
    for depth in np.unique(layout.depth):
        here = np.flatnonzero(layout.depth == depth)
        here = here[np.argsort(layout.across[here])]
        assert (np.diff(layout.across[here]) * slot >= radii[here][1:] + radii[here][:-1]).all()


@pytest.mark.parametrize("direction", ["right", "down"])
def test_the_picture_of_a_tree_is_its_layout(direction):
    tree = small_tree(2)
    layout = plotting.tree_layout(tree, max_nodes=20, min_support=0.1)
    marks, rest = layout.marks, layout.marks.is_rest
    assert rest.any()
    ax = plotting.plot_tree(tree, max_nodes=20, min_support=0.1, direction=direction)
    places = np.column_stack([layout.depth, layout.across])
    places = places if direction == "right" else places[:, ::-1]

    nodes, rests, pies = part(ax, "nodes"), part(ax, "rests"), part(ax, "pies")
    np.testing.assert_array_equal(nodes.get_offsets(), places[~rest])
    np.testing.assert_array_equal(rests.get_offsets(), places[rest])
    radii = np.sqrt(nodes.get_sizes())
    assert radii[0] == radii.max()
    bigger = radii > radii.min()
    np.testing.assert_allclose(
        radii[bigger] / radii[0], np.sqrt(marks.size[~rest][bigger] / marks.size[0])
    )
    owner, column = np.nonzero(marks.counts[~rest])
    np.testing.assert_array_equal(pies.get_offsets(), places[~rest][owner])
    colors = marks.colors
    np.testing.assert_allclose(pies.get_facecolors(), [to_rgba(colors[i]) for i in column])
    shares = (marks.counts / marks.size[:, None])[~rest][owner, column]
    np.testing.assert_allclose(
        [_area(path) / np.pi for path in pies.get_paths()], shares, atol=2e-3
    )

    lines = part(ax, "lines").get_paths()
    assert len(lines) == len(marks.node) - 1
    for one, line in enumerate(lines, start=1):
        np.testing.assert_array_equal(line.vertices[0], places[marks.parent[one]])
        np.testing.assert_array_equal(line.vertices[-1], places[one])


def _area(path):
    """Area within a path of curves, by the shoelace formula on its polygon."""
    big = path.transformed(mpl.transforms.Affine2D().scale(1000))  # curves are cut into pixels
    x, y = big.to_polygons()[0].T / 1000
    return abs(np.dot(x[:-1], y[1:]) - np.dot(x[1:], y[:-1])) / 2


def test_labels_say_rows_support_components_and_names():
    tree = small_tree(2)
    ax = plotting.plot_tree(tree, max_nodes=20)
    marks = collapse(tree, max_nodes=20)
    labels = labels_on(ax, "mark")
    assert set(np.flatnonzero(marks.is_last)) <= set(labels)  # a new figure has room for them
    for one, label in labels.items():
        text = label.get_text()
        if marks.is_rest[one]:
            nodes, rows = text.split(" · ")[0].split(", ")
            assert nodes.startswith(f"{marks.hidden[one]} more node")
            assert rows in (f"{marks.size[one]} row", f"{marks.size[one]} rows")
        elif one:
            assert _text.percent(marks.support[one]) in text
        if marks.is_last[one] and not marks.is_rest[one]:
            assert text.startswith(f"[{marks.node[one]}] {marks.size[one]} (c")
            rows = members(tree, marks.node[one])
            assert f"item {rows[0]}" in text
            held = np.bincount(tree.components[rows])
            assert f"c{held.argmax()}" in text


@pytest.mark.parametrize("seed", SEEDS[:3])
def test_nothing_is_cut_off_at_the_edge_of_a_new_figure(seed):
    tree = small_tree(seed)
    for ax in (
        plotting.plot_tree(tree),
        plotting.plot_tree(tree, direction="down"),
        plotting.plot_icicle(tree),
        plotting.plot_coclustering(np.eye(40), names=tree.names),
    ):
        ax.figure.canvas.draw()
        edge = ax.figure.bbox.padded(1)
        for text in ax.figure.findobj(mpl.text.Text):
            box = text.get_window_extent()
            if text.get_text() and text.get_visible():
                assert edge.x0 <= box.x0 <= box.x1 <= edge.x1, text
                assert edge.y0 <= box.y0 <= box.y1 <= edge.y1, text


def test_names_are_given_or_the_tree_s_own_and_never_mathematics():
    tree = replace(small_tree(4, n=5), names=None)
    plain = plotting.plot_tree(tree)
    assert not any("$" in text.get_text() for text in plain.texts)
    named = plotting.plot_tree(tree, names=[r"a$\nosuch$c", "d\ne", "f_g", "h%", "$"])
    said = " ".join(text.get_text() for text in named.texts)
    assert r"a$\nosuch$c" in said
    assert "d e" in said
    icicle = plotting.plot_icicle(tree, names=[r"$\nosuch$"] * 5)
    share = plotting.plot_coclustering(np.eye(5), names=[r"$\nosuch$"] * 5)
    icicle.figure.canvas.draw()
    share.figure.canvas.draw()
    named.figure.canvas.draw()  # mathematics would fail here


@pytest.mark.parametrize("plot", [plotting.plot_tree, plotting.plot_icicle])
def test_colours_by_support(plot):
    tree = small_tree(2)
    ax = plot(tree, color="support", max_nodes=20)
    marks = collapse(tree, max_nodes=20)
    artist = part(ax, "pies" if plot is plotting.plot_tree else "boxes")
    expected = mpl.colormaps["cividis"](marks.support[~marks.is_rest])
    np.testing.assert_allclose(artist.get_facecolors(), expected)


def test_transparency_by_support():
    tree = small_tree(2)
    ax = plotting.plot_tree(tree, support="transparency", max_nodes=EVERYTHING)
    owner, _ = np.nonzero(collapse(tree, max_nodes=EVERYTHING).counts)
    np.testing.assert_allclose(
        part(ax, "pies").get_facecolors()[:, 3], 0.2 + 0.8 * tree.support[owner]
    )
    assert not any("%" in text.get_text() for text in ax.texts)


@pytest.mark.parametrize("seed", SEEDS[:3])
@pytest.mark.parametrize("size", [(8, 6), (3, 2)])
def test_labels_of_trees_do_not_overlap(seed, size):
    tree = small_tree(seed)
    for direction in ("right", "down"):
        ax = new_axes(*size)
        plotting.plot_tree(tree, ax=ax, direction=direction)
        ax.figure.canvas.draw()
        boxes = boxes_of(text for text in ax.texts if text.get_text())
        assert boxes
        for i, box in enumerate(boxes):
            assert not any(much_overlap(box, other) for other in boxes[:i])


def test_names_of_nodes_are_drawn():
    """A chain of only children says its name where it ends."""
    tree = Tree.from_parents([-1, 0, 0, 1, 2, 2, 3], [6] * 8 + [4] * 6 + [5] * 4)
    named = tree.rename({1: "fish", 2: "birds", 4: "eels"})  # the larger node comes first
    for plot in (plotting.plot_tree, plotting.plot_icicle):
        said = " ".join(text.get_text() for text in plot(named, ax=new_axes(14, 8)).texts)
        for name in ("birds", "fish", "eels"):
            assert name in said
        assert "birds" not in "".join(text.get_text() for text in plot(tree, ax=new_axes()).texts)
    ends = plotting.plot_tree(named, ax=new_axes(14, 8)).texts
    assert any(text.get_text().startswith("birds [8] 8") for text in ends)
