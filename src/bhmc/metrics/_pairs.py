"""Class numbers from labels of any kind, and how many data each class and cluster share."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray


class Overlaps(NamedTuple):
    """The cells of the table of classes by clusters that are not 0."""

    classes: NDArray[np.int64]
    clusters: NDArray[np.int64]
    shared: NDArray[np.int64]
    """How many data are in both."""
    class_sizes: NDArray[np.int64]
    cluster_sizes: NDArray[np.int64]


def codes(labels: ArrayLike, name: str) -> NDArray[np.int64]:
    """(n,) labels of any kind as 0, 1, ..."""
    array = np.asarray(labels)
    if array.ndim != 1:
        raise ValueError(f"{name} must hold one label for each datum, got shape {array.shape}.")
    if not len(array):
        raise ValueError(f"{name} must hold at least one label, and it is empty.")
    missing = np.flatnonzero(_is_missing(array))
    if len(missing):
        raise ValueError(
            f"{name} must hold a label for every datum, and that of row {missing[0]} is missing: "
            "leave such data out."
        )
    return np.unique(array, return_inverse=True)[1].astype(np.int64)


def _is_missing(array: NDArray[Any]) -> NDArray[np.bool_]:
    """Where there is no label: None, or NaN, which is not equal to itself."""
    if array.dtype.kind == "O":
        return np.array([label is None or label != label for label in array], dtype=bool)
    return array != array


def two_codes(truth: ArrayLike, labels: ArrayLike) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Both labelings as numbers, if they are of one length."""
    classes, clusters = codes(truth, "truth"), codes(labels, "labels")
    if len(classes) != len(clusters):
        raise ValueError(
            "truth and labels must hold one label for each datum, "
            f"got {len(classes)} and {len(clusters)}."
        )
    return classes, clusters


def overlaps(truth: ArrayLike, labels: ArrayLike) -> Overlaps:
    """The cells where classes and clusters share data, without a table of all cells."""
    classes, clusters = two_codes(truth, labels)
    n_clusters = int(clusters.max()) + 1
    cells, shared = np.unique(classes * n_clusters + clusters, return_counts=True)
    return Overlaps(
        *np.divmod(cells, n_clusters), shared, np.bincount(classes), np.bincount(clusters)
    )
