"""Locations and theta given the tree: draws from the root down, and the steps between them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bhmc.model.diffused import kernels
from bhmc.model.diffused.forest import Forest

Floats = NDArray[np.float64]


def draw_locations(forest: Forest, rng: np.random.Generator, engine: Any = kernels) -> None:
    """(m, theta) | tree, evidence: the root first, then level after level, then theta.

    m_z ~ N((H + m_pa / v) / (P + 1 / v), 1 / (P + 1 / v)) with the evidence (P, H) from below;
    theta_k the same with the evidence of its rows. Messages must be up to date (`collect`).

    Parameters
    ----------
    forest : Forest
        Its locations and theta are drawn in place.
    rng : numpy.random.Generator
        Where all randomness comes from.
    engine : module, default=kernels
        The compiled conditionals, or others in tests.
    """
    n_places = np.count_nonzero(forest.level >= 0) + np.count_nonzero(forest.leaf >= 0)
    normal = rng.standard_normal((n_places, len(forest.column)))
    engine.set_locations(forest, forest.origin[None], normal)


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
