"""Numbers of rows that a chain draws: weights where the noise has heavy tails, and missing entries
where columns are correlated. Given them, all else is as with whole rows and Gaussian noise.

A row of weight w is evidence of precision w: it counts w times in every sum, and once where rows
are counted.
"""

from typing import Any

import numpy as np


def draw_latent(chain: Any) -> None:
    """The numbers of every row, given theta of its atom; nothing where rows have none.

    Parameters
    ----------
    chain : DiffusedSampler
        Its rows are changed in place.
    """
    if chain.family.has_latent:
        latent = chain.family.draw_latent(chain.forest.theta, chain.rows.component, chain.rng)
        chain.rows.hold(latent)
        chain.forget_sums()


def redraw_latent(chain: Any) -> None:
    """The same; then w of rows alone in their atoms, theta integrated out, and their theta.

    Parameters
    ----------
    chain : DiffusedSampler
        Changed in place.
    """
    draw_latent(chain)
    if not chain.family.has_weights:
        return
    forest, component = chain.forest, chain.rows.component
    alone = np.flatnonzero(forest.count[component] == 1)
    if len(alone) == 0:
        return
    k, weights = component[alone], chain.family.latent.copy()
    places, v = forest.location[forest.leaf[k]], float(forest.variance[-1, 0])
    weights[alone], forest.theta[k] = chain.family.redraw_alone(
        alone, weights[alone], places, v, chain.rng
    )
    chain.rows.hold(weights)
