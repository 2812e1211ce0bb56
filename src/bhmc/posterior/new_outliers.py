"""How unusual rows are that were not in the fit: 1 minus a posterior predictive tail probability.

With p(x), the mean over draws of the density of a row not seen, the score of x is
P(p(new row) > p(x)), where the new row is simulated from the draws: a draw at random, a component
by its weights (possibly one not seen before), and data of that component. Of a row that comes from
the model the score is uniform, but for ties. `outliers.py` scores rows of the fit, each without
itself.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from bhmc.likelihoods import Likelihood
from bhmc.posterior.draws import Mixture
from bhmc.posterior.predictive import log_density, sample_mixture

Floats = NDArray[np.float64]

# Draws that take part, evenly spaced, and new rows of all of them together.
_MOST_DRAWS, _NEW_ROWS = 20, 500


def new_outlier_scores(
    mixtures: Sequence[Mixture], likelihood: Likelihood, X: Any, seed: np.random.SeedSequence
) -> Floats:
    """(n,) P(p(new row) > p(row)); NaN for a row without any entry.

    A row is compared with 500 new rows that have its missing entries and its length (total of
    counts). They do not depend on the other rows of X.

    Parameters
    ----------
    mixtures : sequence of Mixture
        Such as `Draws.mixtures`, at least one; at most 20 of them, evenly spaced, take part.
    likelihood : Likelihood
        F and H.
    X : (n, d) array or SciPy sparse matrix
        Rows not seen.
    seed : numpy.random.SeedSequence
        Source of the new rows.
    """
    chosen = _evenly(mixtures)
    extents = likelihood.extents(X)
    own, scores = log_density(chosen, likelihood.prepare(X)), np.full(X.shape[0], np.nan)
    for rows in _alike(X, extents):
        new = _simulated(chosen, likelihood, X[rows[:1]], np.random.default_rng(seed))
        others = np.sort(log_density(chosen, likelihood.prepare(new)))
        scores[rows] = 1 - np.searchsorted(others, own[rows], side="right") / len(others)
    return scores


def _evenly(mixtures: Sequence[Mixture]) -> list[Mixture]:
    places = np.linspace(0, len(mixtures) - 1, min(_MOST_DRAWS, len(mixtures)))
    return [mixtures[i] for i in np.unique(places.round().astype(int))]


def _alike(X, extents: Floats) -> list[NDArray[np.int64]]:
    """Numbers of the rows, in groups of the same missing entries and the same extent."""
    filled = np.flatnonzero(extents > 0)
    keys = extents[filled, None]
    if not sparse.issparse(X):
        keys = np.column_stack([keys, np.packbits(np.isnan(X[filled]), axis=1)])
    _, group = np.unique(keys, axis=0, return_inverse=True)
    order = np.argsort(group.ravel(), kind="stable")
    return [part for part in np.split(filled[order], np.cumsum(np.bincount(group.ravel()))[:-1])]


def _simulated(
    mixtures: Sequence[Mixture], likelihood: Likelihood, like, rng: np.random.Generator
) -> Floats:
    """New rows, as many of each mixture, with the missing entries and the length of one row."""
    each = -(-_NEW_ROWS // len(mixtures))
    likes = like[np.zeros(each, dtype=int)]
    new = np.concatenate(
        [
            sample_mixture(
                mixture,
                likelihood,
                likelihood.at(mixture.shared).with_extents(likes),
                likes.shape,
                rng,
            )
            for mixture in mixtures
        ]
    )
    if not sparse.issparse(like):
        new[:, np.isnan(like[0])] = np.nan
    return new
