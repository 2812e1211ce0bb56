"""Data and runs that tests of experiments share; tests must not change them."""

from pathlib import Path

import numpy as np
import pytest

from bhmc._cli import main
from tests.experiments.tools import ANIMALS


@pytest.fixture(autouse=True, scope="session")
def small_pictures():
    """Most of the time of a quick comparison goes into pictures; no test looks at their dots."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("bhmc._experiments.page._DPI", 30)
        yield


@pytest.fixture(scope="session")
def blobs() -> np.ndarray:
    rng = np.random.default_rng(0)
    return rng.normal(size=(40, 2)) + np.repeat(
        [[0.0, 0.0], [8.0, 0.0], [0.0, 8.0], [8.0, 8.0]], 10, 0
    )


@pytest.fixture(scope="session")
def table(tmp_path_factory) -> Path:
    rng = np.random.default_rng(1)
    file = tmp_path_factory.mktemp("data") / "table.csv"
    lines = ["name,x,y,kind,path"]
    for i in range(24):
        x, y = rng.normal(size=2) + 9 * np.array([i % 2, i // 2 % 2])
        lines.append(f"n{i},{x:.4f},{y:.4f},k{i % 2},all > a{i % 2} > b{i // 2 % 2}")
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return file


@pytest.fixture(scope="session")
def animals(tmp_path_factory) -> Path:
    """A quick run of the experiment; tests must not change it."""
    if not ANIMALS.exists():
        pytest.skip("NOT TESTED: the animals are not here; set BHMC_SHARED_DATA.")
    folder = tmp_path_factory.mktemp("animals") / "out"
    arguments = ["--data", str(ANIMALS), "-o", str(folder), "--quick", "-q"]
    assert main(["reproduce", "animals", *arguments]) == 0
    return folder


@pytest.fixture(scope="session")
def products(tmp_path_factory) -> Path:
    """A shop of 60 products: two kinds, three of each, with their own words."""
    rng = np.random.default_rng(0)
    file = tmp_path_factory.mktemp("shop") / "products.csv"
    lines = ["title,description,category_path,sample_2303"]
    for i in range(60):
        kind, sort = i % 2, i // 2 % 3
        words = " ".join(f"{'ab'[kind]}{'xyz'[sort]}{'klmn'[j]}" for j in rng.integers(4, size=5))
        more = " ".join(f"{'ab'[kind]}common{'pqr'[j]}" for j in rng.integers(3, size=3))
        lines.append(f"{words},{more},top{kind} > sort{sort},{int(i < 50)}")
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return file
