"""Checks of what a tree is asked. Each raises one clear sentence that names the parameter."""

from __future__ import annotations

import math
from collections.abc import Iterable
from numbers import Real
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bhmc._validation.parameters import check_whole

if TYPE_CHECKING:
    from bhmc.tree import Tree


def check_node(tree: Tree, node: int) -> int:
    """`node` as an int, if the tree has it."""
    node = check_whole(node, "node", 0)
    if node >= tree.n_nodes:
        raise ValueError(f"node must be at most {tree.n_nodes - 1}, got {node}.")
    return node


def check_share(value: float, name: str) -> float:
    """`value` as a float, if it is a number from 0 to 1."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a number from 0 to 1, got {value!r}.")
    number = float(value)
    if not (math.isfinite(number) and 0 <= number <= 1):
        raise ValueError(f"{name} must be from 0 to 1, got {value!r}.")
    return number


def known_support(tree: Tree, what: str) -> NDArray[np.float64]:
    """The support of every node, if the tree knows it."""
    if tree.support is None:
        raise ValueError(
            f"{what} needs the support of the nodes, which this tree does not carry: "
            "take the tree_ of a fitted BHMC."
        )
    return tree.support


def names_or_own(tree: Tree, names: Iterable | None) -> list | None:
    """`names` by position, whatever index a frame's column has; if None, the tree's own."""
    if names is None:
        return None if tree.names is None else tree.names.tolist()
    names = list(names)
    if len(names) != len(tree.paths):
        raise ValueError(f"names must hold {len(tree.paths)} names, got {len(names)}.")
    return names
