"""A block of rows of one leaf and one component moves to another leaf or to a new branch.

The block: a row i, drawn evenly, and each other row of its leaf z and its component k with
probability p, which was drawn without looking at the state. So that the way back can pick the same
rows, the weight of a leaf that holds n_k other rows of k has the factor (1 - p)^n_k. The weights of
all leaves are integrated out; those of inner nodes are not, and g is gamma:

existing leaf z' below q: path(z') (1 - p)^n_k Gamma(g + N) / Gamma(g + N + n)
                          * Gamma(g beta_qk + n_k + n) / Gamma(g beta_qk + n_k);
new branch of e nodes below a: hang(a, L) E_e(n, beta_ak), with
E_e(n, b) = sum over t of (A^(e-1))[n, t] E_1(t, b), E_1(t, b) = Gamma(g) / Gamma(g + t)
            * Gamma(g b + t) / Gamma(g b), and A[n, t] the law of the tables t of n customers.

A takes n^2 numbers. For larger blocks the inner nodes of new branches are auxiliary chains. Which
form is used depends on n and gamma only, which the move leaves alone.
"""

import math

import numpy as np

from bhmc._compiled.decorators import compiled, helper, merged
from bhmc._compiled.random_source import uniform
from bhmc.model.hdp.kernels.births import draw_node_weights
from bhmc.model.hdp.kernels.branches import (
    grow_chain,
    is_open,
    log_hang,
    log_rising_at,
    open_above,
    weigh_new,
    weigh_paths,
)
from bhmc.model.hdp.kernels.concentrations import log_rising
from bhmc.model.hdp.kernels.nodes import count_path, drop_empty_nodes, open_node
from bhmc.model.hdp.kernels.numbers import draw_index
from bhmc.model.hdp.workspace import DEPTH, FREE_SLOTS, SHAPE, WIDTH

# Half of the blocks are whole cells, of the others each row is taken with this probability.
PART = 0.5

# With a larger gamma the numbers of `space.law` might underflow.
LARGEST_GAMMA = 50.0


@merged
def extend_law(space, gamma, n):
    """law[n, t] = |s(n, t)| g^t Gamma(g) / Gamma(g + n), the probability that n customers sit at t
    tables, for all numbers up to n: A[n + 1, t] = A[n, t - 1] g / (g + n) + A[n, t] n / (g + n).

    law[0, 0] is the gamma that the rows are of; `built` counts the rows.
    """
    if space.law[0, 0] != gamma:
        space.law[0, 0], space.law[1, 1], space.built[0] = gamma, 1.0, 1
    for m in range(space.built[0], n):
        for t in range(1, m + 2):
            before = space.law[m, t - 1] if t > 1 else 0.0
            same = space.law[m, t] if t <= m else 0.0
            space.law[m + 1, t] = (before * gamma + same * m) / (gamma + m)
    space.built[0] = max(space.built[0], n)


@merged
def set_powers(space, gamma, n, depth):
    """powers[j, t] = (A^j)[n, t], j < depth: n customers become t tables j levels above."""
    extend_law(space, gamma, n)
    for j in range(depth):
        for t in range(n + 1):
            space.powers[j, t] = 1.0 if j == 0 and t == n else 0.0
        if j > 0:
            for m in range(1, n + 1):
                weight = space.powers[j - 1, m]
                for t in range(1, m + 1):
                    space.powers[j, t] += weight * space.law[m, t]


@helper
def sum_customers(powers, gamma, b, n, e, target):
    """The sum over t = 1..n of (A^(e-1))[n, t] E_1(t, b) / b, and the t where it passes `target`.

    E_1(t, b) / b is the product over j = 1..t-1 of (g b + j) / (g + j).
    """
    ratio, total, chosen = 1.0, 0.0, n
    for t in range(1, n + 1):
        total += powers[e - 1, t] * ratio
        if total > target and chosen == n:
            chosen = t
        ratio *= (gamma * b + t) / (gamma + t)
    return total, chosen


@merged
def draw_size(others, share, rng):
    """1 + Binomial(others, share): rows of the block."""
    if share == 1.0:
        return others + 1
    n = 1
    for _ in range(others):
        if uniform(rng) < share:
            n += 1
    return n


@merged
def weigh_leaves(ws, rates, k, n, share):
    """node_scratch[1] of the open leaves."""
    log_gamma = math.log(rates.gamma)
    for z in range(ws.level.shape[0]):
        if ws.level[z] != ws.room[DEPTH] or not is_open(ws, z):
            continue
        value, there, up = ws.node_scratch[0, z], ws.customers[z, k], ws.parent[z]
        if there > 0:
            if share == 1.0:
                continue
            value += there * math.log1p(-share)
        value -= log_rising(rates.gamma + ws.n_under[z], float(n))
        value += log_rising_at(
            rates.gamma * ws.beta[up, k], log_gamma + ws.log_beta[up, k], there, n
        )
        ws.node_scratch[1, z] = value


