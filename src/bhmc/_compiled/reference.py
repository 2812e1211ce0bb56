"""The slow twins of compiled draws: the same draws from the same random numbers, in plain NumPy.

Saddle points come from a root finder, derivatives from Cauchy's integral, and no density is bounded
before it is known: series and Fourier integrals are always added up to their end.
"""

import numpy as np
from scipy.optimize import brentq
from scipy.special import erfcx, expit, log_expit, log_ndtr

from bhmc._compiled.polya_gamma import MOST_SUMMED

_MEETING = 0.64
_CIRCLE = np.exp(2j * np.pi * np.arange(64) / 64)


# ---- PG(h, z) ------------------------------------------------------------------------------------


def draw_polya_gamma(h, z, rng):
    """omega_kd ~ PG(h_kd, z_kd)."""
    h, z = np.broadcast_arrays(h, z)
    draws = [polya_gamma_draw(a, b, rng) for a, b in zip(h.ravel(), z.ravel(), strict=True)]
    return np.reshape(draws, h.shape)


def polya_gamma_draw(h, z, rng):
    """omega ~ PG(h, z)."""
    half = abs(z) / 2
    if h > MOST_SUMMED:
        return _many_draw(int(h), half, rng)
    return sum(_single_draw(half, rng) for _ in range(int(h)))


def _single_draw(half, rng):
    """omega ~ PG(1, 2 half): 4 omega from the first term of its series, kept with sum / first."""
    rate = half**2 / 2 + np.pi**2 / 8
    log_right = np.log(np.pi / 2 / rate) - rate * _MEETING
    root = np.sqrt(_MEETING)
    log_left = np.log(2) + np.logaddexp(
        log_ndtr(half * root - 1 / root) - half, log_ndtr(-half * root - 1 / root) + half
    )
    while True:
        if rng.random() < np.exp(log_right - np.logaddexp(log_left, log_right)):
            x = _MEETING + _exponential(rng) / rate
        else:
            x = _left_draw(half, rng)
        odd = np.arange(200) + 0.5
        exponent = -((np.pi * odd) ** 2) * x / 2 if x > _MEETING else -2 * odd**2 / x
        terms = (-1) ** np.arange(200) * odd * np.exp(exponent - exponent[0])
        if rng.random() * terms[0] <= terms.sum():
            return x / 4


def _left_draw(half, rng):
    """x ~ inverse Gaussian of mean 1 / half and shape 1, given x <= the meeting point."""
    while half * _MEETING < 1:
        e, other = _exponential(rng), _exponential(rng)
        x = _MEETING / (1 + _MEETING * e) ** 2
        if e**2 * _MEETING <= 2 * other and rng.random() < np.exp(-(half**2) * x / 2):
            return x
    while True:
        mean, normal = 1 / half, np.cos(2 * np.pi * rng.random())
        normal *= np.sqrt(2 * _exponential(rng))
        y = mean * normal**2
        x = mean + mean * y / 2 - mean * np.sqrt(4 * y + y**2) / 2
        x = x if rng.random() <= mean / (mean + x) else mean**2 / x
        if x <= _MEETING:
            return x


def _exponential(rng):
    return -np.log1p(-rng.random())


def _many_draw(h, half, rng):
    """omega ~ PG(h, 2 half), by rejection below tangents to its saddle-point approximation."""
    start = half**2
    _, t1, t2 = _tanh_ratio(start)
    middle, reach = -2 * t2 / (h * t1**2), 4 / np.sqrt(-h * t1)
    left, centre, right = (_saddle_tangent(h, start, middle + move) for move in (-reach, 0, reach))
    top = centre[1] + abs(centre[2]) * max(right[0] - centre[0], centre[0] - left[0])
    while True:
        x, height = _below_tangents(left, right, top, rng)
        if x > 0:
            w = _saddle_of(4 * x / h)
            level = np.log1p(-rng.random()) + height + top
            if level <= _log_saddle(h, start, w) + _log_correction(h, w):
                return x


def _tanh_ratio(w):
    """T, T' and T'' of T(w) = tanh(sqrt w) / sqrt w."""
    radius = (w + np.pi**2 / 4) / 2
    root = np.sqrt(w + radius * _CIRCLE)
    values = np.tanh(root) / root
    return [
        float(factor * (values * _CIRCLE**-n).mean().real / radius**n)
        for n, factor in enumerate((1, 1, 2))
    ]


def _saddle_tangent(h, start, s):
    """(x, log g(x), slope) at the x with saddle point s."""
    t0, t1, t2 = _tanh_ratio(start - s / 2)
    return h * t0 / 4, _log_saddle(h, start, start - s / 2), -s - 2 * t2 / (h * t1**2)


def _log_saddle(h, start, w):
    """log g, less a constant: K(s) - s x - log K''(s) / 2."""
    t0, t1, _ = _tanh_ratio(w)
    return -h * _log_cosh(np.sqrt(w + 0j)).real - 2 * (start - w) * h * t0 / 4 - np.log(-t1) / 2


def _log_cosh(root):
    return root + np.log1p(np.exp(-2 * root)) - np.log(2)


def _saddle_of(ratio):
    """The w with T(w) = ratio: T falls from its pole, and lies below 1 / sqrt w."""
    low, high = 2 / ratio - np.pi**2 / 4, 1 / ratio**2
    return brentq(lambda w: _tanh_ratio(w)[0] - ratio, low, high, xtol=1e-13, rtol=1e-14)


