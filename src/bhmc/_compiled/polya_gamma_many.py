"""PG(h, z) for many rows h: exact rejection from the saddle-point approximation of its density.

Windle, Polson & Scott (2014) draw from the saddle-point approximation. Here it only proposes.
With T(w) = tanh(sqrt w) / sqrt w, w = z^2 / 4 - s / 2 and K the cumulant generating function,

    K'(s) = h T(w) / 4,   K''(s) = -h T'(w) / 8,   K'''(s) = h T''(w) / 16,
    log g(x) = K(s) - s x - log(2 pi K''(s)) / 2   at the s with K'(s) = x.

The density f obeys log g - 1 / (12 h) <= log f <= log g: the lower bound is Stirling's, the limit
in the right tail, where one gamma variable is all; the upper one is the limit in the left tail,
where f is inverse Gaussian. Between the tails log f - log g is monotone, and log g is concave
(tests check both on grids; neither is proven). So tangents to log g are a hat over f, and log f
itself is needed in one draw in 12 h only: `log_correction` sums its Fourier integral through the
saddle point.
"""

import cmath
import math

from bhmc._compiled.decorators import helper
from bhmc._compiled.log_concave import hat_draw, tangent_hat
from bhmc._compiled.random_source import uniform

# log f is no more than this over h below log g.
_STIRLING = 1.0 / 12.0
# T has a pole at minus this: (pi / 2)^2.
_POLE = 0.25 * math.pi * math.pi
# Below this T' and T'' lose digits by subtraction, and a short power series has them all.
_NEAR_0 = 0.01
# The Fourier integral: its step in standard deviations, and the terms that may be left out. The
# step adds in the density 2 pi / 0.4 standard deviations away.
_STEP, _LAST_TERM = 0.4, 1e-17


@helper
def many_draw(h, half, source):
    """omega ~ PG(h, 2 half), h a whole number above some ten."""
    start = half * half
    top, hat = saddle_hat(h, start)
    while True:
        x, height = hat_draw(hat, source)
        if x <= 0.0:
            continue
        t0 = 4.0 * x / h
        w, t1 = solve_saddle(t0, start)
        excess = math.log1p(-uniform(source)) + height - (log_saddle(h, start, w, t0, t1) - top)
        if excess > 0.0:
            continue
        if excess <= -_STIRLING / h or excess <= log_correction(h, w, t0, t1):
            return x


@helper
def saddle_hat(h, start):
    """(its top, a hat over g), touching about sqrt 2 standard deviations from the mode of g.

    Between the two points that the others touch, the tangent near the mode is below the top.
    """
    _, t1, t2 = tanh_ratio(start)
    middle = -2.0 * t2 / (h * t1 * t1)  # near the mode, where s = -K''' / (2 K''^2)
    reach = 4.0 / math.sqrt(-h * t1)
    x_left, left, rise = saddle_tangent(h, start, middle - reach)
    x_right, right, fall = saddle_tangent(h, start, middle + reach)
    x, value, slope = saddle_tangent(h, start, middle)
    top = value + abs(slope) * max(x_right - x, x - x_left)
    return top, tangent_hat(x_left, top - left, rise, x_right, top - right, -fall)


@helper
def saddle_tangent(h, start, s):
    """(x, log g(x), its slope) at the x with saddle point s."""
    w = start - 0.5 * s
    t0, t1, t2 = tanh_ratio(w)
    return 0.25 * h * t0, log_saddle(h, start, w, t0, t1), -s - 2.0 * t2 / (h * t1 * t1)


@helper
def log_saddle(h, start, w, t0, t1):
    """log g at the x with K'(s) = x, less what does not depend on x."""
    exponent = -log_cosh_root(w) - 0.5 * (start - w) * t0
    return h * exponent - 0.5 * math.log(-t1)


@helper
def solve_saddle(ratio, start):
    """(w, T'(w)) with T(w) = ratio, by Newton's steps for 1 / T, which is concave in w.

    From the second step on w grows towards the root. The tangent of 1 / T at its zero bounds the
    root from below.
    """
    least = 2.0 / ratio - _POLE
    w = max(start, least)
    while True:
        t0, t1, _ = tanh_ratio(w)
        step = t0 * (ratio - t0) / (ratio * t1)
        w = max(w + step, least)
        if abs(step) <= 1e-9 * (1.0 + abs(w)):
            return w, t1


@helper
def tanh_ratio(w):
    """(T, T', T'') of T(w) = tanh(sqrt w) / sqrt w, which is tan(sqrt -w) / sqrt -w below 0."""
    if abs(w) < _NEAR_0:
        return tanh_ratio_near_0(w)
    root = math.sqrt(abs(w))
    if w > 0.0:
        slope = math.tanh(root)
        rest = (1.0 - slope) * (1.0 + slope)
    else:
        slope = math.tan(root)
        rest = 1.0 + slope * slope
    t0 = slope / root
    t1 = (rest - t0) / (2.0 * w)
    t2 = -(3.0 * t1 + t0 * rest) / (2.0 * w)
    return t0, t1, t2


@helper
def tanh_ratio_near_0(w):
    """The same by the power series of T."""
    a, b, c, d = -1.0 / 3.0, 2.0 / 15.0, -17.0 / 315.0, 62.0 / 2835.0
    e, f, g = -1382.0 / 155925.0, 21844.0 / 6081075.0, -929569.0 / 638512875.0
    t0 = 1.0 + w * (a + w * (b + w * (c + w * (d + w * (e + w * (f + w * g))))))
    t1 = a + w * (2 * b + w * (3 * c + w * (4 * d + w * (5 * e + w * (6 * f + w * 7 * g)))))
    t2 = 2 * b + w * (6 * c + w * (12 * d + w * (20 * e + w * (30 * f + w * 42 * g))))
    return t0, t1, t2


@helper
def log_cosh_root(w):
    """log cosh(sqrt w), which is log cos(sqrt -w) below 0."""
    if w < 0.0:
        return math.log(math.cos(math.sqrt(-w)))
    root = math.sqrt(w)
    return root + math.log1p(math.exp(-2.0 * root)) - math.log(2.0)


@helper
def log_correction(h, w, t0, t1):
    """log f - log g at the x with saddle point w.

    f is 1 / (2 pi) times the integral of exp(K(s + i u) - (s + i u) x) over u, whose trapezoidal
    sum converges geometrically. A whole h makes every branch of the logarithm give the same power.
    """
    du = _STEP / math.sqrt(-0.125 * h * t1)
    root = cmath.sqrt(complex(w, 0.0))
    scale = 1.0 + cmath.exp(-2.0 * root)
    total, u = 1.0, 0.0
    while True:
        u += du
        moved = cmath.sqrt(complex(w, 0.5 * u))
        log_ratio = complex(0.0, 0.5 * u) / (moved + root)
        log_ratio += cmath.log((1.0 + cmath.exp(-2.0 * moved)) / scale)
        size = math.exp(-h * log_ratio.real)
        total += 2.0 * size * math.cos(h * (0.25 * u * t0 - log_ratio.imag))
        if size < _LAST_TERM:
            return math.log(total * _STEP / math.sqrt(2.0 * math.pi))
