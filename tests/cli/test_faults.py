"""The disk fails: a sentence with the cause, exit code 3, and --continue once it is mended."""

import os
import shutil
import stat
import subprocess
import sys
from contextlib import ExitStack

import pytest

from bhmc import BHMC
from bhmc._cli import main
from bhmc._cli.folder import RunFolder
from bhmc._estimator.checkpoint import SavedChain
from bhmc._io.leftovers import name_beside
from tests import disks
from tests.cli.tools import QUICK, SOURCE, record_of
from tests.estimator.fault_tools import FAULTS, at_sweep, full, limited, removed, save_every_sweep

pytestmark = pytest.mark.filterwarnings("always::bhmc._estimator.checkpoint.CheckpointWarning")

SAVED_OFTEN = ("--checkpoint-interval", "1e-9")


def draws_of(folder) -> str:
    return (folder / "draws.csv").read_text() + (folder / "assignments.csv").read_text()


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_a_fault_in_the_middle_of_a_fit(fault, table, finished, tmp_path, monkeypatch, capsys):
    save_every_sweep(monkeypatch)
    disk = tmp_path / "disk"
    with ExitStack() as stack:
        if fault is full:
            stack.enter_context(disks.small_disk(disk, 1024))
        disk.mkdir(exist_ok=True)
        folder = disk / "run"
        with ExitStack() as while_it_lasts, monkeypatch.context() as patch:
            enter = while_it_lasts.enter_context
            # More than run.json, less than a chain: run.json can be written, and says how it ended.
            breaks = enter(fault(disk if fault is full else folder, enter, 8000))
            at_sweep(patch, 7, breaks, number=1)
            assert main(["fit", str(table), "-o", str(folder), *QUICK, *SAVED_OFTEN]) == 3
        said = capsys.readouterr().err
        last = said.strip().splitlines()[-1]
        assert last.startswith(f"bhmc fit: {folder}/model.bhmc cannot be written: {FAULTS[fault]}")
        assert f"bhmc fit --continue {folder} goes on" in last
        assert ("once it is back" if fault is removed else "The chains are saved") in last
        assert "note: " in said
        assert "fault of bhmc" not in said
        assert "Traceback" not in said
        assert record_of(folder)["status"] == ("partial" if fault is limited else "running")
        assert main(["fit", "--continue", str(folder)]) == 0
        assert record_of(folder)["status"] == "done"
        assert draws_of(folder) == draws_of(finished)
        assert not [name for name in os.listdir(folder) if name.endswith(".tmp")]


def test_chains_that_are_not_saved_at_the_end(table, finished, tmp_path, monkeypatch, capsys):
    """The results are whole, and the exit code says that something is missing."""

    def refuse(self, now):
        raise OSError(122, "Disk quota exceeded")

    with monkeypatch.context() as patch:
        patch.setattr(SavedChain, "write", refuse)
        assert main(["fit", str(table), "-o", str(tmp_path / "run"), *QUICK]) == 3
    said = capsys.readouterr().err
    assert "2 of 2 chains could not be saved at their end" in said
    assert "Disk quota exceeded" in said
    assert record_of(tmp_path / "run")["status"] == "done"
    assert draws_of(tmp_path / "run") == draws_of(finished)
    more = ["fit", "--continue", str(tmp_path / "run"), "--draws", "2"]
    assert main(more) == 0  # the chains begin anew, and come to the same draws
    assert (tmp_path / "run" / "draws.csv").read_text().startswith("chain,draw,")


def test_a_folder_that_is_full_from_the_start(table, tmp_path, capsys):
    with disks.small_disk(tmp_path / "disk", 64) as disk:
        disks.fill(disk)
        assert main(["fit", str(table), "-o", str(disk / "run"), *QUICK]) in (2, 3)
    said = capsys.readouterr().err
    assert "No space left on device" in said
    assert "fault of bhmc" not in said


OUTPUTS = {
    "newick": ("export", "--to", "newick", ".nwk"),
    "csv": ("export", "--to", "csv", ".csv"),
    "linkage": ("export", "--to", "linkage", "--dendrogram", ".npy"),
    "explore": ("explore", ".html"),
    "plot": ("plot", ".png"),
    "report": ("report", ".html"),
    "predict": ("predict", "TABLE", ".csv"),
    "records": ("predict", "TABLE", ".npy"),
}


@pytest.mark.parametrize("output", OUTPUTS)
def test_no_output_replaces_a_device(output, table, finished, tmp_path, capsys):
    if output in ("plot", "report"):
        pytest.importorskip("matplotlib", reason="NOT TESTED: matplotlib is not installed.")
    command, *words, ending = OUTPUTS[output]
    device = disks.full_device(tmp_path, f"device{ending}")
    words = [str(table) if word == "TABLE" else word for word in words]
    assert main([command, str(finished), *words, "-o", str(device)]) == 3
    said = capsys.readouterr().err
    assert f"{device} cannot be written: No space left on device." in said
    assert stat.S_ISCHR(device.stat().st_mode)


def test_a_run_folder_does_not_remove_a_device(table, tmp_path, capsys):
    folder = tmp_path / "run"
    folder.mkdir()
    disks.full_device(folder, "tree.txt")
    assert main(["fit", str(table), "-o", str(folder), "--force", *QUICK]) == 2
    assert "is no file of bhmc: name another folder." in capsys.readouterr().err
    assert stat.S_ISCHR((folder / "tree.txt").stat().st_mode)


def test_standard_output_that_takes_nothing(finished, tmp_path):
    with disks.full_device(tmp_path).open("wb") as output:
        done = subprocess.run(
            [sys.executable, "-m", "bhmc", "show", str(finished)],
            stdout=output,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(SOURCE)},
            text=True,
            check=False,
        )
    assert done.returncode == 3
    said = "bhmc show: standard output cannot be written: No space left on device."
    assert done.stderr.splitlines() == [said]


def test_what_killed_runs_left_is_removed(finished, tmp_path, monkeypatch):
    folder = shutil.copytree(finished, tmp_path / "run")
    with monkeypatch.context() as patch:
        patch.setattr(os, "getpid", lambda: 2**22 + 1)  # above every number of a process
        left = name_beside("draws.csv")
    (folder / left).touch()
    assert main(["fit", "--continue", str(folder), "--draws", "1"]) == 0
    assert not (folder / left).exists()


def test_the_interval_may_change(table, tmp_path):
    folder = tmp_path / "run"
    assert main(["fit", str(table), "-o", str(folder), *QUICK, "--checkpoint-interval", "5"]) == 0
    assert BHMC.load(folder / "model.bhmc").checkpoint_interval == 5.0
    more = ["fit", "--continue", str(folder), "--draws", "1", "--checkpoint-interval", "7"]
    assert main(more) == 0
    assert record_of(folder)["settings"]["checkpoint_interval"] == 7.0


def test_one_file_of_a_chain_where_there_is_no_room_for_two(tmp_path):
    folder = RunFolder.create(str(tmp_path))
    for name in ("checkpoint.bhmc.0", "checkpoint.bhmc.0.before", "model.bhmc"):
        (tmp_path / name).write_bytes(b"0" * 100)
    folder.drop_earlier_chains(300)
    assert len(os.listdir(tmp_path)) == 3
    folder.drop_earlier_chains(299)
    assert sorted(os.listdir(tmp_path)) == ["checkpoint.bhmc.0", "model.bhmc"]
