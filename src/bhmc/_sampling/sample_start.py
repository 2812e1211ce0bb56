"""A start for very many rows: a chain of a sample of them, at whose components all rows are placed.

Afterwards a chain is exact on all rows; the sample only says where it begins.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bhmc._sampling.settled_start import settled
from bhmc._sampling.start import start_state
from bhmc.likelihoods import ConjugateFamily
from bhmc.rows.local import LocalRows

# Rows of the first sample; a sample with fewer rows for each component than this is followed by one
# of twice as many, up to a half of all rows.
_FIRST_SAMPLE, _ROWS_A_COMPONENT = 10_000, 100

# Sweeps before the tree is planted anew, and after that.
_SETTLING, _SWEEPS = 40, 60


def chain_from_sample(
    transition: Any,
    rows: Any,
    of_rows: Callable[[NDArray[np.int64]], ConjugateFamily],
    *,
    n_levels: int,
    rng: np.random.Generator,
) -> Any:
    """A chain of all rows, each placed by its probabilities under a chain of a sample.

    Parameters
    ----------
    transition : Transition
        Bound to its concentrations or their priors.
    rows : Rows
        All rows.
    of_rows : callable
        Binds the family to some rows, whose numbers it gets.
    n_levels : int
        Steps from the root to a leaf.
    rng : numpy.random.Generator
        Where all randomness comes from.
    """
    n, size = rows.n_rows, min(_FIRST_SAMPLE, rows.n_rows)
    while True:
        chosen = np.sort(rng.choice(n, size, replace=False))
        chain = _sample_chain(transition, LocalRows(of_rows(chosen)), n_levels, rng)
        if size >= min(_ROWS_A_COMPONENT * chain.n_components, n // 2):
            break
        size = min(2 * size, max(n // 2, size + 1))
    return chain.continued(rows, transition)


def _sample_chain(transition: Any, sample: LocalRows, n_levels: int, rng) -> Any:
    """A chain of the sample that can place other rows."""
    state = start_state(transition, sample, n_levels=n_levels, rng=rng, init="kmeans")
    chain = transition.sampler(state, sample, "gibbs", rng)
    chain = settled(transition, chain, sample, "gibbs", rng, _SETTLING)
    for _ in range(_SWEEPS):
        chain.sweep()
    return transition.sampler(chain.state(), sample, "blocked", rng)
