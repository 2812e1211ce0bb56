"""The command line: words, exit codes, run folders; what it writes agrees with the model."""

import argparse
import csv
import json
import os
import re
import shlex
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import bhmc
from bhmc._cli import folder as folders
from bhmc._cli import main, options, parser, results, show
from bhmc._cli.output import counted, fitted, to_json
from bhmc._io.tables.frame import Frame
from bhmc._io.tables.read import Reading, read_table
from bhmc._validation.errors import RefusedError
from bhmc._validation.init import STARTS
from bhmc.likelihoods import NAMES
from bhmc.posterior.recorder import Recorder
from tests.shared_data import FOLDER

SOURCE = Path(bhmc.__file__).parents[1]
COMMANDS = ("fit", "show", "plot", "predict", "export", "diagnose", "demo", "prior", "completion")
COMMANDS += ("reproduce", "compare")
QUICK = ("--draws", "6", "--warmup", "4", "--levels", "2", "--seed", "3")


def run(*arguments, environment=None, **more) -> subprocess.CompletedProcess:
    """`bhmc ...` in a process of its own, with this checkout's code."""
    command = [sys.executable, "-m", "bhmc", *map(str, arguments)]
    env = {**os.environ, "PYTHONPATH": str(SOURCE), **(environment or {})}
    return subprocess.run(command, capture_output=True, encoding="utf-8", env=env, **more)


def refused(capsys, *arguments) -> str:
    """The one line that a command says in refusing."""
    assert main([str(one) for one in arguments]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    *_, line = printed.err.splitlines()
    assert line.startswith(f"bhmc {arguments[0]}: ")
    assert line.endswith((".", "?"))
    assert "Traceback" not in printed.err
    return line


@pytest.fixture(scope="module")
def table(tmp_path_factory) -> Path:
    """Two groups of six rows, with names, numbers, 0/1 and text."""
    rng = np.random.default_rng(0)
    file = tmp_path_factory.mktemp("data") / "table.csv"
    lines = ["name,size,weight,flies,colour"]
    for i in range(12):
        far = i % 2
        x, y = rng.normal(6 * far, 1, 2)
        lines.append(f"item{i},{x:.4f},{y:.4f},{far},{('red', 'blue')[far]}")
    file.write_text("\n".join(lines) + "\n")
    return file


@pytest.fixture(scope="module")
def finished(table, tmp_path_factory) -> Path:
    """A run folder; tests must not change it."""
    folder = tmp_path_factory.mktemp("run") / "run"
    assert main(["fit", str(table), "-o", str(folder), *QUICK]) == 0
    return folder


def record_of(folder: Path) -> dict:
    return json.loads((folder / "run.json").read_text())


def rows_of(file: Path) -> list[dict]:
    with file.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


# ------------------------------------------------------------------------------------------------
# Words
# ------------------------------------------------------------------------------------------------


def test_help_comes_without_the_heavy_libraries():
    code = (
        "import sys; sys.argv = ['bhmc', '--help']\n"
        "from bhmc._cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "heavy = {'numpy', 'scipy', 'sklearn', 'numba', 'pandas'} & set(sys.modules)\n"
        "print('heavy:', sorted(heavy))"
    )
    env = {**os.environ, "PYTHONPATH": str(SOURCE)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env)
    assert done.stdout.endswith("heavy: []\n"), done.stderr
    for command in COMMANDS:
        assert f"\n  {command}" in done.stdout.replace("    ", "  ")


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_that_fits_on_a_screen(command, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    with pytest.raises(SystemExit) as stop:
        main([command, "--help"])
    assert stop.value.code == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f"usage: bhmc {command}")
    assert max(map(len, lines)) <= 100


def test_every_option_is_explained():
    actions = parser.build_parser()._subparsers._group_actions[0].choices
    assert set(actions) == set(COMMANDS)
    for name, command in actions.items():
        for action in command._actions:
            assert action.help, (name, action.dest)


def test_choices_are_those_of_the_library():
    assert sorted(options.LIKELIHOODS) == sorted(NAMES)
    assert sorted(options.STARTS) == sorted(STARTS)


def test_defaults_named_in_help_are_the_estimators():
    fit = parser.build_parser()._subparsers._group_actions[0].choices["fit"]
    texts = {action.dest: action.help for action in fit._actions}
    model = bhmc.BHMC()
    for option, value in (
        ("levels", model.n_levels),
        ("draws", model.n_draws),
        ("warmup", model.n_warmup),
        ("thin", model.thin),
        ("chains", model.n_chains),
        ("init", model.init),
        ("likelihood", model.likelihood),
        ("estimate", model.estimate),
        ("keep", model.keep),
    ):
        assert f"(default: {value}" in texts[option], option
    for option in ("alpha", "gamma0", "gamma"):
        assert getattr(model, option) == "learn"
        assert "`learn` (default)" in texts[option]


def test_version_and_no_command(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["--version"])
    assert stop.value.code == 0
    assert capsys.readouterr().out == f"bhmc {bhmc.__version__}\n"
    assert main([]) == 2
    assert "usage: bhmc" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["fit", "x.csv", "-o", "d", "--levels", "0"], "whole number of at least 1, got '0'"),
        (["fit", "x.csv", "-o", "d", "--draws", "1e3"], "whole number of at least 1, got '1e3'"),
        (["fit", "x.csv", "-o", "d", "--alpha", "-1"], "above 0, or the word learn, got '-1'"),
        (["fit", "x.csv", "-o", "d", "--alpha", "nan"], "above 0, or the word learn, got 'nan'"),
        (["fit", "x.csv", "-o", "d", "--seed=-3"], "whole number of at least 0, got '-3'"),
        (["fit", "x.csv", "-o", "d", "--jobs", "0"], "-1 for all processors, got '0'"),
        (["fit", "x.csv", "-o", "d", "--delimiter", "ab"], "one character or `tab`, got 'ab'"),
        (["fit", "x.csv", "-o", "d", "--likelihood", "normal"], "invalid choice: 'normal'"),
        (["fit", "x.csv", "-o", "d", "--level", "3"], "unrecognized arguments: --level 3"),
        (["show", "d", "--min-support", "120%"], "from 0 to 1, got '120%'"),
        (["plot", "d", "--kind", "pie"], "invalid choice: 'pie'"),
        (["export", "d", "-o", "x"], "required: --to"),
        (["prior", "0"], "whole number of at least 1, got '0'"),
        (["fti", "x.csv"], "invalid choice: 'fti'"),
    ],
)
def test_wrong_words(arguments, said, capsys):
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert stop.value.code == 2
    assert said in capsys.readouterr().err


