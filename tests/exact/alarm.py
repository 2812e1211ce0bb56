"""One alarm for all statistical checks, with one failure rate for the whole suite.

A check compares a statistic with its exact law and fails beyond |z| = 4.5, or below the tail
probability of that z, 6.8e-6. On fresh seeds the suite may fail by chance one time in ten
(SUITE_RATE), so it may make SUITE_CHECKS checks: pytest counts them, and `make test` fails if there
are more. Seeds are written down; BHMC_SOAK_SEED=k shifts every one of them, for soak runs.
"""

import os

import numpy as np
from scipy import stats

Z_LIMIT = 4.5
P_LIMIT = 2 * stats.norm.sf(Z_LIMIT)
SUITE_RATE = 0.1
SUITE_CHECKS = int(SUITE_RATE / P_LIMIT)

N_BATCHES = 100
# The same tail where the whole standard error comes from batches: Student's t with 99 degrees.
T_LIMIT = stats.t.isf(P_LIMIT / 2, N_BATCHES - 1)

# Means of equal numbers differ by less than this: 40,000 times log 40 is off by 1.4e-12.
_ROUNDING = 1e-10

SOAK_SEED = int(os.environ.get("BHMC_SOAK_SEED", "0"))
checks_made = 0


def over(checks: int) -> bool:
    """Whether so many checks were made that chance fails them more often than SUITE_RATE."""
    return checks > SUITE_CHECKS


def rng_for(seed: int) -> np.random.Generator:
    """The generator of one check."""
    return np.random.default_rng([seed, SOAK_SEED])


def z_of(difference: np.ndarray, error: np.ndarray) -> np.ndarray:
    """difference / error; 0 where nothing can vary and nothing differs, infinite where it does."""
    global checks_made
    checks_made += difference.size
    certain = np.where(np.abs(difference) < _ROUNDING, 0.0, np.copysign(np.inf, difference))
    return np.divide(difference, error, out=certain, where=error > _ROUNDING)


def z_scores(exact: np.ndarray, chain: np.ndarray) -> np.ndarray:
    """z per column: means of independent rows `exact` against means of correlated rows `chain`.

    The chain's standard error comes from batch means, so correlation within a batch is counted.
    """
    usable = len(chain) // N_BATCHES * N_BATCHES
    batches = chain[:usable].reshape(N_BATCHES, -1, chain.shape[1]).mean(axis=1)
    variance = exact.var(axis=0, ddof=1) / len(exact) + batches.var(axis=0, ddof=1) / N_BATCHES
    return z_of(chain[:usable].mean(axis=0) - exact.mean(axis=0), np.sqrt(variance))


def z_of_chain(chain: np.ndarray, mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """z per column: means of correlated rows `chain` against an exact mean and variance of a row.

    Batch means only say how many rows are worth one independent row. The spread of a rare event
    that was seen too seldom would be too small with them.
    """
    usable = len(chain) // N_BATCHES * N_BATCHES
    batches = chain[:usable].reshape(N_BATCHES, -1, chain.shape[1]).mean(axis=1)
    seen = np.maximum(chain[:usable].var(axis=0), 1e-300)
    worth = np.maximum(batches.var(axis=0, ddof=1) * (usable / N_BATCHES) / seen, 1.0)
    return z_of(chain[:usable].mean(axis=0) - mean, np.sqrt(variance * worth / usable))


def chi_square_p(visits: np.ndarray, probabilities: np.ndarray, least: float = 5.0) -> float:
    """P value of independent visit counts against exact probabilities, unvisited states included.

    States are pooled, rarest first, until each pool expects `least` visits: then the chi-square law
    holds.
    """
    global checks_made
    checks_made += 1
    order = np.argsort(probabilities)
    expected, seen, pools = probabilities[order] * visits.sum(), visits[order], [[0.0, 0.0]]
    still_to_come = expected.sum()
    for state_expected, state_seen in zip(expected, seen, strict=True):
        if pools[-1][0] >= least and still_to_come >= least:
            pools.append([0.0, 0.0])
        still_to_come -= state_expected
        pools[-1][0] += state_expected
        pools[-1][1] += state_seen
    expected, seen = np.array(pools).T
    statistic = ((seen - expected) ** 2 / expected).sum()
    return float(stats.chi2.sf(statistic, len(expected) - 1))
