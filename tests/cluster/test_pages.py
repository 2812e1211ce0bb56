"""docs/cluster.md and its file for Docker: the first example runs, the rest is Python and YAML."""

import re
from pathlib import Path

import pandas as pd
import pytest
import yaml

from bhmc.rows import dask_cluster
from tests.cluster.small import table

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "cluster.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
COMPOSE = ROOT / "docs" / "cluster" / "docker-compose.yml"


def test_the_first_example_runs(cluster, client, tmp_path, monkeypatch):
    """With this cluster, rows of its own and a short chain."""
    monkeypatch.chdir(tmp_path)
    pd.DataFrame(table(), columns=list("abc")).to_parquet(tmp_path / "rows.parquet")
    code = BLOCKS[0]
    for old, new in (
        ("tcp://scheduler:8786", cluster.scheduler_address),
        ("s3://bucket/rows/", f"{tmp_path}/rows.parquet"),
        ("random_state=0", "random_state=0, n_warmup=2, n_draws=2, likelihood='shared_gaussian'"),
    ):
        assert code.count(old) == 1
        code = code.replace(old, new)
    names: dict = {}
    with client.as_current():
        exec(code, names)
    names["client"].close()
    assert (tmp_path / "model.bhmc").exists()
    assert len(names["model"].labels_) == 1_000


@pytest.mark.parametrize("number", range(1, len(BLOCKS)))
def test_other_examples_are_python(number):
    compile(BLOCKS[number], "docs/cluster.md", "exec")


def test_the_page_says_how_long_workers_may_be_away():
    assert f"{dask_cluster.MOST_AWAY:.0f} seconds" in PAGE


def test_docker_compose_names_one_image_and_three_services():
    services = yaml.safe_load(COMPOSE.read_text(encoding="utf-8"))["services"]
    assert set(services) == {"scheduler", "worker", "client"}
    assert {one["image"] for one in services.values()} == {"bhmc-dask"}
    assert services["worker"]["depends_on"] == services["client"]["depends_on"]


def test_what_docker_compose_fits_is_python():
    content = yaml.safe_load(COMPOSE.read_text(encoding="utf-8"))["configs"]["fit"]["content"]
    compile(content, "fit.py", "exec")
