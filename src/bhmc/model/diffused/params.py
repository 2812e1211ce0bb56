"""`DiffusedParams`: what the diffused transition adds to a state."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bhmc.model.state import Hyper, State, is_matrix


class DiffusedParams(NamedTuple):
    """Locations of the nodes, variances of the steps between them, and the concentrations."""

    transition = "diffused"
    atoms_below_leaves = True

    locations: NDArray[np.float64]
    """(n_nodes, p) m_z, in the units of theta."""
    variances: NDArray[np.float64]
    """(n_levels + 2, blocks) of the root's location, of steps to levels 1 to n_levels, and of steps
    to components, in units of the noise where there is one."""
    hyper: Hyper
    """The current concentrations, as numbers; gamma is g, gamma0 plays no part."""

    def node_weights(self, state: State) -> NDArray[np.float64]:
        """(n_nodes, K + 1) p(the next row at a node ends in component k), a new one last."""
        return node_weights(state, self.hyper.alpha, self.hyper.gamma)

    def of_tree(self, nodes: NDArray[np.int64]) -> dict[str, NDArray[np.float64]]:
        """All of them, locations in the order of the tree's nodes."""
        return {
            "locations": self.locations[nodes],
            "step_variances": self.variances.copy(),
            "concentrations": np.array([self.hyper.alpha, self.hyper.gamma]),
        }

    def invariants(self, state: State) -> Iterator[tuple[bool, str]]:
        """(holds, sentence): a location a node, ordered variances, a leaf a component."""
        yield is_matrix(self.locations), "locations must be a matrix of numbers"
        yield (
            len(self.locations) == len(state.parents),
            "locations must hold one row per node",
        )
        yield self.locations.shape[1] == state.theta.shape[1], "locations must be as wide as theta"
        yield bool(np.isfinite(self.locations).all()), "locations must be finite"
        yield is_matrix(self.variances), "variances must be a matrix of numbers"
        yield bool(np.isfinite(self.variances).all()), "variances must be finite"
        variances, steps = self.variances, state.paths.shape[1] + self.atoms_below_leaves
        yield len(variances) == steps, "variances must hold one for each step"
        ordered = (np.diff(variances[1:], axis=0) <= 0).all() and (variances > 0).all()
        yield bool(ordered), "variances must be above 0 and fall from level to level"
        leaf = np.full(len(state.theta), -1, dtype=np.int64)
        leaf[state.components] = state.paths[:, -1]
        yield (
            bool((leaf[state.components] == state.paths[:, -1]).all()),
            "the rows of a component must share their leaf",
        )


class GaussianParams(DiffusedParams):
    """The same where theta is the location of the leaf."""

    transition = "gaussian"
    atoms_below_leaves = False

    def node_weights(self, state: State) -> NDArray[np.float64]:
        """(n_nodes, K + 1) p(the next row at a node ends in component k), a new one last."""
        return node_weights(state, self.hyper.alpha, 0.0)


def node_weights(state, alpha: float, g: float) -> NDArray[np.float64]:
    """(n_nodes, K + 1): (n_k, g) / (N + g) at a leaf, (sum of N_y w_y, alpha) / (N + alpha) above.

    Parameters
    ----------
    state : State or Tree
        The draw.
    alpha, g : float
        The concentrations; g = 0 where a leaf has one component.
    """
    parents, sizes, k = state.parents, state.sizes.astype(np.float64), len(state.theta)
    weights = np.zeros((len(parents), k + 1))
    np.add.at(weights, (state.paths[:, -1], state.components), 1.0)
    for z in range(len(parents) - 1, -1, -1):  # children come after their parents
        leaf = state.levels[z] == state.n_levels
        c = g if leaf else alpha
        weights[z, -1] += c
        weights[z] /= sizes[z] + c
        if z:
            weights[parents[z]] += sizes[z] * weights[z]
    return weights
