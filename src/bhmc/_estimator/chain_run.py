"""Chains from start to end: where they begin, who listens, what is saved, where they resume."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.parallel import Parallel, delayed

from bhmc._compiled.blas_threads import one_blas_thread
from bhmc._estimator.checkpoint import (
    Checkpoint,
    SavedChain,
    describe_fit,
    warn_of_unsaved,
)
from bhmc._estimator.progress import Interrupts, Listener, Told, listening
from bhmc._estimator.resuming import check_recorded, resumed_chain
from bhmc._sampling.run import Stopped, run
from bhmc._sampling.sample_start import chain_from_sample
from bhmc._sampling.settled_start import settled
from bhmc._sampling.start import start_state
from bhmc.likelihoods import ConjugateFamily
from bhmc.model.protocol import Sampler, Transition
from bhmc.posterior.recorder import Recorder
from bhmc.posterior.retention import Plan
from bhmc.rows.local import LocalRows
from bhmc.rows.parted import MOST_TRIES, PartLost, lost_too_often

# More time passes from one checkpoint to the next than a person asks for where writing one takes
# more than this share of that time, as it may where draws are large.
_SHARE_OF_CHECKPOINTS = 0.02

# Sweeps after which a chain whose rows may be lost keeps a copy of itself.
_SWEEPS_BETWEEN_COPIES = 10

Stop = Callable[[], bool]
"""Says whether a chain is asked to stop."""


class Task(NamedTuple):
    """What all chains of a fit have in common."""

    make_chain: Callable[[np.random.Generator, Any, Stop], Sampler]
    """Makes a chain from a generator, from what `Sampler.capture` returned (None: from its start)
    and from a function that says whether to stop. A chain of long sweeps asks that function within
    a sweep, and raises `Stopped`."""
    n_warmup: int
    """Sweeps before the first draw."""
    n_draws: int
    """Draws of a chain."""
    plan: Plan
    """What is kept of a chain."""
    thin: int = 1
    """Sweeps from one draw to the next."""
    as_paper: bool = False
    """Whether nothing is learned after the warm-up, whose numbers are kept."""
    max_seconds: float = np.inf
    """Seconds after which a chain stops. A chain without a draw then keeps its current state."""
    result: Callable[[Any], Any] | None = None
    """What else is wanted of a chain that has ended."""
    chosen: Mapping[str, str] = {}
    """What parameters that are "auto" stand for: a checkpoint must agree with that."""
    begun: int | None = None
    """Sweeps after which the last stretch of a round began (`rounds.py`)."""
    following: Task | None = None
    """The next round, whose draws are noted too."""
    is_outdated: Callable[[], bool] | None = None
    """Where others hold the rows and may lose them: whether rows are lost, or should move."""

    @property
    def n_sweeps(self) -> int:
        """Sweeps of a whole chain."""
        return self.n_warmup + self.n_draws * self.thin


class Ended(NamedTuple):
    """A chain that has made its sweeps or was stopped."""

    recorder: Recorder
    """What was kept."""
    made: int
    """Whole sweeps made."""
    chain: Checkpoint
    """Where the chain is now."""
    out_of_time: bool = False
    """Whether the time limit stopped the chain."""
    result: Any = None
    """What `Task.result` returned; None where the chain never began."""
    unsaved: str = ""
    """Why the chain, as it is now, is not in its file; "" where it is, or has none."""


class Crew(NamedTuple):
    """All chains of a fit, and who hears of them."""

    n_jobs: int | None
    """Chains run at the same time."""
    befores: list[Checkpoint]
    """Where the chains are at first: in their files, or before their start."""
    saved: list[SavedChain | None]
    """Their files."""
    interrupts: Interrupts
    """Say whether Ctrl-C was pressed."""
    told: Told
    """The bar, callbacks and others."""

    def run(self, task: Task, befores: Sequence[Checkpoint]) -> list[Ended]:
        """All chains from where they are, one after another or at the same time.

        Parameters
        ----------
        task : Task
            What every chain does.
        befores : sequence of Checkpoint
            Where each chain is.
        """
        listeners = self.told.listeners
        self.told.runs([one.recorder for one in befores], [one.made for one in befores])
        return list(
            Parallel(n_jobs=self.n_jobs, prefer="threads")(
                delayed(run_chain)(
                    task, before, number, self.interrupts, listeners, self.saved[number]
                )
                for number, before in enumerate(befores)
            )
        )


@contextmanager
def crew_of(
    estimator: Any,
    task: Task,
    seeds: Sequence[np.random.SeedSequence],
    X: Any,
    first_line: str,
    others: Sequence[Listener] = (),
    is_open: bool = False,
) -> Iterator[Crew]:
    """The chains of a fit, while Ctrl-C is heard and a bar is shown.

    Parameters
    ----------
    estimator : estimator
        Its `n_chains`, `n_jobs`, `checkpoint`, `checkpoint_interval` and `progress` say how chains
        run.
    task : Task
        What every chain does first.
    seeds : sequence of SeedSequence
        One for each chain.
    X : array or sparse matrix
        The data, which a checkpoint must belong to.
    first_line : str
        What a progress bar says first.
    others : sequence of Listener
        Hear of every sweep beside the bar and the callbacks.
    is_open : bool, default=False
        Whether more sweeps than the task's may follow.
    """
    saved: list[SavedChain | None] = [None] * len(seeds)
    if estimator.checkpoint is not None:
        fit, numbers = describe_fit(estimator.get_params(), X, task.chosen), range(len(seeds))
        where, interval = estimator.checkpoint, estimator.checkpoint_interval
        saved = [SavedChain(where, number, fit, task.plan, interval) for number in numbers]
    befores = [
        (one.read() if one is not None else None) or unbegun(task, seed)
        for one, seed in zip(saved, seeds, strict=True)
    ]
    heard = listening(estimator, task.n_sweeps, first_line, others, is_open=is_open)
    with Interrupts() as interrupts, heard as told:
        yield Crew(estimator.n_jobs, befores, saved, interrupts, told)


def unbegun(task: Task, seed: np.random.SeedSequence) -> Checkpoint:
    """A chain before its start.

    Parameters
    ----------
    task : Task
        What it is to do.
    seed : SeedSequence
        Where its randomness comes from.
    """
    return Checkpoint(None, np.random.default_rng(seed), Recorder(task.plan), 0)


def run_chains(
    estimator: Any,
    task: Task,
    seeds: Sequence[np.random.SeedSequence],
    X: Any,
    first_line: str,
) -> list[Ended]:
    """All chains of a fit of as many draws as the task says; parameters as in `crew_of`."""
    with crew_of(estimator, task, seeds, X, first_line) as crew:
        ended = crew.run(task, crew.befores)
    warn_of_unsaved(estimator.checkpoint, [one.unsaved for one in ended])
    return ended


def run_chain(
    task: Task,
    before: Checkpoint,
    number: int,
    interrupts: Interrupts,
    listeners: list[Listener],
    saved: SavedChain | None = None,
) -> Ended:
    """Run one chain to its end, or until somebody asks it to stop.

    Parameters
    ----------
    task : Task
        What the chain does.
    before : Checkpoint
        Where the chain is. Its generator and recorder are changed in place.
    number : int
        The number of the chain, for the listeners.
    interrupts : Interrupts
        Say whether Ctrl-C was pressed.
    listeners : list of Listener
        Hear of every sweep; each may ask the chain to stop.
    saved : SavedChain, optional
        The chain is saved in this file now and then.
    """
    end = time.monotonic() + task.max_seconds
    if interrupts.asked.is_set():
        return Ended(before.recorder, before.made, before)
    with one_blas_thread():
        watch = _Watch(interrupts, end, number, listeners)
        return _Run(task, before, watch, saved).to_the_end()


class _Watch(NamedTuple):
    """Who may ask a chain to stop."""

    interrupts: Interrupts
    end: float
    number: int
    listeners: list[Listener]

    @property
    def is_over(self) -> bool:
        return time.monotonic() >= self.end

    def stop(self) -> bool:
        return self.interrupts.asked.is_set() or self.is_over

    def stop_after(self, chain: Sampler, made: int) -> bool:
        answers = [listener(self.number, chain, made) for listener in self.listeners]
        return self.stop() or any(answers)


class _Run:
    """One chain on its way."""

    def __init__(self, task: Task, before: Checkpoint, watch: _Watch, saved: SavedChain | None):
        self._task, self._before, self._watch, self._saved = task, before, watch, saved
        self._rng, self._recorder, self._made = before.rng, before.recorder, before.made
        self._following = None  # of sweeps that note nothing for a next round it has none
        if task.following is not None:
            self._following = before.following or Recorder(task.plan)
        self._copy = _copied(before) if task.is_outdated else None
        self._returns = 0  # to the copy, one after the other
        self._made_when_saved = before.made
        self._chain: Any = None
        self._interval = np.inf if saved is None else saved.interval
        self._begun = self._last_saved = time.monotonic()
        self._wait, self._unsaved = self._interval, ""

    def to_the_end(self) -> Ended:
        """All sweeps; where rows are lost, those since the last copy of the chain once more."""
        captured = self._before.captured
        while True:
            try:
                self._chain = self._task.make_chain(self._rng, captured, self._watch.stop)
                if captured is not None:
                    check_recorded(self._recorder, self._chain)
                return self._all_sweeps()
            except PartLost as error:
                self._returns += 1
                if self._returns == MOST_TRIES:
                    self._save_copy()
                    raise lost_too_often("the rows", error) from error
                assert self._copy is not None, "rows in memory are not lost"
                captured = self._go_back(self._copy)
            except Exception:
                self._save_copy()
                raise

    def _save_copy(self) -> None:
        """Where rows were lost for good, or cannot be read again: the chain may resume later."""
        is_newer = self._copy is not None and self._copy.made > self._made_when_saved
        if self._saved is not None and self._copy is not None and is_newer:
            self._saved.try_write(self._copy)

    def _go_back(self, then: Checkpoint) -> Any:
        """Be where the chain was at its copy; what it captured then."""
        again = _copied(then)
        self._rng, self._made = again.rng, again.made
        self._recorder.become(again.recorder)
        if self._following is not None:
            self._following.become(again.following or Recorder(self._task.plan))
        return again.captured

    def _all_sweeps(self) -> Ended:
        task, recorder, kept = self._task, self._recorder, self._recorder
        try:
            run(
                self._chain,
                n_warmup=task.n_warmup,
                n_draws=task.n_draws,
                thin=task.thin,
                on_draw=recorder.on_draw,
                on_warmup=recorder.on_warmup if task.as_paper else None,
                on_sweep=self._on_sweep,
                done=self._made,
            )
        except Stopped:
            self._save()
        out_of_time = self._made < task.n_sweeps and self._watch.is_over
        if out_of_time and not recorder.rows:
            # A copy: the chain that goes on later has not made this draw.
            kept = recorder.copy()
            kept.on_draw(self._chain)
        result = None if task.result is None else task.result(self._chain)
        kept = kept.first(min(task.n_draws, len(kept.rows)))
        return Ended(kept, self._made, self._now(), out_of_time, result, self._unsaved)

    def _on_sweep(self, chain: Sampler, made: int) -> bool:
        self._made = made
        self._note_for_next_round(chain, made)
        stopped = self._watch.stop_after(chain, made)
        due = time.monotonic() - self._last_saved > self._wait
        if stopped or due or made == self._task.n_sweeps:
            self._save()
        if self._task.is_outdated is not None and made % _SWEEPS_BETWEEN_COPIES == 0:
            self._copy, self._returns = _copied(self._now()), 0
            if not stopped and made < self._task.n_sweeps and self._task.is_outdated():
                raise PartLost("rows are to move")
        return stopped

    def _note_for_next_round(self, chain: Sampler, made: int) -> None:
        """Note a draw of the round that follows; its distances are others."""
        following = self._task.following
        if following is None or self._following is None or made <= following.n_warmup:
            return
        if (made - following.n_warmup) % following.thin == 0:
            self._following.on_draw(chain)

    def _save(self) -> None:
        begun = time.monotonic()
        if self._saved is not None:
            self._unsaved = self._saved.try_write(self._now())
            if not self._unsaved:
                self._made_when_saved = self._made
        self._last_saved = time.monotonic()
        took = self._last_saved - begun
        # Files grow with the draws: until the next save by as much as since the chain began.
        grows = took / max(self._last_saved - self._begun, took, 1e-9)
        share = max(_SHARE_OF_CHECKPOINTS - grows, _SHARE_OF_CHECKPOINTS / 2)
        self._wait = max(self._interval, took / share)

    def _now(self) -> Checkpoint:
        task, captured = self._task, self._chain.capture()
        return Checkpoint(
            captured,
            self._rng,
            self._recorder,
            self._made,
            task.n_warmup,
            task.thin,
            self._following,
        )


def _copied(chain: Checkpoint) -> Checkpoint:
    """A copy that nobody changes; what was captured is one already."""
    following = None if chain.following is None else chain.following.copy()
    rng, recorder = copy.deepcopy(chain.rng), chain.recorder.copy()
    return chain._replace(rng=rng, recorder=recorder, following=following)


def common_draws(recorders: list[Recorder]) -> list[Recorder]:
    """As many chains and draws as make a table: where chains were stopped, some have fewer.

    Of the longest m chains, all cut to the shortest of them, the m that keeps most draws.

    Parameters
    ----------
    recorders : list of Recorder
        One for each chain.
    """
    lengths = sorted((len(one.rows) for one in recorders), reverse=True)
    best = max(range(1, len(lengths) + 1), key=lambda m: m * lengths[m - 1])
    length = lengths[best - 1]
    if length == 0:
        return []
    return [one.first(length) for one in recorders if len(one.rows) >= length]


def transition_chain(
    rng: np.random.Generator,
    captured: Any,
    stop: Stop,
    *,
    family: ConjugateFamily,
    transition: Transition,
    n_levels: int,
    sampler: str,
    init: Any,
    precision: str,
    n_settling: int = 0,
    of_rows: Callable[[Any], ConjugateFamily] | None = None,
    n_threads: int = 1,
    rows_of_chain: Callable[[], Any] | None = None,
) -> Sampler:
    """A chain of a transition, as `Task.make_chain` makes it; its sweeps are short.

    The start itself is not kept, because a state of many rows is large.

    Parameters
    ----------
    rng, captured, stop
        As in `Task.make_chain`; a file of format 1 has a `State` for `captured`.
    family : ConjugateFamily
        The likelihood bound to the data.
    transition : Transition
        The model.
    n_levels, sampler, init, precision
        As in `BHMC`.
    n_settling : int, default=0
        Sweeps that are part of the start.
    of_rows : callable, optional
        Binds the family to some rows, for `init="sample"`.
    n_threads : int, default=1
        Threads of the chain, where its sampler is "blocked".
    rows_of_chain : callable, optional
        Makes the rows of a chain where they are not in memory.
    """
    if rows_of_chain is None:
        rows: Any = LocalRows(family, precision, n_threads=n_threads)
    else:
        rows = rows_of_chain()
    if captured is None and isinstance(init, str) and init == "sample":
        assert of_rows is not None, "a sample is of some rows"
        chain = chain_from_sample(transition, rows, of_rows, n_levels=n_levels, rng=rng)
        if sampler == "blocked":
            return chain
        return transition.sampler(chain.state(), rows, sampler, rng)
    if captured is None:
        state = start_state(transition, rows, n_levels=n_levels, rng=rng, init=init)
        chain = transition.sampler(state, rows, sampler, rng)
        return settled(transition, chain, rows, sampler, rng, n_settling)
    return resumed_chain(transition, captured, rows, n_levels, sampler, rng)
