"""Rows with weights choose between two atoms: products of vectors, as where all count once.

A row of weight w adds w to its side's precision p and w (x - m) to its side's vector H.
"""

import math

import numpy as np

from bhmc._compiled.decorators import helper, summing
from bhmc.model.diffused.kernels.coordinates import product_at

# Rows of `scratch`: for each side the sum of values, rows seen, and the sum less as often m.
TOTAL, SEEN, AWAY = np.int64(0), np.int64(2), np.int64(4)


@helper
def log_gaussian(square, p, v, size):
    """Evidence of p rows whose distances from m add up to a vector of this squared length."""
    return 0.5 * (v * square / (1.0 + p * v) - size * math.log(1.0 + p * v))


@summing
def weighted_products(forest, numbers, z, i):
    """(|x|^2, H_0 . x, H_1 . x) of x, a row's weight times its distance from m."""
    square, with_0, with_1, w = 0.0, 0.0, 0.0, numbers.seen[i, 0]
    for d in range(len(forest.column)):
        x = numbers.value[i, d] - w * forest.location[z, d]
        square += x * x
        with_0 += x * forest.scratch[AWAY, d]
        with_1 += x * forest.scratch[AWAY + 1, d]
    return square, with_0, with_1


@helper
def weigh_alone_by_weights(forest, numbers, room, n, z, i, j):
    """odds[r] = log p(row r | row i) / p(row r | row j), for n rows of leaf z."""
    size, v = forest.repeats[0], forest.variance[len(forest.variance) - 1, 0]
    w_i, w_j = numbers.seen[i, 0], numbers.seen[j, 0]
    for d in range(len(forest.column)):
        forest.scratch[AWAY, d] = numbers.value[i, d] - w_i * forest.location[z, d]
        forest.scratch[AWAY + 1, d] = numbers.value[j, d] - w_j * forest.location[z, d]
    s_i = product_at(forest.scratch, AWAY, forest.scratch, AWAY)
    s_j = product_at(forest.scratch, AWAY + 1, forest.scratch, AWAY + 1)
    level = log_gaussian(s_j, w_j, v, size) - log_gaussian(s_i, w_i, v, size)
    for r in range(n):
        w = numbers.seen[room.member[r], 0]
        square, with_i, with_j = weighted_products(forest, numbers, z, room.member[r])
        both_i = log_gaussian(s_i + 2.0 * with_i + square, w_i + w, v, size)
        both_j = log_gaussian(s_j + 2.0 * with_j + square, w_j + w, v, size)
        room.odds[r] = level + both_i - both_j


@helper
def add_odds_by_weights(forest, numbers, room, n, z):
    """odds[r] += log p(x_r | the other rows of side 0), -= that of side 1."""
    size, v = forest.repeats[0], forest.variance[len(forest.variance) - 1, 0]
    for side in range(2):
        for d in range(len(forest.column)):
            away = forest.scratch[SEEN + side, d] * forest.location[z, d]
            forest.scratch[AWAY + side, d] = forest.scratch[TOTAL + side, d] - away
    p_0, p_1 = forest.scratch[SEEN, 0], forest.scratch[SEEN + 1, 0]
    s_0 = product_at(forest.scratch, AWAY, forest.scratch, AWAY)
    s_1 = product_at(forest.scratch, AWAY + 1, forest.scratch, AWAY + 1)
    all_0, all_1 = log_gaussian(s_0, p_0, v, size), log_gaussian(s_1, p_1, v, size)
    for r in range(n):
        w = numbers.seen[room.member[r], 0]
        sign = -1.0 if room.side[r] == 0 else 1.0  # it leaves side 0, or joins it
        square, with_0, with_1 = weighted_products(forest, numbers, z, room.member[r])
        other_0 = log_gaussian(s_0 + 2.0 * sign * with_0 + square, p_0 + sign * w, v, size)
        other_1 = log_gaussian(s_1 - 2.0 * sign * with_1 + square, p_1 - sign * w, v, size)
        room.odds[r] += sign * (other_0 - all_0) + sign * (other_1 - all_1)
