"""Two ways to make a tree flat, so that it can be compared with one level of true classes."""

import numpy as np
from numpy.typing import NDArray

from bhmc._validation.parameters import check_whole
from bhmc.tree import Tree
from bhmc.tree.cuts import cut_into


def cut_by_depth(tree: Tree, level: int) -> NDArray[np.int32]:
    """(n,) the node of each datum `level` steps below the root, as the paper compares levels.

    Below its last level a tree repeats its leaves. Binary trees have few clusters at a depth and
    bushy trees have many, so the numbers of clusters differ, and with them `purity` and `nmi`.

    Parameters
    ----------
    tree : Tree
        The tree of n data.
    level : int
        Steps below the root, at least 0.
    """
    return tree.labels_at(min(check_whole(level, "level", 0), tree.n_levels))


def cut_matched(tree: Tree, n_clusters: int) -> NDArray[np.int32]:
    """(n,) labels of a cut into exactly `n_clusters`, so that trees of different shapes compare.

    The rule is that of `Tree.cut(n_clusters=)`, without its warning where leaves are too few.
    Nodes are split into their children from the root down: the highest first where the tree has
    heights, otherwise upper levels first and within a level the largest first. If a node has more
    children than there are clusters left, its largest children become clusters and the others stay
    together. A tree with fewer leaves gives its leaves.

    Parameters
    ----------
    tree : Tree
        The tree of n data.
    n_clusters : int
        The number of clusters, at least 1.
    """
    return cut_into(tree, check_whole(n_clusters, "n_clusters", 1))
