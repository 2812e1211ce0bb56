"""Numbers of one row: the largest, a draw in proportion."""

import math

from bhmc._compiled.decorators import helper
from bhmc._compiled.random_source import uniform
from bhmc.model.hdp.workspace import BLOCK, WEIGHT

# A sum of products below this may have lost terms that matter, above the other a term was too
# large: then other means decide.
TOO_SMALL, TOO_LARGE = 2.0**-400, 2.0**400


@helper
def largest(table, row, width):
    """The largest of a row's first `width` entries: four at a time, not one after the other."""
    a = b = c = d = table[row, 0]
    for k in range(0, width, 4):
        a, b = max(a, table[row, k]), max(b, table[row, k + 1])
        c, d = max(c, table[row, k + 2]), max(d, table[row, k + 3])
    return max(max(a, b), max(c, d))


@helper
def pick(scratch, block_sums, width, target):
    """(k, what is left of target) where the running sum of the weights, not all 0, passes it.

    Counting the sums that do not pass needs no branch, and so none that is guessed wrong.
    """
    block, before, running = 0, 0.0, 0.0
    for b in range(width // BLOCK):
        running += block_sums[b]
        if running <= target:
            block, before = b + 1, running
    target -= before
    if block * BLOCK < width:
        k, before, running = block * BLOCK, 0.0, 0.0
        for j in range(BLOCK):
            running += scratch[WEIGHT, block * BLOCK + j]
            if running <= target:
                k, before = block * BLOCK + j + 1, running
        if k < (block + 1) * BLOCK:
            return k, target - before
    # Rounding put the target at or beyond the end of its block: the last weight before it.
    k = min(block * BLOCK + BLOCK, width) - 1
    while scratch[WEIGHT, k] == 0.0:
        k -= 1
    return k, scratch[WEIGHT, k]


@helper
def draw_index(log_w, row, size, rng):
    """P(i) proportional to exp(log_w[row, i]), i < size."""
    top = -math.inf
    for i in range(size):
        top = max(top, log_w[row, i])
    total = 0.0
    for i in range(size):
        total += math.exp(log_w[row, i] - top)
    target = uniform(rng) * total
    last = 0
    for i in range(size):
        weight = math.exp(log_w[row, i] - top)
        if weight > 0.0:
            last = i
            target -= weight
            if target < 0.0:
                break
    return last
