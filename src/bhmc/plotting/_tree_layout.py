"""`tree_layout`: where the nodes of `plot_tree` are; and how large they can be."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bhmc.plotting._collapse import Marks, collapse
from bhmc.tree import Tree

# Points: the radius of a node with all rows, and of the smallest ones.
LARGEST, _SMALLEST = 15.0, 2.0


@dataclass(frozen=True, eq=False)
class TreeLayout:
    """Where the nodes of a picture of a tree are, in levels and slots."""

    marks: Marks
    """What is shown: shown nodes and rests, with their sizes, supports and components."""
    depth: NDArray[np.int64]
    """(m,) position along the tree: the level."""
    across: NDArray[np.float64]
    """(m,) position across it: marks with nothing below are at 0, 1, 2, ..., others midway between
    the first and the last below them."""

    @property
    def n_slots(self) -> int:
        """Marks with nothing below."""
        return int(self.marks.is_last.sum())


def tree_layout(
    tree: Tree,
    *,
    max_nodes: int = 80,
    min_size: int = 1,
    min_support: float | None = None,
    max_depth: int | None = None,
    colors: list[str] | None = None,
) -> TreeLayout:
    """Which nodes `plot_tree` shows, and where; parameters as there, `colors` as in `Marks`."""
    marks = collapse(
        tree,
        max_nodes=max_nodes,
        min_size=min_size,
        min_support=min_support,
        max_depth=max_depth,
        colors=colors,
    )
    n_below = marks.is_last.astype(np.int64)  # marks with nothing below, under each mark
    for one in range(len(n_below) - 1, 0, -1):
        n_below[marks.parent[one]] += n_below[one]
    across = marks.placed(n_below).astype(np.float64)
    low, high = np.full(len(across), np.inf), np.full(len(across), -np.inf)
    for one in range(len(across) - 1, -1, -1):
        if np.isfinite(low[one]):
            across[one] = (low[one] + high[one]) / 2
        above = marks.parent[one]
        if above >= 0:
            low[above] = min(low[above], across[one])
            high[above] = max(high[above], across[one])
    return TreeLayout(marks, marks.level, across)


class Space(NamedTuple):
    """How many points the parts of the picture have."""

    down: bool
    """Whether levels go down rather than to the right."""
    level: float
    """From a level to the next."""
    slot: float
    """From a slot to the next."""
    room: float
    """For labels behind the last level."""

    def points(self, depth: NDArray, across: NDArray) -> NDArray[np.float64]:
        """(m, 2) positions in points, y upwards."""
        along, side = depth * self.level, across * self.slot
        return np.column_stack([side, -along] if self.down else [along, -side])

    def data(self, depth: NDArray, across: NDArray) -> NDArray[np.float64]:
        """(m, 2) positions in the units of the Axes."""
        return np.column_stack([across, depth] if self.down else [depth, across])


def node_radii(layout: TreeLayout, level: float, slot: float) -> NDArray[np.float64]:
    """(m,) radii in points: areas in proportion to rows, none below a least one.

    The scale is the largest at which neighbours do not touch, where a level takes `level` points
    and a slot `slot`.
    """
    relative = np.sqrt(layout.marks.size / layout.marks.size[0])
    order = np.lexsort((layout.across, layout.depth))
    beside = np.diff(layout.depth[order]) == 0
    gaps = np.diff(layout.across[order])[beside] * slot
    both = (relative[order][1:] + relative[order][:-1])[beside]
    scale = min([LARGEST, level / 3, *(gaps / both * 0.95)])
    smallest = min(_SMALLEST, 0.45 * slot)
    return np.maximum(relative * scale, smallest)
