"""Rows on the workers of a Dask cluster: each holds a part, and only small things travel.

A part is an actor, which keeps its rows and their places from sweep to sweep. Menus go out, totals
come back. Where a worker is lost, its part goes to the others: `hold` makes all parts anew.
"""

import itertools
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from bhmc._extras import import_distributed
from bhmc.likelihoods.block_sums import ROWS_PER_BLOCK
from bhmc.rows.part import RowsPart
from bhmc.rows.parted import Held, PartLost, RowsGoneError
from bhmc.rows.sources import Pieces

# Seconds after which a worker that has not answered is looked for; and how long workers, or the
# scheduler, may be away.
_BETWEEN_LOOKS, _MOST_AWAY = 2.0, 60.0

# Packages whose versions must be those of the client, for draws to be the same.
_PACKAGES = ("bhmc", "numpy", "scipy", "sklearn", "numba")


class PartOfWorker:
    """A part as an actor. What a part refuses comes back as an answer, so that an error of the
    cluster is never taken for one of the part.

    Parameters
    ----------
    first_row : int
        The number of the first row among all rows.
    n_threads : int
        Threads of the worker.
    precision : {"float64", "float32"}
        Type of the likelihood tables.
    *chunks : (m, d) arrays
        The rows.
    """

    def __init__(self, first_row: int, n_threads: int, precision: str, *chunks: Any):
        given = {"n_threads": n_threads, "precision": precision}
        self._part = RowsPart(_in_chunks(chunks), first_row, **given)

    def answer(self, method: str, *given: Any) -> tuple[bool, Any]:
        """(whether it went well, the answer or the exception).

        Parameters
        ----------
        method : str
            Of `RowsPart`.
        *given : object
            What the method is given.
        """
        from bhmc._compiled.blas_threads import one_blas_thread

        try:
            with one_blas_thread():
                return True, getattr(self._part, method)(*given)
        except Exception as error:  # it is raised where the chain is
            return False, error


def _in_chunks(chunks: Sequence[Any]) -> Pieces:
    """Arrays that a worker holds, one after the other, as a table."""
    held = [np.ascontiguousarray(chunk, dtype=np.float64) for chunk in chunks]
    lengths, n_columns = [len(chunk) for chunk in held], held[0].shape[1]
    return Pieces(lengths, n_columns, held.__getitem__, "a Dask array")


class _Waiting:
    """An answer of a worker, which may be lost before it is there."""

    def __init__(self, holder: "DaskHolder", worker: str, future: Any):
        self._holder, self._worker, self._future = holder, worker, future

    def result(self) -> Any:
        """The answer; `PartLost` where the worker is gone."""
        while True:
            try:
                went_well, value = self._future.result(timeout=_BETWEEN_LOOKS)
            except TimeoutError:
                if not self._holder.has(self._worker):
                    raise self._holder.lost(self._worker) from None
                continue
            except Exception as error:
                raise self._holder.lost(self._worker) from error
            if went_well:
                return value
            raise value


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
        self._held: dict[str, Any] = {}
        self._is_whole = False

    def hold(self) -> list[Held]:
        """A part on each worker, rows shared out by threads; all made anew."""
        started = time.monotonic()
        while True:
            try:
                return self._hold()
            except PartLost as error:
                if time.monotonic() - started > _MOST_AWAY:
                    raise RowsGoneError(
                        f"Workers were lost again and again while they were to hold {self.said}: "
                        f"look at their logs and memory."
                    ) from error

    def is_outdated(self) -> bool:
        """Whether a part was lost, or other workers are there by now."""
        return not self._is_whole or set(self._workers()) != set(self._held)

    def has(self, worker: str) -> bool:
        """Whether a worker is still there.

        Parameters
        ----------
        worker : str
            Its address.
        """
        return worker in self._workers()

    def lost(self, worker: str) -> PartLost:
        """What is raised where a worker did not answer.

        Parameters
        ----------
        worker : str
            Its address.
        """
        self._is_whole = False
        return PartLost(f"worker {worker} is lost")

    def _hold(self) -> list[Held]:
        workers = self._wait_for_workers()
        self._held, self._is_whole = {}, False
        check_versions(self._client, list(workers))
        spans = shares(self.n_rows, list(workers.values()))
        pairs = [(w, span) for w, span in zip(workers, spans, strict=True) if span[0] < span[1]]
        actors = [self._begin(worker, workers[worker], *span) for worker, span in pairs]
        parts = []
        for (worker, (first, end)), actor in zip(pairs, actors, strict=True):
            self._held[worker] = self._made(worker, actor), actor  # released with its future
            parts.append(Held(self._ask_of(worker), first, end - first))
        self._held |= {worker: None for worker in workers if worker not in self._held}
        self._is_whole = True
        return parts

    def _begin(self, worker: str, n_threads: int, first: int, end: int) -> Any:
        """A future of an actor on a worker, which loads its own rows."""
        chunks = self._X[first:end].to_delayed().ravel().tolist()
        there = {"workers": [worker], "allow_other_workers": False, "pure": False}
        loaded = self._client.compute(chunks, optimize_graph=True, **_but_pure(there))
        given = first, n_threads, self._precision, *loaded
        return self._client.submit(PartOfWorker, *given, actor=True, **there)

    def _made(self, worker: str, future: Any) -> Any:
        """The actor, once its rows are there."""
        from distributed import KilledWorker

        while True:
            try:
                return future.result(timeout=_BETWEEN_LOOKS)
            except TimeoutError:
                if not self.has(worker):
                    raise self.lost(worker) from None
            except KilledWorker:
                raise self.lost(worker) from None
            except OSError as error:
                if not self.has(worker):
                    raise self.lost(worker) from error
                raise _unreadable(self.said, error) from error
            except Exception as error:
                raise _unreadable(self.said, error) from error

    def _ask_of(self, worker: str) -> Any:
        actor, _ = self._held[worker]

        def ask(method: str, *given: Any) -> _Waiting:
            try:
                return _Waiting(self, worker, actor.answer(method, *given))
            except Exception as error:
                raise self.lost(worker) from error

        return ask

    def _workers(self) -> dict[str, int]:
        """Threads of each worker that is there, in the order of their addresses."""
        if self._client.status != "running":
            raise RowsGoneError(
                f"The connection to the Dask scheduler is {self._client.status}: start the cluster "
                f"again. With checkpoint=... the same fit resumes from its last sweep saved."
            )
        try:
            workers = self._client.scheduler_info(n_workers=-1)["workers"]
        except Exception as error:
            raise RowsGoneError(
                f"The Dask scheduler does not answer ({error}): start the cluster again. With "
                f"checkpoint=... the same fit resumes from its last sweep saved."
            ) from error
        return {address: workers[address]["nthreads"] for address in sorted(workers)}

    def _wait_for_workers(self) -> dict[str, int]:
        started = time.monotonic()
        while not (workers := self._workers()):
            if time.monotonic() - started > _MOST_AWAY:
                raise RowsGoneError(
                    f"The Dask cluster has had no worker for {_MOST_AWAY:.0f} seconds: start some. "
                    f"With checkpoint=... the same fit resumes from its last sweep saved."
                )
            time.sleep(0.2)
        return workers


