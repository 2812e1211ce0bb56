"""Make the pictures of fitted trees in docs/pictures anew: `make pictures`.

Zoo is fitted as in the README, and again with transition="hdp" for the priors of concentrations.
The large tree is made up, to show what becomes of many rows.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from docs.sketch import save
from sklearn.exceptions import ConvergenceWarning

from bhmc import BHMC, datasets, plotting
from tests.tree.tree_factory import large_tree


def fitted_zoo(**settings):
    """The first look that the pages take: whether it has converged is what they are about."""
    zoo = datasets.load_zoo(as_frame=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return BHMC(n_levels=3, random_state=4, **settings).fit(zoo.data.set_axis(zoo.names))


def keep(axes, name):
    """Save the figure of some Axes, which bhmc.plotting has laid out itself."""
    save(np.ravel(axes)[0].figure, name, tight=False)


def wide(height):
    """Axes as wide as a page, for pictures that would by themselves be wider."""
    return plt.subplots(figsize=(8.0, height), layout="constrained")[1]


def main():
    """Fit, draw, write."""
    model, hdp = fitted_zoo(), fitted_zoo(transition="hdp")
    keep(plotting.plot_tree(model), "zoo-tree")
    keep(plotting.plot_dendrogram(model), "zoo-dendrogram")
    keep(plotting.plot_icicle(model, ax=wide(3.0)), "zoo-icicle")
    some = ["log_joint", "n_components", "nodes_at[1]", "step_variances[1]"]
    keep(plotting.plot_trace(model.draws_, some), "zoo-trace")
    keep(plotting.plot_coclustering(model, ax=wide(7.0)), "zoo-coclustering")
    keep(plotting.plot_prior_posterior(hdp), "zoo-prior")
    large = large_tree()
    keep(plotting.plot_tree(large, max_nodes=30), "large-tree")


if __name__ == "__main__":
    main()
