"""Rows on the workers of a Dask cluster: each holds a part, and only small things travel.

A part is an actor, which keeps its rows and their places from sweep to sweep. Menus go out, totals
come back. Where a worker is lost, its part goes to the others: `hold` makes all parts anew.
"""

import itertools
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from bhmc.likelihoods.block_sums import ROWS_PER_BLOCK
from bhmc.rows.dask_cluster import RESUMES, check_versions, some_workers_of, workers_of
from bhmc.rows.dask_parts import FarPart, PartOfWorker, rows_between
from bhmc.rows.dask_tables import Spread, are_gone, client_of, is_dask, spread
from bhmc.rows.parted import MOST_TRIES, Held, PartLost, RowsGoneError

__all__ = ["DaskHolder", "Spread", "client_of", "is_dask", "shares", "spread"]

# Rows move to workers that came, or that held none, when they have stayed for so many times as
# long as the last move took: workers of a growing cluster come one after the other.
_STAYS = 5.0


class _Holding:
    """All parts with the workers that were there at one time."""

    def __init__(self, workers: set[str]):
        self.workers, self.parts = workers, list[FarPart]()
        self.is_whole, self.since, self.took = False, time.monotonic(), 0.0

    def made(self) -> None:
        """All parts are there from now on."""
        self.is_whole, now = True, time.monotonic()
        self.took, self.since = now - self.since, now

    def is_outdated(self, there: set[str]) -> bool:
        """Whether a part is lost, or other workers are there for a while.

        Parameters
        ----------
        there : set of str
            The workers that are there now.
        """
        if not self.is_whole or any(one.is_lost or one.worker not in there for one in self.parts):
            return True
        return there != self.workers and time.monotonic() - self.since > _STAYS * self.took


class DaskHolder:
    """The workers that hold a Dask array.

    Parameters
    ----------
    X : dask.array.Array
        All rows, of known number, in one chunk of columns.
    client : distributed.Client
        Of the cluster.
    names : sequence of str, optional
        Names of the columns.
    precision : {"float64", "float32"}
        Type of the likelihood tables.
    """

    may_lose = True

    def __init__(self, X: Any, client: Any, names: Sequence[str] | None, precision: str):
        self.n_rows, self.names = X.shape[0], names
        self.said = f"a Dask array of {X.shape[0]:,} rows and {X.shape[1]:,} columns"
        self._X, self._client, self._precision = X, client, precision
        self._holding = _Holding(set())

    def hold(self) -> list[Held]:
        """A part on each worker, rows shared out by threads; all made anew."""
        for n_tries in itertools.count(1):
            try:
                return self._hold()
            except PartLost as error:
                if n_tries == MOST_TRIES:
                    raise RowsGoneError(
                        f"Workers were lost {n_tries} times while they were to hold {self.said}: "
                        f"look at their logs and memory ({error}). {RESUMES}"
                    ) from error
        raise AssertionError("never here")

    def is_outdated(self) -> bool:
        """Whether a part was lost, or other workers are there for a while."""
        return self._holding.is_outdated(set(workers_of(self._client)))

    def _hold(self) -> list[Held]:
        self.let_go()
        workers = some_workers_of(self._client)
        if are_gone(self._X):
            raise RuntimeError(
                f"Rows of {self.said} that workers kept (by persist or scatter) are lost: make "
                f"the collection anew. {RESUMES}"
            )
        self._holding = holding = _Holding(set(workers))
        check_versions(self._client, list(workers))
        spans = shares(self.n_rows, list(workers.values()))
        pairs = [(w, span) for w, span in zip(workers, spans, strict=True) if span[0] < span[1]]
        holding.parts += [self._begin(worker, workers[worker], *span) for worker, span in pairs]
        for part in holding.parts:
            self._check_made(part)
        holding.made()
        both = zip(holding.parts, pairs, strict=True)
        return [Held(part.ask, first, end - first) for part, (_, (first, end)) in both]

    def let_go(self) -> None:
        """Workers forget the rows at once, even where chains still know the parts."""
        futures = [part.let_go() for part in self._holding.parts]
        if futures and self._client.status == "running":
            with suppress(Exception):
                self._client.cancel(futures, force=True)
        self._holding = _Holding(set())

    def _begin(self, worker: str, n_threads: int, first: int, end: int) -> FarPart:
        """An actor on a worker, which loads its own rows."""
        chunks = pieces_between(self._X, first, end)
        there = {"workers": [worker], "allow_other_workers": False}
        loaded = self._client.compute(chunks, optimize_graph=True, **there)
        given = first, n_threads, self._precision, *loaded
        made = self._client.submit(PartOfWorker, *given, actor=True, pure=False, **there)
        return FarPart(self._client, worker, made, self._is_there)

    def _check_made(self, part: FarPart) -> None:
        """Wait for a part; a worker that died is `PartLost`, a chunk that it cannot read is not."""
        from distributed import KilledWorker
        from distributed.comm.core import CommClosedError

        error = part.wait_until_made()
        if error is None:
            return
        if isinstance(error, KilledWorker | CommClosedError) or not self._is_there(part.worker):
            raise part.lost(error) from error
        raise RuntimeError(
            f"A chunk of {self.said} cannot be read: {type(error).__name__}: {error}"
        ) from error

    def _is_there(self, worker: str) -> bool:
        return worker in workers_of(self._client)


def pieces_between(X: Any, first: int, end: int) -> list[Any]:
    """What a worker computes for some rows: chunks, or a part of one at either end.

    Chunks are cut by a function that imports nothing, because `dask.array`, which a worker need
    not import, brings pandas where it is installed: 80 MB.

    Parameters
    ----------
    X : dask.array.Array
        All rows, in one chunk of columns.
    first, end : int
        The first row, and the row after the last.
    """
    from dask.delayed import delayed

    chunks, pieces = X.to_delayed().ravel().tolist(), []
    start = 0
    for chunk, height in zip(chunks, X.chunks[0], strict=True):
        low, high = max(first - start, 0), min(end - start, height)
        start += height
        if low < high:
            is_whole = (low, high) == (0, height)
            pieces.append(chunk if is_whole else delayed(rows_between, pure=True)(chunk, low, high))
    return pieces


def shares(n_rows: int, threads: Sequence[int]) -> list[tuple[int, int]]:
    """(first row, the row after the last) of each worker: whole blocks, as many as it has threads.

    Parameters
    ----------
    n_rows : int
        All rows.
    threads : sequence of int
        Threads of each worker.
    """
    n_blocks = -(-n_rows // ROWS_PER_BLOCK)
    ends = np.round(n_blocks * np.cumsum(threads) / np.sum(threads)).astype(int) * ROWS_PER_BLOCK
    rows = np.minimum(np.concatenate([[0], ends]), n_rows).tolist()
    return list(itertools.pairwise(rows))
