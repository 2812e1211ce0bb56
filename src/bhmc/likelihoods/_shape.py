"""The shape of the noise: the covariance of rows within groups, estimated before sampling.

Directions in which all groups vary widely (how bright a picture is) hide the others from methods
that measure plain distances. Dividing by the covariance within groups takes them back to what they
tell. Directions in which rows hardly vary must not count without bound, though: they hold rounding
and outliers. So the covariance is shrunk towards equal variances, and whether it is used at all is
decided by rows that were held out.
"""

import numpy as np
from numpy.typing import NDArray

from bhmc.likelihoods._wishart import over_triangle
from bhmc.likelihoods.blocks import Floats
from bhmc.likelihoods.kmeans import group_means, kmeans_centres, nearest

# The share of equal variances in the shape: no direction counts more than about three times as much
# as in the mean. docs/families.md has what other shares did.
_SHARE = 0.3

# Where the covariance is taken as it is, so much of equal variances keeps it regular.
_RIDGE = 1e-3

# So many rows, evenly spaced, stand for all. Numbers of groups that are tried: multiples of the
# root of that number, and no more than this.
_MOST_ROWS, _MULTIPLES, _MOST_GROUPS = 2000, (0.125, 0.25, 0.5, 1.0, 2.0), 100

# Fewer rows than this for each column say too little of a covariance.
_LEAST_ROWS = 3

# Every so many-th row is held out.
FOLDS = 5


def noise_shape(rows: Floats) -> Floats:
    """(d, d): the shrunk covariance within groups, or the identity where held-out rows prefer it.

    Its scale is such that rows in its units have a mean variance of 1.

    Parameters
    ----------
    rows : (n, d) array
        Centred, in units in which equal variances are a sensible target; nothing is missing.
    """
    sample = sample_of(rows)
    d = rows.shape[1]
    if d < 2 or len(sample) < _LEAST_ROWS * d:
        return _in_scale(np.eye(d), sample)
    return _in_scale(_most_probable_shape(sample), sample)


def _most_probable_shape(rows: Floats) -> Floats:
    """The shape, or the identity, with which rows that are held out have the highest density.

    The density is that of a mixture of groups of the other rows, all with one covariance. Groups
    are made by k-means with plain distances, and again in units of the covariance that was found.
    How many groups there are is decided by the density with the covariance as it is; whether the
    shape is used, by the density with the covariance shrunk.
    """
    train, test = split_rows(rows)
    equal, groups, plain = np.eye(rows.shape[1]), [], []
    for k in numbers_of_groups(len(rows)):
        first = grouped(train, k, equal)
        groups += [first, grouped(train, k, _mixed(_within(train, first), _SHARE))]
        plain.append(_log_density(train, test, first, equal))
    shapes = [_within(train, group) for group in groups]
    pairs = list(zip(groups, shapes, strict=True))
    found = [_log_density(train, test, group, _mixed(shape, _RIDGE)) for group, shape in pairs]
    group, shape = pairs[int(np.argmax(found))]
    shape = _mixed(shape, _SHARE)
    return shape if _log_density(train, test, group, shape) > max(plain) else equal


def sample_of(rows: Floats) -> Floats:
    """(m, d): rows that stand for all."""
    return rows[:: -(-len(rows) // _MOST_ROWS)]


def split_rows(rows: Floats, fold: int = FOLDS - 1) -> tuple[Floats, Floats]:
    """(rows that make groups, rows that are held out): those of one fold."""
    held = np.arange(len(rows)) % FOLDS == fold
    return rows[~held], rows[held]


def numbers_of_groups(n: int) -> list[int]:
    """What is tried, each once."""
    tried = [min(max(int(share * np.sqrt(n)), 2), _MOST_GROUPS) for share in _MULTIPLES]
    return sorted(set(tried))


def grouped(rows: Floats, k: int, shape: Floats) -> NDArray[np.int64]:
    """(n,) groups by k-means in units of a shape, numbered from 0; none is empty."""
    own = turned(rows, shape)
    centres = kmeans_centres(own, k, np.random.default_rng(0))
    return np.unique(nearest(own, centres), return_inverse=True)[1].reshape(-1)


def _within(rows: Floats, group: NDArray[np.int64]) -> Floats:
    """(d, d): the covariance of rows around the means of their groups."""
    k = int(group.max()) + 1
    residuals = rows - group_means(rows, group, k)[group]
    return residuals.T @ residuals / max(len(rows) - k, 1)


def _mixed(covariance: Floats, share: float) -> Floats:
    """(1 - share) covariance + share times equal variances, in units of the mean variance."""
    mean = np.trace(covariance) / len(covariance)
    if mean <= 0:  # every row is the mean of its group
        return np.eye(len(covariance))
    return (1 - share) * covariance / mean + share * np.eye(len(covariance))


def _in_scale(shape: Floats, rows: Floats) -> Floats:
    """The shape times the mean variance of rows in its units."""
    own = turned(rows, shape)
    mean = float(np.einsum("nd,nd->", own, own)) / own.size
    return shape * (mean if mean > 0 else 1.0)


def turned(rows: Floats, shape: Floats) -> Floats:
    """Rows in units of a shape."""
    return over_triangle(rows, np.linalg.cholesky(shape), transposed=True)


def _log_density(train: Floats, test: Floats, group: NDArray[np.int64], shape: Floats) -> float:
    """Mean of log sum_k n_k / n N(x; mean_k, s shape) over `test`; s is the variance in `train`."""
    k, root = int(group.max()) + 1, np.linalg.cholesky(shape)
    train, test = turned(train, shape), turned(test, shape)
    means = group_means(train, group, k)
    residuals = train - means[group]
    freedom = max(len(train) - k, 1) * train.shape[1]
    s = max(float(np.einsum("nd,nd->", residuals, residuals)) / freedom, 1e-300)
    squares = (test**2).sum(axis=1)[:, None] - 2 * test @ means.T + (means**2).sum(axis=1)
    log_f = np.log(np.bincount(group) / len(train)) - 0.5 * np.maximum(squares, 0.0) / s
    top = log_f.max(axis=1)
    log_sum = top + np.log(np.exp(log_f - top[:, None]).sum(axis=1))
    log_det = np.log(np.diag(root)).sum()
    return float(log_sum.mean() - log_det - 0.5 * train.shape[1] * np.log(2 * np.pi * s))
