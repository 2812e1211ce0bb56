"""Nodes and atoms in order: no holes, parents before children."""

from bhmc._compiled.decorators import compiled, helper


@compiled
def are_in_order(level, leaf, used):
    """Whether nodes and atoms have no holes before `used`, and nodes are in order of level."""
    for z in range(used[0]):
        if level[z] < 0 or (z > 0 and level[z] < level[z - 1]):
            return False
    for k in range(used[1]):
        if leaf[k] < 0:
            return False
    return True


@helper
def order_nodes(forest):
    """Nodes in order of level, those of one level in the order that they had; lists[0] has the new
    slot of each, -1 where there was none.

    `lists` and `mean`, which every move makes anew, are the room for what has to wait.
    """
    used, n = forest.used[0], 0
    for z in range(used):
        forest.lists[0, z], forest.lists[1, z] = -1, forest.parent[z]
        forest.lists[2, z], forest.lists[3, z] = forest.level[z], forest.rows[z]
        for d in range(len(forest.column)):
            forest.mean[z, d] = forest.location[z, d]
    for level in range(len(forest.variance) - 1):
        for z in range(used):
            if forest.lists[2, z] == level:
                forest.lists[0, z] = n
                n += 1
    for z in range(n, used):
        forest.parent[z], forest.level[z], forest.rows[z] = -1, -1, 0
    for z in range(used):
        new, above = forest.lists[0, z], forest.lists[1, z]
        if new >= 0:
            forest.parent[new] = forest.lists[0, above] if above >= 0 else -1
            forest.level[new], forest.rows[new] = forest.lists[2, z], forest.lists[3, z]
            for d in range(len(forest.column)):
                forest.location[new, d] = forest.mean[z, d]
    forest.used[0] = n


@helper
def order_atoms(forest, new_atom):
    """Atoms without holes, in the order that they had; new_atom has the new slot of each, -1 where
    there was none. Their leaves have the slots of lists[0].
    """
    used, n = forest.used[1], 0
    for k in range(used):
        new_atom[k] = -1
        if forest.leaf[k] >= 0:
            new_atom[k] = n
            forest.leaf[n], forest.count[n] = forest.lists[0, forest.leaf[k]], forest.count[k]
            if n < k:
                for d in range(len(forest.column)):
                    forest.theta[n, d] = forest.theta[k, d]
                    forest.linear[n, d] = forest.linear[k, d]
                for c in range(len(forest.repeats)):
                    forest.precision[n, c] = forest.precision[k, c]
            n += 1
    for k in range(n, used):
        forest.leaf[k], forest.count[k] = -1, 0
    forest.used[1] = n


@compiled
def put_in_order(forest, new_atom):
    """No holes among nodes and atoms, parents before children; new_atom (at least as many as are
    used) has the new slot of each atom.

    Messages and beliefs are no longer those of the slots.
    """
    order_nodes(forest)
    order_atoms(forest, new_atom)
