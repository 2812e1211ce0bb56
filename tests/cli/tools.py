"""What tests of the command line share."""

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import bhmc
from bhmc._cli import main

SOURCE = Path(bhmc.__file__).parents[1]


COMMANDS = (
    "fit",
    "rerun",
    "show",
    "plot",
    "report",
    "explore",
    "predict",
    "export",
    "diagnose",
    "demo",
    "prior",
    "completion",
    "reproduce",
    "compare",
)


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


def record_of(folder: Path) -> dict:
    return json.loads((folder / "run.json").read_text())


def rows_of(file: Path) -> list[dict]:
    with file.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))
