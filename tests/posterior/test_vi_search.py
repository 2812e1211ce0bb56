"""The search for a partition near all draws: against the loss by its definition, move by move."""

from itertools import pairwise

import numpy as np
import pytest

from bhmc import BHMC
from bhmc.posterior import vi_search
from bhmc.posterior.kernels.relocation import sweep
from bhmc.posterior.summary import expected_losses, nearest_draw
from tests.posterior.test_summary import slow_vi
from tests.posterior.test_support import random_partition

N_LEVELS = 3


def entropy(*labels) -> float:
    """Of the shares of rows with the same labels."""
    counts = np.unique(np.stack(labels), axis=1, return_counts=True)[1] / len(labels[0])
    return -float((counts * np.log(counts)).sum())


def slow_loss(levels, draws, weight=1.0) -> float:
    """Sum over levels of the mean of A H(b | a) + (2 - A) H(a | b), a being ours."""

    def loss(ours, one):
        both = entropy(ours, one)
        return weight * (both - entropy(ours)) + (2 - weight) * (both - entropy(one))

    return sum(
        np.mean([loss(ours, one) for one in theirs])
        for ours, theirs in zip(levels, draws, strict=True)
    )


def labels(partition):
    return [partition.nodes_at(level, N_LEVELS) for level in range(1, N_LEVELS + 1)]


def case(seed, n=14, n_draws=4):
    """A start and draws with something in common."""
    rng = np.random.default_rng(seed)
    parts = [random_partition(rng, n, (2, 3, 5)) for _ in range(3)]
    chosen = [labels(parts[i]) for i in rng.integers(0, 3, n_draws)]
    return labels(random_partition(rng, n, (2, 4, 6))), [
        list(one) for one in zip(*chosen, strict=True)
    ]


def places(levels, block, depth, most):
    """Every tree in which the block's rows have other nodes at levels 1..depth, without limits
    where it stays; the present one first."""
    yield [one.copy() for one in levels]
    others = np.setdiff1d(np.arange(len(levels[0])), block)
    for last in range(depth + 1):  # the last level at which it joins a node that exists
        hosts = (
            {tuple(one[row] for one in levels[:last]): row for row in others} if last else {(): -1}
        )
        full = [
            len(np.unique(one[others])) >= limit for one, limit in zip(levels, most, strict=True)
        ]
        if any(full[last:depth]):
            continue
        for row in hosts.values():
            changed = [one.copy() for one in levels]
            for at in range(depth):
                changed[at][block] = levels[at][row] if at < last else levels[at].max() + 1
            yield changed


def slow_sweep(levels, draws, order, level, depth, weight):
    """What `sweep` does, each place judged by the whole loss."""
    most = [int(np.median([len(np.unique(one)) for one in theirs])) for theirs in draws]
    leaves = len(levels)
    nodes = None if level > leaves else levels[level - 1].copy()
    start = 0
    while start < len(order):
        end = start + 1
        while nodes is not None and end < len(order) and nodes[order[end]] == nodes[order[start]]:
            end += 1
        block, start = order[start:end], end
        own = None if nodes is None else levels[level - 1] == levels[level - 1][block[0]]
        if own is not None and (own.sum() > len(block) or (depth == leaves and len(block) == 1)):
            continue
        tried = list(places(levels, block, depth, most))
        losses = [slow_loss(one, draws, weight) for one in tried]
        best = int(np.argmin(losses))
        levels = tried[best if losses[best] < losses[0] - 1e-10 else 0]
    return levels


def together(one):
    return np.array([ours[:, None] == ours[None, :] for ours in one])


def test_the_loss_of_these_tests():
    start, draws = case(0)
    expected = sum(slow_vi(start[i], one) for i in range(3) for one in draws[i]) / 4
    assert slow_loss(start, draws) == pytest.approx(expected)


@pytest.mark.parametrize(("seed", "weight"), [(0, 1.0), (1, 1.0), (2, 1.5)])
@pytest.mark.parametrize(("level", "depth"), [(4, 3), (3, 3), (3, 2), (2, 2), (2, 1), (1, 1)])
def test_every_move_is_the_best_by_the_definition_of_the_loss(seed, weight, level, depth):
    start, draws = case(seed)
    tables = vi_search.tables_of(start, draws, weight)
    order = np.random.default_rng(seed).permutation(len(start[0]))
    if level <= N_LEVELS:
        order = np.argsort(tables.node[level], kind="stable")
    expected = slow_sweep(start, draws, order, level, depth, weight)
    gained = sweep(tables, order, level, depth)
    found = list(tables.node[1:])
    before, after = (slow_loss(one, draws, weight) for one in (start, found))
    assert gained / len(order) == pytest.approx(before - after, abs=1e-9)
    # Of places that are equally good either may be taken, so the losses are compared.
    assert after == pytest.approx(slow_loss(expected, draws, weight), abs=1e-9)
    check_tables(tables, draws)


