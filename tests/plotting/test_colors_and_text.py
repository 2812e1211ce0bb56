"""Colours that can be told apart, and texts that fit."""

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.colors import to_rgb

from bhmc import Tree, plotting
from bhmc.plotting import _colors, _text
from tests.plotting.pictures import new_axes
from tests.tree.tree_factory import small_tree

# Machado, Oliveira and Fernandes 2009: what colour-blind people see, on linear RGB.
SIGHTS = {
    "all": np.eye(3),
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}
TO_XYZ = np.array(
    [
        [0.4124564, 0.3575761, 0.1804375],
        [0.2126729, 0.7151522, 0.0721750],
        [0.0193339, 0.1191920, 0.9503041],
    ]
)


def lab(colors, sight="all"):
    """CIELAB of colours as someone sees them."""
    rgb = np.array([to_rgb(color) for color in colors])
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    seen = np.clip(linear @ np.transpose(SIGHTS[sight]), 0, 1)
    xyz = seen @ TO_XYZ.T / TO_XYZ.sum(axis=1)
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.column_stack(
        [116 * f[:, 1] - 16, 500 * (f[:, 0] - f[:, 1]), 200 * (f[:, 1] - f[:, 2])]
    )


def least_distance(colors, sight):
    points = lab(colors, sight)
    apart = np.linalg.norm(points[:, None] - points[None], axis=-1)
    return apart[np.triu_indices(len(colors), 1)].min()


@pytest.mark.parametrize("sight", SIGHTS)
def test_colours_can_be_told_apart(sight):
    ours = (*_colors.PALETTE, _colors.OTHER)
    assert least_distance(ours, sight) > 20
    if sight == "deuteranopia":  # the alarm rings: matplotlib's own colours do not pass
        assert least_distance([f"C{i}" for i in range(8)], sight) < 10


def test_colours_are_steps_of_grey():
    assert np.diff(np.sort(lab(_colors.PALETTE)[:, 0])).min() > 7
    neighbours = np.abs(np.diff(lab(_colors.PALETTE)[:4, 0]))
    assert neighbours.min() > 7


@pytest.mark.parametrize("sight", SIGHTS)
def test_shades_of_a_hue_can_be_told_apart(sight):
    for color in _colors.PALETTE:
        found = _colors.shades(color, 4)
        assert found[0] == color
        assert least_distance(found, sight) > 8
        assert {_colors.base_of(one) for one in found} == {color}
    assert len(set(_colors.shades(_colors.PALETTE[0], 40))) == 40


def test_components_of_a_branch_have_one_hue():
    """Two branches of three components each: two hues, six colours."""
    parents = [-1, 0, 0, 1, 1, 1, 2, 2, 2]
    tree = Tree.from_parents(parents, np.repeat([3, 4, 5, 6, 7, 8], 5))
    components = np.repeat(np.arange(6), 5).astype(np.int32)
    counted = replace(tree, components=components, theta=np.zeros((6, 1)))
    wide = replace(counted, parents=counted.parents)
    assert [len(group) for group in _colors.color_branches(wide)] == [1] * 6
    colors = _colors.component_colors(wide)
    assert colors == sorted(_colors.PALETTE[:6], key=_colors.hue)  # neighbours in hue and tree
    many = Tree.from_parents([-1, 0, 0, 0], np.repeat([1, 2, 3], [30, 20, 10]))
    components = np.r_[np.arange(30) % 10, 10 + np.arange(20) % 10, 20 + np.arange(10)]
    many = replace(many, components=components.astype(np.int32), theta=np.zeros((30, 1)))
    colors = _colors.component_colors(many)
    hues = [{_colors.base_of(one) for one in colors[i : i + 10]} for i in (0, 10, 20)]
    assert [len(one) for one in hues] == [1, 1, 1]
    assert len(set().union(*hues)) == 3
    assert len(set(colors)) == 30


def test_the_largest_branch_is_split_although_the_root_has_many_children():
    """One branch of 900 rows in four parts, twelve branches of 5: the four have hues of their own.

    The small branches share one.
    """
    parents = [-1, *[0] * 13, 1, 1, 1, 1]
    tips = np.r_[np.repeat([14, 15, 16, 17], 225), np.repeat(np.arange(2, 14), 5)]
    tree = Tree.from_parents(parents, tips)
    components = np.unique(tips, return_inverse=True)[1].astype(np.int32)
    tree = replace(tree, components=components, theta=np.zeros((16, 1)))
    groups = _colors.color_branches(tree)
    assert sorted(int(tree.sizes[group].sum()) for group in groups)[-4:] == [225] * 4
    assert len(groups) == 8


def test_widths_are_those_of_the_picture():
    ax = new_axes()
    for text in ("58 · 82 %", "crow, duck and 12 more", "WWW", "iii"):
        drawn = ax.text(0, 0, text, fontsize=8).get_window_extent().width * 72 / 100
        assert drawn <= _text.width_of(text) + 0.3
        assert _text.width_of(text) < 1.1 * drawn


def test_texts_that_are_too_long_are_cut():
    names = ["crow", "duck", "flamingo", "gull"]
    room = _text.width_of("crow, duck and 2 more") + 0.1
    assert _text.listing(names, 1_000) == "crow, duck, flamingo, gull"
    assert _text.listing(names, room) == "crow, duck and 2 more"
    assert _text.listing(names, 5) == ""
    room = _text.width_of("flamin…") + 0.01
    assert room < _text.width_of("flamingo")
    assert _text.shorten("flamingo", room) == "flamin…"
    assert [_text.percent(x) for x in (0, 0.004, 0.5, 0.996, 1)] == [
        "0 %", "<1 %", "50 %", ">99 %", "100 %",
    ]  # fmt: skip


def test_boxes_apart():
    boxes = np.array([[0, 2, 0, 1], [1, 3, 0, 1], [2, 4, 0, 1], [5, 6, 0, 1]], dtype=float)
    blocked = np.array([[5.5, 7, 0.5, 2]])
    assert _text.apart(boxes, blocked).tolist() == [True, False, True, False]


def test_a_tree_of_one_component_says_so():
    tree = small_tree(n=4)
    tree = Tree(
        parents=tree.parents,
        levels=tree.levels,
        sizes=tree.sizes,
        weights=tree.weights,
        paths=tree.paths,
        components=np.zeros(4, dtype=np.int32),
        theta=tree.theta,
    )
    ax = plotting.plot_tree(tree)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["c0 (4)"]