def test_lists_of_columns():
    assert options.columns('a, b,"c, d"') == ["a", "b", "c, d"]
    assert options.share("50%") == options.share("0.5") == 0.5


# ------------------------------------------------------------------------------------------------
# Fit and its folder
# ------------------------------------------------------------------------------------------------


def test_the_folder_agrees_with_the_model(finished, table):
    model = bhmc.BHMC.load(finished / "model.bhmc")
    record = record_of(finished)
    assert sorted(file.name for file in finished.iterdir() if "checkpoint" not in file.name) == [
        "assignments.csv",
        "draws.csv",
        "model.bhmc",
        "run.json",
        "tree.txt",
    ]
    assert record["status"] == "done"
    assert record["seed"] == 3
    assert (record["data"]["rows"], record["data"]["columns"]) == (12, 4)
    assert record["data"]["kinds"] == ["number", "number", "number", "text"]
    assert record["versions"]["bhmc"] == bhmc.__version__
    assert (model.n_levels, model.n_draws, model.n_warmup) == (2, 6, 4)
    shown = record["settings"]
    assert {name: model.get_params()[name] for name in shown} == shown
    assert set(model.get_params()) - set(shown) == {"checkpoint", "progress", "random_state"}

    names = [f"item{i}" for i in range(12)]
    rows = rows_of(finished / "assignments.csv")
    assert [row["name"] for row in rows] == names
    assert [row["path"] for row in rows] == [" ".join(map(str, p)) for p in model.paths_]
    assert [int(row["leaf"]) for row in rows] == model.paths_[:, -1].tolist()
    assert [int(row["component"]) for row in rows] == model.component_labels_.tolist()

    draws = rows_of(finished / "draws.csv")
    for name, values in model.draws_.numbers().items():
        assert [float(row[name].replace("True", "1").replace("False", "0")) for row in draws] == (
            values.ravel().astype(float).tolist()
        )
    assert model.tree_.names is not None
    assert model.tree_.names.tolist() == names
    assert model.tree_.feature_names is not None
    assert (finished / "tree.txt").read_text() == model.tree_.to_text() + "\n"


