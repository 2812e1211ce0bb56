"""What a person sees while chains run, and how they stop them: bar or log, callbacks, Ctrl-C."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from typing import Any, NamedTuple, cast

from bhmc._estimator.progress_log import ProgressLog, current_log, logging_progress
from bhmc.model.protocol import Sampler
from bhmc.posterior.recorder import Recorder

# Seconds from one look at the chains to the next: the log joint is not for free.
_BETWEEN_LOOKS = 0.25


class Interrupts:
    """While it is open, the first Ctrl-C asks the chains to stop; a second one breaks off.

    Only the main thread of a process can listen; elsewhere nothing changes.
    """

    def __init__(self):
        self.asked = threading.Event()
        self._before: Any = None

    def __enter__(self) -> Interrupts:
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._stop)
        return self

    def __exit__(self, *_) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    def _stop(self, number, frame) -> None:
        if self.asked.is_set():
            raise KeyboardInterrupt
        self.asked.set()

    def __getstate__(self):
        return {}  # a chain in another process hears nothing of it

    def __setstate__(self, state):
        self.__init__()


class Bar:
    """One bar for all chains: sweeps, time left, log joint, nodes, components, worst R-hat.

    It is drawn on standard error where that is a terminal or a notebook; a log gets lines
    (`progress_log.py`).
    """

    def __init__(self, n_chains: int, n_sweeps: int, first_line: str):
        self._lock = threading.Lock()
        if sys.stderr.isatty():
            print(first_line, file=sys.stderr)
        self._sweeps, self._numbers = [0] * n_chains, [""] * n_chains
        self._total, self._last, self._shown = n_chains * n_sweeps, 0.0, 0
        self._rhat = ""
        self._bar = _new_bar(self._total)

    def update(self, number: int, chain: Sampler, made: int) -> None:
        """Chain `number` has made so many sweeps."""
        with self._lock:
            self._sweeps[number] = made
            now = time.monotonic()
            if now - self._last < _BETWEEN_LOOKS and sum(self._sweeps) < self._total:
                return
            self._last = now
            joint = chain.log_likelihood() + chain.log_prior()
            self._numbers[number] = f"{joint:.5g}/{chain.n_nodes}/{chain.n_components}"
            self._show()

    def judged(self, rhat: float, n_sweeps: int) -> None:
        """The chains were compared: their worst R-hat, and the sweeps of a chain after which next.

        Parameters
        ----------
        rhat : float
            The worst of all numbers.
        n_sweeps : int
            Sweeps of a chain at the next comparison.
        """
        self._rhat = f"worst R-hat {rhat:.2f}, "
        self.planned(n_sweeps)

    def planned(self, n_sweeps: int) -> None:
        """So many sweeps a chain will have made in the end, as far as is known."""
        with self._lock:
            self._bar.total = self._total = len(self._sweeps) * n_sweeps
            self._show()

    def close(self) -> None:
        """Leave the bar as it is."""
        self._bar.close()

    def _show(self) -> None:
        text = "  ".join(text for text in self._numbers if text)
        self._bar.set_postfix_str(f"{self._rhat}log joint/nodes/components {text}", refresh=False)
        self._bar.update(sum(self._sweeps) - self._shown)
        self._shown = sum(self._sweeps)

    def __getstate__(self):
        raise TypeError("a bar cannot go to another process")


def _new_bar(total: int) -> Any:
    """tqdm's bar, or where tqdm is not installed, a line that is written over."""
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return _Line(total)
    # disable=None: silent where standard error is no terminal.
    return tqdm(total=total, unit="sweep", desc="bhmc", disable=None, dynamic_ncols=True)


class _Line:
    """The least that tells how far it is, on a terminal."""

    def __init__(self, total: int):
        self.total, self._made, self._text = total, 0, ""
        self._open, self._begun = sys.stderr.isatty(), time.monotonic()

    def set_postfix_str(self, text: str, refresh: bool) -> None:
        """What to write after the numbers."""
        self._text = text

    def update(self, more: int) -> None:
        """So many sweeps more."""
        self._made += more
        if self._open and self._made:
            left = (time.monotonic() - self._begun) * (self.total / self._made - 1)
            line = f"bhmc: {self._made}/{self.total} sweeps, {left:.0f} s left, {self._text}"
            print(f"\r{line[:100]:<100}", end="", file=sys.stderr, flush=True)

    def close(self) -> None:
        """End the line."""
        if self._open and self._made:
            print(file=sys.stderr)


