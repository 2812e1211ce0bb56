"""Which nodes of a tree a picture shows, and what stands for the rest.

A tree of thousands of nodes cannot be read. A picture therefore shows a part of it that contains
the root; every other node hangs from the nearest node above that is shown. Only nodes of too little
support are passed over so: what hangs from them is lifted. Where some of a node's rows are in nodes
shown below it, all others are one grey mark, "the rest", which says how many nodes and rows it
stands for. Where nothing below is shown, the node itself says how many nodes are below it. So every
row is counted, and every node that is not passed over.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bhmc._validation.parameters import check_whole
from bhmc.plotting._colors import OTHER, component_colors, shown_components
from bhmc.tree import Tree
from bhmc.tree.consensus import (
    left_out,
    level_slices,
    nearest_above,
    supported,
    without_repeats,
)
from bhmc.tree.node_names import name_of


@dataclass(frozen=True, eq=False)
class Marks:
    """The marks of a picture of a tree: its shown nodes in order of id, then the rests."""

    node: NDArray[np.int64]
    """(m,) node id; -1 for a rest."""
    parent: NDArray[np.int64]
    """(m,) index of the mark above, -1 for the root's; marks come after those above them."""
    level: NDArray[np.int64]
    """(m,) level of the node, or of the nodes that the rest stands for; marks above it where nodes
    are passed over for want of support."""
    size: NDArray[np.int64]
    """(m,) rows under it."""
    hidden: NDArray[np.int64]
    """(m,) nodes of the tree that have no mark of their own and that this one stands for: all of a
    rest, all that is below a node of which no child is shown, else 0."""
    support: NDArray[np.float64]
    """(m,) support of the node, NaN for a rest and where it is not known."""
    components: NDArray[np.int64]
    """(c,) the components that have a colour, in order of number."""
    counts: NDArray[np.int64]
    """(m, c + 1) rows of each of `components`, and last of all other components."""
    main: NDArray[np.int64]
    """(m,) the component that holds most of its rows, the lowest number among equals."""
    main_size: NDArray[np.int64]
    """(m,) rows of that component."""
    mark_of: NDArray[np.int64]
    """(n,) the lowest mark that holds each row."""
    row_order: NDArray[np.int64]
    """(n,) rows in the order of the tree: mark by mark, in each by colour, then by number."""
    has_mixtures: bool
    """Whether components mean something; not so in a dendrogram."""
    names: list[str]
    """(m,) what a person calls the node; empty for a rest and a node without a name."""
    colors: list[str]
    """(c + 1,) the colour of each of `components`, and last of all other components."""

    @property
    def is_rest(self) -> NDArray[np.bool_]:
        """(m,) whether it stands for several nodes."""
        return self.node < 0

    @property
    def is_last(self) -> NDArray[np.bool_]:
        """(m,) whether there is no mark below it."""
        last = np.ones(len(self.node), dtype=bool)
        last[self.parent[1:]] = False
        return last

    @property
    def starts(self) -> NDArray[np.int64]:
        """(m,) rows that come before each mark when rows are in the order of the tree."""
        return _starts(self.parent, self.size)

    def placed(self, width: NDArray[Any]) -> NDArray[Any]:
        """(m,) where marks of these widths begin, if those below one lie side by side in order."""
        return _starts(self.parent, width)


def collapse(
    tree: Tree,
    *,
    max_nodes: int = 80,
    min_size: int = 1,
    min_support: float | None = None,
    max_depth: int | None = None,
    colors: list[str] | None = None,
) -> Marks:
    """The marks for a tree: at most `max_nodes`, the largest nodes first.

    Parameters
    ----------
    tree : Tree
        What to show.
    max_nodes : int, default=80
        Most marks, rests included.
    min_size : int, default=1
        Nodes with fewer rows go into a rest.
    min_support : float, optional
        Nodes with less support are passed over; those with nothing shown in them go into a rest. So
        are nodes with the same rows as the node that they hang from.
    max_depth : int, optional
        Last level that is shown.
    colors : list of str, optional
        A colour for each component; by default those of `component_colors`.
    """
    max_nodes = check_whole(max_nodes, "max_nodes", 1)
    allowed = _allowed(tree, check_whole(min_size, "min_size", 1), min_support, max_depth)
    shown = _largest(tree, allowed, max_nodes)
    nodes = np.flatnonzero(shown)
    mark = np.full(tree.n_nodes, -1)
    mark[nodes] = np.arange(len(nodes))

    hung = nearest_above(tree, shown)
    opened = np.zeros(tree.n_nodes, dtype=bool)  # nodes with a shown node below
    opened[hung[nodes[1:]]] = True
    top = np.flatnonzero(left_out(tree, shown))
    top = top[opened[hung[top]]]
    above = np.unique(hung[top])
    rest = np.full(tree.n_nodes, -1)  # the rest below each shown node that has one
    rest[above] = len(nodes) + np.arange(len(above))

    parent = np.concatenate([mark[hung[nodes]], mark[above]])
    parent[0] = -1
    n_marks = len(parent)
    size = np.zeros(n_marks, dtype=np.int64)
    size[: len(nodes)] = tree.sizes[nodes]
    np.add.at(size, rest[hung[top]], tree.sizes[top])

    support = np.full(n_marks, np.nan)
    if tree.support is not None:
        support[: len(nodes)] = tree.support[nodes]
    # Below a shown node: its rest, or the node itself where nothing below is shown.
    holder = np.where(shown, mark, np.where(rest[hung] >= 0, rest[hung], mark[hung]))
    mark_of = holder[tree.paths[:, -1]]
    hidden = np.bincount(holder[_inside(tree, left_out(tree, shown))], minlength=n_marks)
    level = np.concatenate([tree.levels[nodes], tree.levels[above] + 1])
    if min_support is not None:
        level = _depths(parent)
    components, counts, colour = _counts(tree, parent, mark_of)
    colors = component_colors(tree) if colors is None else colors
    main, main_size = _main(tree, mark, mark_of, n_marks)
    order = np.lexsort((colour, _starts(parent, size)[mark_of]))
    return Marks(
        node=np.concatenate([nodes, np.full(len(above), -1)]),
        parent=parent,
        level=level,
        size=size,
        hidden=hidden,
        support=support,
        components=components,
        counts=counts,
        main=main,
        main_size=main_size,
        mark_of=mark_of,
        row_order=order,
        has_mixtures=tree.has_mixtures,
        names=[name_of(tree, node) for node in nodes.tolist()] + [""] * len(above),
        colors=[*(colors[k] for k in components.tolist()), OTHER],
    )


