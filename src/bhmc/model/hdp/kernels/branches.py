"""Where a block of rows may hang: the weights of all places in the tree, and new inner nodes.

A block is n rows that move as one: `space.block` has its customers by component, which are rows
where it moves to a leaf and tables where it is a subtree. Its rows are not counted meanwhile.
A node that holds other rows is open; the root always is. Nodes that only the block held stay in
their slots until a place is chosen: their chain of inner nodes is one of the places.
"""

import math

import numpy as np

from bhmc._compiled.decorators import helper, merged
from bhmc._compiled.distributions import log_add, log_gamma_draw
from bhmc._compiled.random_source import uniform
from bhmc.model.hdp.kernels.concentrations import log_rising
from bhmc.model.hdp.kernels.nodes import open_node
from bhmc.model.hdp.workspace import DEPTH, WIDTH

# Up to so many factors a rising factorial is their product: quicker than two log gammas.
FEW_FACTORS = 16


@helper
def log_rising_at(a, log_a, m, n):
    """log Gamma(a + m + n) / Gamma(a + m), n above 0; exact where m is 0 and a is 0 in a double."""
    first, value = 0, 0.0
    if m == 0:
        first, value = 1, log_a
    if n > FEW_FACTORS:
        return value + math.lgamma(a + m + n) - math.lgamma(a + m + first)
    product = 1.0
    for i in range(first, n):
        product *= a + m + i
    return value + math.log(product)


@merged
def is_open(ws, z):
    """Whether node z is in the tree without the block."""
    return ws.n_under[z] > 0 or ws.level[z] == 0


@helper
def open_above(parent, n_under, z):
    """The first open node from z upwards."""
    while z > 0 and n_under[z] == 0:
        z = parent[z]
    return z


@helper
def weigh_paths(ws, rates, n, last):
    """node_scratch[0, z] = log path(z) for open z of levels up to `last`: the nCRP's factors of n
    rows that walk down to z,

    path(z) = prod over b other than the root of Gamma(N_b + n) / Gamma(N_b)
              * prod over inner b of Gamma(N_b + alpha) / Gamma(N_b + n + alpha),

    b from the root to z. No place has a weight yet: node_scratch[1] = -inf.
    """
    for z in range(ws.level.shape[0]):
        ws.node_scratch[1, z] = -math.inf
    for level in range(last + 1):
        for z in range(ws.level.shape[0]):
            if ws.level[z] != level or not is_open(ws, z):
                continue
            log_path = 0.0
            if level > 0:
                log_path = ws.node_scratch[0, ws.parent[z]] + log_rising(float(ws.n_under[z]), n)
            if level < ws.room[DEPTH]:
                log_path -= log_rising(ws.n_under[z] + rates.alpha, n)
            ws.node_scratch[0, z] = log_path


@helper
def log_hang(log_path, alpha, n, d):
    """log of path(z) alpha Gamma(n) [Gamma(alpha + 1) Gamma(n) / Gamma(n + alpha)]^d: the block
    hangs below z, through d new nodes that it alone holds.
    """
    log_node = math.lgamma(alpha + 1.0) + math.lgamma(n) - math.lgamma(n + alpha)
    return log_path + math.log(alpha) + math.lgamma(n) + d * log_node


@helper
def list_entries(block, entries, width):
    """entries = the components of the block; returns (their number, the block's customers)."""
    size, total = 0, 0
    for k in range(1, width):
        if block[k] > 0:
            entries[size] = k
            size += 1
            total += block[k]
    return size, total


@helper
def log_block_new(block, entries, size, total, gamma, log_table, row):
    """log p(the block's customers at a new node | its parent's weights, log_table[row])
    = log of Gamma(g) / Gamma(g + t.) prod_k Gamma(g b_k + t_k) / Gamma(g b_k).
    """
    value, log_gamma = -log_rising(gamma, float(total)), math.log(gamma)
    for i in range(size):
        k = entries[i]
        log_b = log_table[row, k]
        value += log_rising_at(gamma * math.exp(log_b), log_gamma + log_b, np.int64(0), block[k])
    return value


# ---- Auxiliary chains --------------------------------------------------------------------------
# A chain of new inner nodes below z, from the prior. Only what the block sees of them is drawn
# until the chain is chosen: the block's entries, and all other weight together in entry 0. (So it
# is with Dirichlets: a sum of entries is an entry, and its parts are a Dirichlet of their own.)


@merged
def begin_chain(ws, space, z, row, size):
    """chain[row] = the log weights of z: the block's entries, the others together in entry 0."""
    rest = 0.0
    for k in range(ws.room[WIDTH]):
        if space.block[k] == 0:
            rest += ws.beta[z, k]
    space.chain[row, 0] = math.log(rest) if rest > 0.0 else -math.inf
    for i in range(size):
        k = space.entries[i]
        space.chain[row, k] = ws.log_beta[z, k]


