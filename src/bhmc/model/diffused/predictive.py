"""Where a row not seen goes in a tree of the diffused transition, before it is seen.

A row joins a component that exists, or begins one: at a leaf, or on a new branch below an inner
node. So there is an option for each component, and one for each node at which one may begin.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bhmc.model.protocol import Places, Predictive
from bhmc.model.state import State

Floats = NDArray[np.float64]


def log_option_weights(of: Any, alpha: float, g: float, depth: int) -> Floats:
    """(K + M,): log p(the next row joins component k), then of p(it begins one at or below z).

    Logarithms, because a product over many levels underflows.

    p(k) = p(its leaf) n_k / (N + g); p(z) = p(reaches z) c / (N_z + c), c = g at the level that has
    components and alpha above.

    Parameters
    ----------
    of : State or Tree
        The draw.
    alpha, g : float
        The concentrations.
    depth : int
        The level of the nodes that have components.
    """
    sizes, levels = of.sizes.astype(np.float64), of.levels
    conc = np.where(levels < depth, alpha, g)
    log_reached, log_rest = np.zeros(len(sizes)), np.log(sizes + conc)
    for level in range(1, depth + 1):
        z = np.flatnonzero(levels == level)
        y = of.parents[z]
        log_reached[z] = log_reached[y] + _log(sizes[z]) - log_rest[y]
    new = (log_reached + np.log(conc) - log_rest)[levels <= depth]
    leaf = leaf_of_components(of, depth)
    counts = np.bincount(of.components, minlength=len(of.theta))
    return np.concatenate([(log_reached - log_rest)[leaf] + _log(counts), new])


def leaf_of_components(of: Any, depth: int) -> NDArray[np.int64]:
    """(K,): the node of level `depth` that each component belongs to.

    Parameters
    ----------
    of : State or Tree
        The draw.
    depth : int
        The level of the nodes that have components.
    """
    leaf = np.zeros(len(of.theta), dtype=np.int64)
    leaf[of.components] = of.paths[:, depth]
    return leaf


def places(of: Any, depth: int) -> Places:
    """Where components begin: at the location of a node, as far below it as new branches reach.

    Parameters
    ----------
    of : State or Tree
        The draw.
    depth : int
        The level of the nodes that have components.
    """
    levels = of.levels
    if isinstance(of, State):
        locations, variances = of.params.locations, of.params.variances
    else:
        locations, variances = of.locations, of.step_variances
    below = np.cumsum(variances[::-1], axis=0)[::-1]
    has = np.flatnonzero(levels <= depth)
    number = np.zeros(len(levels), dtype=np.int64)
    number[has] = np.arange(len(has))
    return Places(
        location=locations[has],
        variance=below[levels[has] + 1],
        of_component=number[leaf_of_components(of, depth)],
    )


def at_level(of: Any, level: int, log_weights: Floats, depth: int) -> Predictive:
    """Every option leads through one node of the level, or has left above it.

    Parameters
    ----------
    of : State or Tree
        The draw.
    level : int
        0 is the root.
    log_weights : (K + M,) array
        `log_option_weights`.
    depth : int
        The level of the nodes that have components.
    """
    nodes = np.flatnonzero(of.levels == level)
    component_nodes = np.zeros(len(of.theta), dtype=np.int64)
    component_nodes[of.components] = of.paths[:, level]
    at = np.concatenate([component_nodes, np.flatnonzero(of.levels <= depth)])
    for _ in range(depth + 1):
        at = np.where(of.levels[at] > level, of.parents[at], at)
    share = (at == nodes[:, None]).astype(np.float64)
    joins = share.any(axis=0)
    never = np.full(len(log_weights), -np.inf)
    log_join, log_leave = np.where(joins, log_weights, never), np.where(joins, never, log_weights)
    return Predictive(share, log_join, log_leave)


def _log(counts: NDArray) -> Floats:
    with np.errstate(divide="ignore"):  # a component or a node without rows
        return np.log(counts)
