"""The held-out log density of families and priors, by which defaults were chosen.

    python -m studies.heldout [iris wine cancer digits ...]

A fifth of the rows is held out; a chain of 300 sweeps, begun by k-means as in `BHMC`, sees the
others; the predictive density is averaged over its second half. No label is read. Columns that do
not vary are left out. "any width" lets variances be as small as the data make them.
"""

import sys
import time
from dataclasses import replace

import numpy as np
from benchmarks.chains import chain_of, start_state
from sklearn import datasets

from bhmc._compiled.blas_threads import one_blas_thread
from bhmc.likelihoods import AdaptiveGaussian, FreeGaussian, SharedGaussian
from bhmc.model.state import Hyper
from bhmc.posterior.predictive import log_predictive
from bhmc.priors import Gamma

N_SWEEPS, EVERY, SEEDS = 300, 5, (0, 1, 2)

TABLES = {
    "iris": datasets.load_iris,
    "wine": datasets.load_wine,
    "cancer": datasets.load_breast_cancer,
    "digits": datasets.load_digits,
}

FAMILIES = {
    f"{name} {covariance}": (kind, covariance)
    for name, kind in (
        ("shared", SharedGaussian),
        ("free", FreeGaussian),
        ("adaptive", AdaptiveGaussian),
    )
    for covariance in ("diagonal", "spherical")
}

# Families that are no finer than the rows can show.
BOUNDED = [name for name in FAMILIES if not name.startswith("free")]
FAMILIES["shared full"] = (SharedGaussian, "full")

PRIORS = {
    "defaults": Hyper(Gamma(2, 10), Gamma(1, 1), Gamma(2, 10)),
    "alpha Gamma(1, 1)": Hyper(Gamma(1, 1), Gamma(1, 1), Gamma(2, 10)),
    "gamma Gamma(1, 1)": Hyper(Gamma(2, 10), Gamma(1, 1), Gamma(1, 1)),
    "gamma0 Gamma(1, 0.1)": Hyper(Gamma(2, 10), Gamma(1, 0.1), Gamma(2, 10)),
}


def held_out(X: np.ndarray, scaled_to, hyper: Hyper, seed: int) -> tuple[float, float, float]:
    """(mean log density of a fifth of the rows, components, CPU seconds)."""
    rng = np.random.default_rng(seed)
    order, cut = rng.permutation(len(X)), len(X) // 5
    train, test = X[order[cut:]], X[order[:cut]]
    likelihood = scaled_to(train)
    family, unseen = likelihood.prepare(train), likelihood.prepare(test)
    start, log_p, sizes = time.process_time(), [], []
    with one_blas_thread():
        state = start_state(family, n_levels=3, hyper=hyper, rng=rng, init="kmeans")
        chain = chain_of(state, family, "gibbs", rng, learning=hyper)
        for sweep in range(N_SWEEPS):
            chain.sweep()
            if sweep >= N_SWEEPS // 2 and sweep % EVERY == 0:
                log_p.append(log_predictive(chain.state(), unseen))
                sizes.append(chain.n_components)
    average = np.logaddexp.reduce(log_p, axis=0) - np.log(len(log_p))
    return average.mean(), float(np.mean(sizes)), time.process_time() - start


def main(names: list[str]) -> None:
    """Print a line for every table and setting."""
    settings = [(name, kind, PRIORS["defaults"]) for name, kind in FAMILIES.items()]
    settings += [(f"{name}, any width", FAMILIES[name], PRIORS["defaults"]) for name in BOUNDED]
    settings += [
        (f"adaptive diagonal, {name}", FAMILIES["adaptive diagonal"], hyper)
        for name, hyper in PRIORS.items()
        if name != "defaults"
    ]
    for table in names or list(TABLES):
        X = TABLES[table]().data
        X = X[:, X.std(axis=0) > 0]
        for name, (kind, covariance), hyper in settings:

            def scaled_to(train, name=name, kind=kind, covariance=covariance):
                likelihood = kind.scaled_to(train, covariance=covariance)
                return replace(likelihood, least_variance=0.0) if "any" in name else likelihood

            runs = np.array([held_out(X, scaled_to, hyper, seed) for seed in SEEDS])
            log_p, components, seconds = runs.mean(axis=0)
            print(
                f"{table:8} {name:39} {log_p:9.2f} {components:6.1f} {seconds:6.1f} s", flush=True
            )


if __name__ == "__main__":
    main(sys.argv[1:])
