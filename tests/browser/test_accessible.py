"""WCAG 2.2 AA as far as axe can tell, and everything by keyboard."""

import io

import numpy as np
import pytest
from PIL import Image

from tests.browser.axe import serious_faults
from tests.browser.chromium import VIEWS
from tests.browser.explorer import Explorer

PANELS = ("About", "Group", "Item", "Draws", "Together", "Chains", "Compare")


def visit(person, stops):
    """Yield the page at each stop: each panel open, a cut, the search's results, links."""
    person.search("platypus")
    if "search" in stops:
        yield "search"
    person.found().first.click()
    for panel in PANELS:
        if panel in stops:
            person.open(panel)
            yield panel
    person.slide("Clusters", 5)
    person.choose("combobox", "Drawn as", "Nodes and links")
    if "links" in stops:
        yield "links"


ALL = ("search", *PANELS, "links")
# A stop takes a second. `make browser` makes all of them in all views.
LONG = [pytest.param(view, ALL, marks=pytest.mark.browser_long) for view in VIEWS]


@pytest.mark.parametrize(
    ("view", "stops"),
    [("desk", ("search", "Group", "Compare")), ("phone-dark", ("Item", "Draws", "links")), *LONG],
)
def test_axe_finds_no_serious_fault(view, stops, opened, zoo):
    person = Explorer(opened(zoo.file, view, reduced_motion="reduce"))
    found = {where: serious_faults(person.page) for where in visit(person, stops)}
    assert list(found) == list(stops)
    faults = [f"{where}: {fault}" for where, all_of in found.items() for fault in all_of]
    assert not faults, "\n".join(faults)


def test_axe_sees_what_is_wrong(opened, zoo):
    """Inside the page, too: without its name a button is a fault."""
    page = opened(zoo.file)
    page.evaluate(
        """() => {
            const root = document.querySelector('#bhmc-explorer').shadowRoot;
            const button = root.querySelector('[aria-label="Zoom in"]');
            button.disabled = false;
            button.textContent = '';
            button.removeAttribute('aria-label');
            button.removeAttribute('title');
        }"""
    )
    assert any(fault.startswith("button-name") for fault in serious_faults(page))


def focused(page) -> str:
    """The element that has the focus: what it is and what it is called."""
    return page.evaluate(
        """() => {
            const root = document.querySelector('#bhmc-explorer').shadowRoot;
            const one = root.activeElement;
            if (!one) return '';
            return one.matches('[role=treeitem]') ? 'tree' : `${one.tagName} ${one.id}
                ${one.getAttribute('aria-label') ?? one.textContent}`.replace(/\\s+/g, ' ').trim();
        }"""
    )


@pytest.mark.parametrize(
    "panel",
    [
        "Group",
        *(pytest.param(one, marks=pytest.mark.browser_long) for one in PANELS if one != "Group"),
    ],
)
def test_the_tab_key_reaches_every_control(panel, opened, zoo):
    person = Explorer(opened(zoo.file, reduced_motion="reduce"))
    person.at(1).click()
    person.open(panel)
    # All that a mouse can press is reached, but for the members in the tree, which panels list.
    wanted = person.page.evaluate(
        """() => {
            const root = document.querySelector('#bhmc-explorer').shadowRoot;
            const all = 'button, input, select, summary, [tabindex="0"]';
            return [...root.querySelectorAll(all)].filter(one => !one.disabled
                && one.getAttribute('tabindex') !== '-1' && one.checkVisibility()
                && !(one.closest('details:not([open])') && one.tagName !== 'SUMMARY')).length;
        }"""
    )
    person.page.evaluate("document.activeElement?.blur()")
    person.page.locator("h1").click()
    reached = []
    for _ in range(wanted + 3):
        person.page.keyboard.press("Tab")
        reached.append(focused(person.page))
        if len(reached) > 1 and not reached[-1]:
            break
    found = [one for one in reached if one]
    assert len(found) >= wanted
    assert "tree" in found
    for name in ("Search", "Zoom in", "Dark colours"):
        assert any(name in one for one in found), name


def test_the_focus_can_be_seen(opened, zoo):
    """Wherever the tab key leads, some pixels change: a ring appears there, and leaves the last."""
    page = opened(zoo.file, reduced_motion="reduce")
    before = pixels(page)
    for _ in range(12):
        page.keyboard.press("Tab")
        after = pixels(page)
        assert (after != before).any(axis=2).sum() > 60, focused(page)
        before = after


def pixels(page) -> np.ndarray:
    """The page as it looks, without a blinking cursor."""
    return np.asarray(Image.open(io.BytesIO(page.screenshot())).convert("RGB"))
