"""`Tree`: a hierarchy as immutable arrays in one id space, printable as text."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields

import numpy as np
from numpy.typing import NDArray

from bhmc._checks import check_whole
from bhmc._state import State


@dataclass(frozen=True, eq=False)
class Tree:
    """A hierarchy of nodes over n data, every node a mixture over shared components.

    Node ids are 0..n_nodes-1, level by level: the root is 0, the leaves come last. Siblings are in
    order of size, largest first. Components are numbered by size too. Arrays cannot be written to.
    """

    parents: NDArray[np.int64]
    """(n_nodes,) id of the parent, -1 for the root."""
    levels: NDArray[np.int64]
    """(n_nodes,) level of each node, 0 for the root."""
    sizes: NDArray[np.int64]
    """(n_nodes,) number of data under each node."""
    weights: NDArray[np.float64]
    """(n_nodes, K + 1) mixing weights over components, the unborn remainder last."""
    paths: NDArray[np.int32]
    """(n, n_levels + 1) node ids of each datum's path, root first."""
    components: NDArray[np.int32]
    """(n,) component of each datum."""
    theta: NDArray[np.float64]
    """(K, p) component parameters."""
    alpha: float = 1.0
    """How readily data open new branches, in the draw that is the estimate."""
    shared: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    """(q,) numbers that all components share."""
    support: NDArray[np.float64] | None = None
    """(n_nodes,) share of the kept draws with a node of exactly these data; None: not known."""
    names: NDArray | None = None
    """(n,) what to call each datum; None: its number."""
    feature_names: NDArray | None = None
    """(d,) names of the columns; None: their numbers."""
    component_means: NDArray[np.float64] | None = None
    """(K, d) mean of the data of each component, column by column; None: not known."""
    feature_means: NDArray[np.float64] | None = None
    """(d,) mean of all data."""
    feature_scales: NDArray[np.float64] | None = None
    """(d,) standard deviation of all data, 1 where a column is constant."""

    def __post_init__(self):
        for one in fields(self):
            value = getattr(self, one.name)
            if isinstance(value, np.ndarray):
                value.flags.writeable = False

    def __setstate__(self, state):
        # NumPy forgets the flag when it pickles or copies an array.
        self.__dict__.update(state)
        self.__post_init__()

    @classmethod
    def from_state(cls, state: State) -> "Tree":
        """The tree of a draw, with ids and component numbers put in order of size."""
        nodes = _ordered_nodes(state)
        components = _ordered_components(state)
        new_id, new_label = _inverse(nodes), _inverse(components)
        parents = np.array([-1, *new_id[state.parents[nodes[1:]]]], dtype=np.int64)
        columns = np.append(components, state.n_components)
        return cls(
            parents=parents,
            levels=state.levels[nodes],
            sizes=state.sizes[nodes],
            weights=state.weights[np.ix_(nodes, columns)],
            paths=new_id[state.paths],
            components=new_label[state.components],
            theta=state.theta[components],
            alpha=float(state.hyper.alpha),
            shared=np.array(state.shared),
        )

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return len(self.parents)

    @property
    def n_levels(self) -> int:
        """Steps from the root to a leaf."""
        return self.paths.shape[1] - 1

    @property
    def n_components(self) -> int:
        """Number of components."""
        return len(self.theta)

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return int((self.levels == self.n_levels).sum())

    def labels_at(self, level: int) -> NDArray[np.int32]:
        """(n,) the node of each datum at `level`, numbered 0, 1, ... within the level."""
        level = check_whole(level, "level", 0)
        if level > self.n_levels:
            raise ValueError(f"level must be at most {self.n_levels}, got {level}.")
        first = np.searchsorted(self.levels, level)
        return self.paths[:, level] - np.int32(first)

    def to_text(self, names: Iterable | None = None, *, max_names: int = 8) -> str:
        """The tree as lines of text, a node a line.

        `[5 > 14] 58 (c0: 43, c4: 15)` is node 5 with its only child 14: 58 data, 43 of them in
        component 0 and 15 in component 4. Node numbers are those of `paths`; lines with more
        than five components end in `...`.

        Parameters
        ----------
        names : iterable of length n, optional
            What to call each datum; given, every leaf lists its members.
        max_names : int, default=8
            Members listed in a leaf before the rest are counted.
        """
        max_names = check_whole(max_names, "max_names", 0)
        if names is not None:
            names = list(names)  # by position, whatever index a frame's column has
            if len(names) != len(self.paths):
                raise ValueError(f"names must hold {len(self.paths)} names, got {len(names)}.")
        return "\n".join(_lines(self, names, max_names))

    def save(self, path: str | os.PathLike) -> None:
        """Save in one file, whole or not at all (docs/file-format.md)."""
        from bhmc._saving import write

        write(path, "tree", self)

    @classmethod
    def load(cls, path: str | os.PathLike) -> "Tree":
        """The tree of a file that `save` wrote."""
        from bhmc._saving import read

        return read(path, "tree")

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        return (
            f"Tree({len(self.paths)} data, {self.n_nodes} nodes, {self.n_leaves} leaves, "
            f"{self.n_levels} levels, {self.n_components} components)"
        )


