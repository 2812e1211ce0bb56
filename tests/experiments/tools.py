"""What tests of experiments share."""

import csv
from pathlib import Path

from bhmc._cli import main
from bhmc._experiments import (
    comparison,
)
from bhmc._experiments.store import Outcome
from tests.shared_data import FOLDER

ANIMALS = FOLDER / "animals" / "animals_33x102.csv"


def rows_of(file: Path) -> list[dict]:
    with file.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def entry(method, tree, seed=0, **facts):
    return comparison.Entry(
        method, seed, Outcome(tree, {"seconds": 1.0, "cpu_seconds": 1.0, **facts})
    )


def mean(method, level, cut="depth", **scores):
    every = dict.fromkeys((*comparison.MEASURES, "dendrogram_purity"), 0.0)
    return comparison.Mean(method, cut, level, 3, 4.0, {**every, **scores}, every, 1)


def compare(table, folder, *more, methods="bhmc,ward,random") -> int:
    common = ("--drop", "path", "--labels", "kind", "--quick", "-q", "--methods")
    return main(["compare", str(table), "-o", str(folder), *common, methods, *more])


def part_times(folder: Path) -> dict[str, int]:
    return {file.name: file.stat().st_mtime_ns for file in (folder / "parts").glob("*.json")}


def refused(capsys, *arguments) -> str:
    assert main([str(one) for one in arguments]) == 2
    *_, line = capsys.readouterr().err.splitlines()
    return line
