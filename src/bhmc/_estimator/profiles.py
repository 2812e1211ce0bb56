"""What components look like in the columns of the data: means, in blocks of rows."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from bhmc._validation.frames import Columns
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
