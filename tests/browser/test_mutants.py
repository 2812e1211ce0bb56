"""Every test here can fail: each sees a page with one fault in it."""

import inspect
import shutil
import subprocess
from dataclasses import replace

import pytest
from playwright.sync_api import Error, expect

from bhmc._explorer import page as page_of_python
from tests.browser import test_hostile
from tests.browser.explorer import Explorer
from tests.browser.large import large_tree
from tests.browser.mutants import MUTANTS
from tests.browser.pages import hostile_tree
from tests.browser.test_built import NPM, ROOT

pytestmark = pytest.mark.browser_long


@pytest.fixture(scope="module")
def workshop(tmp_path_factory):
    """A copy of `web/` that can be built."""
    web = tmp_path_factory.mktemp("checkout") / "web"
    shutil.copytree(ROOT / "web", web, ignore=shutil.ignore_patterns("node_modules"))
    subprocess.run([*NPM, "ci", "--prefer-offline", "--no-audit", "--no-fund"], cwd=web, check=True)
    return web


@pytest.fixture
def program(workshop, monkeypatch):
    """A function that makes a mutant's program that of all pages."""

    def use(mutant):
        source = workshop / "src" / mutant.file
        text = source.read_text("utf-8")
        assert text.count(mutant.old) == 1, f"{mutant.file} has not one: {mutant.old}"
        source.write_text(text.replace(mutant.old, mutant.new), encoding="utf-8")
        try:
            subprocess.run([*NPM, "run", "build"], cwd=workshop, check=True, capture_output=True)
        finally:
            source.write_text(text, encoding="utf-8")
        built = workshop.parent / "src" / "bhmc" / "_explorer" / "static" / "explorer.js"
        monkeypatch.setattr(page_of_python, "program", lambda: built.read_text("utf-8"))

    return use


def arguments(test, browser, opened, zoo, folder):
    """What a test asks for, by name, with pages made now."""
    wanted = inspect.signature(test).parameters
    found = {"browser": browser, "opened": opened, "tmp_path": folder}
    if {"zoo", "at_zoo", "person"} & set(wanted):
        file = folder / "zoo.html"
        zoo = replace(zoo, file=zoo.model.explore(file, compare=zoo.other, title="101 animals"))
        found |= {"zoo": zoo}
    if "hostile_page" in wanted:
        tree = hostile_tree()
        found |= {"hostile_page": (tree, tree.explore(folder / "hostile.html"))}
    if "large_page" in wanted:
        found |= {"large_page": large_tree().explore(folder / "large.html")}
    for name in ("at_zoo", "person"):
        if name in wanted:
            found[name] = Explorer(opened(zoo.file, reduced_motion="reduce"))
            found[name].page.set_default_timeout(2_000)
    return {name: value for name, value in found.items() if name in wanted}


def fails(test, *, of, given):
    """Whether a test fails, and not for want of an argument."""
    expect.set_options(timeout=1_000)
    try:
        test(**of, **dict(given))
    except (AssertionError, Error, IndexError, TypeError):
        return True
    finally:
        expect.set_options(timeout=5_000)
        for person in of.values():
            if isinstance(person, Explorer):
                person.page.set_default_timeout(10_000)
    return False


@pytest.mark.parametrize(
    "mutant", MUTANTS, ids=[f"{one.test.__name__}-{one.file}" for one in MUTANTS]
)
def test_a_test_sees_its_mutant(mutant, program, browser, opened, windows, zoo, tmp_path):
    program(mutant)
    given = arguments(mutant.test, browser, opened, zoo, tmp_path)
    assert fails(mutant.test, of=given, given=mutant.given)
    for window in windows.values():
        window.watched.faults.clear()  # faults of a mutant are meant


@pytest.mark.parametrize(
    "mutant",
    list({one.test: one for one in MUTANTS}.values()),
    ids=lambda one: one.test.__name__,
)
def test_the_page_itself_passes_in_the_same_way(mutant, browser, opened, zoo, tmp_path):
    """A mutant is not seen because tests are called here in a way that fails."""
    given = arguments(mutant.test, browser, opened, zoo, tmp_path)
    assert not fails(mutant.test, of=given, given=mutant.given)


def test_a_page_without_a_policy_is_seen(browser, opened, windows, tmp_path):
    """Names that are markup would still run nothing: the policy is the second lock on the door."""
    tree = hostile_tree()
    file = tree.explore(tmp_path / "page.html")
    text = file.read_text("utf-8")
    file.write_text(text.replace("Content-Security-Policy", "X-Nothing"), encoding="utf-8")
    of = {"opened": opened, "hostile_page": (tree, file)}
    assert fails(test_hostile.test_the_policy_refuses_other_programs, of=of, given=())
    for window in windows.values():
        window.watched.faults.clear()
