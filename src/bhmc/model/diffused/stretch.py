"""The move "stretch": all steps to a level of the tree become longer or shorter together."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bhmc.likelihoods.slice_sampler import slice_draw
from bhmc.model.diffused.forest import Forest

Floats = NDArray[np.float64]


def stretch_steps(chain: Any) -> None:
    """v_l | steps to level l divided by sqrt(v_l), all rows: by a slice of its logarithm.

    p(v_l) is an inverse gamma between its neighbours times the likelihood of the rows at the theta
    that such steps give. Where coordinates are logits, rows hardly say how far out theta is: given
    the steps themselves v_l and they move slowly, each held by the other. Level after level, in
    every block of logits.

    Parameters
    ----------
    chain : DiffusedSampler
        Changed in place; its atoms have no holes.
    """
    blocks_of_logits = np.flatnonzero(~chain.family.prior_on_tree().has_noise)
    if len(blocks_of_logits) == 0:
        return
    counts = chain.family.logit_counts(chain.sums())
    for block in blocks_of_logits.tolist():
        for level in range(1, chain.forest.depth + 2):
            _stretch(chain, level, block, counts)


def _stretch(chain: Any, level: int, block: int, counts: tuple[Floats, Floats]) -> None:
    """One level, in the coordinates of a block; `counts` are rows with a 1, and all rows seen."""
    forest, variances, blocks = chain.forest, chain.variances, chain.family.blocks()
    own, k, now = (
        blocks[forest.column] == block,
        int(forest.used[1]),
        float(variances[level, block]),
    )
    of_nodes, of_atoms = (steps * own for steps in steps_at(forest, level))
    ones, seen, theta, of_own = (x[:, own] for x in (*counts, forest.theta[:k], of_atoms))
    least, most = chain.steps.bounds(variances, level, block)
    log_prior = chain.steps.log_density_of(level, block)

    def log_density(value: float) -> float:
        if not least <= value <= most:
            return -np.inf
        moved = theta + (np.sqrt(value / now) - 1) * of_own
        return log_prior(value) + float((ones * moved - seen * np.logaddexp(0, moved)).sum())

    drawn = slice_draw(log_density, now, chain.rng)
    longer = np.sqrt(drawn / now) - 1
    forest.location[: len(of_nodes)] += longer * of_nodes
    forest.theta[:k] += longer * of_atoms
    forest.variance[level, blocks == block] = drawn


def steps_at(forest: Forest, level: int) -> tuple[Floats, Floats]:
    """((M, D) of nodes, (K, D) of atoms): the step to a level on the way from the root to each.

    0 for nodes above that level.

    Parameters
    ----------
    forest : Forest
        Without holes: parents come before children.
    level : int
        From 1 to the level of atoms, depth + 1.
    """
    m, k = forest.used
    leaf = forest.leaf[:k]
    of_nodes = np.zeros((m, forest.location.shape[1]))
    if level > forest.depth:
        return of_nodes, forest.theta[:k] - forest.location[leaf]
    at = np.flatnonzero(forest.level[:m] == level)
    of_nodes[at] = forest.location[at] - forest.location[forest.parent[at]]
    for further in range(level + 1, forest.depth + 1):
        below = np.flatnonzero(forest.level[:m] == further)
        of_nodes[below] = of_nodes[forest.parent[below]]
    return of_nodes, of_nodes[leaf]
