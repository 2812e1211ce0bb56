"""The node arrays a sweep works in: tree and weights with room for nodes and components to be born.

A node lives in a slot (a row), a component in a column; the root is slot 0, and column 0 is the
remainder, the component not yet born. A free slot has level -1; a free column has weight 0 (log
weight -inf) at every node, so sums over all columns need no test for it. Columns come in blocks of
`BLOCK`, so that loops over them vectorise without a tail. What belongs to rows (their leaves, their
components, their likelihoods) is with the rows: `bhmc.rows`.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bhmc._compiled.aligned import aligned
from bhmc.model.state import Hyper, State
from bhmc.priors import FIXED, Prior

# Places in Workspace.events, counted by the kernels and read by `Info`.
NODES_BORN, NODES_DIED, COMPONENTS_BORN, COMPONENTS_DIED, PATHS_ACCEPTED = range(5)

# Places in Workspace.room: free slots, free columns, columns in use (whole blocks), depth L, and
# whether `mass` has been lost.
FREE_SLOTS, FREE_COLUMNS, WIDTH, DEPTH, STALE = range(5)

# Levels whose subtrees move in a sweep, on average where a tree has more.
MOST_LEVELS = 8

# Rows of Workspace.scratch.
WEIGHT, FACTOR, SHAPE, GAIN, LOSS = range(5)

# What a pass over a tile returns beside its position; 1 or more is a component just born.
DONE = -1
NEEDS_ROOM = -2

# "No node", "no datum".
NONE = -1

BLOCK = 8


# Which concentration is meant.
ALPHA, GAMMA0, GAMMA = range(3)


class Rates(NamedTuple):
    """The concentrations as kernels want them."""

    alpha: float
    gamma0: float
    gamma: float
    n_fixed: int
    """K of the finite form; 0 in the infinite form."""


class Learning(NamedTuple):
    """Priors of the concentrations as kernels want them: (kind, number, number), FIXED for none."""

    alpha: tuple[int, float, float]
    gamma0: tuple[int, float, float]
    gamma: tuple[int, float, float]


class Workspace(NamedTuple):
    """Arrays shared by every conditional of a sweep; changed in place by the kernels."""

    parent: NDArray[np.int64]
    """(slots,) slot of the parent, -1 for the root."""
    first_child: NDArray[np.int64]
    """(slots,) slot of the first child, -1 for none."""
    next_sibling: NDArray[np.int64]
    """(slots,) slot of the next child of the same parent, -1 for none."""
    level: NDArray[np.int64]
    """(slots,) level of the node, -1 where the slot is free."""
    n_under: NDArray[np.int64]
    """(slots,) N_z, data under the node."""
    free: NDArray[np.int64]
    """(slots,) stack of the free slots, the next to be used last."""
    log_beta: NDArray[np.float64]
    """(slots, columns) log beta_zk, log beta*_z in column 0. The truth; `beta` mirrors it."""
    beta: NDArray[np.float64]
    """(slots, columns) beta_zk, which may have underflowed to 0."""
    mass: NDArray[np.float64]
    """(slots, columns) U_z of path Gibbs; valid within one pass."""
    share: NDArray[np.float64]
    """(slots,) what a node's U counts for in its parent's; valid within one pass."""
    held: NDArray[np.int64]
    """(columns,) number of data in the component."""
    alive: NDArray[np.bool_]
    """(columns,) whether the component exists; column 0 counts as one that does."""
    room: NDArray[np.int64]
    """(5,) free slots, free columns, width, depth, stale."""
    events: NDArray[np.int64]
    """(5,) what happened in this sweep."""
    customers: NDArray[np.int64]
    """(slots, columns) n_zk, the rows of leaves counted by `Rows`; valid from block moves to the
    draw of the weights, as all below within a call."""
    scratch: NDArray[np.float64]
    """(5, columns) numbers of one row or node."""
    block_sums: NDArray[np.float64]
    """(columns / BLOCK,) sums of blocks of a row's weights."""
    node_scratch: NDArray[np.float64]
    """(2, slots) numbers of every node."""
    on_path: NDArray[np.int64]
    """(L + 1,) slots of one path."""
    kept: NDArray[np.float64]
    """(2, L + 1) along it, without one datum: share times U[k], and share."""


def rates_of(hyper: Hyper) -> Rates:
    """The kernels' view of `hyper`."""
    return Rates(
        float(hyper.alpha), float(hyper.gamma0), float(hyper.gamma), int(hyper.n_components or 0)
    )


def learning_of(hyper: Hyper) -> Learning:
    """The kernels' view of what `hyper` wants learned."""
    alpha, gamma0, gamma = (
        value.code if isinstance(value, Prior) else (FIXED, 0.0, 0.0)
        for value in (hyper.alpha, hyper.gamma0, hyper.gamma)
    )
    return Learning(alpha, gamma0, gamma)


