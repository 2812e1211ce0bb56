"""Rows of components that were gathered lately: proposals of one sweep ask for the same again."""

from collections import OrderedDict
from collections.abc import Sequence

import numpy as np

from bhmc.rows.part import Found

# Numbers of all rows that are kept: 64 MB of them.
_MOST_NUMBERS = 2**23


class GatheredLately:
    """Rows of components, as long as no row of them moves; those asked for last are kept longest.

    A proposal that is refused leaves all rows where they are, and most are refused. So where rows
    are with others, few of them travel more than once a sweep.
    """

    def __init__(self):
        self._kept: OrderedDict[int, Found] = OrderedDict()

    def forget(self) -> None:
        """Rows have moved."""
        self._kept.clear()

    def missing(self, columns: Sequence[int]) -> list[int]:
        """Those of some components whose rows are not here.

        Parameters
        ----------
        columns : sequence of int
            The components.
        """
        return [k for k in columns if k not in self._kept]

    def add(self, columns: Sequence[int], found: Found) -> None:
        """Keep rows of components.

        Parameters
        ----------
        columns : sequence of int
            The components.
        found : Found
            All their rows.
        """
        for k in columns:
            own = np.flatnonzero(found.component == k)
            self._kept[k] = Found(found.rows[own], found.component[own], found.X[own])

    def of(self, columns: Sequence[int]) -> Found:
        """All rows of some components, in order, which are all here; others may go.

        Parameters
        ----------
        columns : sequence of int
            The components.
        """
        for k in columns:
            self._kept.move_to_end(k)
        parts = [self._kept[k] for k in columns]
        self._drop_oldest(len(columns))
        rows, component, X = (np.concatenate(own) for own in zip(*parts, strict=True))
        order = np.argsort(rows)
        return Found(rows[order], component[order], X[order])

    def _drop_oldest(self, n_needed: int) -> None:
        size = sum(found.X.size for found in self._kept.values())
        while size > _MOST_NUMBERS and len(self._kept) > n_needed:
            size -= self._kept.popitem(last=False)[1].X.size
