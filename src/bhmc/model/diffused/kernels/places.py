"""Where a block of rows may go in the tree, before it is seen: the nested restaurant process.

A node of N rows at an inner level has the Chinese restaurant process CRP(alpha) over its children,
a leaf has CRP(g) over its atoms. A block of B rows that stays together is one customer B times.
"""

import math

from bhmc._compiled.decorators import helper
from bhmc._compiled.random_source import uniform


@helper
def concentration(forest, z, alpha, g):
    """alpha at an inner node, g at a leaf."""
    return alpha if forest.level[z] < len(forest.variance) - 2 else g


@helper
def log_passing(rows, block, conc):
    """log of Gamma(N + c) / Gamma(N + B + c): a block of B rows is at a node of N rows."""
    return math.lgamma(rows + conc) - math.lgamma(rows + block + conc)


@helper
def log_joining(rows, block):
    """log of Gamma(N + B) / Gamma(N): the block goes on to a child of N rows."""
    return math.lgamma(rows + block) - math.lgamma(rows)


@helper
def log_opening(block, conc):
    """log of c Gamma(B): the block goes on to a child of its own."""
    return math.log(conc) + math.lgamma(block)


@helper
def log_alone(block, conc):
    """log of Gamma(c + 1) Gamma(B) / Gamma(c + B): a new node with one child, the block's."""
    return math.lgamma(conc + 1.0) + math.lgamma(block) - math.lgamma(conc + block)


@helper
def log_path(forest, z, block, alpha):
    """log p(the block passes from the root to z, which exists)."""
    total = 0.0
    while forest.parent[z] >= 0:
        y = forest.parent[z]
        total += log_joining(forest.rows[z], block) + log_passing(forest.rows[y], block, alpha)
        z = y
    return total


@helper
def log_new_below(forest, z, target, block, alpha, g):
    """log p(at z the block opens a chain of nodes to level `target`, whose child or atom it is).

    `target` is the level of the block's parent: depth for an atom, l - 1 for a subtree of level l.
    """
    at = forest.level[z]
    conc = concentration(forest, z, alpha, g)
    total = log_passing(forest.rows[z], block, conc) + log_opening(block, conc)
    depth = len(forest.variance) - 2
    for level in range(at + 1, target + 1):
        total += log_alone(block, alpha if level < depth else g)
    return total


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
    """A free slot for a node; -1 if there is none."""
    for z in range(forest.used[0]):
        if forest.level[z] < 0:
            return z
    if forest.used[0] == len(forest.level):
        return -1
    forest.used[0] += 1
    return forest.used[0] - 1


@helper
def free_slots(forest):
    """How many slots are free for nodes."""
    n = len(forest.level) - forest.used[0]
    for z in range(forest.used[0]):
        if forest.level[z] < 0:
            n += 1
    return n


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
