"""Groups of rows to start a chain from, by k-means or Ward, in nested levels.

Both methods use a random sample of the rows and put every row with the nearest centre, so that
their cost is linear in the number of rows, as a sweep's is. The groups are coarse on purpose. A
start needs more groups than the data, because Gibbs sampling merges two components of the same kind
row by row but seldom splits a component that holds two kinds.

SciPy's and scikit-learn's parts are imported where they are used: `import bhmc` must stay light.
"""

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from bhmc._sampling.level_counts import counts_by_steps, even_counts
from bhmc.likelihoods import Family
from bhmc.likelihoods.blocks import slices
from bhmc.likelihoods.kmeans import group_means, kmeans_centres, nearest

# A chain sees a sample of this share of the rows, and no more of them than this: Ward needs the
# distance of every pair. Even of few rows it sees a part, so that chains start apart.
_SHARE = 0.8
_MOST_ROWS = {"kmeans": 20_000, "ward": 2_000}

# The number of groups is drawn between these multiples of the root of n, and is no more than this.
# By held-out density half as many did worse on three of seven tables, and two to four times the
# root (200 at most) on one: docs/starts.md.
_FEWEST, _MOST, _LIMIT = 1.0, 3.0, 100

# Digits of points, after the point: rows as far from one centre as from another, which are common
# in rounded data, shall go the same way in all units.
_DIGITS = 9

# Sparse points are reduced to so many directions.
_DIRECTIONS = 50

# Points are made for at most so many rows at a time, and so many numbers; a sample holds four times
# as many numbers.
_BLOCK, _NUMBERS = 4096, 2**22


def nested_groups(
    family: Family,
    method: str,
    *,
    n_levels: int,
    most: int | None,
    rng: np.random.Generator,
    n_steps: int | None = None,
) -> NDArray[np.int32]:
    """(n, n_levels) labels of the rows, coarse to fine.

    The number of groups is random, one to three times the root of n. Level j has the j / L-th power
    of that number, so that all nodes have about equally many children, or as many groups as make
    the steps of a level equally long.

    Parameters
    ----------
    family : Family
        The likelihood bound to the data; its `points` are compared.
    method : {"kmeans", "ward"}
        How rows are grouped.
    n_levels : int
        L, the levels of the labels.
    most : int, optional
        The largest number of groups at the finest level.
    rng : numpy.random.Generator
        The source of randomness.
    n_steps : int, optional
        Where locations diffuse, the steps from the root to a component: the labels then have so
        many columns, if `counts_by_steps` finds as many levels.
    """
    n = family.n_rows
    blocks = _blocks(n, _width(family))
    sample = _sample(family, blocks, _sample_size(n, method, _width(family)), rng)
    space = _Space(sample, rng)
    sample = space.enter(sample)
    k = _how_many(n, most, rng)
    # k-means: a tree of the centres. Ward: a tree of the rows, of which each group is a branch.
    items = kmeans_centres(sample, k, rng) if method == "kmeans" else sample
    tree = _ward(items)
    counts = even_counts(k, n_levels)
    if n_steps is not None:
        counts = counts_by_steps(tree, *_noise(sample, items, tree, k), k, n_steps) or counts
    cuts = _cuts(tree, counts)
    _, first, group = np.unique(cuts[:, -1], return_index=True, return_inverse=True)
    centres = group_means(items, group, len(first))
    del sample, items  # for many rows the sample and the labels are both large
    group_of = np.empty(n, dtype=np.int32)
    for rows in blocks:
        group_of[rows] = nearest(space.enter(family.points(rows)), centres)
    return cuts[first].astype(np.int32)[group_of]


def _how_many(n: int, most: int | None, rng: np.random.Generator) -> int:
    """A number of groups: uniform from the root of n to three times that."""
    low, high = (max(1, int(np.ceil(share * np.sqrt(n)))) for share in (_FEWEST, _MOST))
    return min(int(rng.integers(low, high + 1)), most or n, n, _LIMIT)


