"""One Chromium for this folder; pages are opened from their files and watched."""

import contextlib

import pytest

from tests.browser import chromium


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


@pytest.fixture
def opened(browser):
    """A function that opens a file; after the test, a fault of any of its pages fails it."""
    pages = []
    with contextlib.ExitStack() as stack:

        def open_file(file, view="desk", *, ready="[role=tree]", **more):
            context = browser.new_context(**chromium.options(view) | more)
            stack.callback(context.close)
            page = context.new_page()
            page.set_default_timeout(10_000)
            watched = chromium.Watched(page, file.as_uri())
            pages.append(watched)
            page.goto(watched.url)
            if ready:
                page.locator(ready).first.wait_for()
            page.watched = watched
            return page

        yield open_file
        faults = [fault for page in pages for fault in page.faults]
    assert not faults, "\n".join(faults)
