"""Logits with a normal law: probabilities of 1 and 0, and draws given rows of both.

theta ~ N(m, v) and x = 1 with probability sigmoid(theta) = 1 / (1 + exp(-theta)).
"""

import math

from bhmc._compiled.decorators import compiled, helper
from bhmc._compiled.log_concave import hat_draw, tangent_hat
from bhmc._compiled.random_source import uniform

# A trapezoidal sum leaves out terms below this, next to a first term of at least 1/2.
_LAST_TERM = 1e-15
_MOST_STEPS = 100
_NARROW = 1e-13

# Sums over no more rows than this, and around a mode no further away, are made by powers.
_FEW_ROWS, _FAR_MODE = 64.0, 300.0

# A trapezoidal sum over many rows has a relative error of at most 2 exp(-_SURE).
_SURE = 31.0
# Half the width of the widest strip around the real line; at pi the logistic function has a pole.
_WIDEST_STRIP = 2.8


@compiled
def fill_log_probabilities(location, variance, log_one, log_zero):
    """log of the integral of sigmoid(theta), and of sigmoid(-theta), dN(theta; m_i, v_i)."""
    for i in range(location.size):
        log_one[i], log_zero[i] = log_probabilities(location[i], variance[i])


@helper
def log_probabilities(m, v):
    """log p(x = 1) and log p(x = 0), theta ~ N(m, v) integrated out."""
    small = log_smaller_probability(-abs(m), v)
    large = math.log1p(-math.exp(small))
    return (large, small) if m > 0.0 else (small, large)


@helper
def log_smaller_probability(m, v):
    """log of the integral of sigmoid(theta) dN(theta; m, v), m at most 0, by the trapezoidal rule.

    sigmoid(theta) N(theta; m, v) = exp(m + v / 2) N(theta; m + v, v) / (1 + exp(theta)). The nodes
    go out from c = min(m + v, 0), next to the maximum. Right of c = 0 the first form is summed,
    else the second: then all factors fall from 1, and each is a multiple of the one before.
    """
    if v == 0.0:
        return m - math.log1p(math.exp(m))
    step, centre = trapezoidal_step(v), min(m + v, 0.0)
    away = m + v - centre  # 0, or centre is 0
    at_centre, ratio = math.exp(centre), math.exp(-step * step / v)
    bend = 0.5 * step * step / v
    up, down = math.exp(step), math.exp(-step)
    total = 1.0 / (1.0 + at_centre)
    total += side_sum(math.exp(-away * step / v - bend), ratio, at_centre, down)
    if away > 0.0:
        total += side_sum(math.exp(m * step / v - bend), ratio, 1.0, down)
    else:
        total += side_sum(math.exp(-bend), ratio, at_centre, up)
    scale = step / math.sqrt(2.0 * math.pi * v)
    return m + 0.5 * v - 0.5 * away * away / v + math.log(scale * total)


@helper
def trapezoidal_step(v):
    """A step whose trapezoidal sum has a relative error of at most 1e-12.

    In the strip |Im theta| <= a < pi the integrand is at most exp(a^2 / 2v) / cos(a / 2) times that
    on the line, so the error is at most twice that times exp(-2 pi a / step). Here a = 3, or
    a = 2 pi v / step = 7.7 sqrt v where that is less.
    """
    if v < 0.1:
        return 0.82 * math.sqrt(v)
    return 6.0 * math.pi / (31.0 + 4.5 / v)


@helper
def side_sum(fall, ratio, odds, factor):
    """sum_{j >= 1} g_j / (1 + odds factor^j), with g_0 = 1 and g_j = g_{j-1} fall ratio^(j - 1)."""
    total, g = 0.0, fall
    while g > _LAST_TERM:
        odds *= factor
        total += g / (1.0 + odds)
        fall *= ratio
        g *= fall
    return total


@compiled
def fill_logits(ones, seen, location, variance, theta, source):
    """theta_i given ones_i rows of 1 among seen_i, theta_i ~ N(m_i, v_i) before, in place."""
    for i in range(theta.size):
        theta[i] = logit_draw(ones[i], seen[i], location[i], variance[i], source)


