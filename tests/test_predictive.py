"""The weights of the next datum against the reference's sums and against the model's own words."""

import numpy as np
import pytest

import bhmc
from bhmc import _reference, _workspace
from bhmc.predictive import component_weights, log_predictive

FORMS = pytest.mark.parametrize("n_components", [None, 4], ids=["infinite", "finite"])


def drawn(n_components, n_levels, seed):
    return bhmc.sample_prior(
        15,
        n_levels=n_levels,
        hyper=bhmc.Hyper(0.7, 1.3, 0.8, n_components),
        likelihood="gaussian",
        rng=np.random.default_rng(seed),
    )[0]


def by_walks(state):
    """sum over z of the probability that a datum's walk ends at z or leaves the tree there,
    times beta_z: unseen nodes have beta_z as their mean.
    """
    alpha, sizes = state.hyper.alpha, state.sizes
    total = np.zeros(state.n_components + 1)
    reached = np.ones(len(sizes))
    for z, parent in enumerate(state.parents):
        if parent >= 0:
            reached[z] = reached[parent] * sizes[z] / (sizes[parent] + alpha)
        leaf = state.levels[z] == state.n_levels
        total += reached[z] * (1 if leaf else alpha / (sizes[z] + alpha)) * state.weights[z]
    return total


@FORMS
@pytest.mark.parametrize("n_levels", [1, 2, 4])
def test_component_weights(n_components, n_levels):
    for seed in range(5):
        state = drawn(n_components, n_levels, seed)
        weights = component_weights(state)
        assert weights.sum() == pytest.approx(1, rel=1e-9)
        np.testing.assert_allclose(weights, by_walks(state), rtol=1e-10)
        rates = _workspace.rates_of(state.hyper)
        U, _ = _reference._masses(_workspace.load(state, tile=1), rates)
        U = U[0, : state.n_components + 1] / (len(state.paths) + rates.alpha)
        np.testing.assert_allclose(weights, np.roll(U, -1), rtol=1e-10)  # the remainder is first


@FORMS
def test_log_predictive_is_the_mixture(n_components):
    state, X = drawn(n_components, 2, 0), np.array([[-1.0], [0.3], [6.0]])
    family = bhmc.likelihoods.Gaussian().prepare(X)
    f = np.column_stack([np.exp(family.log_table(state.theta)), np.exp(family.log_marginal())])
    np.testing.assert_allclose(
        log_predictive(state, family), np.log(f @ by_walks(state)), rtol=1e-10
    )
