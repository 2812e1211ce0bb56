"""U_z, the prior weight of all that can happen to a datum at node z, component by component.

U_z = alpha beta_z + sum over children y of share_y U_y, with share_y = N_y / (N_y + alpha); at a
leaf U_z = beta_z and share_z = N_z. U_z[k] is, up to the factor N_z + alpha, the prior weight of
all that can happen to a datum at z if its component is to be k: to go on to a child, or to open a
branch, whose unseen weights average to beta_z.
"""

import numpy as np

from bhmc._compiled.decorators import helper, merged
from bhmc.model.hdp.kernels.nodes import count_path, drop_empty_nodes, leave_component
from bhmc.model.hdp.workspace import DEPTH, GAIN, LOSS, NONE, WIDTH


@helper
def begin_mass(ws, rates, z):
    """U_z of a node without data below it: beta_z at a leaf, alpha beta_z at an inner node."""
    scale = 1.0 if ws.level[z] == ws.room[DEPTH] else rates.alpha
    for k in range(ws.room[WIDTH]):
        ws.mass[z, k] = scale * ws.beta[z, k]
    ws.share[z] = 0.0


@helper
def sum_mass(ws, rates, z):
    """U_z from its children's, all terms positive, and share_z."""
    begin_mass(ws, rates, z)
    y = ws.first_child[z]
    while y != NONE:
        share = ws.share[y]
        for k in range(ws.room[WIDTH]):
            ws.mass[z, k] += share * ws.mass[y, k]
        y = ws.next_sibling[y]
    n = float(ws.n_under[z])
    ws.share[z] = n if ws.level[z] == ws.room[DEPTH] else n / (n + rates.alpha)


@merged
def sum_all_mass(ws, rates):
    """U of every node, bottom-up."""
    for level in range(ws.room[DEPTH], -1, -1):
        for z in range(ws.level.shape[0]):
            if ws.level[z] == level:
                sum_mass(ws, rates, z)


@helper
def sum_mass_of(ws, rates, k):
    """U_z[k] of every node, bottom-up: one column."""
    for level in range(ws.room[DEPTH], -1, -1):
        scale = rates.alpha if level < ws.room[DEPTH] else 1.0
        for z in range(ws.level.shape[0]):
            if ws.level[z] == level:
                u = scale * ws.beta[z, k]
                y = ws.first_child[z]
                while y != NONE:
                    u += ws.share[y] * ws.mass[y, k]
                    y = ws.next_sibling[y]
                ws.mass[z, k] = u


@helper
def begin_change(ws, leaf, step, change):
    """`step` more data at a leaf: N, share, and in row `change` what its parent's U gains."""
    ws.n_under[leaf] += step
    ws.share[leaf] += step
    for k in range(ws.room[WIDTH]):
        ws.scratch[change, k] = step * ws.mass[leaf, k]


@helper
def carry_change(ws, rates, z, step, change):
    """The same at an inner node: U_z gains `change`, which becomes what the next U gains."""
    ws.n_under[z] += step
    before, after = ws.share[z], ws.n_under[z] / (ws.n_under[z] + rates.alpha)
    ws.share[z] = after
    for k in range(ws.room[WIDTH]):
        u = ws.mass[z, k]
        u_new = u + ws.scratch[change, k]
        ws.mass[z, k] = u_new
        ws.scratch[change, k] = after * u_new - before * u


@merged
def move_mass(ws, rates, old, new):
    """One datum less at leaf `old`, which keeps others, or -1; one more at `new`: N, share and U.

    Where the two paths have met, N and shares stay as they are, and U gains what both bring. A
    share 2^-L of every U on the old path stays, at least: a subtraction leaves all digits but a
    few.
    """
    begin_change(ws, new, np.int64(1), np.int64(GAIN))
    z, left = ws.parent[new], NONE
    if old != NONE:
        begin_change(ws, old, np.int64(-1), np.int64(LOSS))
        left = ws.parent[old]
    while z != left and z > 0:
        carry_change(ws, rates, z, np.int64(1), np.int64(GAIN))
        z = ws.parent[z]
        if old != NONE:
            carry_change(ws, rates, left, np.int64(-1), np.int64(LOSS))
            left = ws.parent[left]
    if old == NONE:
        ws.n_under[0] += 1
    else:
        for k in range(ws.room[WIDTH]):
            ws.scratch[GAIN, k] += ws.scratch[LOSS, k]
    while z > 0:
        share = ws.share[z]
        for k in range(ws.room[WIDTH]):
            gain = ws.scratch[GAIN, k]
            ws.mass[z, k] += gain
            ws.scratch[GAIN, k] = share * gain
        z = ws.parent[z]
    for k in range(ws.room[WIDTH]):
        ws.mass[0, k] += ws.scratch[GAIN, k]


@merged
def remove_last(ws, rates, leaf, k):
    """A datum leaves its leaf and component k, one of which it alone holds; what is empty goes.

    The U above are summed anew: taking most of a sum away by subtraction would leave rounding
    error in place of its small entries.
    """
    count_path(ws, leaf, np.int64(-1))
    z = drop_empty_nodes(ws, leaf)
    while z != NONE:
        sum_mass(ws, rates, z)
        z = ws.parent[z]
    leave_component(ws, rates, k)


@merged
def find_path(ws, rates, leaf):
    """on_path = the path to `leaf`; kept[1] = the shares along it without one of its data."""
    z = leaf
    for level in range(ws.room[DEPTH], 0, -1):
        ws.on_path[level] = z
        share = ws.n_under[z] - 1.0
        ws.kept[1, level] = share if level == ws.room[DEPTH] else share / (share + rates.alpha)
        z = ws.parent[z]


@merged
def root_mass_without(ws, k):
    """U_root[k] without one datum of `on_path`; kept[0] = share U[k] along it, likewise."""
    before, after = 0.0, 0.0
    for level in range(ws.room[DEPTH], 0, -1):
        z = ws.on_path[level]
        u = ws.mass[z, k]
        u_new = u + (after - before)
        before, after = ws.share[z] * u, ws.kept[1, level] * u_new
        ws.kept[0, level] = after
    return ws.mass[0, k] + (after - before)
