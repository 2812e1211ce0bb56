"""Where a block of rows may go in the tree, before it is seen: the nested restaurant process.

A node of N rows at an inner level has the Chinese restaurant process CRP(alpha) over its children,
a leaf has CRP(g) over its atoms. A block of B rows that stays together is one customer B times.
"""

import math

import numpy as np

from bhmc._compiled.decorators import helper
from bhmc._compiled.random_source import uniform


@helper
def concentration(forest, z, alpha, g):
    """alpha at an inner node, g at a leaf."""
    return alpha if forest.level[z] < len(forest.variance) - 2 else g


# Rows of `log_gamma`: log Gamma(n), log Gamma(n + alpha), log Gamma(n + g).
_PLAIN, _INNER, _LEAF = np.int64(0), np.int64(1), np.int64(2)


@helper
def set_rates(forest, alpha, g):
    """Forget logarithms of gamma functions at other concentrations."""
    for row, rate in ((_INNER, alpha), (_LEAF, g)):
        if forest.log_gamma_at[row] != rate:
            forest.log_gamma_at[row] = rate
            for n in range(forest.log_gamma.shape[1]):
                forest.log_gamma[row, n] = math.nan


@helper
def log_gamma(forest, row, n):
    """log Gamma(n + c) with the concentration of a row, found once for every n that has room."""
    if n >= forest.log_gamma.shape[1]:
        return math.lgamma(n + forest.log_gamma_at[row])
    value = forest.log_gamma[row, n]
    if math.isnan(value):
        value = math.lgamma(n + forest.log_gamma_at[row])
        forest.log_gamma[row, n] = value
    return value


@helper
def row_at(forest, level):
    """The row of `log_gamma` of nodes of a level."""
    return _INNER if level < len(forest.variance) - 2 else _LEAF


@helper
def log_passing(forest, row, rows, block):
    """log of Gamma(N + c) / Gamma(N + B + c): a block of B rows is at a node of N rows."""
    return log_gamma(forest, row, rows) - log_gamma(forest, row, rows + block)


@helper
def log_joining(forest, rows, block):
    """log of Gamma(N + B) / Gamma(N): the block goes on to a child of N rows."""
    return log_gamma(forest, _PLAIN, rows + block) - log_gamma(forest, _PLAIN, rows)


@helper
def log_alone(forest, row, block):
    """log of Gamma(c + 1) Gamma(B) / Gamma(c + B): a new node with one child, the block's."""
    alone = log_gamma(forest, _PLAIN, block) - log_gamma(forest, row, block)
    return alone + log_gamma(forest, row, np.int64(1))


@helper
def find_paths(forest, last, block):
    """path[z] = log p(the block passes from the root to z), for z down to level `last`."""
    forest.path[0] = 0.0
    for level in range(1, last + 1):
        for z in range(forest.used[0]):
            if forest.level[z] == level:
                y = forest.parent[z]
                forest.path[z] = (
                    forest.path[y]
                    + log_joining(forest, forest.rows[z], block)
                    + log_passing(forest, _INNER, forest.rows[y], block)
                )


@helper
def log_new_below(forest, z, target, block):
    """log p(at z the block opens a chain of nodes to level `target`, whose child or atom it is).

    That is c Gamma(B) Gamma(N + c) / Gamma(N + B + c) at z, then what new nodes bring. `target` is
    the level of the block's parent: depth for an atom, l - 1 for a subtree of level l.
    """
    row = row_at(forest, forest.level[z])
    total = math.log(forest.log_gamma_at[row]) + log_gamma(forest, _PLAIN, block)
    total += log_passing(forest, row, forest.rows[z], block)
    for level in range(forest.level[z] + 1, target + 1):
        total += log_alone(forest, row_at(forest, level), block)
    return total


@helper
def ancestor_at(forest, z, level):
    """The node of a level above z, or z itself."""
    while forest.level[z] > level:
        z = forest.parent[z]
    return z


@helper
def add_rows(forest, z, block):
    """So many rows more under z and all above it."""
    while z >= 0:
        forest.rows[z] += block
        z = forest.parent[z]


@helper
def release_empty(forest, z):
    """Free z and all above it that hold no row; the lowest that stays."""
    while forest.rows[z] == 0 and forest.parent[z] >= 0:
        y = forest.parent[z]
        forest.level[z] = -1
        z = y
    return z


@helper
def free_slot(forest):
    """A free slot for a node; there is one, because every node that stays has an atom below it."""
    for z in range(forest.used[0]):
        if forest.level[z] < 0:
            return z
    forest.used[0] += 1
    return forest.used[0] - 1


@helper
def open_chain(forest, z, target):
    """New nodes without rows from z down to level `target`; the last of them, or z."""
    while forest.level[z] < target:
        y = free_slot(forest)
        forest.parent[y], forest.level[y], forest.rows[y] = z, forest.level[z] + 1, 0
        for d in range(len(forest.column)):
            forest.up_linear[y, d] = 0.0
        for c in range(len(forest.repeats)):
            forest.up_precision[y, c] = 0.0
        z = y
    return z


@helper
def log_sigmoid(x):
    """log of 1 / (1 + exp(-x))."""
    return min(x, 0.0) - math.log1p(math.exp(-abs(x)))


@helper
def choose(weight, n, rng):
    """i with probability proportional to exp(weight[i]), i < n; one uniform number."""
    top = -math.inf
    for i in range(n):
        top = max(top, weight[i])
    total = 0.0
    for i in range(n):
        total += math.exp(weight[i] - top)
    left, last = uniform(rng) * total, 0
    for i in range(n):
        w = math.exp(weight[i] - top)
        if w > 0.0:
            last = i
            left -= w
            if left < 0.0:
                return i
    return last
