"""Megabytes at the peak of a chain or a fit; run by `benchmarks.bench`.

python -m benchmarks.peak_memory chain|fit|summary
"""

import json
import sys
from pathlib import Path

import numpy as np

from benchmarks.chains import chain_of
from benchmarks.states import LIKELIHOOD, Shape, make
from bhmc import BHMC

SHAPE = Shape(1_000_000, 64, 100, 300)

MODEL = {"transition": "hdp", "likelihood": LIKELIHOOD}


def megabytes(field: str) -> float:
    """VmRSS (now) or VmHWM (the peak) of this process."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return float(line.split()[1]) / 1024
    raise RuntimeError(f"no {field} in /proc/self/status")


def peak_of(work) -> float:
    """Megabytes beyond what the process held before."""
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
    before = megabytes("VmRSS")
    work()
    return megabytes("VmHWM") - before


def chain() -> float:
    """Two sweeps, and the state taken out."""
    state, X = make(SHAPE)

    def work():
        chain = chain_of(state, LIKELIHOOD.prepare(X), "gibbs", np.random.default_rng(0))
        chain.sweep()
        chain.sweep()
        chain.state()

    return peak_of(work)


def fit() -> float:
    """A whole fit of one short chain."""
    _, X = make(SHAPE)
    model = BHMC(n_warmup=1, n_draws=2, n_chains=1, random_state=0, **MODEL)
    small = X[:500].copy()
    model.fit(small)  # what compiling needs is not counted
    return peak_of(lambda: model.fit(X))


def summary() -> float:
    """A fit of 1e5 rows whose 2 x 200 draws are kept as a summary."""
    _, X = make(Shape(100_000, 32, 50, 100))
    model = BHMC(n_warmup=0, n_draws=200, random_state=0, keep="summary", **MODEL)
    model.fit(X[:500].copy())
    return peak_of(lambda: model.fit(X))


if __name__ == "__main__":
    work = {"chain": chain, "fit": fit, "summary": summary}[sys.argv[1]]
    print(json.dumps({"megabytes": work()}))
