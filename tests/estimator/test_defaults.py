"""What a first fit gives: the right family, the same answer in other units, missing entries."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_mutual_info_score
from studies.grades import zoo

from bhmc import BHMC
from bhmc.datasets import load_zoo
from bhmc.likelihoods import (
    AdaptiveGaussian,
    Bernoulli,
    Gaussian,
    ShapedGaussian,
)
from bhmc.likelihoods._registry import FAMILIES, Entry
from bhmc.likelihoods.adaptive_gaussian import AdaptiveGaussianFamily
from bhmc.metrics import dendrogram_purity
from bhmc.priors import Gamma, Uniform
from tests.estimator.zoo_fit import zoo_fit

QUICK = {"n_warmup": 40, "n_draws": 20, "n_chains": 1, "random_state": 0}


def groups(n=60, seed=0):
    """Three groups of different width, in columns of different units."""
    rng = np.random.default_rng(seed)
    label = np.arange(n) % 3
    centre = np.array([[-4.0, 0.0], [0.0, 4.0], [4.0, -4.0]])[label]
    X = centre + rng.normal(size=(n, 2)) * np.array([0.5, 1.0, 1.5])[label, None]
    return X * [1.0, 20.0], label


MOVES = pytest.mark.parametrize(
    ("factor", "shift"), [(1000.0, 0.0), (1.0, 50.0), (1 / 3, -7.0)], ids=["x 1000", "+ 50", "both"]
)


def what_units_change(likelihood, factor, shift, **changes) -> list[str]:
    """The names of what differs between fits of X and of X in other units; should be none."""
    X, _ = groups()
    one, other = (
        BHMC(likelihood=likelihood, **QUICK | changes).fit(data) for data in (X, factor * X + shift)
    )
    same = {
        "n_components": np.array_equal(one.draws_.n_components, other.draws_.n_components),
        "n_nodes": np.array_equal(one.draws_.n_nodes, other.draws_.n_nodes),
        "alpha": np.allclose(one.draws_.alpha, other.draws_.alpha, rtol=1e-6),
        "components": np.array_equal(one.component_labels_, other.component_labels_),
        "paths": np.array_equal(one.paths_, other.paths_),
    }
    return [name for name, is_same in same.items() if not is_same]


# Families by name have a test in `test_conformance`, too: of a factor, and of a shift.
@pytest.mark.parametrize(
    ("likelihood", "factor", "shift"),
    [
        ("auto", 1000.0, 0.0),
        ("auto", 1.0, 50.0),
        *((name, 1 / 3, -7.0) for name in ("auto", "gaussian", "shared_gaussian", "free_gaussian")),
    ],
)
def test_units_do_not_matter(likelihood, factor, shift):
    assert what_units_change(likelihood, factor, shift) == []


class _PriorNotInUnitsOfX(AdaptiveGaussian):
    """As the default, but at 0 and 1 whatever the data."""

    @classmethod
    def scaled_to(cls, X, **settings):
        return cls()


@MOVES
@pytest.mark.parametrize("fixed", ["Gaussian()", "the default, not scaled"])
def test_units_matter_where_the_prior_is_not_in_units_of_x(fixed, factor, shift, monkeypatch):
    """The test above can fail: the first draws differ. (Trees near to them may be the same.)"""
    few = {"n_warmup": 8, "n_draws": 4}
    if fixed == "Gaussian()":
        changed = what_units_change(Gaussian(), factor, shift, **few)
    else:
        monkeypatch.setitem(FAMILIES, "gaussian", Entry(f"{__name__}:_PriorNotInUnitsOfX"))
        changed = what_units_change("gaussian", factor, shift, **few)
    assert {"n_components", "n_nodes", "components", "paths"} & set(changed)


def test_families_by_values():
    X, _ = groups()
    holes = X.copy()
    holes[3, 1] = np.nan
    binary = (X > 0).astype(float)
    kinds = {
        "auto": (ShapedGaussian, ShapedGaussian, Bernoulli),
        "hdp": (AdaptiveGaussian, AdaptiveGaussian, Bernoulli),
    }
    for transition, expected in kinds.items():
        for data, kind in zip((X, holes, binary), expected, strict=True):
            model = BHMC(transition=transition, **QUICK | {"n_warmup": 1, "n_draws": 2})
            assert type(model.fit(data).likelihood_) is kind


HOLES = pytest.mark.parametrize(
    "settings",
    [
        pytest.param({"n_warmup": 100, "n_draws": 100, "n_chains": 1}, id="short"),
        pytest.param({"n_draws": 300}, id="whole", marks=pytest.mark.exact_long),
    ],
)


def agreement_with_holes(settings) -> float:
    """Of the groups with the components of a fit, over the rows that miss one entry.

    Over all rows it would hardly change if those were put anywhere: they are one in seven.
    """
    X, label = groups(n=120)
    X[np.random.default_rng(1).random(X.shape) < 0.1] = np.nan
    components = BHMC(likelihood="gaussian", random_state=0, **settings).fit(X).component_labels_
    holed = np.isnan(X).sum(axis=1) == 1
    assert adjusted_mutual_info_score(label, components) > 0.6
    return adjusted_mutual_info_score(label[holed], components[holed])


@HOLES
def test_missing_entries_leave_the_groups(settings):
    assert agreement_with_holes(settings) > 0.6


@HOLES
@pytest.mark.parametrize("filled", [0.0, pytest.param(1000.0, marks=pytest.mark.exact_long)])
def test_missing_entries_taken_for_a_number_do_not(filled, settings, monkeypatch):
    """The test above can fail: a family that fills holes in instead of skipping them."""

    class Fills(AdaptiveGaussianFamily):
        def __init__(self, likelihood, X):
            super().__init__(likelihood, np.nan_to_num(X, nan=filled))

    monkeypatch.setattr(AdaptiveGaussian, "prepare", lambda self, X, _=None: Fills(self, X))
    assert agreement_with_holes(settings) < 0.6


def test_a_row_without_entries_is_no_obstacle():
    X, _ = groups()
    X[5] = np.nan
    assert np.isfinite(BHMC(**QUICK).fit(X).draws_.log_likelihood).all()


def test_numbers_fix_and_priors_learn():
    X, _ = groups()
    settings = QUICK | {"alpha": 0.3, "gamma0": Uniform(0.5, 2.0), "gamma": Gamma(2, 4)}
    draws = BHMC(transition="hdp", **settings).fit(X).draws_
    assert (draws.alpha == 0.3).all()
    assert ((draws.gamma0 >= 0.5) & (draws.gamma0 <= 2.0)).all()
    assert len(np.unique(draws.gamma0)) == len(np.unique(draws.gamma)) == QUICK["n_draws"]
    draws = BHMC(**settings).fit(X).draws_  # gamma0 plays no part there
    assert (draws.alpha == 0.3).all()
    assert len(np.unique(draws.gamma)) == QUICK["n_draws"]


@pytest.mark.parametrize("n_seeds", [1, pytest.param(5, marks=pytest.mark.exact_long)])
def test_the_classes_of_zoo(n_seeds):
    """Seven classes that no fit has seen; the median of some seeds. One seed has a short chain."""
    X, classes = zoo()
    scores, short = [], {"n_warmup": 100, "n_draws": 100, "n_chains": 1} if n_seeds == 1 else {}
    for seed in range(n_seeds):
        model = BHMC(**{"n_draws": 300} | short, random_state=seed).fit(X)
        assert type(model.likelihood_) is Bernoulli
        scores.append(adjusted_mutual_info_score(classes, model.component_labels_))
    print(f"Zoo, adjusted mutual information: {np.sort(np.round(scores, 2))}")
    assert np.median(scores) >= 0.80


# ---- A tree that can be read, and components that are there ----


def test_the_tree_of_zoo_can_be_read():
    table, tree = load_zoo(), zoo_fit(0, short=True).tree_
    assert 3 <= len(set(tree.labels_at(1))) <= 15
    assert len(set(tree.labels_at(tree.n_levels))) <= 15
    assert dendrogram_purity(tree, table.target) > 0.88


def test_five_groups_far_apart_are_five_components():
    label = np.arange(100) % 5
    centre = 10.0 * np.array([[0, 0], [0, 3], [3, 0], [3, 3], [6, 1]])
    X = centre[label] + np.random.default_rng(0).normal(size=(100, 2))
    model = BHMC(**QUICK).fit(X)
    assert adjusted_mutual_info_score(label, model.component_labels_) == pytest.approx(1)
