"""Rows not seen against every path written out, the reference's sums and the model's own words."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from scipy.special import logsumexp

import bhmc
from bhmc.model.hdp import reference as _reference
from bhmc.model.hdp import workspace
from bhmc.model.hdp.predictive import at_level, component_weights
from bhmc.model.protocol import Predictive
from bhmc.posterior import predictive
from bhmc.posterior.draws import Mixture
from bhmc.posterior.predictive import (
    log_density,
    log_predictive,
    log_tables,
    node_probabilities,
    node_tables,
    responsibilities,
)

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
        rates = workspace.rates_of(state.hyper)
        U, _ = _reference._masses(workspace.load(state), rates)
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


# ---- Where a new row goes, against every path written out ----


def every_walk(tree):
    """(nodes passed, probability) of every way down the tree, in plain Python.

    One that ends above the leaves has left for a new branch there.
    """
    children = {
        z: [y for y in range(tree.n_nodes) if tree.parents[y] == z] for z in range(tree.n_nodes)
    }
    walks, unfinished = [], [((0,), 1.0)]
    while unfinished:
        nodes, probability = unfinished.pop()
        z = nodes[-1]
        if len(nodes) == tree.n_levels + 1:
            walks.append((nodes, probability))
            continue
        total = sum(tree.sizes[y] for y in children[z]) + tree.alpha
        walks.append((nodes, probability * tree.alpha / total))
        unfinished += [((*nodes, y), probability * tree.sizes[y] / total) for y in children[z]]
    return walks


def enumerated(tree, f, level):
    """For one row of densities f (K + 1,): p(node | x, joins one), p(new before the level | x)."""
    nodes = [z for z in range(tree.n_nodes) if tree.levels[z] == level]
    joint, new = dict.fromkeys(nodes, 0.0), 0.0
    for path, probability in every_walk(tree):
        mass = probability * sum(b * own for b, own in zip(tree.weights[path[-1]], f, strict=True))
        if len(path) > level:
            joint[path[level]] += mass
        else:
            new += mass
    known = sum(joint.values())
    return [joint[z] / known for z in nodes], new / (new + known)


@FORMS
@pytest.mark.parametrize("n_levels", [1, 2, 4])
def test_node_probabilities_by_enumeration(n_components, n_levels):
    for seed in range(5):
        tree = bhmc.Tree.from_state(drawn(n_components, n_levels, seed))
        log_f = np.random.default_rng(seed).normal(scale=3, size=(4, tree.n_components + 1))
        assert sum(probability for _, probability in every_walk(tree)) == pytest.approx(1)
        for level in range(n_levels + 1):
            known, new = node_probabilities(log_f, at_level(tree, level))
            assert known.shape == (4, (tree.levels == level).sum())
            np.testing.assert_allclose(known.sum(axis=1), 1, rtol=0, atol=1e-12)
            for row in range(4):
                expected, expected_new = enumerated(tree, np.exp(log_f[row]), level)
                np.testing.assert_allclose(known[row], expected, rtol=1e-9, atol=1e-15)
                assert new[row] == pytest.approx(expected_new, rel=1e-9, abs=1e-15)


@FORMS
def test_responsibilities_by_enumeration(n_components):
    tree = bhmc.Tree.from_state(drawn(n_components, 3, 1))
    log_f = np.random.default_rng(1).normal(scale=3, size=(4, tree.n_components + 1))
    weights = np.zeros(tree.n_components + 1)
    for path, probability in every_walk(tree):
        weights += probability * tree.weights[path[-1]]
    np.testing.assert_allclose(component_weights(tree), weights, rtol=1e-10)
    expected = weights[:-1] * np.exp(log_f[:, :-1])
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(responsibilities(log_f, weights), expected, rtol=1e-10)


def test_a_row_far_from_all_that_the_tree_holds_has_probabilities():
    """Every product of a weight and a density of the known leaves is 0 in a double."""
    tree = bhmc.Tree.from_state(drawn(None, 2, 0))
    weights = tree.weights.copy()
    leaves = tree.levels == 2
    weights[leaves, -1] = 0.0
    tree = replace(tree, weights=weights)
    log_f = np.full((2, tree.n_components + 1), -2000.0)
    log_f[0, -1] = 0.0
    log_f[1] -= 1e9
    known, new = node_probabilities(log_f, at_level(tree, 2))
    np.testing.assert_allclose(known.sum(axis=1), 1, rtol=0, atol=1e-12)
    assert new[0] == 1.0
    assert 0 < new[1] < 1
    # All components are as dense, so they tell nothing: the walk alone decides.
    reached = weights[leaves].sum(axis=1) * [
        p for path, p in sorted(every_walk(tree)) if len(path) == 3
    ]
    np.testing.assert_allclose(known, [reached / reached.sum()] * 2, rtol=1e-9)


def test_the_density_is_averaged_over_mixtures():
    rng, X = np.random.default_rng(0), np.array([[-1.0], [0.3], [6.0]])
    mixtures = [
        Mixture(rng.dirichlet(np.ones(k + 1)), rng.normal(size=(k, 1)), np.empty(0))
        for k in (1, 3, 2)
    ]
    family = bhmc.likelihoods.Gaussian(sigma2=0.5).prepare(X)
    densities = [
        weights[:-1] @ stats.norm.pdf(X.T, theta, np.sqrt(0.5))
        + weights[-1] * stats.norm.pdf(X[:, 0], 0, np.sqrt(1.5))
        for weights, theta, *_ in mixtures
    ]
    np.testing.assert_allclose(log_density(mixtures, family), np.log(np.mean(densities, axis=0)))


def test_tables_come_in_blocks_of_rows(monkeypatch):
    """Whatever the blocks, the numbers are those of the whole table."""
    X = np.random.default_rng(0).normal(size=(23, 2))
    family, theta = bhmc.likelihoods.Gaussian().prepare(X), X[:3]
    monkeypatch.setattr(predictive, "_MOST_NUMBERS", 40)
    parts = list(log_tables(family, theta, width=8))
    assert [rows.stop - rows.start for rows, _ in parts] == [5, 5, 5, 5, 3]
    table = np.concatenate([table for _, table in parts])
    np.testing.assert_allclose(table[:, :-1], family.log_table(theta), rtol=1e-12)
    np.testing.assert_allclose(table[:, -1], family.log_marginal(), rtol=1e-12)


def test_node_tables_are_the_probabilities_of_all_rows(monkeypatch):
    """Few enough rows at a time for a table of eight nodes."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(13, 2))
    family, theta = bhmc.likelihoods.Gaussian().prepare(X), X[:3]
    at = Predictive(rng.dirichlet(np.ones(8), 4).T, rng.normal(size=4), rng.normal(size=4))
    log_f = np.column_stack([family.log_table(theta), family.log_marginal()])
    whole = node_probabilities(log_f, at)
    monkeypatch.setattr(predictive, "_MOST_NUMBERS", 40)
    rows, joins, leaves = zip(*node_tables(family, theta, at), strict=True)
    assert [one.stop - one.start for one in rows] == [5, 5, 3]
    np.testing.assert_allclose(np.concatenate(joins), whole[0], rtol=1e-12)
    np.testing.assert_allclose(np.concatenate(leaves), whole[1], rtol=1e-12)


