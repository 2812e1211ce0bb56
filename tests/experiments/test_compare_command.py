"""`bhmc compare`: files, classes that reach no fit, refusals in one sentence."""

import json
import re
import sys

import numpy as np
import pytest

from bhmc._cli import main
from bhmc._experiments.methods import METHODS
from tests.experiments.tools import compare, part_times, refused, rows_of

pytest.importorskip("matplotlib")


def test_compare_writes_tables_figures_and_a_page(table, tmp_path):
    assert compare(table, tmp_path / "out", "--repeats", "2", "--sizes", "10,20") == 0
    found = {file.name for file in (tmp_path / "out").iterdir()}
    assert {"results.html", "levels.png", "levels-depth.csv", "scores.csv", "runs.csv"} <= found
    scores = rows_of(tmp_path / "out" / "scores.csv")
    assert {row["method"] for row in scores} == {"bhmc", "ward", "random"}
    assert {row["seed"] for row in scores if row["method"] == "bhmc"} == {"0", "1"}
    matched = [row for row in scores if row["method"] == "ward" and row["cut"] == "matched"]
    assert len(matched) == 1
    assert matched[0]["clusters"] == "2"
    page = (tmp_path / "out" / "results.html").read_text(encoding="utf-8")
    assert "a random tree that has never seen the data" in page
    assert page.count("<img") == 3
    assert "quick run" in page
    for row in scores:
        if row["method"] == "random":
            assert abs(float(row["ari"])) < 0.6


def test_transitions_are_methods(table, tmp_path):
    """Each with its own transition, and with the levels that were asked for."""
    asked = "bhmc-diffused,bhmc-hdp,ward,random"
    assert compare(table, tmp_path / "out", "--levels", "2", methods=asked) == 0
    for name in ("diffused", "hdp"):
        part = json.loads((tmp_path / "out" / "parts" / f"bhmc-{name}.json").read_text("utf-8"))
        assert part["recipe"]["settings"]["transition"] == name
        assert part["recipe"]["settings"]["n_levels"] == 2
        assert ("step_variances" in part["facts"]) == (name == "diffused")
    rows = rows_of(tmp_path / "out" / "ami.csv")
    assert list(dict.fromkeys(row["method"] for row in rows)) == asked.split(",")
    assert {row["how"] for row in rows if row["method"] == "bhmc-hdp"} == {
        "matched",
        "own",
        "components",
    }


def test_transitions_take_text_and_gaps(tmp_path):
    file = tmp_path / "mixed.csv"
    lines = [f"{'ab'[i % 2]},{i % 2 + i / 50 if i else ''},k{i % 2}" for i in range(20)]
    file.write_text("\n".join(["colour,x,kind", *lines]) + "\n", encoding="utf-8")
    common = ["compare", str(file), "-o", str(tmp_path / "out"), "--labels", "kind", "--quick"]
    assert main([*common, "-q", "--methods", "bhmc-diffused,bhmc-hdp"]) == 0


def test_compare_finds_what_is_done(table, tmp_path):
    folder = tmp_path / "out"
    assert compare(table, folder) == 0
    before = part_times(folder)
    assert len(before) == 4  # bhmc, ward, two random trees
    assert compare(table, folder) == 0
    assert part_times(folder) == before
    assert compare(table, folder, "--seed", "5") == 0
    after = part_times(folder)
    assert after["ward.json"] == before["ward.json"]  # no seed decides it
    assert after["bhmc.json"] != before["bhmc.json"]


def test_labels_reach_no_fit(table, tmp_path, monkeypatch):
    """Other labels, the same trees: their parts are found, and what methods get has no labels."""
    seen = []
    for name, method in list(METHODS.items()):

        def run(request, method=method):
            seen.append(request.X)
            return method.run(request)

        monkeypatch.setitem(METHODS, name, method._replace(run=run))
    assert compare(table, tmp_path / "out") == 0
    assert all(X.shape[1] == 2 for X in seen)
    n = len(seen)
    text = table.read_text(encoding="utf-8")
    other = tmp_path / "other.csv"
    other.write_text(re.sub(r",k(\d)", lambda m: f",k{len(m[0]) + hash(m.start()) % 3}", text))
    scores = rows_of(tmp_path / "out" / "scores.csv")
    assert compare(other, tmp_path / "out") == 0
    assert len(seen) == n
    assert rows_of(tmp_path / "out" / "scores.csv") != scores


