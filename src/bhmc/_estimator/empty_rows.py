"""Rows without any entry: nothing is known of them, so their answer is NaN, or -1 for a node."""

import warnings

import numpy as np
from numpy.typing import NDArray

# The answer where a whole number is asked for: no node and no component has this number.
NOWHERE = -1


class EmptyRowsWarning(UserWarning):
    """Rows have no entry that says where they belong."""


def warn_of_empty(empty: NDArray[np.bool_], stacklevel: int = 2) -> None:
    """Warn of rows without any entry, where there are some.

    Parameters
    ----------
    empty : (n,) array
        Whether a row has no entry.
    stacklevel : int, default=2
        Whose line the warning names: 1 is the caller's, 2 that of the caller's caller.
    """
    rows = np.flatnonzero(empty)
    if len(rows):
        many = f"{len(rows):,} rows of X have no entry, such as row {rows[0]}, and get"
        one = f"row {rows[0]} of X has no entry and gets"
        warnings.warn(
            f"{one if len(rows) == 1 else many} NaN for every number and {NOWHERE} for node and "
            "component: nothing is known of where such a row belongs.",
            EmptyRowsWarning,
            stacklevel=stacklevel + 1,
        )
