"""Faults of accessibility that axe sees, by the rules of WCAG 2.2, level AA."""

from functools import cache
from importlib.resources import files

TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22a", "wcag22aa"]
_SERIOUS = ("serious", "critical")


@cache
def _program() -> str:
    return files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")


def serious_faults(page) -> list[str]:
    """A line for each serious fault of a page as it is now, with the first element that has it."""
    page.evaluate(_program())
    rules = {"runOnly": {"type": "tag", "values": TAGS}, "resultTypes": ["violations"]}
    found = page.evaluate("rules => axe.run(document, rules)", rules)
    return [
        f"{fault['id']} ({fault['impact']}), {len(fault['nodes'])} times: "
        + fault["nodes"][0]["html"][:200]
        + " "
        + fault["nodes"][0]["failureSummary"][:300]
        for fault in found["violations"]
        if fault["impact"] in _SERIOUS
    ]
