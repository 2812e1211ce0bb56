"""`Source`: what a page is made of, taken from a fitted model or from a tree alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bhmc.posterior.diagnostics import Diagnostics
from bhmc.posterior.draws import Draws
from bhmc.tree import Tree
from bhmc.tree.html import size_line
from bhmc.tree.node_features import NodeFeatures


@dataclass(frozen=True, eq=False)
class Source:
    """A tree, and what is known of it beside."""

    tree: Tree
    dendrogram: Tree | None = None
    features: NodeFeatures | None = None
    """What sets the nodes of `tree` apart."""
    draws: Draws | None = None
    diagnostics: Diagnostics | None = None
    outlier_scores: NDArray[np.float64] | None = None
    about: tuple[str, ...] = ()
    """Sentences on the fit."""
    opens_with: str = "tree"
    """"tree" or "dendrogram"."""
    label: str = "this tree"
    """What the tree is called beside another one."""


@dataclass(frozen=True, eq=False)
class Extras:
    """What a person gives with a tree."""

    compare: Any = None
    """Another fitted model, a tree or labels."""
    compare_label: str = "the other tree"
    compare_features: NodeFeatures | None = None
    """What sets the nodes of that tree apart."""
    images: Any = None
    """(n, height, width) or (n, height, width, channels), an image a row."""
    max_items: int = 20_000
    """Most rows in the page."""
    title: str | None = None


def source_of_tree(tree: Tree) -> Source:
    """What a page of a tree alone is made of.

    Parameters
    ----------
    tree : Tree
        The tree.
    """
    return Source(tree, about=(size_line(tree),))


def extras_of(compare: Any, images: Any, max_items: int, title: str | None) -> Extras:
    """What a person gives with a tree, with a word for what it is compared with.

    Parameters
    ----------
    compare, images, max_items, title
        As in `Tree.explore`.
    """
    return Extras(
        compare=compare,
        compare_label=label_of(compare, "the other tree"),
        compare_features=None if compare is None else getattr(compare, "node_features_", None),
        images=images,
        max_items=max_items,
        title=title,
    )


def label_of(value: Any, otherwise: str) -> str:
    """What a tree is called beside another one.

    Parameters
    ----------
    value : Tree, fitted model or labels
        Where the tree is from.
    otherwise : str
        What a tree without a seed or a method is called.
    """
    if value is None or isinstance(value, Tree):
        return otherwise
    if not hasattr(value, "get_params"):
        return "the labels given"
    seed = getattr(value, "random_state", None)
    name = type(value).__name__
    return f"{name}, seed {seed}" if isinstance(seed, int) else f"{name}, {otherwise}"
