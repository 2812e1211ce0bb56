"""What sets a node apart, in sentences, and its typical and borderline members."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bhmc._explorer.shown import Shown
from bhmc.tree.describe import FeatureEffect, NodeDescription, describe_node
from bhmc.tree.node_features import NodeFeatures
from bhmc.tree.table import feature_name, knows_features, top_features

# Effects of a comparison, and members of each kind.
_MOST_EFFECTS, _MOST_MEMBERS = 5, 8
# A difference from all rows that is smaller, in standard deviations, is not told.
_LEAST_SHOWN = 0.3


class Effect(NamedTuple):
    """One feature in which a node differs."""

    sentence: str
    size: float
    """In standard deviations, or the difference of two shares."""
    is_share: bool = False
    """Whether it is the difference of two shares."""


class Members(NamedTuple):
    """Row numbers of some members of a node."""

    typical: tuple[int, ...]
    borderline: tuple[int, ...]


def described(
    shown: Shown,
    places: NDArray[np.int64],
    features: NodeFeatures,
    membership: NDArray[np.float64],
) -> tuple[dict[int, list[Effect]], dict[int, Members]]:
    """Effects and members of some nodes, as `BHMC.describe` has them.

    Parameters
    ----------
    shown : Shown
        The nodes.
    places : array of int
        Those to describe.
    features : NodeFeatures
        What sets the nodes of this tree apart.
    membership : (n, n_levels + 1) array
        How firmly every row belongs to its node of each level.
    """
    tree = shown.tree
    effects, members = {}, {}
    for place in places.tolist():
        node = int(shown.ids[place])
        firm = membership[:, tree.levels[node]]
        found = describe_node(tree, node, features, firm, _MOST_EFFECTS, _MOST_MEMBERS)
        effects[place] = _effects(found)
        members[place] = Members(
            tuple(one.row for one in found.typical), tuple(one.row for one in found.borderline)
        )
    return effects, members


def described_by_means(shown: Shown, places: NDArray[np.int64]) -> dict[int, list[Effect]]:
    """Effects of some nodes of a tree that carries means of its components, against all rows.

    Parameters
    ----------
    shown : Shown
        The nodes.
    places : array of int
        Those to describe.
    """
    tree = shown.tree
    if not knows_features(tree):
        return {}
    columns, values = top_features(tree, shown.ids[places], _MOST_EFFECTS)
    return {
        place: [
            _against_all(feature_name(tree, j), value, _is_word(tree.is_word, j))
            for j, value in zip(own, sizes, strict=True)
            if abs(value) >= _LEAST_SHOWN
        ]
        for place, own, sizes in zip(
            places.tolist(), columns.tolist(), values.tolist(), strict=True
        )
        if place
    }


def _effects(found: NodeDescription) -> list[Effect]:
    """Against its siblings; then against all other rows, where these are more."""
    others = found.n_rows - found.size
    if not others:
        return []
    if found.n_siblings in (0, others):
        return [_effect(one, "in all other rows") for one in found.rest]
    told = [_effect(one, "in its siblings") for one in found.siblings]
    named = {one.feature for one in found.siblings}
    rest = [one for one in found.rest if one.feature not in named]
    return told + [_effect(one, "in all other rows") for one in rest]


def _effect(one: FeatureEffect, where: str) -> Effect:
    if one.kind == "number":
        words = f"{one.feature}: {_number(one.inside)} here, {_number(one.outside)} {where}"
        return Effect(words, one.effect)
    words = f"{one.feature}: {_share(one.inside)} here, {_share(one.outside)} {where}"
    return Effect(words, one.inside - one.outside, is_share=True)


def _share(value: float) -> str:
    percent = 100 * value
    if percent == 0 or percent >= 9.95:
        return f"{percent:.0f} %"
    return f"{percent:.1f} %" if percent >= 0.05 else "less than 0.1 %"


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def _against_all(name: str, value: float, word: bool) -> Effect:
    amount = abs(value)
    if word:
        return Effect(f"{name}: {'more' if value > 0 else 'less'} often here", value)
    side = "above" if value > 0 else "below"
    return Effect(f"{name}: {amount:.1f} standard deviations {side} the mean of all rows", value)


def _is_word(is_word: NDArray[np.bool_] | None, column: int) -> bool:
    return is_word is not None and bool(is_word[column])
