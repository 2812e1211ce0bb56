"""How large a run folder may be: twice the data and 20 MB, and what is left of that for draws."""

import copy
from typing import Any

import numpy as np

from bhmc import BHMC
from bhmc._io.tables.read import Table
from bhmc.posterior.retention import draws_within

# Bytes beyond twice the data.
_BEYOND_DATA = 20_000_000

# Bytes that a row takes at most, as deflated, in the model file (paths, components, scores) and in
# the checkpoint of each chain (leaf, component, weight).
_ROW_OF_MODEL, _ROW_OF_CHAIN = 40, 12

# Headers and names in the files of a small run. Less than this is never left for draws: it is
# room for some even where rows have few columns and the files of rows alone fill the folder.
_HEADERS, _LEAST_ROOM = 1_000_000, 4_000_000


def size_limit(table: Table) -> int:
    """Bytes that the folder of a finished run may take: twice the data as float64, and 20 MB.

    Parameters
    ----------
    table : Table
        The data. Of a sparse matrix only the entries that are not 0 count.
    """
    matrix: Any = table.matrix
    n_entries = matrix.nnz if hasattr(matrix, "nnz") else int(np.prod(table.shape))
    return 2 * 8 * n_entries + _BEYOND_DATA


def room_for_draws(model: BHMC, table: Table, n_texts: int) -> int:
    """Bytes that partitions, mixtures and whole draws may take, in all files of the folder.

    Parameters
    ----------
    model : BHMC
        Fitted.
    table : Table
        Its data.
    n_texts : int
        Bytes of the tree, the assignments and the numbers of draws as text.
    """
    rows, draws = table.shape[0], model.draws_
    n_numbers = sum(value.nbytes for value in draws.numbers().values())
    of_rows = rows * (_ROW_OF_MODEL + draws.n_chains * _ROW_OF_CHAIN)
    left = size_limit(table) - n_texts - 2 * n_numbers - of_rows - _HEADERS
    return max(left, _LEAST_ROOM)


def with_fewer_draws(model: BHMC, most_bytes: int) -> BHMC:
    """The model, or where its draws are larger, a copy that shares all but some of them.

    Parameters
    ----------
    model : BHMC
        Fitted.
    most_bytes : int
        What partitions and mixtures may take.
    """
    fewer = draws_within(model.draws_, most_bytes)
    if _kept(fewer) == _kept(model.draws_):
        return model
    written = copy.copy(model)
    written.draws_ = fewer
    return written


def said_of_fewer(model: BHMC, written: BHMC) -> str:
    """Which draws have their trees and mixtures in the folder, in a sentence.

    Parameters
    ----------
    model, written : BHMC
        The fit, and what was written of it.
    """
    pairs = zip(_kept(written.draws_), _kept(model.draws_), ("trees", "mixtures"), strict=True)
    fewer = [
        f"the {what} of {kept:,} of {of_all:,} draws"
        for kept, of_all, what in pairs
        if kept < of_all
    ]
    return (
        f"The tree and all results are those of all draws. To keep the folder below twice the data "
        f"and 20 MB, it has {' and '.join(fewer)}, evenly spaced."
    )


def _kept(draws) -> tuple[int, int]:
    return len(draws.partitions), len(draws.mixtures)
