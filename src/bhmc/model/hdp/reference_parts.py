"""What the slow twins are made of: nodes, components, and draws from named distributions.

The same numbers in the same order as in `kernels`, in plain NumPy.
"""

import math

import numpy as np

from bhmc.model.hdp.workspace import (
    COMPONENTS_BORN,
    COMPONENTS_DIED,
    DEPTH,
    FREE_COLUMNS,
    FREE_SLOTS,
    NODES_BORN,
    NODES_DIED,
    NONE,
    WIDTH,
    whole_blocks,
)

# A plain number below the first counts as 0 (its logarithm stays), above the second as infinite:
# what was lost to the first is then less than 2^-520.
SMALLEST, LARGEST = 2.0**-1020, 2.0**500
# With more than this times (1 + a log n) customers, tables are found by waiting times.
MANY_CUSTOMERS = 60.0
# A log gamma draw of a small shape is log G - x with |log G| < 64: below half a digit of this x.
HUGE = 1e19


# ---- Nodes -------------------------------------------------------------------------------------


def nodes_of(ws):
    """Slots in use, parents before children, slots of one level in order."""
    slots = np.flatnonzero(ws.level >= 0)
    return slots[np.argsort(ws.level[slots], kind="stable")]


def children_of(ws, z):
    """Children of z in the order of their list."""
    children, y = [], ws.first_child[z]
    while y != NONE:
        children.append(int(y))
        y = ws.next_sibling[y]
    return children


def link(ws, z, children):
    """Make `children` the list of z."""
    links = [*children, NONE]
    ws.first_child[z] = links[0]
    ws.next_sibling[links[:-1]] = links[1:]


def path_to(ws, z):
    """Slots from the root to z; none if z is -1."""
    return np.append(path_to(ws, ws.parent[z]), z) if z != NONE else np.empty(0, dtype=np.int64)


def open_node(ws, up):
    """Take the next free slot for the last child of `up`; its weights are still to be drawn."""
    ws.room[FREE_SLOTS] -= 1
    z = ws.free[ws.room[FREE_SLOTS]]
    ws.parent[z], ws.level[z], ws.n_under[z] = up, ws.level[up] + 1, 0
    link(ws, z, [])
    link(ws, up, [*children_of(ws, up), z])
    ws.events[NODES_BORN] += 1
    return z


def drop_empty_nodes(ws, z):
    """Delete the nodes without data from z upwards."""
    while z > 0 and ws.n_under[z] == 0:
        up = ws.parent[z]
        link(ws, up, [y for y in children_of(ws, up) if y != z])
        ws.parent[z] = ws.level[z] = NONE
        ws.free[ws.room[FREE_SLOTS]] = z
        ws.room[FREE_SLOTS] += 1
        ws.events[NODES_DIED] += 1
        z = up


def draw_node_weights(ws, z, shapes, rng):
    """beta_z ~ Dir(shapes), in both arrays."""
    log_w = log_dirichlet_draw(shapes, ws.log_beta[ws.parent[z], : len(shapes)], rng)
    w = exp_within(log_w - log_w.max())
    ws.log_beta[z, : len(w)], ws.beta[z, : len(w)] = log_w, w / w.sum()


# ---- Draws from named distributions ------------------------------------------------------------


def pick(weights, target):
    """(i, what is left of target) where the running sum of the weights passes it."""
    for i, weight in enumerate(weights):
        if target < weight:
            return i, target
        target -= weight
    last = np.flatnonzero(weights)[-1]  # rounding took target past them all
    return last, weights[last]


def draw_index(log_weights, rng):
    """P(i) ~ exp(log_weights[i])."""
    weights = exp_within(log_weights - log_weights.max())
    return pick(weights, rng.random() * weights.sum())[0]


def exp_within(x):
    """exp(x), but 0 below 2^-1020 and inf above 2^500."""
    with np.errstate(over="ignore"):
        w = np.exp(x.astype(np.float64))
    return np.where(w > SMALLEST, np.where(w < LARGEST, w, np.inf), 0.0)


