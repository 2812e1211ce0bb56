"""Rows of an atom become the only atom of a new branch, or such a branch goes back into an atom.

Two rows i and j are drawn. If they share an atom, its rows choose between i and j, and those with j
may become an atom of their own on a new branch, which begins at an ancestor of the leaf, at a level
drawn evenly. If j's atom is all that there is below its last common ancestor with i's, it may join
i's. Locations of nodes that stay are known; theta and those of the branch are integrated out.
"""

import math

import numpy as np

from bhmc._compiled.decorators import compiled, helper
from bhmc._compiled.distributions import normal_draw
from bhmc._compiled.random_source import uniform
from bhmc.model.diffused.kernels.atom_sides import SEEN, TOTAL, add_to_sides
from bhmc.model.diffused.kernels.atom_splits import (
    add_members,
    draw_sides_of_rows,
    draw_theta_of_side,
    list_all,
    list_rows,
    merge_atoms,
    share_rows,
)
from bhmc.model.diffused.kernels.coordinates import log_group, log_group_around, place_draw
from bhmc.model.diffused.kernels.places import (
    add_rows,
    ancestor_at,
    log_joining,
    log_new_below,
    log_passing,
    open_chain,
    release_empty,
    row_at,
    set_rates,
)


@helper
def branching(forest, z, other):
    """(last common ancestor of two leaves, the node below it on the way to the second)."""
    child = other
    while z != other:
        child, z, other = other, forest.parent[z], forest.parent[other]
    return z, child


@helper
def variance_below(forest, top, d):
    """That of theta around the location of node `top`, in coordinate d."""
    v = 0.0
    for step in range(forest.level[top] + 1, len(forest.variance)):
        v += forest.variance[step, forest.column[d]]
    return v


@helper
def log_prior_of_branch(forest, z, top, n_first, block):
    """log p(a block of rows on a new branch below `top`) / p(in an atom of n_first rows at leaf z).

    The block is not in the tree. From `top` down to z it would pass nodes, and sit at the atom.
    """
    depth = len(forest.variance) - 2
    there = log_passing(forest, row_at(forest, depth), forest.rows[z], block)
    there += log_joining(forest, n_first, block)
    while z != top:
        there += log_joining(forest, forest.rows[z], block)
        z = forest.parent[z]
        there += log_passing(forest, row_at(forest, forest.level[z]), forest.rows[z], block)
    return log_new_below(forest, top, depth, block) - there


@helper
def log_of_place(numbers, d, total, seen, m):
    """What `log_group` leaves out of Gaussian coordinates because it is the same for all groups of
    one leaf, at m: log f(rows; m), less that at 0.
    """
    return 0.0 if numbers.is_logit[d] else m * total - 0.5 * seen * m * m


@helper
def log_gain_of_branch(forest, numbers, room, z, top):
    """log p(rows | side 1 on a branch below `top`, side 0 at leaf z) - log p(rows | one atom at z),
    from TOTAL and SEEN of both sides.
    """
    gain = 0.0
    for d in range(len(forest.column)):
        total, seen = forest.scratch[TOTAL, d], forest.scratch[SEEN, d]
        other, other_seen = forest.scratch[TOTAL + 1, d], forest.scratch[SEEN + 1, d]
        m, v = forest.location[top, d], variance_below(forest, top, d)
        gain += log_group(forest, numbers, room.known, z, d, total, seen)
        gain += log_group_around(numbers, d, other, other_seen, m, v)
        gain += log_of_place(numbers, d, other, other_seen, m)
        gain -= log_of_place(numbers, d, other, other_seen, forest.location[z, d])
        gain -= log_group(forest, numbers, room.known, z, d, total + other, seen + other_seen)
    return gain


@helper
def draw_branch(forest, numbers, top, leaf, k, rng):
    """theta_k given the rows of side 1 and N(m_top, v); then the nodes down to its leaf.

    m_y ~ N(m_above, v_y) given theta_k, which is N(m_y, w) with the variance w of the steps below.
    """
    for d in range(len(forest.column)):
        m, v = forest.location[top, d], variance_below(forest, top, d)
        total, seen = forest.scratch[TOTAL + 1, d], forest.scratch[SEEN + 1, d]
        theta = place_draw(numbers, d, total, seen, m, v, rng)
        forest.theta[k, d] = theta
        for level in range(forest.level[top] + 1, forest.level[leaf] + 1):
            y = ancestor_at(forest, leaf, level)
            step, w = forest.variance[level, forest.column[d]], variance_below(forest, y, d)
            m += (theta - m) * step / (step + w) + normal_draw(rng) * math.sqrt(
                step * w / (step + w)
            )
            forest.location[y, d] = m


@helper
def forget_integrals(room):
    """Slots of nodes may get other locations."""
    for at in range(len(room.known)):
        room.known[at, 0] = -1.0


