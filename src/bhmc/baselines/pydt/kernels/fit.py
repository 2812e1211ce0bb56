"""How well the data of a subtree fit at a place of an edge."""

import math

from bhmc._compiled.decorators import helper
from bhmc.baselines.pydt.kernels.clocks import rest_of
from bhmc.baselines.pydt.kernels.messages import LEAST_VARIANCE, distance2
from bhmc.baselines.pydt.state import SCORED, SIGMA2

# Steps of the search for the best place on an edge, over at most this factor of 1 - t.
_BISECTIONS = 10
_WIDEST = 1e-13


@helper
def measure(ws, b, r):
    """The three squared distances of the edge above b for subtree r."""
    ws.apart[b, 0] = distance2(ws.down, b, ws.up, r)
    ws.apart[b, 1] = distance2(ws.up, b, ws.up, r)
    ws.apart[b, 2] = distance2(ws.down, b, ws.up, b)


@helper
def parts_of_fit(ws, b, r, x):
    """At 1 - t = x above b: share of the message down, variance and squared distance of r."""
    sigma2 = ws.rates[SIGMA2]
    var_down = ws.down_var[b] + sigma2 * (rest_of(ws, ws.parent[b]) - x)
    var_up = ws.up_var[b] + sigma2 * (x - ws.rest[b])
    both = max(var_down + var_up, LEAST_VARIANCE)
    w = var_up / both
    variance = max(var_down * w + ws.up_var[r] + sigma2 * (x - ws.rest[r]), LEAST_VARIANCE)
    squared = w * ws.apart[b, 0] + (1.0 - w) * ws.apart[b, 1] - w * (1.0 - w) * ws.apart[b, 2]
    return w, variance, max(squared, 0.0), both


@helper
def log_fit(ws, b, r, x):
    """log p(data of r | other data, r attached above b at 1 - t = x), less a constant of r."""
    ws.counts[SCORED] += 1
    _, variance, squared, _ = parts_of_fit(ws, b, r, x)
    return -0.5 * (ws.up.shape[1] * math.log(variance) + squared / variance)


@helper
def fit_rises(ws, b, r, x):
    """Whether `log_fit` rises with x there: the sign of its derivative."""
    w, variance, squared, both = parts_of_fit(ws, b, r, x)
    # In units of sigma2: d w / dx = 1 / both, d variance / dx = 2 (1 - w) by the product rule.
    slope_squared = (ws.apart[b, 0] - ws.apart[b, 1] - (1.0 - 2.0 * w) * ws.apart[b, 2]) / both
    return 2.0 * (1.0 - w) * (squared / variance - ws.up.shape[1]) > slope_squared


@helper
def fit_bound(ws, b, r):
    """No `log_fit` on the edge above b is larger: the least distance, the best variance for it."""
    _, least, _, _ = parts_of_fit(ws, b, r, max(ws.rest[b], ws.rest[r]))
    _, largest, _, _ = parts_of_fit(ws, b, r, rest_of(ws, ws.parent[b]))
    to_down, to_up, along = ws.apart[b, 0], ws.apart[b, 1], ws.apart[b, 2]
    w = 0.0
    if along > 0.0:
        w = min(max(0.5 * (to_up + along - to_down) / along, 0.0), 1.0)
    squared = max(w * to_down + (1.0 - w) * to_up - w * (1.0 - w) * along, 0.0)
    variance = min(max(squared / ws.up.shape[1], least), largest)
    return -0.5 * (ws.up.shape[1] * math.log(variance) + squared / variance)


@helper
def best_place(ws, b, r):
    """Clock between the ends of the edge above b where the data of r fit about best.

    Any place would leave the sampler exact; a good one makes it accept.
    """
    high = rest_of(ws, ws.parent[b])
    low = max(max(ws.rest[b], ws.rest[r]), high * _WIDEST)
    for _ in range(_BISECTIONS):
        x = math.sqrt(low * high)
        if fit_rises(ws, b, r, x):
            low = x
        else:
            high = x
    return -0.5 * (math.log(low) + math.log(high))