@helper
def draw_limit(log_table, row, block, width, rng):
    """A component that is none of the block's, with the probabilities of log_table[row]."""
    top, total = -math.inf, 0.0
    for k in range(width):
        if block[k] == 0:
            top = max(top, log_table[row, k])
    for k in range(width):
        if block[k] == 0:
            total += math.exp(log_table[row, k] - top)
    target, chosen = uniform(rng) * total, -1
    for k in range(width):
        if block[k] == 0:
            weight = math.exp(log_table[row, k] - top)
            if target >= 0.0 and weight > 0.0:
                chosen = k
            target -= weight
    return chosen


@helper
def draw_entries(chain, row, entries, size, gamma, rng):
    """chain[row] ~ Dir(gamma exp(chain[row - 1])) over entry 0 and the block's.

    Where all gamma draws underflow the limit is taken: all weight on one entry, with the
    probabilities of chain[row - 1].
    """
    total, before = -math.inf, 0.0
    for i in range(-1, size):
        k = 0 if i < 0 else entries[i]
        chain[row, k] = log_gamma_draw(gamma * math.exp(chain[row - 1, k]), rng)
        total = log_add(total, chain[row, k])
        before += math.exp(chain[row - 1, k])
    target, chosen = 0.0, 0
    if total == -math.inf:
        target = uniform(rng) * before
    for i in range(-1, size):
        k = 0 if i < 0 else entries[i]
        if total > -math.inf:
            chain[row, k] -= total
        else:
            if target >= 0.0 and chain[row - 1, k] > -math.inf:
                chosen = k
            target -= math.exp(chain[row - 1, k])
    if total == -math.inf:
        chain[row, chosen] = 0.0


@merged
def draw_chain(ws, rates, space, z, row, n_new, size, rng):
    """chain[row + j], j = 1..n_new: beta_j ~ DP(gamma, beta_(j - 1)) below beta_0 = beta_z."""
    begin_chain(ws, space, z, row, size)
    for at in range(row + 1, row + n_new + 1):
        draw_entries(space.chain, at, space.entries, size, rates.gamma, rng)


@merged
def fill_node(ws, rates, space, z, row, rng):
    """beta_z given chain[row], which has the block's entries and the sum of the others: these are
    Dir(gamma beta_pa) among themselves. Where all gamma draws underflow the limit is taken.
    """
    up, total, chosen = ws.parent[z], -math.inf, -1
    for k in range(ws.room[WIDTH]):
        if space.block[k] > 0:
            ws.log_beta[z, k] = space.chain[row, k]
        else:
            ws.log_beta[z, k] = log_gamma_draw(rates.gamma * ws.beta[up, k], rng)
            total = log_add(total, ws.log_beta[z, k])
    if total == -math.inf:
        chosen = draw_limit(ws.log_beta, up, space.block, ws.room[WIDTH], rng)
    for k in range(ws.room[WIDTH]):
        if space.block[k] == 0 and total > -math.inf:
            ws.log_beta[z, k] += space.chain[row, 0] - total
        elif k == chosen:
            ws.log_beta[z, k] = space.chain[row, 0]
        ws.beta[z, k] = math.exp(ws.log_beta[z, k])


@helper
def grow_chain(ws, rates, space, z, row, n_new, rng):
    """Open the n_new nodes of a chain, from row + 1 on, below z; returns the last, or z."""
    for at in range(row + 1, row + n_new + 1):
        z = open_node(ws, z)
        fill_node(ws, rates, space, z, at, rng)
    return z


@helper
def weigh_new(ws, rates, space, n, level, last, z, rng):
    """node_scratch[1] of new branches below the open nodes of levels up to `last`: inner nodes down
    to `last`, then a node that is integrated out; the block's top, at `level`, was below z.

    weight = hang(a, level) p(the block's customers at a new node | the last inner weights).

    Below a of level `last` no inner node is new. Every other a has one auxiliary chain of inner
    nodes from the prior; where nodes died with the block, theirs is the auxiliary. Of the places
    with chains one, drawn in proportion, gets the weight of them all. Returns its chain's row.
    """
    size, total = list_entries(space.block, space.entries, ws.room[WIDTH])
    own, dead, height = open_above(ws.parent, ws.n_under, z), z, ws.room[DEPTH] + 1
    while ws.level[dead] > last:
        dead = ws.parent[dead]
    row, log_total, chosen = 0, -math.inf, -1
    for a in range(ws.level.shape[0]):
        if not 0 <= ws.level[a] <= last or not is_open(ws, a):
            continue
        n_new = last - ws.level[a]
        value = log_hang(ws.node_scratch[0, a], rates.alpha, n, level - 1 - ws.level[a])
        at, is_fresh = a if n_new == 0 else dead, n_new > 0 and a != own
        if is_fresh:
            draw_chain(ws, rates, space, a, row, n_new, size, rng)
            at = row + n_new
        value += log_block_new(
            space.block,
            space.entries,
            size,
            total,
            rates.gamma,
            space.chain if is_fresh else ws.log_beta,
            at,
        )
        if n_new == 0:
            ws.node_scratch[1, a] = value
            continue
        log_total = log_add(log_total, value)
        if uniform(rng) < math.exp(value - log_total):
            chosen = a
            if is_fresh:
                row = height - row
    if chosen >= 0:
        ws.node_scratch[1, chosen] = log_total
    return height - row
