"""`bhmc fit --scheduler`: workers read the file, and the run is the one of this process."""

import sys

import numpy as np
import pytest

from bhmc._cli import main, scheduler
from tests.cli.test_blocks import QUICK, few_are_many  # noqa: F401 (a fixture)
from tests.cli.tools import record_of, refused

distributed = pytest.importorskip("distributed", reason="NOT TESTED: Dask is not installed.")

SHORT = ("--draws", "2", "--warmup", "1", *QUICK[4:])


@pytest.fixture
def file(tmp_path):
    """Rows in two blocks, so that two workers have some."""
    rng = np.random.default_rng(0)
    np.save(tmp_path / "big.npy", 9.0 * rng.integers(3, size=(16_500, 1)) + rng.random((16_500, 2)))
    return tmp_path / "big.npy"


def test_workers_give_the_same_run(file, tmp_path, capsys):
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
    ) as cluster:
        words = ["fit", str(file), "--scheduler", cluster.scheduler_address]
        assert main([*words, "-o", str(tmp_path / "there"), *SHORT]) == 0
        said = capsys.readouterr().err
        assert "Rows of big.npy are read by the workers" in said
    assert main(["fit", str(file), "-o", str(tmp_path / "here"), *SHORT]) == 0
    assert record_of(tmp_path / "there")["data"] == record_of(tmp_path / "here")["data"]
    for name in ("draws.csv", "assignments.csv", "assignments.npy"):
        there, here = ((tmp_path / run / name).read_bytes() for run in ("there", "here"))
        assert there == here, name


def test_refusals(file, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(scheduler, "_PATIENCE", 0.5)

    def line(address, *words):
        return refused(capsys, "fit", file, "-o", tmp_path / "out", "--scheduler", address, *words)

    assert "no Dask scheduler answers there" in line("tcp://127.0.0.1:9")
    assert "is no address such as tcp://host:8786" in line("nonsense")
    assert "leave out --no-blocks" in line("tcp://127.0.0.1:9", "--no-blocks")
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert "install it with `pip install bhmc[dask]`" in line("tcp://127.0.0.1:9")
    assert not (tmp_path / "out").exists()
