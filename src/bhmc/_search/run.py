"""`search`: try many settings on a subset, score the best few again, name the winner."""

import os
import time
from collections.abc import Callable, Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils.parallel import Parallel, delayed

from bhmc._search.book import Book, seed_in
from bhmc._search.result import SearchResult
from bhmc._search.rounds import (
    DEFAULTS,
    Plan,
    Score,
    class_of,
    hyper_and_depth,
    model_settings,
    score,
)
from bhmc._search.settings import OF_THE_MODEL, check_priors
from bhmc._validation.parameters import check_n_jobs, check_positive, check_whole, seed_sequence
from bhmc._validation.reading import read_data
from bhmc.likelihoods import Likelihood, allows_sparse, choose, kind_of

# A fraction of the rows means at least so many, or all: a fifth of fewer says too little.
_LEAST_SUBSET = 500

# Fewer rows leave too little to hold out.
_LEAST_ROWS = 10

# The split that all rounds share; the others are fresh ones, for second scores.
_SHARED_SPLIT = 0
_FRESH_SPLITS = range(1, 9)
_FINALISTS = 5

# The share of `max_seconds` that second scores may take.
_LARGEST_RESERVE = 0.4

# Rounds from which the time of the others is guessed, and seconds between two lines of progress.
_TIMED_ROUNDS = 5
_BETWEEN_LINES = 15.0


def search(
    X: Any,
    *,
    likelihood: str | Likelihood = "auto",
    subset: float = 0.15,
    rounds: int = 2500,
    warmup: int = 150,
    draws: int = 25,
    priors: Mapping[str, Any] | None = None,
    max_seconds: float | None = None,
    n_jobs: int | None = None,
    random_state: Any = None,
    checkpoint: str | os.PathLike[str] | None = None,
    progress: bool | Callable[[str], object] = True,
) -> SearchResult:
    """Look for settings of `BHMC` that give rows not seen a higher density than the defaults do.

    The random search of the paper's supplement. In every round settings are drawn at random, a
    short chain sees four fifths of a subset of the rows, and the other fifth gives the score: the
    mean log density of a row, averaged over the draws. The defaults of `BHMC` are round 0. At the
    end the five best rounds and the defaults are scored again on eight fresh splits, and these
    second scores name the winner.

    Parameters
    ----------
    X : (n, d) array, frame or sparse matrix
        Data, at least 10 rows, as the likelihood allows.
    likelihood : str or object of bhmc.likelihoods, default="auto"
        As in `BHMC`; the same in all rounds, but for the numbers in `priors`.
    subset : float or int, default=0.15
        Rows of a split: a fraction of all, but at least 500 (or all, if there are fewer); or a
        whole number.
    rounds : int, default=2500
        Settings to try.
    warmup : int, default=150
        Sweeps of each chain before its first draw.
    draws : int, default=25
        Draws of each chain, four sweeps apart.
    priors : dict, optional
        What to draw settings from, by name: "n_levels", "alpha", "gamma0", "gamma" or a number of
        the likelihood. One of `bhmc.priors`, a list of choices, a function of a generator, or a
        number or "learn", which stays the same in all rounds. None leaves a setting to `BHMC`.
        Names not given have the supplement's priors: alpha ~ Gamma(2, 1), gamma0 ~ Gamma(5, 1),
        gamma ~ Uniform(0, 1), n_levels = ceil(1 + Gamma(shape 4, scale 2)); and for `FullGaussian`
        nu ~ d + 1 / Uniform(0, 1) and lam ~ Beta(5, 5). For `AdaptiveGaussian` and `SharedGaussian`
        least_variance ~ Beta(1, 3), of ours: their defaults were not chosen by density.
    max_seconds : float, optional
        Stop after this time, compilation and second scores included.
    n_jobs : int, optional
        Rounds run at the same time: threads, or processes within `joblib.parallel_config("loky")`.
        Scores do not depend on `n_jobs`.
    random_state : int, SeedSequence, Generator or RandomState, optional
        Seed of everything; every score has a seed of its own.
    checkpoint : path, optional
        A file to write scores to. If the file exists, the search resumes from it and ends as if it
        had never stopped; a file of other data or settings is refused.
    progress : bool or callable, default=True
        Print an estimate of the time and, now and then, the progress; or pass these lines to a
        function.

    Returns
    -------
    result : SearchResult
        `BHMC(**result.best)` has the best settings, with `transition="hdp"`. Ctrl-C ends the
        rounds, and the best rounds are scored again; a second Ctrl-C ends these scores, too.

    Examples
    --------
    >>> import bhmc
    >>> X = bhmc.datasets.load_zoo().data
    >>> result = bhmc.search(X, rounds=4, warmup=5, draws=2, random_state=0, progress=False)
    >>> sorted(result.best)
    ['alpha', 'gamma', 'gamma0', 'likelihood', 'n_levels', 'transition']
    >>> len(result.table)  # the defaults are the first
    5
    """
    start = time.monotonic()
    check_whole(rounds, "rounds", 1)
    if max_seconds is not None:
        check_positive(max_seconds, "max_seconds")
    check_n_jobs(n_jobs)
    plan = _plan(X, likelihood, subset, warmup, draws, priors, random_state, checkpoint)
    end = np.inf if max_seconds is None else start + max_seconds
    return _Search(plan, Book(plan, checkpoint), n_jobs, start, end, _teller(progress)).run(rounds)


