"""All rows of a block are redrawn at once and added up, tile by tile; blocks run on threads."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from bhmc._compiled.aligned import aligned
from bhmc.likelihoods import ConjugateFamily
from bhmc.rows import kernels
from bhmc.rows.kernels import N_SCRATCH, STRIP, redraw_tile
from bhmc.rows.protocol import Menu, Totals
from bhmc.rows.tiles import add_statistics, tile_height


def strip_room(n_options: int) -> tuple[NDArray, NDArray, NDArray]:
    """Room for a strip of rows: their lines, their numbers, and running sums of their weights.

    Parameters
    ----------
    n_options : int
        Open components.
    """
    own = np.zeros(STRIP, dtype=np.int64)
    return own, aligned((N_SCRATCH, STRIP), 0.0), aligned((n_options, STRIP), 0.0)


def redraw_block(
    menu: Menu,
    key: int,
    first_row: int,
    family: ConjugateFamily,
    rows: slice,
    leaf: NDArray[np.int32],
    component: NDArray[np.int32],
    shape: tuple[int, int],
    dtype: Any,
) -> Totals:
    """Redraw all rows of a block that may move, and add all of its rows up.

    Tiles begin at the block's first row and have one height: so their numbers are the same
    wherever the block is.

    Parameters
    ----------
    menu, key, shape
        As in `Rows.redraw`.
    first_row : int
        The number of the block's first row among all rows.
    family : ConjugateFamily
        Bound to the block, or to more.
    rows : slice
        The block among the family's rows.
    leaf, component : (n,) arrays
        Where the block's rows are; changed in place.
    dtype : type
        Of the likelihood tables.
    """
    n, height = rows.stop - rows.start, tile_height(family.n_statistics)
    counts, sums = np.zeros(shape, dtype=np.int64), np.zeros((shape[1], family.n_statistics))
    table = aligned((len(menu.columns), min(height, n)), 0.0, dtype)
    place, is_open = places_of(menu, shape)
    room, moved = strip_room(len(menu.columns)), 0
    for first in range(0, n, height):
        tile = slice(first, min(first + height, n))
        own = slice(rows.start + tile.start, rows.start + tile.stop)
        statistics, z, c = family.statistics(own), leaf[tile], component[tile]
        if len(menu.columns):
            family.fill(own, statistics, menu.natural, table.T[: len(z)])
            given = np.uint64(key), first_row + first
            moved += redraw_tile(table, menu, place, is_open, *given, z, c, room)
        kernels.count_cells(z, c, counts)
        add_statistics(statistics, c, sums)
    return Totals(counts, sums, moved)


def places_of(menu: Menu, shape: tuple[int, int]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """(the line of each column in the menu, -1 where it is not open; whether each slot is open).

    Parameters
    ----------
    menu : Menu
        What rows may choose.
    shape : (slots, columns)
        Of the sampler's arrays.
    """
    place, is_open = np.full(shape[1], -1), np.zeros(shape[0], dtype=bool)
    place[menu.columns], is_open[menu.leaves] = np.arange(len(menu.columns)), True
    return place, is_open


Value = TypeVar("Value")


def in_order(
    work: Callable[[slice], Value], blocks: Sequence[slice], n_threads: int
) -> Iterable[Value]:
    """What `work` returns for each block, in the order of the blocks.

    Parameters
    ----------
    work : callable
        Of a block.
    blocks : list of slice
        All blocks.
    n_threads : int
        How many work at a time.
    """
    if n_threads == 1 or len(blocks) == 1:
        return map(work, blocks)
    return _on_threads(work, blocks, n_threads)


def _on_threads(
    work: Callable[[slice], Value], blocks: Sequence[slice], n_threads: int
) -> Iterator[Value]:
    with ThreadPoolExecutor(n_threads) as pool:
        yield from pool.map(work, blocks)