def test_a_fit_is_the_librarys_own(finished, table):
    """The same seed and settings in Python give the same draws, also without pandas."""
    read = read_table(str(table), Reading())
    assert read.columns is not None
    written = bhmc.BHMC.load(finished / "model.bhmc")
    for X in (read.data(), Frame(read.names, read.columns)):
        model = bhmc.BHMC(n_levels=2, n_draws=6, n_warmup=4, random_state=3).fit(X)
        np.testing.assert_array_equal(model.paths_, written.paths_)
        np.testing.assert_array_equal(model.draws_.log_joint, written.draws_.log_joint)


def test_fit_prints_the_tree_and_nothing_else_on_stdout(table, tmp_path, capsys):
    assert main(["fit", str(table), "-o", str(tmp_path / "run"), *QUICK]) == 0
    printed = capsys.readouterr()
    assert printed.out == (tmp_path / "run" / "tree.txt").read_text()
    assert "named by 'name'" in printed.err
    assert "12 rows, 4 columns" in printed.err
    assert "seed 3" in printed.err


def test_quiet_and_json(table, tmp_path, capsys):
    folder = tmp_path / "run"
    assert main(["fit", str(table), "-o", str(folder), "--json", "--quiet", *QUICK]) == 0
    printed = capsys.readouterr()
    shown = json.loads(printed.out)
    assert shown["folder"] == str(folder)
    assert shown["result"] == record_of(folder)["result"]
    assert "Read " not in printed.err


def test_a_seed_is_drawn_and_kept(table, tmp_path, capsys):
    short = ["--draws", "1", "--warmup", "0", "--chains", "1", "-q"]
    for name in ("a", "b"):
        assert main(["fit", str(table), "-o", str(tmp_path / name), *short]) == 0
    a, b = (record_of(tmp_path / name)["seed"] for name in ("a", "b"))
    assert a != b


def test_an_occupied_folder_is_refused(finished, table, tmp_path, capsys):
    before = {file.name: file.read_bytes() for file in finished.iterdir()}
    line = refused(capsys, "fit", table, "-o", finished)
    assert "already holds a run" in line
    assert "--continue" in line
    assert {file.name: file.read_bytes() for file in finished.iterdir()} == before
    (tmp_path / "thesis.tex").write_text("mine")
    assert "is not empty" in refused(capsys, "fit", table, "-o", tmp_path)
    assert main(["fit", str(table), "-o", str(tmp_path), "--force", *QUICK]) == 0
    assert (tmp_path / "thesis.tex").read_text() == "mine"
    assert record_of(tmp_path)["status"] == "done"


def test_refusals_of_fit(table, tmp_path, capsys):
    out = tmp_path / "out"
    assert "there is no file" in refused(capsys, "fit", tmp_path / "no.csv", "-o", out)
    assert "DATA is missing" in refused(capsys, "fit", "-o", out)
    assert "-o DIR is missing" in refused(capsys, "fit", table)
    line = refused(capsys, "fit", table, "-o", out, "--likelihood", "gaussian")
    assert "column 'colour' holds text, such as 'red' in line 2" in line
    (tmp_path / "file").write_text("mine")
    assert "is not a folder to write to" in refused(capsys, "fit", table, "-o", tmp_path / "file")
    assert not out.exists()


def test_the_librarys_refusals_name_the_line(tmp_path, capsys):
    file = tmp_path / "a.csv"
    file.write_text("name,legs,wings\nant,1,0\n\nbee,0,2\ncow,0,1\n")
    out = tmp_path / "out"
    line = refused(capsys, "fit", file, "-o", out, "--likelihood", "bernoulli")
    assert f"{file} has 2 in column 'wings', line 4;" in line
    file.write_text("a,b\n1,2\n,3\n4,5\n")
    line = refused(capsys, "fit", file, "-o", tmp_path / "o2", "--likelihood", "full_gaussian")
    assert "has NaN (a missing value) in column 'a', line 3" in line
    assert record_of(tmp_path / "o2")["status"] == "failed"
    file.write_text("a,b\n1,2\n2,3\n4,5\n")  # mended, and the same command again
    again = ["fit", str(file), "-o", str(tmp_path / "o2"), *QUICK, "--likelihood", "full_gaussian"]
    assert main(again) == 0


