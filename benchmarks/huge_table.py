"""A fit of 100 million rows that stay in a file, and the label of every row, in little memory.

The rows are those of `large_hierarchy` in 8 columns. They are written to a `.npy` file of 6.4 GB in
a folder of its own, which is deleted at the end.

    python -m benchmarks.huge_table                     in the folder for temporary files
    python -m benchmarks.huge_table 1e7 --folder /data --threads 2
"""

import argparse
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.hierarchy_rows import Hierarchy, block_of, hierarchy
from benchmarks.large_hierarchy import LEVELS, best_amis

COLUMNS, MOST_ANONYMOUS = 8, 2e9
_BLOCK, _ROWS_SCORED = 2**16, 100_000

# Beside the rows: their labels, and their components in a few copies.
_BYTES_BESIDE = 20


class Sweeps(NamedTuple):
    """What a fit was asked for."""

    n_warmup: int = 2
    n_draws: int = 3


@contextmanager
def noting_peak(found: dict[str, float], name: str) -> Iterator[None]:
    """The most anonymous memory while something runs; pages of files are the system's to take.

    Parameters
    ----------
    found : dict
        Gets the number of bytes, and the seconds, by name.
    name : str
        What runs.
    """
    peak, done, began = [0.0], threading.Event(), time.perf_counter()

    def watch() -> None:
        while not done.wait(0.02):
            peak[0] = max(peak[0], anonymous_bytes())

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()
        found[name] = peak[0]
        seconds = time.perf_counter() - began
        print(f"{name:<12}{seconds:7.0f} s, at most {peak[0] / 1e6:6.0f} MB", flush=True)


def anonymous_bytes() -> float:
    """Memory of this process that is in no file; Linux says so."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(float(line.split()[1]) * 1024 for line in lines if line.startswith("RssAnon"))


def write_rows(tree: Hierarchy, n: int, path: Path) -> None:
    """The table, block by block.

    Parameters
    ----------
    tree : Hierarchy
        Where rows come from.
    n : int
        How many.
    path : Path
        A `.npy` file.
    """
    shape = (n, COLUMNS)
    rows = np.lib.format.open_memmap(path, mode="w+", dtype=np.float64, shape=shape)
    for first in range(0, n, _BLOCK):
        rows[first : first + _BLOCK] = block_of(tree, first, min(_BLOCK, n - first))[0]


def fitted(source: Any, sweeps: Sweeps, n_threads: int) -> Any:
    """One chain of a few sweeps; prints how long each took.

    Parameters
    ----------
    source : Source
        The rows.
    sweeps : Sweeps
        How many.
    n_threads : int
        Threads of the chain.
    """
    from bhmc import BHMC
    from bhmc._estimator.bhmc import fit_listening

    ends: list[float] = []

    def note(number: int, chain: Any, made: int) -> bool:
        ends.append(time.perf_counter())
        return False

    given = {"n_chains": 1, "n_jobs": n_threads, "random_state": 0}
    model = fit_listening(BHMC(**sweeps._asdict(), **given), source, [note])
    took = ", ".join(f"{seconds:.1f}" for seconds in np.diff(ends))
    print(f"sweeps after the first took {took} s")
    return model


def agreement(tree: Hierarchy, model: Any, labels: NDArray, n: int) -> list[float]:
    """AMI of the labels of some blocks of rows with each true level.

    Parameters
    ----------
    tree : Hierarchy
        Where rows come from.
    model : BHMC
        Fitted.
    labels : (n,) array
        Of all rows: leaves of the tree.
    n : int
        How many rows there are.
    """
    blocks = np.linspace(0, (n - 1) // _BLOCK, max(1, _ROWS_SCORED // _BLOCK)).astype(int) * _BLOCK
    rows = [np.arange(first, min(first + _BLOCK, n)) for first in blocks.tolist()]
    truth = [block_of(tree, int(own[0]), len(own))[1] for own in rows]
    leaf = np.concatenate([labels[own] for own in rows])
    return best_amis(tree, np.concatenate(truth), partitions_of(model, leaf))


def partitions_of(model: Any, leaf: NDArray) -> list[NDArray]:
    """The labels of every level, from those of the leaves.

    Parameters
    ----------
    model : BHMC
        Fitted.
    leaf : (m,) array
        Labels of leaves.
    """
    tree = model.tree_
    finest = tree.labels_at(tree.n_levels)
    first = np.unique(finest, return_index=True)[1]
    return [tree.labels_at(level)[first][leaf] for level in range(1, tree.n_levels + 1)]


def run(n: int, folder: Path, n_threads: int) -> int:
    """Make the table, fit it, label it; 1 if it took too much memory.

    Parameters
    ----------
    n : int
        Rows.
    folder : Path
        Where files go.
    n_threads : int
        Threads of the chain.
    """
    from bhmc import warmup
    from bhmc.rows import open_rows

    tree, peaks = hierarchy(COLUMNS), {}
    print(f"{n:,} rows of {COLUMNS} columns, {n * COLUMNS * 8 / 1e9:.1f} GB", flush=True)
    warmup("float64", "diffused")
    with noting_peak(peaks, "writing"):
        write_rows(tree, n, folder / "rows.npy")
    source = open_rows(folder / "rows.npy")
    with noting_peak(peaks, "fitting"):
        model = fitted(source, Sweeps(), n_threads)
    with noting_peak(peaks, "labelling"):
        labels = model.predict(source, out=folder / "labels.npy")
    amis = zip(LEVELS, agreement(tree, model, labels, n), strict=True)
    print("AMI of the labels: " + ", ".join(f"{name} {ami:.3f}" for name, ami in amis))
    return int(max(peaks.values()) > MOST_ANONYMOUS)


def main(arguments: list[str]) -> int:
    """1 if a bound broke, 2 if there is too little room on the disk to begin."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.huge_table")
    parser.add_argument("rows", nargs="?", type=float, default=1e8)
    parser.add_argument("--folder", help="where the table is written")
    parser.add_argument("--threads", type=int, default=1)
    given = parser.parse_args(arguments)
    n, folder = int(given.rows), given.folder or tempfile.gettempdir()
    needed = n * (8 * COLUMNS + _BYTES_BESIDE)
    free = shutil.disk_usage(folder).free
    if free < needed:
        print(
            f"SKIPPED: {folder} has {free / 1e9:.1f} GB free, and {n:,} rows need "
            f"{needed / 1e9:.1f} GB; --folder names another one."
        )
        return 2
    with tempfile.TemporaryDirectory(prefix="bhmc-huge-", dir=folder) as own:
        return run(n, Path(own), given.threads)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