def test_a_large_tree_takes_a_moment():
    """100,000 nodes, without recursion and without a loop over nodes."""
    n = 60_000
    parents = np.concatenate([[-1], np.zeros(n // 2), np.repeat(np.arange(n // 2) + 1, 2)])
    tree = bhmc.Tree(
        parents=parents.astype(np.int64),
        levels=np.repeat([0, 1, 2], [1, n // 2, n]),
        sizes=np.repeat([n, 2, 1], [1, n // 2, n]),
        weights=np.tile([0.6, 0.3, 0.1], (len(parents), 1)),
        paths=np.zeros((n, 3), dtype=np.int32),
        components=np.zeros(n, dtype=np.int32),
        theta=np.zeros((2, 1)),
    )
    known, new = node_probabilities(np.zeros((1, 3)), at_level(tree, 2))
    np.testing.assert_allclose(known, 1 / n)
    # A walk goes on with n / (n + 1) at the root and 2 / 3 below it.
    assert new[0] == pytest.approx(1 - n / (n + 1) * 2 / 3)


def test_log_of_a_sum_is_scipys():
    rng = np.random.default_rng(0)
    table = rng.normal(0, 300, (50, 7))
    table[0], table[1, 2], table[2, 3] = -np.inf, -np.inf, np.inf
    table[3, 1], table[4] = np.nan, -1e6
    found, expected = predictive.log_sum_exp(table.copy()), logsumexp(table, axis=1)
    np.testing.assert_allclose(found, expected, rtol=1e-15)


@pytest.mark.parametrize("rows", [1, 3, 1000])
def test_densities_do_not_depend_on_the_rows_of_a_table(monkeypatch, rows):
    family = bhmc.likelihoods.AdaptiveGaussian().prepare(
        np.random.default_rng(0).normal(size=(9, 2))
    )
    mixture = Mixture(np.array([0.5, 0.3, 0.2]), np.zeros((2, 4)), family.start_shared())
    expected = log_density([mixture, mixture], family)
    monkeypatch.setattr(predictive, "ROWS_IN_CACHE", rows)
    np.testing.assert_allclose(log_density([mixture, mixture], family), expected, rtol=1e-14)
