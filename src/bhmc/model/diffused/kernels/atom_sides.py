"""The rows of an atom choose between two of them: log odds of the two sides, and what they gain.

A side's rows share one theta ~ N(m, v), m the location of the leaf. Where all coordinates are
Gaussian and none is missing, the evidence of p rows with the sum H of their distances from m is
v H^2 / (2 (1 + p v)) - D log(1 + p v) / 2: then a product or three of vectors are all that a row
needs. The same holds of rows with weights, where p and H are weighted sums (weighted_sides.py).
Else loops run over rows, coordinate by coordinate; those of logits are in logit_sides.py.
"""

import math

from bhmc._compiled.decorators import helper, summing
from bhmc.model.diffused.kernels.coordinates import log_group, product_at, seen_at
from bhmc.model.diffused.kernels.logit_sides import add_logit_alone, add_logit_of_sides
from bhmc.model.diffused.kernels.weighted_sides import (
    AWAY,
    SEEN,
    TOTAL,
    add_odds_by_weights,
    log_gaussian,
    weigh_alone_by_weights,
)


@helper
def add_to_sides(forest, numbers, room, n):
    """TOTAL and SEEN of both sides, from the sides of n rows; how many are on side 0."""
    for d in range(len(forest.column)):
        for row in range(TOTAL, SEEN + 2):
            forest.scratch[row, d] = 0.0
    first = 0
    for r in range(n):
        i, side = room.member[r], room.side[r]
        first += 1 - side
        for d in range(len(forest.column)):
            forest.scratch[TOTAL + side, d] += numbers.value[i, d]
        if len(numbers.seen) > 0:
            for d in range(len(forest.column)):
                forest.scratch[SEEN + side, d] += seen_at(numbers, i, d)
    if len(numbers.seen) == 0:
        for d in range(len(forest.column)):
            forest.scratch[SEEN, d], forest.scratch[SEEN + 1, d] = first, n - first
    return first


@helper
def weigh_alone(forest, numbers, room, n, z, i, j):
    """odds[r] = log p(row r | row i) / p(row r | row j), for n rows of leaf z."""
    if len(numbers.seen) == 0:
        weigh_alone_by_products(forest, numbers, room, n, z, i, j)
        return
    if numbers.seen.shape[1] < len(forest.column):
        weigh_alone_by_weights(forest, numbers, room, n, z, i, j)
        return
    for r in range(n):
        room.odds[r] = 0.0
    for d in range(len(forest.column)):
        if numbers.is_logit[d]:
            add_logit_alone(forest, numbers, room, n, z, d, i, j)
            continue
        for side in range(2):
            other, sign = (i, 1.0) if side == 0 else (j, -1.0)
            total, seen = numbers.value[other, d], numbers.seen[other, d]
            alone = log_group(forest, numbers, room.known, z, d, total, seen)
            for r in range(n):
                own = numbers.value[room.member[r], d] + total
                both = numbers.seen[room.member[r], d] + seen
                joint = log_group(forest, numbers, room.known, z, d, own, both)
                room.odds[r] += sign * (joint - alone)


@helper
def weigh_alone_by_products(forest, numbers, room, n, z, i, j):
    """The same: with distances x from m, v (|x_r + x_i|^2 - |x_r + x_j|^2) / (2 (1 + 2 v)), less
    v (|x_i|^2 - |x_j|^2) / (2 (1 + v)).
    """
    v, level = forest.variance[len(forest.variance) - 1, 0], 0.0
    for d in range(len(forest.column)):
        m = forest.location[z, d]
        x_i, x_j = numbers.value[i, d] - m, numbers.value[j, d] - m
        slope = (x_i - x_j) * v / (1.0 + 2.0 * v)
        forest.scratch[AWAY, d] = slope
        level += 0.5 * (x_i - x_j) * (x_i + x_j) * (v / (1.0 + 2.0 * v) - v / (1.0 + v))
        level -= slope * m
    for r in range(n):
        room.odds[r] = product_at(numbers.value, room.member[r], forest.scratch, AWAY) + level


