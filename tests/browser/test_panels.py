"""What panels say is what Python says; names and members can be taken away."""

import csv
import io
import json
import re

import numpy as np
import pytest

from bhmc import compare_trees
from bhmc._explorer.draws import MOST_DRAWS
from bhmc.posterior.summary import evenly_spaced


def percent(share):
    return f"{100 * share:.0f} %"


def birds(tree):
    """The node of the first level that has the chicken."""
    return int(tree.paths[list(tree.names).index("chicken"), 1])


def test_the_panel_of_a_group(at_zoo, zoo):
    tree = zoo.model.tree_
    z = birds(tree)
    at_zoo.at(z).click()
    text = at_zoo.text()
    assert f"{tree.sizes[z]} rows" in text
    assert f"Level 1, id {z}" in text
    assert f"Support {percent(tree.support[z])}" in text
    assert "feathers" in text
    assert "Components along the path" in text
    weights = at_zoo.panel().locator(".weights").count()
    assert weights == 2  # the root and the group
    assert "All rows" in text.split("Lies in")[1]


def test_typical_and_borderline_members_lead_to_items(at_zoo, zoo):
    tree = zoo.model.tree_
    at_zoo.at(birds(tree)).click()
    section = at_zoo.panel().locator("section", has_text="Typical members").last
    name = section.get_by_role("button").first.inner_text()
    section.get_by_role("button").first.click()
    assert at_zoo.panel().get_by_role("heading", name=name).is_visible()


def test_the_panel_of_an_item(at_zoo, zoo):
    """Path, how sure each level is, second place, outlier score."""
    model = zoo.model
    row = list(model.tree_.names).index("platypus")
    at_zoo.search("platypus")
    at_zoo.found().first.click()
    text = at_zoo.text()
    assert f"Outlier score {percent(model.outlier_scores_[row])}" in text
    lines = at_zoo.panel().locator("section", has_text="Path").first.locator("li")
    said = [re.search(r"(\d+) % sure", one) for one in lines.all_inner_texts()]
    shown = [int(one[1]) for one in said if one]
    assert shown == np.round(100 * model.path_support_[row, 1:]).astype(int).tolist()
    assert "Second-best place" in text
    assert "In other draws" in text


def test_draws_can_be_played_and_stepped_through(at_zoo, zoo):
    n = MOST_DRAWS
    panel = at_zoo.open("Draws")
    assert "This is the estimate" in at_zoo.text()
    at_zoo.press("Next")
    assert f"Draw 1 of {n}" in at_zoo.text()
    first = at_zoo.text()
    at_zoo.slide("Draw", n)
    assert f"Draw {n} of {n} (chain 2)" in at_zoo.text()
    assert at_zoo.text() != first
    at_zoo.press("Next")
    assert "This is the estimate" in at_zoo.text()
    at_zoo.press("Previous")
    assert f"Draw {n} of {n}" in at_zoo.text()
    at_zoo.slide("Draw", 0)
    panel.get_by_label("Speed").select_option(label="fast")
    at_zoo.press("Play")
    at_zoo.page.wait_for_function(
        "() => /Draw [3-9] of/.test(document.querySelector('#bhmc-explorer')"
        ".shadowRoot.querySelector('.draws-sentence').textContent)"
    )
    at_zoo.press("Pause")
    stopped = panel.locator(".draws-sentence").inner_text()
    at_zoo.page.wait_for_timeout(500)
    assert panel.locator(".draws-sentence").inner_text() == stopped


def test_counts_of_a_draw_are_those_of_the_draw(at_zoo, zoo):
    """Rows that the first draw has in another branch, by the draw itself."""
    model = zoo.model
    at_zoo.open("Draws")
    at_zoo.panel().get_by_label("Count at").select_option(index=0)
    at_zoo.slide("Draw", 1)
    said = re.search(r": (\d+) of 101 items", at_zoo.text())
    which = evenly_spaced(len(model.draws_.partitions), MOST_DRAWS)[0]
    theirs = model.draws_.partitions[which].nodes_at(1, 3)
    mine = model.tree_.paths[:, 1]
    elsewhere = 0
    for group in np.unique(theirs):
        rows = theirs == group
        jaccard = {
            z: (rows & (mine == z)).sum() / (rows | (mine == z)).sum() for z in np.unique(mine)
        }
        best = max(jaccard, key=jaccard.get)
        elsewhere += rows.sum() if jaccard[best] < 0.1 else (mine[rows] != best).sum()
    assert int(said[1]) == elsewhere


