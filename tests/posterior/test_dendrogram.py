"""`component_dendrogram`: heights, support and shape by brute force; the estimator's attribute."""

import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bhmc import BHMC, Tree
from bhmc.likelihoods import Bernoulli, Gaussian, Product, SharedGaussian
from bhmc.posterior import dendrogram
from bhmc.posterior.dendrogram import component_dendrogram
from bhmc.posterior.draws import Partition
from bhmc.posterior.merging import merge_by_loss
from tests.posterior.draws_factory import make_draws

DATA = Path(__file__).parents[1] / "data"
SIGMA2 = 0.5
N = 12
X = np.random.default_rng(0).normal(size=(N, 2)) * 2


def example(n_draws=3, seed=0):
    """(tree of 4 components, draws of 3 to 5 components)."""
    rng = np.random.default_rng(seed)
    components = np.sort(rng.permutation(np.arange(N) % 4)).astype(np.int32)
    tree = replace(
        Tree.from_parents([-1], np.zeros(N, dtype=int)),
        components=components,
        theta=np.zeros((4, 2)),
        weights=np.full((1, 5), 0.2),
    )
    labels = [np.append(np.arange(k), rng.integers(k, size=N - k)) for k in (3, 4, 5)[:n_draws]]
    partitions = tuple(
        Partition(np.zeros(N, dtype=int), c.astype(np.uint8), np.array([-1])) for c in labels
    )
    draws = make_draws(n_chains=1, n_draws=n_draws, n_rows=N, n_shared=0)
    return tree, replace(draws, partitions=partitions)


def expected_loss(tree, draws, a, b):
    """Ward's criterion from the definition: rows as the means of their components, draw by draw."""
    total = 0.0
    for one in draws.partitions:
        means = np.array([X[one.component == k].mean(axis=0) for k in one.component])
        rows_a, rows_b = np.isin(tree.components, list(a)), np.isin(tree.components, list(b))
        n_a, n_b = rows_a.sum(), rows_b.sum()
        apart = ((means[rows_a].mean(axis=0) - means[rows_b].mean(axis=0)) ** 2).sum()
        total += n_a * n_b / (n_a + n_b) * apart / (2 * SIGMA2)
    return total / len(draws.partitions)


def brute_force(tree, draws):
    """{set of components: height}, merging the cheapest two at a time."""
    left = [frozenset([int(k)]) for k in np.unique(tree.components)]
    found = dict.fromkeys(left, 0.0)
    while len(left) > 1:
        pairs = [(a, b) for i, a in enumerate(left) for b in left[i + 1 :]]
        costs = [expected_loss(tree, draws, a, b) for a, b in pairs]
        a, b = pairs[int(np.argmin(costs))]
        found[a | b] = min(costs)
        left = [one for one in left if one not in (a, b)] + [a | b]
    return found


def heights_of(tree):
    """{set of components: height} of a dendrogram."""
    return {
        frozenset(tree.components[tree.members(z)].tolist()): float(tree.heights[z])
        for z in range(tree.n_nodes)
    }


def family():
    return Gaussian(sigma2=SIGMA2).prepare(X)


@pytest.mark.parametrize("seed", range(4))
def test_heights_are_expected_losses(seed):
    tree, draws = example(seed=seed)
    found, expected = (
        heights_of(component_dendrogram(tree, draws, family())),
        brute_force(tree, draws),
    )
    assert found.keys() == expected.keys()
    for groups, height in expected.items():
        assert found[groups] == pytest.approx(height, rel=1e-9, abs=1e-9)


def test_support_is_the_mean_best_match():
    tree, draws = example()
    result = component_dendrogram(tree, draws, family())
    theirs = []
    for one in draws.partitions:
        own = replace(
            tree, components=one.component, theta=np.zeros((5, 2)), weights=np.ones((1, 6))
        )
        nodes = component_dendrogram(own, replace(draws, partitions=(one,)), family())
        theirs.append([set(nodes.members(z).tolist()) for z in range(nodes.n_nodes)])
    for z in range(result.n_nodes):
        rows = set(result.members(z).tolist())
        best = [max(len(rows & b) / len(rows | b) for b in nodes) for nodes in theirs]
        assert result.support[z] == pytest.approx(np.mean(best))
    assert result.support.min() < 0.9


def test_what_the_tree_carries():
    tree, draws = example()
    tree = replace(
        tree, components=np.where(tree.components == 1, 0, tree.components)
    )  # 1 is empty
    result = component_dendrogram(tree, draws, family())
    np.testing.assert_array_equal(result.components, tree.components)
    assert result.n_leaves == 3
    for z in range(result.n_nodes):
        held = np.bincount(tree.components[result.members(z)], minlength=5) / result.sizes[z]
        np.testing.assert_allclose(result.weights[z], held)
    assert len(np.unique(result.cut(2))) == 2


