"""The arrays that block moves work in, beside those of the workspace."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bhmc.model.hdp.workspace import DEPTH, NONE, Workspace


class MoveSpace(NamedTuple):
    """Arrays that block moves work in; all but `tables`, `totals`, `order` and `progress` are valid
    within one move.
    """

    tables: NDArray[np.int64]
    """(slots, columns) tables of each node, the customers that it is to its parent."""
    totals: NDArray[np.int64]
    """(slots,) customers of each node."""
    order: NDArray[np.int64]
    """(slots,) nodes of one level, those to move first."""
    progress: NDArray[np.int64]
    """(3,) where a pass over subtrees is: level, moves done, moves to make or -1."""
    block: NDArray[np.int64]
    """(columns,) customers of the block that moves, by component; 0 between moves."""
    entries: NDArray[np.int64]
    """(columns,) the components that the block has."""
    chain: NDArray[np.float64]
    """(2 (L + 1), columns) log weights of new inner nodes, of two branches."""
    law: NDArray[np.float64]
    """(threshold, threshold) the law of the tables of n customers; see `relocate`."""
    powers: NDArray[np.float64]
    """(L, threshold) a row of each of its powers."""
    built: NDArray[np.int64]
    """(1,) rows of `law` that are computed."""


def move_space(ws: Workspace, threshold: int, before: MoveSpace | None = None) -> MoveSpace:
    """Space for block moves in `ws`; blocks of `threshold` rows or more have auxiliary chains.

    `before`: the space of a smaller workspace in the middle of a pass, which is to go on.
    """
    (slots, columns), depth = ws.log_beta.shape, int(ws.room[DEPTH])
    space = MoveSpace(
        tables=np.zeros((slots, columns), dtype=np.int64),
        totals=np.zeros(slots, dtype=np.int64),
        order=np.zeros(slots, dtype=np.int64),
        progress=np.array([depth, 0, -1]),
        block=np.zeros(columns, dtype=np.int64),
        entries=np.zeros(columns, dtype=np.int64),
        chain=np.zeros((2 * (depth + 1), columns)),
        law=np.zeros((max(threshold, 2), max(threshold, 2))),
        powers=np.zeros((depth, max(threshold, 2))),
        built=np.zeros(1, dtype=np.int64),
    )
    if before is None:
        return space
    old = len(before.order)
    space.tables[:old, : before.tables.shape[1]] = before.tables
    space.totals[:old], space.order[:old] = before.totals, before.order
    space.progress[:] = before.progress
    return space


class Seats(NamedTuple):
    """Who sits where: tables of all nodes below the root, and what sits at them."""

    node: NDArray[np.int64]
    """(tables,) slot of the table's node."""
    dish: NDArray[np.int64]
    """(tables,) column of its component."""
    size: NDArray[np.int64]
    """(tables,) its customers; 0 where it has been left."""
    up: NDArray[np.int64]
    """(tables,) the table of the parent at which it sits; -1 for those of level 1."""
    next: NDArray[np.int64]
    """(tables,) the next table of the same node and dish, -1 for none."""
    head: NDArray[np.int64]
    """(slots, columns) the first table of each node and dish, -1 for none."""
    totals: NDArray[np.int64]
    """(slots,) customers of each node."""
    first: NDArray[np.int64]
    """(L + 1,) the first table of each level; those of level l end where those of l - 1 begin."""
    made: NDArray[np.int64]
    """(1,) tables so far, those that have been left included."""
    progress: NDArray[np.int64]
    """(2,) where the seating is: level of those who sit down, how many of them sit."""


def empty_seats(ws: Workspace, n_tables: int) -> Seats:
    """No tables yet, with room for so many."""
    (slots, columns), depth = ws.log_beta.shape, int(ws.room[DEPTH])
    return Seats(
        *(np.zeros(n_tables, dtype=np.int64) for _ in range(5)),
        head=np.full((slots, columns), NONE),
        totals=np.zeros(slots, dtype=np.int64),
        first=np.zeros(depth + 1, dtype=np.int64),
        made=np.zeros(1, dtype=np.int64),
        progress=np.array([depth + 1, 0]),
    )


def more_seats(seats: Seats, n_tables: int, columns: int) -> Seats:
    """The same tables with room for `n_tables` or more, and so many columns."""
    longer = {
        name: np.pad(getattr(seats, name), (0, max(0, n_tables - len(seats.node))))
        for name in ("node", "dish", "size", "up", "next")
    }
    wider = ((0, 0), (0, columns - seats.head.shape[1]))
    return seats._replace(**longer, head=np.pad(seats.head, wider, constant_values=NONE))