def check_tables(tables, draws):
    """Sizes, parents and lists are those of the nodes, counted again."""
    fresh = vi_search.tables_of(list(tables.node[1:]), draws)
    for level in range(1, N_LEVELS + 1):
        nodes = tables.node[level]
        used = np.unique(nodes)
        assert tables.n_nodes[level] == len(used)
        assert set(tables.slots[level, : len(used)].tolist()) == set(used.tolist())
        np.testing.assert_array_equal(np.bincount(nodes)[used], tables.size[level, used])
        np.testing.assert_array_equal(tables.parent[level, nodes], tables.node[level - 1])
    assert not tables.moving.any()
    assert not tables.is_candidate.any()
    for q, start in enumerate(tables.first):
        counts = [np.sort(one.both[start : start + one.used[q]]) for one in (tables, fresh)]
        np.testing.assert_array_equal(*counts)


def test_levels_stay_nested():
    for seed in range(5):
        start, draws = case(seed, n=40)
        found = vi_search.improved(start, draws, np.random.default_rng(seed))
        for coarse, fine in pairwise(found):
            assert len(set(zip(coarse.tolist(), fine.tolist(), strict=True))) == fine_groups(fine)
        assert slow_loss(found, draws) <= slow_loss(start, draws) + 1e-12


def fine_groups(one):
    return len(np.unique(one))


def test_no_level_has_more_nodes_than_half_of_the_draws():
    """Draws that agree in nothing: alone every row would be nearest to all."""
    rng = np.random.default_rng(0)
    draws = [[rng.integers(0, 10, 60) for _ in range(9)]]
    found = vi_search.improved([np.zeros(60, dtype=int)], draws, rng)
    assert fine_groups(found[0]) <= 10


def test_draws_that_are_all_alike_are_found():
    start, draws = case(3, n=40)
    same = [[theirs[0]] * 3 for theirs in draws]
    found = vi_search.improved(start, same, np.random.default_rng(0))
    assert slow_loss(found, same) < 0.2 * slow_loss(start, same)
    again = vi_search.improved([one[0] for one in same], same, np.random.default_rng(0))
    np.testing.assert_array_equal(together(again), together([one[0] for one in same]))


@pytest.fixture(scope="module")
def parts():
    rng = np.random.default_rng(1)
    base = random_partition(rng, 50, (3, 6, 10))
    return [noisy(base, rng) for _ in range(12)]


def noisy(base, rng):
    """A draw in which a few rows sit where other rows do."""
    leaf, component = base.leaf.copy(), base.component.copy()
    moved = rng.choice(50, 12, replace=False)
    leaf[moved], component[moved] = leaf[moved[::-1]], rng.integers(0, 5, 12)
    return base._replace(leaf=leaf, component=component)


def test_the_loss_is_at_most_that_of_the_nearest_draw(parts):
    found = vi_search.nearest_partition(parts, parts, N_LEVELS, np.random.default_rng(0))
    chosen, losses = nearest_draw(parts, parts, N_LEVELS)
    assert found.draw == chosen
    assert not found.is_draw
    assert found.loss < 0.9 * losses[chosen]
    assert found.loss == pytest.approx(expected_losses([found.partition], parts, N_LEVELS).sum())
    components = [[one.component for one in parts]]
    levels = [list(one) for one in zip(*map(labels, parts), strict=True)]
    slow = slow_loss([found.partition.component], components)
    assert found.loss == pytest.approx(slow + slow_loss(labels(found.partition), levels) / N_LEVELS)


