"""k-means in plain NumPy: scikit-learn's own steps run in threads, whose number would show in sums,
and importing them takes as long as half of a small fit.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bhmc.likelihoods.blocks import Floats, slices

_LLOYD_STEPS = 20

# Points are compared with centres for at most so many rows at a time.
_BLOCK = 4096


def kmeans_centres(points: Floats, k: int, rng: np.random.Generator) -> Floats:
    """At most k centres by k-means, begun by k-means++.

    Parameters
    ----------
    points : (n, p) array
        What is grouped.
    k : int
        Number of groups; fewer where some are empty.
    rng : numpy.random.Generator
        The source of randomness.
    """
    centres = _seeds(points, k, rng)
    group = nearest(points, centres)
    for _ in range(_LLOYD_STEPS):
        _, group = np.unique(group, return_inverse=True)
        centres = group_means(points, group, int(group.max()) + 1)
        before, group = group, nearest(points, centres)
        if np.array_equal(before, group):
            break
    return centres


def _seeds(points: Floats, k: int, rng: np.random.Generator) -> Floats:
    """At most k of the points, none twice: each drawn in proportion to its squared distance from
    the nearest of those before it (Arthur and Vassilvitskii 2007).
    """
    squares = np.einsum("np,np->n", points, points)
    chosen = [int(rng.integers(len(points)))]
    away = np.full(len(points), np.inf)
    while len(chosen) < k:
        last = chosen[-1]
        to_last = squares - 2 * (points @ points[last]) + squares[last]
        away = np.minimum(away, np.maximum(to_last, 0.0))
        away[away <= 1e-12 * squares.max()] = 0.0  # an equal point, but for rounding
        running = np.cumsum(away)
        if running[-1] == 0.0:
            break
        target = rng.random() * running[-1]
        chosen.append(int(np.searchsorted(running, target, side="right")))
    return points[chosen]


def group_means(points: Floats, group: NDArray[Any], k: int) -> Floats:
    """(k, p): the mean of every group; none is empty.

    Parameters
    ----------
    points : (n, p) array
        What is grouped.
    group : (n,) array
        The group of each point, 0 to k - 1.
    k : int
        Number of groups.
    """
    order = np.argsort(group, kind="stable")
    firsts = np.searchsorted(group[order], np.arange(k))
    sums = np.add.reduceat(points[order], firsts, axis=0)
    return sums / np.bincount(group, minlength=k)[:, None]


def nearest(points: Floats, centres: Floats) -> NDArray[np.int64]:
    """(n,): the nearest centre, by |c|^2 / 2 - x . c.

    Parameters
    ----------
    points : (n, p) array
        Any points.
    centres : (k, p) array
        What they are compared with.
    """
    half = 0.5 * (centres**2).sum(axis=1)
    rows = slices(len(points), _BLOCK)
    return np.concatenate([np.argmin(half - points[one] @ centres.T, axis=1) for one in rows])
