"""The parts of `benchmarks.dendrogram_table` that can be checked without a fit of minutes."""

import warnings

import numpy as np
import pytest
from benchmarks import dendrogram_table
from benchmarks.dendrogram_table import checks, main, others

from bhmc import Tree

ROWS = np.repeat([[0.0, 0.0], [1.0, 0.0], [9.0, 9.0]], 10, axis=0)


def table():
    """Thirty rows of three groups, two of them near each other; classes of two levels."""
    X = ROWS + np.random.default_rng(0).normal(0, 0.05, ROWS.shape)
    return X, np.column_stack([np.repeat([0, 0, 1], 10), np.repeat([0, 1, 2], 10)])


def test_bounds_are_those_of_means_over_seeds():
    fits = [
        {"dendrogram_": [0.42, 0.46, 0.50], "own sums": [0.1] * 3},
        {"dendrogram_": [0.46, 0.46, 0.52], "own sums": [0.3] * 3},
    ]
    ours, own, ward = checks("fashion", fits, {"Ward": [0.4, 0.5, 0.5]})
    assert ours.ok == [True, True, False]
    assert str(ours).split()[-1] == "ok/ok/MISSED"
    assert (ward.values, str(ward).split()[-1]) == ([0.4, 0.5, 0.5], ".400/.500/.500")
    assert own.values == pytest.approx([0.2] * 3)


def test_the_bound_of_zoo_is_purity():
    ours, _ = checks("zoo", [{"dendrogram_": [0.0, 0.0, 0.9], "own sums": [0.0] * 3}], {})
    assert ours.ok == [True, True, True]
    ours, _ = checks("zoo", [{"dendrogram_": [1.0, 1.0, 0.88], "own sums": [0.0] * 3}], {})
    assert ours.ok == [True, True, False]


def test_figures_are_ami_at_the_counts_and_purity():
    X, truth = table()
    tree = Tree.from_parents([-1, 0, 0, 1, 1], np.repeat([3, 4, 2], 10), heights=[2, 1, 0, 0, 0])
    assert dendrogram_table.figures_of(tree, truth, "iris") == pytest.approx([1.0, 1.0])
    assert dendrogram_table.figures_of(tree, truth, "zoo") == pytest.approx([1.0, 1.0, 1.0])
    beside = others("zoo", X, truth, n_seeds=1)
    assert beside.keys() == {"Ward", "average linkage", "k-means"}
    assert all(values[:2] == pytest.approx([1.0, 1.0]) for values in beside.values())


@pytest.mark.parametrize("given", [{}, {"transition": "hdp"}])
def test_the_default_transition_is_measured_unless_another_is_asked_for(given, monkeypatch, capsys):
    monkeypatch.setitem(dendrogram_table.TABLES, "iris", table)
    seen, fit = [], dendrogram_table.timed_fit

    def watched(X, seed, settings):
        found = fit(X, seed, settings)
        seen.append(found.model.transition_)
        return found

    monkeypatch.setattr(dendrogram_table, "timed_fit", watched)
    monkeypatch.setattr(dendrogram_table, "warmup", lambda: None)
    options = [f"--{name}={value}" for name, value in given.items()]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        main(["iris", "--seeds", "1", "--n_warmup", "20", "--n_draws", "20", *options])
    assert [type(one).__name__ for one in seen] == ["Hdp" if given else "Diffused"]
    assert "iris: dendrogram_" in capsys.readouterr().out
