"""`bhmc compare`: methods side by side on a user's own table."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import StandardScaler

from bhmc._experiments.comparison import (
    CONTROL,
    Entry,
    Plan,
    control_plan,
    run_plans,
    settings_used,
)
from bhmc._experiments.comparison_page import add_comparison, add_times
from bhmc._experiments.job import Job
from bhmc._experiments.methods import BHMC_METHODS, METHODS
from bhmc._experiments.page import Page
from bhmc._experiments.run_details import describe_run
from bhmc._experiments.settings import read_settings


class Question(NamedTuple):
    """What a user wants compared. Classes and data are apart from here on."""

    title: str
    X: Any
    """(n, d) numbers, or the table itself, of which rivals take the numbers."""
    truth: NDArray[np.int64]
    """(n, levels) classes, for measurements after the fits."""
    level_names: list[str]
    methods: list[str]
    n_levels: int | None = None
    """Levels of BHMC's tree; None: its default."""
    repeats: int = 1
    sizes: tuple[int, ...] = ()
    """Numbers of rows at which to take the time."""
    notes: tuple[str, ...] = ()
    columns: dict[str, str] | None = None
    """`columns` of BHMC: what the columns of the table were taken for."""


def standardised(X: NDArray) -> NDArray[np.float64]:
    """Columns of mean 0 and variance 1; constant ones are 0."""
    return StandardScaler().fit_transform(X)


def plans_for(methods: list[str], settings: dict[str, Any], repeats: int) -> list[Plan]:
    """How each method but the control is to be run; the control comes after the others."""
    return [Plan(name, settings.get(name, {}), repeats) for name in methods if name != CONTROL]


def run_all(
    job: Job,
    methods: list[str],
    settings: dict[str, Any],
    X: Any,
    truth: NDArray,
    *,
    repeats: int = 1,
    unlimited: Sequence[str] = (),
) -> list[Entry]:
    """All methods; the control comes last, because it takes alpha and L from a fit of BHMC."""
    entries = run_plans(job, plans_for(methods, settings, repeats), X, unlimited=unlimited)
    if CONTROL in methods:
        n_trees = settings[CONTROL]["repeats"]
        entries += run_plans(job, [control_plan(entries, truth, n_trees)], X)
    return entries


def time_methods(
    job: Job, methods: list[str], settings: dict[str, Any], X: Any, sizes: tuple[int, ...]
) -> dict[int, list[Entry]]:
    """One run of each method but the control on the first so many rows, in a random order."""
    order = np.random.default_rng(job.seed).permutation(len(X))
    plans = plans_for(methods, settings, 1)
    times = {}
    for n in sizes:
        part = X.take(np.sort(order[:n]), axis=0)  # of an array or of a frame
        times[n] = run_plans(job, plans, part, what=f"time at {n} rows, ")
    return times


def run(job: Job, question: Question) -> Page:
    """Run all methods, measure their trees, and write the page."""
    settings = read_settings("compare", quick=job.quick)
    if question.n_levels is not None:
        for name in BHMC_METHODS:
            settings[name]["n_levels"] = question.n_levels
    if question.columns is not None:
        for name in BHMC_METHODS:
            if "likelihood" not in settings[name]:  # else types of columns decide
                settings[name]["columns"] = question.columns
    n, levels = question.truth.shape
    page = Page(
        question.title,
        f"{len(question.methods)} methods on {n:,} rows, measured against {levels} "
        f"level{'' if levels == 1 else 's'} of classes ({', '.join(question.level_names)}).",
        job.folder,
    )
    X = question.X
    entries = run_all(job, question.methods, settings, X, question.truth, repeats=question.repeats)
    add_comparison(page, entries, question.truth, job.budget)
    sizes = tuple(size for size in question.sizes if size <= n)
    notes = list(question.notes)
    if left_out := [f"{size:,}" for size in question.sizes if size > n]:
        notes.append(f"No time was taken at {', '.join(left_out)} rows: there are only {n:,}.")
        job.say(notes[-1])
    if notes:
        page.section("The data")
        page.text(*notes)
    if sizes and set(question.methods) != {CONTROL}:  # whose time says nothing
        times = time_methods(job, question.methods, settings["timing"], X, sizes)
        add_times(page, times, settings["timing"]["told"])
    outcomes = {_part_name(entry): entry.outcome for entry in entries}
    used = settings_used(question.methods, settings, entries, question.truth)
    describe_run(page, job, used, outcomes)
    return page


def _part_name(entry: Entry) -> str:
    return f"{METHODS[entry.method].words}, seed {entry.seed}"
