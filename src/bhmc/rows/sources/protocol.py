"""What a table must offer whose rows are read in blocks."""

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray


@runtime_checkable
class Source(Protocol):
    """Rows of numbers that are read when they are needed; several threads may read at once."""

    shape: tuple[int, int]
    """(rows, columns)."""
    names: Sequence[str] | None
    """Names of the columns, where they have some."""

    def read(self, rows: slice) -> NDArray[np.float64]:
        """(m, d) a run of rows; not to be written to.

        Parameters
        ----------
        rows : slice
            Which rows, from `start` to before `stop`.
        """
        ...

    def take(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """(m, d) some rows.

        Parameters
        ----------
        rows : (m,) array
            Their numbers, in increasing order.
        """
        ...

    def describe(self) -> str:
        """What the table is, for messages: "rows.parquet (1,000,000 rows, 16 columns)"."""
        ...


def is_source(X: Any) -> bool:
    """Whether X is such a table."""
    return isinstance(X, Source)