def _allowed(
    tree: Tree, min_size: int, min_support: float | None, max_depth: int | None
) -> NDArray[np.bool_]:
    """(n_nodes,) whether a node may be shown; the root always may."""
    good = tree.sizes >= min_size
    if max_depth is not None:
        good &= tree.levels <= check_whole(max_depth, "max_depth", 0)
    if min_support is not None:
        good &= supported(tree, min_support)
    good[0] = True
    return good if min_support is None else without_repeats(tree, good)


def _largest(tree: Tree, allowed: NDArray[np.bool_], max_nodes: int) -> NDArray[np.bool_]:
    """(n_nodes,) the largest allowed nodes that make at most `max_nodes` marks with their rests.

    No node is larger than the one it hangs from, so the largest nodes, upper ones first among
    equals, hold all they hang from. A node has a rest from when the first node that hangs from it
    is shown until the last is; and for ever where rows of it are in none.
    """
    n_allowed, hung = int(allowed.sum()), nearest_above(tree, allowed)
    order = np.lexsort((np.arange(tree.n_nodes), -tree.sizes, ~allowed))
    rank = np.empty(tree.n_nodes, dtype=np.int64)
    rank[order] = np.arange(tree.n_nodes)
    rank[~allowed] = n_allowed  # never reached
    counted = np.flatnonzero(allowed | left_out(tree, allowed))[1:]
    first_child, last_child = np.full((2, tree.n_nodes), n_allowed)
    np.minimum.at(first_child, hung[counted], rank[counted])
    last_child[hung[counted]] = -1
    np.maximum.at(last_child, hung[counted], rank[counted])
    change = np.zeros(n_allowed + 1, dtype=np.int64)
    np.add.at(change, first_child, 1)
    np.add.at(change, last_child, -1)
    marks = np.arange(1, n_allowed + 1) + np.cumsum(change[:-1])  # it never falls
    return rank < np.searchsorted(marks, max_nodes, side="right")


def _depths(parent: NDArray[np.int64]) -> NDArray[np.int64]:
    """(m,) how many marks are above each; a mark comes after the one above it."""
    depth = np.zeros(len(parent), dtype=np.int64)
    for one in range(1, len(parent)):
        depth[one] = depth[parent[one]] + 1
    return depth


def _inside(tree: Tree, top: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """(n_nodes,) whether a node is one of `top` or below one."""
    inside = top.copy()
    for level in level_slices(tree)[1:]:
        inside[level] |= inside[tree.parents[level]]
    return inside


def _counts(
    tree: Tree, parent: NDArray[np.int64], mark_of: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """The components with a colour; rows of each under each mark; the column of each row."""
    components = shown_components(tree)
    column = np.full(tree.n_components, len(components))
    column[components] = np.arange(len(components))
    colour = column[tree.components]
    n_columns = len(components) + 1
    counts = np.bincount(mark_of * n_columns + colour, minlength=len(parent) * n_columns)
    counts = counts.reshape(len(parent), n_columns)
    # Upwards. Marks of one level are not neighbours (rests come last), so one at a time: a mark
    # comes after the one above it.
    for one in range(len(parent) - 1, 0, -1):
        counts[parent[one]] += counts[one]
    return components, counts, colour


def _main(
    tree: Tree, mark: NDArray[np.int64], mark_of: NDArray[np.int64], n_marks: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(m,) the component with most rows under each mark, and how many; level by level."""
    main, most = np.zeros((2, n_marks), dtype=np.int64)
    n_nodes = int((mark >= 0).sum())
    held_by_rest = np.where(mark_of >= n_nodes, mark_of, -1)
    for column in (*(mark[nodes] for nodes in tree.paths.T), held_by_rest):
        inside = column >= 0
        pairs = column[inside] * tree.n_components + tree.components[inside]
        pairs, rows = np.unique(pairs, return_counts=True)
        owner, component = np.divmod(pairs, tree.n_components)
        order = np.lexsort((-component, rows, owner))  # the last of each owner is its main one
        last = order[np.flatnonzero(np.diff(owner[order], append=-1))]
        main[owner[last]], most[owner[last]] = component[last], rows[last]
    return main, most


def _starts(parent: NDArray[np.int64], width: NDArray) -> NDArray:
    """(m,) where each mark begins, if marks below one lie side by side in their order."""
    start = np.zeros(len(parent), dtype=width.dtype)
    used = np.zeros(len(parent), dtype=width.dtype)
    for one in range(1, len(parent)):
        above = parent[one]
        start[one] = start[above] + used[above]
        used[above] += width[one]
    return start
