"""The notebook of the documents runs, and model, tree, draws and diagnostics show themselves."""

import warnings
from pathlib import Path

import pytest

import bhmc

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
nbconvert = pytest.importorskip("nbconvert")
pytest.importorskip("ipykernel")

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def executed(tmp_path_factory):
    """The notebook after all of its cells have run in a kernel of their own, in an empty folder."""
    folder = tmp_path_factory.mktemp("notebook")
    notebook = nbformat.read(ROOT / "docs" / "notebooks" / "first-look.ipynb", as_version=4)
    with warnings.catch_warnings(), pytest.MonkeyPatch.context() as patch:
        warnings.simplefilter("ignore")  # those of Jupyter's own packages
        # The kernel has another folder: it needs the place of the bhmc that is tested.
        patch.setenv("PYTHONPATH", str(Path(bhmc.__file__).parents[1]))
        client = nbclient.NotebookClient(
            notebook, timeout=300, resources={"metadata": {"path": str(folder)}}
        )
        client.execute()
    return notebook


def shown(notebook, source, kind):
    """What the cell of this source shows, of one kind."""
    cell = next(cell for cell in notebook.cells if cell.source == source)
    found = [one for one in cell.outputs if kind in one.get("data", {})]
    assert found, source
    return found[-1]["data"][kind]


def test_parts_of_a_model_show_themselves(executed):
    notebook = executed
    model = shown(notebook, "model", "text/html")
    assert "101 rows and 16 columns" in model
    assert "sk-top-container" in model  # scikit-learn's diagram is still there
    assert shown(notebook, "model", "text/plain").startswith("BHMC(")
    tree = shown(notebook, "model.tree_", "text/html")
    assert "what sets it apart" in tree
    assert "chicken" in tree
    draws = shown(notebook, "model.draws_", "text/html")
    assert draws.count("<polyline") == 2
    assert "log_joint" in draws
    assert "effective draws" in shown(notebook, "model.diagnostics_", "text/html")
    for source in ("tree", "draws", "diagnostics"):
        assert "<script" not in shown(notebook, f"model.{source}_", "text/html")
    assert len(shown(notebook, "ax = model.plot()", "image/png")) > 10_000


def test_the_notebook_becomes_a_page(executed):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        page, _ = nbconvert.HTMLExporter().from_notebook_node(executed)
    for words in ("what sets it apart", "sk-top-container", "effective draws", "data:image/png"):
        assert words in page
