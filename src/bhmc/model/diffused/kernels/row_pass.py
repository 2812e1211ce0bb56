"""One row after the other chooses its atom, or where in the tree a new one begins.

A row that shares its atom is not taken out. Its options are weighed with the row itself counted:
no weight is smaller for it. The option drawn is kept with the probability "weight without the row
over weight with it", else it is drawn again. A row that comes back, as most do, changes nothing.
"""

import math

import numpy as np

from bhmc._compiled.decorators import compiled, helper, merged, summing
from bhmc._compiled.exponential import exp_within
from bhmc._compiled.random_source import uniform
from bhmc.model.diffused.kernels.row_births import begin_atom
from bhmc.model.diffused.kernels.row_prior import (
    find_priors,
    left_without,
    move_row,
    put_row,
    spread_shares,
    take_row,
)

# A sum above this has a term that was too large for its unit: then the largest of all is the unit.
TOO_LARGE = 2.0**400
# No exponent is larger: its power, times the weight of any option, is above TOO_LARGE, and finite.
LARGEST_EXPONENT_OF_E = 345.0

NONE = np.int64(-1)


@helper
def top_of_living(forest, tables, i):
    """The largest log f of row i at the nodes and atoms that exist."""
    old, top = tables.nodes.shape[1], -math.inf
    for z in range(forest.used[0]):
        if forest.level[z] >= 0:
            top = max(top, tables.nodes[i, z] if z < old else tables.young_nodes[i, z - old])
    old = tables.atoms.shape[1]
    for k in range(forest.used[1]):
        if forest.leaf[k] >= 0:
            top = max(top, log_f_at(tables, i, k))
    return top


@merged
def log_f_at(tables, i, k):
    """log f of row i at atom k."""
    old = tables.atoms.shape[1]
    return tables.atoms[i, k] if k < old else tables.young_atoms[i, k - old]


@summing
def weigh_old(table, i, prior, top, most, out):
    """out[k] = prior[k] exp(table[i, k] - top), over the columns of a table; their sum.

    No exponent is above `most`.
    """
    total = 0.0
    for k in range(table.shape[1]):
        w = prior[k] * exp_within(min(table[i, k] - top, most))
        out[k] = w
        total += w
    return total


@summing
def weigh_young(table, i, first, last, prior, top, most, out):
    """The same of columns first, ..., last - 1, which begin at column 0 of their table."""
    total = 0.0
    for k in range(first, last):
        w = prior[k] * exp_within(min(table[i, k - first] - top, most))
        out[k] = w
        total += w
    return total


@merged
def add_up_options(forest, tables, i, top, most):
    """option[k], opening[z] = the weight of each option of row i, over exp(top); their sum.

    Atom k: p(its leaf) n_k / (N + g) f(x; theta_k). New atom at leaf z: p(z) g / (N_z + g) f*_z(x);
    new branch below z: p(z) alpha / (N_z + alpha) f*_z(x).
    """
    k, z = tables.atoms.shape[1], tables.nodes.shape[1]
    total = weigh_old(tables.atoms, i, forest.atom_prior, top, most, forest.option)
    total += weigh_old(tables.nodes, i, forest.node_prior, top, most, forest.opening)
    if forest.used[1] > k:
        total += weigh_young(
            tables.young_atoms, i, k, forest.used[1], forest.atom_prior, top, most, forest.option
        )
    if forest.used[0] > z:
        total += weigh_young(
            tables.young_nodes, i, z, forest.used[0], forest.node_prior, top, most, forest.opening
        )
    return total


@merged
def weigh_options(forest, tables, i, own):
    """Weights of the options of row i; the unit is its own atom's f, or if that is too small, or
    it has none, the largest f of all that exists.
    """
    if own >= 0:
        top = log_f_at(tables, i, own)
        total = add_up_options(forest, tables, i, top, LARGEST_EXPONENT_OF_E)
        if total < TOO_LARGE:
            return total
    return add_up_options(forest, tables, i, top_of_living(forest, tables, i), 0.0)


@merged
def pick_option(forest, own, left):
    """(the option whose weights, added up in order, first pass `left`, what is left of it there).

    k for an atom, C + z for a new one that begins at z. The row's own atom comes first: as a rule
    it is chosen.
    """
    first, last, weight = len(forest.leaf), NONE, 0.0
    if own >= 0:
        last, weight = own, forest.option[own]
        if left < weight:
            return own, left
        left -= weight
    for k in range(forest.used[1]):
        w = forest.option[k]
        if w > 0.0 and k != own:
            last, weight = k, w
            if left < w:
                return k, left
            left -= w
    for z in range(forest.used[0]):
        w = forest.opening[z]
        if w > 0.0:
            last, weight = first + z, w
            if left < w:
                return first + z, left
            left -= w
    return last, weight  # rounding put it beyond the end


@merged
def node_of(forest, option):
    """The leaf of an atom, or the node where a new one begins."""
    first = len(forest.leaf)
    return option - first if option >= first else forest.leaf[option]


@merged
def weight_of(forest, option):
    """The weight that an option was drawn with."""
    first = len(forest.leaf)
    return forest.opening[option - first] if option >= first else forest.option[option]


@merged
def draw_option(forest, tables, i, own, rng):
    """The option of row i with probability proportional to its weight without the row.

    The row is counted in atom `own`, which has others; -1: it is counted nowhere.
    """
    total = weigh_options(forest, tables, i, own)
    while True:
        option, left = pick_option(forest, own, uniform(rng) * total)
        if own < 0:
            return option
        bound = left_without(forest, own, node_of(forest, option), option == own)
        if left < bound * weight_of(forest, option):
            return option


@helper
def settle_option(forest, numbers, tables, i, option, rng):
    """The atom of an option, which may have to begin."""
    first = len(forest.leaf)
    if option < first:
        return option
    return begin_atom(forest, numbers, tables, i, option - first, rng)


@helper
def redraw_lone(forest, numbers, tables, i, k, alpha, g, rng):
    """The atom of row i, which is alone in atom k: that goes first."""
    take_row(forest, k, alpha, g)
    spread_shares(forest, alpha, g)
    option = draw_option(forest, tables, i, NONE, rng)
    k = settle_option(forest, numbers, tables, i, option, rng)
    put_row(forest, k, alpha, g)
    spread_shares(forest, alpha, g)
    return k


@merged
def redraw_one_of_many(forest, numbers, tables, i, k, alpha, g, rng):
    """The atom of row i, which shares atom k with others."""
    option = draw_option(forest, tables, i, k, rng)
    if option == k:
        return k
    new = settle_option(forest, numbers, tables, i, option, rng)
    move_row(forest, k, new, alpha, g)
    return new


@merged
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
    find_priors(forest, alpha, g)
    for i in range(position, len(component)):
        if not has_room(forest, tables):
            return i
        k = np.int64(component[i])
        if forest.count[k] == 1:
            component[i] = redraw_lone(forest, numbers, tables, i, k, alpha, g, rng)
        else:
            component[i] = redraw_one_of_many(forest, numbers, tables, i, k, alpha, g, rng)
    return len(component)
