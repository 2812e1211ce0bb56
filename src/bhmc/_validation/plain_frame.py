"""`Frame`: a table of typed columns for installs without pandas, and for arrays."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


class Frame:
    """As much of a frame as bhmc asks of one: named columns, each with a type of its own.

    `bhmc._validation.frames` knows frames by what they offer, so this one gives the same fit as
    a frame of pandas with the same columns.
    """

    def __init__(self, names: Sequence, columns: Sequence[NDArray]):
        self._names, self._columns = list(names), list(columns)

    @property
    def columns(self) -> list:
        """Names of the columns."""
        return self._names

    @property
    def dtypes(self) -> list[np.dtype]:
        """Types of the columns: float64, or object where there is text."""
        return [column.dtype for column in self._columns]

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return (len(self._columns[0]) if self._columns else 0), len(self._columns)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, key: tuple[slice, int]) -> NDArray:
        """`frame[:, j]`, a column by its number, as in polars."""
        return self._columns[key[1]][key[0]]

    def take(self, rows: NDArray, axis: int = 0) -> "Frame":
        """Rows by their numbers, as in pandas."""
        assert axis == 0
        return Frame(self._names, [column[rows] for column in self._columns])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray:
        kind = np.result_type(*self.dtypes) if dtype is None else dtype
        return np.column_stack(self._columns).astype(kind, copy=False)
