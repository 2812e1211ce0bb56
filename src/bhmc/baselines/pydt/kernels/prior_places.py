"""Subtrees find their places by Metropolis-Hastings with places from the prior."""

import math

from bhmc._compiled.decorators import compiled, helper
from bhmc._compiled.random_source import uniform
from bhmc.baselines.pydt.kernels.clocks import clock_of
from bhmc.baselines.pydt.kernels.cut_and_graft import cut, graft, pick_subtree
from bhmc.baselines.pydt.kernels.fit import log_fit, measure
from bhmc.baselines.pydt.kernels.messages import refresh_down_one
from bhmc.baselines.pydt.kernels.prior_weights import (
    log_attach,
    log_crowd,
    log_follow,
    log_join,
    own_edge,
    survival,
)
from bhmc.baselines.pydt.state import LATEST, MOVED, NONE, RATE, TOP


@helper
def largest_choice(ws, b, r):
    """The largest log weight of r's choices at node b, so that their sum does not overflow."""
    largest = log_join(ws, b, r)
    kid = ws.first[b]
    while kid != NONE:
        largest = max(largest, log_follow(ws, kid, r))
        kid = ws.after[kid]
    return largest


@helper
def sum_choices(ws, b, r, largest):
    """The sum of the weights of r's choices at node b, over exp(largest)."""
    total = math.exp(log_join(ws, b, r) - largest)
    kid = ws.first[b]
    while kid != NONE:
        total += math.exp(log_follow(ws, kid, r) - largest)
        kid = ws.after[kid]
    return total


@helper
def choose_branch(ws, b, r, rng):
    """The child of b that r follows, or b for a new branch, in proportion to their weights."""
    largest = largest_choice(ws, b, r)
    u = uniform(rng) * sum_choices(ws, b, r, largest)
    kid = ws.first[b]
    while kid != NONE:
        u -= math.exp(log_follow(ws, kid, r) - largest)
        if u < 0.0:
            return kid
        kid = ws.after[kid]
    if log_join(ws, b, r) == -math.inf:  # rounding: no branch can be new
        return ws.first[b]
    return b


@helper
def walk_down(ws, r, rng):
    """A place for r, found as a particle would; NONE where it is after r's own clock or LATEST.

    Exactly a particle's law where r is one leaf. Several leaves that must stay together leave an
    edge at the rate of `log_attach` and choose branches in proportion to the weights of doing so
    together: near their law, and `log_correction` has the rest.
    """
    b = ws.counts[TOP]
    while True:
        s = clock_of(ws, ws.parent[b])
        s -= math.log(1.0 - uniform(rng)) / math.exp(log_attach(ws, b, r))
        if min(s, ws.clock[b]) >= min(ws.clock[r], LATEST):
            return NONE, 0.0
        if s < ws.clock[b]:
            return b, s
        kid = choose_branch(ws, b, r, rng)
        if kid == b:
            return b, ws.clock[b]
        b = kid


@helper
def log_correction(ws, r, b, s):
    """log of the prior weight of place (b, s) for r over its density under `walk_down`.

    0 everywhere where r is one leaf.
    """
    total = own_edge(ws, r, s)
    at_node = s == ws.clock[b]
    while b != NONE:
        if at_node:
            largest = largest_choice(ws, b, r)
            total += largest + math.log(sum_choices(ws, b, r, largest)) + log_crowd(ws, b, r)
        length = s - clock_of(ws, ws.parent[b])
        total += length * (math.exp(log_attach(ws, b, r)) - ws.rates[RATE] * survival(ws, b, r))
        b = ws.parent[b]
        s, at_node = clock_of(ws, b), True
    return total


@helper
def fit_at(ws, r, b, s):
    """`log_fit` at one place, with the messages down on the way there only."""
    n = 0
    v = b
    while v != NONE:
        ws.stack[n] = v
        n += 1
        v = ws.parent[v]
    for i in range(n - 1, -1, -1):
        refresh_down_one(ws, ws.stack[i])
    measure(ws, b, r)
    return log_fit(ws, b, r, math.exp(-s))


@compiled
def mh_moves(ws, n_moves, rng):
    """n_moves times: cut a random subtree off, propose a place from the prior, accept or not."""
    for _ in range(n_moves):
        r = pick_subtree(ws, rng)
        if r != NONE:
            b, s = cut(ws, r)
            new_b, new_s = walk_down(ws, r, rng)
            if new_b != NONE:
                gain = fit_at(ws, r, new_b, new_s) - fit_at(ws, r, b, s)
                gain += log_correction(ws, r, new_b, new_s) - log_correction(ws, r, b, s)
                if math.log(1.0 - uniform(rng)) < gain:
                    b, s = new_b, new_s
                    ws.counts[MOVED] += 1
            graft(ws, r, b, s, rng)
