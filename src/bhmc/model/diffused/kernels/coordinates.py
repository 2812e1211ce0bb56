"""Coordinates of rows, Gaussian or logits: evidence of a group, draws of theta, lines of log f."""

import math

import numpy as np

from bhmc._compiled.decorators import helper, merged, summing
from bhmc._compiled.distributions import normal_draw
from bhmc._compiled.logistic_normal import log_integral, log_probabilities, logit_draw

# Rows of `scratch` that hold a line: log f of a row is slope . value - fall . seen, and a number.
SLOPE, FALL = np.int64(0), np.int64(1)


@helper
def seen_at(numbers, n, d):
    """1 where row n is not missing in coordinate d; its weight, where rows have weights."""
    if len(numbers.seen) == 0:
        return 1.0
    return numbers.seen[n, d if d < numbers.seen.shape[1] else 0]


@helper
def counts_by_row(numbers):
    """Whether `seen` has one number for all coordinates of a row, which are Gaussian."""
    return numbers.seen.shape[1] == 1 and not numbers.is_logit[0]


@merged
def log_group_around(numbers, d, total, seen, m, v):
    """log of the integral of f of a group of rows over N(m, v) in coordinate d, as `log_group`."""
    if numbers.is_logit[d]:
        return log_integral(total, seen, m, v)
    away, wide = total - seen * m, 1.0 + seen * v
    return 0.5 * (v * away * away / wide - math.log(wide))


@merged
def log_group(forest, numbers, known, z, d, total, seen):
    """log of the integral of f of a group of rows of leaf z over N(m_z, v) in coordinate d.

    `total` is the sum of the rows' values, `seen` how many there are. Numbers that are the same
    however rows are grouped are left out. Integrals of logits are remembered.
    """
    m, v = forest.location[z, d], forest.variance[len(forest.variance) - 1, forest.column[d]]
    if not numbers.is_logit[d]:
        return log_group_around(numbers, d, total, seen, m, v)
    at = (((z * 131 + d) * 131 + int(seen)) * 131 + int(total)) % len(known)
    if known[at, 0] != z or known[at, 1] != d or known[at, 2] != total or known[at, 3] != seen:
        known[at, 0], known[at, 1], known[at, 2], known[at, 3] = z, d, total, seen
        known[at, 4] = log_group_around(numbers, d, total, seen, m, v)
    return known[at, 4]


@helper
def place_draw(numbers, d, total, seen, m, v, rng):
    """theta_d given the rows of a group and N(m, v): exact, without auxiliary variables."""
    if numbers.is_logit[d]:
        return logit_draw(total, seen, m, v, rng)
    precision = seen + 1.0 / v
    return (total + m / v) / precision + normal_draw(rng) / math.sqrt(precision)


@helper
def find_line(forest, numbers, places, here, anchor, level):
    """The line of log f* at places[here], less that at places[anchor].

    f* is the integral of f over N(place, variance of the steps below `level`); a place of the level
    after the last is theta itself, and f* is f.
    """
    for d in range(len(forest.column)):
        v, x, a = 0.0, places[here, d], places[anchor, d]
        for step in range(level + 1, len(forest.variance)):
            v += forest.variance[step, forest.column[d]]
        if numbers.is_logit[d]:
            one, zero = log_probabilities(x, v)
            one_there, zero_there = log_probabilities(a, v)
            forest.scratch[SLOPE, d] = (one - zero) - (one_there - zero_there)
            forest.scratch[FALL, d] = zero_there - zero
        else:
            slope = (x - a) / (1.0 + v)
            forest.scratch[SLOPE, d] = slope
            forest.scratch[FALL, d] = 0.5 * slope * (x + a)


@summing
def product_at(x, i, y, j):
    """x[i] . y[j], over the columns of y; x may have more."""
    total = 0.0
    for d in range(y.shape[1]):
        total += x[i, d] * y[j, d]
    return total


@summing
def sum_at(x, i):
    """The sum of x[i]."""
    total = 0.0
    for d in range(x.shape[1]):
        total += x[i, d]
    return total


@helper
def fill_young(forest, numbers, old, anchor, young, column, first, level):
    """young[n, column] = old[n, anchor] plus the line at row n, from row `first` on.

    Lines are those of rows that count once. Those of weight w have the variance 1 / w + v in place
    of 1 + v, v that of the steps below `level`.
    """
    fall, v, weighs = sum_at(forest.scratch, FALL), 0.0, counts_by_row(numbers)
    for step in range(level + 1, len(forest.variance)):
        v += forest.variance[step, 0]
    for n in range(first, len(young)):
        rise = product_at(numbers.value, n, forest.scratch, SLOPE)
        if len(numbers.seen) == 0:
            young[n, column] = old[n, anchor] + rise - fall
        elif weighs:
            w = numbers.seen[n, 0]
            young[n, column] = old[n, anchor] + (rise - w * fall) * ((1.0 + v) / (1.0 + w * v))
        else:
            own = product_at(numbers.seen, n, forest.scratch, FALL)
            young[n, column] = old[n, anchor] + rise - own
