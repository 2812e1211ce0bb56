"""The demo: its files agree with each other and with what it prints; bad arguments end plainly."""

import csv
import json
import re
from pathlib import Path

import numpy as np
import pytest

import bhmc
from bhmc import demo
from bhmc.datasets import load_zoo
from tests.docs.test_install import obey_permissions, run_python

__all__ = ["obey_permissions"]  # a fixture

FILES = ["assignments.csv", "draws.csv", "settings.json", "tree.txt"]


@pytest.fixture
def short(monkeypatch):
    """The demo with fewer sweeps: what is tested here does not depend on their number."""

    class Short(bhmc.BHMC):
        def __init__(self, *, n_warmup=10, n_draws=15, n_chains=2, random_state=None):
            super().__init__(
                n_warmup=n_warmup, n_draws=n_draws, n_chains=n_chains, random_state=random_state
            )

    monkeypatch.setattr(demo, "BHMC", Short)
    return Short


def run_main(folder: Path, capsys, seed: int = 3) -> str:
    assert demo.main(["--output", str(folder), "--seed", str(seed)]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    return printed.out


def rows_of(file: Path) -> list[dict]:
    with file.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def test_prints_the_tree_it_writes_and_says_where(short, tmp_path, capsys):
    printed = run_main(tmp_path / "new" / "folder", capsys)
    folder = tmp_path / "new" / "folder"
    assert sorted(file.name for file in folder.iterdir()) == FILES
    for name in FILES:
        assert f"Wrote {folder / name}\n" in printed
    assert (folder / "tree.txt").read_text(encoding="utf-8") in printed
    assert "random_state=3" in printed
    assert "types were not used in fitting" in printed


def test_lines_fit_on_a_screen(short, tmp_path, capsys):
    printed = run_main(tmp_path, capsys)
    lines = [line for line in printed.splitlines() if not line.startswith("Wrote ")]
    assert max(map(len, lines)) <= 100


def test_assignments_agree_with_the_printed_tree(short, tmp_path, capsys):
    printed = run_main(tmp_path, capsys)
    rows = rows_of(tmp_path / "assignments.csv")
    zoo = load_zoo()
    assert [row["name"] for row in rows] == zoo.names.tolist()
    assert [row["known_type"] for row in rows] == zoo.target_names[zoo.target].tolist()

    tree = (tmp_path / "tree.txt").read_text(encoding="utf-8")
    leaves = {row["leaf"] for row in rows}
    for leaf in leaves:
        members = [row["name"] for row in rows if row["leaf"] == leaf]
        (line,) = re.findall(rf"^.*[\[ ]{leaf}\] .*$", tree, flags=re.MULTILINE)
        assert re.search(rf"\] {len(members)}, \d+ % \(", line)
        assert ") " + ", ".join(members[:4]) in line
        assert line.endswith(f" and {len(members) - 4} more") == (len(members) > 4)
    for row in rows:
        path = row["path"].split()
        assert (path[0], path[-1]) == ("0", row["leaf"])
        assert len(path) == 4

    n_components = len({row["component"] for row in rows})
    assert f"\n{n_components} components, {len(leaves)} leaves, 30 draws, " in printed


def test_table_agrees_with_the_assignments(short, tmp_path, capsys):
    printed = run_main(tmp_path, capsys)
    rows = rows_of(tmp_path / "assignments.csv")
    head, *lines = printed[printed.index("component  mammal") :].split("\n\n")[0].splitlines()
    types = head.split()[1:]
    shown = {}
    for line in lines:
        label, *cells = line.split()
        shown[label] = [int(cell.replace(".", "0")) for cell in cells]

    expected = {}
    alone = np.zeros(len(types), dtype=int)
    for component in {row["component"] for row in rows}:
        known = [row["known_type"] for row in rows if row["component"] == component]
        counts = np.array([known.count(name) for name in types])
        if len(known) > 1:
            expected[f"c{component}"] = counts.tolist()
        else:
            alone += counts
    if alone.any():
        expected["alone"] = alone.tolist()
    expected["all"] = np.bincount(load_zoo().target).tolist()
    assert shown == expected


def test_table_shows_single_animals_together():
    counts = np.array([[2, 1], [0, 2], [1, 0], [0, 1]])
    text = demo.format_table(counts, ["ape", "bee"])
    assert [line.split() for line in text.splitlines()] == [
        ["component", "ape", "bee"],
        ["c0", "2", "1"],
        ["c1", ".", "2"],
        ["alone", "1", "1"],
        ["all", "3", "4"],
    ]


def test_draws_and_settings_repeat_the_fit(short, tmp_path, capsys):
    run_main(tmp_path, capsys, seed=5)
    model = short(random_state=5).fit(load_zoo().data)

    rows = rows_of(tmp_path / "draws.csv")
    assert [(row["chain"], row["draw"]) for row in rows] == [
        (str(chain), str(draw)) for chain in range(2) for draw in range(15)
    ]
    for name, values in model.draws_.numbers().items():
        written = [row[name] for row in rows]
        assert written == [str(value) for value in values.ravel()]

    settings = json.loads((tmp_path / "settings.json").read_text(encoding="utf-8"))
    assert settings["seed"] == 5
    assert settings["parameters"] == model.get_params()
    assert settings["versions"]["bhmc"] == bhmc.__version__
    assert list(settings["versions"]) == ["bhmc", "numpy", "scipy", "sklearn", "numba"]


def test_the_seed_decides_every_file(short, tmp_path, capsys):
    for folder, seed in (("a", 1), ("b", 1), ("c", 2)):
        run_main(tmp_path / folder, capsys, seed)
    for name in FILES:
        a, b, c = ((tmp_path / folder / name).read_bytes() for folder in "abc")
        assert a == b
        assert a != c


def test_uses_the_default_model(tmp_path, monkeypatch):
    """All but the seed is what a user gets who sets nothing."""
    seen = []
    monkeypatch.setattr(demo, "_compile", lambda zoo: None)
    monkeypatch.setattr(demo, "_report", lambda model, zoo, seconds: seen.append(model))
    monkeypatch.setattr(demo, "write_results", lambda folder, model, zoo: [])
    monkeypatch.setattr(bhmc.BHMC, "fit", lambda self, X: self)
    assert demo.main(["--output", str(tmp_path), "--seed", "4"]) == 0
    assert seen[0].get_params() == bhmc.BHMC(random_state=4).get_params()


def test_help_names_both_options(capsys):
    with pytest.raises(SystemExit) as stop:
        demo.main(["--help"])
    assert stop.value.code == 0
    printed = capsys.readouterr().out
    assert "--output" in printed
    assert "--seed" in printed


# ------------------------------------------------------------------------------------------------
# What the user got wrong: one sentence, code 2, before any work
# ------------------------------------------------------------------------------------------------

RUN = "import runpy; runpy.run_module('bhmc.demo', run_name='__main__', alter_sys=True)"


@pytest.fixture
def refusal(tmp_path):
    """Run the demo and return the one line that it says in refusing."""
    environment = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}

    def run(*arguments, **options) -> str:
        done = run_python(RUN, *arguments, environment=environment, **options)
        assert done.returncode == 2
        assert done.stdout == ""
        (line,) = done.stderr.splitlines()
        assert line.startswith("bhmc.demo: ")
        assert line.endswith(".")
        return line

    return run


