"""A row begins a new atom: theta given the row, then the nodes between, then their likelihoods."""

import math

import numpy as np

from bhmc._compiled.decorators import helper
from bhmc._compiled.distributions import normal_draw
from bhmc.model.diffused.kernels.coordinates import fill_young, find_line, place_draw, seen_at


@helper
def draw_theta(forest, numbers, i, z, k, rng):
    """theta_k given row i and N(m_z, v), v the variance of all steps from z to an atom."""
    for d in range(len(forest.column)):
        v = 0.0
        for step in range(forest.level[z] + 1, len(forest.variance)):
            v += forest.variance[step, forest.column[d]]
        total, seen = numbers.value[i, d], seen_at(numbers, i, d)
        forest.theta[k, d] = place_draw(numbers, d, total, seen, forest.location[z, d], v, rng)


@helper
def draw_node(forest, z, k, rng):
    """A new node y below z on the way to theta_k: a step of a walk whose end is known.

    m_y | m_z, theta ~ N(m_z + (theta - m_z) v / (v + R), v R / (v + R)), v the variance of the step
    from z to y and R that of the steps after it.
    """
    y = forest.used[0]
    forest.used[0] += 1
    forest.parent[y], forest.level[y], forest.rows[y] = z, forest.level[z] + 1, 0
    for d in range(len(forest.column)):
        v, rest = forest.variance[forest.level[y], forest.column[d]], 0.0
        for step in range(forest.level[y] + 1, len(forest.variance)):
            rest += forest.variance[step, forest.column[d]]
        at = forest.location[z, d]
        mean = at + (forest.theta[k, d] - at) * v / (v + rest)
        forest.location[y, d] = mean + normal_draw(rng) * math.sqrt(v * rest / (v + rest))
    return y


@helper
def begin_atom(forest, numbers, tables, i, z, rng):
    """A new atom of row i below node z, without rows yet; columns for the rows after i."""
    k, node = forest.used[1], forest.used[0]
    forest.used[1] += 1
    draw_theta(forest, numbers, i, z, k, rng)
    while forest.level[z] < len(forest.variance) - 2:
        z = draw_node(forest, z, k, rng)
    forest.leaf[k], forest.count[k] = z, 0
    level, column = len(forest.variance) - 1, k - tables.atoms.shape[1]
    find_line(forest, numbers, forest.theta, k, np.int64(0), level)
    fill_young(forest, numbers, tables.atoms, np.int64(0), tables.young_atoms, column, i + 1, level)
    while node < forest.used[0]:
        level, column = forest.level[node], node - tables.nodes.shape[1]
        anchor = tables.anchors[level]
        find_line(forest, numbers, forest.location, node, anchor, level)
        fill_young(forest, numbers, tables.nodes, anchor, tables.young_nodes, column, i + 1, level)
        node += 1
    return k
