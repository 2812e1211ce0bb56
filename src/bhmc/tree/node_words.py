"""Words that set nodes apart from their siblings, from what is known of components.

A word is in a or c texts of the node and of its siblings, and not in b or d of them. Words are
ranked by the signed root of the log likelihood ratio of "the shares differ" to "they do not", as
in `node_features`; the value is the log odds ratio with 1/2 added to every cell. Only words that
the node has more of are named, and only those whose statistic is above what chance makes of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from bhmc.tree.index import uppermost
from bhmc.tree.node_features import share_ratio

if TYPE_CHECKING:
    from bhmc.tree import Tree

# Words with a smaller statistic are not named: two groups differ so much by chance.
_LEAST_STATISTIC = 2.0


def words_of(
    tree: Tree,
    table: sparse.csr_array,
    shares: NDArray[np.float64],
    nodes: NDArray[np.int64],
    n: int,
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The n words that most set each node apart from its siblings: (nodes, n) numbers and log odds.

    A place that no word fills has the value 0.

    Parameters
    ----------
    tree : Tree
        Whose nodes they are.
    table : (n_nodes, K) sparse array
        Data of each component under each node.
    shares : (K, w) array
        Share of each component's texts that have each word.
    nodes : (m,) array
        Ids of nodes.
    n : int
        Most words of a node.
    """
    top = uppermost(tree.parents, tree.sizes)[nodes]
    parents = np.maximum(tree.parents[top], 0)
    size, above = (tree.sizes[those].astype(np.float64)[:, None] for those in (nodes, parents))
    inside = np.minimum(table[nodes] @ shares, size)  # of sums of shares the last digits are off
    beside = np.clip(table[parents] @ shares - inside, 0.0, above - size)
    with np.errstate(divide="ignore", invalid="ignore"):
        more = inside / size > beside / (above - size)
    ratio, odds = share_ratio(inside, size - inside, beside, above - size - beside)
    statistic = np.where(more & (above > size), np.sqrt(np.maximum(ratio, 0.0)), 0.0)
    n = min(n, shares.shape[1])
    order = np.argsort(-statistic.round(6), axis=1, kind="stable")[:, :n]
    best = np.take_along_axis(statistic, order, axis=1)
    return order, np.where(best >= _LEAST_STATISTIC, np.take_along_axis(odds, order, axis=1), 0.0)
