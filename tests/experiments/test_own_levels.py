"""AMI in one line a method: told the counts, by own levels, by components."""

import numpy as np
import pytest

from bhmc import Tree, metrics
from bhmc._experiments import own_levels
from bhmc._experiments.methods import METHODS
from tests.experiments.tools import entry
from tests.tree.tree_factory import small_tree


@pytest.fixture
def three_levels() -> Tree:
    """8 rows: all in one node, then in 2, then in 4."""
    parents = np.array([-1, 0, 1, 1, 2, 2, 3, 3])
    return Tree.from_parents(parents, tips=np.repeat([4, 5, 6, 7], 2))


def test_the_level_that_agrees_best_is_found_and_its_clusters_are_counted(three_levels):
    halves, quarters = np.repeat([0, 1], 4), np.repeat([0, 1, 2, 3], 2)
    assert own_levels.own_level(three_levels, halves) == (pytest.approx(1.0), 2, 2)
    assert own_levels.own_level(three_levels, quarters) == (pytest.approx(1.0), 4, 3)


def test_own_levels_are_told_no_number(three_levels):
    """Three classes: a cut into three is told so, a level is not."""
    classes = np.array([0, 0, 0, 0, 1, 1, 2, 2])
    assert own_levels.matched(three_levels, classes).n_clusters == 3
    own = own_levels.own_level(three_levels, classes)
    scores = [metrics.ami(classes, three_levels.labels_at(level)) for level in (1, 2, 3)]
    assert own.ami == pytest.approx(max(scores))
    assert own.n_clusters == {2: 2, 3: 4}[own.level]


def test_rows_are_means_over_runs_and_one_class_says_nothing():
    trees = [small_tree(seed) for seed in (0, 1)]
    truth = np.column_stack([np.zeros(40, int), np.arange(40) % 5])
    entries = [
        entry("bhmc-diffused", trees[0], 0, cpu_seconds=1.0),
        entry("bhmc-diffused", trees[1], 1, cpu_seconds=3.0),
        entry("ward", trees[0]),
        entry("perch", None),
    ]
    rows = own_levels.compare_levels(entries, truth)
    assert {row.level for row in rows} == {2}
    assert {row.method for row in rows} == {"bhmc-diffused", "ward"}
    assert [row.how for row in rows if row.method == "ward"] == ["matched", "own"]
    flat = next(row for row in rows if row.how == "components")
    each = [metrics.ami(truth[:, 1], tree.components) for tree in trees]
    assert flat.ami == pytest.approx(np.mean(each))
    assert flat.cpu_seconds == 2.0
    assert np.isnan(flat.level_of_tree)


def test_a_line_for_every_method():
    truth = np.column_stack([np.arange(40) % 2, np.arange(40) % 5])
    entries = [entry(name, small_tree()) for name in ("bhmc-paper", "bhmc-diffused", "random")]
    rows = own_levels.compare_levels(entries, truth)
    short = own_levels.short_sheet(rows)
    assert [row[0] for row in short.rows] == [METHODS[e.method].words for e in entries]
    assert "AMI with 2/5 classes" in short.caption
    assert short.rows[0][1].count("/") == 1  # a figure for every level
    assert short.rows[2][4] is None  # the control has no components
    assert [short.strong(row) for row in short.rows] == [False, False, True]
    full = own_levels.full_sheet(rows)
    assert len(full.rows) == 2 * (3 + 3 + 2)
    assert len(full.columns) == len(full.rows[0])


def test_figures_of_ami_are_short():
    assert own_levels._joined([0.504, -0.021, 1.0, -0.001]) == ".50/-.02/1.00/.00"


def test_the_figure_has_a_line_for_every_method_in_its_own_style():
    pytest.importorskip("matplotlib")
    from bhmc._experiments.figures.ami import draw_ami

    truth = np.column_stack([np.arange(40) % 2, np.arange(40) % 5])
    entries = [entry(name, small_tree()) for name in METHODS]
    figure = draw_ami(own_levels.compare_levels(entries, truth))
    for ax in figure.axes:
        lines = ax.get_lines()
        assert [line.get_label() for line in lines] == [one.words for one in METHODS.values()]
        assert len({(line.get_color(), line.get_marker()) for line in lines}) == len(METHODS)
    assert figure.axes[0].get_lines()[-1].get_linestyle() == "--"
