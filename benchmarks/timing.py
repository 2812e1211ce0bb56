"""Ratios measured in one run: variants take turns, so that all of them meet the same machine."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.chains import chain_of
from bhmc.model.hdp import kernels as _kernels

ROOT = Path(__file__).resolve().parent.parent


class Figure(NamedTuple):
    """One number of the table; `bound` is what it must not exceed, None where it is only shown."""

    name: str
    value: float
    unit: str
    bound: float | None = None

    @property
    def ok(self) -> bool:
        """Whether the bound is kept."""
        return self.bound is None or self.value <= self.bound


def cpu_of(work, clock=time.process_time) -> float:
    """CPU seconds of one call, of this process and all its threads; or by another clock."""
    start = clock()
    work()
    return clock() - start


def take_turns(works: dict, repeats: int, clock=time.process_time) -> dict[str, np.ndarray]:
    """(repeats,) CPU seconds of each piece of work, run in turn on one BLAS thread."""
    seconds = {name: np.empty(repeats) for name in works}
    with threadpool_limits(1):
        for work in works.values():
            work()
        for i in range(repeats):
            for name, work in works.items():
                seconds[name][i] = cpu_of(work, clock)
    return seconds


def ratio(over: np.ndarray, under: np.ndarray) -> float:
    """The median over turns of one time against the other of the same turn."""
    return float(np.median(over / under))


class TimedEngine:
    """The compiled kernels, with the seconds spent in passes over the data counted."""

    def __init__(self):
        self.seconds = 0.0

    def __getattr__(self, name):
        return getattr(_kernels, name)

    def gibbs_pass(self, *arguments):
        """`_kernels.gibbs_pass`, timed."""
        start = time.process_time()
        result = _kernels.gibbs_pass(*arguments)
        self.seconds += time.process_time() - start
        return result


class Sweeps:
    """A chain whose sweeps are timed part by part."""

    def __init__(self, state, family, dtype: str = "float64"):
        self._engine = TimedEngine()
        rng = np.random.default_rng(1)
        self.chain = chain_of(state, family, "gibbs", rng, engine=self._engine, dtype=dtype)
        self.data, self.loop, self.weights, self.events = [], [], [], []

    def __call__(self) -> None:
        """One sweep."""
        self._engine.seconds = 0.0
        self.chain.ws.events[:] = 0
        self.data.append(cpu_of(self.chain.redraw_data))
        self.loop.append(self._engine.seconds)
        self.weights.append(cpu_of(self.chain.redraw_weights))
        self.chain.redraw_theta()
        self.events.append(self.chain.ws.events.copy())


class Bare:
    """X @ mu.T, exp over the table, F @ B.T: the arithmetic a sweep cannot do without.

    As NumPy does it, each product in fresh memory; or, `reused`, in memory made once, which leaves
    the arithmetic alone.
    """

    def __init__(self, state, X, *, reused: bool = False):
        self._X, self._mu = X, state.theta / X.shape[1]  # no exponential overflows
        self._weights = state.weights[:, :-1]
        self._table = self._product = None
        if reused:
            self._table = np.zeros((len(X), len(self._mu)))
            self._product = np.zeros((len(X), len(self._weights)))

    def __call__(self) -> None:
        """Once."""
        table = np.matmul(self._X, self._mu.T, out=self._table)
        np.exp(table, out=table)
        np.matmul(table, self._weights.T, out=self._product)


def in_fresh_process(module: str, *arguments: str, **environment: str) -> dict:
    """The JSON that `python -m module` prints, run alone on one BLAS thread.

    Bytecode may be written: an installed package has its own, and parsing the sources anew in every
    process would be measured too.
    """
    threads = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    threads["PYTHONDONTWRITEBYTECODE"] = ""
    result = subprocess.run(
        [sys.executable, "-m", module, *arguments],
        cwd=ROOT,
        env={**os.environ, **threads, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(result.stdout.splitlines()[-1])


def report(figures: list[Figure], path: Path) -> int:
    """Print the table, write it as JSON, and return the number of bounds that are broken."""
    width = max(len(figure.name) for figure in figures)
    for figure in figures:
        bound = "" if figure.bound is None else f"<= {figure.bound:g}"
        verdict = "" if figure.bound is None else ("ok" if figure.ok else "MISSED")
        print(f"{figure.name:{width}}  {figure.value:10.3g} {figure.unit:8} {bound:>8} {verdict}")
    path.parent.mkdir(exist_ok=True)
    rows = [{**figure._asdict(), "ok": figure.ok} for figure in figures]
    path.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    return sum(not figure.ok for figure in figures)
