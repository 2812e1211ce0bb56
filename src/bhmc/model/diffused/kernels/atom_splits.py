"""Atoms split and merge through their rows; theta is integrated out, the leaf's location is known.

Two rows i and j of one leaf are drawn. If they share an atom, its rows choose between i and j, and
the atom may split so; if they do not, their atoms may merge. The draw of i and j looks at leaves
only, so it has the same probability both ways.
"""

import math

import numpy as np

from bhmc._compiled.decorators import compiled, helper
from bhmc._compiled.random_source import uniform
from bhmc.model.diffused.kernels.atom_sides import (
    SEEN,
    TOTAL,
    add_to_sides,
    log_gain_of_sides,
    weigh_alone,
    weigh_sides,
)
from bhmc.model.diffused.kernels.coordinates import place_draw
from bhmc.model.diffused.kernels.places import log_sigmoid


@helper
def list_rows(room, component):
    """The rows of every atom, in their order."""
    for back in range(len(component)):
        n = len(component) - 1 - back
        add_to_list(room, n, np.int64(component[n]))


@helper
def add_to_list(room, n, k):
    """Row n is the first of atom k."""
    room.next[n] = room.head[k]
    room.head[k] = n


@helper
def add_members(room, k, n):
    """member[n:] = the rows of atom k; how many there are with those before."""
    row = room.head[k]
    while row >= 0:
        room.member[n] = row
        n += 1
        row = room.next[row]
    return n


@helper
def row_of_leaf(forest, room, leaf, rng):
    """A row of a leaf, each as likely as the others."""
    place, k = int(uniform(rng) * forest.rows[leaf]), 0
    while forest.leaf[k] != leaf or place >= forest.count[k]:
        place -= forest.count[k] if forest.leaf[k] == leaf else 0
        k += 1
    row = room.head[k]
    for _ in range(place):
        row = room.next[row]
    return row


@helper
def take_sides(room, n, i, j):
    """Every row goes to the side of larger odds, i and j to their own; whether any changed."""
    changed = False
    for r in range(n):
        side = 0 if room.odds[r] > 0.0 else 1
        if room.member[r] == i or room.member[r] == j:
            side = 0 if room.member[r] == i else 1
        changed = changed or side != room.side[r]
        room.side[r] = side
    return changed


@helper
def settle_sides(forest, numbers, room, n, z, i, j, passes):
    """odds[r] of side 0 for n rows, all others being on sides that i and j alone decide.

    First every row goes to the side of i if it has a larger density given i than given j; then, in
    at most so many passes, to the side that is likelier given all rows of both. Nothing is drawn,
    and the sides that rows have do not matter: a split and the merge that undoes it have the same
    odds.
    """
    for r in range(n):
        room.side[r] = -1
    weigh_alone(forest, numbers, room, n, z, i, j)
    for _ in range(passes):
        if not take_sides(room, n, i, j):
            return
        first = add_to_sides(forest, numbers, room, n)
        weigh_sides(forest, numbers, room, n, first, z)


@helper
def draw_sides_of_rows(forest, numbers, room, component, n, z, i, j, splits, passes, rng):
    """side[r] = 0 with i and 1 with j, for n rows; log of the probability of that.

    A row is drawn with weights "rows of the side times p(x | all rows of the side)", all others
    being where `settle_sides` left them. Where two atoms may merge, sides are known, and the
    probability is that of a split that would undo it.
    """
    settle_sides(forest, numbers, room, n, z, i, j, passes)
    log_q = 0.0
    for r in range(n):
        row, odds = room.member[r], room.odds[r]
        if row == i or row == j:
            continue
        if splits:
            room.side[r] = 0 if math.log(uniform(rng)) < log_sigmoid(odds) else 1
        else:
            room.side[r] = 0 if component[row] == component[i] else 1
        log_q += log_sigmoid(odds if room.side[r] == 0 else -odds)
    return log_q


@helper
def log_ratio_of_sides(forest, numbers, room, n, z, g):
    """log p(two atoms, rows) / p(one atom, rows): g Gamma(n_0) Gamma(n_1) / Gamma(n) times that of
    the evidence.
    """
    first = add_to_sides(forest, numbers, room, n)
    prior = math.lgamma(first) + math.lgamma(n - first) - math.lgamma(n)
    return log_gain_of_sides(forest, numbers, room, z) + math.log(g) + prior


