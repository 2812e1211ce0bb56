"""What the sampler "blocked" chooses without looking at the state: anchors, and a random few rows.

Anchors stay where they are while all other rows redraw at once, so that nothing on the menu loses
its last row. The few are then redrawn one by one: so nodes and components begin and end.
"""

import math

import numpy as np

# A twentieth of the rows are anchors; of a small table so many, but two fifths of it at most.
_ANCHOR_RATE, _LEAST_ANCHORS, _MOST_ANCHORS = 0.05, 20, 0.4

# A hundredth of the rows are redrawn one by one; of a small table so many, but a third of it at
# most. Of a very large one it is the number of rows that counts, not their share.
_SHARE, _LEAST, _MOST_SHARE, _MOST = 0.01, 100, 1 / 3, 2**14

# The few are runs of rows that follow one another: so many runs at least, none longer than this.
_LEAST_RUNS, _LONGEST_RUN = 8, 256


def anchor_rate(n: int) -> float:
    """The probability with which each of n rows is an anchor."""
    return max(_ANCHOR_RATE, min(_MOST_ANCHORS, _LEAST_ANCHORS / n))


def few_runs(n: int, rng: np.random.Generator, longest: int) -> list[slice]:
    """Runs of rows that are redrawn one by one, in order.

    Parameters
    ----------
    n : int
        Number of all rows.
    rng : numpy.random.Generator
        Where all randomness comes from.
    longest : int
        No run has more rows.
    """
    wanted = min(max(_SHARE * n, min(_LEAST, _MOST_SHARE * n)), _MOST)
    length = max(1, min(int(wanted) // _LEAST_RUNS, _LONGEST_RUN, longest))
    n_all = math.ceil(n / length)
    chosen = rng.choice(n_all, size=min(math.ceil(wanted / length), n_all), replace=False)
    firsts = (length * np.sort(chosen)).tolist()
    return [slice(first, min(first + length, n)) for first in firsts]
