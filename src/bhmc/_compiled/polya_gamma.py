"""Polya-Gamma variables PG(h, z), for whole h: exact draws at a cost that does not grow with h.

omega ~ PG(h, z) has E exp(-t omega) = (cosh(z / 2) / cosh(sqrt(z^2 / 4 + t / 2)))^h. A logistic
likelihood exp(y theta) / (1 + exp(theta))^h is Gaussian in theta given omega ~ PG(h, theta), with
precision omega and linear term y - h / 2 (Polson, Scott & Windle 2013).

Up to `MOST_SUMMED` a draw is a sum of draws from PG(1, z), by Devroye's alternating series. Above
it `polya_gamma_many` draws by rejection. Both are exact.
"""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bhmc._compiled.decorators import compiled, helper
from bhmc._compiled.distributions import exponential_draw
from bhmc._compiled.polya_gamma_many import many_draw
from bhmc._compiled.random_source import RandomSource, uniform

# From here on a sum of single draws costs more than one draw by rejection.
MOST_SUMMED = 8

# Where the two series of the density of 4 PG(1, 0) meet: each converges fast on its own side.
_MEETING = 0.64
# Above this the second term of the inverse Gaussian's distribution function is below 1e-40.
_STEEP = 20.0


def draw_polya_gamma(h: ArrayLike, z: ArrayLike, source: RandomSource) -> NDArray[np.float64]:
    """omega_kd ~ PG(h_kd, z_kd), independent.

    Parameters
    ----------
    h : array-like of whole numbers, at least 0
        How many rows stand behind each entry; where it is 0, so is the draw.
    z : array-like of float
        The tilts (logits), of any sign. `h` and `z` broadcast against each other.
    source : RandomSource
        Where all randomness comes from: `random_source(rng)`.

    Returns
    -------
    (K, D) array of float
        The draws, in the shape that `h` and `z` broadcast to.
    """
    h, z = np.asarray(h, dtype=np.float64), np.asarray(z, dtype=np.float64)
    if h.shape != z.shape:
        h, z = np.broadcast_arrays(h, z)
    omega = np.empty(h.shape)
    # Copies: a view may be read-only, and compiled code would have a second signature for it.
    fill_polya_gamma(h.flatten(), z.flatten(), omega.reshape(-1), source)
    return omega


@compiled
def fill_polya_gamma(h, z, omega, source):
    """omega_i ~ PG(h_i, z_i), in place."""
    for i in range(omega.size):
        omega[i] = polya_gamma_draw(h[i], z[i], source)


@helper
def polya_gamma_draw(h, z, source):
    """omega ~ PG(h, z), h a whole number, 0 where h is 0."""
    half = 0.5 * abs(z)
    if not half < math.inf:  # 0, or not a number
        return h / half
    if h > MOST_SUMMED:
        return many_draw(h, half, source)
    share = right_share(half)
    total = 0.0
    for _ in range(int(h)):
        total += single_draw(half, share, source)
    return total


@helper
def single_draw(half, share, source):
    """omega ~ PG(1, 2 half), by Devroye's rejection; `share` is `right_share(half)`.

    4 omega has density sum_n (-1)^n a_n(x) exp(-half^2 x / 2) cosh(half). Proposals have its first
    term; the series is added up until it is known on which side of u a_0(x) its sum lies.
    """
    rate = 0.5 * half * half + 0.125 * math.pi * math.pi
    while True:
        if uniform(source) < share:
            x = _MEETING + exponential_draw(source) / rate
        else:
            x = left_draw(half, source)
        if is_below_series(x, uniform(source)):
            return 0.25 * x


@helper
def right_share(half):
    """The share of proposals above the meeting point; both masses are multiplied by exp(half)."""
    rate = 0.5 * half * half + 0.125 * math.pi * math.pi
    right = 0.5 * math.pi / rate * math.exp(half - rate * _MEETING)
    a, b = math.sqrt(0.5 / _MEETING), half * math.sqrt(0.5 * _MEETING)
    left = math.erfc(a - b)
    if half < _STEEP:
        left += math.exp(2.0 * half) * math.erfc(a + b)
    return right / (left + right)


@helper
def left_draw(half, source):
    """x ~ inverse Gaussian of mean 1 / half and shape 1, given x <= the meeting point."""
    if half * _MEETING < 1.0:
        return left_draw_of_large_mean(half, source)
    while True:
        x = inverse_gaussian_draw(1.0 / half, source)
        if x <= _MEETING:
            return x


@helper
def left_draw_of_large_mean(half, source):
    """The same, by a draw of 1 / chi^2_1 below the meeting point, kept with exp(-half^2 x / 2)."""
    while True:
        e, other = exponential_draw(source), exponential_draw(source)
        if e * e * _MEETING > 2.0 * other:
            continue
        x = _MEETING / (1.0 + _MEETING * e) ** 2
        if uniform(source) < math.exp(-0.5 * half * half * x):
            return x


@helper
def inverse_gaussian_draw(mean, source):
    """x ~ inverse Gaussian of shape 1: one of the two roots that share a chi^2_1 variable."""
    cosine = math.cos(2.0 * math.pi * uniform(source))
    y = mean * exponential_draw(source) * cosine * cosine  # half of mean times chi^2_1
    x = mean * (1.0 + y - math.sqrt(y * (2.0 + y)))
    if uniform(source) * (mean + x) <= mean:
        return x
    return mean * mean / x


@helper
def is_below_series(x, u):
    """Whether u a_0(x) is below sum_n (-1)^n a_n(x); partial sums are bounds in turn."""
    total = series_term(np.int64(0), x)
    target, n = u * total, 0
    while True:
        n += 1
        total -= series_term(n, x)
        if target <= total:
            return True
        n += 1
        total += series_term(n, x)
        if target > total:
            return False


@helper
def series_term(n, x):
    """a_n(x), up to a factor that is the same for all n."""
    odd = n + 0.5
    if x > _MEETING:
        return odd * math.exp(-0.5 * odd * odd * math.pi * math.pi * x)
    return odd * math.exp(-2.0 * odd * odd / x)