def test_a_fault_of_ours_is_told_apart(table, tmp_path, capsys, monkeypatch):
    def stumble(*_, **__):
        raise ZeroDivisionError("oh")

    monkeypatch.setattr(results, "csv_text", stumble)
    arguments = ["fit", str(table), "-o", str(tmp_path / "a"), *QUICK]
    monkeypatch.delenv("BHMC_DEBUG", raising=False)
    assert main(arguments) == 1
    printed = capsys.readouterr().err
    assert "unexpected ZeroDivisionError: oh" in printed
    assert "Traceback" not in printed
    monkeypatch.setenv("BHMC_DEBUG", "1")
    assert main([*arguments, "--force"]) == 1
    assert "Traceback" in capsys.readouterr().err


def test_more_draws(table, tmp_path):
    """Going on keeps the draws there are and adds as many as asked for."""
    folder = tmp_path / "run"
    assert main(["fit", str(table), "-o", str(folder), *QUICK]) == 0
    before = rows_of(folder / "draws.csv")
    assert main(["fit", "--continue", str(folder), "--draws", "5"]) == 0
    after = rows_of(folder / "draws.csv")
    assert len(after) == 22
    assert [row for row in after if int(row["draw"]) < 6] == before
    assert record_of(folder)["settings"]["n_draws"] == 11
    assert record_of(folder)["result"]["draws"] == 11


def test_refusals_to_continue(finished, table, tmp_path, capsys):
    assert "is finished" in refused(capsys, "fit", "--continue", finished)
    line = refused(capsys, "fit", "--continue", finished, "--levels", "4")
    assert "--levels cannot be changed" in line
    assert "there is no folder" in refused(capsys, "fit", "--continue", tmp_path / "no")
    assert "is no run folder" in refused(capsys, "fit", "--continue", tmp_path)
    other = tmp_path / "other.csv"
    other.write_text(table.read_text().replace("red", "RED"))
    line = refused(capsys, "fit", other, "--continue", finished, "--draws", "3")
    assert "is not the file" in line
    record = {**record_of(finished), "status": "running"}
    record["owner"] = {**folders.owner(), "process": os.getppid()}
    busy = folders.RunFolder.create(str(tmp_path / "busy"))
    busy.write_record(record)
    assert "is still at work" in refused(capsys, "fit", "--continue", busy.path)


def test_records_of_the_future_and_damaged_ones(finished, tmp_path, capsys):
    record = {**record_of(finished), "format_version": 99, "versions": {"bhmc": "9.9"}}
    (tmp_path / "run.json").write_text(json.dumps(record))
    assert "written by bhmc 9.9 in format 99" in refused(capsys, "show", tmp_path)
    for text in ("{", "[]", "{}"):
        (tmp_path / "run.json").write_text(text)
        assert "was not written by bhmc, or is damaged" in refused(capsys, "show", tmp_path)


# ------------------------------------------------------------------------------------------------
# Interrupts
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_keeps_the_draws(table, tmp_path, capsys, monkeypatch, kind):
    folder = tmp_path / "run"
    listen = Recorder.on_draw

    def interrupt(self, chain, info):
        listen(self, chain, info)
        if len(self.rows) == 4:
            assert record_of(folder)["status"] == "running"
            signal.raise_signal(kind)

    arguments = ["fit", str(table), "-o", str(folder), *QUICK, "--chains", "1"]
    with monkeypatch.context() as patched:
        patched.setattr(Recorder, "on_draw", interrupt)
        assert main(arguments) == 130
    printed = capsys.readouterr()
    assert f"Go on with: bhmc fit --continue {folder}" in printed.err
    assert "Traceback" not in printed.err
    assert printed.out == (folder / "tree.txt").read_text()
    record = record_of(folder)
    assert (record["status"], record["result"]["draws"]) == ("partial", 4)
    before = rows_of(folder / "draws.csv")
    assert main(["show", str(folder)]) == 0
    assert "is not finished: it has 4 draws of 1 chain" in capsys.readouterr().err

    assert main(["fit", "--continue", str(folder)]) == 0
    after = rows_of(folder / "draws.csv")
    assert (after[:4], len(after)) == (before, 6)
    assert record_of(folder)["status"] == "done"


