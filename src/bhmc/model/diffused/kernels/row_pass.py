"""One row after the other chooses its atom, or where in the tree a new one begins."""

from bhmc._compiled.decorators import compiled, helper
from bhmc._compiled.random_source import uniform
from bhmc.model.diffused.kernels.places import add_rows, concentration, release_empty


@helper
def find_reach(forest, alpha, g):
    """weight[z] = p(the next row passes through z) / (N_z + c_z); parents come before children."""
    forest.weight[0] = 1.0 / (forest.rows[0] + concentration(forest, 0, alpha, g))
    for z in range(1, forest.used[0]):
        forest.weight[z] = 0.0
        if forest.level[z] > 0:
            share = forest.rows[z] / (forest.rows[z] + concentration(forest, z, alpha, g))
            forest.weight[z] = forest.weight[forest.parent[z]] * share


@helper
def add_up_options(forest, atoms, nodes, i, alpha, g):
    """The sum of the weights of all options of row i.

    Atom k: p(its leaf) n_k / (N + g) f(x; theta_k), f in atoms[i, k]. New atom at leaf z:
    p(z) g / (N_z + g) f*_z(x); new branch below z: p(z) alpha / (N_z + alpha) f*_z(x), f* in
    nodes[i, z]. Tables hold f times any number that is the same for all options of a row.
    """
    total = 0.0
    for k in range(forest.used[1]):
        if forest.leaf[k] >= 0:
            total += forest.weight[forest.leaf[k]] * forest.count[k] * atoms[i, k]
    for z in range(forest.used[0]):
        if forest.level[z] >= 0:
            conc = concentration(forest, z, alpha, g)
            total += forest.weight[z] * conc * nodes[i, z]
    return total


@helper
def pick_option(forest, atoms, nodes, i, alpha, g, left):
    """The option whose weights, added up in the same order, first pass `left`.

    k for an atom, C + z for a new one that begins at z.
    """
    first, last = len(forest.leaf), -1
    for k in range(forest.used[1]):
        if forest.leaf[k] >= 0:
            w = forest.weight[forest.leaf[k]] * forest.count[k] * atoms[i, k]
            if w > 0.0:
                last = k
                left -= w
                if left < 0.0:
                    return k
    for z in range(forest.used[0]):
        if forest.level[z] >= 0:
            w = forest.weight[z] * concentration(forest, z, alpha, g) * nodes[i, z]
            if w > 0.0:
                last = first + z
                left -= w
                if left < 0.0:
                    return first + z
    return last


@helper
def take_row(forest, k):
    """One row leaves atom k; what is empty goes."""
    z = forest.leaf[k]
    forest.count[k] -= 1
    add_rows(forest, z, -1)
    if forest.count[k] == 0:
        forest.leaf[k] = -1
    release_empty(forest, z)


@compiled
def pass_rows(forest, atoms, nodes, component, position, alpha, g, rng):
    """Rows of a tile from `position` on, until one begins a new atom.

    Returns (rows done, z): the last row done begins an atom at node z, or below it; -1 at the end.
    """
    first = len(forest.leaf)
    for i in range(position, len(component)):
        take_row(forest, component[i])
        find_reach(forest, alpha, g)
        total = add_up_options(forest, atoms, nodes, i, alpha, g)
        option = pick_option(forest, atoms, nodes, i, alpha, g, uniform(rng) * total)
        if option >= first:
            return i + 1, option - first
        component[i] = option
        forest.count[option] += 1
        add_rows(forest, forest.leaf[option], 1)
    return len(component), -1
