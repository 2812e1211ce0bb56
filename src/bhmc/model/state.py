"""What a sampler carries from one sweep to the next, and what it reports about a sweep.

`State` is what the next sweep needs; `Info` is what a person may look at. Both are immutable tuples
of arrays: a sweep returns a new one and leaves its argument alone.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bhmc.priors import Prior


class Hyper(NamedTuple):
    """The three concentrations of the model, and the choice between its two forms.

    alpha: how readily a datum opens a new branch at every node (nested Chinese restaurant process).
    gamma0: how many components the root spreads over (its weights are GEM(gamma0)).
    gamma: how closely a node's weights follow its parent's (beta_z ~ DP(gamma, beta_parent)).
    n_components: None for the infinite form; K for the finite form with exactly K components.

    A number fixes a concentration; one of `bhmc.priors` has it learned. A state's own `hyper` holds
    the current numbers.
    """

    alpha: Any
    gamma0: Any
    gamma: Any
    n_components: int | None = None

    @property
    def priors(self) -> dict[str, Prior]:
        """The concentrations that are learned, by name."""
        values = {"alpha": self.alpha, "gamma0": self.gamma0, "gamma": self.gamma}
        return {name: value for name, value in values.items() if isinstance(value, Prior)}


class Info(NamedTuple):
    """What happened during one sweep.

    `paths_accepted` counts accepted Metropolis-Hastings proposals; under path Gibbs every datum
    counts, because its draw is never refused.
    """

    nodes_born: int
    nodes_died: int
    components_born: int
    components_died: int
    paths_accepted: int


class State(NamedTuple):
    """One draw of everything unknown: tree, components, weights, component parameters.

    Node ids are 0..n_nodes-1; the root is 0 and a parent always has a smaller id than its children,
    so an id is also a row of `log_weights`. Component labels are 0..K-1.
    """

    paths: NDArray[np.int32]
    """(n, n_levels + 1) node ids of each datum's path, root first."""
    components: NDArray[np.int32]
    """(n,) component of each datum."""
    parents: NDArray[np.int32]
    """(n_nodes,) id of each node's parent, -1 for the root."""
    log_weights: NDArray[np.float64]
    """(n_nodes, K + 1) log mixing weights; the last column is the remainder beta*."""
    theta: NDArray[np.float64]
    """(K, p) component parameters, a row per component, laid out by the likelihood family."""
    hyper: Hyper
    """The current concentrations, as numbers."""
    shared: NDArray[np.float64] = np.empty(0)
    """(q,) learned numbers of the family that all components share; none in most families."""

    @property
    def weights(self) -> NDArray[np.float64]:
        """(n_nodes, K + 1) mixing weights, the remainder last; every row sums to 1."""
        return np.exp(self.log_weights)

    @property
    def node_ids(self) -> NDArray[np.int64]:
        """(n_nodes,) the ids that `paths` and `parents` use, in the order of the weight rows."""
        return np.arange(len(self.parents))

    @property
    def levels(self) -> NDArray[np.int64]:
        """(n_nodes,) level of each node; 0 is the root, `n_levels` the leaves."""
        levels = np.zeros(len(self.parents), dtype=np.int64)
        for level in range(self.n_levels + 1):
            levels[self.paths[:, level]] = level
        return levels

    @property
    def sizes(self) -> NDArray[np.int64]:
        """(n_nodes,) number of data under each node."""
        # Level by level: NumPy counts in a copy of 64-bit numbers.
        counts = [np.bincount(nodes, minlength=len(self.parents)) for nodes in self.paths.T]
        return np.sum(counts, axis=0)

    @property
    def n_levels(self) -> int:
        """L: the number of steps from the root to a leaf."""
        return self.paths.shape[1] - 1

    @property
    def n_components(self) -> int:
        """K: occupied components (infinite form) or all of them (finite form)."""
        return self.log_weights.shape[1] - 1


def paths_to(leaf: NDArray, parents: NDArray, n_levels: int) -> NDArray[np.int32]:
    """(n, n_levels + 1) node ids from the root to each datum's leaf."""
    paths = np.empty((len(leaf), n_levels + 1), dtype=np.int32)
    paths[:, n_levels] = leaf
    for level in range(n_levels, 0, -1):
        paths[:, level - 1] = parents[paths[:, level]]
    return paths


def with_hyper(state: State, hyper: Hyper) -> State:
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
    return state._replace(hyper=hyper._replace(**current))
