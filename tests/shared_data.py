"""Data for evaluation only: read from beside the checkout, never part of it."""

import csv
import os
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(os.environ.get("BHMC_SHARED_DATA", Path(__file__).parents[2] / "shared" / "data"))


def read_table(name: str) -> tuple[list[str], np.ndarray]:
    """Names (first column) and numbers of a CSV file; skips the test where the file is absent."""
    file = FOLDER / name
    if not file.exists():
        pytest.skip(f"NOT TESTED: {name} is not here; set BHMC_SHARED_DATA to the folder with it.")
    with file.open(newline="", encoding="utf-8") as lines:
        _, *rows = csv.reader(lines)
    return [row[0] for row in rows], np.array([row[1:] for row in rows], dtype=float)
