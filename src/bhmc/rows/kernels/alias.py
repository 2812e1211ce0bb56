"""Alias tables of many components at once: the fast form of `reference.alias_table`."""

import numpy as np
from numpy.typing import NDArray

from bhmc._compiled.decorators import compiled


def alias_tables(weights: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """(accept, alias), each (A, M): entry j of a line, drawn evenly, kept with accept[j], else
    alias[j], has probability proportional to its weight (Walker 1977; Vose 1991).

    Parameters
    ----------
    weights : (A, M) array
        None below 0, and no line all 0.
    """
    m = weights.shape[1]
    accept = np.ascontiguousarray(weights * (m / weights.sum(axis=1, keepdims=True)))
    alias = np.empty(accept.shape, dtype=np.int64)
    fill_tables(accept, alias, np.empty((2, m), dtype=np.int64))
    return accept, alias


@compiled
def fill_tables(accept, alias, stacks):
    """Make alias tables of weights whose mean is 1, line by line, in place.

    Parameters
    ----------
    accept : (A, M) array
        The weights.
    alias : (A, M) array
        Written.
    stacks : (2, M) array
        Room.
    """
    for a in range(accept.shape[0]):
        n_small, n_large = 0, 0
        for j in range(accept.shape[1]):
            alias[a, j] = j
            if accept[a, j] < 1.0:
                stacks[0, n_small] = j
                n_small += 1
            else:
                stacks[1, n_large] = j
                n_large += 1
        while n_small > 0 and n_large > 0:
            n_small -= 1
            j, k = stacks[0, n_small], stacks[1, n_large - 1]
            alias[a, j] = k
            accept[a, k] -= 1.0 - accept[a, j]
            if accept[a, k] < 1.0:
                n_large -= 1
                stacks[0, n_small] = k
                n_small += 1
        for i in range(n_small):  # what rounding has left over
            accept[a, stacks[0, i]] = 1.0
        for i in range(n_large):
            accept[a, stacks[1, i]] = 1.0