def tables_draw(n, a, rng):
    """m ~ CRT(n, a) = sum over i = 0..n-1 of Bernoulli(a / (a + i)); CRT(n >= 1, 0) = 1.

    Many customers: with i seated, P(the next w open no table) = prod over j = i..i+w-1 of
    j / (a + j) = E[(1 - p)^w], p ~ Beta(a, i). So the wait for a table is Geometric(p).
    """
    if n <= 1:
        return n
    if n <= MANY_CUSTOMERS * (1 + a * np.log(n)):
        return 1 + (rng.random(n - 1) * (a + np.arange(1, n)) < a).sum()
    tables, seated = 1, 1
    while True:
        g = np.exp(log_gamma_draw(a, rng))
        p = g / (g + np.exp(log_gamma_draw(seated, rng)))
        if p == 0:
            return tables
        with np.errstate(divide="ignore", over="ignore"):  # p = 1 or hardly more than 0
            seated += 1 + np.floor(np.log1p(-rng.random()) / np.log1p(-p))
        if seated > n:
            return tables
        tables += 1


def log_gamma_draw(shape, rng):
    """log G, G ~ Gamma(shape); below shape 1 by log G(a) = log G(a + 1) + log(U) / a.

    From shape 1 on by rejection from a log-logistic (Cheng 1977, algorithm GB).
    """
    if shape == 0:
        return -np.inf
    if shape < 1:
        fall = -math.log1p(-rng.random()) / float(shape)
        return -fall if fall > HUGE else log_gamma_draw(shape + 1, rng) - fall
    slope = np.sqrt(2 * shape - 1)
    while True:
        u, v = rng.random(2)
        if u > 0 and v > 0:
            y = np.log(u / (1 - u)) / slope
            fit = shape - np.log(4) + (shape + slope) * y - shape * np.exp(y)
            if fit >= np.log(u * u * v):
                return np.log(shape) + y


def log_dirichlet_draw(shapes, log_limit, rng):
    """log w, w ~ Dir(shapes).

    Where every gamma draw underflows the limit is taken: all weight on one entry, with probability
    proportional to exp(log_limit), as the shapes are; no weight at all where that is 0 as well.
    """
    log_g = np.array([log_gamma_draw(shape, rng) for shape in shapes])
    if log_g.max() > -np.inf:
        return log_g - np.logaddexp.reduce(log_g)
    if log_limit.max() > -np.inf:
        log_g[draw_index(log_limit, rng)] = 0.0
    return log_g


# ---- Components --------------------------------------------------------------------------------


def break_component(ws, rates, chosen_at, rng):
    """u_root ~ Beta(1, gamma0) and u_z ~ Beta(gamma beta_pa,new, gamma beta*_pa), with 1 more on
    the path to the node `chosen_at` whose datum has just chosen the new component (-1: none has);
    then beta_z,new = u_z beta*_z and beta*_z <- (1 - u_z) beta*_z. Returns its column.
    """
    k = int(np.flatnonzero(~ws.alive)[0])
    ws.alive[k] = True
    ws.room[FREE_COLUMNS] -= 1
    ws.room[WIDTH] = max(ws.room[WIDTH], whole_blocks(k + 1))
    ws.events[COMPONENTS_BORN] += 1
    ahead = path_to(ws, chosen_at)
    for z in nodes_of(ws):
        up, pair = ws.parent[z], [k, 0]
        shapes = np.array([1.0, rates.gamma0])
        if z > 0:
            shapes = rates.gamma * ws.beta[up, pair] + [z in ahead, 0]
        log_u = log_dirichlet_draw(shapes, ws.log_beta[up, pair], rng)
        ws.log_beta[z, pair] = ws.log_beta[z, 0] + log_u
        ws.beta[z, pair] = np.exp(ws.log_beta[z, pair])
    return k


def grow_branch(ws, rates, z, k, rng):
    """beta_y ~ Dir(gamma beta_pa + e_k), top-down, for new nodes y from below z to a leaf.

    Their only datum chose k; k = -1: no datum yet. Returns the leaf.
    """
    while ws.level[z] < ws.room[DEPTH]:
        up, z = z, open_node(ws, z)
        shapes = rates.gamma * ws.beta[up, : ws.room[WIDTH]]
        if k != NONE:
            shapes[k] += 1
        draw_node_weights(ws, z, shapes, rng)
    return z


def release_component(ws, k):
    """beta*_z <- beta*_z + beta_zk at every node: component k is unborn again."""
    ws.log_beta[:, 0] = np.logaddexp(ws.log_beta[:, 0], ws.log_beta[:, k])
    ws.beta[:, 0] += ws.beta[:, k]
    ws.log_beta[:, k], ws.beta[:, k] = -np.inf, 0.0
    ws.alive[k] = False
    ws.room[FREE_COLUMNS] += 1
    ws.events[COMPONENTS_DIED] += 1
