"""The stamp of compiled code covers every file that compiled code comes from."""

import ast
from pathlib import Path

import pytest

import bhmc
from bhmc._compiled import cache_stamp

PACKAGE = Path(bhmc.__file__).parent
COVERED = set(cache_stamp.covered_files())


def imported_files(path):
    """The files of the package that a file imports from."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("bhmc"):
            place = PACKAGE.parent / node.module.replace(".", "/")
            for name in node.names:
                inner = [place / f"{name.name}.py", place / name.name / "__init__.py"]
                own = [place.with_suffix(".py"), place / "__init__.py"]
                yield next(file for file in (*inner, *own) if file.exists())


def compiles(path):
    source = path.read_text(encoding="utf-8")
    return "_compiled.decorators import" in source or "numba.njit" in source


def test_every_file_with_compiled_code_is_covered():
    found = {path for path in PACKAGE.rglob("*.py") if compiles(path)}
    assert len(found) > 10
    assert found <= COVERED


@pytest.mark.parametrize(
    "path", sorted(path for path in COVERED if compiles(path)), ids=lambda path: path.name
)
def test_kernels_take_nothing_from_files_that_are_not_covered(path):
    assert set(imported_files(path)) <= COVERED


def test_a_numba_without_the_stamp_is_noticed():
    class Kernel:
        _cache = object()

    assert not cache_stamp.cover_all_sources(Kernel())
    assert not cache_stamp.cover_all_sources(object())
