"""Sibling nodes become one, or a node becomes two; theta and m are integrated out.

An item is what hangs under a node: an atom under a leaf, a subtree under an inner node. Two items a
and b of the same grandparent are drawn. If they share a parent, its items choose between a and b,
and the parent may split so; if they do not, their parents may merge. The choice of a and b has the
same probability both ways, because it looks at the grandparent only.
"""

import math

import numpy as np

from bhmc._compiled.decorators import compiled, helper, summing
from bhmc._compiled.random_source import uniform
from bhmc.model.diffused.kernels.messages import (
    FACTOR,
    OTHER_FACTOR,
    add_times,
    collect,
    find_beliefs,
    log_fit,
    set_to_sum,
)
from bhmc.model.diffused.kernels.places import concentration, free_slot, log_sigmoid

# Rows of `scratch`: the grandparent without the items, the two sides, and room for a width.
_CAVITY, _SIDES, _SPREADS = np.int64(2), np.int64(4), np.int64(6)
_SUMS, _SUM_PRECISIONS, _WIDTH = np.int64(8), np.int64(10), np.int64(12)


@helper
def parent_of(forest, item, of_atoms):
    """The node that an item hangs under."""
    return forest.leaf[item] if of_atoms else forest.parent[item]


@helper
def rows_of(forest, item, of_atoms):
    """How many rows an item has."""
    return forest.count[item] if of_atoms else forest.rows[item]


@helper
def list_items(forest, first, second, of_atoms):
    """lists[0] = the items of two nodes; how many they are."""
    n = 0
    for item in range(forest.used[1] if of_atoms else forest.used[0]):
        exists = forest.leaf[item] >= 0 if of_atoms else forest.level[item] > 0
        if exists:
            z = parent_of(forest, item, of_atoms)
            if z == first or z == second:
                forest.lists[0, n] = item
                n += 1
    return n


@helper
def find_cavity(forest, first, second):
    """scratch[2:4] = mean and variance of the grandparent's m without messages of both nodes."""
    y, v = forest.parent[first], forest.level[first]
    for c in range(len(forest.repeats)):
        step, a = forest.variance[v, c], 1.0 / forest.spread[y, c]
        a -= forest.up_precision[first, c] / (1.0 + forest.up_precision[first, c] * step)
        if second != first:
            a -= forest.up_precision[second, c] / (1.0 + forest.up_precision[second, c] * step)
        forest.scratch[_CAVITY + 1, c] = 1.0 / a
        forest.scratch[FACTOR, c] = 1.0 / (a * forest.spread[y, c])
        fall = -1.0 / (a * (1.0 + forest.up_precision[first, c] * step))
        forest.scratch[OTHER_FACTOR, c] = fall
    set_to_sum(forest, forest.scratch, _CAVITY, forest.mean, y, forest.up_linear, first)
    if second != first:
        for c in range(len(forest.repeats)):
            below = 1.0 + forest.up_precision[second, c] * forest.variance[v, c]
            forest.scratch[FACTOR, c] = -forest.scratch[_CAVITY + 1, c] / below
        add_times(forest, forest.scratch, _CAVITY, forest.up_linear, second)


@helper
def clear_side(forest, side):
    """The sums of a side are 0."""
    for d in range(len(forest.column)):
        forest.scratch[_SUMS + side, d] = 0.0
    for c in range(len(forest.repeats)):
        forest.scratch[_SUM_PRECISIONS + side, c] = 0.0


@helper
def add_item(forest, precision, linear, item, step, side):
    """The message of an item is added to the sums of a side."""
    for c in range(len(forest.repeats)):
        p = precision[item, c]
        factor = 1.0 / (1.0 + p * forest.variance[step, c])
        forest.scratch[FACTOR, c] = factor
        forest.scratch[_SUM_PRECISIONS + side, c] += factor * p
    add_times(forest, forest.scratch, _SUMS + side, linear, item)


@helper
def settle_side(forest, level, side):
    """scratch rows of a side: mean and variance of its m given the messages added up."""
    for c in range(len(forest.repeats)):
        wide = forest.scratch[_CAVITY + 1, c] + forest.variance[level, c]
        spread = 1.0 / (forest.scratch[_SUM_PRECISIONS + side, c] + 1.0 / wide)
        forest.scratch[_SPREADS + side, c] = spread
        forest.scratch[FACTOR, c] = spread
        forest.scratch[OTHER_FACTOR, c] = spread / wide
    place = _SIDES + side
    set_to_sum(forest, forest.scratch, place, forest.scratch, _SUMS + side, forest.scratch, _CAVITY)


