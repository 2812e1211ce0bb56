"""Gaussian messages about the places of nodes: up from the data below, down from all others."""

import math

from bhmc._compiled.decorators import compiled, helper, summing
from bhmc.baselines.pydt.kernels.clocks import gap
from bhmc.baselines.pydt.state import ACC, NOISE, NONE, SUFFIX, TOP

_LOG_2PI = 1.8378770664093453
# No variance is below this: where the noise is 0, exp(-s) may be.
LEAST_VARIANCE = 1e-300


@summing
def distance2(x, i, y, j):
    """|x_i - y_j|^2."""
    total = 0.0
    for d in range(x.shape[1]):
        total += (x[i, d] - y[j, d]) * (x[i, d] - y[j, d])
    return total


@helper
def copy_row(x, i, y, j):
    """x_i = y_j."""
    for d in range(x.shape[1]):
        x[i, d] = y[j, d]


@helper
def merge(x, i, var, y, j, other):
    """N(x_i, var) N(y_j, other), up to its factor: the mean replaces x_i, the variance is returned.

    In variances, not precisions: the origin is known, with variance 0.
    """
    total = max(var + other, LEAST_VARIANCE)
    w = other / total
    for d in range(x.shape[1]):
        x[i, d] = w * x[i, d] + (1.0 - w) * y[j, d]
    return var * w


@helper
def log_factor(squared, variance, n_features):
    """log N(difference; 0, variance I) from the squared difference."""
    variance = max(variance, LEAST_VARIANCE)
    return -0.5 * (n_features * (_LOG_2PI + math.log(variance)) + squared / variance)


@helper
def refresh_up(ws, v):
    """The message of v from its children's; the log of the factor that merging them leaves."""
    kid = ws.first[v]
    copy_row(ws.up, v, ws.up, kid)
    var = ws.up_var[kid] + gap(ws, v, kid)
    log_z = 0.0
    kid = ws.after[kid]
    while kid != NONE:
        other = ws.up_var[kid] + gap(ws, v, kid)
        squared = distance2(ws.up, v, ws.up, kid)
        log_z += log_factor(squared, var + other, ws.up.shape[1])
        var = merge(ws.up, v, var, ws.up, kid, other)
        kid = ws.after[kid]
    ws.up_var[v] = var
    return log_z


@helper
def refresh_path(ws, v):
    """Messages up from v to the top: the only ones that a cut or a graft at v changes."""
    while v != NONE:
        refresh_up(ws, v)
        v = ws.parent[v]


@helper
def list_children_first(ws):
    """All nodes in `ws.order`, children before their parents; how many there are."""
    n_waiting, n = 1, 0
    ws.stack[0] = ws.counts[TOP]
    while n_waiting > 0:
        n_waiting -= 1
        v = ws.stack[n_waiting]
        ws.order[n] = v
        n += 1
        kid = ws.first[v]
        while kid != NONE:
            ws.stack[n_waiting] = kid
            n_waiting += 1
            kid = ws.after[kid]
    for i in range(n // 2):
        ws.order[i], ws.order[n - 1 - i] = ws.order[n - 1 - i], ws.order[i]
    return n


@compiled
def refresh(ws):
    """All messages up anew; log p(X | tree, sigma2, noise)."""
    total = 0.0
    for i in range(list_children_first(ws)):
        v = ws.order[i]
        if ws.first[v] == NONE:
            ws.up_var[v] = ws.rates[NOISE]
        else:
            total += refresh_up(ws, v)
    top, squared = ws.counts[TOP], 0.0
    for d in range(ws.up.shape[1]):
        squared += ws.up[top, d] * ws.up[top, d]
    return total + log_factor(squared, ws.up_var[top] + gap(ws, NONE, top), ws.up.shape[1])


@helper
def start_below(ws, v):
    """The message about v's place from all data not below v, in scratch; its variance."""
    copy_row(ws.scratch, ACC, ws.down, v)
    return ws.down_var[v] + gap(ws, ws.parent[v], v)


@helper
def refresh_down_one(ws, v):
    """The message down of v, from that of its parent and those up of its siblings."""
    a = ws.parent[v]
    if a == NONE:
        for d in range(ws.down.shape[1]):
            ws.down[v, d] = 0.0
        ws.down_var[v] = 0.0
        return
    var = start_below(ws, a)
    copy_row(ws.down, v, ws.scratch, ACC)
    kid = ws.first[a]
    while kid != NONE:
        if kid != v:
            var = merge(ws.down, v, var, ws.up, kid, ws.up_var[kid] + gap(ws, a, kid))
        kid = ws.after[kid]
    ws.down_var[v] = var


@helper
def refresh_down_all(ws, v):
    """The messages down of all children of v: once forwards, once backwards, however many.

    (Taking a child's own message out of the whole would lose digits where it is most of it.)
    """
    var = start_below(ws, v)
    kid, last = ws.first[v], NONE
    while kid != NONE:
        copy_row(ws.down, kid, ws.scratch, ACC)
        ws.down_var[kid] = var
        var = merge(ws.scratch, ACC, var, ws.up, kid, ws.up_var[kid] + gap(ws, v, kid))
        last = kid
        kid = ws.after[kid]
    copy_row(ws.scratch, SUFFIX, ws.up, last)
    var = ws.up_var[last] + gap(ws, v, last)
    kid = ws.before[last]
    while kid != NONE:
        ws.down_var[kid] = merge(ws.down, kid, ws.down_var[kid], ws.scratch, SUFFIX, var)
        var = merge(ws.scratch, SUFFIX, var, ws.up, kid, ws.up_var[kid] + gap(ws, v, kid))
        kid = ws.before[kid]
