"""Clocks of nodes, and the variance of the motion between two of them."""

from bhmc._compiled.decorators import helper
from bhmc.baselines.pydt.state import NONE, SIGMA2


@helper
def clock_of(ws, v):
    """s of a node, 0 at the origin."""
    return 0.0 if v == NONE else ws.clock[v]


@helper
def rest_of(ws, v):
    """1 - t of a node, 1 at the origin."""
    return 1.0 if v == NONE else ws.rest[v]


@helper
def gap(ws, a, b):
    """Variance of the motion from node a to node b below it."""
    return ws.rates[SIGMA2] * (rest_of(ws, a) - ws.rest[b])
