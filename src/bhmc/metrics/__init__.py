"""How well a clustering or a tree agrees with classes that no fit has seen.

`purity` and `nmi` rise with the number of clusters, whatever the clusters are. Read them beside
`ari` and `ami`, which are 0 for random clusters, and beside a control (docs/metrics.md).
"""

from bhmc.metrics._compare_trees import NodeMatch, TreeComparison, compare_trees
from bhmc.metrics._cuts import cut_by_depth, cut_matched
from bhmc.metrics._flat import ami, ari, f_measure, nmi, purity
from bhmc.metrics._levels import LevelRow, level_table, true_levels
from bhmc.metrics._trees import dendrogram_purity, f_measure_tree

__all__ = [
    "LevelRow",
    "NodeMatch",
    "TreeComparison",
    "ami",
    "ari",
    "compare_trees",
    "cut_by_depth",
    "cut_matched",
    "dendrogram_purity",
    "f_measure",
    "f_measure_tree",
    "level_table",
    "nmi",
    "purity",
    "true_levels",
]
