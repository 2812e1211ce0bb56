"""What a long run costs beside its sweeps: recording, densities of rows, families of many columns.

    python -m benchmarks.long_runs [--rows 100000] [--draws 60] [--old SRC]

Every bound is a ratio of CPU seconds measured in one run. --old names the sources of another
checkout (its folder `src`): a default fit of both runs side by side. The CPU of 200 + 300 sweeps of
two chains is worked out from the median sweep, the median draw and all else; all else is measured
with as many draws as summaries use.
"""

import argparse
import json
import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.one_fit import rows_of
from benchmarks.timing import ROOT, Figure, ratio, report, take_turns
from bhmc import BHMC
from bhmc._estimator.sizes import sampler_for
from bhmc.likelihoods import AdaptiveGaussian, Gaussian, SharedGaussian
from bhmc.model.diffused.setting import Diffused
from bhmc.model.hdp.setting import Hdp
from bhmc.model.state import Hyper
from bhmc.posterior.predictive import log_density, mixture_of
from bhmc.posterior.recorder import Recorder
from bhmc.posterior.retention import plan
from bhmc.rows.local import LocalRows

# Bounds: a kept draw beyond its sweep, the density of rows under one draw, the family whose
# variances are learned against the published one, and a default fit against the old one.
DRAW, DENSITY, WIDE, OLD = 1 / 3, 3.0, 5.0, 0.5
N_WARMUP, N_DRAWS, N_CHAINS = 200, 300, 2


def chain_from(transition, likelihood, X, labels, sampler=None):
    """A chain that starts at labels of three levels; by default with the sampler that so many rows
    get.
    """
    rows, rng = LocalRows(likelihood.prepare(X)), np.random.default_rng(1)
    rows.turn_to(rows.family.start_shared())
    state = transition.start(rows, labels, n_levels=3, rng=rng)
    sampler = sampler or sampler_for(BHMC(), transition, len(X))
    return transition.sampler(state, rows, sampler, rng)


def labels_of(X, seed: int = 0):
    """(n, 3) nested labels: 4, 12 and 36 groups around rows drawn at random."""
    rng = np.random.default_rng(seed)
    centres = X[rng.choice(len(X), 36, replace=False)]
    nearest = ((X**2).sum(1)[:, None] - 2 * X @ centres.T + (centres**2).sum(1)).argmin(axis=1)
    return np.column_stack([nearest // 9, nearest // 3, nearest])


def recording(n_rows: int, repeats: int = 9) -> list[Figure]:
    """A kept draw, and the density of all rows under one draw, against a sweep."""
    X, figures = rows_of(n_rows), []
    labels = labels_of(X)
    cases = {
        "diffused, shared noise": (Diffused().bind(Hyper(0.2, 1.0, 0.2)), SharedGaussian),
        "hdp, own variances": (Hdp().bind(Hyper(0.2, 1.0, 1.0)), AdaptiveGaussian),
    }
    for name, (transition, kind) in cases.items():
        likelihood = kind.scaled_to(X)
        chain = chain_from(transition, likelihood, X, labels)
        row_by_row = chain_from(transition, likelihood, X, labels, "gibbs")
        kept = plan("auto", n_rows=n_rows, n_draws=N_DRAWS, n_chains=N_CHAINS, best=False)
        recorder, family = Recorder(kept), likelihood.prepare(X)
        mixture = mixture_of(chain.state(), transition)
        works = {
            "sweep": chain.sweep,
            "row by row": row_by_row.sweep,
            "draw": partial(recorder.on_draw, chain),
            "density": partial(log_density, [mixture], family),
        }
        seconds = take_turns(works, repeats)
        title = f"{n_rows:,} x 16, {name}, {chain.n_components} components"
        for key, beside, text, bound in (
            ("draw", "sweep", "a kept draw / sweep", DRAW),
            ("density", "row by row", "score_samples of one draw / sweep row by row", DENSITY),
        ):
            value = ratio(seconds[key], seconds[beside])
            figures.append(Figure(f"{title}: {text}", value, "x", bound))
        took = float(np.median(seconds["sweep"])) * 1e6 / n_rows
        figures.append(Figure(f"{title}: sweep a row", took, "us CPU"))
    return figures


def wide(n_rows: int = 5_000, n_columns: int = 200, repeats: int = 9) -> list[Figure]:
    """A sweep of the family with learned variances against the published one, many columns."""
    rng = np.random.default_rng(0)
    group = rng.integers(36, size=n_rows)
    X = rng.normal(0, 2, (36, n_columns))[group] + rng.standard_normal((n_rows, n_columns))
    labels, transition = np.column_stack([group // 9, group // 3, group]), Hdp()
    works = {
        name: chain_from(transition.bind(Hyper(0.2, 1.0, 1.0)), likelihood, X, labels).sweep
        for name, likelihood in (
            ("own variances", AdaptiveGaussian.scaled_to(X)),
            ("published", Gaussian(sigma2=1.0, mu0=0.0, sigma0=4.0)),
        )
    }
    seconds = take_turns(works, repeats)
    value = ratio(seconds["own variances"], seconds["published"])
    title = f"{n_rows:,} x {n_columns}: sweep of AdaptiveGaussian / of the published family"
    return [Figure(title, value, "x", WIDE)]


def against(old: Path, n_rows: int, n_draws: int) -> list[Figure]:
    """A default fit against that of another checkout, at equal sweeps, side by side."""
    running = {name: _fit_with(src, n_rows, n_draws) for name, src in (("old", old), ("new", _SRC))}
    found = {name: json.loads(one.communicate()[0]) for name, one in running.items()}
    figures, totals = [], {}
    for name, one in found.items():
        sweeps = N_CHAINS * (N_WARMUP + N_DRAWS)
        totals[name] = one["rest"] + sweeps * one["sweep"] + N_CHAINS * N_DRAWS * one["draw"]
        for key in ("sweep", "draw", "rest", "components"):
            unit = "" if key == "components" else "s CPU"
            figures.append(Figure(f"{name}: {key}", one[key], unit))
        figures.append(Figure(f"{name}: default fit of {sweeps:,} sweeps", totals[name], "s CPU"))
    value = totals["new"] / totals["old"]
    return [*figures, Figure(f"{n_rows:,} x 16: default fit / that of --old", value, "x", OLD)]


_SRC = ROOT / "src"


def _fit_with(src: Path, n_rows: int, n_draws: int) -> subprocess.Popen:
    script = str(ROOT / "benchmarks" / "one_fit.py")
    threads = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    return subprocess.Popen(
        [sys.executable, script, str(n_rows), "5", str(n_draws)],
        env={**os.environ, **threads, "PYTHONPATH": str(src)},
        stdout=subprocess.PIPE,
        text=True,
    )


def main(arguments: list[str]) -> int:
    """Measure; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--draws", type=int, default=60)
    parser.add_argument("--old", type=Path)
    given = parser.parse_args(arguments)
    figures = [*recording(given.rows), *wide()]
    if given.old is not None:
        figures += against(given.old, given.rows, given.draws)
    return int(report(figures, ROOT / "build" / "long-runs.json") > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
