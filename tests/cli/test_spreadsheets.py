"""Names that a spreadsheet would execute: harmless in every CSV, as they are with --raw."""

import json

import pytest

from bhmc import BHMC
from bhmc._cli import explore, main
from tests.cli.tools import QUICK, rows_of

EVIL = "=cmd|' /C calc'!A0"


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """Rows with two such names, and one that is a number."""
    file = tmp_path_factory.mktemp("evil") / "table.csv"
    names = [f'"{EVIL}"', "@SUM(A1)", "-3x", *(f"item{i}" for i in range(9))]
    lines = [f"{name},{5 * (i % 2) + i / 10:.2f},{i / 7:.2f}" for i, name in enumerate(names)]
    file.write_text("\n".join(["name,a,b", *lines]) + "\n")
    return file


@pytest.fixture(scope="module")
def run_of(table, tmp_path_factory):
    folder = tmp_path_factory.mktemp("run") / "run"
    assert main(["fit", str(table), "-o", str(folder), *QUICK]) == 0
    return folder


def names_in(file):
    return [row["name"] for row in rows_of(file)]


def test_a_run_and_its_continuation(table, run_of, tmp_path):
    assert names_in(run_of / "assignments.csv")[:4] == [f"'{EVIL}", "'@SUM(A1)", "'-3x", "item0"]
    assert BHMC.load(run_of / "model.bhmc").tree_.names[0] == EVIL  # only CSV files are marked
    raw = tmp_path / "raw"
    assert main(["fit", str(table), "-o", str(raw), *QUICK, "--raw"]) == 0
    assert names_in(raw / "assignments.csv")[0] == EVIL
    assert main(["fit", "--continue", str(raw), "--draws", "1"]) == 0
    assert names_in(raw / "assignments.csv")[0] == EVIL


def test_predictions_in_a_file_and_printed(table, run_of, tmp_path, capsys):
    for words, name in (((), f"'{EVIL}"), (("--raw",), EVIL)):
        place = tmp_path / "places.csv"
        assert main(["predict", str(run_of), str(table), "-o", str(place), *words]) == 0
        assert names_in(place)[0] == name
        capsys.readouterr()
        assert main(["predict", str(run_of), str(table), *words]) == 0
        assert capsys.readouterr().out == place.read_text()
    assert main(["predict", str(run_of), str(table), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["rows"][0]["name"] == EVIL


def test_exports_take_the_option(run_of, tmp_path):
    for words in ((), ("--raw",)):
        file = tmp_path / f"tree{len(words)}.csv"
        assert main(["export", str(run_of), "--to", "csv", "-o", str(file), *words]) == 0
        assert len(rows_of(file)) > 1


def test_the_names_are_found_by_what_they_were(run_of, tmp_path, monkeypatch):
    """The same labels in the order of the rows, not in that of the file."""
    seen = []
    monkeypatch.setattr(explore, "write_explorer", lambda *_, compare, **__: seen.append(compare))
    labels = tmp_path / "labels.csv"
    rows = rows_of(run_of / "assignments.csv")
    lines = [f'"{row["name"]}",{number}' for number, row in enumerate(rows)]
    labels.write_text("\n".join(["name,number", *reversed(lines)]) + "\n")
    command = ["explore", str(run_of), "-o", str(tmp_path / "p.html"), "--compare", str(labels)]
    assert main(command) == 0
    assert seen[0].ravel().tolist() == [str(number) for number in range(12)]
