"""The tree in the page: zoom, collapse, levels, cuts, layouts, keyboard, search, colours, print."""

import re

import numpy as np
import pytest
from playwright.sync_api import expect

from tests.browser.explorer import Explorer


def below(tree, z):
    """Number of nodes below a node."""
    level = tree.levels[z]
    return len(np.unique(tree.paths[tree.paths[:, level] == z][:, level + 1 :]))


def nodes_of(tree):
    return list(enumerate(tree.levels.tolist()))


def branch(tree):
    """The largest node of the first level with at least two children."""
    children = np.bincount(tree.parents[1:], minlength=tree.n_nodes)
    deep = [z for z, level in nodes_of(tree) if level == 2 and children[z] > 1]
    return max(deep, key=lambda z: tree.sizes[z])


def test_the_page_shows_every_node(at_zoo, zoo):
    tree = zoo.model.tree_
    assert at_zoo.page.title() == "101 animals"
    expect(at_zoo.nodes()).to_have_count(tree.n_nodes)
    for z in range(1, tree.n_nodes):
        spoken = at_zoo.at(z).get_attribute("aria-label")
        assert f"{tree.sizes[z]} row" in spoken
        assert f"support {100 * tree.support[z]:.0f} %" in spoken
        assert spoken.endswith(f"level {tree.levels[z]}")


def test_boxes_are_as_large_as_their_groups(at_zoo, zoo):
    tree = zoo.model.tree_
    tall = np.array([at_zoo.place(z)[3] for z in range(tree.n_nodes)])
    np.testing.assert_allclose(tall, tree.sizes / tree.sizes[0] * tall[0], atol=1.5)


def test_zoom_in_and_out(at_zoo, zoo):
    tree = zoo.model.tree_
    z = branch(tree)
    whole, before = at_zoo.place(0), at_zoo.place(z)
    at_zoo.at(z).click()
    at_zoo.press("Zoom in")
    assert at_zoo.place(z)[3] == pytest.approx(whole[3], abs=1.5)
    shown = at_zoo.nodes().count()
    assert shown < tree.n_nodes
    assert re.match(re.escape(at_zoo.zoomed_to()), at_zoo.chosen().get_attribute("aria-label"))
    at_zoo.press("Zoom out")
    assert at_zoo.nodes().count() >= shown
    at_zoo.press("Whole tree")
    assert at_zoo.zoomed_to() == "All rows"
    assert at_zoo.place(z) == before


def test_a_second_click_zooms_and_the_wheel_zooms_out(at_zoo, zoo):
    z = branch(zoo.model.tree_)
    at_zoo.at(z).click()
    at_zoo.at(z).click()
    assert at_zoo.zoomed_to() != "All rows"
    at_zoo.at(z).hover()
    for _ in range(3):
        at_zoo.page.mouse.wheel(0, 120)
        at_zoo.page.wait_for_timeout(420)  # one turn counts once
    assert at_zoo.zoomed_to() == "All rows"


def test_zoom_moves_smoothly_unless_the_reader_wants_no_motion(opened, zoo):
    """With motion there are frames between; with prefers-reduced-motion there is none."""
    z = branch(zoo.model.tree_)
    seen = {}
    for motion in ("no-preference", "reduce"):
        person = Explorer(opened(zoo.file, reduced_motion=motion))
        person.at(z).click()
        person.page.evaluate(
            """() => {
                const root = document.querySelector('#bhmc-explorer').shadowRoot;
                window.tall = new Set();
                const look = () => {
                    const box = root.querySelector('[role=treeitem][data-z="0"] rect');
                    window.tall.add(box ? box.getAttribute('height') : 'gone');
                    const one = root.querySelector('[aria-selected=true] rect');
                    window.tall.add(one ? one.getAttribute('height') : 'gone');
                    requestAnimationFrame(look);
                };
                look();
            }"""
        )
        person.press("Zoom in")
        person.page.wait_for_timeout(700)
        seen[motion] = person.page.evaluate("window.tall.size")
    assert seen["reduce"] <= 4
    assert seen["no-preference"] > seen["reduce"] + 3


def test_collapse_and_expand(at_zoo, zoo):
    tree = zoo.model.tree_
    z = branch(tree)
    at_zoo.at(z).click()
    assert at_zoo.at(z).get_attribute("aria-expanded") == "true"
    at_zoo.press("Collapse")
    expect(at_zoo.nodes()).to_have_count(tree.n_nodes - below(tree, z))
    assert at_zoo.at(z).get_attribute("aria-expanded") == "false"
    at_zoo.press("Expand")
    expect(at_zoo.nodes()).to_have_count(tree.n_nodes)


def test_levels_shown(at_zoo, zoo):
    tree = zoo.model.tree_
    for level in (1, 2, 3):
        at_zoo.slide("Levels shown", level)
        expect(at_zoo.nodes()).to_have_count(int((tree.levels <= level).sum()))


def test_a_cut_has_exactly_k_clusters_those_of_python(at_zoo, zoo):
    for k in (1, 2, 5, 8):
        at_zoo.slide("Clusters", k)
        heading = "1 cluster" if k == 1 else f"{k} clusters"
        named = at_zoo.page.get_by_role("heading", name=heading)
        lines = at_zoo.panel().locator("section", has=named).locator("li").all_inner_texts()
        sizes = [int(re.search(r"(\d+) rows?$", one)[1]) for one in lines]
        assert len(sizes) == k
        assert sorted(sizes) == sorted(np.bincount(zoo.model.tree_.cut(k)))
    at_zoo.control("spinbutton", "Number of clusters").fill("0")
    at_zoo.key("Enter")
    assert "8 clusters" not in at_zoo.text()


