"""Methods side by side: run them, and measure their trees against classes no method has seen."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bhmc._experiments.job import Job
from bhmc._experiments.methods import BHMC_METHODS, METHODS, OWN_SETTINGS
from bhmc._experiments.sheet import Sheet
from bhmc._experiments.store import Outcome
from bhmc._io.digest import digest_of_data
from bhmc.metrics import ami, ari, dendrogram_purity, level_table

CUTS = {
    "depth": "Cut by depth: level l of the classes against level l of the tree (the paper's way)",
    "matched": "Cut at matched numbers: level l of the classes against a cut into as many clusters "
    "as there are classes, or all leaves of a tree that has fewer",
}
CUT_WORDS = {"depth": "cut by depth", "matched": "cut into as many clusters as classes"}
MEASURES = {"purity": "purity", "nmi": "NMI", "ari": "ARI", "f_measure": "F", "ami": "AMI"}
CONTROL = "random"


class Entry(NamedTuple):
    """One run of one method."""

    method: str
    seed: int
    outcome: Outcome


class Plan(NamedTuple):
    """How a method is to be run."""

    method: str
    settings: dict[str, Any]
    repeats: int = 1


def run_plans(
    job: Job, plans: Sequence[Plan], X: Any, *, what: str = "", unlimited: Sequence[str] = ()
) -> list[Entry]:
    """Run every plan, repeats with seeds that follow each other.

    Methods stop in time, but for those that are `unlimited`.
    """
    digest = digest_of_data(X)
    entries = []
    for plan in plans:
        settings = {**OWN_SETTINGS.get(plan.method, {}), **plan.settings}
        repeats = plan.repeats if METHODS[plan.method].is_random else 1
        for seed in range(job.seed, job.seed + repeats):
            name = f"{what}{plan.method}" + (f" seed {seed}" if repeats > 1 else "")
            budget = None if plan.method in unlimited else job.budget
            outcome = job.run(name, plan.method, settings, X, digest, seed=seed, budget=budget)
            entries.append(Entry(plan.method, seed, outcome))
    return entries


def control_plan(entries: Iterable[Entry], truth: NDArray, repeats: int) -> Plan:
    """Random trees with the alpha and L of the first fit of BHMC, or of the classes' depth."""
    for entry in entries:
        tree = entry.outcome.tree
        if entry.method in BHMC_METHODS and tree is not None:
            settings = {"alpha": round(float(tree.alpha), 6), "n_levels": tree.n_levels}
            return Plan(CONTROL, settings, repeats)
    return Plan(CONTROL, {"alpha": 1.0, "n_levels": truth.shape[1]}, repeats)


def settings_used(
    methods: Iterable[str], settings: dict[str, Any], entries: Sequence[Entry], truth: NDArray
) -> dict[str, dict[str, Any]]:
    """Words of each method with the settings it was run with, the control's included."""
    used = {}
    for name in methods:
        own = {**OWN_SETTINGS.get(name, {}), **settings.get(name, {})}
        if name == CONTROL:
            own = {**control_plan(entries, truth, 0).settings, **own}
        used[METHODS[name].words] = own
    return used


def score_runs(entries: Sequence[Entry], truth: NDArray) -> Sheet:
    """Every run at every level and cut: a long sheet, for files and for figures."""
    sheet = Sheet(
        ("method", "seed", "cut", "level", "classes", "clusters", *MEASURES, "dendrogram_purity")
    )
    for entry in entries:
        tree = entry.outcome.tree
        if tree is None:
            continue
        purities = [dendrogram_purity(tree, column) for column in truth.T]
        for cut in CUTS:
            for row in level_table(tree, truth, cut=cut):
                scores = [float(getattr(row, name)) for name in MEASURES]
                sheet.rows.append(
                    (
                        entry.method,
                        entry.seed,
                        cut,
                        row.level,
                        row.n_true,
                        row.n_found,
                        *scores,
                        float(purities[row.level - 1]),
                    )
                )
    return sheet


class Mean(NamedTuple):
    """Means over the runs of a method at one level, for one cut."""

    method: str
    cut: str
    level: int
    n_true: int
    n_found: float
    scores: dict[str, float]
    spread: dict[str, float]
    """Standard deviations over the runs; 0 for one run."""
    n_runs: int


