"""The enumerator judges the samplers, so here it is judged itself.

Every reference below is derived another way: sequential seating (nested CRP, Chinese restaurant
franchise), forward simulation with long stick-breaking, quadrature, or a closed form.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Iterator

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import digamma, polygamma

from tests.exact import enumeration as en

GAMMA0, GAMMA = 1.2, 0.8
SETTINGS = {"alpha": 0.7, "gamma0": GAMMA0, "gamma": GAMMA}
GAUSS = {"sigma2": 0.4, "mu0": 0.3, "sigma0": 1.7}


# --- references -------------------------------------------------------------------------------


def seating_probability(tree: en.Tree, alpha: float) -> float:
    """prod_n prod_level N_j / (N_z + alpha) or alpha / (N_z + alpha): data seated one by one."""
    walks = [()] if not tree else list(zip(*tree, strict=True))
    visits: Counter = Counter()
    p = 1.0
    for walk in walks:
        for level in range(len(walk)):
            here, there = walk[:level], walk[: level + 1]
            p *= (visits[there] or alpha) / (visits[here] + alpha)
        visits.update(walk[:level] for level in range(len(walk) + 1))
    return p


def franchise(tree: en.Tree, gamma0: float, gamma: float, K: int | None) -> dict:
    """p(c | V) by seating the data one by one in the Chinese restaurant franchise."""

    def seat(z: tuple, rooms: dict) -> Iterator[tuple[float, int, dict]]:
        """Seat one customer in restaurant z: (probability, dish, restaurants afterwards)."""
        room = rooms.get(z, ())  # its tables, (dish, size)
        total = sum(size for _, size in room)
        if z == () and K is not None:
            for k in range(K):
                size = sum(s for dish, s in room if dish == k)
                yield (size + gamma0 / K) / (total + gamma0), k, {**rooms, z: (*room, (k, 1))}
            return
        strength = gamma if z else gamma0
        for j, (dish, size) in enumerate(room):
            after = (*room[:j], (dish, size + 1), *room[j + 1 :])
            yield size / (total + strength), dish, {**rooms, z: after}
        above = seat(z[:-1], rooms) if z else [(1.0, len(room), rooms)]
        for p, dish, after in above:
            yield p * strength / (total + strength), dish, {**after, z: (*room, (dish, 1))}

    states = [(1.0, (), {})]
    for leaf in zip(*tree, strict=True):
        states = [
            (p * q, (*c, dish), after)
            for p, c, rooms in states
            for q, dish, after in seat(leaf, rooms)
        ]
    result: dict = defaultdict(float)
    for p, c, _ in states:
        result[c] += p
    return result


def simulate_weights(tree: en.Tree, size: int, K: int | None, rng: np.random.Generator) -> dict:
    """beta of every node from the prior: 32 sticks (or K weights) at the root, plain Dirichlets."""
    if K is None:
        sticks = rng.beta(1.0, GAMMA0, size=(size, 32))
        sticks[:, -1] = 1.0
        left = np.cumprod(1.0 - sticks[:, :-1], axis=1)
        root = sticks * np.hstack([np.ones((size, 1)), left])
    else:
        root = rng.dirichlet(np.full(K, GAMMA0 / K), size=size)
    weights = {(): root}
    for level in range(1, len(tree) + 1):
        for z in sorted(set(zip(*tree[:level], strict=True))):
            g = rng.standard_gamma(GAMMA * weights[z[:-1]])
            weights[z] = g / g.sum(axis=1, keepdims=True)
    return weights


def simulate_components(tree: en.Tree, weights: dict, rng: np.random.Generator) -> np.ndarray:
    """c_n ~ Categorical(beta_leaf(n)), one column per datum."""
    columns = []
    for leaf in zip(*tree, strict=True):
        cumulated = np.cumsum(weights[leaf], axis=1)
        u = rng.random((len(cumulated), 1)) * cumulated[:, -1:]
        columns.append((cumulated <= u).sum(axis=1))
    return np.stack(columns, axis=1)


def first_equal(c: np.ndarray) -> np.ndarray:
    """For every datum the first datum of its component: equal rows are equal partitions."""
    return (c[:, :, None] == c[:, None, :]).argmax(axis=2)


# --- partitions, trees, keys ------------------------------------------------------------------


def test_counts_of_partitions_and_trees() -> None:
    assert [len(en.partitions(n)) for n in range(1, 7)] == [1, 2, 5, 15, 52, 203]
    assert [len(en.trees(3, L)) for L in (1, 2, 3)] == [5, 12, 22]
    assert [len(en.trees(4, L)) for L in (1, 2, 3)] == [15, 60, 154]
    for n, L in itertools.product((3, 4), (1, 2, 3)):
        all_trees = en.trees(n, L)
        assert len(set(all_trees)) == len(all_trees)
        for tree in all_trees:
            assert all(en.restricted_growth(level) == level for level in tree)
            for coarse, fine in itertools.pairwise(tree):
                same = [(i, j) for i in range(n) for j in range(n) if fine[i] == fine[j]]
                assert all(coarse[i] == coarse[j] for i, j in same)


def test_number_of_states() -> None:
    assert len(en.posterior(None, 2, **SETTINGS, n=3)) == 60
    assert len(en.posterior(None, 2, **SETTINGS, n=4)) == 900
    assert len(en.posterior(None, 2, **SETTINGS, n=3, n_components=3)) == 12 * 27


def test_key_of_ignores_ids_and_rejects_non_trees() -> None:
    paths = np.array([[9, 4, 7], [9, 2, 5], [9, 4, 7], [9, 4, 11]])
    tree = ((0, 1, 0, 0), (0, 1, 0, 2))
    assert en.key_of(paths, [3, 0, 0, 3]) == (tree, (0, 1, 1, 0))
    assert en.key_of(paths, np.array([3, 0, 0, 3]), finite=True) == (tree, (3, 0, 0, 3))
    with pytest.raises(ValueError, match="two parents"):
        en.key_of([[0, 1, 3], [0, 2, 3]], [0, 0])
    with pytest.raises(ValueError, match="several roots"):
        en.key_of([[0, 2], [1, 3]], [0, 0])


# --- p(V) -------------------------------------------------------------------------------------


@pytest.mark.parametrize("alpha", [0.05, 0.4, 1.0, 3.3])
@pytest.mark.parametrize("L", [1, 2, 3])
@pytest.mark.parametrize("n", [3, 4])
def test_p_tree_is_sequential_seating(n: int, L: int, alpha: float) -> None:
    p = [math.exp(en.log_p_tree(tree, alpha)) for tree in en.trees(n, L)]
    assert math.fsum(p) == pytest.approx(1.0, abs=1e-12)
    assert p == pytest.approx([seating_probability(t, alpha) for t in en.trees(n, L)], rel=1e-11)


# --- p(c | V) ---------------------------------------------------------------------------------


@pytest.mark.parametrize("K", [None, 2, 3])
@pytest.mark.parametrize(("n", "L"), [(3, 1), (3, 2), (3, 3), (4, 1), (4, 2)])
def test_p_components_sums_to_one(n: int, L: int, K: int | None) -> None:
    for tree in en.trees(n, L):
        labels = en.component_labels(n, K)
        p = [math.exp(en.log_p_components(tree, c, 1.3, 0.6, K)) for c in labels]
        assert math.fsum(p) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("K", [None, 2, 3])
@pytest.mark.parametrize(("gamma0", "gamma"), [(1.2, 0.8), (0.3, 2.5)])
def test_p_components_is_the_restaurant_franchise(
    gamma0: float, gamma: float, K: int | None
) -> None:
    few = [t for t in en.trees(4, 2) if t[1] == (0, 0, 0, 1)]
    for tree in en.trees(3, 2) + en.trees(3, 3)[::4] + few:
        for c, p in franchise(tree, gamma0, gamma, K).items():
            assert math.exp(en.log_p_components(tree, c, gamma0, gamma, K)) == pytest.approx(p)


@pytest.mark.parametrize("K", [None, 3])
@pytest.mark.parametrize("tree", [((0, 0, 0, 1),), ((0, 0, 0, 1), (0, 0, 1, 2))])
def test_p_components_against_forward_simulation(tree: en.Tree, K: int | None) -> None:
    rng, size = np.random.default_rng(11), 50_000
    drawn = simulate_components(tree, simulate_weights(tree, size, K, rng), rng)
    seen = Counter(map(tuple, (first_equal(drawn) if K is None else drawn).tolist()))
    for c in en.component_labels(4, K):
        name = tuple(c.index(label) for label in c) if K is None else c
        p = math.exp(en.log_p_components(tree, c, GAMMA0, GAMMA, K))
        assert abs(seen[name] - size * p) < 4.0 * math.sqrt(size * p * (1.0 - p))


# --- properties of the prior ------------------------------------------------------------------


@pytest.mark.parametrize("K", [None, 2])
def test_prior_is_exchangeable(K: int | None) -> None:
    prior = en.posterior(None, 2, **SETTINGS, n=4, n_components=K)
    order = [2, 0, 3, 1]
    for (tree, c), p in prior.items():
        paths, _ = en.nodes_of(tree, 4)
        other = en.key_of(paths[order], np.array(c)[order], finite=K is not None)
        assert prior[other] == pytest.approx(p, rel=1e-11)


@pytest.mark.parametrize("K", [None, 2])
def test_prior_is_consistent_when_the_last_datum_is_dropped(K: int | None) -> None:
    larger = en.posterior(None, 2, **SETTINGS, n=4, n_components=K)
    smaller = en.posterior(None, 2, **SETTINGS, n=3, n_components=K)
    summed: dict = defaultdict(float)
    for (tree, c), p in larger.items():
        summed[tuple(level[:3] for level in tree), c[:3]] += p
    assert summed.keys() == smaller.keys()
    assert all(summed[key] == pytest.approx(p, rel=1e-11) for key, p in smaller.items())


def test_two_data_one_level_in_closed_form() -> None:
    alpha, gamma0, gamma = 0.7, 1.2, 0.8
    prior = en.posterior(None, 1, alpha, gamma0, gamma, n=2)
    at_root = 1.0 / (1.0 + gamma0)
    together = 1.0 / (1.0 + gamma) + gamma / (1.0 + gamma) * at_root
    assert prior[((0, 0),), (0, 0)] == pytest.approx(together / (1.0 + alpha))
    assert prior[((0, 0),), (0, 1)] == pytest.approx((1.0 - together) / (1.0 + alpha))
    assert prior[((0, 1),), (0, 0)] == pytest.approx(at_root * alpha / (1.0 + alpha))


# --- p(X | c), the posterior -------------------------------------------------------------------


def density(x: float, mean: float, variance: float) -> float:
    """N(x; mean, variance)."""
    return math.exp(-((x - mean) ** 2) / (2.0 * variance)) / math.sqrt(2.0 * math.pi * variance)


def quadrature(x: np.ndarray, power: int, sigma2: float, mu0: float, sigma0: float) -> float:
    """Integral of theta^power prod_n N(x_n; theta, sigma2) N(theta; mu0, sigma0) d theta."""

    def integrand(theta: float) -> float:
        likelihood = math.prod(density(value, theta, sigma2) for value in x.tolist())
        return theta**power * likelihood * density(theta, mu0, sigma0)

    return quad(integrand, -12.0, 12.0, points=[mu0, *x[:2]], epsabs=1e-14, limit=200)[0]


@pytest.mark.parametrize("c", [(0, 0, 0), (0, 1, 0), (0, 1, 2), (2, 2, 0)])
def test_log_p_data_against_quadrature(c: en.Labels) -> None:
    X = np.random.default_rng(1).normal(0.5, 1.0, size=(3, 2))
    expected = sum(
        math.log(quadrature(X[np.array(c) == k, d], 0, **GAUSS)) for k in set(c) for d in range(2)
    )
    assert en.log_p_data(X, c, **GAUSS) == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("K", [None, 2])
def test_posterior_is_prior_times_likelihood(K: int | None) -> None:
    X = np.array([[0.1], [0.4], [-1.5]])
    prior = en.posterior(None, 2, **SETTINGS, n=3, n_components=K)
    post = en.posterior(X, 2, **SETTINGS, **GAUSS, n_components=K)
    assert math.fsum(post.values()) == pytest.approx(1.0)
    evidence = {
        c: math.prod(quadrature(X[np.array(c) == k, 0], 0, **GAUSS) for k in set(c))
        for c in en.component_labels(3, K)
    }
    total = math.fsum(p * evidence[key[1]] for key, p in prior.items())
    for key, p in post.items():
        assert p == pytest.approx(prior[key] * evidence[key[1]] / total, rel=1e-7)


# --- exact draws ------------------------------------------------------------------------------


def test_draw_key_frequencies() -> None:
    post, size = en.posterior(None, 1, **SETTINGS, n=3), 50_000
    seen = Counter(en.draw_key(post, np.random.default_rng(2), size))
    for key, p in post.items():
        assert abs(seen[key] - size * p) < 4.0 * math.sqrt(size * p * (1.0 - p))


@pytest.mark.parametrize("shape", [0.001, 0.3, 4.0])
def test_log_gamma_draw_moments(shape: float) -> None:
    draws = en.log_gamma_draw(np.full(50_000, shape), np.random.default_rng(3))
    z = (draws.mean() - digamma(shape)) / math.sqrt(polygamma(1, shape) / len(draws))
    assert np.isfinite(draws).all()
    assert abs(z) < 4.0
    assert draws.var() == pytest.approx(polygamma(1, shape), rel=0.05)


@pytest.mark.parametrize("K", [None, 3])
def test_drawn_states_are_well_formed(K: int | None) -> None:
    X, rng = np.random.default_rng(4).normal(size=(3, 2)), np.random.default_rng(5)
    settings = {**SETTINGS, **GAUSS, "n_levels": 2, "n_components": K}
    for key in en.posterior(X, **settings):
        state = en.draw_exact_state(key, X, rng, **settings)
        n_nodes, n_columns = state.log_weights.shape
        assert en.key_of(state.paths, state.components, finite=K is not None) == key
        assert sorted(set(state.paths.ravel().tolist())) == list(range(n_nodes))
        assert state.parents[0] == -1
        assert (state.parents[1:] < np.arange(1, n_nodes)).all()
        assert (state.paths[:, 0] == 0).all()
        assert (state.parents[state.paths[:, 1:]] == state.paths[:, :-1]).all()
        assert n_columns == (K or max(key[1]) + 1) + 1
        assert state.theta.shape == (n_columns - 1, 2)
        assert np.exp(state.log_weights).sum(axis=1) == pytest.approx(np.ones(n_nodes))
        assert np.isneginf(state.log_weights[:, -1]).all() == (K is not None)


def statistics(nodes: list[np.ndarray], parents: list[int]) -> np.ndarray:
    """beta_zk, beta_zk^2 and beta_zk beta_pa,k of every node z and column k."""
    values = list(nodes) + [w**2 for w in nodes]
    values += [nodes[z] * nodes[parents[z]] for z in range(1, len(nodes))]
    return np.concatenate(values, axis=-1)


def exact_moments(key: en.Key, K: int | None, n_draws: int) -> tuple[np.ndarray, np.ndarray]:
    """Mean of the statistics over exact draws, and the squared standard error."""
    rng = np.random.default_rng(6)
    settings = {**SETTINGS, "n_levels": len(key[0]), "n_components": K}
    states = [en.draw_exact_state(key, None, rng, **settings) for _ in range(n_draws)]
    weights = np.exp(np.array([state.log_weights for state in states]))
    values = statistics(list(weights.transpose(1, 0, 2)), states[0].parents.tolist())
    return values.mean(axis=0), values.var(axis=0) / len(values)


every_length = pytest.mark.parametrize(
    "n_draws", [2_500, pytest.param(8_000, marks=pytest.mark.exact_long)]
)
CASES = [
    (((0, 0, 1),), (0, 0, 1)),
    (((0, 0, 0), (0, 0, 1)), (0, 0, 1)),
    (((0, 0, 1), (0, 0, 1)), (0, 0, 0)),
]


def node_names(tree: en.Tree) -> list[tuple[int, ...]]:
    """Nodes level by level, in order of their labels: the order of the rows of log_weights."""
    walks = list(zip(*tree, strict=True))
    levels = [{walk[:level]: None for walk in walks} for level in range(len(tree) + 1)]
    return [z for level in levels for z in level]


@every_length
@pytest.mark.parametrize("key", CASES)
def test_drawn_weights_against_rejection(key: en.Key, n_draws: int) -> None:
    """Infinite form: keep the forward draws of (B, c) whose c is the wanted partition."""
    (tree, c), rng, size = key, np.random.default_rng(7), 70_000
    weights = simulate_weights(tree, size, None, rng)
    drawn = simulate_components(tree, weights, rng)
    kept = np.flatnonzero((first_equal(drawn) == [c.index(label) for label in c]).all(axis=1))
    assert len(kept) > 5_000
    names = node_names(tree)
    nodes = []
    for z in names:
        atoms = [drawn[kept, c.index(k)] for k in range(max(c) + 1)]
        named = np.stack([weights[z][kept, atom] for atom in atoms], axis=1)
        nodes.append(np.hstack([named, 1.0 - named.sum(axis=1, keepdims=True)]))
    values = statistics(nodes, [names.index(z[:-1]) for z in names])
    mean, squared_error = exact_moments(key, None, n_draws)
    z = (values.mean(axis=0) - mean) / np.sqrt(values.var(axis=0) / len(values) + squared_error)
    assert np.abs(z).max() < 4.0


@every_length
@pytest.mark.parametrize("key", CASES)
def test_drawn_weights_against_importance_sampling(key: en.Key, n_draws: int) -> None:
    """Finite form: weigh forward draws of B by prod_n beta_leaf(n), c_n."""
    (tree, c), K, rng = key, 3, np.random.default_rng(8)
    weights = simulate_weights(tree, 100_000, K, rng)
    leaves = zip(*tree, strict=True)
    importance = np.prod([weights[z][:, k] for z, k in zip(leaves, c, strict=True)], axis=0)
    importance /= importance.sum()
    names = node_names(tree)
    values = statistics([weights[z] for z in names], [names.index(z[:-1]) for z in names])
    mean = importance @ values
    squared_error = (importance**2) @ (values - mean) ** 2
    exact_mean, exact_error = exact_moments(key, K, n_draws)
    used = exact_error > 0.0  # all but the empty remainder
    blocks = len(names) * 3 - 1
    assert used.sum() == blocks * K
    z = (mean - exact_mean[used]) / np.sqrt(squared_error + exact_error[used])
    assert np.abs(z).max() < 4.0


@every_length
@pytest.mark.parametrize("K", [None, 3])
def test_drawn_theta_against_quadrature(K: int | None, n_draws: int) -> None:
    X, rng = np.array([[0.9, 0.1], [1.4, -2.0], [-0.8, 0.6]]), np.random.default_rng(9)
    key = (((0, 0, 0),), (0, 0, 1))
    settings = {**SETTINGS, **GAUSS, "n_levels": 1, "n_components": K}
    theta = np.array([en.draw_exact_state(key, X, rng, **settings).theta for _ in range(n_draws)])
    members = [[0, 1], [2], []]  # component 2 exists in the finite form only: drawn from H
    for k, d in itertools.product(range(theta.shape[1]), range(2)):
        moments = [quadrature(X[members[k], d], power, **GAUSS) for power in range(3)]
        mean = moments[1] / moments[0]
        variance = moments[2] / moments[0] - mean**2
        assert abs(theta[:, k, d].mean() - mean) < 4.0 * math.sqrt(variance / len(theta))
        # Four standard errors, as above: the variance of a normal variance is 2 / n.
        assert theta[:, k, d].var() == pytest.approx(variance, rel=4 * math.sqrt(2 / n_draws))