@merged
def weigh_branches(ws, rates, space, k, n):
    """node_scratch[1] of new branches below the open inner nodes, in closed form."""
    depth = ws.room[DEPTH]
    set_powers(space, rates.gamma, n, depth)
    for z in range(ws.level.shape[0]):
        if 0 <= ws.level[z] < depth and is_open(ws, z):
            e = depth - ws.level[z]
            total, _ = sum_customers(space.powers, rates.gamma, ws.beta[z, k], n, e, math.inf)
            value = log_hang(ws.node_scratch[0, z], rates.alpha, float(n), e - 1)
            ws.node_scratch[1, z] = value + ws.log_beta[z, k] + math.log(total)


@merged
def grow_block(ws, rates, space, z, k, n, rng):
    """Inner nodes from below z to the level above the leaves, top-down; returns the last, or z.

    m ~ (A^(e-1))[n, m] E_1(m, beta_pa,k) customers of k, which are forgotten then; beta ~
    Dir(gamma beta_pa + m e_k).
    """
    while ws.level[z] < ws.room[DEPTH] - 1:
        up, e, target, m = z, ws.room[DEPTH] - ws.level[z], math.inf, n
        for _ in range(2):  # the sum, then where a part of it is reached
            total, m = sum_customers(space.powers, rates.gamma, ws.beta[up, k], n, e, target)
            if target == math.inf:
                target = uniform(rng) * total
        z = open_node(ws, up)
        for j in range(ws.room[WIDTH]):
            ws.scratch[SHAPE, j] = rates.gamma * ws.beta[up, j]
        ws.scratch[SHAPE, k] += m
        draw_node_weights(ws, z, rng)
    return z


@merged
def move_rows(leaf, component, row, z, k, n, others, new, rng):
    """`row` and n - 1 of the `others` in its cell, drawn evenly, go to leaf `new`."""
    wanted = n - 1
    for i in range(leaf.shape[0]):
        if leaf[i] == z and component[i] == k and i != row:
            if wanted == others or uniform(rng) * others < wanted:
                leaf[i] = new
                wanted -= 1
            others -= 1
    leaf[row] = new


@merged
def relocate_block(ws, rates, space, leaf, component, threshold, rng):
    """One move; see the top of the file."""
    share = 1.0 if uniform(rng) < 0.5 else PART
    row = int(uniform(rng) * leaf.shape[0])
    z, k = np.int64(leaf[row]), np.int64(component[row])
    others, depth = ws.customers[z, k] - 1, ws.room[DEPTH]
    n = draw_size(others, share, rng)
    count_path(ws, z, -n)
    ws.customers[z, k] -= n
    space.block[k] = n
    weigh_paths(ws, rates, float(n), depth)
    weigh_leaves(ws, rates, k, n, share)
    in_closed_form, kept = n < threshold and rates.gamma <= LARGEST_GAMMA, np.int64(0)
    if in_closed_form:
        weigh_branches(ws, rates, space, k, n)
    else:
        kept = weigh_new(ws, rates, space, float(n), depth, depth - 1, z, rng)
    place = draw_index(ws.node_scratch, np.int64(1), ws.level.shape[0], rng)
    new = z
    # Nodes that died with the block are drawn anew in closed form, and are the auxiliary otherwise.
    if place != open_above(ws.parent, ws.n_under, z) or (
        in_closed_form and ws.level[place] < depth - 1
    ):
        drop_empty_nodes(ws, z)
        new = place
        if ws.level[place] < depth:
            if in_closed_form:
                new = grow_block(ws, rates, space, place, k, n, rng)
            else:
                new = grow_chain(ws, rates, space, place, kept, depth - 1 - ws.level[place], rng)
            new = open_node(ws, new)
        if new != z:
            move_rows(leaf, component, row, z, k, n, others, new, rng)
    space.block[k] = 0
    count_path(ws, new, n)
    ws.customers[new, k] += n


@compiled
def relocate(ws, rates, space, leaf, component, threshold, start, n_moves, rng):
    """Moves start..n_moves - 1, each of a block of rows; `customers` of leaves are kept up to date.

    Blocks of `threshold` rows or more have auxiliary chains. Returns how many moves are done: fewer
    than `n_moves` where the room has run out. The weights of leaves are not valid afterwards.
    """
    for move in range(start, n_moves):
        if ws.room[FREE_SLOTS] < ws.room[DEPTH]:
            return move
        relocate_block(ws, rates, space, leaf, component, threshold, rng)
    return n_moves