def test_bhmc_is_the_same_in_any_company(table, tmp_path):
    """Rivals know numbers only; that must not take its family for every column from BHMC."""
    lines = table.read_text(
        encoding="utf-8"
    ).splitlines()  # with a column of 0 and 1 beside numbers
    mixed = tmp_path / "mixed.csv"
    ends = ["flag", *(str(i // 3 % 2) for i in range(len(lines) - 1))]
    mixed.write_text("\n".join(f"{a},{b}" for a, b in zip(lines, ends, strict=True)) + "\n")
    scores = []
    for asked in ("bhmc", "bhmc,ward"):
        folder = tmp_path / asked
        assert compare(mixed, folder, methods=asked) == 0
        scores.append([row for row in rows_of(folder / "scores.csv") if row["method"] == "bhmc"])
    assert scores[0] == scores[1]


def test_paths_are_levels_of_classes(table, tmp_path):
    arguments = ["--drop", "kind", "--path", "path", "--quick", "-q", "--methods", "ward"]
    assert main(["compare", str(table), "-o", str(tmp_path / "out"), *arguments]) == 0
    rows = rows_of(tmp_path / "out" / "levels-matched.csv")
    assert [(row["level"], row["classes"]) for row in rows] == [("1", "1"), ("2", "2"), ("3", "4")]
    assert float(rows[2]["ARI"]) == 1.0


def test_refusals_are_one_sentence(table, tmp_path, capsys):
    out = tmp_path / "out"
    assert "name the classes" in refused(capsys, "compare", table, "-o", out)
    both = ("--labels", "kind", "--path", "path")
    assert "one of the two" in refused(capsys, "compare", table, "-o", out, *both)
    said = refused(capsys, "compare", table, "-o", out, "--labels", "kinds")
    assert "Did you mean 'kind'?" in said
    said = refused(capsys, "compare", table, "-o", out, "--labels", "kind", "--methods", "wards")
    assert "'wards' is no method" in said
    said = refused(capsys, "compare", table, "-o", out, "--labels", "kind", "--methods", "ward")
    assert "column 'path' holds text, which only bhmc can take" in said
    assert not out.exists()
    said = refused(capsys, "reproduce", "animals", "-o", out)
    assert "--data FILE is missing" in said
    said = refused(capsys, "reproduce", "animals", "--data", table, "-o", out)
    assert "which is not a number" in said
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("x")
    said = refused(capsys, "reproduce", "animals", "--data", table, "-o", tmp_path / "mine")
    assert "no experiment is in it" in said


def test_without_matplotlib_it_is_said_before_any_work(table, tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    more = ("--drop", "path", "--labels", "kind", "--methods", "ward")
    said = refused(capsys, "compare", table, "-o", tmp_path / "out", *more)
    assert said.endswith("needs matplotlib: install it with `pip install bhmc[plot]`.")
    assert not (tmp_path / "out").exists()


def test_missing_entries_are_for_bhmc_alone(tmp_path, capsys):
    file = tmp_path / "gaps.csv"
    file.write_text("x,y,kind\n1,2,a\n,3,b\n4,5,a\n2,2,b\n", encoding="utf-8")
    common = ("compare", file, "-o", tmp_path / "out", "--labels", "kind", "--quick", "-q")
    said = refused(capsys, *common, "--methods", "bhmc,ward")
    assert "line 3: column 'x' has no entry" in said
    assert main([str(one) for one in (*common, "--methods", "bhmc,random")]) == 0


def test_ctrl_c_keeps_what_is_done(table, tmp_path, monkeypatch, capsys):
    def interrupted(request):
        raise KeyboardInterrupt

    whole = METHODS["ward"]
    monkeypatch.setitem(METHODS, "ward", whole._replace(run=interrupted))
    assert compare(table, tmp_path / "out") == 130
    assert "The same command goes on from there" in capsys.readouterr().err
    before = part_times(tmp_path / "out")
    assert set(before) == {"bhmc.json"}
    monkeypatch.setitem(METHODS, "ward", whole)
    assert compare(table, tmp_path / "out") == 0
    assert part_times(tmp_path / "out")["bhmc.json"] == before["bhmc.json"]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--labels", "sort"), "--labels 'sort' is no column"),
        (("--labels", "kind,kind"), "names the column 'kind' twice"),
        (("--labels", "kind", "--text", "kind"), "which no method may see"),
        (("--labels", "kind", "--id", "kind"), "cannot be both"),
        (("--labels", "kind", "--methods", ""), "no method is named"),
        (("--labels", "name"), "a class of its own for every row"),
        (("--path", "path", "--separator", ""), "--separator is empty"),
        (("--path", "path", "--separator", "/"), "has the separator '/'"),
        (("--labels", "kind", "--text", "name"), "the words of 'name' give no numbers"),
    ],
)
def test_wrong_use_of_compare_is_said_in_a_sentence(table, tmp_path, capsys, more, said):
    drop = () if "--path" in more else ("--drop", "path")
    common = ("compare", table, "-o", tmp_path / "out", "--methods", "bhmc,random", "--quick", "-q")
    assert said in refused(capsys, *common, *drop, *more)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("lines", "methods", "said"),
    [
        ("1,2,k\n2,3,k\n4,5,k", "ward", "one class for all rows"),
        ("1,2,k\n2,inf,k\n4,5,l", "ward", "line 3: column 'y' has inf"),
        ("1,2,k\n1e200,3,k\n4,5,l", "bhmc", "line 3: column 'x' has 1e+200"),
        ("1,2,k\n,3,k\n4,5,l", "bhmc,bhmc-paper", "compare bhmc and random alone"),
        ("1,a,k\n2,b,k\n4,a,l", "bhmc,bhmc-paper", "compare bhmc and random alone"),
    ],
)
def test_tables_that_cannot_be_compared_are_refused(tmp_path, capsys, lines, methods, said):
    file = tmp_path / "t.csv"
    file.write_text(f"x,y,kind\n{lines}\n", encoding="utf-8")
    common = ("compare", file, "-o", tmp_path / "out", "--labels", "kind", "--quick", "-q")
    assert said in refused(capsys, *common, "--methods", methods)
    if methods != "ward" and "alone" in said:
        said = refused(capsys, *common, "--methods", "bhmc", "--standardise")
        assert said.endswith("leave out --standardise.")


def test_a_matrix_has_no_classes(tmp_path, capsys):
    np.save(tmp_path / "m.npy", np.eye(4))
    said = refused(capsys, "compare", tmp_path / "m.npy", "-o", tmp_path / "o", "--labels", "x1")
    assert "is a matrix of numbers" in said


@pytest.mark.parametrize("with_pandas", [True, False])
def test_times_of_a_table_with_text_and_gaps(tmp_path, monkeypatch, with_pandas):
    if not with_pandas:
        from bhmc._io.tables import frame
        from bhmc._io.tables import read as tables

        monkeypatch.setattr(tables, "frame_of", lambda names, cells, _: frame.Frame(names, cells))
    file = tmp_path / "mixed.csv"
    lines = [f"{'ab'[i % 2]},{i % 2 + i / 50 if i else ''},k{i % 2}" for i in range(20)]
    file.write_text("\n".join(["colour,x,kind", *lines]) + "\n", encoding="utf-8")
    common = ["compare", str(file), "-o", str(tmp_path / "out"), "--labels", "kind", "--quick"]
    assert main([*common, "-q", "--methods", "bhmc,random", "--sizes", "10,99"]) == 0
    assert list(rows_of(tmp_path / "out" / "times-by-rows.csv")[0]) == [
        "method",
        "N 10",
        "exponent",
    ]
    page = (tmp_path / "out" / "results.html").read_text(encoding="utf-8")
    assert "No time was taken at 99 rows: there are only 20." in page


def test_times_of_the_control_alone_are_not_asked_for(table, tmp_path):
    assert compare(table, tmp_path / "out", "--methods", "random", "--sizes", "10") == 0
    assert not (tmp_path / "out" / "times-by-rows.csv").exists()


def test_words_of_a_table_can_be_compared(products, tmp_path):
    arguments = ["--text", "title,description", "--path", "category_path", "--drop", "sample_2303"]
    arguments += ["--methods", "ward", "-q", "-o", str(tmp_path / "out")]
    assert main(["compare", str(products), *arguments]) == 0
    row = rows_of(tmp_path / "out" / "levels-matched.csv")[-1]
    assert float(row["ARI"]) > 0.5
