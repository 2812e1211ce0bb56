"""How many groups each level of a start has."""

from itertools import combinations

import numpy as np
import pytest
from scipy.cluster.hierarchy import linkage
from sklearn.metrics import adjusted_rand_score

from bhmc import BHMC
from bhmc._sampling.initial_clusters import _noise
from bhmc._sampling.level_counts import _segments, _steps, counts_by_steps, even_counts
from bhmc.datasets import make_diffused_hierarchy
from bhmc.model.diffused.setting import Diffused


def test_even_counts():
    assert even_counts(64, 3) == [4, 16, 64]
    assert even_counts(1, 2) == [1, 1]


def best_segments(steps, n_segments):
    """The slow twin of `_segments`: all ways to cut are tried."""

    def score(inner):
        parts = np.split(steps, inner)
        return -sum(len(part) * np.log(part.mean()) for part in parts)

    inner = max(combinations(range(1, len(steps)), n_segments - 1), key=score)
    return [*inner, len(steps)]


@pytest.mark.parametrize("n_segments", [1, 2, 3, 4])
@pytest.mark.parametrize("seed", range(5))
def test_segments_are_the_best_ones(n_segments, seed):
    steps = np.sort(np.random.default_rng(seed).gamma(0.5, size=9))[::-1]
    assert _segments(steps, n_segments) == best_segments(steps, n_segments)


def test_segments_end_where_steps_become_shorter():
    steps = np.repeat([100.0, 10.0, 1.0], [3, 8, 24])
    assert _segments(steps, 3) == [3, 11, 35]
    assert _segments(steps, 1) == [35]


def slow_steps(X, tree, n_groups, noise):
    """The slow twin of `_steps`: means of the rows of both sides of a split."""
    members = [[i] for i in range(len(X))]
    found = []
    for left, right in tree[:, :2].astype(int):
        a, b = (X[members[node]] for node in (left, right))
        square = ((a.mean(axis=0) - b.mean(axis=0)) ** 2).sum()
        found.append((square - noise * (1 / len(a) + 1 / len(b))) / 2)
        members.append(members[left] + members[right])
    return found[::-1][: n_groups - 1]


def test_steps_of_rows():
    X = np.random.default_rng(0).normal(size=(12, 3))
    tree = linkage(X, "ward")
    np.testing.assert_allclose(_steps(tree, np.ones(12), 0.3, 6), slow_steps(X, tree, 6, 0.3))


def test_steps_of_centres_count_the_rows_of_both_sides():
    """Groups of 1 and 9 rows: the mean of one row has all of the noise, that of nine a ninth."""
    tree = linkage(np.array([[0.0], [10.0]]), "ward")
    np.testing.assert_allclose(_steps(tree, np.array([1, 9]), 0.9, 2), [(100 - 0.9 - 0.1) / 2])


def hierarchy(seed, width=32):
    """4 x 3 x 3 clusters whose steps become shorter."""
    made = make_diffused_hierarchy(
        n_features=width, noise=0.35, steps=(10, 4.5, 1.6), random_state=seed
    )
    return made.data, made.levels


@pytest.mark.parametrize("n_groups", [36, 50, 80])
def test_levels_of_a_hierarchy_are_found(n_groups):
    """However many groups too many there are: rows that are split off are noise."""
    X, _ = hierarchy(0)
    tree = linkage(X, "ward")
    noise = (tree[: len(X) - n_groups, 2] ** 2).sum() / 2 / (len(X) - n_groups)
    counts = counts_by_steps(tree, np.ones(len(X)), noise, X.shape[1], n_groups, 3)
    assert counts == [4, 12, n_groups]


def test_a_table_without_groups_has_no_counts():
    X = np.random.default_rng(0).normal(size=(200, 8))
    tree = linkage(X, "ward")
    assert counts_by_steps(tree, np.ones(200), 8.0, 8, 20, 3) is None
    same = linkage(np.zeros((9, 2)), "ward")
    assert counts_by_steps(same, np.ones(9), 0.0, 2, 4, 2) is None


def test_more_groups_than_rows_in_the_sample_have_no_noise():
    X = np.arange(8.0).reshape(4, 2)
    _, noise, width = _noise(X, X, linkage(X, "ward"), 5)
    assert (noise, width) == (0.0, 2)


def test_a_tree_is_not_a_level_too_low():
    """Seed 4 of the hierarchy in 32 columns: from as many children everywhere both chains kept 12
    nodes at level 1, 330 nats below the tree of 4 and 12 nodes.
    """
    X, levels = hierarchy(4)
    transition, short = Diffused(kappa=0.25), {"n_warmup": 20, "n_draws": 5, "thin": 1}
    model = BHMC(2, transition=transition, init="ward", random_state=4, **short).fit(X)
    for level, truth in zip((1, 2), levels.T, strict=False):
        assert adjusted_rand_score(truth, model.labels_at(level)) == 1.0
