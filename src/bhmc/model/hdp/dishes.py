"""The move "dishes": seat all rows, have tables of one level choose anew, draw inner weights.

The kernels see tables and the log likelihoods of the rows below them; these come from sums of
sufficient statistics, a sum for each table. So rows may lie in any number of blocks.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bhmc.model.hdp.move_space import Seats, empty_seats, more_seats
from bhmc.model.hdp.workspace import DEPTH, DONE, NEEDS_ROOM, WIDTH

# So many tables choose anew in a sweep: one for so many rows, within limits.
LEAST_TABLES, ROWS_PER_TABLE, MOST_TABLES = 200, 50, 2000

# Sums of their statistics are never more numbers than this.
MOST_NUMBERS = 2**21

# Room for tables at first.
_FEW_TABLES = 1024

Ints = NDArray[np.int64]


def redraw_dishes(chain: Any) -> None:
    """Tables of a level drawn at random choose their tables anew; weights of inner nodes are drawn.

    Which level, and how many tables, does not depend on what the move changes. Where rows are so
    far away that sums of their statistics lose digits nothing is done.

    Parameters
    ----------
    chain : HdpSampler
        Changed in place: components of rows, theta of components, weights of inner nodes.
    """
    if not chain.rows.family.subtracts_well:
        return
    seats, table_of = _seat(chain)
    level = 1 + int(chain.rng.random() * chain.ws.room[DEPTH])
    order = _chosen_tables(chain, seats, level)
    sums = chain.rows.sums_by(_groups(seats, level, order), table_of, len(order))
    before = seats.dish[order].copy()
    seats = _redraw(chain, seats, order, sums)
    rows = chain.rows
    chain.engine.recount(chain.ws, seats, level, rows.leaf, rows.component, table_of)
    _move_sums(chain.sums, before, seats.dish[order], sums)
    chain.engine.draw_inner_weights(chain.ws, chain.rates, chain.source)


def _seat(chain: Any) -> tuple[Seats, NDArray[np.int32]]:
    """A table for every row, and the table of every table."""
    ws, rows = chain.ws, chain.rows
    seats, table_of = empty_seats(ws, _FEW_TABLES), np.empty(rows.n_rows, dtype=np.int32)
    ws.customers[:] = 0
    while not chain.engine.seat(
        ws, chain.rates, seats, rows.leaf, rows.component, table_of, chain.source
    ):
        seats = more_seats(seats, 2 * len(seats.node), ws.log_beta.shape[1])
    return seats, table_of


def _chosen_tables(chain: Any, seats: Seats, level: int) -> Ints:
    """Tables of a level in random order, as many as are to choose anew."""
    most = min(max(LEAST_TABLES, chain.rows.n_rows // ROWS_PER_TABLE), MOST_TABLES)
    most = min(most, 1 + MOST_NUMBERS // chain.rows.family.n_statistics)
    n_tables = int(seats.first[level - 1] - seats.first[level])
    return seats.first[level] + chain.rng.permutation(n_tables)[:most]


def _groups(seats: Seats, level: int, order: Ints) -> NDArray[np.int32]:
    """(leaf tables,) which of the chosen tables each is below; the number of these for none."""
    group = np.full(seats.made[0], len(order), dtype=np.int32)
    group[order] = np.arange(len(order))
    for below in range(level + 1, len(seats.first)):
        tables = slice(seats.first[below], seats.first[below - 1])
        group[tables] = group[seats.up[tables]]
    return group[: seats.first[-2]]


def _redraw(chain: Any, seats: Seats, order: Ints, sums: NDArray[np.float64]) -> Seats:
    """Have the tables choose; the engine stops where a component is born or columns run out."""
    nothing = np.zeros(chain.rows.family.n_statistics)
    chain.draw_new_theta(0, nothing)  # the candidate; not used in the finite form
    columns, width = len(chain.ws.held), int(chain.ws.room[WIDTH])
    log_f = np.zeros((len(order), columns))
    log_f[:, :width] = sums @ chain.natural[:width].T
    room = int(seats.made[0]) + len(order) * int(chain.ws.room[DEPTH])
    seats, position, code = more_seats(seats, room, columns), 0, 0
    while code != DONE:
        position, code = chain.engine.redraw_tables(
            chain.ws,
            chain.rates,
            seats,
            order,
            log_f,
            position,
            chain.theta,
            chain.natural,
            chain.source,
        )
        if code == NEEDS_ROOM:
            chain.make_room()
            more = len(chain.ws.held) - log_f.shape[1]
            log_f = np.pad(log_f, ((0, 0), (0, more)))
            seats = more_seats(seats, room, len(chain.ws.held))
        elif code != DONE:
            chain.draw_new_theta(0, nothing)
            log_f[:, 0] = sums @ chain.natural[0]
    chain.forget_candidate()
    return seats


def _move_sums(sums: NDArray[np.float64], old: Ints, new: Ints, moved: NDArray[np.float64]) -> None:
    """Sums of statistics by component, after tables with sums `moved` have gone from old to new."""
    gone = old != new
    np.subtract.at(sums, old[gone], moved[gone])
    np.add.at(sums, new[gone], moved[gone])
