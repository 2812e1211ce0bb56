"""Rows of a known hierarchy, as many as wanted: 4 groups x 3 subgroups x 3 leaves x 2 Gaussians.

Sibling groups are 9 noise widths apart, subgroups 6, leaves 4, and the two Gaussians of a leaf 4.

    python -m benchmarks.large_hierarchy 1e6            bhmc, bisecting k-means, a mixture, HDBSCAN
    python -m benchmarks.large_hierarchy 1e5 bhmc mixture
"""

import json
import os
import resource
import subprocess
import sys
import time
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import HDBSCAN, BisectingKMeans
from sklearn.metrics import adjusted_mutual_info_score
from sklearn.mixture import BayesianGaussianMixture

BRANCHES, APART = (4, 3, 3, 2), (9.0, 6.0, 4.0, 4.0)
_BLOCK = 2**16


class Hierarchy(NamedTuple):
    """Where rows come from."""

    means: NDArray[np.float64]
    """(72, d) of the Gaussians, whose noise has variance 1."""
    labels: NDArray[np.int64]
    """(72, 4) the group, subgroup, leaf and Gaussian of each."""


def hierarchy(d: int = 16, seed: int = 0) -> Hierarchy:
    """Centres of siblings lie in random directions from their parent's, so far from each other.

    Parameters
    ----------
    d : int, default=16
        Columns.
    seed : int, default=0
        Of the directions.
    """
    rng, means, labels = np.random.default_rng(seed), np.zeros((1, d)), np.zeros((1, 0), dtype=int)
    for width, apart in zip(BRANCHES, APART, strict=True):
        steps = np.concatenate([_siblings(width, d, rng) for _ in means])
        parent = np.repeat(np.arange(len(means)), width)
        means = means[parent] + apart * steps
        labels = np.column_stack([labels[parent], np.arange(len(means))])
    return Hierarchy(means, labels)


def _siblings(width: int, d: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """(width, d) corners of a regular simplex of edge 1 around 0, turned at random."""
    corners = np.eye(width) - 1 / width
    turn = np.linalg.qr(rng.standard_normal((d, width)))[0]
    return corners @ turn.T / np.sqrt(2.0)


def rows_of(tree: Hierarchy, n: int, seed: int = 1) -> tuple[NDArray, NDArray]:
    """(X, number of each row's Gaussian); made in blocks, each with a seed of its own.

    Parameters
    ----------
    tree : Hierarchy
        Where rows come from.
    n : int
        How many.
    seed : int, default=1
        Of the rows.
    """
    X, component = np.empty((n, tree.means.shape[1])), np.empty(n, dtype=np.int32)
    for first in range(0, n, _BLOCK):
        rows = slice(first, min(first + _BLOCK, n))
        X[rows], component[rows] = block_of(tree, first, rows.stop - first, seed)
    return X, component


def block_of(tree: Hierarchy, first: int, n: int, seed: int = 1) -> tuple[NDArray, NDArray]:
    """The rows of one block, which begins at row `first`.

    Parameters
    ----------
    tree : Hierarchy
        Where rows come from.
    first, n : int
        The first row of the block, and how many there are.
    seed : int, default=1
        Of all rows.
    """
    rng = np.random.default_rng([seed, first])
    component = rng.integers(len(tree.means), size=n)
    return tree.means[component] + rng.standard_normal((n, tree.means.shape[1])), component


def nearest(tree: Hierarchy, X: NDArray) -> NDArray[np.int64]:
    """The Gaussian that each row comes from most probably: what the truth itself would guess.

    Parameters
    ----------
    tree : Hierarchy
        Where rows come from.
    X : (n, d) array
        Rows.
    """
    half = 0.5 * (tree.means**2).sum(axis=1)
    found = np.empty(len(X), dtype=np.int64)
    for first in range(0, len(X), _BLOCK):
        rows = slice(first, first + _BLOCK)
        found[rows] = np.argmax(X[rows] @ tree.means.T - half, axis=1)
    return found


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
