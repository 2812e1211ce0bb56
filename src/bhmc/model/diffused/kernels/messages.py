"""Gaussian messages on the tree: what atoms say of the locations, theta and m integrated out.

Evidence on a location m is exp(-p m^2 / 2 + h m) in every coordinate: a precision p and a linear
term h. A step of variance v above it, m ~ N(m_pa, v), turns it into evidence on m_pa:

    p' = p / (1 + p v),   h' = h / (1 + p v).

`up_*[z]` is the sum of such messages from the atoms or children of z.
"""

import math

from bhmc._compiled.decorators import compiled, helper, merged, summing

# Rows of `scratch` that hold a factor for each precision.
FACTOR, OTHER_FACTOR = 13, 14


@merged
def add_times(forest, out, z, x, i):
    """out[z] += x[i] times the factor of every coordinate."""
    if len(forest.repeats) == 1:
        factor = forest.scratch[FACTOR, 0]
        for d in range(len(forest.column)):
            out[z, d] += factor * x[i, d]
    else:
        for d in range(len(forest.column)):
            out[z, d] += forest.scratch[FACTOR, forest.column[d]] * x[i, d]


@merged
def set_to_sum(forest, out, z, x, i, y, j):
    """out[z] = x[i] times one factor of every coordinate, and y[j] times the other."""
    if len(forest.repeats) == 1:
        factor, other = forest.scratch[FACTOR, 0], forest.scratch[OTHER_FACTOR, 0]
        for d in range(len(forest.column)):
            out[z, d] = factor * x[i, d] + other * y[j, d]
    else:
        for d in range(len(forest.column)):
            c = forest.column[d]
            out[z, d] = (
                forest.scratch[FACTOR, c] * x[i, d] + forest.scratch[OTHER_FACTOR, c] * y[j, d]
            )


@merged
def add_message(forest, precision, linear, i, v, z, sign):
    """up[z] += sign times the message of evidence i across the step of variance row v."""
    for c in range(len(forest.repeats)):
        p = precision[i, c]
        factor = sign / (1.0 + p * forest.variance[v, c])
        forest.scratch[FACTOR, c] = factor
        forest.up_precision[z, c] += factor * p
    add_times(forest, forest.up_linear, z, linear, i)


@merged
def add_node(forest, z, sign):
    """The message of node z to its parent."""
    add_message(
        forest,
        forest.up_precision,
        forest.up_linear,
        z,
        forest.level[z],
        forest.parent[z],
        sign,
    )


@merged
def clear_node(forest, z):
    """No message has come to z."""
    for d in range(len(forest.column)):
        forest.up_linear[z, d] = 0.0
    for c in range(len(forest.repeats)):
        forest.up_precision[z, c] = 0.0


@compiled
def collect(forest):
    """up[z] = sum over the atoms or children of z of their messages, leaves first."""
    collect_above(forest, len(forest.variance) - 1)


@helper
def collect_above(forest, level):
    """The same of nodes above a level, where those of that level and below are known already.

    Atoms are of level L + 1.
    """
    depth = len(forest.variance) - 2
    for z in range(forest.used[0]):
        if forest.level[z] < level:
            clear_node(forest, z)
    if level > depth:
        for k in range(forest.used[1]):
            z = forest.leaf[k]
            if z >= 0:
                add_message(forest, forest.precision, forest.linear, k, depth + 1, z, 1.0)
    for back in range(depth):
        if depth - back <= level:
            for z in range(forest.used[0]):
                if forest.level[z] == depth - back:
                    add_node(forest, z, 1.0)


@merged
def log_factor(forest, precision, linear, i, v):
    """sum_d [ v h^2 / (1 + p v) - log(1 + p v) ] / 2: what evidence i weighs beyond its message."""
    total = 0.0
    for c in range(len(forest.repeats)):
        wide = 1.0 + precision[i, c] * forest.variance[v, c]
        forest.scratch[FACTOR, c] = forest.variance[v, c] / wide
        total -= forest.repeats[c] * math.log(wide)
    for d in range(len(forest.column)):
        total += forest.scratch[FACTOR, forest.column[d]] * linear[i, d] * linear[i, d]
    return 0.5 * total


@compiled
def log_evidence(forest):
    """log of the integral of all evidence over m and theta, which step from the origin down.

    The sum of what every message leaves behind; the last of them is evidence (p, h) on the origin o
    itself, h o - p o^2 / 2. Messages are made anew.
    """
    return log_evidence_to(forest, len(forest.variance) - 1)