def test_pairs_of_items(at_zoo, zoo):
    """The most uncertain pair is together as often as the draws say, at level 1."""
    model = zoo.model
    at_zoo.open("Together")
    at_zoo.panel().get_by_label("Same group at").select_option(index=0)
    assert at_zoo.panel().locator("canvas").first.is_visible()
    said = re.search(r"\n([a-z]+) and ([a-z]+): (\d+) %", at_zoo.text())
    names = list(model.tree_.names)
    one, other = names.index(said[1]), names.index(said[2])
    which = evenly_spaced(len(model.draws_.partitions), MOST_DRAWS)
    nodes = [model.draws_.partitions[t].nodes_at(1, 3) for t in which]
    assert int(said[3]) == round(100 * np.mean([node[one] == node[other] for node in nodes]))


def test_chains_say_what_python_says(at_zoo, zoo):
    at_zoo.open("Chains")
    shown = [float(one) for one in re.findall(r"R-hat ([\d.]+)\. The", at_zoo.text())]
    known = zoo.model.diagnostics_.table["rhat"]
    assert len(shown) > 3
    for one in shown:
        assert np.nanmin(np.abs(known - one)) < 6e-4
    assert ("not converged" in at_zoo.text()) == (not zoo.model.diagnostics_.converged)
    assert at_zoo.panel().locator("svg[role=img]").count() == len(shown)


def test_two_trees_side_by_side(at_zoo, zoo):
    found = compare_trees(zoo.model, zoo.other)
    at_zoo.open("Compare")
    text = at_zoo.text()
    moved = int(re.search(r"Rows that moved: (\d+)", text)[1])
    assert moved == len(found.moved)
    assert at_zoo.panel().locator("path.compare-ribbon").count() > 3
    assert at_zoo.panel().locator("path.compare-moved").count() >= min(moved, 1)
    name = at_zoo.panel().locator(".compare-moved-list button").first
    words = name.inner_text()
    name.click()
    assert re.search(rf"{words} at level \d: .* → .*\. It moved\.", at_zoo.text())
    before = at_zoo.panel().locator("path.compare-ribbon").count()
    at_zoo.panel().get_by_label("Level").select_option(index=0)
    assert at_zoo.panel().locator("path.compare-ribbon").count() != before


def test_a_new_name_is_shown_everywhere_and_can_be_taken_away(at_zoo, zoo):
    tree = zoo.model.tree_
    z = birds(tree)
    at_zoo.at(z).click()
    field = at_zoo.control("textbox", "Name of this group")
    field.fill("Birds")
    field.press("Enter")
    assert at_zoo.panel().get_by_role("heading", name="Birds").is_visible()
    assert at_zoo.at(z).get_attribute("aria-label").startswith("Birds,")
    assert at_zoo.at(z).text_content().startswith("Birds")
    with at_zoo.page.expect_download() as download:
        at_zoo.press("Download names")
    names = json.loads(download.value.path().read_text("utf-8"))
    assert names == {"tree": {str(z): "Birds"}}
    renamed = tree.rename({int(node): name for node, name in names["tree"].items()})
    assert renamed.node_names[z] == "Birds"
    at_zoo.press("Zoom in")
    assert at_zoo.zoomed_to() == "Birds"
    at_zoo.slide("Clusters", 4)
    assert "Birds" in at_zoo.text()
    at_zoo.search("birds")
    assert "Birds" in at_zoo.found().first.inner_text()
    at_zoo.search("penguin")
    at_zoo.found().first.click()
    assert "Birds" in at_zoo.text()
    at_zoo.open("Compare")
    at_zoo.panel().get_by_label("Level").select_option(index=0)
    assert "Birds" in at_zoo.text()


@pytest.mark.parametrize("level", [0, 1])
def test_members_as_csv(level, at_zoo, zoo):
    tree = zoo.model.tree_
    z = 0 if level == 0 else birds(tree)
    at_zoo.at(z).click()
    at_zoo.open("Group")
    with at_zoo.page.expect_download() as download:
        at_zoo.press("Download members (CSV)")
    text = download.value.path().read_bytes().decode("utf-8")
    rows = list(csv.DictReader(io.StringIO(text)))
    wanted = np.flatnonzero(tree.paths[:, level] == z)
    assert sorted(int(one["row"]) for one in rows) == wanted.tolist()
    for one in rows:
        row = int(one["row"])
        assert one["item"] == tree.names[row]
        assert int(one["node"]) == tree.paths[row, -1]
        assert int(one["component"]) == tree.components[row]
