"""The page itself: its policy, what it says without a program, and errors in one sentence."""

import base64
import hashlib
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from bhmc import BHMC, Tree
from bhmc._explorer import page as room
from tests.explorer.fits import zoo_model
from tests.explorer.reading import Page, unpack

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\ud800\u202e`'\""


@pytest.fixture(scope="module")
def tree() -> Tree:
    names = [f"{HOSTILE} {i}" for i in range(6)]
    found = Tree.from_parents([-1, 0, 0], np.repeat([1, 2], 3))
    return replace(
        found, names=np.array(names, object), node_names=np.array(["", HOSTILE, ""], object)
    )


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def test_the_policy_allows_the_program_and_the_style_and_nothing_else(tree, tmp_path):
    page = Page(tree.explore(tmp_path / "a.html"))
    (policy,) = [one["content"] for _, one in page.tags if "http-equiv" in one]
    (style,) = re.findall(r"<style>(.*?)</style>", page.text, re.DOTALL)
    (script,) = re.findall(r'<script type="module">(.*?)</script>', page.text, re.DOTALL)
    assert policy.split("; ") == [
        "default-src 'none'",
        f"script-src {_hash(script)}",
        f"style-src {_hash(style)}",
        "img-src data: blob:",
        "base-uri 'none'",
        "form-action 'none'",
    ]
    shipped = Path(room.__file__).parent / "static" / "explorer.js"
    assert script == shipped.read_text("utf-8")
    tags = [tag for tag, _ in page.tags]
    assert tags.index("meta") < tags.index("style")  # a policy counts from where it stands
    assert not any("style" in attributes for _, attributes in page.tags)


def test_names_that_would_be_html_are_text(tree, tmp_path):
    page = Page(tree.explore(tmp_path / "a.html", title=HOSTILE))
    assert [tag for tag, _ in page.tags if tag in ("script", "img")] == ["script", "script"]
    assert not any(name.startswith("on") for _, one in page.tags for name in one)
    shown = HOSTILE.replace("\ud800", "\ufffd")
    assert page.elements("title")[0][1] == shown
    info, found = unpack(page.block)
    assert info["title"] == shown
    assert found["items.names"] == [f"{shown} {i}" for i in range(6)]
    assert found["tree.names"] == ["", shown, ""]


def test_a_page_says_the_top_of_the_tree_without_a_program(tmp_path):
    page = Page(zoo_model(4).explore(tmp_path / "a.html"))
    assert page.tags[1] == ("html", {"lang": "en"}) or ("html", {"lang": "en"}) in page.tags
    assert "needs JavaScript" in page.text.split("<noscript>")[1].split("</noscript>")[0]
    lines = [text for _, text in page.elements("li")]
    tree = zoo_model(4).tree_
    assert len(lines) == len(tree.children(0))
    first = int(tree.children(0)[0])
    assert lines[0].startswith(f"Group {first}: {tree.sizes[first]} rows, support ")
    assert "101 rows and 16 columns" in page.text


def test_long_lists_of_branches_end(tmp_path):
    tree = Tree.from_parents([-1, *[0] * 30], np.arange(1, 31))
    page = Page(tree.explore(tmp_path / "a.html"))
    assert len(page.elements("li")) == 12
    assert "18 smaller branches not listed" in page.text


def test_the_same_page_twice_is_the_same_file(tmp_path):
    paths = [
        zoo_model(4).explore(tmp_path / name, compare=zoo_model(3)) for name in ("a.html", "b.html")
    ]
    assert paths[0].read_bytes() == paths[1].read_bytes()


def test_a_file_is_replaced_and_a_page_has_any_ending_of_pages(tree, tmp_path):
    path = tmp_path / "a.HTM"
    path.write_text("before")
    assert tree.explore(str(path)) == path
    assert path.read_text("utf-8").startswith("<!doctype html>")
    assert [one.name for one in tmp_path.iterdir()] == ["a.HTM"]


def test_errors_are_sentences(tree, tmp_path):
    with pytest.raises(ValueError, match=r"page\.pdf' should end in \.html: the explorer is"):
        tree.explore(tmp_path / "page.pdf")
    with pytest.raises(FileNotFoundError, match="there is no directory"):
        tree.explore(tmp_path / "nowhere" / "a.html")
    with pytest.raises(ValueError, match="max_items must be at least 1"):
        tree.explore(tmp_path / "a.html", max_items=0)
    with pytest.raises(NotFittedError):
        BHMC().explore(tmp_path / "a.html")
    with pytest.raises(ValueError, match="b is not fitted"):
        tree.explore(tmp_path / "a.html", compare=BHMC())
    assert not list(tmp_path.iterdir())


def test_a_program_that_ends_its_own_element_is_refused(monkeypatch, tmp_path):
    monkeypatch.setattr(room, "files", lambda package: tmp_path)
    (tmp_path / "static").mkdir()
    (tmp_path / "static" / "explorer.js").write_text('x = "</SCRIPT>"')
    room.program.cache_clear()
    try:
        with pytest.raises(ValueError, match="build it again"):
            room.program()
    finally:
        room.program.cache_clear()


def test_the_wheel_carries_the_program_and_its_licences():
    from hatchling.builders.wheel import WheelBuilder

    builder = WheelBuilder(str(Path(__file__).parents[2]))
    files = {file.distribution_path for file in builder.recurse_included_files()}
    static = {"bhmc/_explorer/static/explorer.js", "bhmc/_explorer/static/LICENSES.txt"}
    assert static <= files
    licences = builder.metadata.core.license_files
    assert "src/bhmc/_explorer/static/LICENSES.txt" in licences
