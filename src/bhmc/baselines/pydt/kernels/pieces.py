"""All places where a subtree may be attached, as pieces on a line."""

import math

from bhmc._compiled.decorators import helper
from bhmc._compiled.random_source import uniform
from bhmc.baselines.pydt.kernels.clocks import clock_of
from bhmc.baselines.pydt.kernels.fit import best_place, fit_bound, log_fit, measure
from bhmc.baselines.pydt.kernels.messages import refresh_down_all, refresh_down_one
from bhmc.baselines.pydt.kernels.prior_weights import (
    log_attach,
    log_crowd,
    log_follow,
    log_join,
    log_mass,
    own_edge,
    place_of_share,
    share_below,
    slope,
    survival,
)
from bhmc.baselines.pydt.state import LATEST, NONE, RATE, TOP

# An edge that must be worse than the best so far by this (a logarithm) is one piece.
_HOPELESS = 15.0
_ALMOST_1 = 1.0 - 2.0**-53


@helper
def add_piece(ws, n, b, low, high, fit, log_weight):
    """One piece more: from `low` to `high` on the edge above b, of that weight."""
    ws.piece_node[n] = b
    ws.piece_low[n], ws.piece_high[n] = low, high
    ws.piece_fit[n], ws.piece_sum[n] = fit, log_weight
    return n + 1


@helper
def add_edge(ws, n, b, r, best):
    """The pieces of the edge above b: about the best place, and farther and farther off.

    A piece stands for prior times likelihood by the likelihood of its place nearest to the best,
    so it hardly ever promises too little. Likelihoods change at most as fast as 1 - t to the power
    of d / 2, hence the widths.
    """
    low = clock_of(ws, ws.parent[b])
    high = min(min(ws.clock[b], ws.clock[r]), LATEST)
    if not high > low:  # as long as 0, by rounding
        return n, best
    rate = slope(ws, b, r)
    base = ws.log_reach[b] + log_attach(ws, b, r) + own_edge(ws, r, low)
    mass = log_mass(rate, high - low)
    fit = fit_bound(ws, b, r)
    if base + mass + fit < best - _HOPELESS:
        return add_piece(ws, n, b, low, high, fit, base + mass + fit), best
    middle = min(max(best_place(ws, b, r), low), high)
    whole = base + mass + log_fit(ws, b, r, math.exp(-middle))
    unit = math.sqrt(2.0 / ws.up.shape[1])
    start = low
    for i in range(5):
        offset = (-3.0, -1.0, 0.0, 1.0, 3.0)[i]
        end = high
        if i < 4:
            end = min(max(middle + (-3.0, -1.0, 1.0, 3.0)[i] * unit, low), high)
        if end > start:
            nearest = min(max(middle + offset * unit, start), end)
            here = log_fit(ws, b, r, math.exp(-nearest))
            mass = log_mass(rate, end - start) - rate * (start - low)
            n = add_piece(ws, n, b, start, end, here, base + mass + here)
            start = end
    return n, max(best, whole)


@helper
def add_node(ws, n, b, r):
    """The piece of node b itself, where a new branch may join."""
    join = log_join(ws, b, r)
    if join == -math.inf:
        return n
    s = ws.clock[b]
    fit = log_fit(ws, b, r, ws.rest[b])
    passed = ws.log_reach[b] - ws.rates[RATE] * (s - clock_of(ws, ws.parent[b])) * survival(
        ws, b, r
    )
    weight = passed + log_crowd(ws, b, r) + join + own_edge(ws, r, s)
    return add_piece(ws, n, b, s, s, fit, weight + fit)


@helper
def open_node(ws, b, r, n_waiting):
    """Put b's children on the stack, with what it takes to get there and their messages down."""
    refresh_down_all(ws, b)
    length = ws.clock[b] - clock_of(ws, ws.parent[b])
    passed = ws.log_reach[b] - ws.rates[RATE] * length * survival(ws, b, r) + log_crowd(ws, b, r)
    kid = ws.first[b]
    while kid != NONE:
        ws.log_reach[kid] = passed + log_follow(ws, kid, r)
        ws.stack[n_waiting] = kid
        n_waiting += 1
        kid = ws.after[kid]
    return n_waiting


@helper
def list_pieces(ws, r):
    """All places where r may be attached, as pieces with summed weights; how many there are."""
    top = ws.counts[TOP]
    refresh_down_one(ws, top)
    ws.log_reach[top] = 0.0
    ws.stack[0] = top
    n_waiting, n, best = 1, 0, -math.inf
    while n_waiting > 0:
        n_waiting -= 1
        b = ws.stack[n_waiting]
        measure(ws, b, r)
        ws.piece_of[b] = n
        n, best = add_edge(ws, n, b, r, best)
        if ws.n_kids[b] > 0 and ws.clock[b] < ws.clock[r]:
            n = add_node(ws, n, b, r)
            n_waiting = open_node(ws, b, r, n_waiting)
    sum_pieces(ws, n)
    return n


@helper
def sum_pieces(ws, n):
    """Log weights become sums of weights, the largest weight being 1."""
    largest = -math.inf
    for i in range(n):
        largest = max(largest, ws.piece_sum[i])
    total = 0.0
    for i in range(n):
        total += math.exp(ws.piece_sum[i] - largest)
        ws.piece_sum[i] = total


@helper
def piece_at(ws, n, u):
    """The first of n pieces whose sum is above u."""
    low, high = 0, n - 1
    while low < high:
        middle = (low + high) // 2
        if ws.piece_sum[middle] > u:
            high = middle
        else:
            low = middle + 1
    return low


@helper
def place_at(ws, i, r, u):
    """The clock at position u, which is in piece i."""
    low, high = ws.piece_low[i], ws.piece_high[i]
    if low == high:
        return low
    before = ws.piece_sum[i - 1] if i > 0 else 0.0
    q = min(max((u - before) / (ws.piece_sum[i] - before), 0.0), _ALMOST_1)
    s = low + place_of_share(slope(ws, ws.piece_node[i], r), high - low, q)
    return s if s < high else 0.5 * (low + high)  # rounded up to the end, which is a node


@helper
def surplus(ws, i, r, s):
    """log likelihood at s less the one that stands for piece i."""
    if ws.piece_low[i] == ws.piece_high[i]:
        return 0.0
    return log_fit(ws, ws.piece_node[i], r, math.exp(-s)) - ws.piece_fit[i]


@helper
def piece_holding(ws, n, b, s):
    """The piece of place (b, s)."""
    i = ws.piece_of[b]
    if s == ws.clock[b]:  # the node itself comes after the pieces of its edge
        while ws.piece_low[i] != ws.piece_high[i]:
            i += 1
        return i
    while i + 1 < n and ws.piece_node[i + 1] == b and ws.piece_high[i] <= s:
        i += 1
    return i


@helper
def position_of(ws, i, r, s, rng):
    """The position of clock s in piece i; a node is wide, and its position a random one."""
    before = ws.piece_sum[i - 1] if i > 0 else 0.0
    low, high = ws.piece_low[i], ws.piece_high[i]
    if low == high:
        share = uniform(rng)
    else:
        share = share_below(slope(ws, ws.piece_node[i], r), high - low, s - low)
    return before + share * (ws.piece_sum[i] - before)
