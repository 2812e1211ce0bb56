"""Variances of the steps given the tree and the atoms' evidence, m and theta integrated out.

Given m and theta, a variance hardly moves where a level has few nodes.
"""

import math

import numpy as np

from bhmc._compiled.decorators import compiled, helper
from bhmc._compiled.distributions import exponential_draw
from bhmc._compiled.random_source import uniform
from bhmc.model.diffused.kernels.messages import collect, log_evidence_to


@helper
def set_step(forest, blocks, block, level, value):
    """The variance of steps to a level, in all precisions of a block."""
    for c in range(len(blocks)):
        if blocks[c] == block:
            forest.variance[level, c] = value


@helper
def log_density_of_step(forest, blocks, block, level, y, within):
    """log p(y | tree, evidence), y = log v_l, less a number that does not depend on it; v_l is set.

    v_l ~ InverseGamma(shape, scale) between its neighbours; within = (least, most, shape, scale).
    """
    least, most, shape, scale = within
    value = math.exp(y)
    if not least <= value <= most:
        return -math.inf
    set_step(forest, blocks, block, level, value)
    return log_evidence_to(forest, level) - shape * y - scale / value


@helper
def draw_step(forest, blocks, block, level, value, within, rng):
    """v_l by a slice of its logarithm, as `likelihoods.slice_sampler.slice_step` has it."""
    y = math.log(value)
    drop = exponential_draw(rng)
    floor = log_density_of_step(forest, blocks, block, level, y, within) - drop
    left = y - uniform(rng)
    right = left + 1.0
    while log_density_of_step(forest, blocks, block, level, left, within) > floor:
        left -= 1.0
    while log_density_of_step(forest, blocks, block, level, right, within) > floor:
        right += 1.0
    while True:
        new = left + (right - left) * uniform(rng)
        if log_density_of_step(forest, blocks, block, level, new, within) >= floor:
            return math.exp(new)
        if new < y:
            left = new
        else:
            right = new


@compiled
def draw_steps(forest, blocks, variances, least, shape, scales, rng):
    """v_l | tree, evidence, level after level of every block, each given the others.

    `variances` (L + 2, blocks) follow; `least` (blocks,), `shape` and `scales` (L + 1, blocks) are
    those of `StepPrior`.
    """
    collect(forest)
    last = len(variances) - 1
    for block in range(variances.shape[1]):
        for level in range(1, last + 1):
            low = variances[level + 1, block] if level < last else least[block]
            high = variances[level - 1, block] if level > 1 else np.inf
            within = (low, high, shape, scales[level - 1, block])
            value = variances[level, block]
            variances[level, block] = draw_step(forest, blocks, block, level, value, within, rng)
