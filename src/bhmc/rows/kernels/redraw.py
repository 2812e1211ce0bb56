"""All rows of a tile choose at once: the fast form of `reference.redraw`.

The table has a line for each open component, so that many rows are weighed at a time.
"""

import math

import numpy as np

from bhmc._compiled.decorators import compiled, helper, summing
from bhmc._compiled.exponential import exp_within
from bhmc._compiled.keyed_numbers import fill_shared, uniform_of, words_of

# Rows that are weighed at a time: their running sums stay in the nearest cache.
STRIP = 64

# Running sums above this had a term too large for their unit: then the largest term is the unit.
_TOO_LARGE = 2.0**400
# No exponent is larger: its power is above _TOO_LARGE, and sums of many are finite.
_LARGEST_EXPONENT_OF_E = 345.0

# Places in the strip's scratch: the unit of each row's weights, their sum, what running sums are
# compared with, the row's choice, and its random numbers.
_UNIT, _TOTAL, _TARGET, _PICK = np.int64(0), np.int64(1), np.int64(2), np.int64(3)
_ANCHOR, _ENTRY, _KEEP = np.int64(4), np.int64(5), np.int64(6)
N_SCRATCH = 7


@helper
def find_units(table, log_weight, own, first, n, scratch):
    """The unit of each row's weights: that of its component now, as it is near the largest."""
    for i in range(n):
        k = max(own[i], 0)
        unit = table[k, first + i] + log_weight[k]
        scratch[_UNIT, i] = unit if abs(unit) < math.inf else 0.0


@summing
def add_line(line, shift, unit, running, total):
    """running[i] = total[i] += exp(line[i] + shift - unit[i])."""
    for i in range(STRIP):
        total[i] += exp_within(min(line[i] + shift - unit[i], _LARGEST_EXPONENT_OF_E))
        running[i] = total[i]


@helper
def add_short_line(line, shift, unit, running, total, n):
    """The same of the last rows of a tile."""
    for i in range(n):
        total[i] += exp_within(min(line[i] + shift - unit[i], _LARGEST_EXPONENT_OF_E))
        running[i] = total[i]


@helper
def add_up(table, log_weight, first, n, scratch, running):
    """running[k, i] = the sum of the weights of options 0, ..., k of row first + i."""
    unit, total = scratch[_UNIT], scratch[_TOTAL]
    total[:] = 0.0
    for k in range(len(log_weight)):
        line = table[k, first : first + n]
        if n == STRIP:
            add_line(line, log_weight[k], unit, running[k], total)
        else:
            add_short_line(line, log_weight[k], unit, running[k], total, n)


@helper
def add_up_row(table, log_weight, row, i, scratch, running):
    """The same of a single row, in units of its largest weight."""
    unit, total = -math.inf, 0.0
    for k in range(len(log_weight)):
        unit = max(unit, table[k, row] + log_weight[k])
    for k in range(len(log_weight)):
        total += exp_within(table[k, row] + log_weight[k] - unit)
        running[k, i] = total
    scratch[_TOTAL, i] = total


@summing
def count_below(running, target, pick):
    """pick[i] += 1 where running[i] <= target[i]."""
    for i in range(STRIP):
        pick[i] += 1.0 if running[i] <= target[i] else 0.0


@helper
def last_with_weight(running, n_options, i):
    """The last option of row i that has a weight: where rounding puts a draw beyond the end."""
    k = n_options - 1
    while k > 0 and running[k - 1, i] == running[k, i]:
        k -= 1
    return k


@helper
def draw_leaf(menu, k, u_entry, u_keep):
    """An entry of the alias table of component k."""
    m = len(menu.leaves)
    if m == 1:
        return np.int64(0)
    j = min(np.int64(u_entry * m), m - 1)
    return menu.alias[k, j] if u_keep >= menu.accept[k, j] else j


