"""Locations and theta given the tree: draws from the root down, and the steps between them."""

import numpy as np
from numpy.typing import NDArray

from bhmc.model.diffused.forest import Forest

Floats = NDArray[np.float64]


def draw_locations(forest: Forest, rng: np.random.Generator) -> None:
    """(m, theta) | tree, evidence: the root first, then level after level, then theta.

    m_z ~ N((H + m_pa / v) / (P + 1 / v), 1 / (P + 1 / v)) with the evidence (P, H) from below;
    theta_k the same with the evidence of its rows. Messages must be up to date (`collect`).

    Parameters
    ----------
    forest : Forest
        Its locations and theta are drawn in place.
    rng : numpy.random.Generator
        Where all randomness comes from.
    """
    for level in range(forest.depth + 1):
        z = np.flatnonzero(forest.level == level)
        above = forest.location[forest.parent[z]] if level else forest.origin[None]
        given = forest.up_precision[z], forest.up_linear[z]
        forest.location[z] = _posterior(forest, *given, above, level, rng)
    k = np.flatnonzero(forest.leaf >= 0)
    given = forest.precision[k], forest.linear[k]
    above = forest.location[forest.leaf[k]]
    forest.theta[k] = _posterior(forest, *given, above, forest.depth + 1, rng)


def _posterior(forest: Forest, precision, linear, above: Floats, step: int, rng) -> Floats:
    v = forest.variance[step]
    total = (precision + 1 / v)[:, forest.column]
    mean = (linear + above / v[forest.column]) / total
    return mean + rng.standard_normal(mean.shape) / np.sqrt(total)


def steps_of(forest: Forest) -> tuple[Floats, NDArray[np.int64]]:
    """((J, D) all steps of the tree, (J,) their levels): the root's, nodes', atoms' (depth + 1).

    Parameters
    ----------
    forest : Forest
        With its locations and theta.
    """
    nodes, atoms = np.flatnonzero(forest.level >= 0), np.flatnonzero(forest.leaf >= 0)
    above = np.where(
        forest.level[nodes, None] > 0, forest.location[forest.parent[nodes]], forest.origin
    )
    steps = forest.location[nodes] - above
    to_atoms = forest.theta[atoms] - forest.location[forest.leaf[atoms]]
    levels = np.concatenate([forest.level[nodes], np.full(len(atoms), forest.depth + 1)])
    return np.vstack([steps, to_atoms]), levels
