"""A start that has settled: some sweeps, then the tree anew over the components they have found."""

from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bhmc._sampling.level_counts import counts_by_steps
from bhmc.model.protocol import Sampler
from bhmc.rows.local import LocalRows

# Rows that may be redrawn for it, the most sweeps and the least that are worth it.
_MOST_ROWS, _MOST_SWEEPS, _LEAST_SWEEPS = 40_000, 40, 10


def sweeps_to_settle(n_rows: int, n_warmup: int) -> int:
    """Sweeps of a chain before its tree is planted anew; 0: it is not.

    Parameters
    ----------
    n_rows : int
        Rows of the data.
    n_warmup : int
        Sweeps of the warm-up: with fewer a start is meant to be seen.
    """
    sweeps = min(_MOST_SWEEPS, _MOST_ROWS // n_rows, n_warmup)
    return sweeps if sweeps >= _LEAST_SWEEPS else 0


def settled(
    transition: Any,
    chain: Sampler,
    rows: LocalRows,
    sampler: str,
    rng: np.random.Generator,
    n_sweeps: int,
) -> Sampler:
    """The chain after some sweeps; its tree, or Ward's tree of its components if more probable.

    Parameters
    ----------
    transition : Transition
        The model; one that cannot compare trees leaves the chain as it is.
    chain : Sampler
        At its start; changed in place.
    rows : LocalRows
        The data.
    sampler : str
        Its name.
    rng : numpy.random.Generator
        The chain's.
    n_sweeps : int
        Sweeps; 0: the chain stays at its start.
    """
    if not (transition.located and n_sweeps and transition.may_replant(chain)):
        return chain
    for _ in range(n_sweeps):
        chain.sweep()
    return transition.sampler(transition.replanted(chain, wards_trees), rows, sampler, rng)


def wards_trees(
    places: NDArray[np.float64], counts: NDArray[np.integer], noise: float, *, n_levels: int
) -> list[NDArray[np.int64]]:
    """Several (K, L) groups of components: Ward's tree, cut where its steps become shorter.

    One with the cuts of as many levels as the tree has, and those with the cuts of a level more, of
    which each is left out in turn: where components could be taken for leaves or leaves for
    components, steps alone do not tell.

    Parameters
    ----------
    places : (K, D) array
        Where components are.
    counts : (K,) array
        Rows of each.
    noise : float
        Squared distance of a row from its component.
    n_levels : int
        L; components are one level more.
    """
    from scipy.cluster.hierarchy import fcluster, linkage
    from scipy.spatial.distance import pdist

    tree, size = linkage(pdist(places), "ward"), len(places)
    steps = tree, counts.astype(float), noise, places.shape[1], size
    found = (counts_by_steps(*steps, n_levels + 1) or [])[:-1]
    finer = (counts_by_steps(*steps, n_levels + 2) or [])[:-1]
    plans = {tuple(found), *combinations(finer, n_levels)} - {()}
    return [
        np.column_stack([fcluster(tree, k, "maxclust") for k in plan]).astype(np.int64)
        for plan in sorted(plans)
    ]
