"""Debian's Chromium, driven by Playwright; nothing is downloaded."""

import os
from pathlib import Path

import pytest

PROGRAMS = ("/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
VIEWS = ("desk", "desk-dark", "phone", "phone-dark")
# What a page may ask for beside itself: nothing that leaves the machine.
_OWN = ("data:", "blob:")


def program() -> str:
    """The browser's program. Without one the tests are skipped, but fail where CI=true."""
    named = os.environ.get("CHROMIUM")
    for path in [named] if named else PROGRAMS:
        if Path(path).exists():
            return path
    sentence = (
        "NOT TESTED: the explorer in a browser, for no Chromium was found: install it "
        "(apt-get install chromium), or set CHROMIUM to its program."
    )
    if os.environ.get("CI") == "true":
        pytest.fail(sentence, pytrace=False)
    pytest.skip(sentence)


class Watched:
    """A page whose faults are kept: errors of scripts, requests that leave it, dialogs."""

    def __init__(self, page):
        self.page, self.url, self.faults = page, "", []
        page.on("console", self._on_console)
        page.on("pageerror", lambda error: self.faults.append(f"script: {error}"))
        page.on("request", self._on_request)
        page.on("dialog", self._on_dialog)

    def open(self, url: str):
        """Open a page, and forget the faults of the one before."""
        self.page.goto("about:blank")
        self.url, self.faults = url.partition("#")[0], []
        self.page.goto(url)

    def _on_console(self, message):
        if message.type in ("error", "warning"):
            self.faults.append(f"console: {message.text}")

    def _on_request(self, request):
        if request.url not in (self.url, "about:blank") and not request.url.startswith(_OWN):
            self.faults.append(f"asks for {request.url}")

    def _on_dialog(self, dialog):
        self.faults.append(f"dialog: {dialog.message}")
        dialog.dismiss()


def options(name: str) -> dict:
    """Playwright's settings of a view, such as "desk-dark" or "phone"."""
    phone = name.startswith("phone")
    return {
        "viewport": {"width": 390, "height": 844} if phone else {"width": 1280, "height": 800},
        "color_scheme": "dark" if name.endswith("dark") else "light",
        "accept_downloads": True,
    }
