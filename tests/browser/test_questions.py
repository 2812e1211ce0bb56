"""Four questions that a person answers from what the page says, in at most six actions each."""

import re

import pytest

MOST_ACTIONS = 6


@pytest.fixture
def person(at_zoo):
    """A person at a fresh page, who may act six times."""
    yield at_zoo
    assert at_zoo.actions <= MOST_ACTIONS


def test_which_group_does_the_platypus_belong_to_and_how_sure(person, zoo):
    person.search("platypus")
    person.key("Enter")
    person.panel().get_by_role("heading", name="platypus").wait_for()
    steps = re.findall(r"\n(.+)\n(\d+) % sure", person.text())
    tree = zoo.model.tree_
    row = list(tree.names).index("platypus")
    assert len(steps) == tree.n_levels
    for (name, sure), z, share in zip(
        steps, tree.paths[row, 1:], zoo.model.path_support_[row, 1:], strict=True
    ):
        assert person.at(int(z)).get_attribute("aria-label").startswith(name)
        assert int(sure) == round(100 * share)


def test_what_sets_the_birds_apart(person):
    person.search("penguin")
    person.key("Enter")
    person.panel().get_by_role("heading", name="penguin").wait_for()
    person.actions += 1
    person.panel().get_by_role("button", name=re.compile("^feathers")).first.click()
    text = person.text()
    assert re.search(r"feathers: 100 % here, 0 % in all other rows", text)


def test_which_five_rows_are_the_oddest(person, zoo):
    """The page opens with them."""
    section = person.panel().locator("section", has_text="Oddest rows").last
    shown = section.get_by_role("button").all_inner_texts()
    scores = dict(zip(zoo.model.tree_.names, zoo.model.outlier_scores_, strict=True))
    assert len(shown) == 5
    wanted = sorted(scores.values(), reverse=True)[:5]
    assert [scores[name] for name in shown] == pytest.approx(wanted)


def test_how_two_seeds_differ(person):
    text = person.open("Compare").inner_text()
    assert re.search(r"\d+ groups of the left tree have a match on the right", text)
    moved = re.search(r"(\d+) of 101 rows moved: .*They are ([\w, ]+)", text)
    listed = person.panel().locator(".compare-moved-list button").all_inner_texts()
    assert len(listed) == int(moved[1])
    assert moved[2].split(", ")[0] == listed[0]
    assert "seed 4" in text
    assert "seed 5" in text
