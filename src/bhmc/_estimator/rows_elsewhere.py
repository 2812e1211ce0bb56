"""Data of `fit` that stay where they are: memory-mapped, in files read in blocks, with Dask."""

from __future__ import annotations

from typing import Any

import numpy as np

from bhmc._estimator.rows_of_fit import RowsElsewhere
from bhmc._estimator.sizes import AUTO, ROWS_FOR_A_SAMPLE, threads_for
from bhmc._extras import import_pandas
from bhmc.rows.dask import DaskHolder, Spread, client_of, is_dask, spread
from bhmc.rows.parted import Holder, HolderHere
from bhmc.rows.sources import ArraySource, Source, is_source
from bhmc.rows.sources.zarr_arrays import chunked_source, is_chunked


def source_of(X: Any) -> Source | None:
    """X as a table that is read in blocks; None where it is none.

    Parameters
    ----------
    X : object
        What a user gives for data.
    """
    if is_source(X):
        return X
    if isinstance(X, np.memmap) and X.ndim == 2 and X.dtype.kind in "fiub":
        return ArraySource(X)
    return chunked_source(X) if is_chunked(X) else None


def in_memory(X: Any) -> Any:
    """X, or all of its rows where they are few and elsewhere.

    Parameters
    ----------
    X : object
        What a user gives for data.
    """
    if is_dask(X):
        found = spread(X)
        return found if found.X.shape[0] >= ROWS_FOR_A_SAMPLE else X.compute()
    source = source_of(X)
    if source is None or source.shape[0] >= ROWS_FOR_A_SAMPLE:
        return X
    rows = np.array(source.read(slice(0, source.shape[0])))
    return rows if source.names is None else _frame(rows, source.names)


def rows_elsewhere(model: Any, X: Any) -> RowsElsewhere | None:
    """All rows of a fit where they stay where they are; None where X is in memory.

    Parameters
    ----------
    model : BHMC
        The estimator.
    X : object
        What `in_memory` gave.
    """
    holder = _holder_of(model, X)
    if holder is None:
        return None
    check_settings(model, holder.said)
    found = RowsElsewhere(holder)
    if isinstance(model.likelihood, str) and model.likelihood == AUTO:
        found.check_flags()
    return found


def _holder_of(model: Any, X: Any) -> Holder | None:
    """Who holds the rows, where they are not in memory."""
    if isinstance(X, Spread):
        return DaskHolder(X.X, client_of(X.X), X.names, model.precision)
    source = source_of(X)
    return None if source is None else HolderHere(source, threads_for(model), model.precision)


def _frame(rows: Any, names: Any) -> Any:
    """Rows with the names of their columns."""
    return import_pandas("a table with names of columns").DataFrame(rows, columns=list(names))


def check_settings(model: Any, said: str) -> None:
    """Refuse what needs all rows in memory.

    Parameters
    ----------
    model : BHMC
        The estimator.
    said : str
        What the rows are.
    """
    start = model.init if isinstance(model.init, str) else "labels"
    wanted = {
        "transition": (_name(model.transition), (AUTO, "diffused", "gaussian")),
        "sampler": (model.sampler, (AUTO, "blocked")),
        "init": (start, (AUTO, "sample")),
        "hyper": (model.hyper, ("exact",)),
        "fixed_components": (model.fixed_components, (None,)),
        "columns": (model.columns, (None,)),
    }
    for name, (value, allowed) in wanted.items():
        if value not in allowed:
            raise ValueError(
                f"{name}={value!r} needs all rows in memory, and these stay in {said}: use "
                f"{name}={' or '.join(map(repr, allowed))}, or load the rows first."
            )


def _name(transition: Any) -> Any:
    return getattr(transition, "name", transition)
