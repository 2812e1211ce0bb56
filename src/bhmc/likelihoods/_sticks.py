"""`Sticks`: probabilities of categories as choices between 1 and 0, one after the other.

Categories of a column stand in the order of their shares, the largest first. The first has the
probability sigmoid(theta_1); the second sigmoid(theta_2) of what is left; and so on. The last has
the rest. The order matters: with normal logits the law of the probabilities is another in another
order.
"""

import numpy as np
from numpy.typing import NDArray

from bhmc.likelihoods.blocks import Floats


class Sticks:
    """The order of categories, and maps between logits, probabilities and counts.

    Parameters
    ----------
    widths : (d,) array
        How many categories each column has.
    shares : (p,) array
        How often each is expected, column after column.
    """

    def __init__(self, widths: NDArray[np.int64], shares: Floats):
        starts = np.cumsum(widths) - widths
        self._columns = [
            start + np.argsort(-shares[start : start + k], kind="stable")
            for start, k in zip(starts, widths, strict=True)
        ]
        self._ends = np.cumsum(widths - 1)
        self.n_logits, self._n_categories = int(self._ends[-1]), len(shares)

    def log_shares(self, log_one: Floats, log_zero: Floats) -> Floats:
        """(K, p): log probabilities of categories, from (K, D) those of a 1 and of a 0."""
        log_p = np.zeros((len(log_one), self._n_categories))
        for order, own in self._pairs():
            log_p[:, order[:-1]] += log_one[:, own]
            log_p[:, order[1:]] += np.cumsum(log_zero[:, own], axis=1)
        return log_p

    def logits(self, log_p: Floats) -> Floats:
        """(K, D): log of the probability of a category, over that of all after it."""
        places = np.empty((len(log_p), self.n_logits))
        for order, own in self._pairs():
            after = np.logaddexp.accumulate(log_p[:, order[:0:-1]], axis=1)[:, ::-1]
            places[:, own] = log_p[:, order[:-1]] - after
        return places

    def counts(self, counts: Floats) -> tuple[Floats, Floats]:
        """(ones, seen), (K, D) each, from counts (K, p) of categories."""
        ones, seen = np.empty((2, len(counts), self.n_logits))
        for order, own in self._pairs():
            ones[:, own] = counts[:, order[:-1]]
            seen[:, own] = np.cumsum(counts[:, order[::-1]], axis=1)[:, :0:-1]
        return ones, seen

    def _pairs(self) -> list[tuple[NDArray[np.int64], slice]]:
        """(categories in their order, places of their logits), column by column."""
        return [
            (order, slice(end - len(order) + 1, end))
            for order, end in zip(self._columns, self._ends, strict=True)
        ]
