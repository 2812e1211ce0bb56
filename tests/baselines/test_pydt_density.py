"""The formulas of the diffusion tree: against its story, against each other, and their total."""

import itertools
import math

import numpy as np
import pytest
from scipy import integrate, stats

from bhmc.baselines.pydt import density, kernels
from bhmc.baselines.pydt.simulate import simulate_data, simulate_tree
from bhmc.baselines.pydt.state import DiffusionTree, Rates, make_work, put_tree, tree_of
from tests.exact import alarm
from tests.exact.alarm import P_LIMIT, Z_LIMIT, chi_square_p, rng_for

RATES = {
    "ddt": Rates(0.0, 0.0, 0.7, 1.5, 0.1),
    "pydt": Rates(0.3, 0.6, 1.2, 1.5, 0.1),
    "theta only": Rates(0.0, 0.8, 1.0, 1.0, 0.0),
    "alpha only": Rates(0.7, 0.0, 2.0, 1.0, 0.3),
}
every_rate = pytest.mark.parametrize("rates", RATES.values(), ids=RATES)


def sequential_log_density(tree: DiffusionTree, order, rates: Rates) -> float:
    """log density of the particles coming in `order`, each by the story's own probabilities."""
    alpha, theta, c = rates[:3]
    before = np.zeros(len(tree.parents), dtype=int)  # particles that came under each node so far
    total = 0.0
    for i, leaf in enumerate(order):
        path = [leaf]
        while tree.parents[path[-1]] >= 0:
            path.append(int(tree.parents[path[-1]]))
        if i:
            total += _one_particle(tree, path[::-1], before, alpha, theta, c)
        before[path] += 1
    return total


def _one_particle(tree, path, before, alpha, theta, c) -> float:
    total, clock = 0.0, 0.0
    for node, kid in itertools.pairwise([*path, None]):
        m = before[node]
        rate = c * math.gamma(m - alpha) / math.gamma(m + 1 + theta)
        if kid is None:
            return total  # no density: it would have had to diverge
        total -= (tree.clocks[node] - clock) * rate
        clock = tree.clocks[node]
        branches = [before[k] for k in np.flatnonzero(tree.parents == node) if before[k]]
        if len(branches) == 1 and not before[kid]:
            return total + math.log(rate)
        if len(branches) > 1:
            if not before[kid]:
                return total + math.log((theta + alpha * len(branches)) / (m + theta))
            total += math.log((before[kid] - alpha) / (m + theta))
    raise AssertionError("a path ends in a leaf")


@every_rate
@pytest.mark.parametrize("n", [2, 3, 4, 7])
def test_density_is_the_product_over_particles_in_any_order(rates, n):
    rng = np.random.default_rng(n)
    for _ in range(5):
        tree = simulate_tree(n, rates, rng)
        expected = density.log_tree(tree, rates)
        for _ in range(6):
            found = sequential_log_density(tree, rng.permutation(n).tolist(), rates)
            assert found == pytest.approx(expected, abs=1e-9)


def labelled_trees(leaves: tuple[int, ...]):
    """All rooted trees over `leaves` as nested tuples, every inner node with two or more."""
    if len(leaves) == 1:
        yield leaves[0]
        return
    for blocks in _partitions(leaves):
        if len(blocks) > 1:
            yield from itertools.product(*(list(labelled_trees(block)) for block in blocks))


def _partitions(items):
    first, *others = items
    for size in range(len(others) + 1):
        for chosen in itertools.combinations(others, size):
            left = [item for item in others if item not in chosen]
            for blocks in _partitions(left) if left else [[]]:
                yield [(first, *chosen), *blocks]


def with_lengths(nested, n: int, lengths) -> DiffusionTree:
    """The tree of nested tuples whose i-th inner node is lengths[i] after its parent."""
    parents, clocks, lengths = [-1] * n, [math.inf] * n, iter(lengths)
    waiting = [(nested, -1)]
    while waiting:
        node, parent = waiting.pop(0)
        if isinstance(node, int):
            parents[node] = parent
            continue
        number = len(parents)
        parents.append(parent)
        clocks.append((clocks[parent] if parent >= 0 else 0.0) + next(lengths))
        waiting += [(part, number) for part in node]
    return DiffusionTree(np.array(parents), np.array(clocks))


