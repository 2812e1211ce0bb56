"""Which rows are in a page, and what the page says of them."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from bhmc._explorer.container import Arrays, floats, texts
from bhmc._explorer.effects import Members
from bhmc._explorer.sources import Source
from bhmc.posterior.summary import evenly_spaced
from bhmc.tree import Tree

# The oddest rows that are always in, and rows of every leaf (fewer where leaves are many).
_MOST_ODD, _MOST_OF_LEAF = 100, 20


def chosen_rows(
    tree: Tree, most: int, scores: NDArray[np.float64] | None, members: Iterable[Members]
) -> NDArray[np.int64]:
    """Numbers of at most so many rows, in order; all rows if they are few enough.

    The oddest rows come in first, then typical and borderline members of nodes, then some rows of
    every leaf, then others evenly spaced in the order of the tree.

    Parameters
    ----------
    tree : Tree
        The tree.
    most : int
        Most rows.
    scores : (n,) array, optional
        How odd each row is.
    members : iterable of Members
        Those of nodes that have any.
    """
    n = len(tree.paths)
    if n <= most:
        return np.arange(n)
    wanted = [
        oddest(scores, min(_MOST_ODD, most)),
        np.array([row for one in members for kind in one for row in kind], dtype=np.int64),
        _of_every_leaf(tree, most),
    ]
    first = first_different(np.concatenate(wanted), most)
    rest = tree._index.rows[~np.isin(tree._index.rows, first)]
    return np.sort(np.append(first, rest[evenly_spaced(len(rest), most - len(first))]))


def first_different(values: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """The first different values, at most so many, in the order in which they come.

    Parameters
    ----------
    values : array of int
        Values, some of them more than once.
    most : int
        How many.
    """
    _, first = np.unique(values, return_index=True)
    return values[np.sort(first)[:most]]


def oddest(scores: NDArray[np.float64] | None, most: int) -> NDArray[np.int64]:
    """Rows with the highest outlier scores, the highest first.

    Parameters
    ----------
    scores : (n,) array, optional
        How odd each row is; NaN where it is not known.
    most : int
        How many.
    """
    if scores is None:
        return np.empty(0, dtype=np.int64)
    known = np.nan_to_num(np.asarray(scores, dtype=np.float64), nan=-1.0)
    order = np.argsort(-known, kind="stable")[:most]
    return order[known[order] >= 0]


def item_arrays(source: Source, rows: NDArray[np.int64], support: NDArray | None) -> Arrays:
    """The arrays with an entry for every item, but for their places in trees.

    Parameters
    ----------
    source : Source
        What the page is made of.
    rows : array of int
        The rows that are in the page.
    support : (n, n_levels + 1) array, optional
        How sure the place of every row is, level by level.
    """
    tree, scores = source.tree, source.outlier_scores
    unknown = np.full((len(rows), tree.n_levels + 1), np.nan)
    found = {
        "items.row": rows.astype("<u4"),
        "items.component": (tree.components[rows] if tree.has_mixtures else 0 * rows - 1).astype(
            "<i4"
        ),
        "items.outlier": floats(unknown[:, 0] if scores is None else np.asarray(scores)[rows]),
        "items.support": floats(unknown if support is None else support[rows]),
    }
    return found | texts("items.names", names_of(tree, rows))


def names_of(tree: Tree, rows: NDArray[np.int64]) -> list[object]:
    """What some rows are called: their names, or "row 17".

    Parameters
    ----------
    tree : Tree
        The tree.
    rows : array of int
        Row numbers.
    """
    if tree.names is None:
        return [f"row {row}" for row in rows.tolist()]
    return [tree.names[row] for row in rows.tolist()]


def _of_every_leaf(tree: Tree, most: int) -> NDArray[np.int64]:
    """Rows of every leaf, evenly spaced within it: in all half of the page at most."""
    leaves = tree.leaves
    share = min(_MOST_OF_LEAF, most // (2 * len(leaves)))
    if not share:
        return np.empty(0, dtype=np.int64)
    index, sizes = tree._index, tree.sizes[leaves]
    step = np.arange(share)
    # Place j of `share` places within a leaf of s rows is j s / share; small leaves repeat rows.
    places = index.first_row[leaves][:, None] + step * sizes[:, None] // share
    return index.rows[places.ravel()]
