"""Families bound to rows by their sufficient statistics; the rows themselves are elsewhere."""

import copy
from typing import Any, TypeVar

from bhmc.likelihoods.blocks import Floats

FamilyOfRows = TypeVar("FamilyOfRows", bound=Any)


def with_kept(family: FamilyOfRows, t: Floats) -> FamilyOfRows:
    """A copy of a family whose only rows have these statistics.

    Parameters
    ----------
    family : Family
        It keeps statistics in `_kept`, or makes them from `_X`.
    t : (m, s) array
        Not to be written to.
    """
    other = copy.copy(family)
    other.n_rows, other._X, other._kept = len(t), None, t
    return other