@helper
def find_moving(place, is_open, key, first_row, rate, leaf, component, own, scratch):
    """own[i] = the line of row i's component if the row may move, else -1."""
    n = len(leaf)
    fill_shared(key, first_row, scratch[_ANCHOR, :n])
    for i in range(n):
        own[i] = -1
        if scratch[_ANCHOR, i] >= rate and is_open[leaf[i]]:
            own[i] = place[component[i]]


@helper
def set_targets(table, log_weight, key, row, first, own, scratch, running, n):
    """target[i] = U times the sum of the weights of row i, which may move; and two numbers more."""
    for i in range(n):
        scratch[_TARGET, i], scratch[_PICK, i] = 0.0, 0.0
        if own[i] < 0:
            continue
        if not 0.0 < scratch[_TOTAL, i] < _TOO_LARGE:
            add_up_row(table, log_weight, first + i, i, scratch, running)
        a, b, c, _ = words_of(np.uint64(1), key, row + i)
        scratch[_TARGET, i] = uniform_of(a) * scratch[_TOTAL, i]
        scratch[_ENTRY, i], scratch[_KEEP, i] = uniform_of(b), uniform_of(c)


@helper
def settle(menu, leaf, component, own, scratch, running):
    """The rows of a strip that may move go where they chose; how many moved."""
    moved = 0
    for i in range(len(leaf)):
        if own[i] < 0:
            continue
        k = np.int64(scratch[_PICK, i])
        if k >= len(menu.log_weight):
            k = last_with_weight(running, len(menu.log_weight), i)
        j = draw_leaf(menu, k, scratch[_ENTRY, i], scratch[_KEEP, i])
        moved += leaf[i] != menu.leaves[j] or component[i] != menu.columns[k]
        leaf[i], component[i] = menu.leaves[j], menu.columns[k]
    return moved


@compiled
def redraw_tile(table, menu, place, is_open, key, first_row, leaf, component, room):
    """(leaf, component) of each row that may move ~ w_leaf beta_leaf,k f(x_n; theta_k); how many
    rows moved.

    Parameters
    ----------
    table : (A, m) array
        log f(x_n; theta_k) of the open components, less a number of the row's own.
    menu : Menu
        What rows may choose.
    place : (columns,) array
        The line of each column's component in `table`, -1 where it is not open.
    is_open : (slots,) array
        Whether a leaf is open.
    key, first_row : int
        Of this sweep, and the number of the tile's first row among all rows.
    leaf, component : (n,) arrays
        Where the rows are; changed in place. n <= m.
    room : tuple
        What `strip_room` made: whole numbers (STRIP,), numbers (N_SCRATCH, STRIP) and (A, STRIP).
    """
    own, scratch, running = room
    moved = 0
    for first in range(0, len(leaf), STRIP):
        n = min(STRIP, len(leaf) - first)
        leaves, components = leaf[first : first + n], component[first : first + n]
        row, log_weight = first_row + first, menu.log_weight
        find_moving(place, is_open, key, row, menu.anchor_rate, leaves, components, own, scratch)
        find_units(table, log_weight, own, first, n, scratch)
        add_up(table, log_weight, first, n, scratch, running)
        set_targets(table, log_weight, key, row, first, own, scratch, running, n)
        for k in range(len(log_weight)):
            count_below(running[k], scratch[_TARGET], scratch[_PICK])
        moved += settle(menu, leaves, components, own, scratch, running)
    return moved


@compiled
def mark_anchored(key, first_row, rate, leaf, component, leaves, columns, scratch):
    """leaves[z] and columns[k] = True where an anchor is at that leaf and in that component."""
    room = scratch[_ANCHOR]
    for first in range(0, len(leaf), STRIP):
        n = min(STRIP, len(leaf) - first)
        fill_shared(key, first_row + first, room[:n])
        for i in range(n):
            if room[i] < rate:
                leaves[leaf[first + i]] = True
                columns[component[first + i]] = True
