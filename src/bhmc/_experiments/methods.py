"""The methods that experiments compare: BHMC and its rivals, each run alike.

A method is a line in `METHODS`. It gets data and settings, never labels.
"""

import json
import os
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from bhmc import warmup
from bhmc._estimator.bhmc import BHMC, fit_listening
from bhmc._experiments.listeners import TimeLimit, WarmupRecorder
from bhmc._experiments.settings import model_parameters
from bhmc._experiments.store import Outcome
from bhmc._io.atomic_write import write_atomically
from bhmc.model.state import CONCENTRATIONS


class Request(NamedTuple):
    """What a method is asked to do."""

    X: Any
    """(n, d) numbers, or a frame, of which rivals take the numbers."""
    settings: dict[str, Any]
    seed: int
    budget: float | None = None
    """Seconds after which it stops and gives what it has."""
    going: Path | None = None
    """Beginning of the names of its checkpoint files."""
    progress: bool = False
    n_jobs: int = 1
    record_warmup: bool = False
    keep_draws: bool = False


class Method(NamedTuple):
    """One of the methods that are compared."""

    words: str
    """Its name on a page."""
    run: Callable[[Request], Outcome]
    is_random: bool
    """Whether a seed decides its result."""


def run_bhmc(request: Request) -> Outcome:
    """A fit of `BHMC`, stopped by its time where there is a budget."""
    _compile_bhmc(request.settings)
    parameters = model_parameters(request.settings, request.X)
    stopwatch = _Stopwatch(request.going)
    model = BHMC(
        **parameters,
        n_jobs=request.n_jobs,
        random_state=request.seed,
        progress=request.progress,
        checkpoint=None if request.going is None or request.record_warmup else str(request.going),
    )
    warmups = WarmupRecorder(model.n_warmup)
    listeners: list[Any] = [warmups] if request.record_warmup else []
    limit = None
    if request.budget is not None:
        n_jobs = (os.cpu_count() or 1) if request.n_jobs < 0 else request.n_jobs
        limit = TimeLimit(max(request.budget - stopwatch.wall, 0.0), model.n_chains, n_jobs)
        listeners.append(limit)
    stopped = False
    try:
        with warnings.catch_warnings():  # pages say how far chains agree
            warnings.simplefilter("ignore", ConvergenceWarning)
            fit_listening(model, request.X, listeners)
        stopped = limit is not None and limit.is_over
        if model.interrupted_ and not stopped:
            raise KeyboardInterrupt
    except KeyboardInterrupt:
        if limit is not None and limit.is_over:
            return Outcome(None, stopwatch.facts(stopped_early=True))
        stopwatch.keep()
        raise
    facts = stopwatch.facts(
        stopped_early=stopped,
        n_draws=model.draws_.n_draws,
        n_chains=model.draws_.n_chains,
        likelihood=model.likelihood_.describe(),
        **_learned(model),
    )
    draws = model.draws_ if request.keep_draws else None
    return Outcome(model.tree_, facts, draws, warmups.series() if request.record_warmup else {})


def _compile_bhmc(settings: dict[str, Any]) -> None:
    """Compile the kernels of a transition, or of those that the data may choose: it takes time."""
    warmup(transition=settings.get("transition", BHMC().transition))


def _learned(model: BHMC) -> dict[str, Any]:
    """Concentrations and shared numbers, on average over the draws; chains and their agreement."""
    draws = model.draws_
    found: dict[str, Any] = {name: float(getattr(draws, name).mean()) for name in CONCENTRATIONS}
    if "step_variances" in draws.learned:
        del found["gamma0"]  # plays no part there
        found["step_variances"] = draws.step_variances.mean(axis=(0, 1)).tolist()
    if 0 < draws.shared.shape[2] <= 3:
        found["shared"] = draws.shared.mean(axis=(0, 1)).tolist()
    judged = model.diagnostics_
    rhat = judged.table["rhat"]
    found["worst_rhat"] = float(np.nanmax(rhat)) if np.isfinite(rhat).any() else None
    found["converged"] = judged.converged
    return found