@helper
def open_branch(forest, numbers, room, component, n, first, top, rng):
    """Rows of side 1 become an atom on a new branch; there are free slots for every proposal."""
    z, second = forest.leaf[first], forest.used[1]
    forest.used[1] += 1
    share_rows(forest, room, component, n, first, second)
    draw_theta_of_side(forest, numbers, first, np.int64(0), z, rng)
    leaf = open_chain(forest, top, len(forest.variance) - 2)
    forest.leaf[second] = leaf
    draw_branch(forest, numbers, top, leaf, second, rng)
    add_rows(forest, z, -forest.count[second])
    add_rows(forest, leaf, forest.count[second])
    forget_integrals(room)


@helper
def close_branch(forest, numbers, room, component, n, first, second, rng):
    """All rows of an atom go to another, and the nodes that held only them are gone."""
    leaf, block = forest.leaf[second], forest.count[second]
    add_rows(forest, leaf, -block)
    release_empty(forest, leaf)
    add_rows(forest, forest.leaf[first], block)
    merge_atoms(forest, numbers, room, component, n, first, second, rng)
    forget_integrals(room)


@helper
def log_ratio_of_branch(forest, numbers, room, n, first, second, top):
    """log p(branch, rows) / p(one atom, rows); the draw of the level has the probability 1 / L."""
    depth, z = len(forest.variance) - 2, forest.leaf[first]
    n_first = add_to_sides(forest, numbers, room, n)
    block = np.int64(n - n_first)
    add_rows(forest, forest.leaf[second], -block)
    prior = log_prior_of_branch(forest, z, top, np.int64(n_first), block)
    add_rows(forest, forest.leaf[second], block)
    return log_gain_of_branch(forest, numbers, room, z, top) + prior + math.log(depth)


@helper
def draw_top(forest, first, second, rng):
    """The node below which a branch begins or ends: an ancestor drawn evenly for one atom, the last
    common ancestor of two; -1 where two share a leaf, or the second has company on its branch.
    """
    z = forest.leaf[first]
    if first == second:
        return ancestor_at(forest, z, int(uniform(rng) * forest.level[z]))
    if forest.leaf[second] == z:
        return np.int64(-1)
    top, child = branching(forest, z, forest.leaf[second])
    return top if forest.rows[child] == forest.count[second] else np.int64(-1)


@helper
def try_branch_of_members(forest, numbers, room, component, n, i, j, top, passes, rng):
    """One proposal for n rows, all of the atoms of i and j, with the probability of Metropolis and
    Hastings; whether it was accepted.
    """
    first, second = np.int64(component[i]), np.int64(component[j])
    z, splits = forest.leaf[first], first == second
    log_q = draw_sides_of_rows(forest, numbers, room, component, n, z, i, j, splits, passes, rng)
    ratio = log_ratio_of_branch(forest, numbers, room, n, first, second, top) - log_q
    if math.log(uniform(rng)) >= (ratio if splits else -ratio):
        return False
    if splits:
        open_branch(forest, numbers, room, component, n, first, top, rng)
    else:
        close_branch(forest, numbers, room, component, n, first, second, rng)
    return True


@helper
def try_branch(forest, numbers, room, component, passes, rng):
    """One proposal for two rows; whether it was accepted."""
    i, j = int(uniform(rng) * len(component)), int(uniform(rng) * len(component))
    first, second = np.int64(component[i]), np.int64(component[j])
    if i == j:
        return False
    top = draw_top(forest, first, second, rng)
    if top < 0:
        return False
    n = add_members(room, first, np.int64(0))
    if first != second:
        n = add_members(room, second, n)
    return try_branch_of_members(forest, numbers, room, component, n, i, j, top, passes, rng)


@compiled
def top_of_branch(forest, first, second, rng):
    """As `draw_top`."""
    return draw_top(forest, first, second, rng)


@compiled
def branch_gathered(forest, numbers, room, component, i, j, top, passes, alpha, g, rng):
    """One proposal to give rows a branch of their own or to take it back, all rows of the atoms of
    i and j being here and no others; whether it was accepted.
    """
    set_rates(forest, alpha, g)
    list_all(room, len(component))
    n = np.int64(len(component))
    return try_branch_of_members(forest, numbers, room, component, n, i, j, top, passes, rng)


@compiled
def split_branches(forest, numbers, room, component, tries, passes, alpha, g, rng):
    """So many proposals to give rows a branch of their own, or to take one back; how many were
    accepted.
    """
    list_rows(room, component)
    set_rates(forest, alpha, g)
    accepted = 0
    for _ in range(tries):
        accepted += 1 if try_branch(forest, numbers, room, component, passes, rng) else 0
    return accepted
