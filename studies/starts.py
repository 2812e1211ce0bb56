"""What a chain reaches from every start, by which the default of `init` is judged.

    python -m studies.starts [iris wine cancer digits blobs line zoo]

A fifth of the rows is held out; a chain sees the others. For every table and start: seconds the
start takes; complete-data log likelihood a row, and components, after 0, 10, 50 and 200 sweeps; and
the mean log density of the held-out rows over sweeps 20 to 50 and 100 to 200, with the difference
from the start of the first line (the same rows are held out) and its standard error. All are means
over the seeds. No label is read. Columns that do not vary are left out.
"""

import sys
import time

import numpy as np
from benchmarks.chains import chain_of, start_state
from sklearn import datasets

from bhmc._compiled.blas_threads import one_blas_thread
from bhmc.datasets import load_zoo
from bhmc.likelihoods import resolve
from bhmc.posterior.predictive import log_predictive
from studies.heldout import PRIORS

INITS = ("prior", "single", "singletons", "kmeans", "ward")
AT = (0, 10, 50, 200)
EARLY, LATE, EVERY = range(20, 51), range(100, 201), 5
SEEDS = range(6)

# With more rows, sweeps begun from a component for every row take too long.
MOST_SINGLETONS = 1_000


def blobs() -> np.ndarray:
    """Twenty groups of 30 rows in eight columns, some near each other, none of the same width."""
    rng = np.random.default_rng(0)
    label = np.arange(600) % 20
    width = rng.uniform(0.5, 1.5, (20, 8))
    return 3.0 * rng.normal(size=(20, 8))[label] + width[label] * rng.normal(size=(600, 8))


def line() -> np.ndarray:
    """Three groups of equal width on a line, eight standard deviations apart."""
    rng = np.random.default_rng(0)
    return (8.0 * (np.arange(300) % 3) + rng.normal(size=300))[:, None]


def zoo() -> np.ndarray:
    """Zoo as zeros and ones: a column for every number of legs."""
    X = np.asarray(load_zoo().data, dtype=float)
    columns = [[x] if set(x) <= {0.0, 1.0} else [x == value for value in np.unique(x)] for x in X.T]
    return np.column_stack([np.asarray(part, dtype=float) for each in columns for part in each])


TABLES = {
    "iris": lambda: datasets.load_iris().data,
    "wine": lambda: datasets.load_wine().data,
    "cancer": lambda: datasets.load_breast_cancer().data,
    "digits": lambda: datasets.load_digits().data,
    "blobs": blobs,
    "line": line,
    "zoo": zoo,
}


def trace(X: np.ndarray, init: str, seed: int) -> list[float]:
    """[seconds, log likelihoods at AT, components at AT, held-out density early and late]."""
    rng, hyper = np.random.default_rng(seed), PRIORS["defaults"]
    order, cut = rng.permutation(len(X)), len(X) // 5
    train, test = X[order[cut:]], X[order[:cut]]
    likelihood = resolve("auto", train)
    family, unseen = likelihood.prepare(train), likelihood.prepare(test)
    with one_blas_thread():
        begin = time.process_time()
        state = start_state(family, n_levels=3, hyper=hyper, rng=rng, init=init)
        seconds = time.process_time() - begin
        chain = chain_of(state, family, "gibbs", rng, learning=hyper)
        fits, sizes, early, late = [], [], [], []
        for sweep in range(max(AT) + 1):
            if sweep:
                chain.sweep()
            if sweep in AT:
                fits.append(chain.log_likelihood() / len(train))
                sizes.append(float(len(np.unique(chain.components))))
            for span, densities in ((EARLY, early), (LATE, late)):
                if sweep in span and sweep % EVERY == 0:
                    densities.append(log_predictive(chain.state(), unseen))
    return [seconds, *fits, *sizes, _mean_density(early), _mean_density(late)]


def _mean_density(log_p: list[np.ndarray]) -> float:
    """Mean over rows of the log of the mean density over draws."""
    return float((np.logaddexp.reduce(log_p, axis=0) - np.log(len(log_p))).mean())


def report(table: str, init: str, runs: np.ndarray, first: np.ndarray) -> str:
    """The line of one table and start; `first` are the runs to compare with."""
    mean, gain = runs.mean(axis=0), runs - first
    error = gain.std(axis=0, ddof=1) / np.sqrt(len(runs))
    densities = "".join(
        f"{mean[i]:9.2f} ({gain[:, i].mean():+.2f} +- {error[i]:.2f})" for i in (-2, -1)
    )
    return (
        f"{table:8}{init:11}{mean[0]:6.2f} |"
        + "".join(f"{fit:9.2f}" for fit in mean[1:5])
        + " |"
        + "".join(f"{size:6.1f}" for size in mean[5:9])
        + f" |{densities}"
    )


def main(names: list[str]) -> None:
    """Print a line for every table and start."""
    trace(line(), "kmeans", 0)  # compile first
    print(f"table, init, start s | log likelihood a row at {AT} | components | held out")
    for table in names or list(TABLES):
        X, runs = TABLES[table](), {}
        X = X[:, X.std(axis=0) > 0]
        for init in INITS:
            if init == "singletons" and len(X) > MOST_SINGLETONS:
                continue
            runs[init] = np.array([trace(X, init, seed) for seed in SEEDS])
            print(report(table, init, runs[init], runs[INITS[0]]), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