def _plan(X, likelihood, subset, warmup, draws, priors, random_state, checkpoint) -> Plan:
    """Refuse a bad argument before any work is done."""
    X, _ = read_data(
        X,
        least_rows=_LEAST_ROWS,
        allow_missing=kind_of(likelihood).allows_missing,
        allow_sparse=allows_sparse(likelihood),
    )
    if isinstance(likelihood, str) and likelihood == "auto":  # by all rows, not by each subset
        likelihood = choose(X)
    seed = None if random_state is not None else seed_in(checkpoint)
    if seed is None:
        sequence = seed_sequence(random_state)
        seed = sequence.entropy, tuple(sequence.spawn_key)
    plan = Plan(
        X,
        likelihood,
        check_priors(priors, class_of(likelihood), X.shape[1]),
        _subset_rows(subset, X.shape[0]),
        check_whole(warmup, "warmup", 0),
        check_whole(draws, "draws", 1),
        *seed,
    )
    one = plan.settings(1)  # as good as any to have the model and the family check it
    hyper_and_depth(one)
    plan.family_settings(one, X).prepare(X)
    return plan


def _subset_rows(subset, n: int) -> int:
    """Rows of a split."""
    if isinstance(subset, bool) or not isinstance(subset, Real):
        raise TypeError(f"subset must be a fraction or a whole number of rows, got {subset!r}.")
    if isinstance(subset, Integral):
        return min(n, check_whole(subset, "subset", _LEAST_ROWS))
    if not 0 < float(subset) <= 1:
        raise ValueError(f"subset must be above 0 and at most 1, got {subset!r}.")
    return min(n, max(_LEAST_SUBSET, round(float(subset) * n)))


def _teller(progress) -> Callable[[str], object]:
    if callable(progress):
        return progress
    if not isinstance(progress, bool):
        raise TypeError(f"progress must be True, False or a function, got {progress!r}.")
    return (lambda line: print(line, flush=True)) if progress else (lambda line: None)


