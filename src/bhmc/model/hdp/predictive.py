"""Where a row not seen goes in a tree of the hierarchical Dirichlet process, before it is seen.

A new row x walks from the root as the data did: at node z to child y with probability
N_y / (N_z + alpha), to a new branch with alpha / (N_z + alpha). A branch not seen has the mixture
of the node it springs from as its mean. So a row that has reached z has component k with

    V_z = beta_z  at a leaf,
    V_z = (alpha beta_z + sum over children y of N_y V_y) / (N_z + alpha)  at an inner node,

and p(x, reaches z, k) = p(reaches z) V_zk f(x; theta_k), with f* for the component not yet seen.
"""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from bhmc.model.protocol import Predictive
from bhmc.model.state import State

Floats = NDArray[np.float64]


class WeightedTree(Protocol):
    """A tree whose nodes have mixing weights: a `State`, or a `Tree` made of one."""

    @property
    def parents(self) -> NDArray[np.integer]:
        """(n_nodes,) id of each node's parent, -1 for the root."""
        ...

    @property
    def levels(self) -> NDArray[np.int64]:
        """(n_nodes,) level of each node, 0 for the root."""
        ...

    @property
    def sizes(self) -> NDArray[np.int64]:
        """(n_nodes,) number of data under each node."""
        ...

    @property
    def weights(self) -> Floats:
        """(n_nodes, K + 1) mixing weights, the remainder last."""
        ...

    @property
    def n_levels(self) -> int:
        """Steps from the root to a leaf."""
        ...


def component_weights(tree: WeightedTree) -> Floats:
    """(K + 1,): probability of each component for the next datum, the remainder last: V_root.

    Parameters
    ----------
    tree : State or Tree
        A draw.
    """
    return _mixtures(tree)[0]


def at_level(tree: WeightedTree, level: int) -> Predictive:
    """p(z, k) = p(reaches z) V_zk for the nodes z of a level, in the parts of a `Predictive`.

    Parameters
    ----------
    tree : State or Tree
        A draw.
    level : int
        0 is the root.
    """
    alpha, levels, sizes, mixtures = _alpha(tree), tree.levels, tree.sizes, _mixtures(tree)
    # Logarithms, because a product over many levels underflows.
    log_reached, log_rest = np.zeros(len(levels)), np.log(sizes + alpha)
    for below in range(1, tree.n_levels + 1):
        z = np.flatnonzero(levels == below)
        y = tree.parents[z]
        log_reached[z] = log_reached[y] + _log(sizes[z]) - log_rest[y]
    left = np.where(levels < level, np.exp(log_reached + np.log(alpha) - log_rest), 0.0)
    own = levels == level
    highest = log_reached[own].max()
    joint = np.exp(log_reached[own] - highest)[:, None] * mixtures[own]
    joins = joint.sum(axis=0)
    joint /= np.where(joins > 0, joins, 1.0)
    return Predictive(joint, highest + _log(joins), _log(left @ tree.weights))


def _mixtures(tree: WeightedTree) -> Floats:
    """(n_nodes, K + 1): V_z."""
    alpha, sizes = _alpha(tree), tree.sizes.astype(np.float64)
    levels, mixtures = tree.levels, tree.weights.copy()
    for level in range(tree.n_levels, 0, -1):
        children = np.flatnonzero(levels == level)
        children = children[np.argsort(tree.parents[children], kind="stable")]
        z, first = np.unique(tree.parents[children], return_index=True)
        pull = np.add.reduceat(sizes[children, None] * mixtures[children], first)
        mixtures[z] = (alpha * mixtures[z] + pull) / (sizes[z, None] + alpha)
    return mixtures


def _alpha(tree: WeightedTree) -> float:
    return tree.hyper.alpha if isinstance(tree, State) else tree.alpha  # type: ignore[attr-defined]


def _log(weights: NDArray) -> Floats:
    with np.errstate(divide="ignore"):  # a weight of 0
        return np.log(weights)
