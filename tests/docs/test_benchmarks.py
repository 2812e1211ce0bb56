"""Every benchmark does its work in its smallest form, and every study can be imported.

No figure is judged here. Benchmarks and studies use inner parts of the package, and nothing else in
the suite runs them.
"""

import importlib
import json
import pkgutil
from functools import partial
from pathlib import Path

import benchmarks
import numpy as np
import pytest
import studies
from benchmarks import bench, cold_start, long_runs, one_fit, peak_memory
from benchmarks.states import LIKELIHOOD, Shape, make
from benchmarks.timing import report
from studies.__main__ import main as list_studies

import bhmc
from bhmc import BHMC

SMALL = Shape(n=300, d=3, k=6, nodes=12, depth=2)
# Large enough for nodes and components to be born and to die, which the figures ask for.
LIVELY = Shape(n=3_000, d=3, k=12, nodes=60, depth=3)
SHORT = partial(BHMC, n_warmup=3, n_draws=12)


MODULES = [
    module.name
    for package in (benchmarks, studies)
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
]


@pytest.mark.parametrize("name", MODULES)
def test_it_can_be_imported(name):
    importlib.import_module(name)


def test_the_studies_are_listed(capsys):
    list_studies()
    listed = capsys.readouterr().out
    assert all(name in listed for name in ("same_draws", "growth", "heldout"))
    assert "Whether two versions" in listed


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


def test_long_runs(monkeypatch):
    figures = [*long_runs.recording(400, repeats=1), *long_runs.wide(200, 5, repeats=1)]
    assert all(np.isfinite(figure.value) for figure in figures)
    assert sum("a kept draw / sweep" in figure.name for figure in figures) == 2
    fits = one_fit.measured(60, 2, 3)

    class Ended:
        def communicate(self):
            return json.dumps(fits), ""

    monkeypatch.setattr(long_runs, "_fit_with", lambda *_: Ended())
    assert long_runs.against(Path("old"), 60, 3)[-1].value == 1.0
