"""`bhmc fit`: its folder agrees with the model, refusals name the line, files are whole."""

import json
import os
import re

import numpy as np
import pytest

import bhmc
from bhmc._cli import folder as folders
from bhmc._cli import main, options, results
from bhmc._io.tables.frame import Frame
from bhmc._io.tables.read import Reading, read_table
from bhmc._validation.errors import RefusedError, WrongEntryError
from tests.cli.tools import QUICK, record_of, refused, rows_of, run
from tests.shared_data import FOLDER


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
    assert set(model.get_params()) - set(shown) == set(options.SET_BY_THE_COMMAND)

    names = [f"item{i}" for i in range(12)]
    rows = rows_of(finished / "assignments.csv")
    assert [row["name"] for row in rows] == names
    assert [row["path"] for row in rows] == [" ".join(map(str, p)) for p in model.paths_]
    assert [int(row["leaf"]) for row in rows] == model.paths_[:, -1].tolist()
    assert [int(row["label"]) for row in rows] == model.labels_.tolist()
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


def test_a_file_appears_in_one_step(tmp_path, monkeypatch):
    folder = folders.RunFolder.create(str(tmp_path / "run"))
    folder.write("tree.txt", "old\n")

    def refuse(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", refuse)
    with pytest.raises(RefusedError, match=r"tree.txt cannot be written: No space left on device"):
        folder.write("tree.txt", "new\n")
    assert (folder.path / "tree.txt").read_text() == "old\n"


@pytest.mark.exact_long
def test_animals_in_ten_seconds(tmp_path):
    """The published model on 33 x 102 with names, its tree in the terminal, compiled before.

    Seconds of the processor, as a multiple of what a fit of two sweeps takes just before: others
    may be at work, and machines differ. 2.8 is 10 s where that fit takes 3.6 s.
    """
    file = FOLDER / "animals" / "animals_33x102.csv"
    if not file.exists():
        pytest.skip("NOT TESTED: the Animals table is not here; set BHMC_SHARED_DATA.")
    first = ("--draws", "1", "--warmup", "1", "--transition", "hdp")
    run("fit", file, "-o", tmp_path / "cold", *first)
    start = os.times()
    run("fit", file, "-o", tmp_path / "warm", *first)
    before, draws = os.times(), ("--draws", "300", "--seed", "0", "--transition", "hdp")
    done = run("fit", file, "-o", tmp_path / "run", "--id", "animal", *draws)
    after = os.times()
    assert done.returncode == 0, done.stderr
    assert "33 rows, 102 columns" in done.stderr
    assert "Elephant" in done.stdout
    seconds = np.diff([one.children_user + one.children_system for one in (start, before, after)])
    assert seconds[1] < 2.8 * seconds[0], seconds


def test_where_library_messages_have_their_place(table):
    read = read_table(str(table), Reading())
    said = rf"^{re.escape(str(table))} has inf in column 'size', line 6; be finite\.$"
    with pytest.raises(RefusedError, match=said), results.refusals_of(read):
        raise WrongEntryError(np.inf, 4, 0, "be finite", names=["size"])
    said = rf"^{re.escape(str(table))} has dates in column 'weight'; drop it\.$"
    with pytest.raises(RefusedError, match=said), results.refusals_of(read):
        raise WrongEntryError("dates", None, 1, "drop it")


def test_options_reach_the_model(table, tmp_path):
    """One fit with every setting that is not its default."""
    asked = {
        "n_levels": ("--levels", "1"),
        "likelihood": ("--likelihood", "gaussian"),
        "alpha": ("--alpha", "0.5"),
        "gamma0": ("--gamma0", "1.5"),
        "gamma": ("--gamma", "0.25"),
        "transition": ("--transition", "hdp"),
        "fixed_components": ("--fixed-components", "3"),
        "sampler": ("--sampler", "mh"),
        "moves": ("--moves", "relocate"),
        "hyper": ("--hyper", "paper"),
        "n_draws": ("--draws", "2"),
        "n_warmup": ("--warmup", "1"),
        "thin": ("--thin", "2"),
        "max_seconds": ("--max-seconds", "3600.0"),
        "checkpoint_interval": ("--checkpoint-interval", "60.0"),
        "n_chains": ("--chains", "1"),
        "n_jobs": ("--jobs", "2"),
        "init": ("--init", "single"),
        "precision": ("--precision", "float32"),
        "estimate": ("--estimate", "map"),
        "keep": ("--keep", "paths"),
    }
    assert set(asked) == {one.parameter for one in options.FIT_OPTIONS}
    words = [word for pair in asked.values() for word in pair]
    folder = tmp_path / "run"
    drop = ["--drop", "colour", "-q"]
    assert main(["fit", str(table), "-o", str(folder), *drop, *words]) == 0
    parameters = bhmc.BHMC.load(folder / "model.bhmc").get_params()
    for name, (_, word) in asked.items():
        value = parameters[name]
        assert (",".join(value) if isinstance(value, tuple) else str(value)) == word, name
        if name != "transition":  # of which there is one
            assert parameters[name] != bhmc.BHMC().get_params()[name]
