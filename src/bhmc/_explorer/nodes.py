"""What a page says of the nodes of a tree."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bhmc._explorer.container import Arrays, floats, texts
from bhmc._explorer.effects import Effect, Members
from bhmc._explorer.shown import Shown
from bhmc.tree.describe import node_phrase
from bhmc.tree.node_features import NodeFeatures
from bhmc.tree.node_names import name_of
from bhmc.tree.table import feature_texts, knows_features

# Components of a node that have a bar; features in the phrase of a node; nodes with a phrase.
MOST_WEIGHTS, _MOST_FEATURES, _MOST_PHRASES = 8, 3, 2_000
# Numbers of (nodes, components) that are sorted at a time.
_BLOCK = 2**22


def node_arrays(key: str, shown: Shown, phrases: Sequence[str]) -> Arrays:
    """The arrays of a tree that have an entry for every node.

    Parameters
    ----------
    key : str
        What the tree is called in the page.
    shown : Shown
        Its nodes.
    phrases : sequence of str
        What sets each of them apart.
    """
    tree, ids = shown.tree, shown.ids
    unknown = np.full(tree.n_nodes, np.nan)
    which, weights = _weights(shown)
    found = {
        "parents": shown.parents.astype("<i4"),
        "levels": shown.levels.astype("<u2"),
        "sizes": tree.sizes[ids].astype("<u4"),
        "support": floats((unknown if tree.support is None else tree.support)[ids]),
        "ids": ids.astype("<u4"),
        "weight_of": which.astype("<i4"),
        "weights": floats(weights),
    }
    if tree.heights is not None:
        found["heights"] = floats(tree.heights[ids])
    found |= texts("names", (name_of(tree, node) for node in ids.tolist()))
    found |= texts("phrases", phrases)
    return {f"{key}.{name}": array for name, array in found.items()}


def node_phrases(shown: Shown, features: NodeFeatures | None) -> list[str]:
    """What sets the largest nodes apart, in a few words; "" for the others.

    Parameters
    ----------
    shown : Shown
        The nodes.
    features : NodeFeatures, optional
        What sets the nodes of this tree apart; else what `Tree.top_features` says.
    """
    tree, found = shown.tree, [""] * len(shown.ids)
    if tree.feature_names is None:  # "x17 +2.1" says nothing to a person
        return found
    places = largest(shown, _MOST_PHRASES)
    if features is not None and len(features.group_of) == tree.n_nodes:
        said = [
            node_phrase(tree, int(node), _MOST_FEATURES, features) for node in shown.ids[places]
        ]
    elif knows_features(tree):
        said = feature_texts(tree, _MOST_FEATURES, shown.ids[places])
    else:
        return found
    for place, text in zip(places.tolist(), said, strict=True):
        found[place] = text if place else ""
    return found


def largest(shown: Shown, most: int) -> NDArray[np.int64]:
    """Places of the largest nodes, in order of place.

    Parameters
    ----------
    shown : Shown
        The nodes.
    most : int
        How many.
    """
    return np.sort(np.argsort(-shown.tree.sizes[shown.ids], kind="stable")[:most])


def effect_arrays(key: str, n_nodes: int, effects: Mapping[int, Sequence[Effect]]) -> Arrays:
    """The effects of nodes, one after another.

    Parameters
    ----------
    key : str
        What the tree is called in the page.
    n_nodes : int
        Nodes of the page.
    effects : mapping from places to effects
        Those of nodes that have any.
    """
    every = [one for place in range(n_nodes) for one in effects.get(place, ())]
    return {
        f"{key}.effects.ends": _ends(len(effects.get(place, ())) for place in range(n_nodes)),
        f"{key}.effects.size": floats([one.size for one in every]),
        f"{key}.effects.is_share": np.array([one.is_share for one in every], dtype="<u1"),
        **texts(f"{key}.effects.text", (one.sentence for one in every)),
    }


def member_arrays(
    key: str, n_nodes: int, members: Mapping[int, Members], item_of: NDArray[np.int64]
) -> Arrays:
    """Typical and borderline members of nodes, one after another, as items of the page.

    Parameters
    ----------
    key : str
        What the tree is called in the page.
    n_nodes : int
        Nodes of the page.
    members : mapping from places to Members
        Those of nodes that have any.
    item_of : (n,) array
        The item of each row; -1 where it is not in the page.
    """
    found: dict[str, Any] = {}
    nobody = Members((), ())
    for kind in Members._fields:
        lists = [
            [int(item_of[row]) for row in getattr(members.get(place, nobody), kind)]
            for place in range(n_nodes)
        ]
        lists = [[item for item in one if item >= 0] for one in lists]
        found[f"{key}.{kind}.ends"] = _ends(map(len, lists))
        found[f"{key}.{kind}"] = np.array([item for one in lists for item in one], dtype="<i4")
    return found


def _weights(shown: Shown) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The largest components of each node and their weights; -1 and NaN where there are fewer."""
    tree, n = shown.tree, len(shown.ids)
    which, weights = np.full((n, MOST_WEIGHTS), -1), np.full((n, MOST_WEIGHTS), np.nan)
    if not tree.has_mixtures:
        return which, weights
    most = min(MOST_WEIGHTS, tree.n_components)
    step = max(1, _BLOCK // max(1, tree.n_components))
    for start in range(0, n, step):
        part = slice(start, min(start + step, n))
        rows = tree.weights[shown.ids[part], : tree.n_components]
        size = np.where(np.isfinite(rows), rows, -1.0)  # what is no number comes last
        order = np.argsort(-size, axis=1, kind="stable")[:, :most]
        top = np.take_along_axis(size, order, axis=1)
        used = top > 0
        which[part, :most] = np.where(used, order, -1)
        weights[part, :most] = np.where(used, top, np.nan)
    return which, weights


def _ends(lengths: Iterable[int]) -> NDArray[np.uint32]:
    return np.cumsum(list(lengths), dtype=np.int64).astype("<u4")
