"""A new component, and the weights of new nodes."""

import math

from bhmc._compiled.decorators import compiled, helper, merged
from bhmc._compiled.distributions import beta_draw, log_gamma_draw
from bhmc._compiled.exponential import exp_within
from bhmc.model.hdp.kernels.mass import begin_mass
from bhmc.model.hdp.kernels.nodes import open_node
from bhmc.model.hdp.kernels.numbers import draw_index, largest
from bhmc.model.hdp.workspace import BLOCK, COMPONENTS_BORN, DEPTH, FREE_COLUMNS, NONE, SHAPE, WIDTH


@merged
def open_column(ws):
    """Take the first free column for a new component."""
    k = 1
    while ws.alive[k]:
        k += 1
    ws.alive[k] = True
    ws.room[FREE_COLUMNS] -= 1
    ws.room[WIDTH] = max(ws.room[WIDTH], (k // BLOCK + 1) * BLOCK)
    ws.events[COMPONENTS_BORN] += 1
    return k


@helper
def break_remainders(ws, rates, chosen_at, rng):
    """Split every remainder top-down: beta_z,new = u_z beta*_z and beta*_z <- (1 - u_z) beta*_z.

    Root: u ~ Beta(1, gamma0). Nodes on the path root..chosen_at:
    u ~ Beta(gamma beta_pa,new + 1, gamma beta*_pa), because the datum there has just chosen it.
    All others: u ~ Beta(gamma beta_pa,new, gamma beta*_pa). `chosen_at` -1: nobody chose it.
    Returns the column of the new component.
    """
    k = open_column(ws)
    log_gamma = math.log(rates.gamma)
    for z in range(ws.level.shape[0]):
        ws.node_scratch[0, z] = 0.0
    z = chosen_at
    while z != NONE:
        ws.node_scratch[0, z] = 1.0  # it is on the path of the datum that chose k
        z = ws.parent[z]
    for level in range(ws.room[DEPTH] + 1):
        for z in range(ws.level.shape[0]):
            if ws.level[z] != level:
                continue
            if level == 0:
                log_u, log_left = beta_draw(1.0, 0.0, rates.gamma0, math.log(rates.gamma0), rng)
            else:
                up = ws.parent[z]
                a, b = rates.gamma * ws.beta[up, k], rates.gamma * ws.beta[up, 0]
                log_a, log_b = log_gamma + ws.log_beta[up, k], log_gamma + ws.log_beta[up, 0]
                if ws.node_scratch[0, z] > 0.0:
                    a, log_a = a + 1.0, math.log1p(a)
                log_u, log_left = beta_draw(a, log_a, b, log_b, rng)
            ws.log_beta[z, k] = ws.log_beta[z, 0] + log_u
            ws.log_beta[z, 0] += log_left
            ws.beta[z, k] = math.exp(ws.log_beta[z, k])
            ws.beta[z, 0] = math.exp(ws.log_beta[z, 0])
    return k


@compiled
def break_component(ws, rates, chosen_at, rng):
    """`break_remainders` for callers outside: a pass has no use for what it takes to be called."""
    return break_remainders(ws, rates, chosen_at, rng)


@helper
def draw_node_weights(ws, z, rng):
    """beta_z ~ Dir(shapes), the shapes being gamma beta_pa and the customers of z, in scratch.

    Where every gamma draw underflows the limit is taken: all weight on entry k with probability
    proportional to its shape. The logarithms of the shapes decide: with gamma near the smallest
    double the shapes themselves are 0. (They hold no customer then, nor is z the root.)
    """
    width = ws.room[WIDTH]
    for k in range(width):
        ws.log_beta[z, k] = log_gamma_draw(ws.scratch[SHAPE, k], rng)
    top = largest(ws.log_beta, z, width)
    if top == -math.inf:
        chosen = draw_index(ws.log_beta, ws.parent[z], width, rng)
        for k in range(width):
            ws.beta[z, k] = 1.0 if k == chosen else 0.0
            ws.log_beta[z, k] = 0.0 if k == chosen else -math.inf
        return
    total = 0.0
    for k in range(width):
        ws.beta[z, k] = exp_within(ws.log_beta[z, k] - top)
    for k in range(width):
        total += ws.beta[z, k]
    log_total = top + math.log(total)
    for k in range(width):
        ws.log_beta[z, k] -= log_total
        ws.beta[z, k] /= total


@helper
def grow_branch(ws, rates, z, k, rng):
    """New nodes from below z down to a leaf; returns the leaf.

    Top-down, beta ~ Dir(gamma beta_pa + e_k): their only datum chose k; k = -1: no datum yet.
    """
    while ws.level[z] < ws.room[DEPTH]:
        up = z
        z = open_node(ws, up)
        for j in range(ws.room[WIDTH]):
            ws.scratch[SHAPE, j] = rates.gamma * ws.beta[up, j]
        if k >= 0:
            ws.scratch[SHAPE, k] += 1.0
        draw_node_weights(ws, z, rng)
        begin_mass(ws, rates, z)
    return z
