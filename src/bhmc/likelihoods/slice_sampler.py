"""The slice sampler (Neal 2003), in plain Python."""

import math
from collections.abc import Callable

import numpy as np

_WIDTH = 1.0


def slice_draw(log_density: Callable[[float], float], x: float, rng: np.random.Generator) -> float:
    """x' > 0 by one step that leaves the law of density exp(log_density) alone: a slice of log x.

    Parameters
    ----------
    log_density : function
        The log density of x, less a constant; -inf where x is impossible.
    x : float
        Where the chain is, above 0.
    rng : numpy.random.Generator
        Where all randomness comes from.
    """

    def of_log(y: float) -> float:
        return log_density(math.exp(y)) + y

    return math.exp(slice_step(of_log, math.log(x), rng.standard_exponential(), rng))


def slice_step(
    log_density: Callable[[float], float], y: float, drop: float, rng: np.random.Generator
) -> float:
    """y' by one step that leaves the law of density exp(log_density) alone.

    The level is log_density(y) - drop. An interval of width 1 around y, in a random place, grows
    by 1 at either end until both ends are below the level. Points are drawn from it, and it
    shrinks to those below the level, until a point is not.

    Parameters
    ----------
    log_density : function
        The log density of y, less a constant; -inf where y is impossible.
    y : float
        Where the chain is.
    drop : float
        A draw from Exp(1), made by the caller before this call.
    rng : numpy.random.Generator
        Where the place of the interval and the points come from.
    """
    level = log_density(y) - drop
    left = y - _WIDTH * rng.random()
    right = left + _WIDTH
    while log_density(left) > level:
        left -= _WIDTH
    while log_density(right) > level:
        right += _WIDTH
    while True:
        new = left + (right - left) * rng.random()
        if log_density(new) >= level:
            return new
        left, right = (new, right) if new < y else (left, new)
