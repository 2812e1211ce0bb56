"""Comparisons: scores are those of the metrics, and words say what the scores say."""

from dataclasses import replace

import numpy as np
import pytest

from bhmc._experiments import (
    comparison,
    comparison_page,
)
from bhmc._experiments.methods import METHODS
from bhmc._experiments.page import Page
from tests.experiments.tools import entry, mean, rows_of
from tests.tree.tree_factory import small_tree


def test_scores_are_those_of_the_metrics_and_means_of_runs():
    from bhmc import metrics

    trees = [small_tree(seed) for seed in (0, 1)]
    truth = np.column_stack([np.arange(40) % 2, np.arange(40) % 5])
    entries = [entry("random", trees[0], 0), entry("random", trees[1], 1), entry("ward", trees[0])]
    scores = comparison.score_runs(entries, truth)
    assert len(scores.rows) == 3 * 2 * 2
    means = comparison.mean_scores(scores)
    found = next(m for m in means if (m.method, m.cut, m.level) == ("random", "matched", 2))
    each = [metrics.ari(truth[:, 1], metrics.cut_matched(tree, 5)) for tree in trees]
    assert found.scores["ari"] == pytest.approx(np.mean(each))
    assert found.spread["ari"] == pytest.approx(np.std(each))
    assert found.n_runs == 2
    pure = [metrics.dendrogram_purity(tree, truth[:, 1]) for tree in trees]
    assert found.scores["dendrogram_purity"] == pytest.approx(np.mean(pure))
    assert comparison.cut_sheet(means, "depth").rows[0][:3] == (1, 2, METHODS["random"].words)


def test_a_method_without_a_result_is_in_the_table_of_runs_only():
    truth = np.arange(40)[:, None] % 2
    entries = [entry("ward", small_tree()), entry("bhmc", None, stopped_early=True)]
    assert {row[0] for row in comparison.score_runs(entries, truth).rows} == {"ward"}
    rows = comparison.run_sheet(entries, 60.0).rows
    assert [row[-1] for row in rows] == ["finished", "no result within its time"]


def test_the_control_is_put_into_words():
    means = [
        mean("random", 1, nmi=0.2, purity=0.3),
        mean("random", 2, nmi=0.63, purity=0.78),
        mean("ward", 2, nmi=0.57),
        mean("bhmc", 2, nmi=0.7),
    ]
    said = comparison_page.control_sentence(means)
    assert "at level 2" in said
    assert "purity 0.78 and NMI 0.63" in said
    assert said.endswith("Its NMI is above that of Ward.")
    assert comparison_page.control_sentence(means[2:]) == ""
    low = [mean("random", 1, purity=0.6, ari=-0.001), mean("bhmc", 1, nmi=0.4, purity=0.7)]
    said = comparison_page.control_sentence(low)
    assert said.startswith("Read purity beside the control: at level 1")
    assert "purity 0.60 and NMI 0.00, with ARI 0.00" in said


def test_verdicts_go_by_chance_corrected_measures_and_leave_the_control_out():
    means = [
        mean("random", 1, ami=0.9, purity=0.9),
        mean("ward", 1, ami=0.4, purity=0.9),
        mean("bhmc", 1, ami=0.5, purity=0.2),
    ]
    assert comparison_page.verdicts(means) == [
        f"Highest AMI, cut by depth: {METHODS['bhmc'].words} at level 1 (0.50)."
    ]


def test_the_control_has_alpha_and_levels_of_the_fit():
    tree = replace(small_tree(), alpha=0.77)
    plan = comparison.control_plan(
        [entry("ward", small_tree(1)), entry("bhmc", tree)], np.zeros((40, 2)), 3
    )
    assert plan.settings == {"alpha": 0.77, "n_levels": 3}
    assert plan.repeats == 3
    alone = comparison.control_plan([], np.zeros((40, 2)), 3)
    assert alone.settings["n_levels"] == 2


def test_nobody_wins_a_tie_by_standing_first():
    means = [mean("bhmc", 1, ami=0.996), mean("ward", 1, ami=1.0), mean("perch", 1, ami=0.5)]
    (said,) = comparison_page.verdicts(means)
    words = METHODS["bhmc"].words
    assert said == f'Highest AMI, cut by depth: "{words}" and Ward at level 1 (1.00).'
    (said,) = comparison_page.verdicts(means[:2])
    assert said == "Highest AMI, cut by depth: all methods alike at level 1 (1.00)."


def test_a_level_of_one_class_is_not_judged():
    means = [
        mean("random", 1, nmi=1.0, purity=1.0)._replace(n_true=1),
        mean("ward", 1, ami=1.0)._replace(n_true=1),
        mean("bhmc", 1)._replace(n_true=1),
    ]
    assert comparison_page.verdicts(means) == []
    assert comparison_page.control_sentence(means) == ""


def test_the_page_has_the_settings_that_were_used():
    tree = replace(small_tree(), alpha=0.77)
    used = comparison.settings_used(
        ["perch-boxes", "pydt-mh", "random"],
        {"pydt-mh": {"n_draws": 5}, "random": {"repeats": 3}},
        [entry("bhmc", tree)],
        np.zeros((40, 2)),
    )
    assert list(used.values()) == [
        {"masking": "boxes"},
        {"sampler": "mh", "n_draws": 5},
        {"alpha": 0.77, "n_levels": 3, "repeats": 3},
    ]


def test_methods_that_never_finished_have_no_exponent(tmp_path):
    page = Page("Title", "lead", tmp_path)
    slow = entry("pydt-sl", small_tree(), stopped_early=True)
    comparison_page.add_times(page, {10: [slow], 20: [slow]}, "told")
    assert rows_of(tmp_path / "times-by-rows.csv")[0]["exponent"] == "nan"
