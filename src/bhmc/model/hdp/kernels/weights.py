"""Weights of all nodes, jointly, and the tables they are drawn from."""

import math

from bhmc._compiled.decorators import compiled, helper, merged
from bhmc._compiled.distributions import exponential_draw, log_gamma_draw
from bhmc._compiled.random_source import uniform
from bhmc.model.hdp.kernels.births import draw_node_weights
from bhmc.model.hdp.kernels.concentrations import draw_concentrations
from bhmc.model.hdp.workspace import DEPTH, SHAPE, WIDTH
from bhmc.priors import FIXED

# With more than this times (1 + a log n) customers, tables are found by waiting times.
MANY_CUSTOMERS = 60.0


@helper
def tables_draw(customers, concentration, rng):
    """CRT(n, a) = sum over i = 0..n-1 of Bernoulli(a / (a + i)); CRT(n >= 1, 0) = 1.

    Many customers: with i seated, the wait for the next new table is Geometric(p), p ~ Beta(a, i),
    because P(wait > w) = prod over j = i..i+w-1 of j / (a + j) = E[(1 - p)^w].
    """
    if customers == 0:
        return 0
    tables = 1
    if customers <= MANY_CUSTOMERS * (1.0 + concentration * math.log(customers)):
        for i in range(1, customers):
            if uniform(rng) * (concentration + i) < concentration:
                tables += 1
        return tables
    seated = 1.0
    while True:
        g = math.exp(log_gamma_draw(concentration, rng))
        p = g / (g + math.exp(log_gamma_draw(seated, rng)))
        if p == 0.0:
            return tables
        wait = exponential_draw(rng) / -math.log1p(-p)
        if wait >= customers - seated:  # before it is made a whole number, which may be too large
            return tables
        seated += 1.0 + math.floor(wait)
        tables += 1


@helper
def count_customers(ws, rates, literal, rng):
    """n_zk of inner nodes, bottom-up, from those of the leaves: the sum of the children's tables.

    m_zk ~ CRT(n_zk, gamma beta_pa,k) with the current parent weights. `literal` passes the raw
    numbers of data upwards instead, as the published algorithm does.
    """
    for z in range(ws.level.shape[0]):
        if ws.level[z] < ws.room[DEPTH]:
            for k in range(ws.room[WIDTH]):
                ws.customers[z, k] = 0
    for level in range(ws.room[DEPTH], 0, -1):
        for z in range(ws.level.shape[0]):
            if ws.level[z] != level:
                continue
            up = ws.parent[z]
            for k in range(1, ws.room[WIDTH]):
                tables = ws.customers[z, k]
                if tables > 0 and not literal:
                    tables = tables_draw(tables, rates.gamma * ws.beta[up, k], rng)
                ws.customers[up, k] += tables


@merged
def set_root_shapes(ws, rates):
    """Shapes of the root before any customer: (gamma0; 0, ..., 0), or gamma0 / K each."""
    each = rates.gamma0 / rates.n_fixed if rates.n_fixed > 0 else 0.0
    for k in range(1, ws.room[WIDTH]):
        ws.scratch[SHAPE, k] = each if k <= rates.n_fixed else 0.0
    ws.scratch[SHAPE, 0] = 0.0 if rates.n_fixed > 0 else rates.gamma0


@merged
def draw_weights_to(ws, rates, last, rng):
    """beta_z given the customers of z, top-down to level `last`; see `draw_weights`."""
    for level in range(last + 1):
        for z in range(ws.level.shape[0]):
            if ws.level[z] != level:
                continue
            if level == 0:
                set_root_shapes(ws, rates)
            else:
                up = ws.parent[z]
                for k in range(ws.room[WIDTH]):
                    ws.scratch[SHAPE, k] = rates.gamma * ws.beta[up, k]
            for k in range(1, ws.room[WIDTH]):
                ws.scratch[SHAPE, k] += ws.customers[z, k]
            draw_node_weights(ws, z, rng)


@merged
def draw_all_weights(ws, rates, rng):
    """beta_z of all nodes given their customers."""
    draw_weights_to(ws, rates, ws.room[DEPTH], rng)


@compiled
def draw_weights(ws, rates, learning, literal, rng):
    """B, and the concentrations that are learned, given V and c; returns the concentrations.

    Tables bottom-up; alpha, gamma0 and gamma with B integrated out (`log_conditional`); then
    weights top-down: beta_root ~ Dir(n_root,1, ..., n_root,K, gamma0), in the finite form
    Dir(n_root,k + gamma0 / K); beta_z ~ Dir(n_zk + gamma beta_pa,k; gamma beta*_pa).
    """
    learned = learning.alpha[0] + learning.gamma0[0] + learning.gamma[0] > FIXED
    if learned:
        count_customers(ws, rates, not learned, rng)  # tables: a constant would compile it twice
        rates = draw_concentrations(ws, rates, learning, rng)
    if literal or not learned:
        count_customers(ws, rates, literal, rng)
    draw_all_weights(ws, rates, rng)
    return rates


@compiled
def draw_tables(ws, rates, literal, rng):
    """The tables of `draw_weights` alone, for what is drawn from them outside; see `published`.

    A kernel of its own, like the next one: a fit that has no use for them does not compile them.
    """
    count_customers(ws, rates, literal, rng)


@compiled
def draw_weights_given_tables(ws, rates, rng):
    """The weights of `draw_weights` alone: beta_z ~ Dir(n_zk + gamma beta_pa,k; gamma beta*_pa)."""
    draw_all_weights(ws, rates, rng)


@compiled
def draw_inner_weights(ws, rates, rng):
    """beta_z of inner nodes given their customers: a leaf's own is not needed to draw tables."""
    draw_weights_to(ws, rates, ws.room[DEPTH] - 1, rng)
