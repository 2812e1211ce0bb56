"""The last section of every page: command, settings, seed, versions and times of a run."""

from typing import Any

from bhmc._experiments.job import Job
from bhmc._experiments.page import Page
from bhmc._experiments.sheet import Sheet
from bhmc._experiments.store import Outcome
from bhmc._io.versions import versions


def describe_run(
    page: Page, job: Job, settings: dict[str, dict[str, Any]], outcomes: dict[str, Outcome]
) -> None:
    """Command, settings, seed, versions and times."""
    page.section("What was run")
    if job.quick:
        page.note(
            "This is a quick run (--quick): far too few sweeps. It shows that everything works; "
            "its numbers mean nothing."
        )
    page.code(job.command)
    page.text(
        f"Seed {job.seed}. The same command in the same folder finds the parts that are finished "
        "and does not run them again; a part whose settings, data or version have changed is run "
        "anew."
    )
    for title, values in settings.items():
        page.settings(title, values)
    page.sheet("times", _times(outcomes))
    page.settings("Versions", versions("matplotlib"))


def _times(outcomes: dict[str, Outcome]) -> Sheet:
    sheet = Sheet(
        ("part", "seconds", "CPU seconds", "stopped by its time"),
        caption="Seconds on the limit and of the processors; other work on the machine counts in "
        "the first.",
        digits=1,
    )
    for name, outcome in outcomes.items():
        facts = outcome.facts
        stopped = bool(facts.get("stopped_early"))
        sheet.rows.append(
            (name, float(facts["seconds"]), float(facts["cpu_seconds"]), "yes" if stopped else "no")
        )
    return sheet