def test_the_answer_is_a_function_of_the_seed(parts):
    one, two, other = (
        vi_search.nearest_partition(parts, parts, N_LEVELS, np.random.default_rng(seed))
        for seed in (0, 0, 1)
    )
    for ours, theirs in zip(one.partition, two.partition, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert other.loss == pytest.approx(one.loss, rel=0.1)


def test_one_draw_is_its_own_estimate(parts):
    found = vi_search.nearest_partition(parts[:1], parts[:1], N_LEVELS, np.random.default_rng(0))
    assert found.is_draw
    assert found.loss == 0


def test_many_rows_are_not_searched(parts, monkeypatch):
    monkeypatch.setattr(vi_search, "MOST_ROWS", 49)
    found = vi_search.nearest_partition(parts, parts, N_LEVELS, np.random.default_rng(0))
    assert found.is_draw
    assert found.partition is parts[found.draw]


X = np.concatenate([np.random.default_rng(0).normal(c, 0.7, (15, 2)) for c in (-2, 0, 2)])
SHORT = {"alpha": "learn", "n_warmup": 20, "n_draws": 20, "random_state": 0}


@pytest.mark.parametrize(
    "settings", [{}, {"fixed_components": 4}, {"hyper": "paper"}, {"sampler": "paper"}], ids=str
)
def test_a_fit_shows_what_was_found(settings):
    """Tree, components and weights belong together, and the search made a difference."""
    model = BHMC(**SHORT, **settings).fit(X)
    tree, draws = model.tree_, model.draws_.partitions
    ours = vi_search.partition_of([model.labels_at(level) for level in (1, 2, 3)], tree.components)
    loss = expected_losses([ours], draws, 3).sum()
    assert loss < nearest_draw(draws, draws, 3)[1].min()
    np.testing.assert_allclose(tree.weights.sum(axis=1), 1)
    held = np.bincount(tree.components, minlength=tree.n_components)
    if "fixed_components" in settings:
        assert tree.n_components == 4
    else:
        assert (held > 0).all()
    # theta is drawn given the rows of each component, so predictions agree with the tree.
    assert np.mean(model.predict_component(X) == tree.components) > 0.7
    again = BHMC(**SHORT, **settings).fit(X)
    np.testing.assert_array_equal(again.tree_.weights, tree.weights)
    np.testing.assert_array_equal(again.paths_, tree.paths)
    assert tree.alpha in model.draws_.alpha


def test_a_level_on_which_draws_do_not_agree_does_not_collapse():
    """By the VI alone nearly all rows would be in one node."""
    rng = np.random.default_rng(3)
    groups = np.arange(60) // 3
    draws = [[rng.integers(0, 6, 20)[groups] for _ in range(12)]]
    assert len(np.unique(vi_search.improved([draws[0][0]], draws, rng)[0])) < 3
    found = vi_search._best_tree([[draws[0][0]]], draws, rng)[0]
    assert len(np.unique(found)) >= 3
    np.testing.assert_array_equal(found[::3], found[2::3])  # what draws agree on stays together


def test_the_root_has_few_children():
    """The smallest nodes join those that they share most clusters with."""
    rng = np.random.default_rng(4)
    pairs = np.repeat(np.arange(20), [2, 2, *[5] * 18])  # two small nodes
    draws = [np.where(pairs == 0, 7, np.where(pairs == 1, 9, pairs)) for _ in range(3)]
    fine = np.arange(len(pairs))
    top, below = vi_search._few_children([pairs, fine], draws)
    assert len(np.unique(top)) == vi_search._MOST_CHILDREN
    assert (top[pairs == 0] == top[pairs == 7][0]).all()
    assert (top[pairs == 1] == top[pairs == 9][0]).all()
    assert below is fine
    few = [pairs % 10, fine]
    assert vi_search._few_children(few, draws)[0] is few[0]
    searched = vi_search.improved([top, fine], [draws, [fine] * 3], rng, 1.75, 15)
    assert len(np.unique(searched[0])) <= 15


def scattered(rng):
    """A draw in which most rows sit where others do, and half of the leaves have two components."""
    base = random_partition(np.random.default_rng(1), 50, (3, 6, 10))
    leaf, moved = base.leaf.copy(), rng.choice(50, 30, replace=False)
    leaf[moved] = leaf[rng.permutation(moved)]
    half = (rng.random(50) < 0.5) * (rng.random(leaf.max() + 1) < 0.5)[leaf]
    component = np.unique(2 * leaf + half, return_inverse=True)[1]
    return base._replace(leaf=leaf, component=component.astype(np.int32))


def test_components_of_one_leaf_each_stay_so(monkeypatch):
    """Then they are a level of the tree. Searched on their own they would meet several leaves."""
    rng = np.random.default_rng(5)
    draws = [scattered(rng) for _ in range(12)]

    def components_and_cells():
        found = vi_search.nearest_partition(draws, draws, N_LEVELS, np.random.default_rng(0))
        assert not found.is_draw
        both = zip(found.partition.component.tolist(), found.partition.leaf.tolist(), strict=True)
        return len(np.unique(found.partition.component)), len({*both})

    components, cells = components_and_cells()
    assert components == cells <= max(len(np.unique(one.component)) for one in draws)
    monkeypatch.setattr(vi_search, "_has_components_in_leaves", lambda partition: False)
    components, cells = components_and_cells()
    assert components < cells
