"""The prior weight of attaching a subtree at a place."""

import math

from bhmc._compiled.decorators import helper
from bhmc.baselines.pydt.state import ALPHA, RATE, THETA


@helper
def slope(ws, b, r):
    """lambda: on the edge above b the prior weight of attaching r falls as exp(-lambda s)."""
    m, n = ws.size[b], ws.size[r]
    return ws.rates[RATE] * (ws.H[m + n - 1] - ws.H[m - 1] - ws.H[n - 1])


@helper
def log_mass(rate, width):
    """log of the integral of exp(-rate x) over 0 < x < width."""
    steep = abs(rate)
    if steep * width < 1e-9:
        return math.log(width)
    log_area = math.log(-math.expm1(-steep * width) / steep)
    return log_area if rate > 0.0 else log_area + steep * width


@helper
def share_below(rate, width, x):
    """Share of that integral up to x."""
    steep = abs(rate)
    if steep * width < 1e-9:
        return x / width
    if rate > 0.0:
        return math.expm1(-steep * x) / math.expm1(-steep * width)
    return 1.0 - math.expm1(-steep * (width - x)) / math.expm1(-steep * width)


@helper
def place_of_share(rate, width, q):
    """The x of which `share_below` is q."""
    steep = abs(rate)
    if steep * width < 1e-9:
        return q * width
    if rate > 0.0:
        return -math.log1p(q * math.expm1(-steep * width)) / steep
    return width + math.log1p((1.0 - q) * math.expm1(-steep * width)) / steep


@helper
def own_edge(ws, r, s):
    """log exp(-c (s_r - s) H(n - 1)): the subtree's own edge, were it attached at s."""
    if ws.size[r] == 1:
        return 0.0
    return -ws.rates[RATE] * (ws.clock[r] - s) * ws.H[ws.size[r] - 1]


@helper
def log_attach(ws, b, r):
    """log of the prior weight per unit of clock of attaching r to the edge above b."""
    m, n = ws.size[b], ws.size[r]
    weight = ws.log_gamma_less[m] + ws.log_gamma_less[n] - ws.log_gamma_more[m + n]
    return math.log(ws.rates[RATE]) + weight - ws.log_gamma_less[1]


@helper
def log_join(ws, b, r):
    """log((theta + alpha K) Gamma(n - alpha) / Gamma(1 - alpha)): r becomes a child of b."""
    new = ws.rates[THETA] + ws.rates[ALPHA] * ws.n_kids[b]
    if new <= 0.0:
        return -math.inf
    return math.log(new) + ws.log_gamma_less[ws.size[r]] - ws.log_gamma_less[1]


@helper
def log_follow(ws, kid, r):
    """log(Gamma(n_l + n - alpha) / Gamma(n_l - alpha)): r follows the branch of `kid`."""
    m = ws.size[kid]
    return ws.log_gamma_less[m + ws.size[r]] - ws.log_gamma_less[m]


@helper
def log_crowd(ws, b, r):
    """log(Gamma(m + theta) / Gamma(m + n + theta)): r comes to node b."""
    m = ws.size[b]
    return ws.log_gamma_more[m] - ws.log_gamma_more[m + ws.size[r]]


@helper
def survival(ws, b, r):
    """H(m + n - 1) - H(m - 1): at this rate times c the leaves of r do not come down the edge."""
    m = ws.size[b]
    return ws.H[m + ws.size[r] - 1] - ws.H[m - 1]
