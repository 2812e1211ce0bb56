"""What a sampler carries from one sweep to the next, and what it reports about a sweep.

`State` is what the next sweep needs; `Info` is what a person may look at. Both are immutable tuples
of arrays: a sweep returns a new one and leaves its argument alone.
"""

from collections.abc import Iterator
from numbers import Real
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from bhmc.priors import Prior

# Names of the concentrations, in the order in which they are shown.
CONCENTRATIONS = ("alpha", "gamma0", "gamma")

# Paths are made part by part: temporary arrays of all rows are large.
_ROWS_AT_ONCE = 2**16


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
    def concentrations(self) -> dict[str, Any]:
        """The concentrations by name: numbers, or priors where they are learned."""
        return {name: getattr(self, name) for name in CONCENTRATIONS}

    @property
    def priors(self) -> dict[str, Prior]:
        """The concentrations that are learned, by name."""
        values = self.concentrations
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


class Params(Protocol):
    """What a transition adds to a state: a NamedTuple of its own (`HdpParams`, say)."""

    transition: str
    """The name of the transition, as in the registry."""

    @property
    def hyper(self) -> Hyper:
        """The current concentrations, as numbers."""
        ...

    def node_weights(self, state: "State") -> NDArray[np.float64]:
        """(n_nodes, K + 1) mixing weights of every node, the remainder last.

        Parameters
        ----------
        state : State
            The state that these parameters are part of.
        """
        ...

    def of_tree(self, nodes: NDArray[np.int64]) -> dict[str, NDArray[np.float64]]:
        """Fields that a `Tree` of the draw needs for prediction, beside its weights.

        Parameters
        ----------
        nodes : (n_nodes,) array
            The tree's nodes, in its order, as ids of the state.
        """
        ...

    def invariants(self, state: "State") -> Iterator[tuple[bool, str]]:
        """(holds, sentence) for all that must hold of these parameters in a state.

        Parameters
        ----------
        state : State
            The state that these parameters are part of; its arrays have the right types.
        """
        ...


class State(NamedTuple):
    """One draw of everything unknown: tree, components, component parameters, and what the
    transition adds to them.

    Node ids are 0..n_nodes-1; the root is 0 and a parent always has a smaller id than its children.
    Component labels are 0..K-1.
    """

    paths: NDArray[np.int32]
    """(n, n_levels + 1) node ids of each datum's path, root first."""
    components: NDArray[np.int32]
    """(n,) component of each datum."""
    parents: NDArray[np.int32]
    """(n_nodes,) id of each node's parent, -1 for the root."""
    theta: NDArray[np.float64]
    """(K, p) component parameters, a row per component, laid out by the likelihood family."""
    shared: NDArray[np.float64]
    """(q,) learned numbers of the family that all components share; none in most families."""
    params: Any
    """What the transition adds: `HdpParams` holds log mixing weights and concentrations."""

    @property
    def hyper(self) -> Hyper:
        """The current concentrations, as numbers."""
        return self.params.hyper

    @property
    def weights(self) -> NDArray[np.float64]:
        """(n_nodes, K + 1) mixing weights, the remainder last; every row sums to 1."""
        return self.params.node_weights(self)

    @property
    def log_weights(self) -> NDArray[np.float64]:
        """(n_nodes, K + 1) log mixing weights, the remainder last, where the transition keeps
        some.
        """
        return self.params.log_weights

    def with_params(self, **changes: Any) -> "State":
        """The state with some of the transition's parameters changed.

        Parameters
        ----------
        **changes
            Fields of `params` by name: `hyper` or `log_weights`, say.
        """
        return self._replace(params=self.params._replace(**changes))

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
        return len(self.theta)


class Sizes(NamedTuple):
    """How large the nodes and the components of a draw are."""

    levels: NDArray[np.int64]
    """(n_nodes,) level of each node, 0 for the root, which is the first."""
    nodes: NDArray[np.int64]
    """(n_nodes,) number of rows under each node."""
    components: NDArray[np.int64]
    """(K,) number of rows in each component; empty in a model without components."""
    even: bool
    """Whether all leaves are at one level."""