@helper
def draw_theta_of_side(forest, numbers, k, side, z, rng):
    """theta_k given the rows of a side and N(m_z, v)."""
    for d in range(len(forest.column)):
        m, v = forest.location[z, d], forest.variance[len(forest.variance) - 1, forest.column[d]]
        total, seen = forest.scratch[TOTAL + side, d], forest.scratch[SEEN + side, d]
        forest.theta[k, d] = place_draw(numbers, d, total, seen, m, v, rng)


@helper
def share_rows(forest, room, component, n, first, second):
    """Rows of side 0 are those of one atom, rows of side 1 of another."""
    for k in (first, second):
        room.head[k], forest.count[k] = -1, 0
    for back in range(n):
        r = n - 1 - back
        k = first if room.side[r] == 0 else second
        add_to_list(room, room.member[r], k)
        component[room.member[r]] = k
        forest.count[k] += 1


@helper
def split_atom(forest, numbers, room, component, n, first, rng):
    """Rows of side 1 become a new atom; there is a free slot for every proposal."""
    z, second = forest.leaf[first], forest.used[1]
    forest.used[1] += 1
    forest.leaf[second] = z
    share_rows(forest, room, component, n, first, second)
    draw_theta_of_side(forest, numbers, first, np.int64(0), z, rng)
    draw_theta_of_side(forest, numbers, second, np.int64(1), z, rng)


@helper
def merge_atoms(forest, numbers, room, component, n, first, second, rng):
    """All rows of both atoms are those of the first."""
    for r in range(n):
        room.side[r] = 0
    for d in range(len(forest.column)):
        forest.scratch[TOTAL, d] += forest.scratch[TOTAL + 1, d]
        forest.scratch[SEEN, d] += forest.scratch[SEEN + 1, d]
    share_rows(forest, room, component, n, first, second)
    forest.leaf[second] = -1
    draw_theta_of_side(forest, numbers, first, np.int64(0), forest.leaf[first], rng)


@helper
def try_members(forest, numbers, room, component, n, i, j, passes, g, rng):
    """One proposal for n rows, all of the atoms of i and j, with the probability of Metropolis and
    Hastings; whether it was accepted.
    """
    first, second = np.int64(component[i]), np.int64(component[j])
    z, splits = forest.leaf[first], first == second
    log_q = draw_sides_of_rows(forest, numbers, room, component, n, z, i, j, splits, passes, rng)
    ratio = log_ratio_of_sides(forest, numbers, room, n, z, g) - log_q
    if math.log(uniform(rng)) >= (ratio if splits else -ratio):
        return False
    if splits:
        split_atom(forest, numbers, room, component, n, first, rng)
    else:
        merge_atoms(forest, numbers, room, component, n, first, second, rng)
    return True


@helper
def try_rows(forest, numbers, room, component, passes, g, rng):
    """One proposal for two rows of a leaf; whether it was accepted."""
    i = int(uniform(rng) * len(component))
    first = np.int64(component[i])
    z = forest.leaf[first]
    if forest.rows[z] < 2:
        return False
    j = i
    while j == i:
        j = row_of_leaf(forest, room, z, rng)
    n = add_members(room, first, np.int64(0))
    if component[j] != first:
        n = add_members(room, np.int64(component[j]), n)
    return try_members(forest, numbers, room, component, n, i, j, passes, g, rng)


@helper
def list_all(room, n):
    """All rows take part."""
    for r in range(n):
        room.member[r] = r


@compiled
def split_gathered(forest, numbers, room, component, i, j, passes, g, rng):
    """One proposal to split an atom or merge two, whose rows are all that are here; whether it was
    accepted.
    """
    list_all(room, len(component))
    n = np.int64(len(component))
    return try_members(forest, numbers, room, component, n, i, j, passes, g, rng)


@compiled
def split_atoms(forest, numbers, room, component, tries, passes, g, rng):
    """So many proposals to split an atom or merge two; how many were accepted."""
    list_rows(room, component)
    accepted = 0
    for _ in range(tries):
        accepted += 1 if try_rows(forest, numbers, room, component, passes, g, rng) else 0
    return accepted
