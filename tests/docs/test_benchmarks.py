"""Every benchmark still starts and does its work, in its smallest form: no figure is judged here.

Benchmarks use inner parts of the package, and nothing else in the suite runs them.
"""

import importlib
import json
import pkgutil
from functools import partial
from pathlib import Path

import benchmarks
import numpy as np
import pytest
from benchmarks import (
    bench,
    cold_start,
    estimates,
    grades,
    growth,
    heldout,
    peak_memory,
    search,
    starts,
)
from benchmarks.states import LIKELIHOOD, Shape, make
from benchmarks.timing import report

import bhmc
from bhmc import BHMC

SMALL = Shape(n=300, d=3, k=6, nodes=12, depth=2)
# Large enough for nodes and components to be born and to die, which the figures ask for.
LIVELY = Shape(n=3_000, d=3, k=12, nodes=60, depth=3)
SHORT = partial(BHMC, n_warmup=3, n_draws=12)


@pytest.mark.parametrize(
    "name", [module.name for module in pkgutil.iter_modules(benchmarks.__path__)]
)
def test_it_can_be_imported(name):
    importlib.import_module(f"benchmarks.{name}")


def test_sweeps_against_bare(tmp_path, capsys):
    figures = bench._sweep_figures("small", *make(LIVELY), LIKELIHOOD, 1e9, None, repeats=8)
    assert report(figures, tmp_path / "bench.json") == 0
    assert "small sweep / bare" in capsys.readouterr().out
    rows = json.loads((tmp_path / "bench.json").read_text(encoding="utf-8"))
    assert all(np.isfinite(row["value"]) for row in rows)
    assert set(bench.PARTS) >= {"cold", "sweeps", "nodes", "float32", "memory"}


def test_precision_and_nodes(monkeypatch):
    monkeypatch.setattr(bench, "make", lambda shape: make(SMALL))
    monkeypatch.setattr(bench, "SHAPES", dict.fromkeys(bench.SHAPES, (1.0, None, 2)))
    for figure in (*bench.nodes(), *bench.float32()):
        assert figure.value > 0


def test_growth(monkeypatch, tmp_path, capsys):
    lines = {"n": ("rows N", [100, 200], None), "depth": ("levels L", [1, 2], None)}
    for name, value in (("BASE", SMALL), ("REPEATS", 2), ("LINES", lines), ("ROOT", tmp_path)):
        monkeypatch.setattr(growth, name, value)
    monkeypatch.setattr(growth, "PICTURE", tmp_path / "growth.png")
    assert growth.main() == 0
    assert "exponent in levels L" in capsys.readouterr().out
    assert (tmp_path / "growth.png").stat().st_size > 0


def test_held_out(monkeypatch, capsys):
    rows = type("Rows", (), {"data": starts.line()[:40]})
    monkeypatch.setattr(heldout, "TABLES", {"line": lambda: rows})
    monkeypatch.setattr(heldout, "N_SWEEPS", 6)
    monkeypatch.setattr(heldout, "EVERY", 2)
    monkeypatch.setattr(heldout, "SEEDS", (0,))
    heldout.main(["line"])
    assert len(capsys.readouterr().out.splitlines()) == 13


def test_starts(monkeypatch, capsys):
    for name in ("EARLY", "LATE"):
        monkeypatch.setattr(starts, name, range(1, 3))
    for name, value in (("AT", (0, 1, 2, 3)), ("EVERY", 1), ("SEEDS", range(2))):
        monkeypatch.setattr(starts, name, value)
    monkeypatch.setattr(starts, "TABLES", {"line": lambda: starts.line()[:40], "zoo": starts.zoo})
    starts.main([])
    assert len(capsys.readouterr().out.splitlines()) == 1 + 2 * len(starts.INITS)


def test_estimates(monkeypatch):
    monkeypatch.setattr(estimates, "BHMC", SHORT)
    monkeypatch.setattr(estimates, "N_CANDIDATES", 8)
    found = estimates.answers(starts.line()[:40], 0)
    assert set(found) == {"map", *estimates.LOSSES}
    assert all(len(labels) == 40 for answer in found.values() for labels in answer)


def test_grades(monkeypatch, capsys):
    monkeypatch.setattr(grades, "BHMC", SHORT)
    grades.grade("zoo", 1)
    assert "median of 1 seeds" in capsys.readouterr().out
    assert len(grades.digits()[0]) == 1797


def test_search(monkeypatch):
    for name, value in (("N_FITS", 1), ("N_CHAINS", 1), ("N_WARMUP", 2), ("N_SWEEPS", 4)):
        monkeypatch.setattr(search, name, value)
    monkeypatch.setattr(search, "EVERY", 1)
    monkeypatch.setitem(search.TABLES, "line", lambda: starts.line()[:40])
    monkeypatch.setattr(bhmc, "search", partial(bhmc.search, rounds=2, warmup=2, draws=3))
    found = search.study("line", 0, 60.0, "auto")
    assert np.isfinite(found["gain"])
    assert search.digits().shape[0] == 400


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="reads Linux's /proc")
def test_peak_memory(monkeypatch):
    monkeypatch.setattr(peak_memory, "SHAPE", SMALL)
    monkeypatch.setattr(peak_memory, "make", lambda shape: make(SMALL))
    monkeypatch.setattr(peak_memory, "BHMC", lambda **settings: SHORT(**{**settings, "n_draws": 2}))
    for work in (peak_memory.chain, peak_memory.fit, peak_memory.summary):
        assert -50 < work() < 500


def test_cold_start(monkeypatch, capsys):
    monkeypatch.setattr(bhmc, "BHMC", SHORT, raising=False)
    cold_start.main()
    assert set(json.loads(capsys.readouterr().out)) == {"imports", "fit", "beyond"}
