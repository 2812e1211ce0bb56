"""Rows of an array whose parts are as good to read as the whole: a memory-mapped file."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray


class ArraySource:
    """Rows of an array of numbers, usually memory-mapped.

    Parameters
    ----------
    X : (n, d) array
        The rows.
    said : str, optional
        What the array is, for messages.
    """

    names: Sequence[str] | None = None

    def __init__(self, X: Any, said: str | None = None):
        self.shape = int(X.shape[0]), int(X.shape[1])
        file = getattr(X, "filename", None)
        self._said = said or (Path(file).name if file else "an array")
        self._X = np.asarray(X)  # parts of a memory map are slow to make, those of an array are not

    def read(self, rows: slice) -> NDArray[np.float64]:
        """(m, d) a run of rows, not copied where they are float64 row by row already.

        Parameters
        ----------
        rows : slice
            Which rows.
        """
        return np.ascontiguousarray(self._X[rows], dtype=np.float64)

    def take(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """(m, d) some rows.

        Parameters
        ----------
        rows : (m,) array
            Their numbers, in increasing order.
        """
        return np.ascontiguousarray(self._X[rows], dtype=np.float64)

    def describe(self) -> str:
        """The name of the file, where there is one."""
        return f"{self._said} ({self.shape[0]:,} rows, {self.shape[1]:,} columns)"
