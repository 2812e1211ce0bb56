"""Two trees in one page, against `compare_trees`."""

import numpy as np
import pytest

from bhmc import Tree, compare_trees
from bhmc._explorer.comparison import compare_sentences
from bhmc.datasets import load_zoo
from tests.explorer.fits import zoo_model
from tests.explorer.reading import read


def test_pairs_and_moved_rows_are_those_of_compare_trees(page):
    info, found = page
    expected = compare_trees(zoo_model(4), zoo_model(3))
    pairs = zip(found["compare.a"], found["compare.b"], found["compare.match"], strict=True)
    for (a, b, match), pair in zip(pairs, expected.pairs, strict=True):
        assert (a, b) == (pair.a, pair.b)
        assert match == pytest.approx(pair.jaccard)
    assert found["compare.moved"].tolist() == list(expected.moved)
    np.testing.assert_array_equal(found["compare.leaf"], zoo_model(3).tree_.paths[:, -1])
    np.testing.assert_array_equal(found["compare.sizes"], zoo_model(3).tree_.sizes)
    assert info["compare"]["left"] == "BHMC, seed 4"
    assert info["compare"]["right"] == "BHMC, seed 3"
    said = " ".join(info["compare"]["sentences"])
    moved = len(expected.moved)
    assert f"{moved} of 101 rows moved" in said or (not moved and "None of 101 rows" in said)


def _tree(labels) -> Tree:
    return Tree.from_parents([-1, *[0] * (max(labels) + 1)], [1 + label for label in labels])


def test_sentences_name_rows_and_groups():
    found = compare_trees(_tree([0, 0, 0, 0, 1, 1, 1, 2, 2]), [0, 0, 0, 1, 1, 1, 1, 2, 3])
    nothing = [""] * 9
    said = compare_sentences(found, ["", "milk", *nothing], nothing)
    assert said[2] == "1 of 9 rows moved: they left or joined a matched group. They are row 3."
    assert said[3] == (
        "Group 1 (milk; 4 rows) is group 2 of 3 rows on the right (75 % match); left it: row 3."
    )
    assert said[-1] == "Only on the left: group 3 (2 rows)."


def test_a_match_that_is_not_perfect_is_not_called_so():
    found = compare_trees(np.repeat([0, 1], 400), np.repeat([0, 1], [399, 401]))
    said = compare_sentences(found, [""] * 3, [""] * 3)
    assert "(>99 % match); left it: row 399." in said[3]


def test_trees_that_are_the_same():
    same = _tree([0, 0, 1, 1])
    said = compare_sentences(compare_trees(same, same), [""] * 9, [""] * 9)
    assert said[-1] == "None of 4 rows moved: no row left or joined a matched group."


def test_labels_and_text_on_the_right(tmp_path):
    zoo = load_zoo(as_frame=True)
    kinds = np.array(zoo.target_names)[zoo.target].astype(str)
    info, found = read(zoo_model(4).explore(tmp_path / "a.html", compare=kinds))
    assert info["compare"]["right"] == "the labels given"
    assert set(found["compare.names"][1:]) == set(kinds)
    leaf = [found["compare.names"][node] for node in found["compare.leaf"]]
    assert leaf == kinds.tolist()


def test_a_tree_of_merges_on_the_right_has_its_nodes_by_place(tmp_path):
    """Only children are left out there, so that ids and places differ."""
    left = Tree.from_parents([-1, 0, 0, 0], np.repeat([1, 2, 3], [6, 3, 2]))
    parents, heights = [-1, 0, 0, 2, 2], [4.0, 0.0, 2.0, 0.0, 0.0]
    right = Tree.from_parents(parents, np.repeat([1, 3, 4], [6, 3, 2]), heights=heights)
    info, found = read(left.explore(tmp_path / "a.html", compare=right))
    assert info["trees"][-1]["unit"] == "units"
    assert found["compare.ids"].tolist() == [0, 1, 2, 4, 5]
    assert found["compare.b"].tolist() == [1, 3, 4]
    assert [one.b for one in compare_trees(left, right).pairs] == [1, 4, 5]


def test_rows_that_only_one_tree_has(tmp_path):
    a = Tree.from_parents([-1, 0, 0], [1, 1, 2, 2], names=list("abcd"))
    b = Tree.from_parents([-1, 0, 0], [1, 1, 2, 2, 2], names=list("xcabd"))
    info, found = read(a.explore(tmp_path / "a.html", compare=b))
    assert found["compare.leaf"].tolist() == [b.paths[2, -1], b.paths[3, -1], b.paths[1, -1], 1]
    assert info["compare"]["sentences"][0].startswith("4 rows are in both trees; 0 are only")
    _, found = read(b.explore(tmp_path / "b.html", compare=a))
    assert found["compare.leaf"][0] == -1


def test_trees_that_cannot_be_compared(tmp_path):
    with pytest.raises(ValueError, match="b has 3"):
        zoo_model(4).explore(tmp_path / "a.html", compare=[1, 2, 3])
    assert not list(tmp_path.iterdir())