def _log_correction(h, w):
    """log f - log g, by the Fourier integral of the density through the saddle point."""
    t0, t1, _ = _tanh_ratio(w)
    u = 0.3 * np.arange(1, 4_000) / np.sqrt(-h * t1 / 8)
    change = _log_cosh(np.sqrt(w + 0.5j * u)) - _log_cosh(np.sqrt(w + 0j))
    terms = np.exp(-h * change + 0.25j * h * u * t0).real
    return np.log((1 + 2 * terms.sum()) * 0.3 / np.sqrt(2 * np.pi))


def _below_tangents(left, right, top, rng):
    """(x, log height below the top) from a hat: a rising tangent, a flat top, a falling one."""
    (x_left, value_left, rise), (x_right, value_right, fall) = left, right
    start, stop = x_left + (top - value_left) / rise, x_right + (top - value_right) / fall
    u = (1 - rng.random()) * (1 / rise - 1 / fall + stop - start)
    if u <= 1 / rise:
        return start + np.log(u * rise) / rise, np.log(u * rise)
    u -= 1 / rise
    if u <= -1 / fall:
        return stop + np.log(-u * fall) / fall, np.log(-u * fall)
    return start + u + 1 / fall, 0.0


# ---- Logits with a normal law --------------------------------------------------------------------


def log_smaller_probability(m, v, n_terms=18):
    """log of the integral of sigmoid(theta) dN(theta; m, v), m at most 0, by an alternating series.

    sigmoid(theta) is sum_k (-1)^k exp(-k theta) above 0 and sum_k (-1)^k exp((k + 1) theta) below;
    each term has a closed integral. The series is accelerated (Cohen, Rodriguez Villegas & Zagier
    2000): its relative error is below 2 / 5.8^n_terms.
    """
    scale = np.sqrt(2 * v)
    total, size = 0.0, -(m**2) / (2 * v)  # the size of a term that has no exponential of its own
    for k, c in enumerate(_accelerated(n_terms)):
        x = ((k + 1) * v + m) / scale
        above = erfcx((k * v - m) / scale) / 2
        below = np.copysign(erfcx(np.abs(x)), x) / 2
        tilted = np.exp(np.where(x < 0, (k + 1) * m + (k + 1) ** 2 * v / 2, -np.inf))
        total = total + c * (np.exp(size) * (above + below) + tilted)
    return np.log(total)


def log_integral(ones, seen, m, v):
    """log of the integral of sigmoid^ones (1 - sigmoid)^(seen - ones) dN(theta; m, v).

    By Gauss and Legendre's rule of 40 nodes on 64 pieces of the stretch where the integrand is
    above exp(-45) of its maximum.
    """

    def log_f(theta):
        logistic = ones * log_expit(theta) + (seen - ones) * log_expit(-theta)
        return logistic - (theta - m) ** 2 / (2 * v)

    def slope(theta):
        return ones - seen * expit(theta) - (theta - m) / v

    mode = brentq(slope, m - v * seen - 1, m + v * seen + 1, xtol=1e-12)
    top = log_f(mode)
    far = 10 * np.sqrt(v) + 1e-9
    ends = [brentq(lambda x: log_f(x) - top + 45, mode, mode + way * far) for way in (-1, 1)]
    nodes, weights = np.polynomial.legendre.leggauss(40)
    half = (ends[1] - ends[0]) / 128
    theta = ends[0] + half * (2 * np.arange(64)[:, None] + 1 + nodes)
    total = half * (np.exp(log_f(theta) - top) @ weights).sum()
    return top + np.log(total) - np.log(2 * np.pi * v) / 2


def _accelerated(n):
    """c_k with sum_k (-1)^k a_k = sum_{k < n} c_k a_k, nearly, for moments a_k of [0, 1]."""
    largest = ((3 + np.sqrt(8)) ** n + (3 - np.sqrt(8)) ** n) / 2
    b, c = -1.0, -largest
    for k in range(n):
        c = b - c
        yield c / largest
        b *= (k + n) * (k - n) / ((k + 0.5) * (k + 1))


def logit_draw(ones, seen, m, v, rng):
    """theta ~ sigmoid(theta)^ones (1 - sigmoid(theta))^(seen - ones) N(theta; m, v)."""

    def log_density(theta):
        normal = -((theta - m) ** 2) / (2 * v)
        return ones * log_expit(theta) + (seen - ones) * log_expit(-theta) + normal

    def slope(theta):
        return ones - seen * np.exp(log_expit(theta)) - (theta - m) / v

    def tangent(reach):
        x = mode + reach / np.sqrt(top - log_density(mode + reach))
        return x, log_density(x), slope(x)

    low, high = m - v * (seen - ones), m + v * ones
    mode = brentq(slope, low - 1, high + 1, xtol=1e-13, rtol=1e-14)
    top = log_density(mode)
    reach = np.sqrt(2 / (seen * np.exp(log_expit(mode) + log_expit(-mode)) + 1 / v))
    left, right = tangent(-reach), tangent(reach)
    while True:
        theta, height = _below_tangents(left, right, top, rng)
        if np.log1p(-rng.random()) + height <= log_density(theta) - top:
            return theta
