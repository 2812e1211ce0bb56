"""Groups merged two at a time, those first that lose least log likelihood."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class Merges(NamedTuple):
    """A binary tree over K groups: nodes 0..K-1 are the groups, later ones merge two before."""

    parents: NDArray[np.int64]
    """(2 K - 1,) the node that each is merged into; -1 for the last, the root."""
    heights: Floats
    """(2 K - 1,) 0 for groups; never less than below."""

    @property
    def members(self) -> NDArray[np.bool_]:
        """(2 K - 1, K) which groups are under each node."""
        n_groups = (len(self.parents) + 1) // 2
        members = np.zeros((len(self.parents), n_groups), dtype=bool)
        members[:n_groups] = np.eye(n_groups, dtype=bool)
        for node, parent in enumerate(self.parents[:-1].tolist()):  # children come first
            members[parent] |= members[node]
        return members


def merge_by_loss(sums: Floats, log_maximum: Callable[[Floats], Floats]) -> Merges:
    """Merge the two groups that lose least, again and again: the height is what they lose.

    The loss of a and b is l(a) + l(b) - l(a + b) in nats, where l is the largest log likelihood
    under one parameter, from sums of sufficient statistics. For Gaussians of one variance sigma2 it
    is Ward's criterion in units of the noise: n_a n_b / (n_a + n_b) |m_a - m_b|^2 / (2 sigma2).

    Parameters
    ----------
    sums : (K, s) array
        Sums of sufficient statistics over the rows of each group.
    log_maximum : function of sums
        l, as `ConjugateFamily.log_maximum`.
    """
    left = _Groups(sums, log_maximum)
    n_groups = len(sums)
    parents = np.full(2 * n_groups - 1, -1, dtype=np.int64)
    heights, node = np.zeros(2 * n_groups - 1), np.arange(n_groups)
    for new in range(n_groups, 2 * n_groups - 1):
        kept, gone, lost = left.nearest_two()
        both = node[[kept, gone]]
        parents[both] = new
        # Ward's criterion never falls on the way up; those of other families may, by a little.
        heights[new] = max(lost, *heights[both])
        node[kept] = new
        left.merge(kept, gone)
    return Merges(parents, heights)


class _Groups:
    """The groups that are left, what each two of them would lose, and the nearest one of each."""

    def __init__(self, sums: Floats, log_maximum: Callable[[Floats], Floats]):
        self._sums, self._log_maximum = sums.copy(), log_maximum
        self._best, self._all = log_maximum(sums), np.arange(len(sums))
        self._is_left = np.ones(len(sums), dtype=bool)
        self._lost = np.full((len(sums), len(sums)), np.inf)
        for one in self._all[:-1]:
            self._compare(one, self._all[one + 1 :])
        self._nearest = self._lost.argmin(axis=1)

    def nearest_two(self) -> tuple[int, int, float]:
        """Two groups, the lower number first, and what they would lose."""
        one = int(self._lost[self._all, self._nearest].argmin())
        other = int(self._nearest[one])
        return min(one, other), max(one, other), float(self._lost[one, other])

    def merge(self, kept: int, gone: int) -> None:
        """Put the second group into the first."""
        self._sums[kept] += self._sums[gone]
        self._best[kept] = self._log_maximum(self._sums[kept][None])[0]
        self._is_left[gone] = False
        self._lost[[kept, gone]] = self._lost[:, [kept, gone]] = np.inf
        self._compare(kept, np.flatnonzero(self._is_left & (self._all != kept)))
        # A group whose nearest is now the union need not know: the union knows.
        stale = (self._nearest == kept) | (self._nearest == gone)
        stale[kept] = True
        self._nearest[stale] = self._lost[stale].argmin(axis=1)

    def _compare(self, one: int, others: NDArray[Any]) -> None:
        """What a group would lose with each of the others."""
        if len(others):
            together = self._log_maximum(self._sums[one] + self._sums[others])
            lost = self._best[one] + self._best[others] - together
            # Below 0 by rounding only; not a number where sums overflow double precision.
            lost = np.nan_to_num(np.maximum(lost, 0.0), posinf=np.finfo(float).max)
            self._lost[one, others] = self._lost[others, one] = lost
