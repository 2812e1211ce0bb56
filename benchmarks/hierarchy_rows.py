"""Rows of a known hierarchy, as many as wanted: 4 groups x 3 subgroups x 3 leaves x 2 Gaussians.

Sibling groups are 9 noise widths apart, subgroups 6, leaves 4, and the two Gaussians of a leaf 4.
Workers make rows by this file too, so it imports NumPy alone.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

BRANCHES, APART = (4, 3, 3, 2), (9.0, 6.0, 4.0, 4.0)
_BLOCK = 2**16


class Hierarchy(NamedTuple):
    """Where rows come from."""

    means: NDArray[np.float64]
    """(72, d) of the Gaussians, whose noise has variance 1."""
    labels: NDArray[np.int64]
    """(72, 4) the group, subgroup, leaf and Gaussian of each."""


def hierarchy(d: int = 16, seed: int = 0) -> Hierarchy:
    """Centres of siblings lie in random directions from their parent's, so far from each other.

    Parameters
    ----------
    d : int, default=16
        Columns.
    seed : int, default=0
        Of the directions.
    """
    rng, means, labels = np.random.default_rng(seed), np.zeros((1, d)), np.zeros((1, 0), dtype=int)
    for width, apart in zip(BRANCHES, APART, strict=True):
        steps = np.concatenate([_siblings(width, d, rng) for _ in means])
        parent = np.repeat(np.arange(len(means)), width)
        means = means[parent] + apart * steps
        labels = np.column_stack([labels[parent], np.arange(len(means))])
    return Hierarchy(means, labels)


def _siblings(width: int, d: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """(width, d) corners of a regular simplex of edge 1 around 0, turned at random."""
    corners = np.eye(width) - 1 / width
    turn = np.linalg.qr(rng.standard_normal((d, width)))[0]
    return corners @ turn.T / np.sqrt(2.0)


def rows_of(tree: Hierarchy, n: int, seed: int = 1) -> tuple[NDArray, NDArray]:
    """(X, number of each row's Gaussian); made in blocks, each with a seed of its own.

    Parameters
    ----------
    tree : Hierarchy
        Where rows come from.
    n : int
        How many.
    seed : int, default=1
        Of the rows.
    """
    X, component = np.empty((n, tree.means.shape[1])), np.empty(n, dtype=np.int32)
    for first in range(0, n, _BLOCK):
        rows = slice(first, min(first + _BLOCK, n))
        X[rows], component[rows] = block_of(tree, first, rows.stop - first, seed)
    return X, component


def block_of(tree: Hierarchy, first: int, n: int, seed: int = 1) -> tuple[NDArray, NDArray]:
    """The rows of one block, which begins at row `first`.

    Parameters
    ----------
    tree : Hierarchy
        Where rows come from.
    first, n : int
        The first row of the block, and how many there are.
    seed : int, default=1
        Of all rows.
    """
    rng = np.random.default_rng([seed, first])
    component = rng.integers(len(tree.means), size=n)
    return tree.means[component] + rng.standard_normal((n, tree.means.shape[1])), component


def nearest(tree: Hierarchy, X: NDArray) -> NDArray[np.int64]:
    """The Gaussian that each row comes from most probably: what the truth itself would guess.

    Parameters
    ----------
    tree : Hierarchy
        Where rows come from.
    X : (n, d) array
        Rows.
    """
    half = 0.5 * (tree.means**2).sum(axis=1)
    found = np.empty(len(X), dtype=np.int64)
    for first in range(0, len(X), _BLOCK):
        rows = slice(first, first + _BLOCK)
        found[rows] = np.argmax(X[rows] @ tree.means.T - half, axis=1)
    return found


def chunk_of(number: int, height: int, d: int) -> NDArray[np.float64]:
    """(height, d) rows of one chunk of many, made by whoever asks for it.

    Parameters
    ----------
    number : int
        Of the chunk.
    height, d : int
        Rows and columns.
    """
    return block_of(hierarchy(d), number, height)[0]
