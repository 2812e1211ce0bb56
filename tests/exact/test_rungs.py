"""The ladder of exactness is written down: `rungs.toml` names every rung, its tests, its mutants.

An exactness test is one of `tests/exact` or `tests/mutants`, or one elsewhere that compares with a
limit of `tests.exact.alarm`.
"""

import ast
import re
import tomllib
from functools import cache
from pathlib import Path

import pytest

from tests.exact.test_adaptive import WRONG, WRONG_SPHERICAL
from tests.exact.test_learned import WRONG_KERNELS
from tests.mutants.diffused_mutants import DIFFUSED_MUTANTS
from tests.mutants.move_mutants import MOVE_MUTANTS
from tests.mutants.mutants import MUTANTS

ROOT = Path(__file__).parents[2]
FILE = Path(__file__).with_name("rungs.toml")
LIMITS = {"Z_LIMIT", "P_LIMIT", "T_LIMIT"}
WHOLE_FOLDERS = ("tests/exact", "tests/mutants")
KNOWN_MUTANTS = {mutant.name for mutant in (*MUTANTS, *MOVE_MUTANTS, *DIFFUSED_MUTANTS)}
KNOWN_MUTANTS |= {*WRONG_KERNELS, *WRONG, *WRONG_SPHERICAL}


def read() -> dict:
    return tomllib.loads(FILE.read_text(encoding="utf-8"))


@cache
def functions(file: str) -> dict[str, bool]:
    """Every test of a file, and whether it names a limit of the alarm."""
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    tests = [one for one in tree.body if isinstance(one, ast.FunctionDef)]
    return {
        one.name: any(isinstance(node, ast.Name) and node.id in LIMITS for node in ast.walk(one))
        for one in tests
        if one.name.startswith("test_")
    }


def exactness_tests() -> set[str]:
    found = set()
    for path in (ROOT / "tests").rglob("test_*.py"):
        file = path.relative_to(ROOT).as_posix()
        whole = file.startswith(WHOLE_FOLDERS) and path != Path(__file__)
        found |= {f"{file}::{name}" for name, judges in functions(file).items() if judges or whole}
    return found


def problems(ladder: dict, existing: set[str], mutants: set[str]) -> list[str]:
    """All that is wrong with a ladder, a sentence each."""
    rungs, removed = ladder["rung"], ladder.get("removed", [])
    listed = [test for rung in rungs for test in rung["tests"]]
    named = {name for rung in rungs for name in rung.get("mutants", [])}
    caught = [test for line in removed for test in line["caught_by"]]
    gone = {line["test"] for line in removed}
    return [
        *(f"{test} is listed twice" for test in set(listed) if listed.count(test) > 1),
        *(
            f"{test} does not exist: say under [[removed]] what catches its mutant"
            for test in {*listed, *caught}
            if not _exists(test)
        ),
        *(f"{test} is an exactness test and stands on no rung" for test in existing - {*listed}),
        *(f"{test} was removed and still exists" for test in gone if _exists(test)),
        *(
            f"{line['test']} was removed and nothing catches its mutants"
            for line in removed
            if not line["caught_by"]
        ),
        *(f"no rung catches the mutant {name!r}" for name in mutants - named),
        *(f"there is no mutant {name!r}" for name in named - mutants),
        *(
            f"rung {rung['name']!r} has no test and is not proven to fail"
            for rung in rungs
            if not rung["tests"]
        ),
    ]


def _exists(test: str) -> bool:
    file, _, name = test.partition("::")
    return (ROOT / file).is_file() and name in functions(file)


def test_the_ladder_is_whole():
    assert problems(read(), exactness_tests(), KNOWN_MUTANTS) == []


def test_every_rung_can_be_read():
    names = [rung["name"] for rung in read()["rung"]]
    assert len(names) == len(set(names))
    assert all(set(rung) <= {"name", "draws", "tests", "mutants"} for rung in read()["rung"])


@pytest.mark.parametrize(
    ("broken", "sentence"),
    [
        (lambda ladder: ladder["rung"][0]["tests"].append("tests/exact/a.py::test_b"), "exist"),
        (lambda ladder: ladder["rung"][0]["tests"].pop(), "stands on no rung"),
        (lambda ladder: ladder["rung"].pop(0), "no rung catches"),
        (lambda ladder: ladder["removed"][0]["caught_by"].clear(), "nothing catches"),
        (lambda ladder: ladder["rung"][0]["mutants"].append("a new error"), "there is no mutant"),
    ],
)
def test_a_broken_ladder_is_noticed(broken, sentence):
    ladder = read()
    broken(ladder)
    assert sentence in " ".join(problems(ladder, exactness_tests(), KNOWN_MUTANTS))


def test_make_exact_runs_every_long_test():
    """What `make test` leaves out is not left out altogether."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    places = tuple(re.findall(r"tests/[\w/.]+", makefile.split("\nexact:")[1].split("\n\n")[0]))
    long = [
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "tests").rglob("test_*.py")
        if "mark.exact_long" in path.read_text(encoding="utf-8")
    ]
    assert len(long) > 20
    assert [file for file in long if not file.startswith(places)] == []