def _rival(name: str) -> Callable[[Request], Outcome]:
    """A runner of one of `bhmc.baselines`, with as many of the parameters as it takes."""

    def run(request: Request) -> Outcome:
        from bhmc import baselines

        _compile(name, request.settings)
        estimator = getattr(baselines, name)(**request.settings)
        known = estimator.get_params()
        given = {"random_state": request.seed, "max_seconds": request.budget}
        estimator.set_params(**{key: value for key, value in given.items() if key in known})
        stopwatch = _Stopwatch(None)
        estimator.fit(request.X)
        if getattr(estimator, "interrupted_", False):
            raise KeyboardInterrupt
        stopped = bool(getattr(estimator, "stopped_early_", False))
        return Outcome(estimator.tree_, stopwatch.facts(stopped_early=stopped))

    return run


def _compile(name: str, settings: dict[str, Any]) -> None:
    """Compile a rival, or load it from the cache, before its time is taken; once in a process."""
    from bhmc import baselines

    key = (name, settings.get("sampler"))
    if key in _compiled:
        return
    few = {key: value for key, value in settings.items() if key not in ("n_warmup", "n_draws")}
    estimator = getattr(baselines, name)(**few)
    known = estimator.get_params()
    short = {"n_warmup": 1, "n_draws": 1, "random_state": 0}
    estimator.set_params(**{key: value for key, value in short.items() if key in known})
    estimator.fit(np.random.default_rng(0).normal(size=(12, 3)))
    _compiled.add(key)


_compiled: set[tuple[str, Any]] = set()


def _control(request: Request) -> Outcome:
    """A random tree, which gets the number of rows and nothing else."""
    return _rival("RandomTree")(request._replace(X=np.zeros((len(request.X), 1))))


METHODS = {
    "bhmc": Method("BHMC, defaults of this library", run_bhmc, True),
    "bhmc-diffused": Method("BHMC, diffused transition", run_bhmc, True),
    "bhmc-hdp": Method("BHMC, hdp transition", run_bhmc, True),
    "bhmc-paper": Method("BHMC, published settings", run_bhmc, True),
    "ward": Method("Ward", _rival("Ward"), False),
    "perch": Method("PERCH, rotations by means (ours)", _rival("Perch"), True),
    "perch-boxes": Method("PERCH, rotations by boxes (its authors')", _rival("Perch"), True),
    "pydt-sl": Method("PYDT, slice sampler", _rival("PYDT"), True),
    "pydt-mh": Method("PYDT, Metropolis-Hastings", _rival("PYDT"), True),
    "random": Method("control: random nCRP tree", _control, True),
}
BHMC_METHODS = tuple(name for name, method in METHODS.items() if method.run is run_bhmc)
"""The methods that fit `BHMC`."""
OWN_SETTINGS: dict[str, dict[str, Any]] = {
    "perch-boxes": {"masking": "boxes"},
    "pydt-sl": {"sampler": "slice"},
    "pydt-mh": {"sampler": "mh"},
}
"""Parameters that make a rival what its name says; those of BHMC are in `settings.toml`."""


def check_methods(names: list[str]) -> None:
    """Refuse names of methods that are unknown or named twice."""
    if not names:
        raise ValueError(f"no method is named: choose from {', '.join(METHODS)}.")
    for i, name in enumerate(names):
        if name not in METHODS:
            raise ValueError(f"{name!r} is no method: choose from {', '.join(METHODS)}.")
        if name in names[:i]:
            raise ValueError(f"the method {name!r} is named twice.")


class _Stopwatch:
    """Seconds of a run, those before an interruption included."""

    def __init__(self, going: Path | None):
        self._file = None if going is None else going.with_name(f"{going.name}.seconds")
        self.wall, self._cpu_before = 0.0, 0.0
        if self._file is not None and self._file.exists():
            self.wall, self._cpu_before = json.loads(self._file.read_text(encoding="utf-8"))
        self._start, self._cpu_start = time.perf_counter(), time.process_time()

    def facts(self, **more: Any) -> dict[str, Any]:
        """Seconds so far, and whatever else is to be said."""
        wall, cpu = self._passed()
        return {"seconds": round(wall, 4), "cpu_seconds": round(cpu, 4), **more}

    def keep(self) -> None:
        """Note the seconds for when the run is gone on with."""
        if self._file is not None:
            write_atomically(self._file, json.dumps(self._passed()))

    def _passed(self) -> tuple[float, float]:
        wall = self.wall + time.perf_counter() - self._start
        return wall, self._cpu_before + time.process_time() - self._cpu_start
