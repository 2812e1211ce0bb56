"""Names that try to break in are shown as text, and run nothing."""

import csv
import io

import pytest

from tests.browser import hostile, pages
from tests.browser.explorer import Explorer


@pytest.fixture(scope="module")
def hostile_page(tmp_path_factory):
    """A tree with 1,000 hostile names, and its page."""
    tree = pages.hostile_tree()
    file = tmp_path_factory.mktemp("hostile") / "page.html"
    return tree, tree.explore(file, title=hostile.hostile_names(30)[1])


def ran(page) -> bool:
    """Whether a name was run as a program or became an element."""
    return page.evaluate(
        f"""() => {{
            const root = document.querySelector('#bhmc-explorer').shadowRoot;
            const foreign = 'script, img, iframe, object, embed, link, style, base, form';
            return window.{hostile.SENTINEL} !== undefined
                || root.querySelector(foreign) !== null
                || [...root.querySelectorAll('*')].some(one => [...one.attributes].some(
                    attribute => /^on/i.test(attribute.name)));
        }}"""
    )


def test_the_page_opens_and_its_title_is_text(opened, hostile_page):
    page = opened(hostile_page[1])
    assert page.title().startswith("</script><script>")
    assert page.get_by_role("heading", level=1).inner_text().startswith("</script><script>")
    assert not ran(page)


def test_every_name_is_shown_as_text(opened, hostile_page):
    """Each of the 1,000 names stands somewhere in the page, as far as there is room."""
    tree, file = hostile_page
    person = Explorer(opened(file, reduced_motion="reduce"))
    shown = person.page.evaluate(
        """async () => {
            const root = document.querySelector('#bhmc-explorer').shadowRoot;
            const tree = root.querySelector('[role=tree]');
            const texts = new Set();
            const take = () => {
                for (const one of root.querySelectorAll('h2, [role=treeitem], button, li, span'))
                    texts.add(one.getAttribute('aria-label') ?? one.textContent);
            };
            tree.querySelector('[role=treeitem]').focus();
            const press = key => root.activeElement.dispatchEvent(
                new KeyboardEvent('keydown', {key, bubbles: true, composed: true}));
            for (let i = 0; i < 341; i++) {
                take();
                press('ArrowDown');
            }
            take();
            return [...texts];
        }"""
    )
    assert not ran(person.page)
    text = "\n".join(shown)
    for name in [*tree.node_names, *tree.feature_names]:
        assert beginning(name) in text, name[:60]
    missing = [name for name in tree.names if beginning(name) not in text]
    # Names of members stand in panels of their leaves.
    assert len(missing) == 0, [name[:40] for name in missing[:5]]


def beginning(name: str) -> str:
    """What a page certainly shows of a name."""
    whole = "".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in name)
    return whole[:20].strip() or " "


@pytest.mark.parametrize(
    "numbers", [(5, 16, 19, 20), pytest.param(range(30), marks=pytest.mark.browser_long)]
)
def test_hostile_names_can_be_searched_and_opened(numbers, opened, hostile_page):
    tree, file = hostile_page
    person = Explorer(opened(file, reduced_motion="reduce"))
    for n in numbers:
        if not tree.names[n].strip():
            continue
        person.search(" ".join(beginning(tree.names[n]).split()))  # the field takes one line
        person.found().first.click()
        assert not ran(person.page)
        for panel in person.page.get_by_role("tab").all():
            panel.click()
            assert not ran(person.page)


def test_members_as_csv_are_text_in_a_spreadsheet(opened, hostile_page):
    """No cell begins like a formula, and lines and quotes in names stay in their cells."""
    tree, file = hostile_page
    person = Explorer(opened(file, reduced_motion="reduce"))
    person.at(0).click()
    person.open("Group")
    with person.page.expect_download() as download:
        person.press("Download members (CSV)")
    text = download.value.path().read_bytes().decode("utf-8")
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert len(rows) == len(tree.names)
    for one in rows:
        assert not one["item"].startswith(("=", "+", "-", "@", "\t", "\r"))
        name = tree.names[int(one["row"])].encode("utf-8", "replace")
        if b"lone" not in name:
            assert one["item"].removeprefix("'") == tree.names[int(one["row"])].removeprefix("'")


def test_a_hostile_new_name_is_text_too(opened, hostile_page):
    person = Explorer(opened(hostile_page[1], reduced_motion="reduce"))
    person.at(1).click()
    field = person.control("textbox", "Name of this group")
    field.fill(f"<img src=x onerror=window.{hostile.SENTINEL}=1>")
    field.press("Enter")
    assert person.at(1).get_attribute("aria-label").startswith("<img src=x")
    assert not ran(person.page)


def test_the_policy_refuses_other_programs(opened, hostile_page):
    """Proof that the content security policy is on: an inline script and a style are refused."""
    page = opened(hostile_page[1])
    page.evaluate(
        f"""() => {{
            const script = document.createElement('script');
            script.textContent = 'window.{hostile.SENTINEL} = 1';
            document.body.append(script);
            document.body.setAttribute('style', 'outline: 7px solid red');
        }}"""
    )
    page.wait_for_timeout(100)
    assert page.evaluate(f"window.{hostile.SENTINEL}") is None
    assert page.evaluate("getComputedStyle(document.body).outlineWidth") != "7px"
    faults = page.watched.faults
    assert [fault.partition(" violates")[0] for fault in faults] == [
        "console: Executing inline script",
        "console: Applying inline style",
    ]
    faults.clear()  # they were meant
