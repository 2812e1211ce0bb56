"""Lines in a log while a fit runs: sweeps, time left, worst R-hat, nodes and components.

A bar needs a terminal or a notebook. Where standard error is a file or a pipe, a plain line is
written at least every 30 seconds instead, from the pilot chains to the last summary. A fit that
ends sooner writes none.
"""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from typing import Any

import numpy as np

from bhmc.model.protocol import Sampler
from bhmc.posterior.diagnostics import diagnose
from bhmc.posterior.recorder import Recorder, collect_numbers

# Seconds from one line to the next: a sweep writes one when it is due. Where no sweep ends for
# longer (pilot chains, summaries, very long sweeps), a line says that the fit is still at work.
_BETWEEN_LINES, _MOST_SILENCE = 20.0, 27.0

# Seconds from one look of the thread that ends a silence to the next.
_BETWEEN_TICKS = 0.5

# Fewer draws of a chain say nothing of its R-hat, and fewer sweeps nothing of the time left: the
# first has the start of a chain in it.
_LEAST_DRAWS, _LEAST_SWEEPS = 8, 4


class ProgressLog:
    """Says in lines of text how far a fit has come.

    Parameters
    ----------
    doing : str
        What the fit does first, in a few words.
    """

    def __init__(self, doing: str):
        self._lock = threading.Lock()
        self._doing, self._begun = doing, time.monotonic()
        self._last, self.n_lines = self._begun, 0
        self._sweeps: list[int] = []
        self._before, self._planned, self._may_go_on = 0, 0, False
        self._recorders: list[Recorder] = []
        self._sampling = self._begun

    # ---- What the fit tells --------------------------------------------------------------------

    def does(self, doing: str) -> None:
        """The fit now does something that is no sweep.

        Parameters
        ----------
        doing : str
            What, in a few words.
        """
        with self._lock:
            self._doing = doing

    def samples(self, n_chains: int, n_sweeps: int) -> None:
        """Chains begin.

        Parameters
        ----------
        n_chains : int
            How many.
        n_sweeps : int
            Sweeps of each, as far as is known.
        """
        with self._lock:
            self._doing, self._sampling = "sampling", time.monotonic()
            self._sweeps, self._before = [0] * n_chains, 0
            self._planned = n_chains * n_sweeps

    def planned(self, n_sweeps: int, may_go_on: bool) -> None:
        """So many sweeps a chain will have made in the end, or more if chains may go on."""
        with self._lock:
            self._planned, self._may_go_on = len(self._sweeps) * n_sweeps, may_go_on

    def runs(self, recorders: Sequence[Recorder], made: Sequence[int]) -> None:
        """Chains go on from sweeps that were made before.

        Parameters
        ----------
        recorders : sequence of Recorder
            Where each chain's draws will be.
        made : sequence of int
            Sweeps that each has made so far.
        """
        with self._lock:
            self._recorders = list(recorders)
            if sum(self._sweeps) == 0:  # else a round follows another of this fit
                self._sweeps, self._before = list(made), sum(made)

    def update(self, number: int, chain: Sampler, made: int) -> None:
        """Chain `number` has made so many sweeps; a line is written where one is due."""
        with self._lock:
            self._sweeps[number] = made
            if time.monotonic() - self._last >= _BETWEEN_LINES:
                self._write(self._of_sweeps(number, chain))

    def tick(self) -> None:
        """Time has passed: a line is written where there was none for long."""
        with self._lock:
            if time.monotonic() - self._last >= _MOST_SILENCE:
                self._write(self._of_silence())

    def ends(self) -> None:
        """The fit has ended: the last line says so, where there were others."""
        with self._lock:
            if self.n_lines:
                self._write(f"{sum(self._sweeps):,} sweeps made; the fit has ended")

    # ---- Lines ---------------------------------------------------------------------------------

    def _write(self, text: str) -> None:
        self._last = time.monotonic()
        self.n_lines += 1
        # A log that can be written no more (a full disk, a reader that has gone) ends no fit.
        with contextlib.suppress(OSError, ValueError):
            print(f"bhmc {clock(self._last - self._begun)}: {text}", file=sys.stderr, flush=True)

    def _of_sweeps(self, number: int, chain: Sampler) -> str:
        rhat = _worst_rhat(self._recorders)
        judged = "no R-hat yet" if np.isnan(rhat) else f"worst R-hat {rhat:.2f}"
        which = f"chain {number + 1}: " if len(self._sweeps) > 1 else ""
        sizes = f"{which}{chain.n_nodes:,} nodes, {chain.n_components:,} components"
        return f"{self._so_far()}, {self._left()}, {judged}, {sizes}"

    def _so_far(self) -> str:
        least = "at least " if self._may_go_on else ""
        return f"{sum(self._sweeps):,} of {least}{self._planned:,} sweeps"

    def _left(self) -> str:
        made = sum(self._sweeps)
        if made - self._before < _LEAST_SWEEPS:
            return "time left not known yet"
        took = (time.monotonic() - self._sampling) / (made - self._before)
        least = "at least " if self._may_go_on else ""
        return f"{least}{clock(took * max(self._planned - made, 0))} left"

    def _of_silence(self) -> str:
        if self._doing == "sampling":
            return f"{self._so_far()}, a long sweep is under way"
        return f"still at work, {self._doing}"

    def __getstate__(self):
        raise TypeError("a log cannot go to another process")


