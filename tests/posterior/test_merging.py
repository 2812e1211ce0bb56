"""Merging by the log likelihood lost: Ward's method where variances are shared, else by hand."""

import numpy as np
import pytest
from scipy.cluster.hierarchy import cophenet, ward
from scipy.special import xlogy

from bhmc.likelihoods import Bernoulli, Gaussian
from bhmc.posterior.merging import merge_by_loss

SIGMA2 = 0.3


def numbers(n, seed=0):
    return np.random.default_rng(seed).normal(size=(n, 2)) * 3


def by_ward(X):
    family = Gaussian(sigma2=SIGMA2).prepare(X)
    sums = family.sums(np.arange(len(X)), len(X))
    return merge_by_loss(sums, family.log_maximum)


def meeting_heights(merges):
    """(K, K) height of the lowest node with both groups, by looking at every node."""
    members, k = merges.members, merges.members.shape[1]
    met = np.full((k, k), np.inf)
    for inside, height in zip(members, merges.heights, strict=True):
        both = np.outer(inside, inside)
        met[both] = np.minimum(met[both], height)
    return met


def test_single_rows_merge_as_by_scipys_ward():
    X = numbers(12)
    found = meeting_heights(by_ward(X))[np.triu_indices(12, 1)]
    # SciPy's heights are sqrt(2 n_a n_b / (n_a + n_b)) |m_a - m_b|.
    np.testing.assert_allclose(found, cophenet(ward(X)) ** 2 / 2 / (2 * SIGMA2), rtol=1e-9)


def test_groups_merge_as_by_ward_on_means_with_weights():
    """SciPy merges repeated rows at height 0, then groups of sizes 1 to 4 by their means."""
    means, sizes = numbers(7, seed=1), np.array([1, 4, 2, 3, 1, 2, 4])
    X, groups = np.repeat(means, sizes, axis=0), np.repeat(np.arange(7), sizes)
    family = Gaussian(sigma2=SIGMA2).prepare(X)
    merges = merge_by_loss(family.sums(groups, 7), family.log_maximum)
    n = len(X)
    expected = np.zeros((n, n))
    expected[np.triu_indices(n, 1)] = cophenet(ward(X)) ** 2 / (4 * SIGMA2)
    first = np.searchsorted(groups, np.arange(7))
    found = meeting_heights(merges)[np.triu_indices(7, 1)]
    np.testing.assert_allclose(found, expected[np.ix_(first, first)][np.triu_indices(7, 1)])


def assert_greedy(merges, best, k):
    """Every merger is a cheapest one, and its height what it costs or that of a node below."""
    left, highest = [frozenset([i]) for i in range(k)], {}
    for new in range(k, 2 * k - 1):
        lost = {
            (a, b): max(best(a) + best(b) - best(a | b), 0.0)
            for a in left
            for b in left
            if min(a) < min(b)
        }
        below = [merges.members[i] for i in np.flatnonzero(merges.parents == new)]
        a, b = sorted((frozenset(np.flatnonzero(one).tolist()) for one in below), key=min)
        assert lost[a, b] == pytest.approx(min(lost.values()), abs=1e-9)
        highest[a | b] = max(lost[a, b], highest.get(a, 0), highest.get(b, 0))
        assert merges.heights[new] == pytest.approx(highest[a | b], abs=1e-9)
        left = [one for one in left if one not in (a, b)] + [a | b]


def test_bernoulli_groups():
    X = np.random.default_rng(2).integers(2, size=(9, 6)).astype(float)
    family = Bernoulli().prepare(X)
    merges = merge_by_loss(family.sums(np.arange(9), 9), family.log_maximum)

    def best(rows):
        ones, n = X[list(rows)].sum(axis=0), len(rows)
        return (xlogy(ones, ones / n) + xlogy(n - ones, 1 - ones / n)).sum()

    assert_greedy(merges, best, 9)


@pytest.mark.parametrize("seed", range(10))
def test_any_numbers(seed):
    """A union may be nearer to a third group than both its parts were, and mergers may get cheaper.

    Ward's criterion has neither. The statistics of a group are which groups it is made of.
    """
    drawn = -10 * np.random.default_rng(seed).random(2**7)

    def best(rows):
        return len(rows) * drawn[sum(2**i for i in rows)]

    def log_maximum(sums):
        return np.array([best(np.flatnonzero(one).tolist()) for one in sums])

    assert_greedy(merge_by_loss(np.eye(7), log_maximum), best, 7)


def test_order_of_groups_makes_no_difference():
    X = numbers(15, seed=3)
    order = np.random.default_rng(0).permutation(15)
    one, other = meeting_heights(by_ward(X)), meeting_heights(by_ward(X[order]))
    np.testing.assert_allclose(one[np.ix_(order, order)], other, rtol=1e-9)


def test_one_group():
    merges = by_ward(numbers(1))
    assert merges.parents.tolist() == [-1]
    assert merges.heights.tolist() == [0.0]