def whole_blocks(columns: int) -> int:
    """The least number of columns, in whole blocks, that holds `columns`."""
    return -(-columns // BLOCK) * BLOCK


def load(state: State, *, spare: int = 16) -> Workspace:
    """A workspace that holds the tree and the weights of `state`, with `spare` free slots and
    columns.
    """
    n_nodes, k = len(state.parents), state.n_components
    slots = n_nodes + spare
    columns = whole_blocks(1 + k + (0 if state.hyper.n_components else spare))
    log_beta = aligned((slots, columns), -np.inf)
    log_beta[:n_nodes, 1 : k + 1] = state.params.log_weights[:, :-1]
    log_beta[:n_nodes, 0] = state.params.log_weights[:, -1]
    parent = _padded(np.asarray(state.parents, dtype=np.int64), slots, NONE)
    first_child, next_sibling = _links(state.parents, slots)
    return Workspace(
        parent=parent,
        first_child=first_child,
        next_sibling=next_sibling,
        level=_padded(state.levels, slots, -1),
        n_under=_padded(state.sizes.astype(np.int64), slots, 0),
        free=_padded(np.arange(slots - 1, n_nodes - 1, -1), slots, NONE),
        log_beta=log_beta,
        beta=np.exp(log_beta, out=aligned(log_beta.shape, 0.0)),
        held=_padded(np.bincount(state.components + 1, minlength=k + 1), columns, 0),
        alive=np.arange(columns) <= k,
        room=np.array([spare, columns - k - 1, whole_blocks(k + 1), state.n_levels, 1]),
        events=np.zeros(5, dtype=np.int64),
        **_path_scratch(state.n_levels),
        **_scratch(slots, columns),
    )


# What outlives a sweep; the rest is scratch space.
_LASTING = (
    "parent",
    "first_child",
    "next_sibling",
    "level",
    "n_under",
    "free",
    "log_beta",
    "beta",
    "held",
    "alive",
    "room",
    "events",
)


def kept(ws: Workspace) -> dict[str, NDArray]:
    """Copies of the arrays that outlive a sweep, by name."""
    return {name: getattr(ws, name).copy() for name in _LASTING}


def restore(arrays: dict[str, NDArray]) -> Workspace:
    """The workspace whose arrays `kept` returned; scratch space is new."""
    slots, columns = arrays["log_beta"].shape
    depth = int(arrays["room"][DEPTH])
    framed = {
        name: _framed(array, (slots, columns), 0.0) if array.ndim == 2 else array.copy()
        for name, array in arrays.items()
    }
    framed["room"][STALE] = 1
    return Workspace(**framed, **_path_scratch(depth), **_scratch(slots, columns))


def grow(ws: Workspace, slots: int, columns: int) -> Workspace:
    """The same contents with at least `slots` slots and `columns` columns."""
    old_slots, old_columns = ws.log_beta.shape
    slots, columns = max(slots, old_slots), max(whole_blocks(columns), old_columns)
    n_free = ws.room[FREE_SLOTS]
    fresh = np.arange(slots - 1, old_slots - 1, -1)  # used last: they lie under the old ones
    room = ws.room.copy()
    room[FREE_SLOTS] += slots - old_slots
    room[FREE_COLUMNS] += columns - old_columns
    room[STALE] = 1
    return ws._replace(
        parent=_padded(ws.parent, slots, NONE),
        first_child=_padded(ws.first_child, slots, NONE),
        next_sibling=_padded(ws.next_sibling, slots, NONE),
        level=_padded(ws.level, slots, -1),
        n_under=_padded(ws.n_under, slots, 0),
        free=_padded(np.concatenate([fresh, ws.free[:n_free]]), slots, NONE),
        log_beta=_framed(ws.log_beta, (slots, columns), -np.inf),
        beta=_framed(ws.beta, (slots, columns), 0.0),
        held=_padded(ws.held, columns, 0),
        alive=_padded(ws.alive, columns, False),
        room=room,
        **{**_scratch(slots, columns), "customers": _larger(ws.customers, slots, columns)},
    )


class Renumbering(NamedTuple):
    """What became of slots and columns."""

    new_slot: NDArray[np.int64]
    """(slots + 1,) the new slot of each old one, -1 where it is free; the last entry is -1."""
    columns: NDArray[np.int64]
    """(columns in use,) the old column of each new one."""
    new_column: NDArray[np.int64]
    """(columns,) the new column of each old one that exists."""


def tidy(ws: Workspace) -> Renumbering:
    """Renumber slots and columns in place; the state stays the same once rows are renumbered too.

    Columns become compact. Slots go level by level with siblings side by side, the largest first: a
    walk down the tree then reads few children, and neighbours in memory.
    """
    by_level, rank = [np.zeros(1, dtype=np.int64)], np.zeros(len(ws.level), dtype=np.int64)
    for level in range(1, ws.room[DEPTH] + 1):
        nodes = np.flatnonzero(ws.level == level)
        nodes = nodes[np.lexsort((-ws.n_under[nodes], rank[ws.parent[nodes]]))]
        rank[nodes] = np.arange(len(nodes))
        by_level.append(nodes)
    columns = np.flatnonzero(ws.alive)
    new_column = np.cumsum(ws.alive) - 1
    new_slot = _move_slots(ws, np.concatenate(by_level))
    _move_columns(ws, columns)
    return Renumbering(new_slot, columns, new_column)


def _move_slots(ws: Workspace, slots: NDArray[np.int64]) -> NDArray[np.int64]:
    """Slot slots[i] becomes slot i; all others are free. Returns the new slot of each old one."""
    n_nodes, n_slots = len(slots), len(ws.level)
    new = np.full(n_slots + 1, NONE)  # one more: parent -1 maps to -1
    new[slots] = np.arange(n_nodes)
    parents = new[ws.parent[slots]]
    for array in (ws.level, ws.n_under, ws.log_beta, ws.beta):
        array[:n_nodes] = array[slots]
    ws.level[n_nodes:] = -1
    ws.parent[:n_nodes], ws.parent[n_nodes:] = parents, NONE
    ws.first_child[:], ws.next_sibling[:] = _links(parents, n_slots)
    ws.free[: n_slots - n_nodes] = np.arange(n_slots - 1, n_nodes - 1, -1)
    ws.room[FREE_SLOTS] = n_slots - n_nodes
    return new


def _move_columns(ws: Workspace, columns: NDArray[np.int64]) -> None:
    """Column columns[i] becomes column i; all others are free."""
    used = len(columns)
    ws.alive[:], ws.alive[:used] = False, True
    for array, free in ((ws.held, 0), (ws.log_beta, -np.inf), (ws.beta, 0.0)):
        array[..., :used] = array[..., columns]
        array[..., used:] = free
    ws.room[WIDTH] = whole_blocks(used)


class Compact(NamedTuple):
    """Slots and columns in the order of node ids and component labels."""

    slots: NDArray[np.int64]
    """(n_nodes,) slot of each node; parents come before children."""
    columns: NDArray[np.int64]
    """(K,) column of each component."""
    node_of: NDArray[np.int32]
    """(slots + 1,) node id of each slot, -1 where it is free; the last entry is -1."""
    label_of: NDArray[np.int32]
    """(columns,) label of each column's component."""


def compact(ws: Workspace) -> Compact:
    """Node ids, level by level, and component labels for what a workspace holds."""
    slots = np.flatnonzero(ws.level >= 0)
    slots = slots[np.argsort(ws.level[slots], kind="stable")]
    node_of = np.full(len(ws.level) + 1, -1, dtype=np.int32)  # one more: parent -1 maps to -1
    node_of[slots] = np.arange(len(slots), dtype=np.int32)
    label_of = (np.cumsum(ws.alive) - 2).astype(np.int32)
    return Compact(slots, np.flatnonzero(ws.alive)[1:], node_of, label_of)


def parents(ws: Workspace, order: Compact) -> NDArray[np.int32]:
    """(n_nodes,) parents by node id, -1 for the root."""
    return order.node_of[ws.parent[order.slots]]


def log_weights(ws: Workspace, order: Compact) -> NDArray[np.float64]:
    """(n_nodes, K + 1) log mixing weights by node id and label, the remainder last."""
    return ws.log_beta[order.slots[:, None], np.append(order.columns, 0)]


def _path_scratch(depth: int) -> dict[str, NDArray]:
    """Arrays over the nodes of one path."""
    return {
        "on_path": np.zeros(depth + 1, dtype=np.int64),
        "kept": np.zeros((2, depth + 1)),
    }


def _scratch(slots: int, columns: int) -> dict[str, NDArray]:
    """Arrays whose contents do not outlive a call."""
    return {
        "mass": aligned((slots, columns), 0.0),
        "share": np.zeros(slots),
        "customers": np.zeros((slots, columns), dtype=np.int64),
        "scratch": aligned((5, columns), 0.0),
        "block_sums": np.zeros(columns // BLOCK),
        "node_scratch": np.zeros((2, slots)),
    }


def _links(parents: NDArray, slots: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """First children and next siblings, children in the order of their ids."""
    first_child, next_sibling = np.full(slots, NONE), np.full(slots, NONE)
    child = 1 + np.argsort(parents[1:], kind="stable")
    starts = np.flatnonzero(np.diff(parents[child], prepend=NONE))
    first_child[parents[child[starts]]] = child[starts]
    next_sibling[child[:-1]] = child[1:]
    next_sibling[child[starts[1:] - 1]] = NONE
    return first_child, next_sibling


def _padded(array: NDArray, length: int, fill) -> NDArray:
    padded = np.full(length, fill, dtype=array.dtype)
    padded[: len(array)] = array
    return padded


def _larger(counts: NDArray[np.int64], slots: int, columns: int) -> NDArray[np.int64]:
    more = ((0, slots - counts.shape[0]), (0, columns - counts.shape[1]))
    return np.pad(counts, more)


def _framed(array: NDArray, shape: tuple[int, int], fill: float) -> NDArray:
    framed = aligned(shape, fill)
    framed[: array.shape[0], : array.shape[1]] = array
    return framed
