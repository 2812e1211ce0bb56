"""What a row may choose before it is seen: weights of atoms, and of new atoms at every node.

Atom k: n_k times the product of N_y / (N_y + c_y) over the nodes y from below the root to its leaf.
A new atom that begins at z: c_z times that product down to z. Both are divided by one number, the
same for all. The weights change only where a row goes to another leaf: until then they are kept.
"""

import numpy as np

from bhmc._compiled.decorators import helper, merged
from bhmc.model.diffused.kernels.places import concentration, release_empty


@helper
def find_share(forest, z, alpha, g):
    """share[z] = N_z / (N_z + c_z), 0 where the slot is free; loss[z] = how it falls by a row."""
    rows, conc = forest.rows[z], concentration(forest, z, alpha, g)
    share = rows / (rows + conc)
    forest.share[z] = share if forest.level[z] >= 0 else 0.0
    forest.loss[z] = (rows - 1) / ((rows - 1 + conc) * share) if rows > 1 else 0.0


@helper
def spread_shares(forest, alpha, g):
    """Weights of all nodes and atoms from the shares; parents come before children."""
    forest.weight[0] = forest.losses[0] = 1.0
    forest.node_prior[0] = concentration(forest, np.int64(0), alpha, g)
    for z in range(1, forest.used[0]):
        y = forest.parent[z]
        weight = forest.weight[y] * forest.share[z]
        forest.weight[z] = weight
        forest.losses[z] = forest.losses[y] * forest.loss[z]
        forest.node_prior[z] = weight * concentration(forest, z, alpha, g)
    for k in range(forest.used[1]):
        find_atom_prior(forest, k)


@helper
def find_atom_prior(forest, k):
    """atom_prior[k] = n_k times the weight of its leaf."""
    z = forest.leaf[k]
    forest.atom_prior[k] = forest.weight[z] * forest.count[k] if z >= 0 else 0.0


@helper
def find_priors(forest, alpha, g):
    """Shares and weights of all."""
    for z in range(forest.used[0]):
        find_share(forest, z, alpha, g)
    spread_shares(forest, alpha, g)


@helper
def change_rows(forest, z, change, alpha, g):
    """So many rows more under z and all above it, whose shares follow."""
    while z >= 0:
        forest.rows[z] += change
        find_share(forest, z, alpha, g)
        z = forest.parent[z]


@helper
def take_row(forest, k, alpha, g):
    """One row leaves atom k; what is empty goes."""
    z = forest.leaf[k]
    forest.count[k] -= 1
    change_rows(forest, z, np.int64(-1), alpha, g)
    if forest.count[k] == 0:
        forest.leaf[k] = -1
    release_empty(forest, z)
    while forest.rows[z] == 0 and z > 0:  # a node that is gone has no share
        find_share(forest, z, alpha, g)
        z = forest.parent[z]


@helper
def put_row(forest, k, alpha, g):
    """One row more in atom k."""
    forest.count[k] += 1
    change_rows(forest, forest.leaf[k], np.int64(1), alpha, g)


@helper
def move_row(forest, old, new, alpha, g):
    """A row goes from one atom, which keeps others, to another; weights follow."""
    if forest.leaf[old] == forest.leaf[new]:
        forest.count[old] -= 1
        forest.count[new] += 1
        find_atom_prior(forest, old)
        find_atom_prior(forest, new)
    else:
        take_row(forest, old, alpha, g)
        put_row(forest, new, alpha, g)
        spread_shares(forest, alpha, g)


@merged
def left_without(forest, own, z, same_atom):
    """The weight of an option at node z without a row of atom `own`, which has others, over that
    with it: n_k - 1 for n_k, and shares that fall at the nodes above both.
    """
    ratio = (forest.count[own] - 1) / forest.count[own] if same_atom else 1.0
    y = forest.leaf[own]
    while y != z:
        if forest.level[y] >= forest.level[z]:
            y = forest.parent[y]
        else:
            z = forest.parent[z]
    return ratio * forest.losses[y]