class _Search:
    """The order of scores, and the time they may take."""

    def __init__(self, plan: Plan, book: Book, n_jobs, start: float, end: float, tell):
        self._plan, self._book, self._n_jobs = plan, book, n_jobs
        self._start, self._end, self._tell = start, end, tell
        self._batch = 2 * effective_n_jobs(n_jobs) if effective_n_jobs(n_jobs) > 1 else 1
        self._next_line = start + _BETWEEN_LINES

    def run(self, rounds: int) -> SearchResult:
        """All rounds, then second scores; Ctrl-C ends either."""
        if self._book.n_resumed:
            done = len([r for r in self._book.on_split(_SHARED_SPLIT) if r != DEFAULTS])
            self._tell(f"search: resumed after {done:,} rounds in the checkpoint.")
        self._score([(DEFAULTS, _SHARED_SPLIT)], self._end)
        if DEFAULTS not in self._book.on_split(_SHARED_SPLIT):
            raise TimeoutError("max_seconds was too short to score the default settings once.")
        try:
            self._explore(rounds)
        except KeyboardInterrupt:
            self._tell("search: stopped by Ctrl-C; scoring the best again (Ctrl-C to skip that).")
        finalists = self._finalists(rounds)
        try:
            self._score([(r, s) for s in _FRESH_SPLITS for r in finalists], self._end)
        except KeyboardInterrupt:
            self._tell("search: stopped by Ctrl-C before all second scores were made.")
        return self._result(rounds, finalists)

    def _explore(self, rounds: int) -> None:
        """The first score of every round; says how long it will take after a few of them."""
        tasks = [(r, _SHARED_SPLIT) for r in range(1, rounds + 1)]
        todo = [task for task in tasks if task not in self._book.scores]
        if not todo:
            return
        began, few = time.monotonic(), max(_TIMED_ROUNDS, self._batch)
        self._score(todo[:few], self._end)
        each = (time.monotonic() - began) / min(few, len(todo))
        finals = each * (1 + _FINALISTS) * len(_FRESH_SPLITS)
        until = self._end
        if np.isfinite(self._end):
            until -= min(finals, _LARGEST_RESERVE * (self._end - self._start))
        self._tell(_estimate(each, len(todo), finals, self._end - self._start, until - began))
        self._score(todo[few:], until, lambda: self._report(rounds))

    def _score(self, tasks, deadline: float, after=lambda: None) -> None:
        """Scores of these (round, split) that the book does not have, until the deadline."""
        tasks = [task for task in tasks if task not in self._book.scores]
        for first in range(0, len(tasks), self._batch):
            if time.monotonic() > deadline:
                return
            scores = Parallel(n_jobs=self._n_jobs, prefer="threads")(
                delayed(score)(self._plan, number, split, deadline)
                for number, split in tasks[first : first + self._batch]
            )
            self._book.add([one for one in scores if one is not None])
            after()

    def _report(self, rounds: int) -> None:
        now = time.monotonic()
        if now < self._next_line:
            return
        # Lines grow rarer: a search of an hour prints some fifteen.
        self._next_line = now + max(_BETWEEN_LINES, 0.25 * (now - self._start))
        first = self._book.on_split(_SHARED_SPLIT)
        best = max(one.score for one in first.values())
        self._tell(
            f"search: {len(first) - 1:,} of {rounds:,} rounds after {_time(now - self._start)}; "
            f"best first score {best:.3f}, defaults {first[DEFAULTS].score:.3f}"
        )

    def _finalists(self, rounds: int) -> list[int]:
        """The defaults and the rounds of the highest first scores."""
        first = self._book.on_split(_SHARED_SPLIT)
        tried = [r for r in first if DEFAULTS < r <= rounds]
        return [DEFAULTS, *sorted(tried, key=lambda r: (-first[r].score, r))[:_FINALISTS]]

    def _result(self, rounds: int, finalists: list[int]) -> SearchResult:
        first = self._book.on_split(_SHARED_SPLIT)
        fresh = [self._book.on_split(split) for split in _FRESH_SPLITS]
        whole = [scores for scores in fresh if scores.keys() >= set(finalists)]
        second = {r: np.array([scores[r].score for scores in whole]) for r in finalists}
        chosen_by = {r: float(second[r].mean()) if whole else first[r].score for r in finalists}
        winner = max(finalists, key=lambda r: chosen_by[r])
        table = [
            self._row(one, second, chosen_by if whole else {})
            for one in first.values()
            if one.round <= rounds
        ]
        return SearchResult(
            best=self._keywords(winner),
            best_score=chosen_by[winner],
            default_score=chosen_by[DEFAULTS],
            gain_error=_gain(second, winner)[1],
            table=table,
            n_rounds=len(table) - 1,
            n_splits=len(whole),
            n_rows=self._plan.n_subset,
            seconds=time.monotonic() - self._start,
        )

    def _row(self, first: Score, second, second_scores) -> dict[str, Any]:
        settings = self._plan.settings(first.round)
        gain, gain_error = _gain(second, first.round)
        return {
            "round": first.round,
            **{name: settings.get(name) for name in self._plan.priors},
            "score": first.score,
            "components": first.components,
            "second_score": second_scores.get(first.round, np.nan),
            "gain": gain,
            "gain_error": gain_error,
        }

    def _keywords(self, number: int) -> dict[str, Any]:
        """What round `number` gave `BHMC`; a likelihood with numbers of its own for all rows."""
        settings, likelihood = self._plan.settings(number), self._plan.likelihood
        if set(settings) - set(OF_THE_MODEL):
            likelihood = self._plan.family_settings(settings, self._plan.X)
        return {**model_settings(settings), "likelihood": likelihood, "transition": "hdp"}


def _gain(second: dict[int, np.ndarray], number: int) -> tuple[float, float]:
    """(mean, standard error) of the second scores over those of the defaults, split by split."""
    if number not in second or not len(second[number]):
        return np.nan, np.nan
    gains = second[number] - second[DEFAULTS]
    error = gains.std(ddof=1) / np.sqrt(len(gains)) if len(gains) > 1 else np.nan
    return float(gains.mean()), float(error)


def _estimate(each: float, n_todo: int, finals: float, allowed: float, left: float) -> str:
    """How long it will take, as far as the first few rounds tell."""
    whole = f"search: about {_time(each * n_todo + finals)} for {n_todo:,} rounds"
    if each * n_todo + finals <= allowed:
        return whole
    fit = max(1, min(n_todo, int(left / max(each, 1e-9))))
    return f"{whole}; stops after {_time(allowed)} as asked, about {fit:,} rounds"


def _time(seconds: float) -> str:
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
