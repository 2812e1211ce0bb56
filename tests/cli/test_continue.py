"""`bhmc fit --continue`: more draws, and what an interrupt leaves behind."""

import json
import os
import re
import signal

import pytest

import bhmc
from bhmc._cli import folder as folders
from bhmc._cli import folder_size, main
from bhmc._io.tables.read import Reading, read_table
from bhmc.posterior.recorder import Recorder
from tests.cli.tools import QUICK, record_of, refused, rows_of


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


@pytest.mark.filterwarnings("default::sklearn.exceptions.ConvergenceWarning")
def test_runs_until_chains_agree(table, tmp_path, capsys, short_rounds):
    """By default; --continue with --draws auto goes on with a run that ended before."""
    folder, others = tmp_path / "run", ("--warmup", "10", "--levels", "2", "--seed", "3")
    others += ("--transition", "hdp")
    assert main(["fit", str(table), "-o", str(folder), *others]) == 0
    said = capsys.readouterr().err
    assert "Sampling 2 chains of at least 40 sweeps, until they agree, with seed 3." in said
    assert "bhmc: note: The chains have not converged" in said
    assert re.search(r"What to do: --warmup \d+ --thin \d+ --draws 300, about \d+ s\.", said)
    assert "n_warmup" not in said
    record = record_of(folder)
    assert record["settings"]["n_draws"] == "auto"
    found = [record["result"][name] for name in ("ended_by", "sweeps", "warmup", "thin", "draws")]
    assert found == ["max_sweeps", 70, 10, 2, 30]

    line = refused(capsys, "fit", "--continue", folder)
    assert "--draws auto to run on until the chains agree" in line
    before = rows_of(folder / "draws.csv")
    assert main(["fit", "--continue", str(folder), "--draws", "5"]) == 0
    after = rows_of(folder / "draws.csv")
    assert [row for row in after if int(row["draw"]) < 30] == before
    assert record_of(folder)["result"]["sweeps"] == 80
    assert main(["fit", "--continue", str(folder), "--draws", "auto"]) == 0
    assert record_of(folder)["result"]["warmup"] == 80
    assert not bhmc.BHMC.load(folder / "model.bhmc").warm_start


def test_a_time_limit_is_reported(table, tmp_path, capsys, short_rounds):
    others = ("--max-seconds", "0.000001", "--levels", "2", "--seed", "3")
    assert main(["fit", str(table), "-o", str(tmp_path / "run"), *others]) == 0
    said = capsys.readouterr().err
    assert "--max-seconds ended the chains: the answer depends on the speed of this" in said
    assert record_of(tmp_path / "run")["result"]["ended_by"] == "max_seconds"


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


def test_the_folder_of_a_finished_run_is_small(table, tmp_path, capsys, monkeypatch):
    """Trees of fewer draws are written where there is no room; all numbers are, and it goes on."""
    whole, small = tmp_path / "whole", tmp_path / "small"
    assert main(["fit", str(table), "-o", str(whole), *QUICK]) == 0
    assert "evenly spaced" not in capsys.readouterr().err
    monkeypatch.setattr(folder_size, "_LEAST_ROOM", 0)
    monkeypatch.setattr(folder_size, "_BEYOND_DATA", 0)
    assert main(["fit", str(table), "-o", str(small), *QUICK]) == 0
    said = "it has the trees of 2 of 12 draws and the mixtures of 2 of 12 draws, evenly spaced."
    assert said in capsys.readouterr().err
    assert record_of(small)["fewer_draws"].startswith("The tree and all results are those of all")
    for name in ("tree.txt", "assignments.csv", "draws.csv"):
        assert (small / name).read_bytes() == (whole / name).read_bytes()
    for name in ("model.bhmc", "checkpoint.bhmc.0", "checkpoint.bhmc.1"):
        assert (small / name).stat().st_size < (whole / name).stat().st_size
    loaded = bhmc.BHMC.load(small / "model.bhmc")
    assert [len(loaded.draws_.partitions), loaded.draws_.n_draws] == [2, 6]

    for folder in (whole, small):
        assert main(["fit", "--continue", str(folder), "--draws", "5"]) == 0
    assert (small / "draws.csv").read_bytes() == (whole / "draws.csv").read_bytes()


def test_the_limit_of_a_folder(table):
    read = read_table(str(table), Reading())
    assert folder_size.size_limit(read) == 2 * 8 * 12 * 4 + 20_000_000