def _ordered_nodes(state: State) -> NDArray[np.int64]:
    """Old ids in their new order: by level, then by parent, larger first, then first member."""
    levels, sizes = state.levels, state.sizes
    first_member = np.full(len(state.parents), len(state.paths))
    for level in range(state.n_levels + 1):
        np.minimum.at(first_member, state.paths[:, level], np.arange(len(state.paths)))
    rank = np.zeros(len(state.parents), dtype=np.int64)
    order = [np.zeros(1, dtype=np.int64)]
    for level in range(1, state.n_levels + 1):
        nodes = np.flatnonzero(levels == level)
        keys = (first_member[nodes], -sizes[nodes], rank[state.parents[nodes]])
        nodes = nodes[np.lexsort(keys)]
        rank[nodes] = np.arange(len(nodes))
        order.append(nodes)
    return np.concatenate(order)


def _ordered_components(state: State) -> NDArray[np.int64]:
    """Old component numbers, largest component first; ties by first member, empty ones last."""
    k = state.n_components
    sizes = np.bincount(state.components, minlength=k)
    first_member = np.full(k, len(state.components))
    np.minimum.at(first_member, state.components, np.arange(len(state.components)))
    return np.lexsort((first_member, -sizes))


def _inverse(order: NDArray[np.int64]) -> NDArray[np.int32]:
    inverse = np.empty(len(order), dtype=np.int32)  # a label for each of many rows: half the memory
    inverse[order] = np.arange(len(order))
    return inverse


def _lines(tree: Tree, names: Sequence | None, max_names: int) -> list[str]:
    """Depth first without recursion: a deep tree must not end in a RecursionError."""
    children = [[] for _ in range(tree.n_nodes)]
    for node in range(tree.n_nodes - 1, 0, -1):  # backwards, so that popping gives id order
        children[tree.parents[node]].append(node)
    lines = []
    stack = [(0, "", "")]
    while stack:
        node, lead, indent = stack.pop()
        chain = [node]
        while len(children[chain[-1]]) == 1:
            chain.append(children[chain[-1]][0])
        below = children[chain[-1]]
        lines.append(lead + _describe(tree, chain, names, max_names))
        for i, child in enumerate(below):  # the first of `below` is printed last
            last = i == 0
            stack.append(
                (
                    child,
                    indent + ("└── " if last else "├── "),
                    indent + ("    " if last else "│   "),
                )
            )
    return lines


def _describe(tree: Tree, chain: list[int], names: Sequence | None, max_names: int) -> str:
    """One node, or a chain of single children, in words."""
    members = np.flatnonzero(tree.paths[:, tree.levels[chain[0]]] == chain[0])
    labels, counts = np.unique(tree.components[members], return_counts=True)
    order = np.lexsort((labels, -counts))
    parts = ", ".join(f"c{labels[i]}: {counts[i]}" for i in order[:5])
    more = ", ..." if len(labels) > 5 else ""
    title = " > ".join("root" if node == 0 else str(node) for node in chain)
    title = title if chain == [0] else f"[{title}]"
    text = f"{title} {len(members)} ({parts}{more})"
    if names is None or tree.levels[chain[-1]] < tree.n_levels:
        return text
    listed = ", ".join(str(names[i]) for i in members[:max_names])
    if len(members) <= max_names:
        return f"{text} {listed}"
    return f"{text} {listed} and {len(members) - max_names} more" if listed else text