class Spread(NamedTuple):
    """A Dask collection as an array."""

    X: Any
    """(n, d) Dask array of known length, in one chunk of columns."""
    names: list[str] | None
    """Names of its columns, where it is a frame."""


def is_dask(X: Any) -> bool:
    """Whether X is a Dask array or frame, without an import of Dask."""
    return hasattr(X, "__dask_graph__") and hasattr(X, "shape")


def spread(X: Any) -> Spread:
    """A Dask array or frame of numbers as an array of known length.

    Parameters
    ----------
    X : dask.array.Array or dask.dataframe.DataFrame
        All rows.
    """
    names = None
    if hasattr(X, "to_dask_array"):
        if not hasattr(X, "dtypes") or not hasattr(X, "columns"):
            raise TypeError(f"X must have rows and columns, got {type(X).__name__}.")
        names = [str(name) for name in X.columns]
        for name, dtype in zip(names, X.dtypes, strict=True):
            if getattr(dtype, "kind", "O") not in "fiub":
                raise TypeError(
                    f"column {name!r} of the Dask frame has type {dtype}: a frame of many workers "
                    f"must hold numbers alone; leave it out, or turn it into numbers."
                )
        X = X.astype("float64").to_dask_array(lengths=True)
    if X.ndim != 2:
        raise ValueError(f"X must have two dimensions, rows and columns, got {X.ndim}.")
    if X.dtype.kind not in "fiub":
        raise TypeError(f"X must hold numbers, got a Dask array of {X.dtype}.")
    if np.isnan(X.shape[0]):
        X = X.compute_chunk_sizes()
    return Spread(X if X.numblocks[1] == 1 else X.rechunk({1: -1}), names)


def current_client() -> Any:
    """The Dask client of this process."""
    distributed = import_distributed("a Dask collection")
    try:
        return distributed.get_client()
    except ValueError:
        raise ValueError(
            "X is a Dask collection, and there is no Dask client: make one first, for example "
            "client = dask.distributed.Client(), or give fit the rows themselves: X.compute()."
        ) from None


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


def versions_here() -> dict[str, str]:
    """Versions of what draws depend on, in the process that calls this."""
    from importlib import import_module

    return {name: import_module(name).__version__ for name in _PACKAGES}


def check_versions(client: Any, workers: Sequence[str]) -> None:
    """Refuse workers that have other versions than the client.

    Parameters
    ----------
    client : distributed.Client
        Of the cluster.
    workers : sequence of str
        Their addresses.
    """
    here = versions_here()
    for worker, there in client.run(versions_here, workers=workers, on_error="return").items():
        if isinstance(there, ModuleNotFoundError):
            raise RuntimeError(f"worker {worker} has no {there.name}: install it there, too.")
        if isinstance(there, OSError):
            raise PartLost(f"worker {worker} is lost")
        if isinstance(there, Exception):
            raise RuntimeError(f"worker {worker} cannot begin: {there}") from there
        for name, version in here.items():
            if there[name] != version:
                raise RuntimeError(
                    f"worker {worker} has {name} {there[name]}, and this process has {version}: "
                    f"install the same version, because draws depend on it."
                )


def _unreadable(said: str, error: Exception) -> RuntimeError:
    return RuntimeError(f"A chunk of {said} cannot be read: {type(error).__name__}: {error}")


def _but_pure(given: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in given.items() if name != "pure"}
