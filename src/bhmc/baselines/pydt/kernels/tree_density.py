"""The density of a tree, and tables of what it needs."""

import math

from bhmc._compiled.decorators import compiled, helper
from bhmc.baselines.pydt.kernels.clocks import clock_of
from bhmc.baselines.pydt.state import ALPHA, NONE, RATE, THETA


@compiled
def tabulate(ws):
    """Tables of log Gamma(i - alpha), log Gamma(i + theta) and H(i) for the present rates."""
    alpha, theta = ws.rates[ALPHA], ws.rates[THETA]
    ws.H[0] = 0.0
    for i in range(1, ws.H.shape[0]):
        ws.log_gamma_less[i] = math.lgamma(i - alpha)
        ws.log_gamma_more[i] = math.lgamma(i + theta)
        ws.H[i] = ws.H[i - 1] + math.exp(ws.log_gamma_less[i] - math.lgamma(i + 1.0 + theta))


@helper
def time_under_divergence(ws):
    """sum over inner nodes b of (s_b - s_a) H(m(b) - 1): the exponent of c."""
    total = 0.0
    n = (ws.parent.shape[0] + 1) // 2
    for b in range(n, ws.parent.shape[0]):
        if ws.n_kids[b] > 0:
            total += (ws.clock[b] - clock_of(ws, ws.parent[b])) * ws.H[ws.size[b] - 1]
    return total


@compiled
def log_tree(ws):
    """log p(topology, clocks | alpha, theta, c), a density in the clocks s."""
    alpha, theta = ws.rates[ALPHA], ws.rates[THETA]
    total = -ws.rates[RATE] * time_under_divergence(ws)
    n = (ws.parent.shape[0] + 1) // 2
    for v in range(ws.parent.shape[0]):
        if v >= n and ws.n_kids[v] > 0:
            total += math.log(ws.rates[RATE]) - ws.log_gamma_more[ws.size[v]]
            total -= (ws.n_kids[v] - 1) * ws.log_gamma_less[1]
            for k in range(3, ws.n_kids[v] + 1):
                total += math.log(theta + (k - 1) * alpha)
        if (v < n or ws.n_kids[v] > 0) and ws.parent[v] != NONE:
            total += ws.log_gamma_less[ws.size[v]]
    return total