_current: ContextVar[ProgressLog | None] = ContextVar("_current", default=None)


def current_log() -> ProgressLog | None:
    """The log of the fit that this thread is in; None where nobody asked for one."""
    return _current.get()


@contextlib.contextmanager
def logging_progress(wanted: Any, doing: str = "choosing what to sample") -> Iterator[None]:
    """While it is open, a fit writes lines to standard error, unless a bar can be seen.

    Inside another one it changes nothing but what the fit is said to do.

    Parameters
    ----------
    wanted : bool
        Whether anybody asked for progress.
    doing : str, default="choosing what to sample"
        What is done first, in a few words.
    """
    outer = _current.get()
    if outer is not None and wanted:
        outer.does(doing)
    if outer is not None or not wanted or shows_bars():
        yield
        return
    log = ProgressLog(doing)
    token, over = _current.set(log), threading.Event()
    thread = threading.Thread(target=_ticking, args=(log, over), daemon=True)
    thread.start()
    try:
        yield
        log.ends()
    finally:
        over.set()
        thread.join()
        _current.reset(token)


def _ticking(log: ProgressLog, over: threading.Event) -> None:
    while not over.wait(_BETWEEN_TICKS):
        log.tick()


def shows_bars() -> bool:
    """Whether standard error is a terminal, or a notebook in which tqdm draws its own bars."""
    if sys.stderr is None or sys.stderr.isatty():
        return True
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return False
    return any(one.__module__ == "tqdm.notebook" for one in tqdm.__mro__)


def clock(seconds: float) -> str:
    """Such as 1:02:03, in hours, minutes and seconds."""
    whole = round(seconds)
    return f"{whole // 3600}:{whole // 60 % 60:02}:{whole % 60:02}"


def _worst_rhat(recorders: Sequence[Recorder]) -> float:
    """The worst R-hat of the draws so far, of chains that have some; NaN where none has.

    Chains that run one after another are compared as soon as two have draws; one alone is compared
    with itself, half by half.
    """
    begun = [one for one in recorders if len(one.rows) >= _LEAST_DRAWS]
    if not begun:
        return np.nan
    n_draws = min(len(one.rows) for one in begun)
    return diagnose(collect_numbers([_copy_of(one, n_draws) for one in begun])).worst_rhat


def _copy_of(recorder: Recorder, n_draws: int) -> Recorder:
    """The numbers of the first draws: the chain of another thread may add some meanwhile."""
    held = Recorder()
    held.rows, held.pairs = recorder.rows[:n_draws], recorder.pairs
    return held
