"""Rounds of draws: chains run until they agree, and end only at sweeps that are fixed beforehand.

The sweeps of a chain are the warm-up and then stretches, of which each but the second is twice as
long as the one before. A round ends with every stretch. The first round has the 300 draws of the
first stretch; a later one has 300 draws of its stretch and the one before, and what was earlier is
warm-up. So about a third of a chain is discarded and memory does not grow. During a stretch a chain
notes the draws of its round and of the next one, which are further apart. Whether a round follows
is decided by the draws of all chains. So the answer is a function of data and seed, as long as no
time limit ends the run.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from joblib import effective_n_jobs

from bhmc._estimator.chain_run import Crew, Ended, Task, crew_of
from bhmc._estimator.checkpoint import Checkpoint, warn_of_unsaved
from bhmc._estimator.log_lines import log_decision
from bhmc._estimator.progress import Listener
from bhmc._estimator.sizes import AUTO_DRAWS
from bhmc.posterior.diagnostics import diagnose
from bhmc.posterior.recorder import Recorder, collect_numbers
from bhmc.posterior.retention import Plan

# After the first round none is begun that would end beyond so many sweeps of a chain, or beyond so
# many rows redrawn: a fit of any table with the default settings takes minutes at most. A row is
# redrawn the sooner the fewer components it may choose, down to a quarter of the time.
_MOST_SWEEPS = 10_400
_MOST_ROWS = 3_000_000
_MANY_COMPONENTS, _MOST_TIMES = 64, 4.0


def most_sweeps(n_rows: int, cost: float = 1.0, n_components: float = _MANY_COMPONENTS) -> int:
    """Sweeps of a chain beyond which no further round ends.

    Parameters
    ----------
    n_rows : int
        Rows of the data.
    cost : float, default=1.0
        How long a sweep takes, where one of "hdp" takes 1.
    n_components : float, default=64
        Components of the chain; with fewer than 64 there are more sweeps.
    """
    times = np.clip(_MANY_COMPONENTS / max(n_components, 1.0), 1.0, _MOST_TIMES)
    return int(min(_MOST_SWEEPS, times * _MOST_ROWS // n_rows) / cost)


def next_round(task: Task) -> Task:
    """The round after this one.

    It has the draws of this round's last stretch and of one more. Where those of this stretch were
    not noted for it, all sweeps so far are warm-up, and as many or more follow.

    Parameters
    ----------
    task : Task
        A round.
    """
    ends = task.n_sweeps
    if task.begun is None:
        n_warmup, length = ends, ends
    else:
        stretch = ends - task.begun
        n_warmup = task.begun
        length = stretch + (stretch if task.begun == task.n_warmup else 2 * stretch)
    thin = -(-length // AUTO_DRAWS)
    return task._replace(
        n_warmup=n_warmup, n_draws=AUTO_DRAWS, thin=thin, begun=ends, following=None
    )


class Aim(NamedTuple):
    """When the chains of a fit are to end."""

    plan_for: Callable[[int], Plan]
    """What is kept of a chain of so many draws."""
    auto: bool = False
    """Whether rounds follow until the chains agree; otherwise the first one is all."""
    adds: bool = False
    """Whether chains that have ended go on (`warm_start`)."""
    most_sweeps: Callable[[float], int] = lambda n_components: 0
    """Sweeps of a chain of so many components beyond which no further round ends."""
    max_seconds: float = np.inf
    """Time of all chains together."""


class Course(NamedTuple):
    """How the chains of a fit have run."""

    ended: list[Ended]
    """The chains at the end of the round that counts."""
    task: Task
    """That round."""
    by: str
    """What ended it, as in `BHMC.ended_by_`."""
    chains: list[Checkpoint]
    """Where the chains are now."""
    seconds: float
    """Seconds that one sweep of all chains takes; 0 where none was made."""
    unsaved: tuple[str, ...]
    """For each chain why it is not in its file as it is now; "" where it is, or has none."""

    @property
    def n_components(self) -> float:
        """Components of a draw on average."""
        return float(np.mean([row.n_components for one in self.ended for row in one.recorder.rows]))


def run_rounds(
    estimator: Any,
    task: Task,
    aim: Aim,
    seeds: Sequence[np.random.SeedSequence],
    X: Any,
    first_line: str,
    others: Sequence[Listener] = (),
    chains: Sequence[Checkpoint] | None = None,
) -> Course:
    """Run all chains, round after round, until their aim is met.

    Parameters
    ----------
    estimator, seeds, X, first_line, others
        As in `crew_of`.
    task : Task
        The first round.
    aim : Aim
        When to end.
    chains : sequence of Checkpoint, optional
        Chains that go on; by default those in the files of `checkpoint`, or new ones.
    """
    start = time.monotonic()
    with crew_of(estimator, task, seeds, X, first_line, others, aim.auto) as crew:
        befores = crew.befores if chains is None else copy.deepcopy(list(chains))
        first = task._replace(begun=task.n_warmup) if aim.auto else task
        task, befores = _found_again(first, befores, aim)
        course = _Rounds(crew, aim, start, task, befores).run()
    warn_of_unsaved(estimator.checkpoint, course.unsaved)
    return course


def _found_again(task: Task, befores: list[Checkpoint], aim: Aim) -> tuple[Task, list[Checkpoint]]:
    """The round in which the chains are, and the chains with the recorders of that round."""
    latest = max(befores, key=lambda one: one.thin or 0)
    task = _round_of(task, latest, aim.auto)
    most_draws = max(len(one.recorder.rows) for one in befores if one.thin == latest.thin)
    if aim.auto:
        task = task._replace(n_draws=max(task.n_draws, most_draws))
        if not all(_has_noted(task, one) for one in befores):
            task = task._replace(begun=None)
        if aim.adds and all(one.made >= task.n_sweeps for one in befores):
            task = next_round(task)
    elif aim.adds:
        task = task._replace(n_draws=task.n_draws + most_draws)
    task = task._replace(plan=aim.plan_for(task.n_draws))
    return task, [_in_round(task, one) for one in befores]


def _round_of(task: Task, chain: Checkpoint, auto: bool) -> Task:
    """The round in which a chain is, the task being the first one."""
    if chain.n_warmup is None or chain.thin is None:
        return task
    found = task
    while auto and found.thin < chain.thin:
        found = next_round(found)
    if (found.n_warmup, found.thin) == (chain.n_warmup, chain.thin):
        return found
    return task._replace(n_warmup=chain.n_warmup, thin=chain.thin, begun=None)


def _has_noted(task: Task, chain: Checkpoint) -> bool:
    """Whether a chain has noted draws for the round after this one, as far as it has come."""
    return task.begun is None or chain.made <= task.begun or chain.following is not None


def _in_round(task: Task, chain: Checkpoint) -> Checkpoint:
    """The chain with the recorders of this round and the next.

    It may be rounds behind: of a damaged file the one before is read.
    """
    if chain.n_warmup is None or (chain.n_warmup, chain.thin) == (task.n_warmup, task.thin):
        recorder = Recorder.from_contents(chain.recorder.contents(), task.plan)
        return chain._replace(recorder=recorder)
    if chain.made <= task.n_warmup:
        return chain._replace(recorder=Recorder(task.plan), following=None)
    return _in_next_round(task, chain)


def _in_next_round(task: Task, chain: Checkpoint) -> Checkpoint:
    """The chain at the end of a round, with the recorder of the next one, which is `task`."""
    return chain._replace(recorder=chain.following or Recorder(task.plan), following=None)


class _Rounds:
    """The rounds of one fit."""

    def __init__(self, crew: Crew, aim: Aim, start: float, task: Task, befores: list[Checkpoint]):
        self._crew, self._aim, self._start = crew, aim, start
        self._task, self._befores = task, befores
        self._made_before = min(one.made for one in befores)
        self._whole: Course | None = None

    def run(self) -> Course:
        """Round after round; one that was cut short counts only where it is the first."""
        while True:
            self._task = self._task._replace(following=self._following())
            may_go_on = self._task.following is not None
            self._crew.told.planned(self._task.n_sweeps, may_go_on)
            task = self._task._replace(max_seconds=self._share())
            ended = self._crew.run(task, self._befores)
            now = self._course(ended)
            if any(one.made < self._task.n_sweeps for one in ended):
                by = "max_seconds" if any(one.out_of_time for one in ended) else "interrupt"
                course = self._whole or now
                return course._replace(
                    by=by, chains=now.chains, seconds=now.seconds, unsaved=now.unsaved
                )
            now = now._replace(by=self._ended_by(now))
            if now.by:
                return now
            self._whole, self._task = now, next_round(self._task)
            self._befores = [_in_next_round(self._task, one) for one in now.chains]

    def _following(self) -> Task | None:
        """The round whose draws are noted beside those of this one, if it may follow."""
        if not self._aim.auto or self._task.begun is None:
            return None
        following = next_round(self._task)
        least = self._whole.n_components if self._whole else 1.0
        return following if following.n_sweeps <= self._aim.most_sweeps(least) else None

    def _share(self) -> float:
        """Seconds that each chain has: chains that wait for others have as much time as those."""
        left = self._start + self._aim.max_seconds - time.monotonic()
        at_once = max(1, effective_n_jobs(self._crew.n_jobs))
        return left / -(-len(self._befores) // at_once)

    def _course(self, ended: list[Ended]) -> Course:
        made = max(one.made for one in ended) - self._made_before
        seconds = (time.monotonic() - self._start) / made if made else 0.0
        unsaved = tuple(one.unsaved for one in ended)
        return Course(ended, self._task, "", [one.chain for one in ended], seconds, unsaved)

    def _ended_by(self, now: Course) -> str:
        """What ends the run after a whole round; nothing if another round follows."""
        if not self._aim.auto:
            return "n_draws"
        found = diagnose(collect_numbers([one.recorder for one in now.ended]))
        by = "converged" if found.converged else self._out_of_bounds(now)
        ends_at = self._task if by else next_round(self._task)
        self._crew.told.judged(found.worst_rhat, ends_at.n_sweeps)
        log_decision(self._task.n_sweeps, found.worst_rhat, by, ends_at.n_sweeps)
        return by

    def _out_of_bounds(self, now: Course) -> str:
        """Why no further round may follow, if so."""
        following = next_round(self._task).n_sweeps
        needed = now.seconds * (following - self._task.n_sweeps)
        was_noted = self._task.begun is None or self._task.following is not None
        if following > self._aim.most_sweeps(now.n_components) or not was_noted:
            return "max_sweeps"
        if time.monotonic() + needed > self._start + self._aim.max_seconds:
            return "max_seconds"
        return "interrupt" if self._crew.interrupts.asked.is_set() else ""
