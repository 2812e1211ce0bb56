"""How much of the tree changes from one draw to the next."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bhmc.posterior.draws import Draws

# Draws that are compared at a time, because a comparison takes memory.
_BLOCK = 500


class TreeChanges(NamedTuple):
    """Shares over all pairs of draws that follow each other, all chains together."""

    tree: float
    """Pairs whose trees differ: some two rows part or join at some level."""
    top: float
    """Pairs whose branches at level 1 differ as a partition."""
    components: float
    """Pairs whose components differ as a partition."""
    distinct: int
    """Different trees among all draws."""


def count_changes(draws: Draws) -> TreeChanges:
    """How often tree and components change from a draw to the next; needs all partitions."""
    paths, components = draws.paths, draws.components
    by_level = [_canonical(paths[..., level]) for level in range(1, paths.shape[-1])]
    trees = np.concatenate(by_level, axis=-1)
    flat = _canonical(components)
    seen = {row.tobytes() for chain in trees for row in chain}
    return TreeChanges(_share(trees), _share(by_level[0]), _share(flat), len(seen))


def _share(labels: NDArray) -> float:
    """Of draws that follow each other, the share that differ."""
    if labels.shape[1] < 2:
        return float("nan")
    return float((labels[:, 1:] != labels[:, :-1]).any(axis=-1).mean())


def _canonical(labels: NDArray) -> NDArray[np.int32]:
    """(chain, draw, n) for each row the first row of its group: equal where partitions are."""
    found = np.empty(labels.shape, dtype=np.int32)
    for chain, rows in enumerate(labels):
        for start in range(0, len(rows), _BLOCK):
            block = rows[start : start + _BLOCK]
            same = block[:, :, None] == block[:, None, :]
            found[chain, start : start + _BLOCK] = same.argmax(axis=-1)
    return found
