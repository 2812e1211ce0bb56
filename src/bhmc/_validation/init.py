"""Checks of `init`, where a chain starts: a name, or labels of the rows."""

import numpy as np
from numpy.typing import NDArray

from bhmc._validation.parameters import check_choice

STARTS = ("prior", "single", "singletons", "kmeans", "ward", "sample")

# Weights of all nodes and components are held in several arrays; this is the size of one, 128 MB.
_MOST_WEIGHTS = 2**24


def check_init(
    init, *, n_rows: int, n_levels: int, n_components: int | None
) -> str | NDArray[np.int64]:
    """`init` as a checked name, or as labels (n, m) of whole numbers, nested from coarse to fine.

    Parameters
    ----------
    init : str or array
        A name of `STARTS`, or labels (n,) or (n, m).
    n_rows, n_levels : int
        Rows of X and levels of the tree.
    n_components : int, optional
        K of the finite form: there may be no more groups than this.
    """
    if isinstance(init, str):
        check_choice(init, "init", STARTS)
        if init == "singletons":
            _check_size(n_rows, n_levels * n_rows, n_components)
        return init
    labels = _whole_labels(init)
    if labels.ndim == 1:
        labels = labels[:, None]
    if labels.ndim != 2 or not 1 <= labels.shape[1] <= n_levels:
        raise ValueError(
            f"init must hold a label a row, or a column of labels for each of 1 to {n_levels} "
            f"levels, got shape {np.shape(init)}."
        )
    if len(labels) != n_rows:
        raise ValueError(f"init has labels for {len(labels)} rows, but X has {n_rows}.")
    for column in range(1, labels.shape[1]):
        _check_nested(labels, column)
    sizes = [len(np.unique(column)) for column in labels.T]
    n_nodes = sum(sizes) + (n_levels - len(sizes)) * sizes[-1]
    _check_size(sizes[-1], n_nodes, n_components)
    return labels


def _whole_labels(init) -> NDArray[np.int64]:
    """Labels as whole numbers of at least 0."""
    try:
        labels = np.asarray(init)
    except ValueError:  # rows of different lengths
        labels = np.asarray(None)
    if labels.dtype.kind not in "fiu":
        names = ", ".join(repr(name) for name in STARTS)
        raise TypeError(
            f"init must be one of {names} or whole numbers that label the rows, "
            f"got {type(init).__name__} of dtype {labels.dtype}."
        )
    if labels.dtype.kind == "f" and np.isnan(labels).any():
        raise ValueError("init has NaN among its labels; every row needs one.")
    beyond = ~((labels >= 0) & (labels < 2**62) & (labels == np.floor(labels)))
    if beyond.any():
        raise ValueError(
            f"init must hold whole numbers of at least 0, got {labels[beyond][0]:g}; give a row "
            "without a group a label of its own."
        )
    return labels.astype(np.int64)


def _check_nested(labels: NDArray[np.int64], column: int) -> None:
    """Rows with the same label in a column have the same label in the column before it."""
    fine, coarse = labels[:, column], labels[:, column - 1]
    _, first, group = np.unique(fine, return_index=True, return_inverse=True)
    apart = np.flatnonzero(coarse != coarse[first][group])
    if len(apart):
        row, other = int(apart[0]), int(first[group[apart[0]]])
        raise ValueError(
            f"init must be nested, coarse to fine, but rows {other} and {row} share label "
            f"{fine[row]} in column {column} and have {coarse[other]} and {coarse[row]} in the "
            "column before."
        )


def _check_size(n_groups: int, n_nodes: int, n_components: int | None) -> None:
    """Refuse more groups than components, and more weights than memory should hold."""
    if n_components is not None and n_groups > n_components:
        raise ValueError(
            f"init has {n_groups} groups at its finest level, each with a component of its own, "
            f"but the number of components is fixed at {n_components}."
        )
    if (n_nodes + 1) * (n_components or n_groups) > _MOST_WEIGHTS:
        raise ValueError(
            f"init has {n_groups} groups in {n_nodes + 1} nodes, too many for their weights to be "
            "held in memory; start from fewer groups, for example with init='kmeans'."
        )
