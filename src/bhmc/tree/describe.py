"""`NodeDescription`: what is in a node, as a small object that can be read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bhmc._extras import import_pandas
from bhmc.tree.node_features import AGAINST, KINDS, NodeFeatures
from bhmc.tree.node_names import chain_name
from bhmc.tree.table import feature_name, knows_features, named_features

if TYPE_CHECKING:
    from bhmc.tree import Tree

# A feature with a smaller statistic is not named: a node and its complement differ so much by
# chance.
_LEAST_STATISTIC = 2.0

# A smaller difference, in standard deviations, is not named in a picture.
_LEAST_EFFECT = 0.3

# A member is borderline if it belongs to the node less than this share of the firmest member.
_BORDERLINE = 0.8


class FeatureEffect(NamedTuple):
    """One feature of a node against other rows."""

    feature: str
    """Its name; x0, x1, ... where columns have none."""
    inside: float
    """Mean over the node's rows; the share of rows with a 1; a word's share of all words."""
    outside: float
    """The same over the other rows."""
    effect: float
    """Difference of means in standard deviations within groups; log odds ratio for shares and
    words."""
    statistic: float
    """Signed root of the log likelihood ratio, by which features are ranked."""
    kind: str
    """"number", "share" or "word"."""


class Member(NamedTuple):
    """A row of a node."""

    row: int
    name: str
    """Its name, or its number."""
    membership: float
    """How firmly it belongs: see `bhmc.posterior.node_membership`; NaN where not known."""


@dataclass(frozen=True, repr=False)
class NodeDescription:
    """What sets a node apart, and its members; `print` it, or take `to_frame()`."""

    node: int
    """Id of the node in the tree."""
    name: str
    """What a person calls it; empty where it has no name."""
    level: int
    size: int
    """Rows under the node."""
    n_rows: int
    """Rows of the whole tree."""
    n_siblings: int
    """Rows under its siblings."""
    support: float
    """NaN where it is not known."""
    siblings: tuple[FeatureEffect, ...]
    """What sets it apart from its siblings, most telling first."""
    rest: tuple[FeatureEffect, ...]
    """What sets it apart from all other rows, most telling first."""
    typical: tuple[Member, ...]
    """The members that belong most firmly."""
    borderline: tuple[Member, ...]
    """The members that belong least, if they belong clearly less than the others."""

    def to_frame(self) -> Any:
        """The features as a pandas frame: `against` ("siblings" or "rest"), then each field."""
        pandas = import_pandas("to_frame")
        rows = [(against, *effect) for against in AGAINST for effect in getattr(self, against)]
        return pandas.DataFrame(rows, columns=["against", *FeatureEffect._fields])

    def __repr__(self) -> str:
        return "\n".join([self._head(), *self._features(), *self._members()])

    def _repr_html_(self) -> str:
        tables = [
            f"<p>{escape(title)}</p>{_html_table(effects)}" for title, effects in self._parts()
        ]
        members = "".join(f"<p>{escape(line)}</p>" for line in self._members())
        return f"<div><b>{escape(self._head())}</b>{''.join(tables)}{members}</div>"

    def _head(self) -> str:
        title = "The root" if self.node == 0 else f"Node {self.node}"
        title = f"{self.name} ({title[0].lower()}{title[1:]})" if self.name else title
        known = self.node and not np.isnan(self.support)
        support = f", support {100 * self.support:.0f} %" if known else ""
        return f"{title}: {self.size:,} of {self.n_rows:,} rows, level {self.level}{support}"

    def _parts(self) -> list[tuple[str, tuple[FeatureEffect, ...]]]:
        """Titles and effects of the two comparisons; one where all other rows are siblings."""
        others = self.n_rows - self.size
        if not others:
            return []
        rest = (f"Against {_rows(others, 'other ')}:", self.rest)
        if self.n_siblings == others:
            return [rest]
        beside = f"Against {_rows(self.n_siblings)} of its siblings:"
        return [rest, (beside, self.siblings)]

    @property
    def top(self) -> FeatureEffect | None:
        """The feature that most sets it apart from all other rows; None where nothing does."""
        return self.rest[0] if self.rest else None

    def _features(self) -> list[str]:
        lines = []
        for title, effects in self._parts():
            lines += [title, *(_lines(effects) or ["  nothing sets it apart"])]
        return lines

    def _members(self) -> list[str]:
        lines = []
        for title, members in (("Typical", self.typical), ("Borderline", self.borderline)):
            said = ", ".join(_member(one) for one in members)
            lines += [f"{title}: {said}"] if said else []
        return lines


def describe_node(
    tree: Tree,
    node: int,
    features: NodeFeatures,
    membership: NDArray[np.float64],
    n_features: int,
    n_members: int,
) -> NodeDescription:
    """The description of a node.

    Parameters
    ----------
    tree : Tree
        The tree.
    node : int
        Id of the node.
    features : NodeFeatures
        What sets the nodes of this tree apart.
    membership : (n,) array
        How firmly every row belongs to the node.
    n_features, n_members : int
        The most features of a comparison, and the most typical and borderline members.
    """
    group = int(features.group_of[node])
    same = np.flatnonzero(features.group_of == group)
    above = int(tree.parents[same[0]])
    typical, borderline = _chosen(tree, node, membership, n_members)
    return NodeDescription(
        node=node,
        name=chain_name(tree, [node]),
        level=int(tree.levels[node]),
        size=int(tree.sizes[node]),
        n_rows=len(tree.paths),
        n_siblings=int(tree.sizes[above] - tree.sizes[node]) if above >= 0 else 0,
        support=np.nan if tree.support is None else float(tree.support[node]),
        siblings=_effects(tree, features, 0, group, n_features),
        rest=_effects(tree, features, 1, group, n_features),
        typical=typical,
        borderline=borderline,
    )


def node_phrase(tree: Tree, node: int, n: int, features: NodeFeatures | None = None) -> str:
    """What sets a node apart from all other rows, in a few words; "" where nothing is known.

    A share or a word that the rows have is its name, one that they lack "no milk"; a number is
    "legs +2.1", in standard deviations.

    Parameters
    ----------
    tree : Tree
        The tree.
    node : int
        Id of the node.
    n : int
        Most features.
    features : NodeFeatures, optional
        What sets the nodes of this tree apart. Without it features are those of
        `Tree.top_features`, where columns have names.
    """
    if not node or not n:
        return ""
    if features is not None and len(features.group_of) == tree.n_nodes:
        return ", ".join(map(_phrase, _effects(tree, features, 1, int(features.group_of[node]), n)))
    if tree.feature_names is None or not knows_features(tree):
        return ""
    found = named_features(tree, node, n)
    return ", ".join(f"{name} {value:+.1f}" for name, value in found if abs(value) >= _LEAST_EFFECT)


def _phrase(one: FeatureEffect) -> str:
    if one.kind == "number":
        return f"{one.feature} {one.effect:+.1f}"
    return one.feature if one.effect > 0 else f"no {one.feature}"


def _effects(
    tree: Tree, features: NodeFeatures, against: int, group: int, most: int
) -> tuple[FeatureEffect, ...]:
    place = (against, group)
    columns, statistic = features.columns[place], features.statistic[place]
    told = np.flatnonzero((columns >= 0) & (np.abs(statistic) >= _LEAST_STATISTIC))[:most]
    return tuple(
        FeatureEffect(
            feature=feature_name(tree, int(columns[i])),
            inside=float(features.inside[place][i]),
            outside=float(features.outside[place][i]),
            effect=float(features.effect[place][i]),
            statistic=float(statistic[i]),
            kind=KINDS[features.kinds[columns[i]]],
        )
        for i in told
    )


def _chosen(
    tree: Tree, node: int, membership: NDArray[np.float64], most: int
) -> tuple[tuple[Member, ...], tuple[Member, ...]]:
    """The firmest members, and the least firm ones that belong clearly less."""
    rows = tree.members(node)
    order = rows[np.argsort(-membership[rows], kind="stable")]
    weak = order[membership[order] < _BORDERLINE * membership[order[0]]]
    typical = [row for row in order[:most].tolist() if row not in weak]
    return _members(tree, membership, typical), _members(tree, membership, weak[::-1][:most])


def _members(
    tree: Tree, membership: NDArray[np.float64], rows: Sequence[int] | NDArray[Any]
) -> tuple[Member, ...]:
    return tuple(
        Member(int(i), str(i if tree.names is None else tree.names[i]), float(membership[i]))
        for i in rows
    )


def _rows(n: int, kind: str = "") -> str:
    return f"the {kind}row" if n == 1 else f"the {n:,} {kind}rows"


def _member(one: Member) -> str:
    return one.name if np.isnan(one.membership) else f"{one.name} ({100 * one.membership:.0f} %)"


def _lines(effects: Sequence[FeatureEffect]) -> list[str]:
    """Features in columns: name, inside, outside, size of the difference."""
    cells = [_cells(one) for one in effects]
    wide = [max(len(row[i]) for row in cells) for i in range(4)] if cells else []
    return [
        f"  {row[0]:{wide[0]}}  {row[1]:>{wide[1]}} against {row[2]:>{wide[2]}}"
        f"  {row[3]:>{wide[3]}}"
        for row in cells
    ]


def _cells(one: FeatureEffect) -> tuple[str, str, str, str]:
    unit = "sd" if one.kind == "number" else "log odds"
    inside, outside = (_amount(value, one.kind) for value in (one.inside, one.outside))
    return one.feature, inside, outside, f"{one.effect:+.1f} {unit}"


def _amount(value: float, kind: str) -> str:
    if kind == "number":
        return f"{value:.3g}"
    return f"{100 * value:.2g} %" if kind == "word" and value < 0.1 else f"{100 * value:.0f} %"


def _html_table(effects: Sequence[FeatureEffect]) -> str:
    head = "".join(f"<th>{word}</th>" for word in ("feature", "inside", "outside", "effect"))
    rows = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in _cells(one)) + "</tr>"
        for one in effects
    )
    return f"<table><tr>{head}</tr>{rows}</table>"
