"""`bhmc reproduce`: every experiment end to end, in its quick form."""

import json
from pathlib import Path

import numpy as np
import pytest

from bhmc import Tree
from bhmc._cli import main
from bhmc._experiments import (
    settings,
)
from tests.experiments.tools import ANIMALS, refused, rows_of

pytest.importorskip("matplotlib")


def test_animals_end_to_end(animals):
    found = {file.name for file in animals.iterdir()}
    assert {"results.html", "tree.png", "traces.png", "groups.csv", "traces.csv"} <= found
    named = [row["group"] for row in rows_of(animals / "groups.csv")]
    assert named == ["insects", "aggressive mammals", "herbivores", "water animals", "birds"]
    assert len(rows_of(animals / "traces.csv")) == 5
    record = json.loads((animals / "parts" / "bhmc.json").read_text(encoding="utf-8"))
    assert record["recipe"]["settings"]["alpha"] == 0.4
    assert record["facts"]["n_chains"] == 2
    page = (animals / "results.html").read_text(encoding="utf-8")
    assert "from one draw to the next the tree changes" in page
    assert {"tree-diffused.png", "groups-diffused.csv", "models.csv"} <= found
    diffused = json.loads((animals / "parts" / "bhmc-diffused.json").read_text(encoding="utf-8"))
    assert diffused["recipe"]["settings"]["transition"] == "diffused"
    assert [row["model"] for row in rows_of(animals / "models.csv")] == ["published", "diffused"]


def test_groups_of_the_figure_are_those_of_the_saved_tree(animals):
    tree = Tree.load(animals / "parts" / "bhmc.tree.bhmc")
    for row in rows_of(animals / "groups.csv"):
        members = set(row["animals of the component"].split(", "))
        component = int(row["component"].removeprefix("c"))
        assert len(members) == int((tree.components == component).sum())
        assert int(row["its animals"]) == tree.sizes[int(row["node"])]


def test_animals_are_refused_where_they_are_not(tmp_path, capsys):
    said = refused(capsys, "reproduce", "animals", "--data", tmp_path / "no.csv")
    assert said.startswith("bhmc reproduce: there is no file")


def test_fashion_end_to_end(tmp_path):
    folder = tmp_path / "out"
    assert main(["reproduce", "fashion", "-o", str(folder), "--quick", "-q"]) == 0
    rows = rows_of(folder / "levels-depth.csv")
    assert {row["classes"] for row in rows} == {"3", "5", "10"}
    assert {row["method"] for row in rows} == {
        "BHMC, published settings",
        "BHMC, diffused transition",
        "control: random nCRP tree",
    }
    page = (folder / "results.html").read_text(encoding="utf-8")
    assert "The threshold for noise of unknown size" in page
    assert (folder / "tree.png").exists()
    assert (folder / "tree-diffused.png").exists()


def test_fashion_has_the_dimensions_of_the_paper():
    """21 or 22 by the known noise, far more by the unknown."""
    from bhmc._experiments import fashion
    from bhmc._experiments.job import Job

    _, data = fashion.load(Job(Path(), ""))
    assert data.X.shape in ((1000, 21), (1000, 22))
    assert data.kept_unknown > 100
    assert data.truth.shape == (1000, 3)


def test_amazon_end_to_end(products, tmp_path):
    folder = tmp_path / "out"
    arguments = ["--data", str(products), "-o", str(folder), "--quick", "-q"]
    assert main(["reproduce", "amazon", *arguments]) == 0
    rows = rows_of(folder / "scores.csv")
    wanted = settings.read_settings("amazon")["methods"]
    assert list(dict.fromkeys(row["method"] for row in rows)) == wanted
    assert {row["cut"] for row in rows} == {"depth", "matched"}
    ward = next(r for r in rows if (r["method"], r["cut"], r["level"]) == ("ward", "matched", "2"))
    assert float(ward["ari"]) > 0.5  # words tell the classes apart
    of_control = [float(r["ami"]) for r in rows if r["method"] == "random"]
    assert np.mean(of_control) < 0.25
    control = json.loads((folder / "parts" / "random_seed_0.json").read_text())
    fit = Tree.load(folder / "parts" / "bhmc-paper.tree.bhmc")
    assert control["recipe"]["settings"]["alpha"] == pytest.approx(fit.alpha, abs=1e-6)
    assert control["recipe"]["settings"]["n_levels"] == 7
    times = rows_of(folder / "times-by-rows.csv")
    assert len(times) == len(wanted) - 1  # all but the control
    page = (folder / "results.html").read_text(encoding="utf-8")
    assert "Purity and NMI alone prove nothing here" in page
    assert "50 products" in page  # those that are marked
    assert page.count("<img") == 3
    assert "variances of the steps in units of the noise" in page
    of_ami = rows_of(folder / "ami.csv")
    for how in ("matched", "own"):
        assert list(dict.fromkeys(r["method"] for r in of_ami if r["how"] == how)) == wanted
    for row in of_ami:  # the matched column is that of the long table
        if row["how"] == "matched" and row["method"] != "random":
            key = (row["method"], "matched", row["level"])
            same = next(r for r in rows if (r["method"], r["cut"], r["level"]) == key)
            assert float(row["ami"]) == pytest.approx(float(same["ami"]))


def test_the_supplement_end_to_end(animals, tmp_path):
    folder = tmp_path / "out"
    arguments = ["--data", str(ANIMALS), "-o", str(folder), "--quick", "-q", "--supplement"]
    assert main(["reproduce", "animals", *arguments]) == 0
    (row,) = rows_of(folder / "supplement.csv")
    assert row["nodes per level"].split()[0] == "1"
    assert (folder / "supplement-niw.png").exists()
