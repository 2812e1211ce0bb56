"""A table and a finished run that tests of the command line share; tests must not change them."""

from pathlib import Path

import numpy as np
import pytest

from bhmc._cli import main
from tests.cli.tools import QUICK


@pytest.fixture(scope="session")
def table(tmp_path_factory) -> Path:
    """Two groups of six rows, with names, numbers, 0/1 and text."""
    rng = np.random.default_rng(0)
    file = tmp_path_factory.mktemp("data") / "table.csv"
    lines = ["name,size,weight,flies,colour"]
    for i in range(12):
        far = i % 2
        x, y = rng.normal(6 * far, 1, 2)
        lines.append(f"item{i},{x:.4f},{y:.4f},{far},{('red', 'blue')[far]}")
    file.write_text("\n".join(lines) + "\n")
    return file


@pytest.fixture(scope="session")
def finished(table, tmp_path_factory) -> Path:
    """A run folder; tests must not change it."""
    folder = tmp_path_factory.mktemp("run") / "run"
    assert main(["fit", str(table), "-o", str(folder), *QUICK]) == 0
    return folder


@pytest.fixture
def short_rounds(monkeypatch):
    """Rounds of 30 draws; the second ends at sweep 100, and no further one follows unasked."""
    for place in ("_estimator.rounds", "_estimator.sizes"):
        monkeypatch.setattr(f"bhmc.{place}.AUTO_DRAWS", 30)
    monkeypatch.setattr("bhmc._estimator.rounds._MOST_SWEEPS", 100)
