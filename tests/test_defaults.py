"""What a first fit gives: the right family, the same answer in other units, missing entries."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_mutual_info_score

from bhmc import BHMC
from bhmc.datasets import load_zoo
from bhmc.likelihoods import AdaptiveGaussian, Bernoulli
from bhmc.priors import Gamma, Uniform

QUICK = {"n_warmup": 40, "n_draws": 20, "n_chains": 1, "random_state": 0}


def groups(n=60, seed=0):
    """Three groups of different width, in columns of different units."""
    rng = np.random.default_rng(seed)
    label = np.arange(n) % 3
    centre = np.array([[-4.0, 0.0], [0.0, 4.0], [4.0, -4.0]])[label]
    X = centre + rng.normal(size=(n, 2)) * np.array([0.5, 1.0, 1.5])[label, None]
    return X * [1.0, 20.0], label


def zoo_as_zeros_and_ones():
    """Zoo with its one column of numbers, the legs, as six columns of 0 and 1."""
    zoo = load_zoo()
    X = np.asarray(zoo.data, dtype=float)
    columns = []
    for column in X.T:
        values = np.unique(column)
        columns += [column] if set(values) <= {0.0, 1.0} else [column == value for value in values]
    return np.column_stack(columns).astype(float), zoo.target


@pytest.mark.parametrize("likelihood", ["auto", "shared_gaussian", "free_gaussian"])
@pytest.mark.parametrize(("factor", "shift"), [(1000.0, 0.0), (1.0, 50.0), (1 / 3, -7.0)])
def test_units_do_not_matter(likelihood, factor, shift):
    X, _ = groups()
    model = BHMC(likelihood=likelihood, **QUICK)
    one, other = (
        model.fit(data) and (model.draws_, model.tree_) for data in (X, factor * X + shift)
    )
    for name in ("n_components", "n_nodes"):
        np.testing.assert_array_equal(getattr(one[0], name), getattr(other[0], name))
    np.testing.assert_allclose(one[0].alpha, other[0].alpha, rtol=1e-6)
    np.testing.assert_array_equal(one[1].components, other[1].components)
    np.testing.assert_array_equal(one[1].paths, other[1].paths)


def test_families_by_values():
    X, _ = groups()
    holes = X.copy()
    holes[3, 1] = np.nan
    binary = (X > 0).astype(float)
    for data, kind in ((X, AdaptiveGaussian), (holes, AdaptiveGaussian), (binary, Bernoulli)):
        assert type(BHMC(**QUICK).fit(data).likelihood_) is kind


def test_missing_entries_leave_the_groups():
    X, label = groups()
    rng = np.random.default_rng(1)
    X[rng.random(X.shape) < 0.1] = np.nan
    model = BHMC(random_state=0).fit(X)
    assert adjusted_mutual_info_score(label, model.component_labels_) > 0.6


def test_a_row_without_entries_is_no_obstacle():
    X, _ = groups()
    X[5] = np.nan
    assert np.isfinite(BHMC(**QUICK).fit(X).draws_.log_likelihood).all()


def test_numbers_fix_and_priors_learn():
    X, _ = groups()
    draws = BHMC(alpha=0.3, gamma0=Uniform(0.5, 2.0), gamma=Gamma(2, 4), **QUICK).fit(X).draws_
    assert (draws.alpha == 0.3).all()
    assert ((draws.gamma0 >= 0.5) & (draws.gamma0 <= 2.0)).all()
    assert len(np.unique(draws.gamma0)) == len(np.unique(draws.gamma)) == QUICK["n_draws"]


def test_the_classes_of_zoo():
    """Seven classes that no fit has seen; the median of ten seeds, defaults only."""
    X, classes = zoo_as_zeros_and_ones()
    scores = []
    for seed in range(10):
        model = BHMC(random_state=seed).fit(X)
        assert type(model.likelihood_) is Bernoulli
        scores.append(adjusted_mutual_info_score(classes, model.component_labels_))
    print(f"Zoo, adjusted mutual information: {np.sort(np.round(scores, 2))}")
    assert np.median(scores) >= 0.80
