"""Pictures of trees and draws, with matplotlib (`pip install bhmc[plot]`).

Every picture is made of arrays that a function of its own computes: `plot_tree` draws what
`tree_layout` returns, and so on. A picture draws on the Axes it is given and returns them; it
changes no setting of matplotlib and shows nothing by itself.
"""

from bhmc.plotting._coclustering import CoclusteringGrid, coclustering_grid, plot_coclustering
from bhmc.plotting._collapse import Marks
from bhmc.plotting._comparison import ComparisonLayout, comparison_layout, plot_comparison
from bhmc.plotting._dendrogram import DendrogramLayout, dendrogram_layout, plot_dendrogram
from bhmc.plotting._icicle import IcicleBoxes, icicle_boxes, plot_icicle
from bhmc.plotting._prior import PriorPosterior, plot_prior_posterior, prior_posterior_data
from bhmc.plotting._thumbnails import plot_thumbnails
from bhmc.plotting._trace import Trace, plot_trace, trace_data
from bhmc.plotting._tree import plot_tree
from bhmc.plotting._tree_layout import TreeLayout, tree_layout

__all__ = [
    "CoclusteringGrid",
    "ComparisonLayout",
    "DendrogramLayout",
    "IcicleBoxes",
    "Marks",
    "PriorPosterior",
    "Trace",
    "TreeLayout",
    "coclustering_grid",
    "comparison_layout",
    "dendrogram_layout",
    "icicle_boxes",
    "plot_coclustering",
    "plot_comparison",
    "plot_dendrogram",
    "plot_icicle",
    "plot_prior_posterior",
    "plot_thumbnails",
    "plot_trace",
    "plot_tree",
    "prior_posterior_data",
    "trace_data",
    "tree_layout",
]
