"""Support of nodes and rows, against sets of rows."""

import numpy as np
import pytest

from bhmc import BHMC, Tree
from bhmc.posterior import support
from bhmc.posterior.draws import Partition
from bhmc.posterior.vi_search import partition_of


def random_partition(rng, n=30, wide=(3, 7, 12)) -> Partition:
    """Nested random groups."""
    finest = rng.integers(0, wide[-1], n)
    levels = [finest]
    for width in wide[-2::-1]:
        levels.insert(0, rng.integers(0, width, wide[-1])[levels[0]])
    nested = [
        np.unique(np.array(levels[: i + 1]), axis=1, return_inverse=True)[1] for i in range(3)
    ]
    return partition_of(nested, finest)


def groups_of(partition) -> dict[int, set]:
    """The rows of every node."""
    found = {node: set() for node in range(len(partition.parents))}
    for row, node in enumerate(partition.leaf.tolist()):
        while node >= 0:
            found[node].add(row)
            node = int(partition.parents[node])
    return found


def jaccard(one, other):
    return len(one & other) / len(one | other)


@pytest.fixture(scope="module")
def partitions():
    rng = np.random.default_rng(0)
    return [random_partition(rng) for _ in range(8)]


def test_soft_support_is_the_mean_best_match(partitions):
    ours, *draws = partitions
    groups = groups_of(ours)
    expected = [
        np.mean([max(jaccard(mine, B) for B in groups_of(one).values()) for one in draws])
        for mine in groups.values()
    ]
    found = support.soft_support(ours.paths(3), len(groups), draws)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert found[0] == 1
    assert len(np.unique(found)) > 5


def test_path_support_is_the_mean_best_match_among_nodes_that_hold_the_row(partitions):
    ours, *draws = partitions
    groups, paths = groups_of(ours), ours.paths(3)
    expected = np.zeros(paths.shape)
    for one in draws:
        theirs = groups_of(one)
        for (row, level), node in np.ndenumerate(paths):
            holding = [B for B in theirs.values() if row in B]
            expected[row, level] += max(jaccard(groups[node], B) for B in holding) / len(draws)
    found = support.path_support(paths, len(groups), draws)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    of_nodes = support.soft_support(paths, len(groups), draws)
    assert (found[:, 0] == 1).all()
    assert (found <= of_nodes[paths] + 1e-12).all()
    assert (found < of_nodes[paths] - 0.01).any()


def test_a_row_that_moves_costs_little():
    """The exact share is 0, and the soft one is |A & B| / |A | B|."""
    ours = partition_of([np.repeat([0, 1], 10)], np.zeros(20))
    moved = np.repeat([0, 1], 10)
    moved[0] = 1
    draws = [partition_of([moved], np.zeros(20))]
    found = support.soft_support(ours.paths(1), 3, draws)
    np.testing.assert_allclose(found, [1, 9 / 10, 10 / 11])
    np.testing.assert_array_equal(support.node_support(ours.paths(1), draws, 3), [1, 0, 0])
    of_rows = support.path_support(ours.paths(1), 3, draws)
    assert of_rows[0, 1] == pytest.approx(10 / 20)  # only the root of the draw matches, by half
    assert of_rows[1, 1] == pytest.approx(9 / 10)


def test_memberships_of_any_tree(partitions):
    """A dendrogram has other numbers of levels than the draws."""
    parents = [-1, 0, 0, 1, 1, 2, 2]
    tree = Tree.from_parents(parents, np.repeat([3, 4, 5, 6], [9, 3, 8, 10]))
    draws = partitions[1:]
    found = support.soft_support(tree.paths, tree.n_nodes, draws)
    for node in range(tree.n_nodes):
        mine = set(tree.members(node).tolist())
        best = [max(jaccard(mine, B) for B in groups_of(one).values()) for one in draws]
        assert found[node] == pytest.approx(np.mean(best))


def test_at_most_a_hundred_draws_take_part(partitions):
    ours, *draws = partitions
    many = (draws * 40)[:250]
    chosen = [many[i] for i in np.linspace(0, 249, 100).round().astype(int)]
    found = support.soft_support(ours.paths(3), len(ours.parents), many)
    again = support.soft_support(ours.paths(3), len(ours.parents), chosen)
    np.testing.assert_array_equal(found, again)


def test_exact_support_is_the_share_of_draws_with_the_same_members(partitions):
    ours, draws = partitions[0], partitions
    found = support.node_support(ours.paths(3), draws, len(ours.parents))
    for node, mine in groups_of(ours).items():
        shares = [mine in groups_of(one).values() for one in draws]
        assert found[node] == pytest.approx(np.mean(shares))
    assert found[0] == 1


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(c, 0.4, (12, 2)) for c in (-3.0, 0.0, 3.0)])
    return BHMC(n_warmup=10, n_draws=7, random_state=0).fit(X)


def test_what_a_fit_knows(model):
    tree, draws = model.tree_, model.draws_.partitions
    wanted = support.soft_support(tree.paths, tree.n_nodes, draws)
    np.testing.assert_array_equal(tree.support, wanted)
    wanted = support.node_support(tree.paths, draws, tree.n_nodes)
    np.testing.assert_array_equal(tree.exact_support, wanted)
    assert (tree.support >= tree.exact_support).all()
    assert model.path_support_.shape == model.paths_.shape
    wanted = support.path_support(tree.paths, tree.n_nodes, draws)
    np.testing.assert_array_equal(model.path_support_, wanted)


def test_path_support_of_a_model_from_a_file(model, tmp_path):
    model.save(tmp_path / "model")
    again = BHMC.load(tmp_path / "model")
    np.testing.assert_array_equal(again.path_support_, model.path_support_)