def probability(nested, n: int, rates: Rates) -> float:
    """Integral of the density over all clocks: of every length on its own, exp(-c H(m - 1) l)."""
    tree = with_lengths(nested, n, [0.0] * n)
    sizes = density.leaves_below(density.children_of(tree))[n:]
    log = density.log_tree(tree, rates)
    for m in sizes:
        log -= math.log(rates.c * density.harmonic(m - 1, rates.alpha, rates.theta))
    return math.exp(log)


@every_rate
@pytest.mark.parametrize(("n", "n_trees"), [(3, 4), (4, 26), (5, 236)])
def test_total_mass_is_one_by_enumeration(rates, n, n_trees):
    trees = list(labelled_trees(tuple(range(n))))
    assert len(trees) == n_trees
    assert sum(probability(tree, n, rates) for tree in trees) == pytest.approx(1, abs=1e-10)


@pytest.mark.parametrize("name", ["ddt", "pydt"])
def test_total_mass_is_one_by_quadrature_over_times(name):
    """In t itself, with a(t) = c / (1 - t): dt, not the clock."""
    rates = RATES[name]

    def in_time(nested, *times):
        clocks = [-math.log1p(-t) for t in times]
        lengths = np.diff([0.0, *clocks])
        log = density.log_tree(with_lengths(nested, 3, lengths), rates)
        return math.exp(log) / math.prod(1 - t for t in times)

    three, _ = integrate.quad(lambda t: in_time((0, 1, 2), t), 0, 1)
    two, _ = integrate.dblquad(
        lambda late, early: in_time(((0, 1), 2), early, late), 0, 1, lambda t: t, 1
    )
    assert three + 3 * two == pytest.approx(1, abs=1e-5)


def test_simulator_visits_trees_as_the_density_says():
    n, rates = 4, RATES["pydt"]
    trees = list(labelled_trees(tuple(range(n))))
    number = {_clades(with_lengths(tree, n, [1.0] * n)): i for i, tree in enumerate(trees)}
    rng, visits = rng_for(201), np.zeros(len(trees))
    for _ in range(4_000):
        visits[number[_clades(simulate_tree(n, rates, rng))]] += 1
    chances = np.array([probability(tree, n, rates) for tree in trees])
    assert chi_square_p(visits, chances) > P_LIMIT


def _clades(tree: DiffusionTree) -> frozenset:
    children = density.children_of(tree)
    leaves = {}
    for node in density.parents_last(children):
        kids = children[node]
        leaves[node] = frozenset().union(*(leaves[kid] for kid in kids)) if kids else {node}
    return frozenset(frozenset(leaves[node]) for node, kids in enumerate(children) if kids)


def test_simulated_times_are_exponential_on_the_clock():
    """The first divergence of n particles: rate c H(n - 1)."""
    n, rates = 4, RATES["pydt"]
    rng = rng_for(202)
    trees = [simulate_tree(n, rates, rng) for _ in range(3_000)]
    first = np.array([tree.clocks[tree.parents < 0][0] for tree in trees])
    alarm.checks_made += 1
    rate = rates.c * density.harmonic(n - 1, rates.alpha, rates.theta)
    assert stats.kstest(first, stats.expon(scale=1 / rate).cdf).pvalue > P_LIMIT


def test_simulated_data_have_the_covariance():
    n, rates = 4, RATES["pydt"]
    rng = rng_for(203)
    tree = simulate_tree(n, rates, rng)
    X = simulate_data(tree, n, 20_000, rates, rng)
    exact = density.covariance(tree, n, rates)
    products = (X[:, None, :] * X[None, :, :]).reshape(n * n, -1)
    error = products.std(axis=1) / np.sqrt(products.shape[1])
    assert np.abs(alarm.z_of(products.mean(axis=1) - exact.ravel(), error)).max() < Z_LIMIT


@every_rate
@pytest.mark.parametrize("n", [2, 3, 8, 25])
def test_kernels_agree_with_the_formulas(rates, n):
    rng = np.random.default_rng(n)
    tree = simulate_tree(n, rates, rng)
    X = simulate_data(tree, n, 3, rates, rng)
    work = make_work(X, rates)
    put_tree(work, tree)
    kernels.tabulate(work)
    assert kernels.refresh(work) == pytest.approx(density.log_likelihood(tree, X, rates))
    assert kernels.log_tree(work) == pytest.approx(density.log_tree(tree, rates))
    assert np.array_equal(tree_of(work).parents, tree.parents)
