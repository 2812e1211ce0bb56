"""`bhmc explore`, and the link that `bhmc report` has to it."""

import json

import numpy as np
import pytest

from bhmc import BHMC
from bhmc._cli import main
from tests.cli.tools import QUICK, refused
from tests.explorer.reading import Page, read


def test_explore(finished, tmp_path, capsys):
    file = tmp_path / "tree.html"
    assert main(["explore", str(finished), "-o", str(file)]) == 0
    assert capsys.readouterr().err.endswith(f"Wrote {file}\n")
    info, found = read(file)
    tree = BHMC.load(finished / "model.bhmc").tree_
    assert info["title"] == "Clusters of table.csv"
    np.testing.assert_array_equal(found["tree.sizes"], tree.sizes)
    assert found["items.names"] == [f"item{i}" for i in range(12)]
    assert main(["explore", str(finished), "-o", str(file), "--rows", "5", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"written": str(file)}
    assert read(file)[0]["n_embedded"] == 5


def test_beside_another_run(finished, table, tmp_path):
    other, file = tmp_path / "other", tmp_path / "tree.html"
    assert main(["fit", str(table), "-o", str(other), *QUICK[:-1], "9"]) == 0
    assert main(["explore", str(finished), "-o", str(file), "--compare", str(other)]) == 0
    info, found = read(file)
    assert info["compare"]["right"] == "BHMC, seed 9"
    tree = BHMC.load(other / "model.bhmc").tree_
    np.testing.assert_array_equal(found["compare.leaf"], tree.paths[:, -1])


@pytest.mark.parametrize("named", [False, True])
def test_beside_labels(finished, tmp_path, named):
    """In order of rows, or by name in any order; numbers are written as they were."""
    order = np.random.default_rng(0).permutation(12) if named else np.arange(12)
    lines = [f"{i % 2},{'ab'[i % 2]}{i % 4}" for i in range(12)]
    lines = [f"item{i},{line}" if named else line for i, line in enumerate(lines)]
    head = "name,kind,fine" if named else "kind,fine"
    labels, file = tmp_path / "labels.csv", tmp_path / "tree.html"
    labels.write_text("\n".join([head, *(lines[i] for i in order)]) + "\n")
    assert main(["explore", str(finished), "-o", str(file), "--compare", str(labels)]) == 0
    _, found = read(file)
    leaf, parents, names = found["compare.leaf"], found["compare.parents"], found["compare.names"]
    assert [names[node] for node in leaf] == [f"{'ab'[i % 2]}{i % 4}" for i in range(12)]
    assert [names[parents[node]] for node in leaf] == [str(i % 2) for i in range(12)]


def test_with_images(finished, tmp_path):
    images = np.random.default_rng(0).integers(0, 256, (12, 5, 4), dtype=np.uint8)
    np.save(tmp_path / "a.npy", images)
    np.savez(tmp_path / "b.npz", other=np.zeros(3), images=images)
    for name in ("a.npy", "b.npz"):
        file = tmp_path / "tree.html"
        options = ["-o", str(file), "--images", str(tmp_path / name)]
        assert main(["explore", str(finished), *options]) == 0
        np.testing.assert_array_equal(read(file)[1]["images.pixels"][..., 0], 255 - images)


def test_refusals(finished, tmp_path, capsys):
    def line(*options):
        return refused(capsys, "explore", finished, "-o", tmp_path / "a.html", *options)

    assert "should end in .html" in refused(capsys, "explore", finished, "-o", tmp_path / "a.pdf")
    assert "no folder" in refused(capsys, "explore", finished, "-o", tmp_path / "no" / "a.html")
    assert "there is no file" in line("--compare", tmp_path / "absent.csv")
    (tmp_path / "few.csv").write_text("kind\n1\n2\n")
    assert "labels of 2 rows, and the run has 12" in line("--compare", tmp_path / "few.csv")
    np.save(tmp_path / "few.npy", np.zeros((3, 2, 2)))
    assert "an array of 12 images" in line("--images", tmp_path / "few.npy")
    (tmp_path / "bad.npy").write_text("no numbers")
    assert "holds no images" in line("--images", tmp_path / "bad.npy")
    assert not list(tmp_path.glob("*.html"))


def test_the_report_links_to_an_explorer_beside_it(finished, tmp_path):
    pytest.importorskip("matplotlib", reason="NOT TESTED: matplotlib is not installed.")
    file = tmp_path / "my page #1.html"
    assert main(["report", str(finished), "-o", str(file)]) == 0
    links = [one["href"] for tag, one in Page(file).tags if tag == "a"]
    assert links[0] == "./my%20page%20%231-explorer.html"
    groups = {
        f"{links[0]}#tree:{node}" for node in BHMC.load(finished / "model.bhmc").tree_.children(0)
    }
    assert set(links[1:]) <= groups
    assert links[1:]
    assert read(tmp_path / "my page #1-explorer.html")[0]["n_items"] == 12
