"""A tree as lines of text; very deep and very wide trees."""

import time
from dataclasses import replace

import numpy as np
import pytest

from bhmc import Tree
from tests.tree.trees import (
    NAMES,
    random_trees,
    small_state,
    state_of,
    told_tree,
)

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


def test_heights_are_said_and_long_chains_are_short():
    parents = [-1, 0, 0, *range(2, 9)]  # a chain from node 2 down to node 9
    tree = Tree.from_parents(parents, [1, 1, 9], heights=[1234.5, 0, *[0.123] * 7, 0])
    lines = tree.to_text().splitlines()
    assert lines[0] == "root 3, height 1,230"
    assert lines[1].startswith("├── [1 > … > ")
    assert lines[2].startswith("└── [2 > … > ")
    assert "height 0.123" in lines[2]
    short = Tree.from_parents([-1, 0, 0, 2, 3], [1, 4]).to_text()
    assert short.count(">") == 4
