"""Families bound to other rows, or to their sufficient statistics, without a look at them."""

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


def with_unkept(family: FamilyOfRows, X: Floats) -> FamilyOfRows:
    """A copy of a family whose only rows are these; their statistics are made when asked for.

    Parameters
    ----------
    family : Family
        As for `with_kept`.
    X : (m, d) array
        Not to be written to.
    """
    other = copy.copy(family)
    other.n_rows, other._X, other._kept = len(X), X, None
    return other
