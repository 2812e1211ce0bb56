"""Means and standard deviations of columns. These functions need all rows."""

import numpy as np

from bhmc.likelihoods.blocks import Floats, slices


def column_scales(X: Floats) -> tuple[Floats, Floats]:
    """(d,) means and standard deviations of columns, NaN left out; 1 where a column is constant.

    Centred first, because the variance of large equal numbers would be rounding error.
    """
    parts = slices(len(X))
    observed = np.maximum(np.sum([(~np.isnan(X[rows])).sum(axis=0) for rows in parts], axis=0), 1)
    head = X[parts[0]]
    centre = np.nansum(head, axis=0) / np.maximum((~np.isnan(head)).sum(axis=0), 1)
    shift = np.sum([np.nansum(X[rows] - centre, axis=0) for rows in parts], axis=0) / observed
    centre = centre + shift
    squares = np.sum([np.nansum((X[rows] - centre) ** 2, axis=0) for rows in parts], axis=0)
    constant = squares <= (1e-14 * np.abs(centre)) ** 2 * observed
    return centre, np.sqrt(np.where(constant, 1.0, squares / observed))


def common_deviation(X: Floats) -> float:
    """The root mean square of the standard deviations of the columns that vary; 1 if none does."""
    varies = np.fmax.reduce(X, axis=0) > np.fmin.reduce(X, axis=0)
    deviation = column_scales(X)[1][varies]
    return float(np.sqrt(np.mean(deviation**2))) if len(deviation) else 1.0
