"""Whether chains from different starts agree on the tree, without block moves and with them.

    python -m studies.moves [repeats]

Eight separated groups, 80 rows, two columns, trees of two levels. Four chains: two from a single
path, two from a tree of the prior. For every set of moves: R-hat of the number of leaves, of the
children of the root and of the log joint over sweeps 101 to 200 (median and largest over the
repeats, each with data of its own), and CPU milliseconds a sweep.
"""

import sys
import time

import numpy as np
from benchmarks.chains import chain_of, start_state

from bhmc._compiled.blas_threads import one_blas_thread
from bhmc.likelihoods import Gaussian
from bhmc.model.state import Hyper
from bhmc.posterior.rhat_ess import rhat

HYPER = Hyper(alpha=0.4, gamma0=1.0, gamma=0.5)
LIKELIHOOD = Gaussian(sigma2=0.1, mu0=0.0, sigma0=4.0)
SETS = {
    "none": (),
    "relocate": ("relocate",),
    "regraft": ("regraft",),
    "relocate, regraft": ("relocate", "regraft"),
    "all": "auto",
}
STARTS = ("single", "single", "prior", "prior")
N_GROUPS, N_LEVELS = 8, 2
SWEEPS, LATE = 200, 100


def groups(rng) -> np.ndarray:
    """80 rows in eight groups, each ten noise widths or more from the others."""
    angles = 2 * np.pi * np.arange(N_GROUPS) / N_GROUPS
    centres = 6.0 * np.column_stack([np.cos(angles), np.sin(angles)])
    return np.repeat(centres, 10, axis=0) + np.sqrt(0.1) * rng.normal(size=(80, 2))


def numbers(chain) -> tuple[float, ...]:
    """Leaves, children of the root, log joint."""
    levels = chain.sizes().levels
    log_joint = chain.log_likelihood() + chain.log_prior()
    return (levels == N_LEVELS).sum(), (levels == 1).sum(), log_joint


def draws_of(family, moves, start, rng) -> tuple[np.ndarray, float]:
    """(late sweeps, numbers) of one chain, and CPU seconds a sweep."""
    state = start_state(family, n_levels=N_LEVELS, hyper=HYPER, rng=rng, init=start)
    chain = chain_of(state, family, "gibbs", rng, moves=moves)
    seconds, drawn = 0.0, []
    for _ in range(SWEEPS):
        before = time.process_time()
        chain.sweep()
        seconds += time.process_time() - before
        drawn.append(numbers(chain))
    return np.array(drawn[LATE:]), seconds / SWEEPS


def repeat(moves, seed: int) -> tuple[np.ndarray, float]:
    """R-hat of every number over four chains, and CPU seconds a sweep."""
    rng = np.random.default_rng([seed, 7])
    family = LIKELIHOOD.prepare(groups(rng))
    made = [draws_of(family, moves, start, rng) for start in STARTS]
    return rhat(np.array([drawn for drawn, _ in made])), np.mean([time for _, time in made])


def main(repeats: int = 10) -> None:
    """Print a line a set of moves."""
    print(f"{'moves':20} {'leaves':>12} {'children':>12} {'log joint':>12} {'ms a sweep':>11}")
    with one_blas_thread():
        for name, moves in SETS.items():
            repeat(moves, 0)  # compiles
            made = [repeat(moves, seed) for seed in range(repeats)]
            values = np.array([r for r, _ in made])
            columns = zip(np.median(values, axis=0), values.max(axis=0), strict=True)
            shown = "".join(f"  {median:.3f} {most:.2f}" for median, most in columns)
            print(f"{name:20}{shown} {1e3 * np.mean([t for _, t in made]):11.3f}", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
