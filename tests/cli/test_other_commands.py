"""Commands that need no run, what is printed, and the page that describes it all."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import bhmc
from bhmc._cli import main, parser
from bhmc._cli.output import counted, to_json
from tests.cli.tools import SOURCE, refused, run


def test_prior(capsys):
    arguments = ["prior", "50", "--levels", "2", "--alpha", "0.5", "--samples", "10"]
    expected = bhmc.describe_prior(50, n_levels=2, alpha=0.5, n_samples=10, random_state=0)
    assert main(arguments) == 0
    assert capsys.readouterr().out == f"{expected}\n"
    assert main([*arguments, "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert [line["mean"] for line in shown["lines"]] == [line.mean for line in expected.lines]


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


def test_the_session_of_the_docs(table, tmp_path, capsys, monkeypatch, short_rounds):
    """Every line of it runs, on a table of ours; how long chains run is not asked here."""
    pytest.importorskip("matplotlib", reason="NOT TESTED: matplotlib is not installed.")
    page = (Path(__file__).parents[2] / "docs" / "command-line.md").read_text(encoding="utf-8")
    session = page.split("## A session")[1].split("## ")[0]
    lines = re.findall(r"^\$ bhmc (.*)$", session, flags=re.MULTILINE)
    assert len(lines) >= 7
    text = table.read_text()
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
    for code in ("0", "1", "2", "3", "130"):
        assert f"\n| {code} |" in page
