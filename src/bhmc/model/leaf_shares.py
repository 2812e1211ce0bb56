"""Shares of the leaves: w ~ Dir(N_child1, ..., N_childm, alpha) at every node, times along a path.

A draw of a Dirichlet law is made of draws of gamma laws, so that all nodes draw at once.
"""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def log_gamma_draws(shapes: NDArray, rng: np.random.Generator) -> Floats:
    """(m,) log G, G ~ Gamma(shape, 1); -inf where a shape is 0.

    G of a small shape is often 0 in a double: G = G' U^(1/shape), G' ~ Gamma(shape + 1), is not.

    Parameters
    ----------
    shapes : (m,) array
        None below 0.
    rng : numpy.random.Generator
        Where all randomness comes from.
    """
    shapes = np.asarray(shapes, dtype=np.float64)
    with np.errstate(divide="ignore", over="ignore"):
        found = np.log(rng.standard_gamma(shapes + 1.0))
        return found + np.log1p(-rng.random(len(shapes))) / shapes


def log_products(parent: NDArray, level: NDArray, log_child: Floats, log_new: Floats) -> Floats:
    """(m,) log of the shares of all nodes, multiplied along their paths; -inf where there is none.

    Parameters
    ----------
    parent, level : (m,) arrays
        Of nodes; 0 is the root, and of level -1 are none.
    log_child, log_new : (m,) arrays
        Logarithms of the gamma draws of a node as a child, and of a new child of it.
    """
    children = np.flatnonzero(level > 0)
    log_total = log_new.copy()
    np.logaddexp.at(log_total, parent[children], log_child[children])
    found = np.full(len(level), -np.inf)
    found[0] = 0.0
    for one in range(1, int(level.max()) + 1):
        z = np.flatnonzero(level == one)
        found[z] = found[parent[z]] + log_child[z] - log_total[parent[z]]
    return found
