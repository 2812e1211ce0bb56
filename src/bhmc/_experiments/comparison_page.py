"""The section of a page that compares methods: warning, figure, sheets of scores."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bhmc._experiments.comparison import (
    CONTROL,
    CUT_WORDS,
    CUTS,
    Entry,
    Mean,
    component_sheet,
    cut_sheet,
    mean_scores,
    purity_sheet,
    run_sheet,
    score_runs,
)
from bhmc._experiments.figures.ami import draw_ami
from bhmc._experiments.figures.levels import draw_levels
from bhmc._experiments.figures.times import draw_times, growth
from bhmc._experiments.methods import METHODS
from bhmc._experiments.own_levels import compare_levels, full_sheet, short_sheet
from bhmc._experiments.page import Page
from bhmc._experiments.sheet import Sheet
from bhmc._io.atomic_write import write_atomically

# NMI of a random tree beyond which it is said that NMI proves nothing.
_HIGH = 0.3


def add_comparison(
    page: Page, entries: Sequence[Entry], truth: NDArray, budget: float
) -> list[Mean]:
    """Agreement with the classes at every level, by both cuts, with the control."""
    _add_ami(page, entries, truth)
    scores = score_runs(entries, truth)
    means = mean_scores(scores)
    page.section("Agreement with the classes, level by level")
    page.text(
        "The classes were read after the fits, for these measurements alone. A measure of 1 is "
        "perfect. Purity, NMI and F reward many small clusters whatever these hold; ARI and AMI "
        "are 0 on average for clusters made by chance."
    )
    if warning := control_sentence(means):
        page.note(warning)
    page.figure(
        "levels",
        draw_levels(means),
        "Agreement of every method with the classes at each level, by both cuts. The dashed black "
        "line is the control. Panels on grey show measures that chance alone can raise; judge by "
        "ARI and AMI.",
    )
    for cut in CUTS:
        sheet = cut_sheet(means, cut)
        page.sheet(f"levels-{cut}", sheet)
    page.sheet("dendrogram-purity", purity_sheet(means))
    for sentence in verdicts(means):
        page.text(sentence)
    components = component_sheet(entries, truth)
    if components.rows:
        page.text(
            "BHMC says what rows look like by components and which of them go together by the "
            "tree; a path is only weakly tied to its row. As a flat clustering its components "
            "count:"
        )
        page.sheet("components", components)
    page.section("The runs")
    page.sheet("runs", run_sheet(entries, budget))
    add_file(page, "scores", scores)
    return means


def _add_ami(page: Page, entries: Sequence[Entry], truth: NDArray) -> None:
    """The figures to look at first: AMI of every method in one line."""
    rows = compare_levels(entries, truth)
    if not rows:
        return
    page.section("Every method in one line")
    page.text(
        "AMI is 0 on average for clusters made by chance and 1 for the classes themselves. Most "
        "methods have to be told how many clusters to make. A tree with levels of its own can be "
        "compared without that: its best level counts, beside the control, which has the same "
        "choice."
    )
    page.sheet("ami", full_sheet(rows), shown=short_sheet(rows))
    page.figure(
        "ami",
        draw_ami(rows),
        "AMI of every method with the classes of each level: to the left the tree is cut into as "
        "many clusters as there are classes, to the right its best level counts, whatever the "
        "number of clusters there. The dashed black line is the control.",
    )


def add_file(page: Page, name: str, sheet: Sheet) -> None:
    """A sheet as a file only, named on the page."""
    path = page.folder / f"{name}.csv"
    write_atomically(path, sheet.to_csv())
    page.files.append(path)
    page.text(f"Every run at every level and cut is in {path.name}.")


def control_sentence(means: Sequence[Mean]) -> str:
    """What a random tree reaches, in figures: where it reaches most, and whom it leaves behind."""
    of_control = [
        mean
        for mean in means
        if mean.method == CONTROL and mean.cut == "depth" and mean.n_true > 1  # one class: no news
    ]
    if not of_control:
        return ""
    best = max(of_control, key=lambda mean: mean.scores["nmi"])
    beaten = [
        METHODS[mean.method].words
        for mean in means
        if (mean.cut, mean.level) == ("depth", best.level)
        and mean.method != CONTROL
        and mean.scores["nmi"] < best.scores["nmi"]
    ]
    if beaten or best.scores["nmi"] > _HIGH:
        said = f"Purity and NMI alone prove nothing here: {_reached(best)}"
        return f"{said} Its NMI is above that of {_listed(beaten)}." if beaten else said
    purest = max(of_control, key=lambda mean: mean.scores["purity"])
    return f"Read purity beside the control: {_reached(purest)}"


def _reached(mean: Mean) -> str:
    purity, nmi, ari, ami = (  # z: no "-0.00"
        f"{mean.scores[name]:z.2f}" for name in ("purity", "nmi", "ari", "ami")
    )
    return (
        f"at level {mean.level} a random tree that has never seen the data has purity {purity} and "
        f"NMI {nmi}, with ARI {ari} and AMI {ami}."
    )


def verdicts(means: Sequence[Mean]) -> list[str]:
    """Who is best by chance-corrected measures, level by level, in words."""
    lines = []
    for cut in CUTS:
        parts = []
        for level in sorted({mean.level for mean in means}):
            here = [m for m in means if m.cut == cut and m.level == level and m.method != CONTROL]
            if len(here) > 1 and here[0].n_true > 1:
                best, highest = _best(here)
                parts.append(f"{best} at level {level} ({highest:z.2f})")
        if parts:
            lines.append(f"Highest AMI, {CUT_WORDS[cut]}: {'; '.join(parts)}.")
    return lines


def _best(here: Sequence[Mean]) -> tuple[str, float]:
    """The methods whose AMI is highest as it is shown: nobody wins by standing first in a tie."""
    shown = {METHODS[mean.method].words: round(mean.scores["ami"], 2) for mean in here}
    highest = max(shown.values())
    best = [words for words, value in shown.items() if value == highest]
    said = "all methods alike" if len(best) == len(here) else _listed(best)
    return said, highest


def add_times(page: Page, entries: dict[int, list[Entry]], what: str) -> None:
    """Run time against the number of rows."""
    times: dict[str, list[tuple[int, float, bool]]] = {}
    for n, of_size in entries.items():
        for entry in of_size:
            facts = entry.outcome.facts
            times.setdefault(entry.method, []).append(
                (n, float(facts["cpu_seconds"]), bool(facts.get("stopped_early")))
            )
    sizes = list(entries)
    sheet = Sheet(("method", *(f"N {n:,}" for n in sizes), "exponent"), digits=2)
    sheet.caption = "CPU seconds at N rows, and the exponent of N that fits them."
    for method, points in times.items():
        done = [(n, seconds) for n, seconds, stopped in points if not stopped]
        n, seconds = np.array(done).reshape(-1, 2).T
        exponent = growth(n, seconds)
        sheet.rows.append(
            (METHODS[method].words, *(seconds for _, seconds, _ in points), float(exponent))
        )
    page.section("Run time against the number of rows")
    page.text(what)
    page.figure(
        "times-by-rows",
        draw_times(times),
        "CPU seconds of each method against the number of rows; both axes are logarithmic, so "
        "that a power of N is a straight line. Open marks were stopped by their time.",
    )
    page.sheet("times-by-rows", sheet)


def _listed(words: Sequence[str]) -> str:
    """One after the other; names with a comma of their own are told apart by quotes."""
    if len(words) == 1:
        return words[0]
    quoted = [f'"{name}"' if "," in name else name for name in words]
    return f"{', '.join(quoted[:-1])} and {quoted[-1]}"