@pytest.mark.parametrize("seed", ["-1", "1.5", "one", "", "9" * 2000])
def test_bad_seed(seed, tmp_path, capsys):
    assert demo.main(["--output", str(tmp_path / "out"), f"--seed={seed}"]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert f"--seed must be a whole number of 0 or more, got {seed[:40]!r}." in printed.err
    assert not (tmp_path / "out").exists()


def test_bad_seed_ends_the_process_with_code_2(tmp_path, refusal):
    assert "--seed" in refusal("--output", tmp_path, "--seed", "x")


@pytest.mark.parametrize("place", ["file", "file/below"])
def test_a_file_in_the_way(place, tmp_path, refusal):
    (tmp_path / "file").write_text("mine")
    line = refusal("--output", tmp_path / place)
    assert str(tmp_path / place) in line
    assert (tmp_path / "file").read_text() == "mine"


@pytest.mark.parametrize("place", ["locked", "locked/below"])
def test_a_folder_without_write_permission(place, tmp_path, refusal, obey_permissions):
    (tmp_path / "locked").mkdir(mode=0o555)
    line = refusal("--output", tmp_path / place, launcher=obey_permissions)
    assert line.endswith("is not a folder to write to: Permission denied.")


def test_a_result_file_that_cannot_be_written(short, tmp_path, capsys):
    (tmp_path / "tree.txt").mkdir()
    assert demo.main(["--output", str(tmp_path)]) == 2
    error = capsys.readouterr().err
    assert error == f"bhmc.demo: {tmp_path / 'tree.txt'} cannot be written: Is a directory.\n"
