"""Compiled code over rows: sums of statistics, and rows that redraw at once."""

from bhmc.rows.kernels.alias import alias_tables
from bhmc.rows.kernels.redraw import N_SCRATCH, STRIP, mark_anchored, redraw_tile
from bhmc.rows.kernels.sums import add_rows, count_cells, move_rows, sort_by_column

__all__ = [
    "N_SCRATCH",
    "STRIP",
    "add_rows",
    "alias_tables",
    "count_cells",
    "mark_anchored",
    "move_rows",
    "redraw_tile",
    "sort_by_column",
]