@helper
def log_evidence_to(forest, level):
    """The same without what is left behind below a level, as long as no variance below it changes.

    Messages to nodes above the level are made anew, those below must be up to date.
    """
    collect_above(forest, level)
    depth, total = len(forest.variance) - 2, 0.0
    if level > depth:
        for k in range(forest.used[1]):
            if forest.leaf[k] >= 0:
                total += log_factor(forest, forest.precision, forest.linear, k, depth + 1)
    for z in range(forest.used[0]):
        if 0 <= forest.level[z] <= level:
            total += log_factor(forest, forest.up_precision, forest.up_linear, z, forest.level[z])
    for d in range(len(forest.column)):
        c, o = forest.column[d], forest.origin[d]
        p, h = forest.up_precision[0, c], forest.up_linear[0, d]
        total += (h * o - 0.5 * p * o * o) / (1.0 + p * forest.variance[0, c])
    return total


@helper
def detach_path(forest, z):
    """Take back the messages of z and all above it to their parents, the highest first."""
    for level in range(1, forest.level[z] + 1):
        y = z
        while forest.level[y] > level:
            y = forest.parent[y]
        add_node(forest, y, -1.0)


@helper
def attach_path(forest, z):
    """Send the messages of z and all above it to their parents, the lowest first."""
    while forest.parent[z] >= 0:
        add_node(forest, z, 1.0)
        z = forest.parent[z]


@merged
def find_root_belief(forest):
    """m_root given all atoms: precision up + 1 / v_0, linear up + origin / v_0."""
    for c in range(len(forest.repeats)):
        spread = 1.0 / (forest.up_precision[0, c] + 1.0 / forest.variance[0, c])
        forest.spread[0, c] = spread
        forest.scratch[FACTOR, c] = spread
    for d in range(len(forest.column)):
        c = forest.column[d]
        pull = forest.up_linear[0, d] + forest.origin[d] / forest.variance[0, c]
        forest.mean[0, d] = pull * forest.scratch[FACTOR, c]


@merged
def find_belief(forest, z):
    """m_z given all atoms, from its parent's belief without the message of z.

    With (A, b) the parent's precision and linear term less the message of z, m_z has the prior
    N(b / A, 1 / A + v) and the evidence (p, h) = up[z]: its mean is its variance times h + b /
    (1 + A v), and b = mean / spread of the parent, less h / (1 + p v).
    """
    y, v = forest.parent[z], forest.level[z]
    for c in range(len(forest.repeats)):
        p, step = forest.up_precision[z, c], forest.variance[v, c]
        a = 1.0 / forest.spread[y, c] - p / (1.0 + p * step)
        spread = 1.0 / (p + 1.0 / (1.0 / a + step))
        forest.spread[z, c] = spread
        own, above = p * step, a * step
        kept = (own + above + own * above) / ((1.0 + own) * (1.0 + above))
        forest.scratch[FACTOR, c] = spread * kept
        forest.scratch[OTHER_FACTOR, c] = spread / (forest.spread[y, c] * (1.0 + above))
    set_to_sum(forest, forest.mean, z, forest.up_linear, z, forest.mean, y)


@helper
def find_beliefs_to(forest, last):
    """(mean, spread) of m_z given all atoms, from the root down to level `last`."""
    find_root_belief(forest)
    for level in range(1, last + 1):
        for z in range(forest.used[0]):
            if forest.level[z] == level:
                find_belief(forest, z)


@compiled
def find_beliefs(forest):
    """(mean, spread) of every m_z given all atoms."""
    find_beliefs_to(forest, len(forest.variance) - 2)


@merged
def step_to(forest, z, last, out):
    """scratch[out] = spread[z] + v_(level + 1) + ... + v_last: how far below z things lie."""
    for c in range(len(forest.repeats)):
        total = forest.spread[z, c]
        for level in range(forest.level[z] + 1, last + 1):
            total += forest.variance[level, c]
        forest.scratch[out, c] = total


@summing
def log_fit(forest, precision, linear, i, mean, z, width):
    """log of the integral of evidence i over N(mean[z], scratch[width]).

    Per coordinate: -log(1 + p w) / 2 + (h a + w h^2 / 2 - p a^2 / 2) / (1 + p w).
    """
    total = 0.0
    if len(forest.repeats) == 1:
        p, w = precision[i, 0], forest.scratch[width, 0]
        for d in range(len(forest.column)):
            h, a = linear[i, d], mean[z, d]
            total += h * (a + 0.5 * w * h) - 0.5 * p * a * a
        total /= 1.0 + p * w
    else:
        for d in range(len(forest.column)):
            c = forest.column[d]
            p, w, h, a = precision[i, c], forest.scratch[width, c], linear[i, d], mean[z, d]
            total += (h * (a + 0.5 * w * h) - 0.5 * p * a * a) / (1.0 + p * w)
    for c in range(len(forest.repeats)):
        w = forest.scratch[width, c]
        total -= 0.5 * forest.repeats[c] * math.log1p(precision[i, c] * w)
    return total
