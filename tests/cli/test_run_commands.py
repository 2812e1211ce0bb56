"""Commands on a run folder: show, predict, export, plot, diagnose."""

import argparse
import csv
import json
import shutil
import sys
from dataclasses import replace

import numpy as np
import pytest

import bhmc
from bhmc._cli import main, parser, show
from bhmc._cli.output import fitted
from bhmc._io.tables.read import Reading, read_table
from tests.cli.tools import refused, rows_of


def test_show(finished, capsys):
    model = bhmc.BHMC.load(finished / "model.bhmc")
    assert main(["show", str(finished)]) == 0
    assert capsys.readouterr().out == (finished / "tree.txt").read_text()
    assert main(["show", str(finished), "--depth", "1", "--features", "2", "--names", "2"]) == 0
    expected = model.tree_.to_text(max_depth=1, features=2, max_names=2)
    assert capsys.readouterr().out == expected + "\n"
    assert main(["show", str(finished), "--width", "30"]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert max(map(len, shown)) <= 30
    assert any(line.endswith("…") for line in shown)


def test_show_as_json(finished, capsys):
    tree = bhmc.BHMC.load(finished / "model.bhmc").tree_
    assert main(["show", str(finished), "--json", "--features", "1"]) == 0
    nodes = json.loads(capsys.readouterr().out)["nodes"]
    assert [node["parent"] for node in nodes] == tree.parents.tolist()
    assert [node["size"] for node in nodes] == tree.sizes.tolist()
    assert main(["show", str(finished), "--json", "--min-size", "6", "--depth", "1"]) == 0
    fewer = json.loads(capsys.readouterr().out)["nodes"]
    wanted = [z for z in range(tree.n_nodes) if tree.sizes[z] >= 6 and tree.levels[z] <= 1]
    assert [node["id"] for node in fewer] == wanted


def test_nodes_below_one_without_support_are_lifted(finished):
    tree = bhmc.BHMC.load(finished / "model.bhmc").tree_
    support = np.array([1.0, 0.1, 0.9])[tree.levels]
    options = argparse.Namespace(min_size=1, depth=None, min_support=0.5, features=0)
    nodes = show.node_list(replace(tree, support=support), options)
    assert [node["id"] for node in nodes] == [0, *np.flatnonzero(tree.levels == 2)]
    assert [node["parent"] for node in nodes] == [-1, *np.zeros(len(nodes) - 1)]


def test_lines_are_cut_by_what_they_take_in_a_terminal():
    assert fitted("abcdef\nab", 4) == "abc…\nab"
    assert fitted("日本語", 5) == "日本…"
    assert fitted("日本語", 6) == "日本語"
    assert fitted("e\u0301" * 4, 4) == "e\u0301" * 4
    assert fitted("abcdef", None) == "abcdef"


def test_predict(finished, table, tmp_path, capsys):
    """Rows in another order, columns too, with one more."""
    rows = rows_of(table)[::-1]
    other = tmp_path / "new.csv"
    with other.open("w", newline="") as file:
        writer = csv.DictWriter(file, ["colour", "extra", *[n for n in rows[0] if n != "colour"]])
        writer.writeheader()
        extras = ["x", *"12345678901"]  # a column that is not fitted may hold anything
        writer.writerows({**row, "extra": one} for row, one in zip(rows, extras, strict=True))
    model = bhmc.BHMC.load(finished / "model.bhmc")
    X = read_table(str(table), Reading()).data()
    probability, new = model.predict_proba(X, return_new=True)
    assert main(["predict", str(finished), str(other), "-o", str(tmp_path / "out.csv")]) == 0
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "not fitted: 'extra'" in printed.err
    found = rows_of(tmp_path / "out.csv")[::-1]
    assert [row["name"] for row in found] == [f"item{i}" for i in range(12)]
    paths = model.predict_path(X)
    assert [row["path"] for row in found] == [" ".join(map(str, path)) for path in paths]
    assert [int(row["leaf"]) for row in found] == paths[:, -1].tolist()
    assert [int(row["label"]) for row in found] == model.predict(X).tolist()
    assert [int(row["component"]) for row in found] == model.predict_component(X).tolist()
    np.testing.assert_allclose(
        [float(row["probability"]) for row in found], probability.max(axis=1), atol=1e-12
    )
    np.testing.assert_allclose([float(row["new_branch"]) for row in found], new, atol=1e-12)
    new = model.transform(X, return_new=True)[1]
    np.testing.assert_allclose([float(row["new_component"]) for row in found], new, atol=1e-12)
    assert "outlier_score" not in found[0]

    assert main(["predict", str(finished), str(other), "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)["rows"]
    assert [row["name"] for row in shown][::-1] == [row["name"] for row in found]


def test_predict_says_how_unusual_rows_are(finished, tmp_path, capsys):
    """An impossible row has the top score; a row without any entry has empty cells."""
    other = tmp_path / "new.csv"
    other.write_text(
        "name,size,weight,flies,colour\n"
        "odd,1e6,-1e6,0,red\nplain,1,2,0,red\nnothing,,,,\nnothing2,,,,\n"
    )
    assert main(["predict", str(finished), str(other), "--outliers"]) == 0
    printed = capsys.readouterr()
    odd, plain, nothing, _ = csv.DictReader(printed.out.splitlines())
    assert printed.err == (
        "2 rows without any entry, placed nowhere (empty cells): nothing, nothing2.\n"
    )
    assert float(odd["outlier_score"]) == 1 > float(plain["outlier_score"])
    assert float(odd["new_component"]) >= 0.99 > float(plain["new_component"])
    assert {value for name, value in nothing.items() if name != "name"} == {""}
    assert main(["predict", str(finished), str(other), "--outliers", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)["rows"]
    assert shown[2]["leaf"] is None
    assert shown[0]["outlier_score"] == 1


def test_refusals_of_predict(finished, table, tmp_path, capsys):
    other = tmp_path / "new.csv"
    other.write_text("name,size,weight\na,1,2\n")
    line = refused(capsys, "predict", finished, other)
    assert "lacks columns that were fitted: 'flies', 'colour'." in line
    other.write_text("name,size,weight,flies,colour\na,big,2,1,red\n")
    line = refused(capsys, "predict", finished, other)
    assert "has the text 'big' in column 'size', line 2; values must be numbers." in line
    line = refused(capsys, "predict", finished, table, "-o", tmp_path / "no" / "out.csv")
    assert "there is no folder" in line


@pytest.mark.parametrize("kind", parser.EXPORTS)
def test_export(finished, kind, tmp_path, capsys):
    for library, needed in (
        ("networkx", "graphml"),
        ("arviz_base", "arviz"),
        ("h5netcdf", "arviz"),
        ("h5py", "arviz"),
    ):
        if kind == needed:
            pytest.importorskip(library, reason=f"NOT TESTED: {library} is not installed.")
    model = bhmc.BHMC.load(finished / "model.bhmc")
    tree, file = model.tree_, tmp_path / "out"
    assert main(["export", str(finished), "--to", kind, "-o", str(file)]) == 0
    assert capsys.readouterr().err == f"Wrote {file}\n"
    if kind == "newick":
        assert file.read_text().strip() == tree.to_newick().strip()
    elif kind == "linkage":
        np.testing.assert_array_equal(np.load(file), tree.to_linkage())
    elif kind == "json":
        again = bhmc.Tree.from_json(file.read_text())
        np.testing.assert_array_equal(again.paths, tree.paths)
    elif kind == "csv":
        assert [int(row["size"]) for row in rows_of(file)] == tree.sizes.tolist()
        leaves = [row for row in rows_of(file) if int(row["level"]) == tree.n_levels]
        assert [int(row["id"]) for row in leaves] == tree.leaves.tolist()
        assert [int(row["label"]) for row in leaves] == list(range(tree.n_leaves))
    elif kind == "graphml":
        import networkx

        graph = networkx.read_graphml(file)
        assert [graph.nodes[str(z)]["size"] for z in range(tree.n_nodes)] == tree.sizes.tolist()
    elif kind == "arviz":
        import xarray

        with xarray.open_datatree(file, engine="h5netcdf") as found:
            np.testing.assert_array_equal(found["posterior/alpha"], model.draws_.alpha)


def test_export_without_what_it_needs(finished, tmp_path, capsys, monkeypatch):
    out = tmp_path / "out"
    with monkeypatch.context() as patched:
        patched.setitem(sys.modules, "networkx", None)
        assert "needs networkx" in refused(capsys, "export", finished, "--to", "graphml", "-o", out)
    pytest.importorskip("arviz_base", reason="NOT TESTED: arviz_base is not installed.")
    monkeypatch.setattr("bhmc._cli.export.find_spec", lambda name: None)
    line = refused(capsys, "export", finished, "--to", "arviz", "-o", out)
    assert "needs h5netcdf" in line
    assert not out.exists()


@pytest.mark.parametrize("kind", parser.PLOTS)
def test_plot(finished, kind, tmp_path, capsys):
    pytest.importorskip("matplotlib", reason="NOT TESTED: matplotlib is not installed.")
    file = tmp_path / "picture.png"
    assert main(["plot", str(finished), "--kind", kind, "-o", str(file), "--dpi", "40"]) == 0
    assert file.read_bytes().startswith(b"\x89PNG")
    assert capsys.readouterr().err.endswith(f"Wrote {file}\n")


def test_the_dendrogram(finished, tmp_path, capsys):
    tree = bhmc.BHMC.load(finished / "model.bhmc").dendrogram_
    assert main(["show", str(finished), "--dendrogram"]) == 0
    assert capsys.readouterr().out == tree.to_text() + "\n"
    assert "height" in tree.to_text()
    assert main(["show", str(finished), "--dendrogram", "--json"]) == 0
    nodes = json.loads(capsys.readouterr().out)["nodes"]
    assert [node["height"] for node in nodes] == tree.heights.tolist()
    file = tmp_path / "out"
    assert main(["export", str(finished), "--dendrogram", "--to", "linkage", "-o", str(file)]) == 0
    np.testing.assert_array_equal(np.load(file), tree.to_linkage())
    capsys.readouterr()
    line = refused(capsys, "export", finished, "--dendrogram", "--to", "arviz", "-o", file)
    assert "no dendrogram" in line
    line = refused(capsys, "plot", finished, "--dendrogram", "--kind", "trace")
    assert "draws no tree" in line


@pytest.mark.parametrize("kind", ["tree", "icicle"])
def test_plot_of_the_dendrogram(finished, kind, tmp_path):
    pytest.importorskip("matplotlib", reason="NOT TESTED: matplotlib is not installed.")
    file = tmp_path / "picture.png"
    options = ["--kind", kind, "-o", str(file), "--dpi", "40"]
    assert main(["plot", str(finished), "--dendrogram", *options]) == 0
    assert file.read_bytes().startswith(b"\x89PNG")


def test_a_run_of_an_older_bhmc_has_no_dendrogram(finished, tmp_path, capsys):
    model = bhmc.BHMC.load(finished / "model.bhmc")
    del model.dendrogram_
    folder = tmp_path / "old"
    folder.mkdir()
    (folder / "run.json").write_text((finished / "run.json").read_text())
    model.save(folder / "model.bhmc")
    assert "fit it again" in refused(capsys, "show", folder, "--dendrogram")


def test_refusals_of_plot(finished, tmp_path, capsys, monkeypatch):
    line = refused(capsys, "plot", finished, "-o", tmp_path / "a.docx")
    assert "should end in .png" in line
    line = refused(capsys, "plot", finished, "--kind", "coclustering", "--level", "7")
    assert "--level must be 1 to 2" in line
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert "needs matplotlib" in refused(capsys, "plot", finished)


def test_report(finished, tmp_path, capsys, monkeypatch):
    pytest.importorskip("matplotlib", reason="NOT TESTED: matplotlib is not installed.")
    file = tmp_path / "page.html"
    assert main(["report", str(finished), "-o", str(file)]) == 0
    assert capsys.readouterr().err.endswith(f"Wrote {file}\n")
    page = file.read_text("utf-8")
    assert page.startswith("<!doctype html>")
    assert page.count("data:image/png;base64,") == 3
    line = refused(capsys, "report", finished, "-o", tmp_path / "page.pdf")
    assert "should end in .html" in line
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert "needs matplotlib" in refused(capsys, "report", finished, "-o", file)


def test_a_run_that_opens_with_the_dendrogram(finished, capsys, monkeypatch):
    """`show` prints it and says why; --tree prints the tree; --json has no message."""
    monkeypatch.setattr("bhmc._estimator.displays.opens_with", lambda model: "dendrogram")
    model = bhmc.BHMC.load(finished / "model.bhmc")
    assert main(["show", str(finished)]) == 0
    shown = capsys.readouterr()
    assert shown.out == model.dendrogram_.to_text() + "\n"
    assert "The dendrogram of components comes first" in shown.err
    assert f"bhmc show {finished} --tree" in shown.err
    assert main(["show", str(finished), "--tree"]) == 0
    shown = capsys.readouterr()
    assert shown.out == model.tree_.to_text() + "\n"
    assert "comes first" not in shown.err
    assert main(["show", str(finished), "--json"]) == 0
    shown = capsys.readouterr()
    assert "height" in json.loads(shown.out)["nodes"][0]
    assert "comes first" not in shown.err


def test_diagnose(finished, capsys):
    from bhmc.posterior.diagnostics import diagnose

    expected = diagnose(bhmc.BHMC.load(finished / "model.bhmc").draws_)
    assert main(["diagnose", str(finished)]) == 0
    assert capsys.readouterr().out == f"{expected}\n"
    assert main(["diagnose", str(finished), "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["converged"] == expected.converged
    assert shown["problems"] == list(expected.problems)


def test_show_describes_nodes(finished, capsys):
    model = bhmc.BHMC.load(finished / "model.bhmc")
    tops = model.tree_.children(0).tolist()
    assert main(["show", str(finished), "--describe", "--width", "200"]) == 0
    parts = capsys.readouterr().out.rstrip("\n").split("\n\n")
    assert [part.split(":")[0] for part in parts] == [f"Node {node}" for node in tops]
    assert parts[0] == str(model.describe(tops[0], n_members=8))
    assert main(["show", str(finished), "--describe", str(tops[0]), "--features", "1"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith(f"Node {tops[0]}: ")
    assert "item" in printed
    assert main(["show", str(finished), "--describe", str(tops[0]), "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)
    assert found["node"] == tops[0]
    assert found["size"] == model.tree_.sizes[tops[0]]
    assert set(found["typical"][0]) == {"row", "name", "membership"}
    assert "at most" in refused(capsys, "show", finished, "--describe", "9999")
    assert "is called 'dragons'" in refused(capsys, "show", finished, "--describe", "dragons")


def test_show_describes_a_node_by_its_name(finished, tmp_path, capsys):
    folder = tmp_path / "run"
    shutil.copytree(finished, folder)
    model = bhmc.BHMC.load(folder / "model.bhmc")
    model.rename({1: "the large ones"}).save(folder / "model.bhmc")
    assert main(["show", str(folder), "--describe", "the large ones"]) == 0
    assert capsys.readouterr().out.startswith("the large ones (node 1): ")
    assert main(["show", str(folder)]) == 0
    assert "the large ones [" in capsys.readouterr().out
