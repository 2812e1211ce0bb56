"""What pages say: groups, changes of the tree, sheets, escaped text."""

from dataclasses import replace

import numpy as np
import pytest

from bhmc import Tree
from bhmc._experiments import (
    groups,
    tree_changes,
)
from bhmc._experiments.page import Page
from bhmc._experiments.sheet import Sheet
from bhmc.posterior.draws import Partition
from tests.posterior.draws_factory import make_draws


@pytest.fixture
def birds_and_fish() -> Tree:
    """root -> {0, 1, 2, 3} -> {0, 1}, {2, 3};  root -> {4, 5}, a chain; components 0 0 1 1 1 2."""
    parents = np.array([-1, 0, 0, 1, 1, 2])
    tree = Tree.from_parents(parents, tips=np.array([3, 3, 4, 4, 5, 5]))
    return replace(
        tree,
        components=np.array([1, 1, 0, 0, 0, 2], dtype=np.int32),
        theta=np.zeros((3, 1)),
        weights=np.full((tree.n_nodes, 4), 0.25),
    )


def test_a_named_group_is_at_the_node_most_like_it(birds_and_fish):
    names = ["crow", "jay", "owl", "tit", "cod", "eel"]
    wanted = {"birds": ["crow", "jay", "owl", "tit"], "fish": ["cod", "eel"], "none": ["yak"]}
    birds, fish = groups.find_groups(birds_and_fish, names, wanted)
    tree = birds_and_fish
    assert tree.members(birds.node).tolist() == [0, 1, 2, 3]
    assert (birds.size, birds.held, birds.asked, birds.f) == (4, 4, 4, 1.0)
    assert tree.members(fish.node).tolist() == [4, 5]
    assert tree.levels[fish.node] == 1  # the uppermost of a chain
    assert (birds.component, birds.component_size, birds.component_held) == (1, 2, 2)
    assert birds.said == "birds: 4 of 4"


def test_a_group_that_is_spread_is_not_said_to_be_whole(birds_and_fish):
    names = ["crow", "jay", "cod", "eel", "owl", "tit"]
    (found,) = groups.find_groups(birds_and_fish, names, {"birds": ["crow", "jay", "owl"]})
    assert birds_and_fish.members(found.node).tolist() == [0, 1]
    assert (found.held, found.size, found.asked) == (2, 2, 3)
    assert found.f == pytest.approx(2 * 2 / 5)


def partition(leaf, parents, component):
    return Partition(
        np.array(leaf, np.uint8), np.array(component, np.uint8), np.array(parents, np.int32)
    )


def test_changes_are_counted_without_labels():
    """Draw 1 is draw 0 with other labels; draw 2 parts two rows at level 2; draw 3 is as 2."""
    one = partition([3, 3, 4], [-1, 0, 0, 1, 2], [0, 0, 1])
    same = partition([4, 4, 3], [-1, 0, 0, 1, 2], [1, 1, 0])
    other = partition([3, 4, 5], [-1, 0, 0, 1, 1, 2], [0, 0, 1])
    draws = make_draws(n_chains=1, n_draws=4, n_rows=3, n_levels=2)
    draws = replace(draws, partitions=(one, same, other, other))
    changes = tree_changes.count_changes(draws)
    assert changes.tree == pytest.approx(1 / 3)
    assert changes.top == 0
    assert changes.components == 0
    assert changes.distinct == 2


def test_a_table_is_written_in_full_and_shown_in_short():
    table = Sheet(("name", "share"), [("a < b", 0.123456), ("c", None)], caption="1 < 2")
    assert table.to_csv() == "name,share\na < b,0.123456\nc,\n"
    html = table.to_html()
    assert "a &lt; b" in html
    assert "1 &lt; 2" in html
    assert ">0.123</td>" in html
    assert table.to_text().splitlines()[1] == "a < b  0.123"


def test_a_page_escapes_what_it_is_told(tmp_path):
    page = Page("1 < 2", "lead & more", tmp_path)
    page.text("<script>")
    page.note("a < b")
    page.code("x > y")
    text = page.write().read_text(encoding="utf-8")
    assert "<script>" not in text
    assert "&lt;script&gt;" in text
    assert "1 &lt; 2" in text


def test_next_to_nothing_has_no_sign():
    assert Sheet(("x",)).said(-1e-5) == "0.000"
    assert Sheet(("x",)).said(-0.25) == "-0.250"
