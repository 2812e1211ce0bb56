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


def steps_of(forest: Forest, engine: Any = kernels) -> tuple[Floats, Floats]:
    """(all steps of the tree, their variances), (J, D) each: the root's, nodes', atoms'.

    Parameters
    ----------
    forest : Forest
        With its locations and theta.
    engine : module, default=kernels
        The compiled conditionals, or others in tests.
    """
    shape = int(forest.used[0] + forest.used[1]), len(forest.column)
    steps, variances = np.empty(shape), np.empty(shape)
    n = engine.list_steps(forest, forest.origin[None], steps, variances)
    return steps[:n], variances[:n]
