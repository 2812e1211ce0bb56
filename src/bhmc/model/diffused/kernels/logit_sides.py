"""Rows of 0 and 1 choose between two atoms: a Beta law stands in for the normal law of a logit.

What rows choose by must be the same both ways, but need not be exact: the ratio of a proposal is.
Beta(a, b) with the mean and variance of sigmoid(theta), theta ~ N(m, v), takes two integrals for a
leaf and a coordinate; the exact law takes one for every number of rows. Given one row both agree.
"""

import math

from bhmc._compiled.decorators import helper, merged
from bhmc.model.diffused.kernels.coordinates import log_group
from bhmc.model.diffused.kernels.weighted_sides import SEEN, TOTAL

# The mean, and 1 / (a + b + 1), stay so far from 0.
_LEAST_MEAN, _LEAST_SHARE = 1e-300, 1e-9


@helper
def beta_of(forest, numbers, known, z, d):
    """(a, b) at leaf z in coordinate d, from the smaller of the two probabilities."""
    log_one = log_group(forest, numbers, known, z, d, 1.0, 1.0)
    one = log_one < -math.log(2.0)
    log_mean = log_one if one else log_group(forest, numbers, known, z, d, 0.0, 1.0)
    log_square = log_group(forest, numbers, known, z, d, 2.0 if one else 0.0, 2.0)
    mean = max(math.exp(log_mean), _LEAST_MEAN)
    share = (math.exp(log_square - log_mean) - mean) / (1.0 - mean)
    share = min(max(share, _LEAST_SHARE), 1.0 - _LEAST_SHARE)
    rows = 1.0 / share - 1.0
    a, b = mean * rows, (1.0 - mean) * rows
    return (a, b) if one else (b, a)


@merged
def log_next(ones, seen, a, b):
    """log p(1) and log p(0) of one row more, given `seen` rows."""
    whole = math.log(seen + a + b)
    return math.log(max(ones, 0.0) + a) - whole, math.log(max(seen - ones, 0.0) + b) - whole


@helper
def add_logit_alone(forest, numbers, room, n, z, d, i, j):
    """odds[r] += log p(row r | row i) / p(row r | row j) in coordinate d."""
    a, b = beta_of(forest, numbers, room.known, z, d)
    one_i, zero_i = log_next(numbers.value[i, d], numbers.seen[i, d], a, b)
    one_j, zero_j = log_next(numbers.value[j, d], numbers.seen[j, d], a, b)
    for r in range(n):
        x, seen = numbers.value[room.member[r], d], numbers.seen[room.member[r], d]
        room.odds[r] += x * (one_i - one_j) + (seen - x) * (zero_i - zero_j)


@helper
def add_logit_of_sides(forest, numbers, room, n, z, d):
    """odds[r] += log p(x_r | the other rows of side 0), -= that of side 1, in coordinate d."""
    a, b = beta_of(forest, numbers, room.known, z, d)
    for side in range(2):
        sign = 1.0 - 2.0 * side
        total, seen = forest.scratch[TOTAL + side, d], forest.scratch[SEEN + side, d]
        one, zero = log_next(total, seen, a, b)
        # A row of this side is not among the others: one row less, a 1 or a 0.
        fewer = max(seen - 1.0, 0.0)
        one_without, _ = log_next(total - 1.0, fewer, a, b)
        _, zero_without = log_next(total, fewer, a, b)
        for r in range(n):
            x, own = numbers.value[room.member[r], d], numbers.seen[room.member[r], d]
            if room.side[r] == side:
                room.odds[r] += sign * (x * one_without + (own - x) * zero_without)
            else:
                room.odds[r] += sign * (x * one + (own - x) * zero)
