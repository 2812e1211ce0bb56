"""How long a sweep of the sampler "blocked" takes, as a function of rows, columns and components.

    python -m benchmarks.scaling_model

Sweeps of many shapes are timed on one thread, and their time is taken apart:

    seconds = N (a + b D + c K + d K D) + e + f D + g K + S (h + i D)

with all numbers at least 0; S = N^(3/4) / K is as the number of rows that splits and merges gather.
The first part runs wherever the rows are, on as many threads as there are; the rest runs where the
chain is. What the model says of sizes that were not measured is marked as such.
"""

import pickle
import sys
import time
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls
from threadpoolctl import threadpool_limits

from bhmc._sampling.start import start_state
from bhmc.likelihoods import SharedGaussian
from bhmc.model.diffused.gathered_splits import MOST_NUMBERS
from bhmc.model.diffused.setting import Diffused
from bhmc.model.state import Hyper
from bhmc.rows.local import LocalRows

# Rows, columns, Gaussians. Products with more rows than these hardly fit beside other work.
SHAPES = [
    (n, d, k)
    for n in (25_000, 100_000, 400_000)
    for d in (4, 16, 64)
    for k in (10, 50, 150)
    if n * d <= 10_000_000
]
_WARM, _TIMED, _N_LEVELS = 2, 30, 3

# Rows, columns, components, machines, threads of each: none of it was measured here.
BEYOND = [
    (10**7, 16, 72, 1, 8),
    (10**8, 8, 72, 1, 8),
    (10**8, 16, 72, 10, 8),
    (10**9, 16, 72, 100, 8),
    (10**9, 16, 1000, 100, 8),
]


class Timed(NamedTuple):
    """A sweep of some shape."""

    n: int
    d: int
    k: float
    """Components on average."""
    nodes: float
    seconds: float
    menu: int
    """Bytes of the menu that goes out."""


def timed(n: int, d: int, k: int) -> Timed:
    """CPU seconds of a sweep on one thread, with births, moves, weights and variances.

    Parameters
    ----------
    n, d, k : int
        Rows, columns and Gaussians.
    """
    rng = np.random.default_rng(0)
    means, label = 4.0 * rng.standard_normal((k, d)), rng.integers(k, size=n)
    X = means[label] + rng.standard_normal((n, d))
    family = SharedGaussian.scaled_to(X, covariance="full").prepare(X)
    rows, transition = LocalRows(family), Diffused().bind(Hyper(0.5, 1.0, 1.0))
    state = start_state(transition, rows, n_levels=_N_LEVELS, rng=rng, init=label[:, None])
    chain = transition.sampler(state, rows, "blocked", rng)
    for _ in range(_WARM):
        chain.sweep()
    found, start = [], time.process_time()
    for _ in range(_TIMED):
        chain.sweep()
        found.append((chain.n_components, chain.n_nodes))
    seconds = (time.process_time() - start) / _TIMED
    components, nodes = np.mean(found, axis=0)
    menu = chain.menu(np.arange(int(found[-1][0])), 0.05)
    return Timed(n, d, float(components), float(nodes), seconds, len(pickle.dumps(menu)))


def parts(n: float, d: float, k: float) -> tuple[NDArray, NDArray]:
    """What is done where the rows are, and where the chain is.

    Parameters
    ----------
    n, d, k : float
        Rows, columns and components.
    """
    gathered = n**0.75 / k if 2 * n / k * d <= MOST_NUMBERS else 0.0
    here = np.array([1.0, d, k, gathered, gathered * d])
    return n * np.array([1.0, d, k, k * d]), here


def model_of(found: list[Timed]) -> NDArray:
    """(9,) the numbers a to i; relative errors are least.

    Parameters
    ----------
    found : list of Timed
        What was measured.
    """
    lines = np.array([np.concatenate(parts(one.n, one.d, one.k)) for one in found])
    seconds = np.array([one.seconds for one in found])
    return nnls(lines / seconds[:, None], np.ones(len(found)))[0]


def seconds_of(model: NDArray, n: float, d: float, k: float, threads: int = 1) -> float:
    """Seconds of a sweep by the model.

    Parameters
    ----------
    model : (9,) array
        What `model_of` gave.
    n, d, k : float
        Rows, columns and components.
    threads : int, default=1
        Of all machines together.
    """
    there, here = parts(n, d, k)
    return float(there @ model[:4] / threads + here @ model[4:])


def main() -> int:
    """The table, the model, and what it says of larger tables; 1 if it is off by half anywhere."""
    found = []
    print("rows, columns, components, nodes: seconds of a sweep, by the model; bytes of a menu")
    with threadpool_limits(1):
        timed(1000, 4, 5)  # compiled before the clock runs
        for shape in SHAPES:
            found.append(timed(*shape))
    model, off = model_of(found), []
    for one in found:
        by_model = seconds_of(model, one.n, one.d, one.k)
        off.append(max(by_model / one.seconds, one.seconds / by_model))
        size = f"{one.n:>9,} x {one.d:<3} {one.k:6.1f} {one.nodes:6.1f}"
        print(f"{size}: {one.seconds:8.4f} {by_model:8.4f} s {one.menu:9,} bytes")
    numbers = " ".join(f"{name}={one:.2e}" for name, one in zip("abcdefghi", model, strict=True))
    print(f"{numbers}; off by {np.median(off):.2f} in the median, {max(off):.2f} at most")
    print("not measured, by the model: rows, columns, components, machines x threads: a sweep")
    for n, d, k, machines, threads in BEYOND:
        seconds = seconds_of(model, n, d, k, machines * threads)
        alone = seconds_of(model, 0, d, k)
        print(
            f"{n:>13,} x {d:<3} {k:5} {machines:4} x {threads}: {seconds:7.3f} s, of which "
            f"{alone:.3f} s where the chain is"
        )
    return int(max(off) > 1.5)


if __name__ == "__main__":
    sys.exit(main())