@helper
def log_odds(forest, precision, linear, item, step):
    """log of p(evidence of an item on side 0) over that on side 1."""
    total = 0.0
    for side in range(2):
        for c in range(len(forest.repeats)):
            width = forest.scratch[_SPREADS + side, c] + forest.variance[step, c]
            forest.scratch[_WIDTH, c] = width
        fit = log_fit(forest, precision, linear, item, forest.scratch, _SIDES + side, _WIDTH)
        total += fit if side == 0 else -fit
    return total


@helper
def draw_sides(forest, precision, linear, a, b, n, level, known, other, of_atoms, rng):
    """lists[1] = the side of every item, 0 with a and 1 with b; log of the probability of that.

    First each item goes where its evidence fits better given a or b alone. Then it draws, each side
    being what went there. Where `known`, items of the node `other` are on side 1.
    """
    step = level + 1
    for side in range(2):
        clear_side(forest, side)
        add_item(forest, precision, linear, a if side == 0 else b, step, side)
        settle_side(forest, level, side)
    for i in range(n):
        item = forest.lists[0, i]
        odds = log_odds(forest, precision, linear, item, step)
        forest.lists[1, i] = 0 if odds > 0.0 else 1
    for i in range(n):
        item = forest.lists[0, i]
        if item != a and item != b:
            add_item(forest, precision, linear, item, step, forest.lists[1, i])
    for side in range(2):
        settle_side(forest, level, side)
    log_q = 0.0
    for i in range(n):
        item = forest.lists[0, i]
        if item == a or item == b:
            forest.lists[1, i] = 0 if item == a else 1
            continue
        odds = log_odds(forest, precision, linear, item, step)
        if known:
            side = 1 if parent_of(forest, item, of_atoms) == other else 0
        else:
            side = 0 if math.log(uniform(rng)) < log_sigmoid(odds) else 1
        forest.lists[1, i] = side
        log_q += log_sigmoid(odds if side == 0 else -odds)
    return log_q


@summing
def log_gain(forest, level):
    """log p(evidence | two nodes) - log p(evidence | one), from the sums of both sides.

    The evidence (P, H) of a node's items gives the node the factor -log(1 + P v) / 2
    + v H^2 / (2 (1 + P v)) and the message (P, H) / (1 + P v); messages meet the cavity N(a, w).
    """
    total = 0.0
    for d in range(len(forest.column)):
        c = forest.column[d]
        v, w = forest.variance[level, c], forest.scratch[_CAVITY + 1, c]
        a = forest.scratch[_CAVITY, d]
        p0, p1 = forest.scratch[_SUM_PRECISIONS, c], forest.scratch[_SUM_PRECISIONS + 1, c]
        h0, h1 = forest.scratch[_SUMS, d], forest.scratch[_SUMS + 1, d]
        p, h = p0 + p1, h0 + h1
        q = p0 / (1.0 + p0 * v) + p1 / (1.0 + p1 * v)
        e = h0 / (1.0 + p0 * v) + h1 / (1.0 + p1 * v)
        total += 0.5 * v * (h0 * h0 / (1.0 + p0 * v) + h1 * h1 / (1.0 + p1 * v))
        total -= 0.5 * v * h * h / (1.0 + p * v)
        total += (e * (a + 0.5 * w * e) - 0.5 * q * a * a) / (1.0 + q * w)
        q, e = p / (1.0 + p * v), h / (1.0 + p * v)
        total -= (e * (a + 0.5 * w * e) - 0.5 * q * a * a) / (1.0 + q * w)
    for c in range(len(forest.repeats)):
        v, w = forest.variance[level, c], forest.scratch[_CAVITY + 1, c]
        p0, p1 = forest.scratch[_SUM_PRECISIONS, c], forest.scratch[_SUM_PRECISIONS + 1, c]
        q = p0 / (1.0 + p0 * v) + p1 / (1.0 + p1 * v)
        p = p0 + p1
        change = math.log1p(p0 * v) + math.log1p(p1 * v) - math.log1p(p * v)
        change += math.log1p(q * w) - math.log1p(p / (1.0 + p * v) * w)
        total -= 0.5 * forest.repeats[c] * change
    return total


