"""`bhmc demo` is `bhmc fit` on the bundled table, and says what its components are."""

import numpy as np
import pytest

import bhmc
from bhmc._cli import demo, main, options
from bhmc.datasets import load_zoo
from tests.cli.tools import record_of, refused, rows_of

FILES = ("run.json", "model.bhmc", "tree.txt", "assignments.csv", "draws.csv")


@pytest.fixture
def short(monkeypatch):
    """The demo with fewer sweeps: what is tested here does not depend on their number."""
    fit = demo.fit

    def fewer(asked):
        asked.draws, asked.warmup = 6, 4
        return fit(asked)

    monkeypatch.setattr(demo, "fit", fewer)


def run_demo(folder, capsys, seed=3) -> str:
    assert main(["demo", "-o", str(folder), "--seed", str(seed)]) == 0
    return capsys.readouterr().out


def test_it_writes_a_run_folder_and_prints_what_is_in_it(short, tmp_path, capsys):
    folder = tmp_path / "new" / "folder"
    printed = run_demo(folder, capsys)
    assert {file.name for file in folder.iterdir()} >= set(FILES)
    zoo = load_zoo()
    rows = rows_of(folder / "assignments.csv")
    assert [row["name"] for row in rows] == zoo.names.tolist()
    assert "types were not used in fitting" in printed
    head, *lines = printed[printed.index("component  mammal") :].splitlines()
    shown = {line.split()[0]: line.replace(".", "0").split()[1:] for line in lines}
    assert head.split()[1:] == zoo.target_names.tolist()
    assert [int(cell) for cell in shown["all"]] == np.bincount(zoo.target).tolist()
    held = [zoo.target[i] for i, row in enumerate(rows) if row["component"] == "0"]
    assert [int(cell) for cell in shown["c0"]] == np.bincount(held, minlength=7).tolist()


def test_its_draws_are_those_of_the_array(short, tmp_path, capsys):
    """The table that the command reads gives the draws of `load_zoo().data`, bit for bit."""
    run_demo(tmp_path, capsys, seed=5)
    model = bhmc.BHMC(n_draws=6, n_warmup=4, random_state=5).fit(load_zoo().data)
    written = bhmc.BHMC.load(tmp_path / "model.bhmc")
    np.testing.assert_array_equal(written.draws_.log_joint, model.draws_.log_joint)
    np.testing.assert_array_equal(written.paths_, model.paths_)
    assert record_of(tmp_path)["seed"] == 5


def test_it_uses_the_default_model(tmp_path, monkeypatch):
    """All but the seed is what a user gets who sets nothing."""
    seen = []
    monkeypatch.setattr(demo, "fit", lambda asked: seen.append(asked) or 130)
    assert main(["demo", "-o", str(tmp_path), "--seed", "4"]) == 130
    assert seen[0].seed == 4
    set_ = {one.name for one in options.FIT_OPTIONS if getattr(seen[0], one.dest) is not None}
    assert set_ == set()


def test_it_replaces_its_own_run_and_no_other(short, tmp_path, capsys, finished):
    run_demo(tmp_path, capsys, seed=1)
    before = (tmp_path / "draws.csv").read_text()
    run_demo(tmp_path, capsys, seed=2)
    assert (tmp_path / "draws.csv").read_text() != before
    record = record_of(finished)
    assert "already holds a run" in refused(capsys, "demo", "-o", finished)
    assert record_of(finished) == record


def test_a_file_in_the_way(tmp_path, capsys):
    (tmp_path / "file").write_text("mine")
    line = refused(capsys, "demo", "-o", tmp_path / "file" / "below")
    assert "is not a folder to write to" in line
    assert (tmp_path / "file").read_text() == "mine"


def test_counts_show_single_animals_together():
    counts = np.array([[2, 1], [0, 2], [1, 0], [0, 1]])
    text = demo.types_text(counts, ["ape", "bee"])
    assert [line.split() for line in text.splitlines()] == [
        ["component", "ape", "bee"],
        ["c0", "2", "1"],
        ["c1", ".", "2"],
        ["alone", "1", "1"],
        ["all", "3", "4"],
    ]
