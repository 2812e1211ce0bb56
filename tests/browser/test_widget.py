"""The same view in a notebook: what is chosen there and in Python stays the same."""

import base64
import json

import pytest

from bhmc._explorer.page import program
from tests.browser.explorer import Explorer

# A notebook's side of a widget, as anywidget has it.
NOTEBOOK = """<!doctype html><title>notebook</title>
<div id="list">until the view is drawn</div><div id="cell"></div>
<script type="module">
const bytes = Uint8Array.from(atob(DATA), one => one.charCodeAt(0));
const values = {data: new DataView(bytes.buffer), selected: SELECTED, instead: "list"};
const listeners = [];
window.saved = [];
window.model = {
  get: name => values[name],
  set: (name, value) => {
    values[name] = value;
    for (const [event, act] of listeners) if (event === `change:${name}`) act();
  },
  save_changes: () => window.saved.push(structuredClone(values.selected)),
  on: (event, act) => listeners.push([event, act]),
  off: () => {},
};
const url = URL.createObjectURL(new Blob([PROGRAM], {type: "text/javascript"}));
const {default: {render}} = await import(url);
window.remove = await render({model: window.model, el: document.querySelector("#cell")});
document.querySelector("#cell").firstElementChild.id = "bhmc-explorer";
</script>"""


@pytest.fixture
def cell(opened, zoo, tmp_path):
    """A cell of a notebook with the widget of Zoo."""
    widget = pytest.importorskip("anywidget") and zoo.model.explore()
    text = NOTEBOOK.replace("DATA", json.dumps(base64.b64encode(widget.data).decode()))
    text = text.replace("SELECTED", json.dumps(widget.selected))
    # The program stands in an inline script, which it must not end.
    text = text.replace("PROGRAM", json.dumps(program()).replace("</", "<\\/"))
    file = tmp_path / "notebook.html"
    file.write_text(text, encoding="utf-8")
    return Explorer(opened(file, reduced_motion="reduce"))


def test_a_choice_in_the_cell_is_told_to_python(cell, zoo):
    tree = zoo.model.tree_
    cell.at(3).click()
    assert cell.page.evaluate("window.saved.at(-1)") == {"tree": "tree", "node": 3, "item": None}
    cell.search("platypus")
    cell.found().first.click()
    row = list(tree.names).index("platypus")
    chosen = cell.page.evaluate("window.saved.at(-1)")
    assert chosen == {"tree": "tree", "node": int(tree.paths[row, -1]), "item": row}


def test_a_choice_in_python_is_shown_in_the_cell(cell, zoo):
    cell.page.evaluate('window.model.set("selected", {tree: "tree", node: 5, item: null})')
    assert cell.chosen().get_attribute("data-z") == "5"
    row = list(zoo.model.tree_.names).index("frog")
    cell.page.evaluate(f'window.model.set("selected", {{tree: "tree", node: 0, item: {row}}})')
    assert cell.panel().get_by_role("heading", name="frog").is_visible()


def test_the_list_goes_when_the_view_comes_and_the_view_can_go(cell):
    assert cell.page.locator("#list").count() == 0
    cell.page.evaluate("window.remove()")
    assert cell.page.locator("[role=tree]").count() == 0