@helper
def logit_draw(ones, seen, m, v, source):
    """theta ~ sigmoid(theta)^ones (1 - sigmoid(theta))^(seen - ones) N(theta; m, v), exactly.

    The logarithm l of the density has l'' <= -1 / v, so its maximum is at most l(c) + l'(c)^2 v / 2
    at any c.
    """
    mode = logit_mode(ones, seen, m, v)
    top, slope, bend = log_logit(mode, ones, seen, m, v)
    top += 0.5 * slope * slope * v
    reach = math.sqrt(2.0 / bend)
    if not reach > _NARROW * abs(mode):  # so narrow that numbers are too far apart, or not a number
        return mode
    x_left, left, rise = logit_tangent(mode, -reach, top, ones, seen, m, v)
    x_right, right, fall = logit_tangent(mode, reach, top, ones, seen, m, v)
    hat = tangent_hat(x_left, top - left, rise, x_right, top - right, -fall)
    while True:
        theta, height = hat_draw(hat, source)
        value, _, _ = log_logit(theta, ones, seen, m, v)
        if math.log1p(-uniform(source)) <= value - top - height:
            return theta


@helper
def logit_tangent(mode, reach, top, ones, seen, m, v):
    """(x, l(x), l'(x)) at mode + reach, or as near as a parabola says that l is 1 below its top."""
    value, _, _ = log_logit(mode + reach, ones, seen, m, v)
    x = mode + reach / math.sqrt(top - value)
    value, slope, _ = log_logit(x, ones, seen, m, v)
    return x, value, slope


@helper
def logit_mode(ones, seen, m, v):
    """The maximum of the density, by Newton's steps, or halving where they leave the bracket or are
    more than half as long as the step before: else they may go to and fro for ever.
    """
    low, high = m - v * (seen - ones), m + v * ones
    guess = math.log((ones + 0.5) / (seen - ones + 0.5))
    bend = (ones + 0.5) * (seen - ones + 0.5) / (seen + 1.0)
    x = min(max((m + v * bend * guess) / (1.0 + v * bend), low), high)
    before = high - low
    for _ in range(_MOST_STEPS):
        slope, bend = slope_of_logit(x, ones, seen, m, v)
        if slope > 0.0:
            low = x
        else:
            high = x
        step = slope / bend
        if step * step * bend < 1e-16:
            return x
        if not (low < x + step < high and abs(step) <= 0.5 * before):
            step = 0.5 * (low + high) - x
        x += step
        before = abs(step)
    return x


@helper
def log_logit(theta, ones, seen, m, v):
    """(l, l', -l'') of l(theta) = ones theta - seen log(1 + exp(theta)) - (theta - m)^2 / 2v."""
    small, away = math.exp(-abs(theta)), (theta - m) / v
    value = ones * theta - seen * (max(theta, 0.0) + math.log1p(small)) - 0.5 * away * (theta - m)
    slope, bend = slope_of_logit(theta, ones, seen, m, v)
    return value, slope, bend


@helper
def slope_of_logit(theta, ones, seen, m, v):
    """(l', -l'') alone: Newton's steps have no need of l and its logarithm."""
    small = math.exp(-abs(theta))
    p = 1.0 / (1.0 + small) if theta > 0.0 else small / (1.0 + small)
    return ones - seen * p - (theta - m) / v, seen * p * (1.0 - p) + 1.0 / v


@compiled
def fill_log_evidence(ones, seen, location, variance, known, log_evidence):
    """log_evidence[k] = sum_d log of the integral of sigmoid^ones_kd (1 - sigmoid)^(seen_kd -
    ones_kd) dN(theta; m_d, v_d).

    Groups that differ by a row or two have the same numbers in most columns: the last integrals of
    a column are kept in `known`, (any number, 3).
    """
    log_evidence[:] = 0.0
    for d in range(location.size):
        n_known = 0
        for k in range(log_evidence.size):
            found = -1
            for j in range(min(n_known, len(known))):
                if known[j, 0] == ones[k, d] and known[j, 1] == seen[k, d]:
                    found = j
            if found < 0:
                found = n_known % len(known)
                n_known += 1
                known[found, 0], known[found, 1] = ones[k, d], seen[k, d]
                known[found, 2] = log_integral(ones[k, d], seen[k, d], location[d], variance[d])
            log_evidence[k] += known[found, 2]


