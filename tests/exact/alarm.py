"""One failure rate for the whole suite of statistical checks.

Every check compares a statistic with its exact law and fails beyond |z| = 4, or below the tail
probability of that z (6e-5). Seeds are written down; BHMC_SOAK_SEED=k shifts every one of them, for
soak runs. `make exact` prints how many checks it made.
"""

import os

import numpy as np
from scipy import stats

Z_LIMIT = 4.0
P_LIMIT = 2 * stats.norm.sf(Z_LIMIT)
N_BATCHES = 100
# The same tail where the whole standard error comes from batches: Student's t with 99 degrees.
T_LIMIT = stats.t.isf(P_LIMIT / 2, N_BATCHES - 1)


def rng_for(seed: int) -> np.random.Generator:
    """The generator of one check."""
    return np.random.default_rng([seed, int(os.environ.get("BHMC_SOAK_SEED", "0"))])


def z_scores(exact: np.ndarray, chain: np.ndarray, n_batches: int = N_BATCHES) -> np.ndarray:
    """z per column: means of independent rows `exact` against means of correlated rows `chain`.

    The chain's standard error comes from batch means, so correlation within a batch is counted.
    """
    usable = len(chain) // n_batches * n_batches
    batches = chain[:usable].reshape(n_batches, -1, chain.shape[1]).mean(axis=1)
    error = np.sqrt(
        exact.var(axis=0, ddof=1) / len(exact) + batches.var(axis=0, ddof=1) / n_batches
    )
    difference = chain[:usable].mean(axis=0) - exact.mean(axis=0)
    return np.divide(difference, error, out=np.zeros_like(error), where=error > 0)


def chi_square_p(visits: np.ndarray, probabilities: np.ndarray, least: float = 5.0) -> float:
    """P value of independent visit counts against exact probabilities, unvisited states included.

    States expected fewer than `least` times are pooled, rarest first, so the chi-square law holds.
    """
    order = np.argsort(probabilities)
    expected, seen = probabilities[order] * visits.sum(), visits[order]
    pools = np.minimum(np.cumsum(expected) // least, _full_pools(expected, least))
    _, pool = np.unique(pools, return_inverse=True)
    expected, seen = np.bincount(pool, expected), np.bincount(pool, seen)
    statistic = ((seen - expected) ** 2 / expected).sum()
    return float(stats.chi2.sf(statistic, len(expected) - 1))


def _full_pools(expected: np.ndarray, least: float) -> float:
    return expected.sum() // least
