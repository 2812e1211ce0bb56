"""The parts of the benchmarks of trees that can be checked without a fit."""

import argparse
import itertools

import numpy as np
import pytest
from benchmarks import held_out, own_levels, synthetic_trees
from benchmarks.bounds import Check, numbers
from benchmarks.fits import add_common, add_settings, read_value, take_common
from benchmarks.tables import same_units
from sklearn.mixture import BayesianGaussianMixture

from bhmc import priors
from bhmc.baselines import Ward
from bhmc.metrics import dendrogram_purity


def test_numbers_are_short():
    assert numbers([0.554, -0.021, 1.0, 10.5, np.nan]) == ".55/-.02/1.00/10.50/-"
    assert numbers([3, 12], 0) == "3/12"


def test_a_check_says_which_bound_is_missed():
    check = Check("fashion", [0.5, 0.4996, 0.7], [0.5, 0.5, np.nan], digits=2)
    assert check.ok == [True, False, True]
    assert str(check).split() == ["fashion", ".50/.50/.70", ">=", ".50/.50/-", "ok/MISSED/ok"]
    assert Check("", [3.0, 6.0], [2, 2], [5, 5]).ok == [True, False]
    assert Check("", [1.0, 5.0], [2, 2], [5, 5]).ok == [False, True]
    assert str(Check("x", [1.0], [0.9])).endswith(" ok")


def test_a_check_without_bounds_says_nothing_and_no_number_keeps_no_bound():
    assert str(Check("x", [0.5])).split() == ["x", ".50"]
    assert Check("x", [np.nan], [0.1]).ok == [False]


def test_nine_settings():
    assert len(synthetic_trees.SETTINGS) == 9
    for name, kind in itertools.product(("sep", "ovl", "mix"), (2, 8, 32)):
        made = synthetic_trees.made(f"{name}{kind}", 0)
        assert made.data.shape == (900, kind)
        assert [len(names) for names in made.level_names] == [4, 12, 36]
        assert len(made.centres) == (72 if name == "mix" else 36)


@pytest.mark.parametrize(("name", "least"), [("sep8", 0.95), ("mix32", 0.99)])
def test_settings_are_as_hard_as_they_should_be(name, least):
    """Ward, told the counts, finds separated clusters; overlapping ones it does not."""
    assert min(synthetic_trees.ward_figures(name, range(2))["nmi"]) > least
    overlapping = synthetic_trees.ward_figures("ovl32", range(2))["nmi"]
    assert overlapping[0] > 0.99
    assert 0.7 < overlapping[2] < 0.8


def test_bounds_of_a_synthetic_setting():
    fits = [{"ami": [0.96, 0.9, 0.8], "ari": [1.0] * 3, "counts": [4, 16, 30]}]
    agree, counts, _ = synthetic_trees.checks("ovl8", "ward", fits, [1.0] * 3)
    assert (agree.ok, counts.ok) == ([True, False, True], [True, False, True])
    agree, counts, _ = synthetic_trees.checks("ovl2", "ward", fits, [1.0, 0.97, 0.9])
    assert (agree.ok, counts.ok) == ([True, True, False], [True] * 3)


def test_the_best_partition_is_named():
    truth = np.array([[0, 0], [0, 1], [1, 2], [1, 3]]).repeat(5, axis=0)
    offered = {"1": truth[:, 0], "c": truth[:, 1]}
    values, which = own_levels.best_levels(truth, offered)
    assert which == ["1", "c"]
    np.testing.assert_allclose(values, 1.0)


def test_a_tree_of_levels_has_their_groups():
    levels = np.array([[0, 0], [0, 0], [0, 1], [1, 2], [1, 0]])
    tree = own_levels.tree_of_levels(levels)
    assert tree.n_levels == 2
    np.testing.assert_array_equal(
        np.unique(tree.labels_at(1), return_inverse=True)[1], levels[:, 0]
    )
    assert len(np.unique(tree.labels_at(2))) == 4  # group 0 of two parents is two nodes


def test_ward_cut_to_counts():
    X = np.random.default_rng(0).normal(size=(30, 2))
    ward = Ward().fit(X).tree_
    cut = own_levels.ward_at([2, 5, 30], ward)
    assert [len(np.unique(cut.labels_at(level))) for level in (1, 2, 3)] == [2, 5, 30]
    classes = Ward(n_clusters=5).fit(X).labels_
    assert dendrogram_purity(cut, classes) == pytest.approx(1.0)


def test_columns_in_different_units_are_standardised_for_methods_that_compare_them():
    X = np.array([[1.0, 100.0], [2.0, 300.0], [3.0, 200.0]])
    np.testing.assert_array_equal(same_units("iris", X), X)
    np.testing.assert_allclose(same_units("wine", X).std(axis=0), 1.0)


@pytest.mark.parametrize("each_column", [True, False])
def test_a_split_is_standardised_by_the_rows_of_the_fit(each_column):
    X = np.random.default_rng(0).normal(5.0, [1.0, 10.0], size=(50, 2))
    train, test = held_out.split(X, 1, each_column=each_column)
    assert (len(train), len(test)) == (40, 10)
    np.testing.assert_allclose(train.mean(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(train.std(axis=0) if each_column else train.std(), 1.0)
    ratio = X.std(axis=0)[1] / X.std(axis=0)[0]
    both = np.vstack([train, test]).std(axis=0)
    assert (both[1] / both[0] == pytest.approx(ratio)) == (not each_column)
    again = held_out.split(X, 1, each_column=each_column)
    np.testing.assert_array_equal(again.test, test)


def test_the_density_of_a_mixture_is_a_density():
    X = np.random.default_rng(0).normal([[-3.0]] * 10 + [[3.0]] * 10)
    model = BayesianGaussianMixture(n_components=2, random_state=0, max_iter=1000).fit(X)
    grid = np.linspace(-60, 60, 12_001)[:, None]
    total, own = (
        np.exp(one.score_samples(grid)).sum() * 0.01 for one in (held_out.plug_in(model), model)
    )
    assert total == pytest.approx(1.0, abs=1e-6)
    assert own < 0.95  # why its own score is not used


def test_structures_of_families():
    assert held_out.structure_of(("SharedGaussian", "spherical")) == "spherical"
    assert held_out.structure_of(("SharedGaussian", "full")) == "tied"
    assert held_out.structure_of(("AdaptiveGaussian", "diagonal")) == "diag"
    assert held_out.structure_of(("FullGaussian", "diagonal")) == "full"


def test_runs_have_hdp_first():
    options = {"transition": ["other", "hdp"], "likelihood": ["auto", "gaussian"], "alpha": 0.1}
    runs = held_out.runs_of(options)
    assert [run["transition"] for run in runs] == ["hdp", "hdp", "other", "other"]
    assert all(run["alpha"] == 0.1 for run in runs)


def test_options_are_parameters():
    parser = argparse.ArgumentParser()
    add_common(parser, ["zoo", "iris"])
    add_settings(parser, but=("init",))
    options = vars(parser.parse_args(["--seeds", "2", "--transition", "hdp", "--n_draws", "7"]))
    assert take_common(options, ["zoo", "iris"]) == (["zoo", "iris"], range(2), None)
    assert options == {"transition": "hdp", "n_draws": 7}
    assert read_value("Gamma(1, 100)") == priors.Gamma(1, 100)
