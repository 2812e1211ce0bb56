"""Two ways to make a tree flat, so that it can be compared with one level of true classes."""

import numpy as np
from numpy.typing import NDArray

from bhmc._validation.parameters import check_whole
from bhmc.tree import Tree
from bhmc.tree.cuts import cut_into


def cut_by_depth(tree: Tree, level: int) -> NDArray[np.int32]:
    """(n,) the node of each datum `level` steps below the root, the paper's way to compare levels.

    Below its last level a tree goes on with its leaves. Trees of many splits in two reach few
    clusters so, and bushy ones many: numbers of clusters differ, and `purity` and `nmi` with them.
    """
    return tree.labels_at(min(check_whole(level, "level", 0), tree.n_levels))


def cut_matched(tree: Tree, n_clusters: int) -> NDArray[np.int32]:
    """(n,) labels of a cut into exactly `n_clusters`, so that trees compare like with like.

    From the root down nodes are split into their children: the highest first where the tree knows
    heights, otherwise those of an upper level before those below, of one level the largest first.
    A node with more children than there are clusters left to make gives its largest ones and keeps
    the rest together. A tree with fewer leaves gives its leaves.
    """
    return cut_into(tree, check_whole(n_clusters, "n_clusters", 1), exact=True)
