"""One step of the slice sampler (Neal 2003), for a number above 0."""

import math
from collections.abc import Callable

import numpy as np

_WIDTH = 1.0


def slice_draw(log_density: Callable[[float], float], x: float, rng: np.random.Generator) -> float:
    """x' with the law whose density is exp(log_density), from x, by a slice of log x."""

    def of_log(y: float) -> float:
        return log_density(math.exp(y)) + y

    y = math.log(x)
    level = of_log(y) - rng.standard_exponential()
    left = y - _WIDTH * rng.random()
    right = left + _WIDTH
    while of_log(left) > level:
        left -= _WIDTH
    while of_log(right) > level:
        right += _WIDTH
    while True:
        new = left + (right - left) * rng.random()
        if of_log(new) >= level:
            return math.exp(new)
        left, right = (new, right) if new < y else (left, new)
