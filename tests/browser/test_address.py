"""What stands behind the # of an address: a group of a tree, which the page opens."""

from playwright.sync_api import expect

from tests.browser.explorer import Explorer


def at_address(at, hash_):
    """The same page, at another address."""
    at.page.evaluate("hash => { location.hash = hash }", hash_)
    return at


def test_an_address_opens_a_group(opened, zoo):
    page = opened(zoo.file, reduced_motion="reduce")
    page.watched.open(f"{zoo.file.as_uri()}#tree:2")
    expect(Explorer(page).at(2)).to_have_attribute("aria-selected", "true")
    assert "id 2" in Explorer(page).text()


def test_the_address_may_change_and_name_the_other_tree(at_zoo):
    at_address(at_zoo, "#dendrogram:3")
    expect(at_zoo.at(3)).to_have_attribute("aria-selected", "true")
    expect(at_zoo.control("combobox", "Tree")).to_have_value("dendrogram")


def test_an_address_that_means_nothing_changes_nothing(at_zoo):
    for hash_ in ("#tree:999999", "#compare:1", "#tree:-1", "#<img src=x>", "#"):
        at_address(at_zoo, hash_)
    expect(at_zoo.at(0)).to_have_attribute("aria-selected", "true")
    expect(at_zoo.control("tab", "About")).to_have_attribute("aria-selected", "true")