def test_order_of_rows_makes_no_difference():
    tree, draws = example()
    order = np.random.default_rng(1).permutation(N)
    moved = replace(tree, components=tree.components[order])
    partitions = tuple(one._replace(component=one.component[order]) for one in draws.partitions)
    other = Gaussian(sigma2=SIGMA2).prepare(X[order])
    one = heights_of(component_dendrogram(tree, draws, family()))
    two = heights_of(component_dendrogram(moved, replace(draws, partitions=partitions), other))
    assert one.keys() == two.keys()
    assert one == pytest.approx(two)


def test_a_column_of_small_noise_does_not_outweigh_all_others():
    """Bits say that components 0 and 1 are alike, one column of numbers that 0 and 2 are."""
    kind = np.repeat(np.arange(4), 20)
    rng = np.random.default_rng(0)
    bits = rng.random((80, 8)) < np.where(kind < 2, 0.95, 0.05)[:, None]
    legs = 4.0 * (kind % 2) + rng.normal(0, 0.05, 80)
    likelihood = Product([(Bernoulli(), range(8)), (SharedGaussian(), [8])])
    bound = likelihood.prepare(np.column_stack([bits, legs]))
    tree = replace(
        Tree.from_parents([-1], np.zeros(80, dtype=int)),
        components=kind.astype(np.int32),
        theta=np.zeros((4, 9)),
        weights=np.full((1, 5), 0.2),
    )
    partition = Partition(np.zeros(80, dtype=int), kind.astype(np.uint8), np.array([-1]))
    draws = replace(make_draws(1, 1, 80, n_shared=3), partitions=(partition,))
    shared = np.broadcast_to([2.0, 0.05**2, 4.0], draws.shared.shape)
    draws = replace(draws, shared=shared)
    halves = component_dendrogram(tree, draws, bound).cut(2)
    np.testing.assert_array_equal(halves == halves[0], kind < 2)
    sums = bound.at(shared[0, 0]).sums(kind, 4)
    ward = merge_by_loss(sums, bound.at(shared[0, 0]).log_maximum)
    assert [0, 2] in [np.flatnonzero(one).tolist() for one in ward.members]


def test_draws_with_few_partitions_and_one_component():
    tree, draws = example()
    alone = replace(tree, components=np.zeros(N, dtype=np.int32))
    result = component_dendrogram(alone, draws, family())
    assert (result.n_nodes, result.n_levels, result.support.tolist()) == (1, 0, [1.0])


def test_a_deep_dendrogram_ends_above_its_tips(monkeypatch):
    tree, draws = example()
    monkeypatch.setattr(dendrogram, "_MOST_PATHS", N)
    result = component_dendrogram(tree, draws, family())
    assert result.n_levels == 1
    full = heights_of(component_dendrogram(*example(), family()))
    assert heights_of(result).keys() <= full.keys()


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(0)
    rows = np.concatenate([rng.normal(centre, 0.3, (8, 2)) for centre in (0, 1.6, 9)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return BHMC(n_levels=2, n_warmup=40, n_draws=40, random_state=0).fit(rows)


def test_near_groups_meet_below_far_ones(fitted):
    labels = fitted.dendrogram_.cut(2)
    assert labels[:16].std() == 0
    assert labels[0] != labels[16]
    np.testing.assert_array_equal(fitted.dendrogram_.components, fitted.component_labels_)


def test_saved_and_loaded(fitted, tmp_path):
    fitted.save(tmp_path / "model.bhmc")
    loaded = BHMC.load(tmp_path / "model.bhmc")
    for name in ("parents", "heights", "support", "paths", "weights"):
        saved = getattr(fitted.dendrogram_, name)
        np.testing.assert_array_equal(getattr(loaded.dendrogram_, name), saved)
    text = Tree.from_json(fitted.dendrogram_.to_json())
    np.testing.assert_array_equal(text.heights, fitted.dendrogram_.heights)
    assert len(fitted.dendrogram_.to_linkage()) == 23


@pytest.mark.parametrize("format", [1, 2])
def test_a_model_of_an_older_bhmc_has_none(format):
    model = BHMC.load(DATA / f"model-format-{format}.bhmc")
    with pytest.raises(AttributeError, match="older bhmc saved it: fit it again"):
        _ = model.dendrogram_
    assert not hasattr(BHMC(), "dendrogram_")


def test_summary_draws_suffice():
    rows = np.random.default_rng(0).normal(size=(30, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = BHMC(n_levels=1, n_warmup=10, n_draws=10, keep="summary", random_state=0).fit(rows)
    assert model.dendrogram_.heights[0] >= 0
