"""Degrees of freedom of the noise, chosen before sampling by the density of rows held out.

As the shape of the noise is (_shape.py): rows are grouped by k-means, in units of that shape, and
a mixture of the groups of four fifths of the rows has to foretell the others. Groups have Student's
density around a centre, all with one scale, both found by the EM algorithm in the rows of each
group. Pieces that k-means cuts a Gaussian group into seem to have slight tails: so the noise is
Gaussian, or has shorter tails, unless the rows clearly say otherwise.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from bhmc.likelihoods._shape import (
    FOLDS,
    grouped,
    numbers_of_groups,
    sample_of,
    split_rows,
    turned,
)
from bhmc.likelihoods.blocks import Floats
from bhmc.likelihoods.kmeans import group_means

# What is tried; inf is Gaussian noise.
TRIED = (np.inf, 30.0, 10.0, 5.0, 3.0)

# So many rows are held out, all of them where there are no more, fold after fold.
_LEAST_HELD = 400

# Rounds of the EM algorithm.
_ROUNDS = 15


def noise_degrees(rows: Floats, shape: Floats) -> float:
    """The largest degrees of freedom with which rows held out have the highest density, or one
    that is lower by no more than a standard error of the mean of the rows' differences.

    Parameters
    ----------
    rows : (n, d) array
        Centred; nothing is missing.
    shape : (d, d) array
        Of the noise.
    """
    sample = turned(sample_of(rows), shape)
    if len(sample) < FOLDS or not sample.any():
        return np.inf
    n_folds = min(-(-_LEAST_HELD * FOLDS // len(sample)), FOLDS)
    folds = range(FOLDS - n_folds, FOLDS)
    found = np.concatenate([_densities(*split_rows(sample, fold)) for fold in folds], axis=2)
    best = found[found.sum(axis=2).argmax(axis=0), np.arange(len(TRIED))]
    loss = best[best.sum(axis=1).argmax()] - best
    error = loss.std(axis=1) / np.sqrt(loss.shape[1])
    return TRIED[int(np.argmax(loss.mean(axis=1) <= error))]


def _densities(train: Floats, test: Floats) -> Floats:
    """(numbers of groups, degrees, m): log densities of the rows held out."""
    equal, sizes = np.eye(train.shape[1]), numbers_of_groups(len(train) + len(test))
    groups = [grouped(train, k, equal) for k in sizes]
    return np.array([[log_density(train, test, group, nu) for nu in TRIED] for group in groups])


def log_density(train: Floats, test: Floats, group: NDArray[np.int64], nu: float) -> Floats:
    """(m,): log sum_k n_k / n t(x; centre_k, s, nu) of the rows of `test`.

    Parameters
    ----------
    train, test : (n, d) and (m, d) arrays
        Rows.
    group : (n,) array
        Groups of the rows of `train`, from 0; none is empty.
    nu : float
        Degrees of freedom.
    """
    d, (centres, s) = train.shape[1], _fitted(train, group, nu)
    squares = (test**2).sum(axis=1)[:, None] - 2 * test @ centres.T + (centres**2).sum(axis=1)
    log_f = np.log(np.bincount(group) / len(train)) + _log_f(np.maximum(squares, 0.0) / s, d, nu)
    top = log_f.max(axis=1)
    log_sum = top + np.log(np.exp(log_f - top[:, None]).sum(axis=1))
    return log_sum - 0.5 * d * np.log(s)


def _fitted(rows: Floats, group: NDArray[np.int64], nu: float) -> tuple[Floats, float]:
    """(centres, s): of Student's density in every group, with one scale s.

    s counts as many rows as are left when every group has taken its centre.
    """
    k, d = int(group.max()) + 1, rows.shape[1]
    w, freedom = np.ones(len(rows)), max(len(rows) - k, 1) * d
    centres, s = group_means(rows, group, k), 1.0
    for i in range(_ROUNDS):
        if i:
            total = np.bincount(group, w, minlength=k)[:, None]
            centres = np.apply_along_axis(lambda x: np.bincount(group, x, k), 0, w[:, None] * rows)
            centres /= total
        away = rows - centres[group]
        squares = np.einsum("nd,nd->n", away, away)
        s = max(float(w @ squares) / freedom, 1e-300)
        if nu == np.inf:
            break
        w = (nu + d) / (nu + squares / s)
    return centres, s


def _log_f(squares: Floats, d: int, nu: float) -> Floats:
    """Student's log density at these squared distances in units of its scale; or the Gaussian's."""
    if nu == np.inf:
        return -0.5 * (squares + d * np.log(2 * np.pi))
    constant = gammaln((nu + d) / 2) - gammaln(nu / 2) - 0.5 * d * np.log(nu * np.pi)
    return constant - 0.5 * (nu + d) * np.log1p(squares / nu)
