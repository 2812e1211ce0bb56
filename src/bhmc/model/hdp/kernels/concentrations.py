"""Concentrations, given the tree and the tables."""

import math

from bhmc._compiled.decorators import helper, merged
from bhmc._compiled.distributions import exponential_draw
from bhmc._compiled.random_source import uniform
from bhmc.model.hdp.workspace import ALPHA, DEPTH, GAMMA, GAMMA0, WIDTH, Rates
from bhmc.priors import BETA, FIXED, GAMMA_PRIOR, UNIFORM

# Width of the slice sampler's first interval, in the logarithm of a concentration.
SLICE_WIDTH = 1.0

# A concentration beyond these counts as impossible.
SMALLEST_RATE, LARGEST_RATE = 1e-100, 1e100


@helper
def log_density(prior, x):
    """Log density of a prior, given as (kind, number, number), at x, less a constant."""
    kind, a, b = prior
    if kind == UNIFORM:
        return 0.0 if a <= x <= b else -math.inf
    if kind == GAMMA_PRIOR:
        return (a - 1.0) * math.log(x) - b * x
    if kind == BETA:
        return (a - 1.0) * math.log(x) + (b - 1.0) * math.log1p(-x) if x < 1.0 else -math.inf
    return -(a + 1.0) * math.log(x) - b / x


@helper
def log_rising(x, n):
    """log Gamma(x + n) / Gamma(x), n above 0."""
    return math.lgamma(x + n) - math.lgamma(x)


@merged
def log_tree_given(ws, alpha):
    """log p(V | alpha) = sum over inner z of m_z log alpha - log Gamma(N_z + alpha) / Gamma(alpha),
    m_z being the children of z, less what does not depend on alpha.
    """
    total, children = 0.0, -1
    for z in range(ws.level.shape[0]):
        if ws.level[z] >= 0:
            children += 1
            if ws.level[z] < ws.room[DEPTH]:
                total -= log_rising(alpha, float(ws.n_under[z]))
    return total + children * math.log(alpha)


@merged
def log_tables_given(ws, gamma):
    """log p(tables of all nodes below the root | gamma) = sum over them of
    m_z. log gamma - log Gamma(gamma + n_z.) / Gamma(gamma); n_z. is in node_scratch.
    """
    total, tables = 0.0, 0.0
    for z in range(ws.level.shape[0]):
        if ws.level[z] > 0:
            total -= log_rising(gamma, ws.node_scratch[0, z])
        if 0 <= ws.level[z] < ws.room[DEPTH]:
            tables += ws.node_scratch[0, z]  # an inner node's customers are its children's tables
    return total + tables * math.log(gamma)


@merged
def log_root_given(ws, rates, gamma0):
    """log p(the root's customers | gamma0) = K log gamma0 - log Gamma(gamma0 + n.) / Gamma(gamma0);
    in the finite form the first term is sum_k log Gamma(gamma0 / K + n_k) / Gamma(gamma0 / K).
    """
    total = -log_rising(gamma0, ws.node_scratch[0, 0])
    for k in range(1, ws.room[WIDTH]):
        n = ws.customers[0, k]
        if n > 0:
            if rates.n_fixed > 0:
                total += log_rising(gamma0 / rates.n_fixed, float(n))
            else:
                total += math.log(gamma0)
    return total


@merged
def log_conditional(ws, rates, which, prior, y):
    """Log density of log alpha, log gamma0 or log gamma at y, given V and the tables."""
    if not math.log(SMALLEST_RATE) < y < math.log(LARGEST_RATE):
        return -math.inf
    x = math.exp(y)
    value = y + log_density(prior, x)
    if value == -math.inf:
        return value
    if which == ALPHA:
        return value + log_tree_given(ws, x)
    if which == GAMMA:
        return value + log_tables_given(ws, x)
    return value + log_root_given(ws, rates, x)


@helper
def redraw_by_slice(ws, rates, which, prior, x, rng):
    """x from its conditional by one step of the slice sampler in log x (Neal 2003).

    One call for all points, in four stages (here, left, right, within): it compiles faster.
    """
    y = math.log(x)
    point, left, right, level, stage = y, y, y, 0.0, 0
    while True:
        value = log_conditional(ws, rates, which, prior, point)
        if stage == 0:
            level = value - exponential_draw(rng)
            left = y - SLICE_WIDTH * uniform(rng)
            right = left + SLICE_WIDTH
            point, stage = left, 1
        elif stage == 1:
            if value > level:
                left -= SLICE_WIDTH
                point = left
            else:
                point, stage = right, 2
        elif stage == 2 and value > level:
            right += SLICE_WIDTH
            point = right
        else:
            if stage == 3 and value >= level:
                return math.exp(point)
            if stage == 3:
                left, right = (point, right) if point < y else (left, point)
            stage = 3
            point = left + (right - left) * uniform(rng)


@merged
def redraw_concentration(ws, rates, learning, which, rng):
    """One concentration, if it is learned."""
    prior, x = learning.alpha, rates.alpha
    if which == GAMMA0:
        prior, x = learning.gamma0, rates.gamma0
    elif which == GAMMA:
        prior, x = learning.gamma, rates.gamma
    return x if prior[0] == FIXED else redraw_by_slice(ws, rates, which, prior, x, rng)


@merged
def draw_concentrations(ws, rates, learning, rng):
    """alpha given V; gamma0 and gamma given the tables; B plays no part."""
    for z in range(ws.level.shape[0]):
        total = 0
        for k in range(1, ws.room[WIDTH]):
            total += ws.customers[z, k]
        ws.node_scratch[0, z] = total
    alpha = gamma0 = gamma = 0.0
    for which in range(3):
        x = redraw_concentration(ws, rates, learning, which, rng)
        if which == ALPHA:
            alpha = x
        elif which == GAMMA0:
            gamma0 = x
        else:
            gamma = x
    return Rates(alpha, gamma0, gamma, rates.n_fixed)
