"""A node shifts with all that is below it, one logit after the other; so does every atom."""

import math

from bhmc._compiled.decorators import compiled, helper
from bhmc._compiled.distributions import exponential_draw
from bhmc._compiled.random_source import uniform


@helper
def log_density_of_shift(theta, counts, member, n, d, law, shift):
    """log p(shift | all else), less a number: N(step + shift; 0, v) times the rows' likelihood.

    law = (step, v): the step to the node or atom, and its variance. n atoms of `member` shift.
    """
    step, v = law
    total = -0.5 * (step + shift) ** 2 / v
    for i in range(n):
        k = member[i]
        x = theta[k, d] + shift
        total += counts[0, k, d] * x
        total -= counts[1, k, d] * (max(x, 0.0) + math.log1p(math.exp(-abs(x))))
    return total


@helper
def draw_shift(theta, counts, member, n, d, law, rng):
    """The shift, by a slice; the interval has the standard deviation of the step for its width."""
    width = math.sqrt(law[1])
    floor = log_density_of_shift(theta, counts, member, n, d, law, 0.0) - exponential_draw(rng)
    left = -width * uniform(rng)
    right = left + width
    while log_density_of_shift(theta, counts, member, n, d, law, left) > floor:
        left -= width
    while log_density_of_shift(theta, counts, member, n, d, law, right) > floor:
        right += width
    while True:
        new = left + (right - left) * uniform(rng)
        if log_density_of_shift(theta, counts, member, n, d, law, new) >= floor:
            return new
        if new < 0.0:
            left = new
        else:
            right = new


@helper
def find_below(forest, z, member, inside):
    """member = the atoms below node z, inside = whether a node is z or below it; how many atoms.

    Parents come before children.
    """
    for y in range(forest.used[0]):
        inside[y] = y == z or (forest.parent[y] >= 0 and inside[forest.parent[y]])
    n = 0
    for k in range(forest.used[1]):
        if inside[forest.leaf[k]]:
            member[n] = k
            n += 1
    return n


@helper
def shift_node(forest, is_logit, counts, z, member, inside, rng):
    """Node z and all below it, in every logit."""
    n, above = find_below(forest, z, member, inside), forest.parent[z]
    for d in range(len(forest.column)):
        if not is_logit[d]:
            continue
        v = forest.variance[forest.level[z], forest.column[d]]
        law = forest.location[z, d] - forest.location[above, d], v
        shift = draw_shift(forest.theta, counts, member, n, d, law, rng)
        for y in range(z, forest.used[0]):
            if inside[y]:
                forest.location[y, d] += shift
        for i in range(n):
            forest.theta[member[i], d] += shift


@helper
def shift_atom(forest, is_logit, counts, k, member, rng):
    """Atom k, in every logit."""
    member[0] = k
    for d in range(len(forest.column)):
        if is_logit[d]:
            v = forest.variance[len(forest.variance) - 1, forest.column[d]]
            law = forest.theta[k, d] - forest.location[forest.leaf[k], d], v
            forest.theta[k, d] += draw_shift(forest.theta, counts, member, 1, d, law, rng)


@compiled
def shift_logits(forest, is_logit, counts, member, inside, rng):
    """m_z and all below it, then theta_k, each shifted given all rows and all other steps.

    counts (2, K, D): rows with a 1, and rows seen. `member` (K,) and `inside` (nodes,) are room.
    """
    for z in range(1, forest.used[0]):
        shift_node(forest, is_logit, counts, z, member, inside, rng)
    for k in range(forest.used[1]):
        shift_atom(forest, is_logit, counts, k, member, rng)
