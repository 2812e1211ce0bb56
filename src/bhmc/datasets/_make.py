"""Made-up hierarchies, whose truth is known."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from bhmc._validation.parameters import check_positive, check_whole, seed_sequence

# How much nearer than their parents siblings are: coarse levels are easier to see than fine ones.
_SHRINK = 0.5


def make_hierarchy(
    branching: Sequence[int] = (4, 3, 3),
    *,
    n_per_leaf: int = 20,
    n_samples: int | None = None,
    n_features: int = 8,
    components_per_leaf: int = 1,
    overlap: float = 0.25,
    random_state: Any = None,
) -> Any:
    """Draw data from a tree of Gaussian clusters, or of mixtures of Gaussians.

    The children of a node lie around it at equal distances from it, at right angles where there are
    dimensions enough; siblings of one level are twice as far apart as those of the next.

    Parameters
    ----------
    branching : sequence of int, default=(4, 3, 3)
        Children of every node, level by level: here 36 leaves.
    n_per_leaf : int, default=20
        Data of every leaf.
    n_samples : int, optional
        Data in all, in place of `n_per_leaf`; leaves then differ by one at most.
    n_features : int, default=8
        Columns.
    components_per_leaf : int, default=1
        Gaussians of every leaf. With more than one a leaf is a mixture, of parts half as far apart
        as leaves are, and no level tells which part a datum is from.
    overlap : float, default=0.25
        How far Gaussian leaves reach into each other: noise over half the distance of two sibling
        leaves. Who knew both would mistake a share Phi(-1 / overlap) of their data for the other's:
        0.003 % at 0.25, 2.3 % at 0.5, 16 % at 1.
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
    >>> from bhmc.datasets import make_hierarchy
    >>> made = make_hierarchy((3, 2), n_per_leaf=50, random_state=0)
    >>> made.data.shape, [len(names) for names in made.level_names]
    ((300, 8), [3, 6])
    """
    fans = check_branching(branching)
    n_features = check_whole(n_features, "n_features", 1)
    parts = check_whole(components_per_leaf, "components_per_leaf", 1)
    noise = check_positive(overlap, "overlap") * _SHRINK ** (len(fans) - 1) / math.sqrt(2)
    rng = np.random.default_rng(seed_sequence(random_state))

    leaves = leaf_of_each(math.prod(fans), n_per_leaf, n_samples, rng)
    centres = _centres([*fans, parts] if parts > 1 else fans, n_features, rng)
    components = leaves * parts + rng.integers(parts, size=len(leaves))
    data = centres[components] + noise * rng.normal(size=(len(leaves), n_features))
    return hierarchy_bunch(data, leaves, fans, components, centres)


def check_branching(branching: Sequence[int]) -> list[int]:
    """The children of every node, level by level, or one clear sentence."""
    fans = [check_whole(fan, "branching", 1) for fan in branching]
    if not fans:
        raise ValueError("branching must hold the children of at least one level, and is empty.")
    return fans


def hierarchy_bunch(
    data: NDArray[np.float64],
    leaves: NDArray[np.int64],
    fans: list[int],
    components: NDArray[np.int64],
    centres: NDArray[np.float64],
) -> Any:
    """The Bunch of a made-up hierarchy: data, and the classes that its leaves stand for."""
    below = [math.prod(fans[level + 1 :]) for level in range(len(fans))]
    levels = np.column_stack([leaves // leaf_count for leaf_count in below])
    names = [_names(fans[: level + 1]) for level in range(len(fans))]
    return Bunch(
        data=data,
        target=levels[:, -1],
        target_names=names[-1],
        levels=levels,
        level_names=names,
        components=components,
        centres=centres,
        DESCR=f"A made-up hierarchy of {math.prod(fans)} leaves, branching {tuple(fans)}.",
    )


def leaf_of_each(
    n_leaves: int, n_per_leaf: int, n_samples: int | None, rng: np.random.Generator
) -> NDArray[np.int64]:
    """(n,) leaf numbers in random order."""
    if n_samples is None:
        n = n_leaves * check_whole(n_per_leaf, "n_per_leaf", 1)
    else:
        n = check_whole(n_samples, "n_samples", n_leaves)
    return rng.permutation(np.arange(n) % n_leaves)


def _centres(fans: list[int], n_features: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Centres of the last level, siblings next to each other."""
    centres = np.zeros((1, n_features))
    for level, fan in enumerate(fans):
        steps = [_directions(fan, n_features, rng) * _SHRINK**level for _ in centres]
        centres = np.concatenate([one + step for one, step in zip(centres, steps, strict=True)])
    return centres


def _directions(n: int, n_features: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """n random unit vectors, every `n_features` of them at right angles."""
    rounds = [
        np.linalg.qr(rng.normal(size=(n_features, n_features)))[0].T
        for _ in range(math.ceil(n / n_features))
    ]
    signs = rng.choice([-1.0, 1.0], size=(n, 1))  # LAPACK's own are not random
    return np.concatenate(rounds)[:n] * signs


def _names(fans: list[int]) -> NDArray[np.str_]:
    """Such as "1.0.2": the second child's first child's third child."""
    places = np.indices(fans).reshape(len(fans), -1).T
    return np.array([".".join(map(str, place)) for place in places.tolist()])