class CallbackSupport:
    """`set_callbacks` of scikit-learn 1.9 and later.

    As scikit-learn's own mixin, but its package, which brings a library for terminals with it, is
    imported only by those who use callbacks.
    """

    def set_callbacks(self, *callbacks: Any) -> Any:
        """Have callbacks of scikit-learn (a bar, say) hear of every chain and sweep of a fit.

        Parameters
        ----------
        *callbacks : callbacks
            As scikit-learn 1.9 and later knows them; none takes away those set before.
        """
        try:
            from sklearn.callback import CallbackSupportMixin
        except ImportError as error:
            raise ImportError("callbacks need scikit-learn 1.9 or later.") from error
        return CallbackSupportMixin.set_callbacks(cast(Any, self), *callbacks)

    def _init_callback_context(self, **task):
        from sklearn.callback import CallbackSupportMixin

        return CallbackSupportMixin._init_callback_context(cast(Any, self), **task)


def with_callbacks(method):
    """A `fit` that sets its callbacks up and takes them down, where it has some, and writes a log
    from its beginning to its end, where one is asked for.
    """

    @wraps(method)
    def managed(estimator, *arguments, **named):
        with logging_progress(estimator.progress):
            if not getattr(estimator, "_skl_callbacks", None):
                return method(estimator, *arguments, **named)
            from sklearn.callback import with_callbacks

            return with_callbacks(method)(estimator, *arguments, **named)

    return managed


class Told(NamedTuple):
    """Everybody who hears of the chains of a fit."""

    listeners: list[Listener]
    """They hear of every sweep."""
    bar: Bar | None = None
    """Shows sweeps and the worst R-hat."""
    log: ProgressLog | None = None
    """Writes the same in lines, where no bar can be seen."""

    def planned(self, n_sweeps: int, may_go_on: bool = False) -> None:
        """Chains make so many sweeps, as far as is known, or more if they may go on."""
        if self.bar is not None:
            self.bar.planned(n_sweeps)
        if self.log is not None:
            self.log.planned(n_sweeps, may_go_on)

    def runs(self, recorders: Sequence[Recorder], made: Sequence[int]) -> None:
        """Chains go on: where their draws will be, and the sweeps that each has made so far."""
        if self.log is not None:
            self.log.runs(recorders, made)

    def judged(self, rhat: float, n_sweeps: int) -> None:
        """Chains were compared: their worst R-hat, and the sweeps after which they are next."""
        if self.bar is not None:
            self.bar.judged(rhat, n_sweeps)


@contextmanager
def listening(
    estimator,
    n_sweeps: int,
    first_line: str,
    others: Sequence[Listener] = (),
    *,
    is_open: bool = False,
) -> Iterator[Told]:
    """Everything that hears of the chains of a fit, `others` included.

    A bar and callbacks are closed at the end. With `is_open` more sweeps than `n_sweeps` may
    follow, and callbacks are told no number.
    """
    with logging_progress(estimator.progress, "starting its chains"):
        n_chains, log = estimator.n_chains, current_log() if estimator.progress else None
        told: list[Bar | Callbacks] = []
        if log is not None:
            log.samples(n_chains, n_sweeps)
        elif estimator.progress:
            told.append(Bar(n_chains, n_sweeps, first_line))
        if getattr(estimator, "_skl_callbacks", None):
            context = estimator._init_callback_context(
                max_subtasks=n_chains, sequential_subtasks=False
            )
            context.call_on_fit_task_begin(estimator=estimator)
            told.append(Callbacks(estimator, context, n_chains, None if is_open else n_sweeps))
        bar = next((one for one in told if isinstance(one, Bar)), None)
        hear: list[Listener] = [*(one.update for one in told), *others]
        try:
            yield Told(hear if log is None else [log.update, *hear], bar, log)
        finally:
            for one in told:
                one.close()
            if log is not None:
                log.does("summarising the draws")


Listener = Callable[[int, Sampler, int], Any]
"""Hears (number of the chain, chain, sweeps made); True asks that chain to stop."""


class Callbacks:
    """scikit-learn's callbacks (1.9 and later): a task for each chain, and in it for each sweep."""

    def __init__(self, estimator, context, n_chains: int, n_sweeps: int | None):
        self._estimator, self._context = estimator, context
        self._chains = [
            context.subcontext(task_name="chain", task_id=number, max_subtasks=n_sweeps)
            for number in range(n_chains)
        ]
        self._open: set[int] = set()
        self._lock = threading.Lock()

    def update(self, number: int, chain: Sampler, made: int) -> bool:
        """Tell the callbacks that a sweep has ended; whether one of them asks to stop."""
        with self._lock:
            task = self._chains[number]
            if number not in self._open:
                self._open.add(number)
                task.call_on_fit_task_begin(estimator=self._estimator)
            sweep = task.subcontext(task_name="sweep")
            sweep.call_on_fit_task_begin(estimator=self._estimator)
            return bool(sweep.call_on_fit_task_end(estimator=self._estimator))

    def close(self) -> None:
        """The tasks have ended."""
        for number in self._open:
            self._chains[number].call_on_fit_task_end(estimator=self._estimator)
        self._context.call_on_fit_task_end(estimator=self._estimator)

    def __getstate__(self):
        raise TypeError("callbacks cannot go to another process")