class Partition(NamedTuple):
    """The tree and the components of one draw, without its weights and parameters."""

    leaf: NDArray[np.integer]
    """(n,) node id of each row's leaf."""
    component: NDArray[np.integer]
    """(n,) component of each row, 0..K-1; empty in a model without components."""
    parents: NDArray[np.int32]
    """(n_nodes,) parent of each node, -1 for the root, which is 0; parents come before children."""

    @property
    def nbytes(self) -> int:
        """Bytes of its arrays."""
        return self.leaf.nbytes + self.component.nbytes + self.parents.nbytes

    @property
    def levels(self) -> NDArray[np.int64]:
        """(n_nodes,) level of each node, 0 for the root."""
        levels = np.zeros(len(self.parents), dtype=np.int64)
        above = self.parents
        while (below := above >= 0).any():
            levels += below
            above = np.where(below, self.parents[above], -1)
        return levels

    def sizes(self) -> Sizes:
        """Rows of every node and component, counted."""
        levels = self.levels
        nodes = np.bincount(self.leaf, minlength=len(self.parents))
        for level in range(int(levels.max()), 0, -1):
            own = np.flatnonzero(levels == level)
            np.add.at(nodes, self.parents[own], nodes[own])
        even = bool((levels[self.leaf] == levels.max()).all())
        return Sizes(levels, nodes, np.bincount(self.component), even)

    def paths(self, n_levels: int) -> NDArray[np.int32]:
        """(n, n_levels + 1) node ids from the root to each row's leaf.

        Parameters
        ----------
        n_levels : int
            Level of the leaves.
        """
        return paths_to(self.leaf, self.parents, n_levels)

    def nodes_at(self, level: int, n_levels: int) -> NDArray[np.int32]:
        """(n,) node id of each row at one level.

        Parameters
        ----------
        level : int
            0 is the root.
        n_levels : int
            Level of the leaves.
        """
        nodes = self.leaf.astype(np.int32)
        for _ in range(n_levels - level):
            nodes = self.parents[nodes]
        return nodes


def without_empty(partition: Partition) -> Partition:
    """The partition without nodes and components that have no row.

    Parameters
    ----------
    partition : Partition
        Some of its nodes or components may have no row.
    """
    nodes, components = held_parts(partition)
    new_node, new_component = _new_numbers(nodes), _new_numbers(components)
    parents = partition.parents[nodes]
    return Partition(
        leaf=new_node[partition.leaf],
        component=new_component[partition.component],
        parents=np.where(parents >= 0, new_node[parents], -1).astype(np.int32),
    )


def held_parts(partition: Partition) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(the nodes, the components) that hold a row, each in order.

    Parameters
    ----------
    partition : Partition
        Some of its nodes or components may have no row.
    """
    is_used = np.zeros(len(partition.parents), dtype=bool)
    is_used[0] = True
    node = np.unique(partition.leaf)
    while len(node) > 1 or node[0]:
        is_used[node] = True
        node = np.unique(np.maximum(partition.parents[node], 0))
    return np.flatnonzero(is_used), np.unique(partition.component).astype(np.int64)


def _new_numbers(kept: NDArray[np.int64]) -> NDArray[np.int32]:
    """new[old] of what is kept, in order; -1 for all else."""
    new = np.full(int(kept.max(initial=-1)) + 1, -1, dtype=np.int32)
    new[kept] = np.arange(len(kept), dtype=np.int32)
    return new


def is_positive(value: Any) -> bool:
    """Whether it is a finite number above 0, as a concentration must be.

    Parameters
    ----------
    value : object
        What stands for it.
    """
    return isinstance(value, Real) and not isinstance(value, bool) and 0 < float(value) < np.inf


def is_matrix(array) -> bool:
    """Whether `array` is a NumPy matrix of floating-point numbers."""
    return isinstance(array, np.ndarray) and array.dtype.kind == "f" and array.ndim == 2


def paths_to(
    leaf: NDArray, parents: NDArray, n_levels: int, ids: NDArray | None = None
) -> NDArray[np.int32]:
    """(n, n_levels + 1) node ids from the root to each datum's leaf, or to ids[leaf]."""
    paths = np.empty((len(leaf), n_levels + 1), dtype=np.int32)
    for first in range(0, len(leaf), _ROWS_AT_ONCE):
        rows = slice(first, first + _ROWS_AT_ONCE)
        paths[rows, n_levels] = leaf[rows] if ids is None else ids[leaf[rows]]
        for level in range(n_levels, 0, -1):
            paths[rows, level - 1] = parents[paths[rows, level]]
    return paths
