"""Times of inner nodes."""

import math

from bhmc._compiled.decorators import compiled, helper
from bhmc._compiled.random_source import uniform
from bhmc.baselines.pydt.kernels.clocks import rest_of
from bhmc.baselines.pydt.kernels.messages import (
    copy_row,
    distance2,
    log_factor,
    merge,
    refresh_down_one,
    refresh_up,
)
from bhmc.baselines.pydt.state import ACC, LATEST, NONE, RATE, SHRUNK, SIGMA2, TOP


@helper
def log_time(ws, v, x):
    """log density of 1 - t = x of node v given all else, in x; less a constant.

    In the clock the prior is exp(-c s (H(m - 1) - sum of the children's)), and ds = dx / x. The
    data come in by the messages of the children and the one from above, merged at v.
    """
    s = -math.log(x)
    below, kid = 0.0, ws.first[v]
    sigma2 = ws.rates[SIGMA2]
    copy_row(ws.scratch, ACC, ws.down, v)
    var = ws.down_var[v] + sigma2 * (rest_of(ws, ws.parent[v]) - x)
    total = 0.0
    while kid != NONE:
        below += ws.H[ws.size[kid] - 1]
        other = ws.up_var[kid] + sigma2 * (x - ws.rest[kid])
        total += log_factor(distance2(ws.scratch, ACC, ws.up, kid), var + other, ws.up.shape[1])
        var = merge(ws.scratch, ACC, var, ws.up, kid, other)
        kid = ws.after[kid]
    return total - ws.rates[RATE] * s * (ws.H[ws.size[v] - 1] - below) + s


@helper
def redraw_time(ws, v, rng):
    """t_v ~ a slice sampler's step on its conditional, between its parent and its first child."""
    low, high = math.exp(-LATEST), rest_of(ws, ws.parent[v])
    kid = ws.first[v]
    while kid != NONE:
        low = max(low, ws.rest[kid])
        kid = ws.after[kid]
    x, whole = ws.rest[v], high
    level = log_time(ws, v, x) + math.log(1.0 - uniform(rng))
    while high - low > SHRUNK * whole:
        new = low + (high - low) * uniform(rng)
        if new > 0.0 and log_time(ws, v, new) >= level:
            ws.rest[v], ws.clock[v] = new, -math.log(new)
            return
        if new < x:
            low = new
        else:
            high = new


@compiled
def redraw_times(ws, rng):
    """The times of all inner nodes, parents before children; every message up is right after it.

    A node is met twice: on the way down its time is drawn, and when all below it is done (then it
    is on the stack as -1 - v) its message up is made, which its siblings' messages down need.
    """
    n = (ws.parent.shape[0] + 1) // 2
    ws.stack[0] = ws.counts[TOP]
    n_waiting = 1
    while n_waiting > 0:
        n_waiting -= 1
        v = ws.stack[n_waiting]
        if v < 0:
            refresh_up(ws, -1 - v)
            continue
        refresh_down_one(ws, v)
        redraw_time(ws, v, rng)
        ws.stack[n_waiting] = -1 - v
        n_waiting += 1
        kid = ws.first[v]
        while kid != NONE:
            if kid >= n:
                ws.stack[n_waiting] = kid
                n_waiting += 1
            kid = ws.after[kid]
