"""What fails a page does fail it: the watch sees errors, requests and dialogs."""

import pytest

from tests.browser import chromium

FAULTS = {
    "console": "console.error('no')",
    "script": "throw new Error('no')",
    "asks for": "fetch('https://example.invalid/x').catch(() => 0)",
    "dialog": "alert('no')",
}


@pytest.mark.parametrize("kind", FAULTS)
def test_a_fault_is_seen(kind, opened, tmp_path):
    file = tmp_path / "page.html"
    file.write_text(f"<!doctype html><script>{FAULTS[kind]}</script>", encoding="utf-8")
    page = opened(file, ready=None)
    page.wait_for_timeout(100)
    assert any(fault.startswith(kind) for fault in page.watched.faults)
    page.watched.faults.clear()  # they were meant


def test_a_page_without_faults_has_none(opened, tmp_path):
    file = tmp_path / "page.html"
    file.write_text("<!doctype html><img src='data:image/gif;base64,R0lGODlhAQABAAAAACw='>")
    assert opened(file, ready=None).watched.faults == []


def test_a_missing_browser_fails_in_ci_and_is_loud_elsewhere(monkeypatch):
    monkeypatch.setenv("CHROMIUM", "/nowhere/chromium")
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match="no Chromium was found"):
        chromium.program()
    monkeypatch.setenv("CI", "")
    with pytest.raises(pytest.skip.Exception, match="NOT TESTED"):
        chromium.program()
