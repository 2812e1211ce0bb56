"""The explorer in a notebook, present and absent."""

import sys

import pytest

from bhmc import Tree
from tests.explorer.reading import Page, unpack


@pytest.fixture
def tree() -> Tree:
    return Tree.from_parents([-1, 0, 0], [1, 1, 2], names=["a", "<b>", "c"])


def test_without_anywidget_one_sentence_says_what_to_install(tree, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "anywidget", None)
    with pytest.raises(ImportError, match=r"install it with `pip install bhmc\[notebook\]`"):
        tree.explore()
    assert tree.explore(tmp_path / "a.html").exists()  # a page needs nothing


def test_the_widget_has_the_data_of_the_page(tree, tmp_path):
    pytest.importorskip("anywidget", reason="NOT TESTED: anywidget is not installed.")
    widget = tree.explore(compare=[0, 0, 1], title="t")
    page = Page(tree.explore(tmp_path / "a.html", compare=[0, 0, 1], title="t"))
    assert widget.data == page.block
    assert unpack(widget.data)[0]["title"] == "t"
    assert page.elements("script")[-1][1].strip() == str(widget._esm).strip()


def test_what_is_chosen_can_be_read_and_set(tree):
    pytest.importorskip("anywidget", reason="NOT TESTED: anywidget is not installed.")
    widget = tree.explore()
    assert widget.selected == {"tree": "tree", "node": 0, "item": None}
    seen = []
    widget.observe(lambda change: seen.append(change["new"]), "selected")
    widget.selected = {"tree": "tree", "node": 2, "item": None}
    assert seen == [{"tree": "tree", "node": 2, "item": None}]
    assert widget.traits()["selected"].metadata["sync"]


def test_nbconvert_shows_the_top_of_the_tree(tree, monkeypatch):
    """Also where the state of the widget is saved, which shows nothing without a network."""
    pytest.importorskip("anywidget", reason="NOT TESTED: anywidget is not installed.")
    nbconvert = pytest.importorskip("nbconvert", reason="NOT TESTED: nbconvert is not installed.")
    import nbformat
    from IPython import display

    shown = []
    monkeypatch.setattr(
        display, "display", lambda data, raw, metadata=None: shown.append((data, metadata))
    )
    widget = tree.explore()
    widget._ipython_display_()
    outputs = [
        nbformat.v4.new_output("display_data", data, metadata=metadata or {})
        for data, metadata in shown
    ]
    view = "application/vnd.jupyter.widget-view+json"
    assert [view in one["data"] for one in outputs] == [False, True]
    state = {widget.model_id: {"model_module": "anywidget", "model_name": "m", "state": {}}}
    book = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell("tree.explore()", outputs=outputs)],
        metadata={"widgets": {"application/vnd.jupyter.widget-state+json": {"state": state}}},
    )
    html, _ = nbconvert.HTMLExporter().from_notebook_node(book)
    assert "Group 1: 2 rows; a, &lt;b&gt;" in html
    assert f'id="{widget.instead}"' in html
