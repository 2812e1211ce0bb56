"""Compiled draws from named distributions, in logarithms where plain numbers would underflow."""

import math

from bhmc._compiled.decorators import helper
from bhmc._compiled.random_source import uniform

_LOG_4 = 1.3862943611198906
_TURN = 2.0 * math.pi

# A log gamma draw of a small shape is log G - x with |log G| < 64: below half a digit of this x.
HUGE = 1e19


@helper
def log_add(a, b):
    """log(exp(a) + exp(b))."""
    top = max(a, b)
    if top == -math.inf:
        return top
    return top + math.log1p(math.exp(min(a, b) - top))


@helper
def exponential_draw(rng):
    """E ~ Exp(1)."""
    return -math.log1p(-uniform(rng))


@helper
def normal_draw(rng):
    """Z ~ N(0, 1), by the length and the angle of two of them (Box and Muller)."""
    return math.sqrt(2.0 * exponential_draw(rng)) * math.cos(_TURN * uniform(rng))


@helper
def log_gamma_draw(shape, rng):
    """log G with G ~ Gamma(shape); exact where G itself underflows, -inf at shape 0.

    From shape 1 on by rejection from a log-logistic (Cheng 1977, algorithm GB), which needs uniform
    numbers only. Below: log G(a) = log G(a + 1) + log(U) / a, and -log U is an exponential.
    """
    if shape == 0.0:
        return -math.inf
    fall = 0.0
    if shape < 1.0:
        fall = exponential_draw(rng) / float(shape)  # a NumPy scalar would warn of an overflow
        if fall > HUGE:
            return -fall
        shape += 1.0
    slope = math.sqrt(2.0 * shape - 1.0)
    while True:
        u, v = uniform(rng), uniform(rng)
        if u == 0.0 or v == 0.0:
            continue
        y = math.log(u / (1.0 - u)) / slope
        fit = shape - _LOG_4 + (shape + slope) * y - shape * math.exp(y)
        if fit >= math.log(u * u * v):
            return math.log(shape) + y - fall


@helper
def beta_draw(a, log_a, b, log_b, rng):
    """(log u, log(1 - u)) with u ~ Beta(a, b), from the shapes and their logarithms.

    Where both gamma draws underflow the limit is taken: u = 1 with probability a / (a + b), else 0.
    Where both shapes are 0 both halves are 0 (a zero remainder split).
    """
    log_g, log_h = log_gamma_draw(a, rng), log_gamma_draw(b, rng)
    total = log_add(log_g, log_h)
    if total > -math.inf:
        return log_g - total, log_h - total
    total = log_add(log_a, log_b)
    if total == -math.inf:
        return -math.inf, -math.inf
    if uniform(rng) < math.exp(log_a - total):
        return 0.0, -math.inf
    return -math.inf, 0.0
