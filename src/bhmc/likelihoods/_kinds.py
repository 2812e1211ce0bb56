"""Whether the columns of a table are of one kind: pixels, ratings, weights of words, rotations.

Where columns are of one kind, in one unit, distances between rows mean something as they are, and
columns that hardly vary should count little: blank pixels, trailing principal components. Where
they are not, every column has to be judged by its own variance. Each sign here is something that
columns of different kinds would not show.
"""

from collections.abc import Callable

import numpy as np

from bhmc.likelihoods.blocks import Floats, slices

# Lengths or sums of rows that were made equal differ by rounding only.
_ROUNDING = 1e-6

# Independent columns have correlations of 1 / sqrt(n); columns that were made orthogonal, none. A
# root mean square below this share of the former counts as none.
_SHARE_OF_CHANCE = 0.2

# Fewer columns may be nearly uncorrelated by chance: they must be orthogonal but for rounding.
_FEW_COLUMNS = 10

# More columns than this are not checked for it.
_MOST_COLUMNS = 2000


def of_one_kind(X: Floats) -> bool:
    """Whether rows have equal lengths or sums, columns one range, or columns are orthogonal.

    X must hold all rows.
    """
    low, high = np.fmin.reduce(X, axis=0), np.fmax.reduce(X, axis=0)
    varies = high > low
    if varies.sum() < 2 or len(X) < 3:
        return False
    if _one_range(low[varies], high[varies]):
        return True
    largest = max(np.abs(X[rows]).max() for rows in slices(len(X)))
    if np.isnan(largest) or largest == 0:  # of rows with holes, neither sums nor products are known
        return False
    return _rows_are_equal(X, largest) or _columns_are_orthogonal(X, largest)


def _one_range(low: Floats, high: Floats) -> bool:
    """Whether most columns begin at one number and end at one number, as pixels and ratings do."""
    most = np.mean(low == low.min()) > 0.5 and np.mean(high == high.max()) > 0.5
    return bool(most) and len(low) > 2  # two columns may have one range by chance


def _rows_are_equal(X: Floats, largest: float) -> bool:
    """Whether all rows have one length, or one sum other than 0."""
    return any(_equal(measure, X, largest) for measure in (_lengths, _sums))


def _equal(measure: Callable[[Floats], Floats], X: Floats, largest: float) -> bool:
    """Whether a measure of rows is the same for all, and not 0."""
    first = measure(X[:1] / largest)[0]
    return first != 0 and all(
        bool((np.abs(measure(X[rows] / largest) - first) <= _ROUNDING * abs(first)).all())
        for rows in slices(len(X))
    )


def _lengths(rows: Floats) -> Floats:
    return np.sqrt(np.einsum("nd,nd->n", rows, rows))


def _sums(rows: Floats) -> Floats:
    return rows.sum(axis=1)


def _columns_are_orthogonal(X: Floats, largest: float) -> bool:
    """Whether columns, centred or as they are, are orthogonal: principal components, an SVD."""
    n, d = X.shape
    if d > _MOST_COLUMNS or d >= n:
        return False
    allowed = _ROUNDING if d < _FEW_COLUMNS else _SHARE_OF_CHANCE / np.sqrt(n)
    products, sums = np.zeros((d, d)), np.zeros(d)
    for part in (X[rows] / largest for rows in slices(n)):
        products += part.T @ part
        sums += part.sum(axis=0)
    for matrix in (products, products - np.outer(sums, sums) / n):
        lengths = np.sqrt(np.maximum(np.diag(matrix), 0.0))
        if not (lengths > _ROUNDING).all():
            return False
        cosines = matrix / lengths / lengths[:, None]
        mean_square = ((cosines**2).sum() - d) / (d * (d - 1))
        if mean_square <= allowed**2:
            return True
    return False
