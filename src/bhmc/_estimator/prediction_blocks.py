"""Answers for rows that stay where they are: block by block, or lazily where Dask has them."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bhmc._estimator.empty_rows import EmptyRowsWarning
from bhmc._estimator.rows_elsewhere import source_of
from bhmc._estimator.table_reading import fitted_names, width_of
from bhmc._io.atomic_write import atomic_path, is_stream
from bhmc._io.npy_file import new_npy, write_npy
from bhmc.likelihoods.block_sums import ROWS_PER_BLOCK
from bhmc.likelihoods.blocks import slices
from bhmc.rows.dask import is_dask
from bhmc.rows.sources import Source


class Block(NamedTuple):
    """Some rows of a table that is read in blocks: numbers, with the columns that were fitted."""

    X: NDArray[np.float64]
    """(m, d) the rows."""


class Answer(NamedTuple):
    """What a method of `Prediction` found."""

    values: NDArray
    """(n,) or (n, m) array, or a Dask array."""
    empty: NDArray[np.bool_]
    """(n,) which rows have no entry; where Dask has them it is not known, and nobody is named."""


class Question(NamedTuple):
    """A method of a fitted model that answers for rows in memory, with `Answer`."""

    method: str
    given: dict[str, Any]
    width: int | None
    """Columns of the answer; None: one value for each row."""
    dtype: type

    def ask(self, model: Any, X: Any) -> Answer:
        """The answer for rows in memory.

        Parameters
        ----------
        model : BHMC
            A fitted model.
        X : (n, d) array, frame or Block
            The rows.
        """
        return getattr(model, self.method)(X, **self.given)


def answered(model: Any, question: Question, X: Any, out: Any = None) -> Answer:
    """The answer for rows wherever they are.

    Parameters
    ----------
    model : BHMC
        A fitted model.
    question : Question
        What is asked.
    X : array, frame, table that is read in blocks, or Dask collection
        The rows.
    out : path-like, optional
        A .npy file that the values are written into, block by block.
    """
    if is_dask(X):
        if out is not None:
            raise ValueError(
                "out= is for rows in memory or in a file: write the Dask array that comes back as "
                "any other, with to_zarr for example."
            )
        return Answer(_lazily(model, question, X), np.zeros(0, dtype=bool))
    if out is None:
        return _here(model, question, X)
    path = Path(out)
    if path.suffix != ".npy":
        raise ValueError(f"out must name a .npy file, got {path.name!r}.")
    if is_stream(path):  # what goes into a pipe cannot be read again
        found = _here(model, question, X)
        write_npy(path, found.values)
        return found
    with atomic_path(path) as part:  # a table that cannot be read to its end leaves no half of it
        found = _here(model, question, X, part)
    return found._replace(values=np.load(path, mmap_mode="r"))


def check_block(model: Any, X: NDArray) -> NDArray[np.float64]:
    """The rows of a block, none of whose numbers is infinite.

    Parameters
    ----------
    model : BHMC
        A fitted model.
    X : (m, d) array
        Rows with the columns of the fit.
    """
    _check_width(model, X.shape[1], "X")
    if np.isinf(X).any():
        j = np.argwhere(np.isinf(X))[0, 1]
        names = fitted_names(model)
        column = f"column {j}" if names is None else f"column {names[j]!r}"
        raise ValueError(
            f"{column} of X holds an infinite number: mend it, or make it a missing entry (NaN)."
        )
    return X


# ---- In memory and in files ----------------------------------------------------------------------


def _here(model: Any, question: Question, X: Any, part: Path | None = None) -> Answer:
    """The answer of this process; its values are in a file where one is named."""
    source = source_of(X)
    if source is not None:
        return _block_by_block(model, question, source, part)
    found = question.ask(model, X)
    if part is not None:
        write_npy(part, found.values)
    return found


def _block_by_block(model: Any, question: Question, source: Source, part: Path | None) -> Answer:
    check_columns(model, source.shape[1], source.names, source.describe())
    n = source.shape[0]
    values, empty = _room(n, question, part), np.zeros(n, dtype=bool)
    for rows in slices(n, ROWS_PER_BLOCK):
        found = question.ask(model, Block(source.read(rows)))
        values[rows], empty[rows] = found
    if part is not None:
        values.flush()
    return Answer(values, empty)


def _room(n: int, question: Question, part: Path | None) -> Any:
    """Where values go: memory, or a file."""
    shape = (n,) if question.width is None else (n, question.width)
    if part is None:
        return np.empty(shape, dtype=question.dtype)
    return new_npy(part, np.dtype(question.dtype), shape)


# ---- With Dask ---------------------------------------------------------------------------------


def _lazily(model: Any, question: Question, X: Any) -> Any:
    """A Dask array of the values; nothing is computed yet."""
    from dask.delayed import delayed

    names = [str(name) for name in X.columns] if hasattr(X, "columns") else None
    rows = X.astype("float64").to_dask_array() if names is not None else X
    if rows.ndim != 2:
        raise ValueError(f"X must have two dimensions, rows and columns, got {rows.ndim}.")
    check_columns(model, rows.shape[1], names, "the Dask collection")
    if rows.numblocks[1] > 1:
        rows = rows.rechunk({1: -1})
    # One copy of the model travels to each worker, and not one with each block.
    sent = delayed(model, pure=True, traverse=False)
    shape = (
        {"drop_axis": 1} if question.width is None else {"chunks": (rows.chunks[0], question.width)}
    )
    empty = np.empty((0,) * (1 if question.width is None else 2), dtype=question.dtype)
    work = partial(_of_a_chunk, question=question)
    return rows.map_blocks(work, model=sent, dtype=question.dtype, meta=empty, **shape)


def _of_a_chunk(X: NDArray, model: Any, question: Question) -> NDArray:
    """The values of a chunk, on a worker: nobody there reads warnings."""
    if not len(X):
        shape = (0,) if question.width is None else (0, question.width)
        return np.empty(shape, dtype=question.dtype)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EmptyRowsWarning)
        return question.ask(model, Block(np.asarray(X, dtype=np.float64))).values


# ---- Columns -----------------------------------------------------------------------------------


def check_columns(model: Any, width: int, names: Sequence[str] | None, said: str) -> None:
    """Refuse a table whose columns are not those that were fitted.

    Parameters
    ----------
    model : BHMC
        A fitted model.
    width : int
        Columns of the table.
    names : sequence of str, optional
        Their names.
    said : str
        What the table is.
    """
    _check_width(model, width, said)
    known = fitted_names(model)
    if known is None or names is None or list(names) == known:
        return
    j = next(j for j, (one, other) in enumerate(zip(names, known, strict=True)) if one != other)
    raise ValueError(
        f"column {j} of {said} is {names[j]!r}, and fit saw {known[j]!r} there: give the columns "
        f"of the fit in their order, as with open_rows(..., columns=[...])."
    )


def _check_width(model: Any, width: int, said: str) -> None:
    if width != width_of(model):
        raise ValueError(f"{said} has {width} columns, and {width_of(model)} were fitted.")
