"""Missing entries: statistics that skip them, and points that show them."""

import numpy as np

from bhmc.likelihoods.blocks import Floats, slices


def has_missing(X: Floats) -> bool:
    """Whether X holds NaN; slice by slice, because X may be large."""
    return any(bool(np.isnan(X[rows]).any()) for rows in slices(len(X)))


def observed_statistics(y: Floats, missing: bool) -> Floats:
    """(y, 1), or (o y, o, 1) where some entries are missing: o is 1 where y is no NaN, else 0."""
    d = y.shape[1]
    t = np.ones((len(y), (2 * d if missing else d) + 1))
    if missing:
        np.logical_not(np.isnan(y), out=t[:, d:-1])
        y = np.where(np.isnan(y), 0.0, y)
    t[:, :d] = y
    t.flags.writeable = False
    return t


def observed_points(t: Floats, d: int, missing: bool) -> Floats:
    """The first d columns of statistics that end with (o, 1) where some entries are missing.

    NaN where o is 0.
    """
    return np.where(t[:, -d - 1 : -1] > 0, t[:, :d], np.nan) if missing else t[:, :d]
