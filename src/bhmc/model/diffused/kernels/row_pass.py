"""One row after the other chooses its atom, or where in the tree a new one begins."""

import math

import numpy as np

from bhmc._compiled.decorators import compiled, helper, summing
from bhmc._compiled.exponential import exp_within
from bhmc._compiled.random_source import uniform
from bhmc.model.diffused.kernels.places import concentration, release_empty
from bhmc.model.diffused.kernels.row_births import begin_atom

# A sum below this may have lost terms that matter: those of atoms that are gone were too large.
TOO_SMALL = 2.0**-400


@helper
def find_share(forest, z, alpha, g):
    """share[z] = N_z / (N_z + c_z); 0 where the slot is free."""
    share = forest.rows[z] / (forest.rows[z] + concentration(forest, z, alpha, g))
    forest.share[z] = share if forest.level[z] >= 0 else 0.0


@helper
def find_shares(forest, alpha, g):
    """The share of every node."""
    for z in range(forest.used[0]):
        find_share(forest, z, alpha, g)


@helper
def find_reach(forest, alpha, g):
    """weight[z] = p(the next row passes through z) / (N_z + c_z); parents come before children."""
    forest.weight[0] = 1.0 / (forest.rows[0] + concentration(forest, np.int64(0), alpha, g))
    for z in range(1, forest.used[0]):
        forest.weight[z] = forest.weight[forest.parent[z]] * forest.share[z]


@helper
def change_rows(forest, z, change, alpha, g):
    """So many rows more under z and all above it, whose shares follow."""
    while z >= 0:
        forest.rows[z] += change
        find_share(forest, z, alpha, g)
        z = forest.parent[z]


@helper
def top_of_all(forest, tables, i):
    """The largest log f of row i, atoms and nodes that are gone among them."""
    top = tables.top[i]
    for k in range(forest.used[1] - tables.atoms.shape[1]):
        top = max(top, tables.young_atoms[i, k])
    for z in range(forest.used[0] - tables.nodes.shape[1]):
        top = max(top, tables.young_nodes[i, z])
    return top


@helper
def top_of_living(forest, tables, i):
    """The largest log f of row i at the nodes that exist."""
    old, top = tables.nodes.shape[1], -math.inf
    for z in range(forest.used[0]):
        if forest.level[z] >= 0:
            top = max(top, tables.nodes[i, z] if z < old else tables.young_nodes[i, z - old])
    old = tables.atoms.shape[1]
    for k in range(forest.used[1]):
        if forest.leaf[k] >= 0:
            top = max(top, tables.atoms[i, k] if k < old else tables.young_atoms[i, k - old])
    return top


@helper
def fill_options(forest, tables, i, top):
    """option[k] = f of atom k, opening[z] = f* at node z, all divided by exp(top)."""
    k_old, z_old = tables.atoms.shape[1], tables.nodes.shape[1]
    for k in range(k_old):
        forest.option[k] = exp_within(min(tables.atoms[i, k] - top, 0.0))
    for k in range(forest.used[1] - k_old):
        forest.option[k_old + k] = exp_within(min(tables.young_atoms[i, k] - top, 0.0))
    for z in range(z_old):
        forest.opening[z] = exp_within(min(tables.nodes[i, z] - top, 0.0))
    for z in range(forest.used[0] - z_old):
        forest.opening[z_old + z] = exp_within(min(tables.young_nodes[i, z] - top, 0.0))


@summing
def add_up_options(forest, alpha, g):
    """option[k], opening[z] = the weight of each option of a row; their sum.

    Atom k: p(its leaf) n_k / (N + g) f(x; theta_k). New atom at leaf z: p(z) g / (N_z + g) f*_z(x);
    new branch below z: p(z) alpha / (N_z + alpha) f*_z(x). They hold f times any number that is
    the same for all options of a row.
    """
    total, depth = 0.0, len(forest.variance) - 2
    for k in range(forest.used[1]):
        w = forest.weight[forest.leaf[k]] * forest.count[k] * forest.option[k]
        forest.option[k] = w
        total += w
    for z in range(forest.used[0]):
        conc = alpha if forest.level[z] < depth else g
        w = forest.weight[z] * conc * forest.opening[z]
        forest.opening[z] = w
        total += w
    return total


@helper
def pick_option(forest, left):
    """The option whose weights, added up in order, first pass `left`.

    k for an atom, C + z for a new one that begins at z.
    """
    first, last = len(forest.leaf), -1
    for k in range(forest.used[1]):
        w = forest.option[k]
        if w > 0.0:
            last = k
            left -= w
            if left < 0.0:
                return k
    for z in range(forest.used[0]):
        w = forest.opening[z]
        if w > 0.0:
            last = first + z
            left -= w
            if left < 0.0:
                return first + z
    return last


@helper
def draw_option(forest, tables, i, alpha, g, rng):
    """The option of row i, with probability proportional to its weight."""
    fill_options(forest, tables, i, top_of_all(forest, tables, i))
    total = add_up_options(forest, alpha, g)
    if total < TOO_SMALL:
        fill_options(forest, tables, i, top_of_living(forest, tables, i))
        total = add_up_options(forest, alpha, g)
    return pick_option(forest, uniform(rng) * total)


@helper
def take_row(forest, k, alpha, g):
    """One row leaves atom k; what is empty goes."""
    z = forest.leaf[k]
    forest.count[k] -= 1
    change_rows(forest, z, np.int64(-1), alpha, g)
    if forest.count[k] == 0:
        forest.leaf[k] = -1
    release_empty(forest, z)


@helper
def has_room(forest, tables):
    """Whether a new atom, a chain of new nodes and their columns have room."""
    depth = len(forest.variance) - 2
    k, z = forest.used[1], forest.used[0] + depth
    return (
        k < len(forest.leaf)
        and z <= len(forest.level)
        and k < tables.atoms.shape[1] + tables.young_atoms.shape[1]
        and z <= tables.nodes.shape[1] + tables.young_nodes.shape[1]
    )


@compiled
def pass_rows(forest, numbers, tables, component, position, alpha, g, rng):
    """P(atom of row i | all other rows, m and theta), row after row of a tile from `position` on.

    Stops where room for new atoms runs out; returns how many rows are done.
    """
    first = len(forest.leaf)
    find_shares(forest, alpha, g)
    for i in range(position, len(component)):
        if not has_room(forest, tables):
            return i
        take_row(forest, np.int64(component[i]), alpha, g)
        find_reach(forest, alpha, g)
        option = draw_option(forest, tables, i, alpha, g, rng)
        if option >= first:
            option = begin_atom(forest, numbers, tables, i, option - first, rng)
        component[i] = option
        forest.count[option] += 1
        change_rows(forest, forest.leaf[option], np.int64(1), alpha, g)
    return len(component)