@helper
def log_prior_gain(first, second, alpha, conc):
    """log p(tree | nodes of so many rows each) - log p(tree | one node)."""
    n = first + second
    return (
        math.log(alpha)
        + math.lgamma(first)
        + math.lgamma(second)
        - math.lgamma(n)
        + math.lgamma(conc)
        + math.lgamma(conc + n)
        - math.lgamma(conc + first)
        - math.lgamma(conc + second)
    )


@helper
def log_ratio(forest, precision, linear, n, level, alpha, conc, of_atoms):
    """log of p(two nodes) / p(one node), from lists[0] and lists[1]."""
    first = second = np.int64(0)
    for side in range(2):
        clear_side(forest, side)
    for i in range(n):
        item, side = forest.lists[0, i], forest.lists[1, i]
        add_item(forest, precision, linear, item, level + 1, side)
        rows = rows_of(forest, item, of_atoms)
        first += rows if side == 0 else 0
        second += rows if side == 1 else 0
    return log_gain(forest, level) + log_prior_gain(first, second, alpha, conc)


@helper
def separate(forest, z, n, of_atoms):
    """Items of side 1 move from z to a new sibling of z."""
    y, rows = free_slot(forest), 0
    forest.parent[y], forest.level[y] = forest.parent[z], forest.level[z]
    for i in range(n):
        if forest.lists[1, i] == 1:
            item = forest.lists[0, i]
            rows += rows_of(forest, item, of_atoms)
            if of_atoms:
                forest.leaf[item] = y
            else:
                forest.parent[item] = y
    forest.rows[y] = rows
    forest.rows[z] -= rows


@helper
def unite(forest, z, y, n, of_atoms):
    """All items of both nodes are those of z; y goes."""
    for i in range(n):
        item = forest.lists[0, i]
        if of_atoms:
            forest.leaf[item] = z
        else:
            forest.parent[item] = z
    forest.rows[z] += forest.rows[y]
    forest.level[y] = -1


@helper
def list_cousins(forest, a, level, of_atoms):
    """lists[0] = the other items of a's grandparent; how many they are."""
    y, n = forest.parent[parent_of(forest, a, of_atoms)], 0
    for item in range(forest.used[1] if of_atoms else forest.used[0]):
        exists = forest.leaf[item] >= 0 if of_atoms else forest.level[item] == level + 1
        if exists and item != a and forest.parent[parent_of(forest, item, of_atoms)] == y:
            forest.lists[0, n] = item
            n += 1
    return n


@helper
def draw_item(forest, level, of_atoms, rng):
    """An item below a node of this level, each as likely as the others."""
    n = 0
    for item in range(forest.used[1] if of_atoms else forest.used[0]):
        exists = forest.leaf[item] >= 0 if of_atoms else forest.level[item] == level + 1
        if exists:
            forest.lists[0, n] = item
            n += 1
    return forest.lists[0, int(uniform(rng) * n)]


@helper
def try_one(forest, precision, linear, level, of_atoms, alpha, g, rng):
    """One proposal at a level; whether it was accepted."""
    a = draw_item(forest, level, of_atoms, rng)
    n = list_cousins(forest, a, level, of_atoms)
    if n == 0:
        return False
    b = forest.lists[0, int(uniform(rng) * n)]
    first, second = parent_of(forest, a, of_atoms), parent_of(forest, b, of_atoms)
    splits = first == second
    find_cavity(forest, first, second)
    n = list_items(forest, first, second, of_atoms)
    log_q = draw_sides(forest, precision, linear, a, b, n, level, not splits, second, of_atoms, rng)
    conc = concentration(forest, first, alpha, g)
    ratio = log_ratio(forest, precision, linear, n, level, alpha, conc, of_atoms) - log_q
    if math.log(uniform(rng)) >= (ratio if splits else -ratio):
        return False
    if splits:
        separate(forest, first, n, of_atoms)
    else:
        unite(forest, first, second, n, of_atoms)
    return True


@compiled
def regroup(forest, tries, alpha, g, rng):
    """So many proposals to split a node or merge two."""
    depth = len(forest.variance) - 2
    collect(forest)
    find_beliefs(forest)
    for _ in range(tries):
        level = 1 + int(uniform(rng) * depth)
        of_atoms = level == depth
        if of_atoms:
            changed = try_one(
                forest, forest.precision, forest.linear, level, of_atoms, alpha, g, rng
            )
        else:
            changed = try_one(
                forest, forest.up_precision, forest.up_linear, level, of_atoms, alpha, g, rng
            )
        if changed:
            collect(forest)
            find_beliefs(forest)
