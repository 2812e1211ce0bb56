"""What rows on a Dask cluster of this machine cost: time and messages of a sweep, and memory.

    python -m benchmarks.dask_overhead                  200,000 rows, 16 columns, 2 workers
    python -m benchmarks.dask_overhead 1e6 4            other rows, other workers

The same fit is made in memory and on the cluster; the draws must be equal. Seconds are medians of
sweeps of one thread in memory, and of one thread a worker. Bytes are those of pickled messages.
Memory is resident memory (RSS) of worker processes: of one that has imported bhmc, at most while
rows are loaded and chains run, and after ten sweeps, each beside the rows that it holds.
"""

import logging
import os
import pickle
import statistics
import sys
import threading
import time
import warnings
from collections import Counter
from contextlib import contextmanager

import numpy as np

from benchmarks.hierarchy_rows import chunk_of
from bhmc import BHMC
from bhmc._estimator.bhmc import fit_listening
from bhmc.rows import dask_parts

SETTINGS = {
    "likelihood": "shared_gaussian",
    "transition": "diffused",
    "n_warmup": 10,
    "n_draws": 10,
    "n_chains": 1,
    "n_jobs": 1,
    "random_state": 0,
    "n_levels": 3,
}
_HEIGHT, _COLUMNS, _MB = 50_000, 16, 2**20

# Megabytes of a worker beside its rows, all libraries and compiled code among them.
_MOST_BESIDE_ROWS = 200


def rows_of_workers(n: int):
    """All rows as a Dask array.

    Parameters
    ----------
    n : int
        Number of all rows.
    """
    import dask
    import dask.array as da

    make = dask.delayed(chunk_of, pure=True)
    numbers = range(-(-n // _HEIGHT))
    shapes = [(min(_HEIGHT, n - i * _HEIGHT), _COLUMNS) for i in numbers]
    return da.concatenate(
        [
            da.from_delayed(make(i, *shape), shape, float)
            for i, shape in zip(numbers, shapes, strict=True)
        ]
    )


class Clock:
    """When sweeps of a chain ended."""

    def __init__(self):
        self.ends: list[float] = []

    def __call__(self, number, chain, made) -> bool:
        """A listener."""
        self.ends.append(time.perf_counter())
        return False

    @property
    def seconds(self) -> float:
        """Of a sweep, in the median; the first ones, which compile and settle, do not count."""
        return statistics.median(np.diff(self.ends[5:]))


@contextmanager
def messages_counted():
    """Questions, and bytes out and back, by the name of the method."""
    found = {"asked": Counter(), "out": Counter(), "back": Counter()}
    ask, result = dask_parts.FarPart.ask, dask_parts._Waiting.result

    def counted_ask(self, method, *given):
        found["asked"][method] += 1
        found["out"][method] += len(pickle.dumps(given, 5))
        waiting = ask(self, method, *given)
        waiting.method = method
        return waiting

    def counted_result(self):
        value = result(self)
        found["back"][self.method] += len(pickle.dumps(value, 5))
        return value

    dask_parts.FarPart.ask, dask_parts._Waiting.result = counted_ask, counted_result
    try:
        yield found
    finally:
        dask_parts.FarPart.ask, dask_parts._Waiting.result = ask, result


def memory_here() -> int:
    """Resident bytes of this process."""
    import psutil

    return psutil.Process(os.getpid()).memory_info().rss


class Memory:
    """The most that a worker had, looked at five times a second."""

    def __init__(self, client):
        self._client, self._ended = client, threading.Event()
        self.most: Counter[str] = Counter()
        self._thread = threading.Thread(target=self._look)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *error):
        self._ended.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._ended.wait(0.2):
            for worker, size in self._client.run(memory_here).items():
                self.most[worker] = max(self.most[worker], size)


def on_cluster(n: int, n_workers: int) -> None:
    """Fit, compare and print.

    Parameters
    ----------
    n : int
        Number of all rows.
    n_workers : int
        Worker processes.
    """
    from distributed import Client
    from distributed.deploy.subprocess import SubprocessCluster

    X, near, far, last = rows_of_workers(n), Clock(), Clock(), {}
    given = {"threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": logging.ERROR}
    # Processes of `LocalCluster` would import this file, and bhmc with it, before the first look.
    with SubprocessCluster(n_workers=n_workers, **given) as cluster, Client(cluster) as client:
        client.wait_for_workers(n_workers)
        bare = max(client.run(memory_here).values())
        client.run(lambda: __import__("bhmc.rows.dask_parts") and None)
        imported = max(client.run(memory_here).values())

        def look(number, chain, made):
            if made == SETTINGS["n_warmup"]:
                last.update(client.run(memory_here))
            return False

        with messages_counted() as found, Memory(client) as memory:
            there = fit_listening(BHMC(**SETTINGS), X, [look, far])
        n_sweeps = SETTINGS["n_warmup"] + SETTINGS["n_draws"]
    here = fit_listening(BHMC(**SETTINGS), X.compute(scheduler="threads"), [near])
    same = np.array_equal(here.draws_.log_joint, there.draws_.log_joint)
    print(f"{n:,} rows, {_COLUMNS} columns, {n_workers} workers: draws are", end=" ")
    print("equal" if same else "OTHERS")
    print(f"seconds of a sweep: {near.seconds:.3f} in memory, {far.seconds:.3f} with workers")
    print_messages(found, n_sweeps)
    own = 8 * _COLUMNS * -(-n // n_workers)
    sizes = {"bare": bare, "bhmc imported": imported, "after ten sweeps": max(last.values())}
    sizes["at most"] = max(memory.most.values())
    said = ", ".join(f"{name} {size / _MB:.0f} MB" for name, size in sizes.items())
    print(f"memory of the largest worker: {said}; its rows are {own / _MB:.0f} MB")
    over = (sizes["at most"] - own) / _MB
    print(f"beside its rows: {over:.0f} MB at most (wanted: {_MOST_BESIDE_ROWS})")
    if not same or over > _MOST_BESIDE_ROWS:
        sys.exit(1)


def print_messages(found: dict[str, Counter], n_sweeps: int) -> None:
    """A line for each method, as means of a sweep.

    Parameters
    ----------
    found : dict
        What `messages_counted` gave.
    n_sweeps : int
        Sweeps made.
    """
    print(f"{'of a sweep':16}{'questions':>10}{'kB out':>10}{'kB back':>10}")
    for name, asked in found["asked"].most_common():
        out, back = (found[way][name] / n_sweeps / 1e3 for way in ("out", "back"))
        print(f"{name:16}{asked / n_sweeps:10.1f}{out:10.1f}{back:10.1f}")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    on_cluster(*(int(float(one)) for one in sys.argv[1:] or (200_000, 2)))
