"""Agreement of two flat labelings."""

import warnings

import numpy as np
from numpy.typing import ArrayLike

from bhmc.metrics._pairs import overlaps, two_codes


def purity(truth: ArrayLike, labels: ArrayLike) -> float:
    """Share of data that are in the most common class of their cluster.

    Purity is 1 if no cluster mixes classes, as when every datum is a cluster of its own. Purity
    rises with the number of clusters and does not see classes that are split.

    Parameters
    ----------
    truth : array-like of shape (n,)
        The class of each datum: numbers or text.
    labels : array-like of shape (n,)
        The cluster of each datum.
    """
    table = overlaps(truth, labels)
    commonest = np.zeros(len(table.cluster_sizes), dtype=np.int64)
    np.maximum.at(commonest, table.clusters, table.shared)
    return float(commonest.sum() / table.cluster_sizes.sum())


def nmi(truth: ArrayLike, labels: ArrayLike) -> float:
    """Mutual information over the arithmetic mean of both entropies, scikit-learn's default.

    The score is from 0 to 1 and not corrected for chance: many small random clusters score high.
    (The geometric mean would give a slightly higher score; the paper does not say which it uses.)

    Parameters
    ----------
    truth : array-like of shape (n,)
        The class of each datum: numbers or text.
    labels : array-like of shape (n,)
        The cluster of each datum.
    """
    return _quietly("normalized_mutual_info_score", truth, labels)


def ari(truth: ArrayLike, labels: ArrayLike) -> float:
    """Adjusted Rand index: agreement of pairs, 1 at best and 0 on average by chance.

    Parameters
    ----------
    truth : array-like of shape (n,)
        The class of each datum: numbers or text.
    labels : array-like of shape (n,)
        The cluster of each datum.
    """
    return _quietly("adjusted_rand_score", truth, labels)


def ami(truth: ArrayLike, labels: ArrayLike) -> float:
    """Adjusted mutual information: mutual information corrected for chance, 0 on average by chance.

    Parameters
    ----------
    truth : array-like of shape (n,)
        The class of each datum: numbers or text.
    labels : array-like of shape (n,)
        The cluster of each datum.
    """
    return _quietly("adjusted_mutual_info_score", truth, labels)


def f_measure(truth: ArrayLike, labels: ArrayLike) -> float:
    """The F-measure of Karypis: for every class the best F over clusters, weighted by class size.

    F of class i and cluster j is 2 n_ij / (n_i + n_j), the harmonic mean of precision n_ij / n_j
    and recall n_ij / n_i. `f_measure_tree` takes the best over all nodes of a tree.

    Parameters
    ----------
    truth : array-like of shape (n,)
        The class of each datum: numbers or text.
    labels : array-like of shape (n,)
        The cluster of each datum.
    """
    table = overlaps(truth, labels)
    sizes = table.class_sizes[table.classes] + table.cluster_sizes[table.clusters]
    best = np.zeros(len(table.class_sizes))
    np.maximum.at(best, table.classes, 2 * table.shared / sizes)
    return float(np.average(best, weights=table.class_sizes))


def _quietly(name: str, truth: ArrayLike, labels: ArrayLike) -> float:
    """scikit-learn's score, without its guess that many clusters are a regression target."""
    from sklearn import metrics  # slow to import

    score = getattr(metrics, name)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The number of unique classes", UserWarning)
        return float(score(*two_codes(truth, labels)))
