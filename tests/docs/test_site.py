"""The documentation site: nothing public is missing, the map is its navigation."""

import importlib
import pkgutil
import re
import zlib

import pytest
from docs.site import accessible
from docs.site.build import (
    DOCS,
    PAGES_ABOVE,
    build,
    links_from_above,
    links_from_docs,
    stage,
    with_navigation,
)
from docs.site.reference import PUBLIC_MODULES, ROOMS, names_of_page, public_names

import bhmc


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    """The sources of the whole site."""
    return stage(tmp_path_factory.mktemp("site") / "sources")


def shown_objects():
    return [
        getattr(importlib.import_module(room.module), name)
        for room in ROOMS
        for name in names_of_page(room)
    ]


@pytest.mark.parametrize("module", PUBLIC_MODULES)
def test_every_public_name_is_in_the_reference(module):
    shown = shown_objects()
    room = importlib.import_module(module)
    for name in public_names(module):
        value = getattr(room, name)
        is_page = getattr(value, "__name__", None) in PUBLIC_MODULES
        assert is_page or any(value is one for one in shown), f"{module}.{name}"


def test_every_public_room_has_a_page():
    """A room without an underscore that says what is public in it."""
    rooms = {
        f"bhmc.{room.name}" for room in pkgutil.iter_modules(bhmc.__path__) if room.name[0] != "_"
    }
    with_names = {room for room in rooms if hasattr(importlib.import_module(room), "__all__")}
    assert with_names <= set(PUBLIC_MODULES)


def test_no_object_is_shown_twice():
    """Sphinx would not know which of both a link means."""
    objects = shown_objects()
    assert len({id(one) for one in objects}) == len(objects)


def test_the_navigation_leads_to_every_page(sources):
    index = (sources / "index.md").read_text("utf-8")
    entries = set(re.findall(r"^([\w/-]+)$", index, re.MULTILINE))
    gallery = (sources / "gallery" / "index.md").read_text("utf-8")
    entries |= {f"gallery/{one}" for one in re.findall(r"^([\w-]+)$", gallery, re.MULTILINE)}
    pages = {str(page.relative_to(sources))[:-3] for page in sources.rglob("*.md")} - {"index"}
    assert pages <= entries


def test_the_map_becomes_the_navigation():
    begin = "# Map\n\n## Begin\n\n- [A](a.md): b.\n- [C](c.md#d), [E](e/f.md).\n"
    index = f"{begin}\n## No page\n\nWords.\n"
    tree = with_navigation(index).removeprefix(index)
    assert tree.count("{toctree}") == 1
    assert ":caption: Begin\n\na\ne/f\n```" in tree


def test_links_lead_to_the_copies():
    assert links_from_docs("[a](../README.md#b) [c](d.md)") == "[a](readme.md#b) [c](d.md)"
    assert links_from_docs("[a](../../VISION.md)") == "[a](../vision.md)"
    assert links_from_above("![a](docs/b.png) [c](VISION.md)") == "![a](b.png) [c](vision.md)"


def test_pages_need_no_directive_to_be_read():
    """The pages themselves are plain Markdown, as code hosts show it."""
    for page in DOCS.rglob("*.md"):
        assert "```{" not in page.read_text("utf-8"), page.name


SOME_PAGES = {"index.md", "install.md", "vision.md", "gallery/index.md", "reference/priors.md"}


@pytest.fixture
def few_sources(sources, tmp_path, monkeypatch):
    """A site of a few pages, which is built in seconds."""
    folder = stage(tmp_path / "sources")
    for page in folder.rglob("*.md"):
        if str(page.relative_to(folder)) not in SOME_PAGES:
            page.unlink()
    (folder / "gallery" / "index.md").write_text("# Gallery\n", "utf-8")
    install = folder / "install.md"
    install.write_text(re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", install.read_text("utf-8")), "utf-8")
    entries = "\n".join(sorted(one[:-3] for one in SOME_PAGES - {"index.md"}))
    (folder / "index.md").write_text(f"# Map\n\n```{{toctree}}\n{entries}\n```\n", "utf-8")
    return folder


@pytest.mark.filterwarnings("ignore")  # of Sphinx about itself
def test_a_small_site_builds(few_sources, tmp_path):
    site = tmp_path / "site"
    assert build(few_sources, site) == 0
    inventory = (site / "objects.inv").read_bytes().split(b"\n", 4)
    assert b"bhmc.priors.Gamma py:class" in zlib.decompress(inventory[4])
    assert "searchindex" in (site / "search.html").read_text("utf-8")
    for page in site.rglob("*.html"):
        text = page.read_text("utf-8")
        for address in re.findall(r'<(?:script|link|img)[^>]*(?:src|href)="([^"]*)"', text):
            assert not address.startswith(("http", "//")), f"{page.name} loads {address}"
    assert '<pre tabindex="0">' in (site / "install.html").read_text("utf-8")


@pytest.mark.filterwarnings("ignore")
def test_a_warning_fails_the_site(few_sources, tmp_path, capsys):
    for page in ("install.md", "reference/priors.md"):
        (few_sources / page).unlink()
    (few_sources / "index.md").write_text("# Map\n\n[gone](gone.md)\n", "utf-8")
    assert build(few_sources, tmp_path / "site") != 0
    assert "gone.md" in capsys.readouterr().err


def test_pages_are_mended_for_keyboards_and_screen_readers():
    caption = '<p class="caption" role="heading">'
    assert 'aria-level="2"' in accessible.mend(caption)
    assert accessible.mend("<pre>x</pre>") == '<pre tabindex="0">x</pre>'
    assert 'tabindex="0"' in accessible.mend('<div class="table-wrapper docutils">')
    picture = '<p><img alt="a tree" src="_images/a.png" /></p>'
    assert '<a class="picture" href="_images/a.png"><img' in accessible.mend(picture)
    linked = '<p><a href="b.html"><img alt="a tree" src="_images/a.png" /></a></p>'
    assert accessible.mend(linked) == linked
    signature = '<dl>\n<dd><em class="sig-param">a</em>,</dd>\n</dl>'
    assert "<dd>" not in accessible.mend(signature)
    terms = "<dl>\n<dt>a</dt>\n<dd>b</dd>\n</dl>"
    assert accessible.mend(terms) == terms


def test_copies_of_pages_above_exist(sources):
    assert all((sources / name).exists() for name in PAGES_ABOVE.values())
