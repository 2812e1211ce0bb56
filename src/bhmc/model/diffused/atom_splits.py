"""Atoms split and merge through their rows; theta is integrated out, the leaf's location is known.

Two rows i and j of one leaf are drawn. If they share an atom, its rows choose between i and j, and
the atom may split so; if they do not, their atoms may merge. The draw of i and j looks at leaves
only, so it has the same probability both ways.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from bhmc.model.diffused.forest import Forest
from bhmc.model.hdp.split_sides import Batch, draw_sides

Floats = NDArray[np.float64]

# Proposals in a sweep: the root of the number of rows, and so many at most. It must not depend on
# the atoms: their number changes with each of them.
_MOST = 64


class Evidence:
    """The evidence of rows on an atom at one leaf, as `draw_sides` asks a family for it.

    Parameters
    ----------
    family : Located
        At its shared numbers.
    forest : Forest
        Whose leaf it is.
    leaf : int
        Slot of the leaf.
    """

    def __init__(self, family: Any, forest: Forest, leaf: int):
        self._family = family
        self._at, self._variance = forest.location[leaf], forest.variance[-1]

    def log_evidence(self, sums: Floats) -> Floats:
        """(K,): log p(rows of each group), theta ~ N(m, v) integrated out.

        Parameters
        ----------
        sums : (K, s) array
            Sums of t over the rows of each group.
        """
        return self._family.log_evidence_at(sums, self._at, self._variance)

    def draw_theta(self, sums: Floats, rng: np.random.Generator) -> Floats:
        """(K, D): theta given its rows and N(m, v).

        Parameters
        ----------
        sums : (K, s) array
            Sums of t over the rows of each group.
        rng : numpy.random.Generator
            Where all randomness comes from.
        """
        k = len(sums)
        at, variance = np.tile(self._at, (k, 1)), np.tile(self._variance, (k, 1))
        return self._family.draw_theta_at(sums, at, variance, rng)


def split_and_merge(chain: Any) -> None:
    """Some proposals, one after the other.

    Parameters
    ----------
    chain : DiffusedSampler
        Changed in place.
    """
    chain.tidy(_MOST)
    component = chain.rows.component
    order = _RowsByAtom(component, len(chain.forest.leaf))
    for _ in range(min(math.isqrt(chain.rows.n_rows - 1) + 1, _MOST)):
        _propose(chain, order)
    chain.forget_sums()
    chain.tidy()


class _RowsByAtom:
    """The rows of every atom."""

    def __init__(self, component: NDArray, n_slots: int):
        order = np.argsort(component, kind="stable")
        ends = np.cumsum(np.bincount(component, minlength=n_slots))
        self.of = np.split(order, ends[:-1])


def _propose(chain: Any, order: _RowsByAtom) -> None:
    """Split the atom of two rows, or merge their atoms, with the probability of Metropolis and
    Hastings.
    """
    forest, rng, component = chain.forest, chain.rng, chain.rows.component
    i = int(rng.integers(chain.rows.n_rows))
    first = int(component[i])
    leaf = int(forest.leaf[first])
    j = _another(forest, order, leaf, i, rng)
    if j is None:
        return
    second = int(component[j])
    splits = first == second
    members = order.of[first] if splits else np.concatenate([order.of[first], order.of[second]])
    t = chain.rows.take(members)
    whole = t.sum(axis=0, keepdims=True)
    batch = Batch(
        t=t,
        starts=np.zeros(1, dtype=np.int64),
        owner=np.zeros(len(t), dtype=np.int64),
        first=np.flatnonzero(members == i),
        second=np.flatnonzero(members == j),
        whole=whole,
        known=np.full(len(t), not splits),
        ours=component[members] == first,
    )
    evidence: Any = Evidence(chain.rows.family, forest, leaf)
    sides, log_q = draw_sides(evidence, batch, rng)
    of_i = t[sides].sum(axis=0, keepdims=True)
    sums = np.vstack([of_i, whole - of_i, whole])
    log_ratio = _log_ratio(evidence, sums, sides, chain.rates[1]) - log_q[0]
    if np.log(rng.random()) < (log_ratio if splits else -log_ratio):
        if splits:
            _split(chain, order, evidence, sums, members, sides, first)
        else:
            _merge(chain, order, evidence, sums, members, first, second)


def _log_ratio(evidence: Evidence, sums: Floats, sides: NDArray[np.bool_], g: float) -> float:
    """log p(two atoms) / p(one): g Gamma(n_1) Gamma(n_2) / Gamma(n) times that of the evidence."""
    n, n_1 = len(sides), int(sides.sum())
    log_m = evidence.log_evidence(sums)
    prior = np.log(g) + gammaln(n_1) + gammaln(n - n_1) - gammaln(n)
    return float(log_m[0] + log_m[1] - log_m[2] + prior)


def _another(forest: Forest, order: _RowsByAtom, leaf: int, i: int, rng) -> int | None:
    """Another row of the leaf of row i, each as likely as the others."""
    n = int(forest.rows[leaf])
    if n < 2:
        return None
    while True:
        place = int(rng.integers(n))
        for k in np.flatnonzero(forest.leaf == leaf):
            if place < forest.count[k]:
                if order.of[k][place] != i:
                    return int(order.of[k][place])
                break
            place -= int(forest.count[k])


def _split(chain, order: _RowsByAtom, evidence, sums, members, sides, first: int) -> None:
    """Rows on the side of j become a new atom."""
    forest = chain.forest
    k = int(forest.used[1])  # there is a free slot for every proposal
    forest.used[1] += 1
    forest.leaf[k] = forest.leaf[first]
    forest.count[first], forest.count[k] = sides.sum(), (~sides).sum()
    forest.theta[[first, k]] = evidence.draw_theta(sums[:2], chain.rng)
    order.of[first], order.of[k] = members[sides], members[~sides]
    chain.rows.component[order.of[k]] = k


def _merge(chain, order: _RowsByAtom, evidence, sums, members, first: int, second: int) -> None:
    """All rows of both atoms are those of the first."""
    forest = chain.forest
    forest.count[first] += forest.count[second]
    forest.leaf[second], forest.count[second] = -1, 0
    forest.theta[first] = evidence.draw_theta(sums[2:], chain.rng)[0]
    order.of[first], order.of[second] = members, members[:0]
    chain.rows.component[members] = first
