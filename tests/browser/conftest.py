"""One Chromium for this folder; pages are opened from their files and watched."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from bhmc import BHMC
from tests.browser import chromium, pages
from tests.browser.explorer import Explorer


@pytest.fixture(scope="package")
def browser():
    """One Chromium for all tests here.

    It ends with this folder: Playwright's event loop stands in the way of tests that start one.
    """
    program = chromium.program()
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=chromium.ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture(scope="package")
def windows(browser):
    """Windows that stay open, by their settings: a new one takes half a second."""
    known = {}
    yield known
    for window in known.values():
        window.context.close()


@pytest.fixture
def opened(browser, windows):
    """A function that opens a file; after the test, a fault of any of its pages fails it."""
    used = []

    def open_file(file, view="desk", *, ready="[role=tree]", **more):
        key = (view, *sorted(more.items()))
        if key not in windows or windows[key] in used:
            context = browser.new_context(**chromium.options(view) | more)
            windows[key] = context.new_page()
            windows[key].set_default_timeout(10_000)
            windows[key].watched = chromium.Watched(windows[key])
        page = windows[key]
        used.append(page)
        page.emulate_media(media="screen")
        page.watched.open(file.as_uri())
        if ready:
            page.locator(ready).first.wait_for()
        return page

    yield open_file
    faults = [fault for page in used for fault in page.watched.faults]
    for page in used:
        page.goto("about:blank")  # whatever still moves there would disturb measurements
    assert not faults, "\n".join(faults)


@dataclass(frozen=True)
class Page:
    """A file and what was put into it."""

    file: Path
    model: BHMC
    other: BHMC


@pytest.fixture(scope="package")
def zoo(tmp_path_factory):
    """Zoo with a second seed beside it: (file, model, other)."""
    model, other = pages.zoo_model(4), pages.zoo_model(5)
    file = tmp_path_factory.mktemp("zoo") / "zoo.html"
    return Page(model.explore(file, compare=other, title="101 animals"), model, other)


@pytest.fixture
def at_zoo(opened, zoo):
    """A person at the page of Zoo; nothing moves by itself."""
    return Explorer(opened(zoo.file, reduced_motion="reduce"))
