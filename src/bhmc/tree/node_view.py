"""`Node`: one node of a tree, with all that the tree knows of it under plain names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bhmc.tree.node_names import name_of
from bhmc.tree.table import feature_texts, height_text, knows_features

if TYPE_CHECKING:
    from bhmc.tree import Tree

# Features that a view has, and ids that its text lists before it counts the others.
_FEATURES, _MOST_IDS = 3, 8


class Node:
    """A view of one node, as `tree[3]` gives it. Nodes are named by their ids everywhere.

    Parameters
    ----------
    tree : Tree
        The tree.
    id : int
        Id of a node that the tree has.
    """

    __slots__ = ("id", "tree")
    id: int
    tree: Tree

    def __init__(self, tree: Tree, id: int):
        self.tree, self.id = tree, id

    @property
    def name(self) -> str:
        """What a person calls the node; "" where the node has no name."""
        return name_of(self.tree, self.id)

    @property
    def level(self) -> int:
        """Level of the node, 0 for the root."""
        return int(self.tree.levels[self.id])

    @property
    def label(self) -> int:
        """Number of the node within its level, as in `Tree.labels_at`."""
        return self.id - int(np.searchsorted(self.tree.levels, self.level))

    @property
    def parent(self) -> int:
        """Id of the parent, -1 for the root."""
        return int(self.tree.parents[self.id])

    @property
    def children(self) -> list[int]:
        """Ids of the children, largest first; none for a leaf."""
        return self.tree.children(self.id).tolist()

    @property
    def ancestors(self) -> list[int]:
        """Ids of the nodes above, from the root down to the parent."""
        return self.tree.ancestors(self.id).tolist()

    @property
    def leaves(self) -> list[int]:
        """Ids of the leaves below the node; a leaf has itself."""
        return np.unique(self.tree.paths[self.rows, -1]).tolist()

    @property
    def size(self) -> int:
        """Number of data under the node."""
        return int(self.tree.sizes[self.id])

    @property
    def support(self) -> float:
        """As `Tree.support`; NaN where it is not known."""
        return self._number("support")

    @property
    def exact_support(self) -> float:
        """As `Tree.exact_support`; NaN where it is not known."""
        return self._number("exact_support")

    @property
    def height(self) -> float:
        """As `Tree.heights`; NaN where only levels are known."""
        return self._number("heights")

    @property
    def location(self) -> NDArray[np.float64] | None:
        """(p,) where the node is, in the units of theta; None: nodes of this tree have no place."""
        return None if self.tree.locations is None else self.tree.locations[self.id]

    @property
    def rows(self) -> NDArray[np.int64]:
        """Numbers of the rows under the node, in order."""
        return self.tree.members(self.id)

    @property
    def row_names(self) -> list[Any]:
        """Names of these rows; their numbers where rows have no names."""
        rows, names = self.rows, self.tree.names
        return (rows if names is None else names[rows]).tolist()

    @property
    def components(self) -> dict[int, int]:
        """How many of the rows each component holds, the fullest first."""
        counts = self.tree._counts
        own = slice(counts.first[self.id], counts.first[self.id + 1])
        pairs = zip(counts.component[own].tolist(), counts.size[own].tolist(), strict=True)
        return dict(pairs)

    @property
    def features(self) -> list[tuple[str, float]]:
        """The three features of `Tree.top_features`; none where the tree carries no means."""
        known = knows_features(self.tree)
        return self.tree.top_features(self.id, _FEATURES) if known else []

    def _number(self, field: str) -> float:
        values = getattr(self.tree, field)
        return float("nan") if values is None else float(values[self.id])

    def __repr__(self) -> str:
        return "\n  ".join([self._title(), *self._lines()])

    def _title(self) -> str:
        rows = "1 row" if self.size == 1 else f"{self.size:,} rows"
        parts = [f"level {self.level}", rows]
        if not np.isnan(self.support):
            parts.append(f"support {100 * self.support:.0f} %")
        if height := height_text(self.tree, self.id):
            parts.append(f"height {height}")
        return f"Node {self.id}{f' ({self.name})' if self.name else ''}: {', '.join(parts)}"

    def _lines(self) -> list[str]:
        lines = [] if self.parent < 0 else [f"parent: {self.parent}"]
        if children := self.children:
            lines.append(f"children: {_listed([str(child) for child in children])}")
        if self.tree.has_mixtures:
            counts = self.components.items()
            lines.append(f"components: {_listed([f'c{k}: {size}' for k, size in counts])}")
        if knows_features(self.tree):
            said = feature_texts(self.tree, _FEATURES, np.array([self.id]))[0]
            lines += [f"features: {said}"] if said else []
        lines.append(f"rows: {_listed([str(name) for name in self.row_names])}")
        return lines


def _listed(texts: list[str]) -> str:
    more = len(texts) - _MOST_IDS
    return ", ".join(texts[:_MOST_IDS]) + (f" and {more:,} more" if more > 0 else "")
