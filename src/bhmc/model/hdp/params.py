"""`HdpParams`: what the hdp transition adds to a state."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bhmc.model.state import Hyper, State, is_matrix

# Row sums of the weights may drift by a rounding error per component, never by more.
_WEIGHT_TOLERANCE = 1e-8


class HdpParams(NamedTuple):
    """Mixing weights of every node, and the concentrations."""

    transition = "hdp"

    log_weights: NDArray[np.float64]
    """(n_nodes, K + 1) log mixing weights; the last column is the remainder beta*."""
    hyper: Hyper
    """The current concentrations, as numbers."""

    def node_weights(self, state: State) -> NDArray[np.float64]:
        """(n_nodes, K + 1) mixing weights, the remainder last; every row sums to 1."""
        return np.exp(self.log_weights)

    def of_tree(self, nodes: NDArray[np.int64]) -> dict[str, NDArray[np.float64]]:
        """None: a tree has the weights."""
        return {}

    def invariants(self, state: State) -> Iterator[tuple[bool, str]]:
        """(holds, sentence): one row of weights per node, each summing to 1."""
        log_weights = self.log_weights
        yield is_matrix(log_weights), "log_weights must be a matrix of numbers"
        yield (
            log_weights.shape[0] == len(state.parents),
            "log_weights must hold one row per node",
        )
        yield len(state.theta) == log_weights.shape[1] - 1, "theta must hold one row per component"
        yield not np.isnan(log_weights).any(), "log_weights holds NaN"
        if self.hyper.n_components is not None:
            yield bool((log_weights[:, -1] == -np.inf).all()), "the finite form has no remainder"
        sums = np.exp(log_weights).sum(axis=1)
        yield (
            bool(np.allclose(sums, 1, rtol=0, atol=_WEIGHT_TOLERANCE)),
            "a node's weights must sum to 1",
        )


def hdp_state(paths, components, parents, log_weights, theta, hyper, shared=None) -> State:
    """A state of the hdp transition.

    Parameters
    ----------
    paths : (n, n_levels + 1) array
        Node ids of each datum's path, root first.
    components : (n,) array
        Component of each datum.
    parents : (n_nodes,) array
        Parent of each node, -1 for the root.
    log_weights : (n_nodes, K + 1) array
        Log mixing weights, the remainder last.
    theta : (K, p) array
        Component parameters.
    hyper : Hyper
        Concentrations.
    shared : (q,) array, optional
        Learned numbers that all components share.
    """
    shared = np.empty(0) if shared is None else shared
    return State(paths, components, parents, theta, shared, HdpParams(log_weights, hyper))


def check_allowed(state: State, hyper: Hyper) -> State:
    """`state` with other concentrations; its form stays (no `n_components` means its own).

    Those to be learned keep the state's numbers, which their priors must allow.
    """
    if hyper.n_components is None:
        hyper = hyper._replace(n_components=state.hyper.n_components)
    if hyper.n_components != state.hyper.n_components:
        raise ValueError(
            f"hyper has n_components={hyper.n_components!r}, but the state was made with "
            f"n_components={state.hyper.n_components!r}."
        )
    current = {name: getattr(state.hyper, name) for name in hyper.priors}
    for name, value in current.items():
        if hyper.priors[name].log_density(value) == -np.inf:
            raise ValueError(
                f"the state has {name}={value:g}, which its prior {hyper.priors[name]} excludes."
            )
    return state.with_params(hyper=hyper._replace(**current))
