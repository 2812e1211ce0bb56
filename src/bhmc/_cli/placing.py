"""Where rows that are read in blocks belong: a record for each of them in a `.npy` file."""

import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bhmc import BHMC
from bhmc._cli.blocks import TableInBlocks
from bhmc._cli.folder import written
from bhmc._cli.results import refusals_of
from bhmc._estimator.empty_rows import NOWHERE, EmptyRowsWarning
from bhmc._estimator.prediction_blocks import Block
from bhmc._io.npy_file import new_npy
from bhmc._io.tables.frame import frame_of
from bhmc.likelihoods.block_sums import ROWS_PER_BLOCK
from bhmc.likelihoods.blocks import slices

# The fields of a row, named as the columns of assignments.csv; numbers of `bhmc predict` follow.
FIELDS = {"leaf": np.int32, "label": np.int32, "component": np.int32}

Fields = Mapping[str, NDArray]


def nodes_of(model: BHMC, X: Any) -> dict[str, NDArray]:
    """The most probable leaf of each row, by node and by number, and its component.

    Parameters
    ----------
    model : BHMC
        Fitted.
    X : (m, d) array or frame
        Rows.
    """
    label = model.predict(X)
    leaf = np.where(label == NOWHERE, NOWHERE, model.tree_.leaves[label])
    return {"leaf": leaf, "label": label, "component": model.predict_component(X)}


def write_places(
    path: Path,
    model: BHMC,
    table: TableInBlocks,
    fields: Mapping[str, Any] = FIELDS,
    of_rows: Callable[[BHMC, Any], Fields] = nodes_of,
    framed: bool = False,
) -> int:
    """Write a record for each row of a table, block by block; how many rows have no entry.

    Parameters
    ----------
    path : Path
        The `.npy` file: an array of records, which `np.load(path, mmap_mode="r")` opens.
    model : BHMC
        Fitted.
    table : TableInBlocks
        The rows.
    fields : mapping
        The type of each field.
    of_rows : callable
        The fields of some rows.
    framed : bool, default=False
        Whether the model was fitted to a frame.
    """
    n_empty, dtype = 0, np.dtype([(name, kind) for name, kind in fields.items()])
    with written(path) as part, _quiet(), refusals_of(table):
        found = new_npy(part, dtype, table.shape[:1])
        for rows, X in _blocks(table, framed):
            for name, values in of_rows(model, X).items():
                found[name][rows] = values
            n_empty += int((found["label"][rows] == NOWHERE).sum())
        found.flush()
    return n_empty


def _blocks(table: TableInBlocks, framed: bool) -> Iterator[tuple[slice, Any]]:
    for rows in slices(table.shape[0], ROWS_PER_BLOCK):
        X = table.matrix.read(rows)
        yield rows, frame_of(table.names, list(X.T), None) if framed else Block(X)


def _quiet() -> Any:
    """Rows without an entry are counted, not warned of block by block."""
    return warnings.catch_warnings(action="ignore", category=EmptyRowsWarning)
