"""Made-up hierarchies whose locations diffuse from parent to child."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bhmc._validation.parameters import check_positive, check_whole, seed_sequence
from bhmc.datasets._make import check_branching, hierarchy_bunch, leaf_of_each


def make_diffused_hierarchy(
    branching: Sequence[int] = (4, 3, 3),
    *,
    steps: Sequence[float] = (10.0, 4.5, 1.6),
    noise: float = 0.35,
    pair_distance: float | None = None,
    n_per_leaf: int = 25,
    n_features: int = 8,
    random_state: Any = None,
) -> Any:
    """m_z ~ N(m_parent, steps_l^2 / D I) down a tree, and x ~ N(m_leaf, noise^2 I).

    The root is at 0. Steps go in random directions and have random lengths, so siblings may lie
    close to each other, above all in few columns. `make_hierarchy` keeps them apart.

    Parameters
    ----------
    branching : sequence of int, default=(4, 3, 3)
        Children of every node, level by level: here 36 leaves.
    steps : sequence of float, default=(10.0, 4.5, 1.6)
        Root mean square distance of a node from its parent, level by level. Two siblings are
        sqrt(2) times as far apart. The distance does not depend on the number of columns.
    noise : float, default=0.35
        Standard deviation of a Gaussian, the same in every column.
    pair_distance : float, optional
        If given, a leaf is two Gaussians of equal weight, so many standard deviations of the noise
        apart in a random direction, and no level tells which of the two a datum is from. Otherwise
        a leaf is one Gaussian.
    n_per_leaf : int, default=25
        Data of every leaf.
    n_features : int, default=8
        D, the number of columns.
    random_state : int, SeedSequence, Generator or RandomState, optional
        Seed.

    Returns
    -------
    bunch : sklearn.utils.Bunch
        With `data` (n, n_features), `levels` (n, depth), `level_names`, `target` and `target_names`
        (the leaves), `components` (n,) and `centres` (n_components, n_features). Rows are in random
        order.

    Examples
    --------
    >>> from bhmc.datasets import make_diffused_hierarchy
    >>> made = make_diffused_hierarchy((3, 2), steps=(8, 2), pair_distance=5, random_state=0)
    >>> made.data.shape, [len(names) for names in made.level_names], made.centres.shape
    ((150, 8), [3, 6], (12, 8))
    """
    fans = check_branching(branching)
    lengths = [check_positive(step, "steps") for step in steps]
    if len(lengths) != len(fans):
        raise ValueError(f"steps must hold {len(fans)} numbers, one a level, got {len(lengths)}.")
    n_features = check_whole(n_features, "n_features", 1)
    noise = check_positive(noise, "noise")
    if pair_distance is not None:
        pair_distance = check_positive(pair_distance, "pair_distance")
    rng = np.random.default_rng(seed_sequence(random_state))

    leaves = leaf_of_each(math.prod(fans), n_per_leaf, None, rng)
    centres = _locations(fans, lengths, n_features, rng)
    components = leaves
    if pair_distance is not None:
        centres = _pairs(centres, pair_distance * noise, rng)
        components = 2 * leaves + rng.integers(2, size=len(leaves))
    data = centres[components] + noise * rng.normal(size=(len(leaves), n_features))
    return hierarchy_bunch(data, leaves, fans, components, centres)


def _locations(
    fans: list[int], steps: list[float], n_features: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """m_z ~ N(m_parent, steps_l^2 / D I): those of the last level, siblings next to each other."""
    locations = np.zeros((1, n_features))
    for fan, step in zip(fans, steps, strict=True):
        locations = np.repeat(locations, fan, axis=0)
        locations += rng.normal(0.0, step / math.sqrt(n_features), size=locations.shape)
    return locations


def _pairs(
    centres: NDArray[np.float64], apart: float, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Two centres for each, on either side of it, `apart` from each other."""
    directions = rng.normal(size=centres.shape)
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    sides = np.array([[-0.5], [0.5]]) * apart
    return (centres[:, None] + sides * directions[:, None]).reshape(-1, centres.shape[1])
