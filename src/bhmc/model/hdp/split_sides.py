"""The rows of a cell choose between two of them: the side of each row, and its probability."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from bhmc.likelihoods import ConjugateFamily

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]


class Batch(NamedTuple):
    """Several groups of rows, one after the other; in each are the two that others choose from."""

    t: Floats
    """(rows, s) statistics."""
    starts: Ints
    """(groups,) the first row of each group."""
    owner: Ints
    """(rows,) the group of each row."""
    first: Ints
    """(groups,) where row i is."""
    second: Ints
    """(groups,) where row j is."""
    whole: Floats
    """(groups, s) sums of the group and of all other rows of its component."""
    known: Flags
    """(rows,) whether the side of the row is known."""
    ours: Flags
    """(rows,) whether it is the side of i, where it is known."""


def draw_sides(
    family: ConjugateFamily, batch: Batch, rng: np.random.Generator
) -> tuple[Flags, Floats]:
    """Which rows are on the side of i, and (groups,) the log of the probability q of that.

    First every row is put on the side of i if it has a larger density given i than given j. Then,
    all others being where they were put, it is drawn with weights "rows of the side in the group
    times p(x | all rows of the side)". Rows of the component beyond the group are on the side of i.
    Where sides are known, q is the probability that they would have been drawn.

    Parameters
    ----------
    family : ConjugateFamily
        Whose `log_evidence` has the densities.
    batch : Batch
        The groups.
    rng : numpy.random.Generator
        Where all randomness comes from.
    """
    log_odds = _log_odds(family, batch, _nearer(family, batch))
    sides = rng.random(len(log_odds)) < expit(log_odds)
    sides = np.where(batch.known, batch.ours, sides)
    sides[batch.first], sides[batch.second] = True, False
    log_p = -np.logaddexp(0.0, np.where(sides, -log_odds, log_odds))
    log_p[batch.first] = log_p[batch.second] = 0.0
    return sides, np.add.reduceat(log_p, batch.starts)


def _nearer(family: ConjugateFamily, batch: Batch) -> Flags:
    """Whether rows have a larger density given i than given j."""
    t, owner, n, m = batch.t, batch.owner, len(batch.t), len(batch.starts)
    i, j = t[batch.first], t[batch.second]
    log_m = family.log_evidence(np.vstack([t + i[owner], t + j[owner], i, j]))
    alone = log_m[2 * n :]
    near = log_m[:n] - alone[:m][owner] > log_m[n : 2 * n] - alone[m:][owner]
    near[batch.first], near[batch.second] = True, False
    return near


def _log_odds(family: ConjugateFamily, batch: Batch, near: Flags) -> Floats:
    """log of the odds for the side of i, all other rows being where `near` says."""
    t, owner, starts, n = batch.t, batch.owner, batch.starts, len(near)
    side_j = np.add.reduceat(np.where(near[:, None], 0.0, t), starts, axis=0)
    side_i = batch.whole - side_j
    # A row that is on a side leaves it, and joins it where it is not: one sum a row and side.
    own = np.where(near[:, None], t, -t)
    changed = side_i[owner] - own, side_j[owner] + own
    log_m = family.log_evidence(np.vstack([*changed, side_i, side_j]))
    joins_i = log_m[:n] - log_m[2 * n : -len(starts)][owner]
    joins_j = log_m[n : 2 * n] - log_m[-len(starts) :][owner]
    log_odds = np.where(near, -joins_i - joins_j, joins_i + joins_j)
    n_i = np.add.reduceat(near.astype(np.int64), starts)[owner] - near
    n_j = np.diff(np.append(starts, n))[owner] - 1 - n_i
    # A side without other rows is that of i for i, of j for j: nobody draws those.
    return log_odds + np.log(np.maximum(n_i, 1)) - np.log(np.maximum(n_j, 1))
