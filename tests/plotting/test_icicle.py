"""`plot_icicle`: boxes as wide as their nodes, bands the shares of components."""

import numpy as np
import pytest
from matplotlib.colors import to_rgb

from bhmc import plotting
from bhmc.plotting import _colors
from bhmc.plotting._icicle import bands
from tests.plotting.pictures import EVERYTHING, SEEDS, labels_on, members, new_axes, part
from tests.tree.tree_factory import small_tree


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("max_nodes", [10, EVERYTHING])
def test_boxes_are_as_wide_as_their_nodes_and_lie_in_their_parents(seed, max_nodes):
    tree = small_tree(seed)
    boxes = plotting.icicle_boxes(tree, max_nodes=max_nodes)
    marks = boxes.marks
    np.testing.assert_array_equal(boxes.width, marks.size)
    np.testing.assert_array_equal(boxes.top, marks.level)
    assert boxes.left[0] == 0
    for one in range(len(marks.node)):
        inside = marks.row_order[boxes.left[one] : boxes.left[one] + boxes.width[one]]
        if marks.node[one] >= 0:
            assert set(inside) == set(members(tree, marks.node[one]))
        children = np.flatnonzero(marks.parent == one)
        if len(children):  # side by side, from the left edge of the parent to its right one
            edges = np.append(boxes.left[children], boxes.left[one] + boxes.width[one])
            np.testing.assert_array_equal(np.diff(edges), boxes.width[children])
            assert edges[0] == boxes.left[one]


def test_the_picture_of_an_icicle_is_its_boxes():
    tree = small_tree(2)
    boxes = plotting.icicle_boxes(tree, max_nodes=20)
    marks, rest = boxes.marks, boxes.marks.is_rest
    assert rest.any()
    ax = plotting.plot_icicle(tree, max_nodes=20)
    sides = np.column_stack([boxes.left, boxes.left + boxes.width, boxes.top, boxes.top + 1])
    np.testing.assert_array_equal(_sides(part(ax, "boxes")), sides[~rest])
    np.testing.assert_array_equal(_sides(part(ax, "rests")), sides[rest])
    colors = dict(
        zip(
            [*marks.components, -1],
            marks.colors,
            strict=True,
        )
    )
    for fill, main in zip(part(ax, "boxes").get_facecolors(), marks.main[~rest], strict=True):
        color = np.array(to_rgb(colors.get(main, _colors.OTHER)))
        np.testing.assert_allclose(fill[:3], 1 - 0.28 * (1 - color))
    assert ax.get_xlim() == (0, 40)
    assert ax.get_ylim() == (4, 0)


def test_bands_are_the_shares_of_components():
    tree = small_tree(2)
    boxes = plotting.icicle_boxes(tree, max_nodes=20)
    ax = plotting.plot_icicle(tree, max_nodes=20)
    owner, column, ends = bands(boxes)
    drawn = _sides(part(ax, "bands"))
    np.testing.assert_array_equal(drawn[:, :2], ends)
    np.testing.assert_array_equal(drawn[:, 3], boxes.top[owner] + 1)
    np.testing.assert_array_equal(np.diff(ends)[:, 0], boxes.marks.counts[owner, column])
    for one in np.unique(owner):
        parts = ends[owner == one]
        assert parts[0, 0] == boxes.left[one]
        assert parts[-1, 1] == boxes.left[one] + boxes.width[one]
        np.testing.assert_array_equal(parts[1:, 0], parts[:-1, 1])


def _sides(collection):
    """(left, right, top, bottom) of every rectangle."""
    extents = [path.get_extents() for path in collection.get_paths()]
    return np.array([(box.x0, box.x1, box.y0, box.y1) for box in extents])


@pytest.mark.parametrize("seed", SEEDS[:3])
@pytest.mark.parametrize("size", [(10, 3), (3, 3)])
def test_labels_of_boxes_stay_inside_them(seed, size):
    tree = small_tree(seed)
    ax = new_axes(*size)
    plotting.plot_icicle(tree, ax=ax)
    boxes = plotting.icicle_boxes(tree)
    ax.figure.canvas.draw()
    for one, label in labels_on(ax, "box").items():
        assert f"{boxes.marks.size[one]:,}" in label.get_text()
        corners = [
            (boxes.left[one], boxes.top[one] + 1),
            (boxes.left[one] + boxes.width[one], boxes.top[one]),
        ]
        (left, bottom), (right, top) = ax.transData.transform(corners)
        text = label.get_window_extent()
        assert text.x0 >= left - 1
        assert text.x1 <= right + 1
        assert text.y0 >= bottom - 1
        assert text.y1 <= top + 1


def test_names_below_boxes_are_in_the_order_of_the_rows():
    tree = small_tree(2)
    ax = plotting.plot_icicle(tree)
    named = labels_on(ax, "row")
    assert len(named) == 40
    order = plotting.icicle_boxes(tree).marks.row_order
    for place, row in enumerate(order):
        assert named[row].get_text() == f"item {row}"
        assert named[row].xy[0] == place + 0.5
    assert not labels_on(plotting.plot_icicle(tree, ax=new_axes(2, 2)), "row")  # no room
