"""The arrays a compiled sweep works in: a `State` with room for nodes and components to be born.

A node lives in a slot (a row), a component in a column. A free slot has level -1; a free column has
weight 0 (log weight -inf) at every node, so sums over all columns need no test for it.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bhmc._state import Hyper, State

# Places in Workspace.events, counted by the kernels and read by `Info`.
NODES_BORN, NODES_DIED, COMPONENTS_BORN, COMPONENTS_DIED, PATHS_ACCEPTED = range(5)

# What a pass over the data returns beside its position; 0 or more is a component just born.
DONE = -1
NEEDS_ROOM = -2


class Rates(NamedTuple):
    """The concentrations as kernels want them."""

    alpha: float
    gamma0: float
    gamma: float
    n_fixed: int
    """K of the finite form; 0 in the infinite form."""


class Workspace(NamedTuple):
    """Arrays shared by every conditional of a sweep; changed in place by the kernels."""

    path: NDArray[np.int64]
    """(n, L + 1) slots of each datum's path, root first; the root is slot 0."""
    component: NDArray[np.int64]
    """(n,) column of each datum's component."""
    parent: NDArray[np.int64]
    """(slots,) slot of the parent, -1 for the root."""
    level: NDArray[np.int64]
    """(slots,) level of the node, -1 where the slot is free."""
    n_under: NDArray[np.int64]
    """(slots,) N_z, data under the node."""
    log_beta: NDArray[np.float64]
    """(slots, columns) log beta_zk."""
    log_rest: NDArray[np.float64]
    """(slots,) log beta*_z, the remainder."""
    held: NDArray[np.int64]
    """(columns,) number of data in the component."""
    alive: NDArray[np.bool_]
    """(columns,) whether the component exists."""
    log_f: NDArray[np.float64]
    """(n, columns) log f(x_n; theta_k)."""
    log_f_new: NDArray[np.float64]
    """(n,) log f*(x_n), the likelihood of a component not yet born."""
    events: NDArray[np.int64]
    """(5,) what happened in this sweep."""


def rates_of(hyper: Hyper) -> Rates:
    """The kernels' view of `hyper`."""
    return Rates(
        float(hyper.alpha), float(hyper.gamma0), float(hyper.gamma), int(hyper.n_components or 0)
    )


def load(state: State, *, spare: int = 16) -> Workspace:
    """A workspace that holds `state`, with `spare` free slots and columns; likelihoods unset."""
    n, n_nodes, k = len(state.paths), len(state.parents), state.n_components
    columns = k if state.hyper.n_components else k + spare
    log_beta = np.full((n_nodes + spare, columns), -np.inf)
    log_beta[:n_nodes, :k] = state.log_weights[:, :-1]
    return Workspace(
        path=np.array(state.paths, dtype=np.int64, order="C"),
        component=np.array(state.components, dtype=np.int64),
        parent=_padded(np.asarray(state.parents, dtype=np.int64), n_nodes + spare, -1),
        level=_padded(state.levels, n_nodes + spare, -1),
        n_under=_padded(state.sizes.astype(np.int64), n_nodes + spare, 0),
        log_beta=log_beta,
        log_rest=_padded(np.asarray(state.log_weights[:, -1]), n_nodes + spare, -np.inf),
        held=_padded(np.bincount(state.components, minlength=k).astype(np.int64), columns, 0),
        alive=_padded(np.ones(k, dtype=np.bool_), columns, False),
        log_f=np.zeros((n, columns)),
        log_f_new=np.zeros(n),
        events=np.zeros(5, dtype=np.int64),
    )


def grow(ws: Workspace, slots: int, columns: int) -> Workspace:
    """The same contents with at least `slots` slots and `columns` columns."""
    slots, columns = max(slots, len(ws.level)), max(columns, len(ws.held))
    log_beta = np.full((slots, columns), -np.inf)
    log_beta[: len(ws.level), : len(ws.held)] = ws.log_beta
    log_f = np.zeros((len(ws.path), columns))
    log_f[:, : len(ws.held)] = ws.log_f
    return ws._replace(
        parent=_padded(ws.parent, slots, -1),
        level=_padded(ws.level, slots, -1),
        n_under=_padded(ws.n_under, slots, 0),
        log_beta=log_beta,
        log_rest=_padded(ws.log_rest, slots, -np.inf),
        held=_padded(ws.held, columns, 0),
        alive=_padded(ws.alive, columns, False),
        log_f=log_f,
    )


def unload(ws: Workspace, theta: NDArray[np.float64], hyper: Hyper) -> State:
    """The state a workspace holds, with ids and labels made compact (parents before children)."""
    slots = np.flatnonzero(ws.level >= 0)
    slots = slots[np.argsort(ws.level[slots], kind="stable")]
    columns = np.flatnonzero(ws.alive)
    new_id = np.full(len(ws.level) + 1, -1, dtype=np.int64)  # one more: parent -1 maps to -1
    new_id[slots] = np.arange(len(slots))
    new_label = np.cumsum(ws.alive) - 1
    log_weights = np.column_stack([ws.log_beta[np.ix_(slots, columns)], ws.log_rest[slots]])
    return State(
        paths=new_id[ws.path],
        components=new_label[ws.component],
        parents=new_id[ws.parent[slots]],
        log_weights=log_weights,
        theta=theta[columns].copy(),
        hyper=hyper,
    )


def _padded(array: NDArray, length: int, fill) -> NDArray:
    padded = np.full(length, fill, dtype=array.dtype)
    padded[: len(array)] = array
    return padded
