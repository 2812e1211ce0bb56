"""Density of a row whose noise has Student's t and whose component is Gaussian around a place.

Given its weight w, a row in units of the noise is N(place, 1 / w + v) in D coordinates, and
w ~ Gamma(nu / 2, nu / 2). The integral over w has no closed form. It depends on the row through
its squared distance from the place alone: for each v it is a function of one number.
"""

import numpy as np
from scipy.interpolate import make_interp_spline
from scipy.special import gammaln, logsumexp

from bhmc.likelihoods.blocks import Floats

# Steps of the trapezoidal rule in log w, in widths of the narrowest integrand that there is,
# sqrt(2 / (nu + D)): its error falls like exp(-2 pi^2 / step^2). And no longer than this, because
# that of the density of log w alone falls like exp(-pi^2 / step).
_STEP, _LONGEST = 0.8, 0.4

# What is left out at either end of log w is below this share of the integral.
_LEFT_OUT = 1e-12

# A table of the function has so many points, evenly spaced in log(1 + square / (nu + D)); between
# them a spline of degree 5 is off by less than 1e-8. Fewer numbers are integrated one by one.
_POINTS = 1000


def log_integral(squares: Floats, v: float, d: int, nu: float) -> Floats:
    """log of the integral of N(x; place, 1 / w + v) Gamma(w; nu / 2, nu / 2) over w.

    Parameters
    ----------
    squares : array
        Squared distances of x from the place, in d coordinates.
    v : float
        Variance of the component around the place, in units of the noise.
    d : int
        Number of coordinates.
    nu : float
        Degrees of freedom.
    """
    squares = np.asarray(squares)
    if squares.size <= _POINTS:
        return _by_sum(squares.ravel(), v, d, nu).reshape(squares.shape)
    at = np.log1p(squares / (nu + d))
    points = np.linspace(at.min(), at.max() + 1e-9, _POINTS)
    return make_interp_spline(points, _by_sum((nu + d) * np.expm1(points), v, d, nu), k=5)(at)


def _by_sum(squares: Floats, v: float, d: int, nu: float) -> Floats:
    """(m,): the trapezoidal rule in log w, whose error falls faster than any power of the step."""
    log_w, step = _nodes(float(squares.max(initial=0.0)), d, nu)
    a, wide = 0.5 * nu, np.exp(-log_w) + v
    log_p = a * (np.log(a) + log_w - np.exp(log_w)) - gammaln(a)
    log_p += np.log(step) - 0.5 * d * np.log(2 * np.pi * wide)
    return logsumexp(log_p - 0.5 * squares[:, None] / wide, axis=1)


def _nodes(largest: float, d: int, nu: float) -> tuple[Floats, float]:
    """(log w, the step): wide enough for squares up to `largest`.

    To the left the integrand falls like w^(nu / 2) at least, from where w is the least that a row
    so far out can have; to the right like exp(-nu w / 2).
    """
    tail = -np.log(_LEFT_OUT)
    left = -np.log1p(largest / nu) - 2 * (tail + 0.5 * d) / (nu + d) - 2 * tail / nu
    right = np.log(2 * (tail + 0.5 * d) / nu + 2.0)
    step = min(_STEP * np.sqrt(2 / (nu + d)), _LONGEST)
    return np.arange(left, right + step, step), float(step)