def mean_scores(scores: Sheet) -> list[Mean]:
    """The long sheet of `score_runs`, repeats put together."""
    grouped: dict[tuple, list[Sequence[Any]]] = {}
    for row in scores.rows:
        grouped.setdefault((row[0], row[2], row[3]), []).append(row)
    found = []
    names = (*MEASURES, "dendrogram_purity")
    for (method, cut, level), rows in grouped.items():
        values = np.array([row[6:] for row in rows], dtype=float)
        found.append(
            Mean(
                method,
                cut,
                level,
                rows[0][4],
                float(np.mean([row[5] for row in rows])),
                dict(zip(names, values.mean(axis=0).tolist(), strict=True)),
                dict(zip(names, values.std(axis=0).tolist(), strict=True)),
                len(rows),
            )
        )
    return found


def cut_sheet(means: Sequence[Mean], cut: str) -> Sheet:
    """A sheet for the page: for each level a line for each method; the control stands out."""
    sheet = Sheet(
        ("level", "classes", "method", "clusters", *MEASURES.values(), "runs"),
        caption=f"{CUTS[cut]}. Means over runs.",
        strong=lambda row: row[2] == METHODS[CONTROL].words,
    )
    chosen = [mean for mean in means if mean.cut == cut]
    for mean in sorted(chosen, key=lambda mean: mean.level):  # a stable sort: methods stay in order
        sheet.rows.append(
            (
                mean.level,
                mean.n_true,
                METHODS[mean.method].words,
                round(mean.n_found),
                *(mean.scores[name] for name in MEASURES),
                mean.n_runs,
            )
        )
    return sheet


def purity_sheet(means: Sequence[Mean]) -> Sheet:
    """Dendrogram purity, which needs no cut: a line for each method, a column for each level."""
    levels = sorted({mean.level for mean in means})
    sheet = Sheet(
        ("method", *(f"level {level}" for level in levels)),
        caption="Dendrogram purity: for pairs of one class, the share of that class in the "
        "smallest subtree that holds both.",
        strong=lambda row: row[0] == METHODS[CONTROL].words,
    )
    for method in dict.fromkeys(mean.method for mean in means):
        by_level = {
            mean.level: mean.scores["dendrogram_purity"]
            for mean in means
            if mean.method == method and mean.cut == "depth"
        }
        sheet.rows.append((METHODS[method].words, *(by_level[level] for level in levels)))
    return sheet


def component_sheet(entries: Sequence[Entry], truth: NDArray) -> Sheet:
    """The components of BHMC as a flat clustering, against every level of the classes."""
    levels = range(1, truth.shape[1] + 1)
    sheet = Sheet(
        (
            "method",
            "seed",
            "components",
            *(f"{words} {level}" for level in levels for words in ("ARI", "AMI")),
        ),
        caption="Components of BHMC as one flat clustering, against the classes of each level.",
    )
    for entry in entries:
        tree = entry.outcome.tree
        if tree is not None and entry.method in BHMC_METHODS:
            scores = [
                float(score(column, tree.components)) for column in truth.T for score in (ari, ami)
            ]
            words = METHODS[entry.method].words
            sheet.rows.append((words, entry.seed, tree.n_components, *scores))
    return sheet


def run_sheet(entries: Sequence[Entry], budget: float) -> Sheet:
    """What every run took and gave."""
    sheet = Sheet(
        ("method", "seed", "seconds", "CPU seconds", "nodes", "leaves", "levels", "how it ended"),
        caption=f"Every run. A slow method has {budget / 60:g} minutes and then stops with what it "
        "has.",
        digits=1,
    )
    for entry in entries:
        facts, tree = entry.outcome.facts, entry.outcome.tree
        ended = "stopped by its time" if facts.get("stopped_early") else "finished"
        shape = (None,) * 3 if tree is None else (tree.n_nodes, tree.n_leaves, tree.n_levels)
        seed = entry.seed if METHODS[entry.method].is_random else None
        sheet.rows.append(
            (
                METHODS[entry.method].words,
                seed,
                float(facts["seconds"]),
                float(facts["cpu_seconds"]),
                *shape,
                ended if tree is not None else "no result within its time",
            )
        )
    return sheet
