"""`start_state`: where a chain begins."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bhmc._sampling.initial_clusters import nested_groups
from bhmc.likelihoods import ConjugateFamily
from bhmc.model.protocol import Transition
from bhmc.model.state import State
from bhmc.rows.local import LocalRows


def start_state(
    transition: Transition,
    rows: LocalRows,
    *,
    n_levels: int,
    rng: np.random.Generator,
    init: Any = "prior",
) -> State:
    """Where a chain starts: a draw of everything unknown, whatever `init` asks for.

    "prior": tree, components and weights from the prior; theta from its posterior given those.
    Otherwise `init` says where the rows are (tree and components), concentrations are drawn from
    their prior, and weights, theta and shared numbers by the sampler's own conditionals.

    Parameters
    ----------
    transition : Transition
        Bound to its concentrations or their priors.
    rows : LocalRows
        The data.
    n_levels : int
        Steps from the root to a leaf.
    rng : numpy.random.Generator
        Where all randomness comes from.
    init : str or (n, m) array
        As in `BHMC`, after `check_init`.
    """
    settled = transition.drawn(rng)
    rows.turn_to(rows.family.start_shared())
    from_prior = isinstance(init, str) and init == "prior"
    labels = None if from_prior else _labels(init, rows.family, transition, n_levels, rng)
    return settled.start(rows, labels, n_levels=n_levels, rng=rng)


def _labels(
    init, family: ConjugateFamily, transition: Any, n_levels: int, rng
) -> NDArray[np.integer]:
    """(n, m) labels of the rows, coarse to fine, as `init` asks for."""
    if not isinstance(init, str):
        return init
    if init in ("kmeans", "ward"):
        most = transition.hyper.n_components
        n_steps = transition.depth(n_levels) + 1 if transition.located else None
        return nested_groups(family, init, n_levels=n_levels, most=most, rng=rng, n_steps=n_steps)
    rows = np.arange(family.n_rows)[:, None]
    return rows if init == "singletons" else np.zeros_like(rows)