@helper
def log_integral(ones, seen, m, v):
    """log of the integral of sigmoid^ones (1 - sigmoid)^(seen - ones) dN(theta; m, v), by the
    trapezoidal rule from the mode outwards.
    """
    if seen == 0.0:
        return 0.0
    if v == 0.0:
        return log_logit(m, ones, seen, m, 1.0)[0]
    mode, step = logit_mode(ones, seen, m, v), step_of_rows(seen, v)
    top, _, _ = log_logit(mode, ones, seen, m, v)
    total = 1.0
    for way in (-step, step):
        total += side_of_integral(mode, way, ones, seen, m, v, top)
    return top + math.log(step * total / math.sqrt(2.0 * math.pi * v))


@helper
def side_of_integral(mode, way, ones, seen, m, v, top):
    """The terms on one side of the mode, each over that at the mode, which is exp(top)."""
    if seen <= _FEW_ROWS and ones == int(ones) and seen == int(seen):
        total = sum_of_powers(mode, way, int(ones), int(seen - ones), m, v)
        if total < math.inf:  # else powers left the range of numbers
            return total
    theta, term, total = mode, 1.0, 0.0
    while term > _LAST_TERM * (1.0 + total):
        theta += way
        term = math.exp(log_logit(theta, ones, seen, m, v)[0] - top)
        total += term
    return total


@helper
def sum_of_powers(mode, way, ones, zeros, m, v):
    """The same for few rows: by powers, which take a fraction of the time of logarithms.

    N(theta; m, v) falls by a factor that itself falls by exp(-way^2 / v) from term to term.
    """
    if abs(mode) > _FAR_MODE:
        return math.inf
    odds, growth = math.exp(mode), math.exp(way)
    p, q = odds / (1.0 + odds), 1.0 / (1.0 + odds)
    normal, fall = 1.0, math.exp(-way * (mode - m + 0.5 * way) / v)
    bend, total = math.exp(-way * way / v), 0.0
    while True:  # four terms at a time, which do not wait for each other; then one by one
        odds_0 = odds * growth
        odds_1 = odds_0 * growth
        odds_2 = odds_1 * growth
        odds = odds_2 * growth
        own_0, own_1 = 1.0 / (1.0 + odds_0), 1.0 / (1.0 + odds_1)
        own_2, own_3 = 1.0 / (1.0 + odds_2), 1.0 / (1.0 + odds)
        of_ones = powers(
            odds_0 * own_0 / p, odds_1 * own_1 / p, odds_2 * own_2 / p, odds * own_3 / p, ones
        )
        of_zeros = powers(own_0 / q, own_1 / q, own_2 / q, own_3 / q, zeros)
        for i in range(4):
            normal *= fall
            fall *= bend
            term = normal * of_ones[i] * of_zeros[i]
            total += term
            if not term > _LAST_TERM * (1.0 + total):
                return total


@helper
def powers(a, b, c, d, n):
    """(a^n, b^n, c^n, d^n), n a whole number that is not negative."""
    made_a, made_b, made_c, made_d = 1.0, 1.0, 1.0, 1.0
    while n > 0:
        if n & 1:
            made_a, made_b, made_c, made_d = made_a * a, made_b * b, made_c * c, made_d * d
        a, b, c, d = a * a, b * b, c * c, d * d
        n >>= 1
    return made_a, made_b, made_c, made_d


@helper
def step_of_rows(seen, v):
    """A step whose trapezoidal sum has a relative error of at most 2 exp(-_SURE).

    In the strip |Im theta| <= a < pi the integrand is at most exp(a^2 / 2v) / cos(a / 2)^seen times
    that on the line, so the error is at most twice that times exp(-2 pi a / step). The best a is
    next to the one at which that factor is exp(_SURE).
    """
    a = min(math.sqrt(2.0 * _SURE / (1.0 / v + 0.25 * seen)), _WIDEST_STRIP)
    growth = 0.5 * a * a / v - seen * math.log(math.cos(0.5 * a))
    return 2.0 * math.pi * a / (_SURE + growth)