def test_an_interrupt_before_the_first_draw(table, tmp_path, capsys, monkeypatch):
    def interrupt(self, X, y=None):
        raise KeyboardInterrupt

    folder = tmp_path / "run"
    with monkeypatch.context() as patched:
        patched.setattr(bhmc.BHMC, "fit", interrupt)
        assert main(["fit", str(table), "-o", str(folder), *QUICK]) == 130
    assert "before the first draw: only the settings were kept" in capsys.readouterr().err
    assert record_of(folder)["status"] == "partial"
    assert "has no results yet" in refused(capsys, "show", folder)
    assert main(["fit", "--continue", str(folder)]) == 0
    assert record_of(folder)["status"] == "done"


def test_files_are_put_in_place_whole(tmp_path):
    folder = folders.RunFolder.create(str(tmp_path / "run"))
    folder.write("tree.txt", "old\n")

    def fail(part: Path):
        part.write_text("half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        folders.replace_file(folder.path / "tree.txt", fail)
    assert (folder.path / "tree.txt").read_text() == "old\n"
    assert [file.name for file in folder.path.iterdir()] == ["tree.txt"]


def test_a_file_appears_in_one_step(tmp_path, monkeypatch):
    folder = folders.RunFolder.create(str(tmp_path / "run"))
    folder.write("tree.txt", "old\n")

    def refuse(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(folders.os, "replace", refuse)
    with pytest.raises(RefusedError, match=r"tree.txt cannot be written: No space left on device"):
        folder.write("tree.txt", "new\n")
    assert (folder.path / "tree.txt").read_text() == "old\n"


# ------------------------------------------------------------------------------------------------
# What is done with a run
# ------------------------------------------------------------------------------------------------


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


def test_nodes_below_a_hidden_one_are_hidden(finished):
    tree = bhmc.BHMC.load(finished / "model.bhmc").tree_
    support = np.array([1.0, 0.1, 0.9])[tree.levels]
    options = argparse.Namespace(min_size=1, depth=None, min_support=0.5, features=0)
    nodes = show.node_list(replace(tree, support=support), options)
    assert [node["id"] for node in nodes] == [0]


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
    assert [int(row["component"]) for row in found] == model.predict_component(X).tolist()
    np.testing.assert_allclose(
        [float(row["probability"]) for row in found], probability.max(axis=1), atol=1e-12
    )
    np.testing.assert_allclose([float(row["new_branch"]) for row in found], new, atol=1e-12)

    assert main(["predict", str(finished), str(other), "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)["rows"]
    assert [row["name"] for row in shown][::-1] == [row["name"] for row in found]


def test_refusals_of_predict(finished, table, tmp_path, capsys):
    other = tmp_path / "new.csv"
    other.write_text("name,size,weight\na,1,2\n")
    line = refused(capsys, "predict", finished, other)
    assert "lacks columns that were fitted: 'flies', 'colour'." in line
    other.write_text("name,size,weight,flies,colour\na,big,2,1,red\n")
    assert "column 'size' holds text" in refused(capsys, "predict", finished, other)
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


def test_refusals_of_plot(finished, tmp_path, capsys, monkeypatch):
    line = refused(capsys, "plot", finished, "-o", tmp_path / "a.docx")
    assert "should end in .png" in line
    line = refused(capsys, "plot", finished, "--kind", "coclustering", "--level", "7")
    assert "--level must be 1 to 2" in line
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert "needs matplotlib" in refused(capsys, "plot", finished)


def test_diagnose(finished, capsys):
    from bhmc.posterior.diagnostics import diagnose

    expected = diagnose(bhmc.BHMC.load(finished / "model.bhmc").draws_)
    assert main(["diagnose", str(finished)]) == 0
    assert capsys.readouterr().out == f"{expected}\n"
    assert main(["diagnose", str(finished), "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["converged"] == expected.converged
    assert shown["problems"] == list(expected.problems)


def test_prior(capsys):
    arguments = ["prior", "50", "--levels", "2", "--alpha", "0.5", "--samples", "10"]
    expected = bhmc.describe_prior(50, n_levels=2, alpha=0.5, n_samples=10, random_state=0)
    assert main(arguments) == 0
    assert capsys.readouterr().out == f"{expected}\n"
    assert main([*arguments, "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert [line["mean"] for line in shown["lines"]] == [line.mean for line in expected.lines]


def test_demo(monkeypatch, tmp_path):
    from bhmc import demo

    seen = []
    monkeypatch.setattr(demo, "main", lambda arguments: seen.append(arguments) or 0)
    assert main(["demo", "-o", str(tmp_path), "--seed", "7"]) == 0
    assert seen == [["--output", str(tmp_path), "--seed", "7"]]


@pytest.mark.parametrize("shell", parser.SHELLS)
def test_completion(shell, capsys, monkeypatch):
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert "--likelihood" in script
    assert "free_gaussian" in script
    monkeypatch.setitem(sys.modules, "shtab", None)
    assert "pip install bhmc[completion]" in refused(capsys, "completion", shell)


def test_one_and_many():
    assert [counted(n, "leaf") for n in (1, 2, 1000)] == ["1 leaf", "2 leaves", "1,000 leaves"]
    assert counted(0, "row") == "0 rows"


def test_json_has_no_nan():
    values = {"a": np.array([1.0, np.nan]), "b": np.int64(3), "c": np.inf, "d": [np.bool_(True)]}
    assert json.loads(to_json(values)) == {"a": [1.0, None], "b": 3, "c": None, "d": [True]}


def test_a_broken_pipe_is_quiet():
    script = f"{sys.executable} -m bhmc prior 1000 --samples 5 | true; echo ${{PIPESTATUS[0]}}"
    env = {**os.environ, "PYTHONPATH": str(SOURCE)}
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, env=env)
    assert (done.stdout, done.stderr) == ("0\n", "")


def test_a_terminal_without_our_characters(finished):
    done = run("show", finished, environment={"PYTHONIOENCODING": "ascii"})
    assert done.returncode == 0, done.stderr
    assert "?" in done.stdout


def test_animals_in_ten_seconds(tmp_path):
    """Must show: a table of 33 x 102 with names, its tree in the terminal, compiled before.

    Seconds of the processor, since others may be at work on the machine.
    """
    file = FOLDER / "animals" / "animals_33x102.csv"
    if not file.exists():
        pytest.skip("NOT TESTED: the Animals table is not here; set BHMC_SHARED_DATA.")
    run("fit", file, "-o", tmp_path / "warm", "--draws", "1", "--warmup", "1")
    before = os.times()
    done = run("fit", file, "-o", tmp_path / "run", "--id", "animal", "--seed", "0")
    after = os.times()
    assert done.returncode == 0, done.stderr
    assert "33 rows, 102 columns" in done.stderr
    assert "Elephant" in done.stdout
    assert after.children_user + after.children_system < 10 + (
        before.children_user + before.children_system
    )


def test_where_library_messages_have_their_place(table):
    read = read_table(str(table), Reading())
    with pytest.raises(RefusedError, match=r"in column 'size', line 6; values"):  # noqa: SIM117
        with results.in_file(read):
            raise RefusedError("X has inf in column 0 ('size'), row 4; values must be finite.")


def test_the_session_of_the_docs(table, tmp_path, capsys, monkeypatch):
    """Every line of it runs, on a table of ours."""
    pytest.importorskip("matplotlib", reason="NOT TESTED: matplotlib is not installed.")
    page = (Path(__file__).parents[2] / "docs" / "command-line.md").read_text(encoding="utf-8")
    session = page.split("## A session")[1].split("## ")[0]
    lines = re.findall(r"^\$ bhmc (.*)$", session, flags=re.MULTILINE)
    assert len(lines) >= 7
    text = table.read_text().replace("name,", "animal,", 1)
    for name in ("animals.csv", "new.csv"):
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    for line in lines:
        assert main(shlex.split(line)) == 0, (line, capsys.readouterr().err)
    for name in ("tree.png", "places.csv", "tree.nwk"):
        assert (tmp_path / name).stat().st_size > 0


def test_the_page_names_every_file_and_exit_code(finished):
    page = (Path(__file__).parents[2] / "docs" / "command-line.md").read_text(encoding="utf-8")
    for file in finished.iterdir():
        assert f"`{file.name}`" in page or file.name == "checkpoint.bhmc.1"
    for code in ("0", "1", "2", "130"):
        assert f"\n| {code} |" in page
