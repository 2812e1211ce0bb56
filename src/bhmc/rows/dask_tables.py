"""Dask collections as tables of rows, and the client whose cluster is to hold them."""

from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from bhmc._extras import import_distributed

_NUMBERS = "fiub"


class Spread(NamedTuple):
    """A Dask collection as an array."""

    X: Any
    """(n, d) Dask array of known length, in one chunk of columns."""
    names: list[str] | None
    """Names of its columns, where it is a frame."""


def is_dask(X: Any) -> bool:
    """Whether X is a Dask collection, without an import of Dask.

    Parameters
    ----------
    X : object
        What a user gives for data.
    """
    ours = type(X).__module__.partition(".")[0] in ("dask", "dask_expr")
    return ours and hasattr(type(X), "__dask_graph__")


def spread(X: Any) -> Spread:
    """A Dask array or frame of numbers as an array of known length.

    Parameters
    ----------
    X : dask.array.Array or dask.dataframe.DataFrame
        All rows; left as it is.
    """
    names = None
    if hasattr(type(X), "to_dask_array"):
        names = _checked_names(X)
        X = X.astype("float64").to_dask_array(lengths=True)
    if not hasattr(type(X), "compute_chunk_sizes"):
        raise TypeError(f"X must be a Dask array or a Dask frame, got {type(X).__name__} of Dask.")
    if X.ndim != 2:
        raise ValueError(f"X must have two dimensions, rows and columns, got {X.ndim}.")
    if X.dtype.kind not in _NUMBERS:
        raise TypeError(f"X must hold numbers, got a Dask array of {X.dtype}.")
    if np.isnan(X.shape).any():
        X = X.copy().compute_chunk_sizes()  # it changes what it is a method of
    return Spread(X if X.numblocks[1] == 1 else X.rechunk({1: -1}), names)


def _checked_names(X: Any) -> list[str]:
    """The names of a frame's columns, each of which holds numbers."""
    if not hasattr(type(X), "dtypes") or X.ndim != 2:
        raise TypeError(f"X must have rows and columns, got {type(X).__name__} of Dask.")
    names = [str(name) for name in X.columns]
    for name, dtype in zip(names, X.dtypes, strict=True):
        if getattr(dtype, "kind", "O") not in _NUMBERS:
            raise TypeError(
                f"column {name!r} of the Dask frame has type {dtype}: a frame of many workers "
                f"must hold numbers alone; leave it out, or turn it into numbers."
            )
    return names


def client_of(X: Any) -> Any:
    """The client whose cluster keeps parts of X already, or else the current one.

    Within a task of a worker, the task leaves its thread to others: its rows are loaded there.

    Parameters
    ----------
    X : dask.array.Array
        All rows.
    """
    distributed = import_distributed("a Dask collection")
    kept = distributed.futures_of(X)
    try:
        client = kept[0].client if kept else distributed.get_client()
    except ValueError:
        raise ValueError(
            "X is a Dask collection, and there is no Dask client: make one first, for example "
            "client = dask.distributed.Client(), or give fit the rows themselves: X.compute()."
        ) from None
    if client.asynchronous:
        raise ValueError(
            "X is a Dask collection, and its client is asynchronous: fit in a thread, with a "
            "client made by dask.distributed.Client(...)."
        )
    _leave_the_thread_of_a_task(distributed)
    return client


def _leave_the_thread_of_a_task(distributed: Any) -> None:
    """As `dask.compute` does within a task: a worker of one thread would wait for itself."""
    from dask.context import thread_state

    if getattr(thread_state, "key", None) and not getattr(thread_state, "actor", False):
        with suppress(KeyError):  # it has left already, as within `worker_client`
            distributed.secede()


def are_gone(X: Any) -> bool:
    """Whether parts of X that workers kept (by `persist`, or `scatter`) cannot be had any more.

    Parameters
    ----------
    X : dask.array.Array
        All rows.
    """
    kept = import_distributed("a Dask collection").futures_of(X)
    return any(future.status in ("cancelled", "lost", "error") for future in kept)
