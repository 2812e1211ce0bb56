"""`bhmc rerun`: the same answer again, or a sentence that says what is not the same."""

import json
import shutil

import numpy as np
import pytest

import bhmc
from bhmc._cli import main, rerun
from bhmc._cli.folder import RunFolder
from tests.cli.tools import QUICK, record_of, refused


@pytest.fixture
def copy(finished, tmp_path):
    """The finished run, which a test may change."""
    return shutil.copytree(finished, tmp_path / "copy")


def edit_record(folder, **changes):
    record = record_of(folder) | changes
    (folder / "run.json").write_text(json.dumps(record))


def test_the_same_answer(finished, tmp_path, capsys):
    new = tmp_path / "new"
    assert main(["rerun", str(finished), "-o", str(new)]) == 0
    printed = capsys.readouterr()
    assert printed.out == (
        f"The rerun equals the run in {finished}, bit for bit: labels, tree and 12 draws.\n"
    )
    for name in ("draws.csv", "assignments.csv", "tree.txt"):
        assert (new / name).read_bytes() == (finished / name).read_bytes()
    assert record_of(new)["data"]["sha256"] == record_of(finished)["data"]["sha256"]
    assert record_of(new)["status"] == "done"


def test_without_a_folder_nothing_is_left(finished, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = sorted(finished.iterdir())
    assert main(["rerun", str(finished), "--json", "--quiet"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["same"] == {"labels": True, "tree": True, "draws": True}
    assert found["changed_versions"] == {}
    assert list(tmp_path.iterdir()) == []
    assert sorted(finished.iterdir()) == before


def test_another_answer_is_told(copy, capsys):
    """The run's own seed is changed, so that the answers must differ."""
    edit_record(copy, seed=4)
    assert main(["rerun", str(copy)]) == 4
    printed = capsys.readouterr()
    assert printed.out.startswith(f"The rerun differs from the run in {copy}: ")
    assert "draws differ" in printed.out


def test_other_versions_are_told(copy, capsys):
    edit_record(copy, versions=record_of(copy)["versions"] | {"numpy": "1.0"})
    assert main(["rerun", str(copy)]) == 0
    assert "The run was made with numpy 1.0, the rerun with " in capsys.readouterr().err


def test_every_part_is_compared(finished):
    """One label, one parent, the sign of one zero, one number of a draw, one kept partition."""
    one, other = (bhmc.BHMC.load(finished / "model.bhmc") for _ in range(2))
    same = {"labels": True, "tree": True, "draws": True}
    assert rerun.differences(one, other) == same
    other.component_labels_ = np.roll(other.component_labels_, 1)
    assert rerun.differences(one, other) == same | {"labels": False}
    other = bhmc.BHMC.load(finished / "model.bhmc")
    other.paths_ = other.paths_[::-1]
    assert rerun.differences(one, other) == same | {"tree": False}
    other = bhmc.BHMC.load(finished / "model.bhmc")
    numbers = other.draws_.log_joint.copy()
    numbers[0, 0] = np.nextafter(numbers[0, 0], 0)
    object.__setattr__(other.draws_, "log_joint", numbers)
    assert rerun.differences(one, other) == same | {"draws": False}
    other = bhmc.BHMC.load(finished / "model.bhmc")
    object.__setattr__(other.draws_, "partitions", other.draws_.partitions[:-1])
    assert rerun.differences(one, other) == same | {"draws": False}
    assert not rerun._is_same(np.array([0.0]), np.array([-0.0]))
    assert rerun._is_same(np.array([np.nan]), np.array([np.nan]))


def test_a_table_that_changed_or_is_gone(table, copy, tmp_path, capsys):
    moved = tmp_path / "moved.csv"
    shutil.copy(table, moved)
    edit_record(copy, data=record_of(copy)["data"] | {"path": str(tmp_path / "gone.csv")})
    line = refused(capsys, "rerun", copy)
    assert line == (
        f"bhmc rerun: the table of the run, {tmp_path / 'gone.csv'}, is gone: say where it is now "
        f"with bhmc rerun {copy} DATA."
    )
    assert main(["rerun", str(copy), str(moved), "-o", str(tmp_path / "new")]) == 0
    assert record_of(tmp_path / "new")["data"]["path"] == str(moved)
    capsys.readouterr()
    moved.write_text(moved.read_text().replace("red", "RED"))
    line = refused(capsys, "rerun", copy, moved)
    assert f"{moved} is not the file that the run in {copy} was begun with (its SHA-256" in line


def test_runs_that_cannot_be_repeated(copy, capsys):
    result = record_of(copy)["result"]
    edit_record(copy, result=result | {"ended_by": "max_seconds"})
    assert "--max-seconds ended the run" in refused(capsys, "rerun", copy)
    edit_record(copy, result=result, went_on=True)
    assert "went on after chains had agreed" in refused(capsys, "rerun", copy)
    edit_record(copy, went_on=False, status="partial")
    assert "is not finished" in refused(capsys, "rerun", copy)
    RunFolder(copy).model.unlink()
    assert "has no results yet" in refused(capsys, "rerun", copy)


def test_a_run_that_got_more_draws_is_one_fit_again(table, tmp_path, capsys):
    folder = tmp_path / "run"
    assert main(["fit", str(table), "-o", str(folder), *QUICK]) == 0
    assert main(["fit", "--continue", str(folder), "--draws", "3"]) == 0
    assert not record_of(folder)["went_on"]
    assert main(["rerun", str(folder)]) == 0
    assert "and 18 draws" in capsys.readouterr().out


@pytest.mark.filterwarnings("default::sklearn.exceptions.ConvergenceWarning")
def test_a_run_of_rounds_that_went_on_is_none(table, tmp_path, capsys, short_rounds):
    folder, others = tmp_path / "run", ("--warmup", "10", "--levels", "2", "--seed", "3")
    assert main(["fit", str(table), "-o", str(folder), *others, "--transition", "hdp"]) == 0
    assert main(["rerun", str(folder), "--quiet"]) == 0
    assert main(["fit", "--continue", str(folder), "--draws", "5"]) == 0
    capsys.readouterr()
    assert "went on after chains had agreed" in refused(capsys, "rerun", folder)


def test_texts_become_the_same_numbers(tmp_path, capsys):
    words = ("red round apple", "green sour apple", "fast blue car", "slow blue car")
    lines = [f"item{i},{words[i % 4]},{i % 2}" for i in range(12)]
    (tmp_path / "texts.csv").write_text("\n".join(["name,title,new", *lines]) + "\n")
    arguments = ["fit", str(tmp_path / "texts.csv"), "-o", str(tmp_path / "run"), *QUICK]
    assert main([*arguments, "--text", "title", "--text-model", "tfidf"]) == 0
    assert main(["rerun", str(tmp_path / "run"), "-o", str(tmp_path / "new")]) == 0
    assert "bit for bit" in capsys.readouterr().out
    assert (tmp_path / "new" / "text.bhmc").exists()
