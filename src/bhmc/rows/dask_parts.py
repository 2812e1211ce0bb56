"""A part of all rows with a worker: an actor there, and what asks it from here."""

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from bhmc.rows.part import RowsPart
from bhmc.rows.parted import PartLost
from bhmc.rows.sources import Pieces

# Seconds after which a worker that has not answered is looked for.
BETWEEN_LOOKS = 2.0
_BETWEEN_GLANCES = 0.005


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


def rows_between(chunk: Any, low: int, high: int) -> Any:
    """Some rows of a chunk.

    Parameters
    ----------
    chunk : (m, d) array
        The chunk.
    low, high : int
        The first of them, and the row after the last.
    """
    return chunk[low:high]


def _in_chunks(chunks: Sequence[Any]) -> Pieces:
    """Arrays that a worker holds, one after the other, as a table."""
    held = [_own(np.asarray(chunk)) for chunk in chunks]
    lengths, n_columns = [len(chunk) for chunk in held], held[0].shape[1]
    return Pieces(lengths, n_columns, held.__getitem__, "a Dask array")


def _own(chunk: Any) -> np.ndarray:
    """The rows as doubles, without others: a slice would keep the whole chunk in memory."""
    rows = np.ascontiguousarray(chunk, dtype=np.float64)
    whole = rows
    while isinstance(whole.base, np.ndarray):
        whole = whole.base
    return rows.copy() if whole.nbytes > rows.nbytes else rows


class FarPart:
    """A part with a worker, asked from here.

    Parameters
    ----------
    client : distributed.Client
        Of the cluster.
    worker : str
        The worker's address.
    future : distributed.Future
        Of the actor.
    is_there : callable
        Whether a worker, by its address, is still there.
    """

    def __init__(self, client: Any, worker: str, future: Any, is_there: Callable[[str], bool]):
        self._client, self.worker, self._future = client, worker, future
        self._is_there, self._is_lost = is_there, False
        self._actor: Any = None
        self._last: Any = None

    @property
    def is_lost(self) -> bool:
        """Whether nobody holds the part any more, as far as is known without asking."""
        return self._is_lost or self._future.status != "finished"

    def wait_until_made(self) -> Exception | None:
        """The exception that the making of the part ended with; None if it is made."""
        looked = time.monotonic()
        while self._future.status == "pending":
            time.sleep(_BETWEEN_GLANCES)
            if time.monotonic() - looked > BETWEEN_LOOKS:
                if not self._is_there(self.worker):
                    raise self.lost()
                looked = time.monotonic()
        if self._future.status == "error":
            return self._future.exception()
        if self._future.status != "finished":
            raise self.lost()
        self._actor = self._found()
        return None

    def _found(self) -> Any:
        """The actor of this client: the one of `Future.result` may belong to another client."""
        from distributed import Actor

        with self._client.as_current():
            return Actor(PartOfWorker, self.worker, self._future.key)

    def ask(self, method: str, *given: Any) -> "_Waiting":
        """Begin to ask.

        Parameters
        ----------
        method : str
            Of `RowsPart`.
        *given : object
            What the method is given.
        """
        if self._is_lost:  # a question to an actor that is gone leaves pages in the log
            raise self.lost()
        try:
            self._last = self._actor.answer(method, *given)
            return _Waiting(self, self._last)
        except Exception as error:
            raise self.lost(error) from error

    def looks_there(self) -> bool:
        """Whether the part is not known to be lost, and its worker is there."""
        return not self.is_lost and self._is_there(self.worker)

    def lost(self, error: Exception | None = None) -> PartLost:
        """What is raised where the worker did not answer.

        Parameters
        ----------
        error : Exception, optional
            What it was noticed by.
        """
        self._is_lost = True
        return PartLost(f"worker {self.worker} is lost" + (f" ({error})" if error else ""))

    def let_go(self) -> Any:
        """The future of the actor, which nobody is to ask any more.

        A question on its way would find no actor, and leave pages in the log.
        """
        if self._last is not None and not self.is_lost:
            with suppress(Exception):
                self._last.result(timeout=BETWEEN_LOOKS)
        self._is_lost = True
        return self._future


class _Waiting:
    """An answer of a worker, which may be lost before it is there."""

    def __init__(self, part: FarPart, answer: Any):
        self._part, self._answer = part, answer

    def result(self) -> Any:
        """The answer; `PartLost` where the worker is gone."""
        while True:
            try:
                went_well, value = self._answer.result(timeout=BETWEEN_LOOKS)
                break
            except TimeoutError as error:
                if self._answer.done() or not self._part.looks_there():
                    raise self._part.lost(error) from None
            except Exception as error:
                raise self._part.lost(error) from error
        if went_well:
            return value
        raise value
