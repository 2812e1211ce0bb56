"""Rows of a known hierarchy (`hierarchy_rows`), fitted in one command, and by others beside bhmc.

python -m benchmarks.large_hierarchy 1e6            bhmc, bisecting k-means, a mixture, HDBSCAN
python -m benchmarks.large_hierarchy 1e5 bhmc mixture
"""

import json
import os
import resource
import subprocess
import sys
import time
from typing import Any

from numpy.typing import NDArray
from sklearn.cluster import HDBSCAN, BisectingKMeans
from sklearn.metrics import adjusted_mutual_info_score
from sklearn.mixture import BayesianGaussianMixture

from benchmarks.hierarchy_rows import Hierarchy, hierarchy, nearest, rows_of

# ---- One command: bhmc and others on the same rows ----------------------------------------------

LEVELS = ("groups", "subgroups", "leaves", "Gaussians")
BOUNDS = (0.95, 0.95, 0.85, 0.88)
_ROWS_SCORED, _SECONDS_OF_HDBSCAN = 50_000, 600.0


def best_amis(tree: Hierarchy, component: NDArray, partitions: list[NDArray]) -> list[float]:
    """AMI of the partition that agrees best with each true level; of evenly spaced rows."""
    rows = slice(None, None, max(1, len(component) // _ROWS_SCORED))
    return [
        max(
            adjusted_mutual_info_score(tree.labels[component[rows], level], one[rows])
            for one in partitions
        )
        for level in range(len(LEVELS))
    ]


def fit_bhmc(X: NDArray, n_jobs: int) -> list[NDArray]:
    """The default fit with progress; its own levels and its components."""
    from bhmc import BHMC

    model = BHMC(random_state=0, n_jobs=n_jobs, progress=True).fit(X)
    print(f"{model.n_sweeps_} sweeps of each chain, ended by {model.ended_by_}")
    levels = range(1, model.tree_.n_levels + 1)
    return [*(model.labels_at(level) for level in levels), model.component_labels_]


def fit_bisecting(X: NDArray, n_jobs: int) -> list[NDArray]:
    """Bisecting k-means, told 72 clusters."""
    return [BisectingKMeans(72, random_state=0).fit_predict(X)]


def fit_mixture(X: NDArray, n_jobs: int) -> list[NDArray]:
    """Variational mixture of 72 diagonal Gaussians."""
    mixture = BayesianGaussianMixture(n_components=72, covariance_type="diag", random_state=0)
    return [mixture.fit_predict(X)]


def fit_hdbscan(X: NDArray, n_jobs: int) -> list[NDArray]:
    """HDBSCAN with clusters of at least a thousandth of the rows."""
    smallest = max(5, len(X) // 1000)
    return [HDBSCAN(min_cluster_size=smallest, n_jobs=n_jobs, copy=True).fit_predict(X)]


METHODS = {
    "bhmc": fit_bhmc,
    "bisecting": fit_bisecting,
    "mixture": fit_mixture,
    "hdbscan": fit_hdbscan,
}


def measured(name: str, n: int, n_jobs: int) -> dict[str, Any]:
    """Seconds, CPU, memory and AMIs of one method; run in a process of its own."""
    tree = hierarchy()
    X, component = rows_of(tree, n)
    if name == "bhmc":
        METHODS[name](X[:300], 1)  # compiled before the clock runs
    start, cpu = time.perf_counter(), time.process_time()
    found = METHODS[name](X, n_jobs)
    return {
        "seconds": time.perf_counter() - start,
        "cpu": time.process_time() - cpu,
        "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "data": X.nbytes / 2**20,
        "amis": best_amis(tree, component, found),
    }


def main(arguments: list[str]) -> int:
    """A line for each method; 1 if a bound of bhmc broke."""
    n, names = int(float(arguments[0])), arguments[1:] or list(METHODS)
    tree = hierarchy()
    X, component = rows_of(tree, min(n, 200_000))
    oracle = best_amis(tree, component, list(tree.labels[nearest(tree, X)].T))
    print(f"{n:,} rows; AMI of {', '.join(LEVELS)}")
    print(f"{'the truth itself':<17}" + "/".join(f"{ami:.3f}" for ami in oracle), flush=True)
    is_met = True
    for name in names:
        found = _in_a_process(name, n)
        if found is None:
            print(f"{name:<17}stopped at {_SECONDS_OF_HDBSCAN:.0f} s", flush=True)
            continue
        amis = "/".join(f"{ami:.3f}" for ami in found["amis"])
        print(
            f"{name:<17}{amis}  {found['seconds']:.0f} s, CPU {found['cpu']:.0f} s, peak "
            f"{found['megabytes']:.0f} MB for {found['data']:.0f} MB of data",
            flush=True,
        )
        if name == "bhmc":
            is_met = all(ami >= least for ami, least in zip(found["amis"], BOUNDS, strict=True))
    return int(not is_met)


def _in_a_process(name: str, n: int) -> dict[str, Any] | None:
    """What `measured` returns, from a fresh process; None where HDBSCAN takes too long."""
    given = [sys.executable, "-m", "benchmarks.large_hierarchy", "--one", name, str(n)]
    limit = _SECONDS_OF_HDBSCAN if name == "hdbscan" else None
    try:
        ran = subprocess.run(given, stdout=subprocess.PIPE, text=True, check=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return None
    return json.loads(ran.stdout.splitlines()[-1])


if __name__ == "__main__":
    if sys.argv[1] == "--one":
        print(json.dumps(measured(sys.argv[2], int(sys.argv[3]), os.cpu_count() or 1)))
    else:
        sys.exit(main(sys.argv[1:]))
