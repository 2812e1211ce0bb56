"""`plot_dendrogram`: what is where, from the arrays it is drawn from."""

import numpy as np
import pytest

from bhmc import Tree
from bhmc.plotting import dendrogram_layout, plot_dendrogram

# ((0, 1) at 1, (2, 3) at 4) at 9; row 4 joins at 16.
MERGES = np.array([[0, 1, 1.0, 2], [2, 3, 4.0, 2], [5, 6, 9.0, 4], [4, 7, 16.0, 5]])
TREE = Tree.from_linkage(MERGES, names=["a", "b", "c", "d", "e"])


def members(tree, layout):
    return [sorted(tree.members(int(z)).tolist()) for z in layout.node]


def test_layout():
    layout = dendrogram_layout(TREE)
    rows = members(TREE, layout)
    heights = {tuple(r): h for r, h in zip(rows, layout.height.tolist(), strict=True)}
    assert heights[0, 1, 2, 3, 4] == 16
    assert (heights[0, 1, 2, 3], heights[2, 3], heights[0, 1], heights[4,]) == (9, 4, 1, 0)
    assert sorted(layout.across[layout.is_tip].tolist()) == [0, 1, 2, 3, 4]
    for one in np.flatnonzero(~layout.is_tip):
        below = layout.across[layout.parent == one]
        assert layout.across[one] == below.mean()


def test_highest_nodes_are_split_first():
    layout = dendrogram_layout(TREE, max_tips=3)
    tips = [rows for rows, tip in zip(members(TREE, layout), layout.is_tip, strict=True) if tip]
    assert sorted(tips) == [[0, 1], [2, 3], [4]]


def test_a_tree_without_heights_is_refused():
    bare = Tree.from_parents([-1, 0, 0], [1, 2])
    with pytest.raises(ValueError, match="needs heights"):
        dendrogram_layout(bare)


def test_picture():
    ax = plot_dendrogram(TREE)
    lines = next(c for c in ax.collections if c.get_gid() == "lines")
    assert len(lines.get_segments()) == 8
    assert max(segment[:, 0].max() for segment in lines.get_segments()) == 16
    texts = [text.get_text() for text in ax.texts]
    tips = [text for text in texts if " · " in text]
    assert sorted(text.split("] ")[1] for text in tips) == [f"1 · {name}" for name in "abcde"]
    layout = dendrogram_layout(TREE)
    ids = {f"[{node}]" for node in layout.node[~layout.is_tip][1:]}
    assert set(texts) - set(tips) == ids  # the root has none
    assert "nats" in ax.get_xlabel()
    assert ax.get_xlim()[0] > 16


def test_support_is_said():
    from dataclasses import replace

    support = np.full(TREE.n_nodes, 0.5)
    ax = plot_dendrogram(replace(TREE, support=support))
    said = [text.get_text() for text in ax.texts]
    assert sum(text.endswith("] 50 %") for text in said) == 3  # not of the root, not of tips
    bare = plot_dendrogram(replace(TREE, support=support), support=False)
    assert not any("50 %" in text.get_text() for text in bare.texts)