def _width(family: Family) -> int:
    """Numbers of a point; of a sparse one, as if few."""
    point = family.points(slice(0, 1))
    return 1 if sparse.issparse(point) else point.shape[1]


def _sample_size(n: int, method: str, width: int) -> int:
    """Rows to look at: a share of them, and no more than there is time and memory for."""
    affordable = max(4 * _NUMBERS // max(width, 1), 2 * _LIMIT)
    return min(_MOST_ROWS[method], int(np.ceil(_SHARE * n)), affordable)


def _sample(family: Family, blocks: list[slice], size: int, rng: np.random.Generator):
    """The points of `size` rows drawn at random."""
    chosen = np.sort(rng.choice(family.n_rows, size, replace=False))
    parts = []
    for rows in blocks:
        first, last = np.searchsorted(chosen, [rows.start, rows.stop])
        if last > first:
            parts.append(family.points(rows)[chosen[first:last] - rows.start])
    return sparse.vstack(parts, format="csr") if sparse.issparse(parts[0]) else np.vstack(parts)


class _Space:
    """Points as plain numbers: gaps at the column's mean, sparse ones in few directions.

    All are divided by one number, which changes no grouping, so that squares stay finite.
    """

    def __init__(self, sample, rng: np.random.Generator):
        self._basis = None
        if sparse.issparse(sample):
            from sklearn.utils.extmath import randomized_svd

            size = min(_DIRECTIONS, *sample.shape)
            seed = int(rng.integers(2**31))
            self._basis = randomized_svd(sample, size, random_state=seed)[2].T
            self._means, self._unit = np.zeros(size), 1.0
            return
        known = ~np.isnan(sample)
        self._unit = max(
            float(np.abs(sample, where=known, out=np.zeros(sample.shape)).max()), 1e-300
        )
        scaled = np.where(known, sample, 0.0) / self._unit
        self._means = scaled.sum(axis=0) / np.maximum(known.sum(axis=0), 1)

    def enter(self, points) -> NDArray[np.float64]:
        """Points of any rows, in this space."""
        if self._basis is not None:
            return np.asarray(points @ self._basis)
        points = np.round(points / self._unit, _DIGITS)
        return np.where(np.isnan(points), self._means, points)


def _ward(items: NDArray) -> NDArray[np.float64]:
    """(m - 1, 4): Ward's tree of m items."""
    from scipy.cluster.hierarchy import linkage
    from scipy.spatial.distance import pdist

    if len(items) == 1:
        return np.empty((0, 4))
    return linkage(pdist(items), "ward")  # of points it warns where they look like distances


def _noise(sample: NDArray, items: NDArray, tree: NDArray, k: int) -> tuple[NDArray, float, int]:
    """Rows of each item, mean squared distance of rows from the mean of their group, and D.

    Where items are rows, half the squares of Ward's heights add up to the rows' distances.
    """
    n, width = sample.shape
    if len(items) == n:
        sizes, total = np.ones(n), float((tree[: max(n - k, 0), 2] ** 2).sum()) / 2
    else:
        group = nearest(sample, items)
        sizes = np.maximum(np.bincount(group, minlength=len(items)), 1)
        total = float(((sample - items[group]) ** 2).sum())
    return sizes, total / max(n - k, 1), width


def _cuts(tree: NDArray, numbers: list[int]) -> NDArray[np.int64]:
    """(items, levels): Ward's tree of the items, cut into at most so many branches a level."""
    from scipy.cluster.hierarchy import fcluster

    if not len(tree):
        return np.zeros((1, len(numbers)), dtype=np.int64)
    cuts = [fcluster(tree, number, "maxclust") for number in numbers]
    return np.column_stack(cuts).astype(np.int64)


def _blocks(n: int, width: int) -> list[slice]:
    """Slices that cover n rows, fewer rows in each where they are wide."""
    return slices(n, min(_BLOCK, max(1, _NUMBERS // max(width, 1))))
