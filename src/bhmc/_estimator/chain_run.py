"""One chain from start to end: where it begins, who listens, what is saved, where it goes on."""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np

from bhmc._compiled.blas_threads import one_blas_thread
from bhmc._estimator.checkpoint import Checkpoint, SavedChain
from bhmc._estimator.progress import Interrupts, Listener
from bhmc._sampling.run import run
from bhmc._sampling.start import start_state
from bhmc.likelihoods import ConjugateFamily
from bhmc.model.protocol import Sampler, Transition
from bhmc.model.state import State
from bhmc.posterior.recorder import Recorder
from bhmc.posterior.retention import Plan
from bhmc.rows.local import LocalRows

# Seconds from one checkpoint to the next.
_BETWEEN_CHECKPOINTS = 30.0


class Task(NamedTuple):
    """What all chains of a fit have in common."""

    family: ConjugateFamily
    transition: Transition
    n_levels: int
    sampler: str
    init: Any
    n_warmup: int
    n_draws: int
    thin: int
    precision: str
    as_paper: bool
    plan: Plan

    @property
    def n_sweeps(self) -> int:
        """Sweeps of a whole chain."""
        return self.n_warmup + self.n_draws * self.thin


def run_chain(
    task: Task,
    seed: np.random.SeedSequence,
    number: int,
    interrupts: Interrupts,
    listeners: list[Listener],
    saved: SavedChain | None = None,
) -> Recorder:
    """Run one chain to its end, or until somebody asks it to stop; what it has kept so far.

    With `saved` it goes on from the file, if there is one, and leaves one now and then.
    """
    before = saved.read() if saved is not None else None
    if before is None:
        rng, recorder, made = np.random.default_rng(seed), Recorder(task.plan), 0
    else:
        rng, recorder, made = before.rng, before.recorder, before.made
    if interrupts.asked.is_set():
        return recorder
    with one_blas_thread():
        chain = _chain(task, rng, before)
        last = time.monotonic()

        def on_sweep(chain: Sampler, made: int) -> bool:
            nonlocal last
            answers = [listener(number, chain, made) for listener in listeners]
            stop = interrupts.asked.is_set() or any(answers)
            due = stop or made == task.n_sweeps or time.monotonic() - last > _BETWEEN_CHECKPOINTS
            if saved is not None and due:
                saved.write(Checkpoint(chain.capture(), rng, recorder, made))
                last = time.monotonic()
            return stop

        run(
            chain,
            n_warmup=task.n_warmup,
            n_draws=task.n_draws,
            thin=task.thin,
            on_draw=recorder.on_draw,
            on_warmup=recorder.on_warmup if task.as_paper else None,
            on_sweep=on_sweep,
            done=made,
        )
    return recorder.first(min(task.n_draws, len(recorder.rows)))


def common_draws(recorders: list[Recorder]) -> list[Recorder]:
    """As many chains and draws as make a table: where chains were stopped, some have fewer.

    Of the longest m chains, all cut to the shortest of them, the m that keeps most draws.
    """
    lengths = sorted((len(one.rows) for one in recorders), reverse=True)
    best = max(range(1, len(lengths) + 1), key=lambda m: m * lengths[m - 1])
    length = lengths[best - 1]
    if length == 0:
        return []
    return [one.first(length) for one in recorders if len(one.rows) >= length]


def _chain(task: Task, rng: np.random.Generator, before: Checkpoint | None) -> Sampler:
    """The chain at its start, or where a file has it. The start itself is not kept: for many rows
    it is large.
    """
    rows = LocalRows(task.family, task.precision)
    if before is None:
        state = start_state(task.transition, rows, n_levels=task.n_levels, rng=rng, init=task.init)
        return task.transition.sampler(state, rows, task.sampler, rng)
    if isinstance(before.captured, State):  # a file of format 1
        return task.transition.sampler(before.captured, rows, task.sampler, rng)
    return task.transition.resume(before.captured, rows, task.sampler, rng)
