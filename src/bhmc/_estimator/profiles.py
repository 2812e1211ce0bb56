"""What components look like in the columns of the data: means, in blocks of rows."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from bhmc._validation.frames import Columns
from bhmc.likelihoods import Likelihood, word_columns
from bhmc.likelihoods.blocks import slices

# Entries of X that are looked at together.
_BLOCK_ENTRIES = 2**17


class Profiles(NamedTuple):
    """Means of the features; a column of text is a feature for each of its categories."""

    names: NDArray | None
    """(features,) their names; None where columns have none."""
    component_means: NDArray[np.float64]
    """(K, features) means over the rows of each component; NaN where it has no entry."""
    means: NDArray[np.float64]
    """(features,) means over all rows."""
    scales: NDArray[np.float64]
    """(features,) standard deviations over all rows; 1 where a feature is constant."""


def profiles(X, components: NDArray, n_components: int, columns: Columns) -> Profiles:
    """Means of the rows of X (NaN left out) by component, and of all rows."""
    sums = counts = squares = 0.0
    centre = _features(X[:1], columns)[0]  # near the data, so that squares keep their digits
    centre = np.where(np.isnan(centre), 0.0, centre)
    for rows in slices(X.shape[0], max(1, _BLOCK_ENTRIES // X.shape[1])):
        values = _features(X[rows], columns) - centre
        seen = ~np.isnan(values)
        values = np.where(seen, values, 0.0)
        height = values.shape[0]
        chosen = sparse.csr_array(
            (np.ones(height), (components[rows], np.arange(height))), (n_components, height)
        )
        sums, counts = sums + chosen @ values, counts + chosen @ seen.astype(float)
        squares = squares + (values**2).sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = np.sum(sums, axis=0) / np.sum(counts, axis=0)
        variances = squares / np.sum(counts, axis=0) - means**2
        component_means = sums / counts + centre
    flat = ~(variances > 1e-12 * means**2)  # of rows less the first: 0 where all are the same
    return Profiles(
        names=_names(columns),
        component_means=component_means,
        means=means + centre,
        scales=np.sqrt(np.where(flat, 1.0, variances)),
    )


def feature_blocks(X, columns: Columns) -> Iterator[NDArray[np.float64]]:
    """The features of all rows, some columns of X at a time, in order."""
    n, d = X.shape
    X, categories = X.tocsc() if sparse.issparse(X) else X, columns.categories or {}
    widths = _widths(columns, d)
    first, most = 0, max(1, 8 * _BLOCK_ENTRIES // n)
    while first < d:
        last = first + 1
        while last < d and sum(widths[first : last + 1]) <= most:
            last += 1
        own = {j - first: labels for j, labels in categories.items() if first <= j < last}
        yield _features(X[:, first:last], Columns(categories=own))
        first = last


def word_features(likelihood: Likelihood, columns: Columns, n_features: int) -> NDArray[np.bool_]:
    """Which features are counts of words: columns of a multinomial family."""
    words = np.isin(np.arange(n_features), word_columns(likelihood, n_features))
    return np.repeat(words, _widths(columns, n_features))


def width(columns: Columns, n_columns: int) -> int:
    """How many features the columns of X become."""
    return sum(_widths(columns, n_columns))


def _widths(columns: Columns, n_columns: int) -> list[int]:
    """How many features each column of X becomes."""
    categories = columns.categories or {}
    return [len(categories[j]) if j in categories else 1 for j in range(n_columns)]


def _features(X, columns: Columns) -> NDArray[np.float64]:
    """Rows as features: 1 or 0 for each category of a column of text, other columns as they are."""
    X = X.toarray() if sparse.issparse(X) else X
    if not columns.categories:
        return X
    parts = []
    for j in range(X.shape[1]):
        column = X[:, j : j + 1]
        if j in columns.categories:
            codes = np.arange(len(columns.categories[j]))
            column = np.where(np.isnan(column), np.nan, column == codes)
        parts.append(column)
    return np.hstack(parts)


def _names(columns: Columns) -> NDArray | None:
    if columns.names is None:
        return None
    names = []
    for j, name in enumerate(columns.names):
        labels = (columns.categories or {}).get(j)
        names += [str(name)] if labels is None else [f"{name}={label}" for label in labels]
    return np.array(names)