@helper
def weigh_sides(forest, numbers, room, n, first, z):
    """odds[r] = log of the odds of side 0 for row r, all others being where `side` says.

    Those are rows of the side times p(x_r | all of them). `first` rows are on side 0.
    """
    # A side without other rows is that of i for i, of j for j: nobody draws those.
    on_0 = math.log(max(first - 1, 1)) - math.log(max(n - first, 1))
    on_1 = math.log(max(first, 1)) - math.log(max(n - first - 1, 1))
    for r in range(n):
        room.odds[r] = on_0 if room.side[r] == 0 else on_1
    if len(numbers.seen) == 0:
        add_odds_by_products(forest, numbers, room, n, first, z)
        return
    if numbers.seen.shape[1] < len(forest.column):
        add_odds_by_weights(forest, numbers, room, n, z)
        return
    for d in range(len(forest.column)):
        if numbers.is_logit[d]:
            add_logit_of_sides(forest, numbers, room, n, z, d)
            continue
        for side in range(2):
            total, seen = forest.scratch[TOTAL + side, d], forest.scratch[SEEN + side, d]
            whole = log_group(forest, numbers, room.known, z, d, total, seen)
            for r in range(n):
                sign = -1.0 if room.side[r] == side else 1.0  # it leaves, or joins
                own = total + sign * numbers.value[room.member[r], d]
                count = seen + sign * numbers.seen[room.member[r], d]
                gain = sign * (log_group(forest, numbers, room.known, z, d, own, count) - whole)
                room.odds[r] += gain if side == 0 else -gain


@summing
def products_with_sides(forest, numbers, z, i):
    """(|x|^2, H_0 . x, H_1 . x) of a row's distance x from m and those of both sides."""
    square, with_0, with_1 = 0.0, 0.0, 0.0
    for d in range(len(forest.column)):
        x = numbers.value[i, d] - forest.location[z, d]
        square += x * x
        with_0 += x * forest.scratch[AWAY, d]
        with_1 += x * forest.scratch[AWAY + 1, d]
    return square, with_0, with_1


@helper
def add_odds_by_products(forest, numbers, room, n, first, z):
    """odds[r] += log p(x_r | the other rows of side 0), -= that of side 1.

    A side of p rows has |H|^2 = S; one row more or less makes it |H|^2 +- 2 H . x + |x|^2.
    """
    size, v = forest.repeats[0], forest.variance[len(forest.variance) - 1, 0]
    for side in range(2):
        for d in range(len(forest.column)):
            away = forest.scratch[SEEN + side, d] * forest.location[z, d]
            forest.scratch[AWAY + side, d] = forest.scratch[TOTAL + side, d] - away
    s_0 = product_at(forest.scratch, AWAY, forest.scratch, AWAY)
    s_1 = product_at(forest.scratch, AWAY + 1, forest.scratch, AWAY + 1)
    for on in range(2):  # rows of side 0 leave it and might join side 1, then the others
        sign, p_0, p_1 = 2.0 * on - 1.0, float(first), float(n - first)
        level = sign * (log_gaussian(0.0, p_0 + sign, v, size) - log_gaussian(s_0, p_0, v, size))
        level += sign * (log_gaussian(0.0, p_1 - sign, v, size) - log_gaussian(s_1, p_1, v, size))
        slope_0 = 0.5 * v / (1.0 + (p_0 + sign) * v)
        slope_1 = 0.5 * v / (1.0 + (p_1 - sign) * v)
        for r in range(n):
            if room.side[r] == on:
                square, with_0, with_1 = products_with_sides(forest, numbers, z, room.member[r])
                square_0 = s_0 + 2.0 * sign * with_0 + square
                square_1 = s_1 - 2.0 * sign * with_1 + square
                room.odds[r] += level + sign * (slope_0 * square_0 + slope_1 * square_1)


@helper
def log_gain_of_sides(forest, numbers, room, z):
    """log p(rows | two atoms) - log p(rows | one), from TOTAL and SEEN of both sides."""
    gain = 0.0
    for d in range(len(forest.column)):
        total, seen = forest.scratch[TOTAL, d], forest.scratch[SEEN, d]
        other, other_seen = forest.scratch[TOTAL + 1, d], forest.scratch[SEEN + 1, d]
        gain += log_group(forest, numbers, room.known, z, d, total, seen)
        gain += log_group(forest, numbers, room.known, z, d, other, other_seen)
        gain -= log_group(forest, numbers, room.known, z, d, total + other, seen + other_seen)
    return gain
