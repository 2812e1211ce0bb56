"""How the time until the hierarchy is found grows with the number of rows.

    python -m benchmarks.time_to_quality              1e4, 1e5 and 1e6 rows, two seeds
    python -m benchmarks.time_to_quality 1e4 3e4

A chain of the default fit stops as soon as groups, subgroups and leaves of
`benchmarks.large_hierarchy` are found in its state: AMI .95, .95 and .85. Its CPU seconds are
those of the fit up to then, the choice of a family and the start included, the scoring left out.
"""

import sys
import time
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.hierarchy_rows import Hierarchy, hierarchy, rows_of
from benchmarks.large_hierarchy import BOUNDS, best_amis
from bhmc import BHMC
from bhmc._estimator.bhmc import fit_listening
from bhmc.model.state import paths_to

_SIZES, _SEEDS, _MOST_EXPONENT = (1e4, 1e5, 1e6), (0, 1), 1.05
_SWEEPS_BETWEEN_LOOKS = 5


class Watch:
    """Listens to a chain until it has found what there is.

    Parameters
    ----------
    tree : Hierarchy
        Where the rows come from.
    component : (n,) array
        The Gaussian of each.
    """

    def __init__(self, tree: Hierarchy, component: NDArray):
        self._tree, self._component = tree, component
        self._start, self._scoring = time.process_time(), 0.0
        self.seconds, self.sweeps = float("nan"), 0
        self.amis: list[float] = []

    def __call__(self, number: int, chain: Any, made: int) -> bool:
        """Whether the chain is asked to stop."""
        if made % _SWEEPS_BETWEEN_LOOKS:
            return False
        now = time.process_time()
        partition = chain.partition()
        leaves = paths_to(partition.leaf, partition.parents, 3)
        own = [leaves[:, level] for level in (1, 2, 3)] + [partition.component]
        self.amis, self.sweeps = best_amis(self._tree, self._component, own), made
        found = all(ami >= least for ami, least in zip(self.amis[:3], BOUNDS[:3], strict=True))
        if found:
            self.seconds = now - self._start - self._scoring
        self._scoring += time.process_time() - now
        return found


class Reached(NamedTuple):
    """When a chain was there."""

    n_rows: int
    seconds: float
    """CPU; NaN: never."""


def reached(n_rows: int, seed: int) -> Reached:
    """CPU seconds until one chain is there, with a line of print.

    Parameters
    ----------
    n_rows : int
        Number of rows.
    seed : int
        Of the rows and of the fit.
    """
    tree = hierarchy()
    X, component = rows_of(tree, n_rows, seed + 1)
    watch = Watch(tree, component)
    with suppress(KeyboardInterrupt):  # stopped before the first draw
        fit_listening(BHMC(random_state=seed, n_chains=1, n_draws=300), X, [watch])
    amis = "/".join(f"{ami:.3f}" for ami in watch.amis)
    print(
        f"{n_rows:>9,} rows, seed {seed}: {watch.seconds:7.1f} s of CPU, {watch.sweeps} sweeps, "
        f"{amis}",
        flush=True,
    )
    return Reached(n_rows, watch.seconds)


def main(arguments: list[str]) -> int:
    """A line for each fit, and the exponent; 1 if it is too large or a chain never was there."""
    sizes = [int(float(one)) for one in arguments or _SIZES]
    X, _ = rows_of(hierarchy(), 2_000)
    BHMC(n_warmup=1, n_draws=1).fit(X)  # compiled before the clock runs
    BHMC(n_warmup=1, n_draws=1, sampler="blocked", init="sample").fit(X)
    found = [reached(n, seed) for n in sizes for seed in _SEEDS]
    logs = np.log([[one.n_rows, one.seconds] for one in found])
    exponent = float(np.polyfit(logs[:, 0], logs[:, 1], 1)[0])
    print(f"time grows as rows to the power {exponent:.2f} (at most {_MOST_EXPONENT})")
    return int(not exponent <= _MOST_EXPONENT)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
