"""Both diffusing transitions with every family, at settings aimed at one move each.

Concentrations and variances have priors. A move that a setting gives little to do would hide its
errors there: each has the tree on which it has most to do.
"""

from typing import NamedTuple

import bhmc
from bhmc.model.diffused.setting import MOVES, Diffused, GaussianNodes
from bhmc.priors import Gamma
from tests.exact import diffused, discrete_trees
from tests.exact.diffused import DiffusedSetting
from tests.exact.discrete_trees import TreeSetting

TRANSITIONS = {"diffused": Diffused, "gaussian": GaussianNodes}
FAMILIES = {
    "known": (DiffusedSetting, diffused.KNOWN, 1),
    "spherical": (DiffusedSetting, diffused.SPHERICAL, 2),
    "shared": (DiffusedSetting, diffused.DIAGONAL, 2),
    "tied": (DiffusedSetting, diffused.TIED, 2),
    "shaped": (DiffusedSetting, diffused.SHAPED, 2),
    "tails": (DiffusedSetting, diffused.TAILED, 2),
    "bernoulli": (TreeSetting, discrete_trees.BITS, 2),
    "categorical": (TreeSetting, discrete_trees.CODES, 2),
    "mixed": (TreeSetting, discrete_trees.MIXED, 3),
}
ALL = "all"
STAGES = {
    "split": "redraw_atoms",
    "branch": "redraw_atoms",
    "atom": "redraw_tree",
    "subtree": "redraw_tree",
    "regroup": "redraw_tree",
    "steps": "redraw_tree",
    "shift": "redraw_tree",
    ALL: "sweep",
}


class Aim(NamedTuple):
    """Rows, levels above the atoms, and the means of the concentrations."""

    n: int
    depth: int
    alpha: float
    g: float


# Leaves of many rows in several atoms; many nodes at several levels with few atoms each.
_FULL_LEAVES, _DEEP = Aim(8, 1, 0.3, 2.5), Aim(7, 3, 1.2, 0.6)
AIMS = {
    "split": _FULL_LEAVES,
    "branch": _DEEP,
    "atom": _DEEP,
    "subtree": _DEEP,
    "regroup": _DEEP,
    "steps": _DEEP,
    "shift": _DEEP,
    ALL: Aim(6, 2, 0.8, 1.3),
}


def cell(family: str, transition: str, move: str) -> DiffusedSetting:
    """A setting of the matrix; it makes this move only, or all of them."""
    aim, kind = AIMS[move], TRANSITIONS[transition]
    setting, likelihood, n_features = FAMILIES[family]
    # The nodes of a Gaussian tree all have alpha, and its leaves are the atoms.
    is_gaussian = kind is GaussianNodes
    alpha = aim.g if is_gaussian and move == "split" else aim.alpha
    hyper = bhmc.Hyper(_about(alpha), 1.0, _about(aim.g))
    moves = MOVES if move == ALL else (move,)
    return setting(kind(hyper, 0.3, moves), likelihood, aim.n, aim.depth + is_gaussian, n_features)


def _about(mean: float) -> Gamma:
    return Gamma(4, 4 / mean)