def test_nodes_and_links(at_zoo, zoo):
    at_zoo.choose("combobox", "Drawn as", "Nodes and links")
    expect(at_zoo.nodes().locator("circle")).to_have_count(zoo.model.tree_.n_nodes)
    expect(at_zoo.page.locator("path.link")).to_have_count(zoo.model.tree_.n_nodes - 1)
    at_zoo.choose("combobox", "Drawn as", "Boxes (icicle)")
    expect(at_zoo.nodes().locator("rect")).to_have_count(zoo.model.tree_.n_nodes)


def test_the_dendrogram_has_heights_in_nats(at_zoo, zoo):
    options = at_zoo.control("combobox", "Tree").locator("option").all_inner_texts()
    at_zoo.choose("combobox", "Tree", options[1])
    leaves = len(np.unique(zoo.model.dendrogram_.paths[:, -1]))
    expect(at_zoo.nodes()).to_have_count(2 * leaves - 1)
    assert "nats" in at_zoo.page.locator("g.axis").text_content()
    at_zoo.at(0).click()
    assert re.search(r"Height [\d.,]+ nats", at_zoo.text())


def test_keyboard_alone(at_zoo, zoo):
    """From the page's beginning, without a mouse."""
    tree = zoo.model.tree_
    at_zoo.at(0).focus()
    at_zoo.key("ArrowRight")
    assert at_zoo.chosen().get_attribute("aria-level") == "2"
    assert at_zoo.chosen().evaluate("one => one.getRootNode().activeElement === one")
    first = at_zoo.chosen().get_attribute("data-z")
    at_zoo.key("ArrowDown")
    assert at_zoo.chosen().get_attribute("data-z") != first
    at_zoo.key("ArrowUp")
    assert at_zoo.chosen().get_attribute("data-z") == first
    at_zoo.key("Enter")
    assert at_zoo.zoomed_to() != "All rows"
    at_zoo.key("Escape")
    assert at_zoo.zoomed_to() == "All rows"
    at_zoo.key("Space")
    expect(at_zoo.nodes()).to_have_count(tree.n_nodes - below(tree, int(first)))
    at_zoo.key("Space")
    at_zoo.key("End")
    last = int(at_zoo.chosen().get_attribute("data-z"))
    assert tree.levels[last] == tree.n_levels
    at_zoo.key("Home")
    assert at_zoo.chosen().get_attribute("data-z") == "0"
    at_zoo.key("ArrowLeft")
    assert at_zoo.chosen().get_attribute("data-z") == "0"
    at_zoo.key("/")
    at_zoo.page.keyboard.type("gorilla")
    at_zoo.found().first.wait_for()
    at_zoo.key("Enter")
    assert at_zoo.panel().get_by_role("heading", name="gorilla").is_visible()


def test_one_node_takes_part_in_the_order_of_tabs(at_zoo):
    expect(at_zoo.page.locator("[role=treeitem][tabindex='0']")).to_have_count(1)


def test_search_finds_items_and_groups(at_zoo):
    at_zoo.search("frog")
    assert [one.split()[0] for one in at_zoo.found().all_inner_texts()][:2] == ["frog", "frog"]
    at_zoo.search("feathers")
    assert "group" in at_zoo.found().first.inner_text()
    at_zoo.found().first.click()
    assert "feathers" in at_zoo.chosen().get_attribute("aria-label")
    at_zoo.search("no such animal")
    expect(at_zoo.found()).to_have_count(0)
    assert "0 items and 0 groups found" in at_zoo.page.locator(".found").inner_text()


def test_light_and_dark(opened, zoo):
    """The reader's system decides, and the switch overrides it."""

    def brightness(page):
        colour = page.locator(".page").evaluate("one => getComputedStyle(one).backgroundColor")
        return np.mean([float(one) for one in re.findall(r"[\d.]+", colour)[:3]])

    light, dark = opened(zoo.file, "desk"), opened(zoo.file, "desk-dark")
    assert brightness(light) > 200 > 60 > brightness(dark)
    switch = Explorer(light).control("button", "Dark colours")
    assert switch.get_attribute("aria-pressed") == "false"
    switch.click()
    assert switch.get_attribute("aria-pressed") == "true"
    assert brightness(light) == brightness(dark)


def test_paper_has_the_tree_and_no_controls(at_zoo):
    at_zoo.page.emulate_media(media="print")
    for name in ("Zoom in", "Dark colours", "Print"):
        assert at_zoo.page.get_by_role("button", name=name, include_hidden=True).is_hidden()
    assert at_zoo.page.locator("[role=tree]").is_visible()
    assert at_zoo.at(0).is_visible()
    assert len(at_zoo.page.pdf(format="A4")) > 10_000


def test_a_narrow_page_does_not_scroll_sideways(opened, zoo):
    page = opened(zoo.file, "phone", reduced_motion="reduce")
    for panel in page.get_by_role("tab").all():
        panel.click()
        wide = page.evaluate("document.scrollingElement.scrollWidth")
        assert wide <= 390, panel.inner_text()
