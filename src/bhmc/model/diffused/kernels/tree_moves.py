"""Atoms and subtrees change their place in the tree; theta and m are integrated out."""

import math

import numpy as np

from bhmc._compiled.decorators import compiled, helper
from bhmc.model.diffused.kernels.messages import (
    add_message,
    attach_path,
    detach_path,
    find_beliefs_to,
    log_fit,
    step_to,
)
from bhmc.model.diffused.kernels.places import (
    add_rows,
    ancestor_at,
    choose,
    find_paths,
    log_new_below,
    open_chain,
    release_empty,
    set_rates,
)

# The row of `scratch` that holds a width.
WIDTH = np.int64(1)


@helper
def take_atom(forest, k):
    """Atom k with its rows and its evidence leaves the tree."""
    z, depth = forest.leaf[k], len(forest.variance) - 2
    detach_path(forest, z)
    add_message(forest, forest.precision, forest.linear, k, depth + 1, z, -1.0)
    add_rows(forest, z, -forest.count[k])
    attach_path(forest, z)
    cut_empty(forest, z)


@helper
def cut_empty(forest, z):
    """Free the nodes without rows from z upwards; rounding may have left a message of theirs."""
    if forest.rows[z] == 0 and forest.parent[z] >= 0:
        detach_path(forest, z)
        z = release_empty(forest, z)
        attach_path(forest, z)


@helper
def put_atom(forest, k, z):
    """Atom k goes to leaf z."""
    depth = len(forest.variance) - 2
    forest.leaf[k] = z
    detach_path(forest, z)
    add_message(forest, forest.precision, forest.linear, k, depth + 1, z, 1.0)
    attach_path(forest, z)
    add_rows(forest, z, forest.count[k])


@helper
def weigh_atom(forest, k, alpha, g):
    """weight[z] = log p(atom k at leaf z) p(its evidence there); at an inner z: on a new branch."""
    depth = len(forest.variance) - 2
    block = forest.count[k]
    set_rates(forest, alpha, g)
    find_paths(forest, depth, block)
    for z in range(forest.used[0]):
        forest.weight[z] = -math.inf
        if forest.level[z] >= 0:
            step_to(forest, z, depth + 1, WIDTH)
            forest.weight[z] = (
                forest.path[z]
                + log_new_below(forest, z, depth, block)
                + log_fit(forest, forest.precision, forest.linear, k, forest.mean, z, WIDTH)
            )


@compiled
def move_atoms(forest, order, alpha, g, rng):
    """Atom after atom: P(leaf | the other atoms), theta and m integrated out."""
    depth = len(forest.variance) - 2
    for i in range(len(order)):
        k = order[i]
        take_atom(forest, k)
        find_beliefs_to(forest, depth)
        weigh_atom(forest, k, alpha, g)
        z = choose(forest.weight, forest.used[0], rng)
        put_atom(forest, k, open_chain(forest, z, depth))


@helper
def weigh_subtree(forest, z, alpha, g):
    """weight[y] = log p(z and all below it under y) p(their evidence there).

    Where y is more than one level above z, a chain of new nodes leads from y to z.
    """
    level, block = forest.level[z], forest.rows[z]
    set_rates(forest, alpha, g)
    find_paths(forest, level - 1, block)
    for y in range(forest.used[0]):
        forest.weight[y] = -math.inf
        if 0 <= forest.level[y] < level and y != z:
            step_to(forest, y, level, WIDTH)
            forest.weight[y] = (
                forest.path[y]
                + log_new_below(forest, y, level - 1, block)
                + log_fit(forest, forest.up_precision, forest.up_linear, z, forest.mean, y, WIDTH)
            )


@helper
def take_subtree(forest, z):
    """z with all below it leaves its parent; z itself keeps its messages and its rows."""
    y = forest.parent[z]
    detach_path(forest, y)
    add_message(forest, forest.up_precision, forest.up_linear, z, forest.level[z], y, -1.0)
    add_rows(forest, y, -forest.rows[z])
    attach_path(forest, y)
    forest.parent[z] = -1
    cut_empty(forest, y)


@helper
def put_subtree(forest, z, y):
    """z goes under y."""
    forest.parent[z] = y
    detach_path(forest, y)
    add_message(forest, forest.up_precision, forest.up_linear, z, forest.level[z], y, 1.0)
    attach_path(forest, y)
    add_rows(forest, y, forest.rows[z])


@compiled
def move_subtrees(forest, order, levels, alpha, g, rng):
    """P(where the ancestor of an atom at a level hangs | all other atoms), theta and m integrated
    out; atom order[i], level levels[i].
    """
    for i in range(len(order)):
        z = ancestor_at(forest, forest.leaf[order[i]], levels[i])
        take_subtree(forest, z)
        find_beliefs_to(forest, levels[i] - 1)
        weigh_subtree(forest, z, alpha, g)
        y = choose(forest.weight, forest.used[0], rng)
        put_subtree(forest, z, open_chain(forest, y, forest.level[z] - 1))
