"""Weights of rows, where the noise has heavy tails: given them, all else is as with Gaussian noise.

A row of weight w is evidence of precision w: it counts w times in every sum, and once where rows
are counted.
"""

from typing import Any

import numpy as np


def draw_weights(chain: Any) -> None:
    """w_n | x_n, theta of its atom, for every row; nothing where rows have none.

    Parameters
    ----------
    chain : DiffusedSampler
        Its rows are changed in place.
    """
    if chain.family.has_weights:
        weights = chain.family.draw_weights(chain.forest.theta, chain.rows.component, chain.rng)
        chain.rows.weigh(weights)
        chain.forget_sums()


def redraw_weights(chain: Any) -> None:
    """The same; then w of rows alone in their atoms, theta integrated out, and their theta.

    Parameters
    ----------
    chain : DiffusedSampler
        Changed in place.
    """
    if not chain.family.has_weights:
        return
    draw_weights(chain)
    forest, component = chain.forest, chain.rows.component
    alone = np.flatnonzero(forest.count[component] == 1)
    if len(alone) == 0:
        return
    k, weights = component[alone], chain.family.weights.copy()
    places, v = forest.location[forest.leaf[k]], float(forest.variance[-1, 0])
    weights[alone], forest.theta[k] = chain.family.redraw_alone(
        alone, weights[alone], places, v, chain.rng
    )
    chain.rows.weigh(weights)
