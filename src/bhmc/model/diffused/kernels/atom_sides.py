"""The rows of an atom choose between two of them: log odds of the two sides, and what they gain.

A side's rows share one theta ~ N(m, v), m the location of the leaf. Where all coordinates are
Gaussian and none is missing, the evidence of p rows with the sum H of their distances from m is
v H^2 / (2 (1 + p v)) - D log(1 + p v) / 2, and loops run over coordinates; else they run over rows,
coordinate by coordinate.
"""

import math

from bhmc._compiled.decorators import helper, summing
from bhmc.model.diffused.kernels.coordinates import log_group, seen_at

# Rows of `scratch`: for each side the sum of values, rows seen, and the sum less as often m.
TOTAL, SEEN, AWAY = 0, 2, 4


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
        for d in range(len(forest.column)):
            forest.scratch[SEEN + side, d] += seen_at(numbers, i, d)
    return first


@helper
def find_away(forest, z):
    """AWAY of both sides."""
    for row in range(2):
        for d in range(len(forest.column)):
            away = forest.scratch[SEEN + row, d] * forest.location[z, d]
            forest.scratch[AWAY + row, d] = forest.scratch[TOTAL + row, d] - away


@helper
def log_gaussian(square, p, v, size):
    """Evidence of p rows whose distances from m add up to a vector of this squared length."""
    return 0.5 * (v * square / (1.0 + p * v) - size * math.log(1.0 + p * v))


@summing
def square_with(forest, numbers, z, i, row, sign):
    """|H + sign (x_i - m_z)|^2, H a row of `scratch`."""
    total = 0.0
    for d in range(len(forest.column)):
        x = forest.scratch[row, d] + sign * (numbers.value[i, d] - forest.location[z, d])
        total += x * x
    return total


@helper
def weigh_alone(forest, numbers, room, n, z, i, j):
    """odds[r] = log p(row r | row i) / p(row r | row j), for n rows of leaf z."""
    for r in range(n):
        room.odds[r] = 0.0
    if len(numbers.seen) == 0:
        size, v = forest.repeats[0], forest.variance[len(forest.variance) - 1, 0]
        for d in range(len(forest.column)):
            forest.scratch[AWAY, d] = numbers.value[i, d] - forest.location[z, d]
            forest.scratch[AWAY + 1, d] = numbers.value[j, d] - forest.location[z, d]
        for side in range(2):
            sign = 1.0 - 2.0 * side
            alone = log_gaussian(square_with(forest, numbers, z, i, AWAY + side, 0.0), 1.0, v, size)
            for r in range(n):
                square = square_with(forest, numbers, z, room.member[r], AWAY + side, 1.0)
                room.odds[r] += sign * (log_gaussian(square, 2.0, v, size) - alone)
        return
    for d in range(len(forest.column)):
        for side in range(2):
            other, sign = (i, 1.0) if side == 0 else (j, -1.0)
            total, seen = numbers.value[other, d], seen_at(numbers, other, d)
            alone = log_group(forest, numbers, room.known, z, d, total, seen)
            for r in range(n):
                own = numbers.value[room.member[r], d] + total
                both = seen_at(numbers, room.member[r], d) + seen
                joint = log_group(forest, numbers, room.known, z, d, own, both)
                room.odds[r] += sign * (joint - alone)


@helper
def weigh_sides(forest, numbers, room, n, first, z):
    """odds[r] = log of the odds of side 0 for row r, all others being where `side` says.

    Those are rows of the side times p(x_r | all of them). `first` rows are on side 0.
    """
    for r in range(n):
        n_0 = first - 1 + room.side[r]
        n_1 = n - 1 - n_0
        # A side without other rows is that of i for i, of j for j: nobody draws those.
        room.odds[r] = math.log(max(n_0, 1)) - math.log(max(n_1, 1))
    if len(numbers.seen) == 0:
        find_away(forest, z)
        for side in range(2):
            add_joining(forest, numbers, room, n, z, side, first if side == 0 else n - first)
        return
    for d in range(len(forest.column)):
        for side in range(2):
            total, seen = forest.scratch[TOTAL + side, d], forest.scratch[SEEN + side, d]
            whole = log_group(forest, numbers, room.known, z, d, total, seen)
            for r in range(n):
                sign = -1.0 if room.side[r] == side else 1.0  # it leaves, or joins
                own = total + sign * numbers.value[room.member[r], d]
                count = seen + sign * seen_at(numbers, room.member[r], d)
                gain = sign * (log_group(forest, numbers, room.known, z, d, own, count) - whole)
                room.odds[r] += gain if side == 0 else -gain


@helper
def add_joining(forest, numbers, room, n, z, side, count):
    """odds[r] += log p(x_r | the other rows of side 0), or -= that of side 1."""
    size, v = forest.repeats[0], forest.variance[len(forest.variance) - 1, 0]
    none = square_with(forest, numbers, z, room.member[0], AWAY + side, 0.0)
    whole = log_gaussian(none, count, v, size)
    for r in range(n):
        sign = -1.0 if room.side[r] == side else 1.0
        square = square_with(forest, numbers, z, room.member[r], AWAY + side, sign)
        gain = sign * (log_gaussian(square, count + sign, v, size) - whole)
        room.odds[r] += gain if side == 0 else -gain


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
