"""`compare_trees`: which nodes of two trees match, how well, and which rows moved."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from bhmc._extras import import_pandas
from bhmc._validation.parameters import check_whole
from bhmc.metrics._levels import true_levels
from bhmc.metrics._pairs import codes
from bhmc.tree import Tree
from bhmc.tree.index import uppermost
from bhmc.tree.node_names import name_of

# A pair with a lower Jaccard index is no match in the text, and moves no rows.
_GOOD = 0.5

# Lines of each list, and rows named in a line, before the text counts the others.
_MOST_LINES, _MOST_NAMES = 20, 6


class Groups(NamedTuple):
    """The different sets of rows that are nodes of a tree, all rows and too small sets left out."""

    node: NDArray[np.int64]
    """(g,) id of the uppermost node of each set."""
    size: NDArray[np.int64]
    """(g,) its rows, of those that both trees have."""
    holds: sparse.csr_array
    """(g, rows) 1 where the set holds the row."""


class NodeMatch(NamedTuple):
    """A pair of nodes, one of each tree; a node without a partner has -1 for it."""

    a: int
    """Node of the first tree, or -1."""
    b: int
    """Node of the second tree, or -1."""
    size_a: int
    size_b: int
    shared: int
    """Rows in both."""
    jaccard: float
    """Rows in both over rows in either; for a node without a partner its best, whoever has it."""


@dataclass(frozen=True, eq=False, repr=False)
class TreeComparison:
    """Two trees side by side; `print` it, or take `to_frame()`.

    Nodes are compared as sets of rows. Nodes of the same rows (an only child and its parent) count
    once, by the id of the uppermost. The root, which holds all rows, and nodes of fewer than
    `min_size` rows are left out.
    """

    a: Tree
    b: Tree
    rows: NDArray[np.int64]
    """(m, 2) numbers of the compared rows in the first tree and in the second."""
    min_size: int
    pairs: tuple[NodeMatch, ...]
    """One-to-one: the pair of the highest Jaccard index first, then the highest among nodes that
    are still free, and so on; in order of `size_a`, largest first."""
    only_a: tuple[NodeMatch, ...]
    """Nodes of the first tree without a partner, and their best match."""
    only_b: tuple[NodeMatch, ...]
    """Nodes of the second tree without a partner, and their best match."""
    best_a: NDArray[np.float64]
    """The best Jaccard index of every compared node of the first tree, in order of id."""
    best_b: NDArray[np.float64]
    """The same of the second tree."""

    @property
    def similarity(self) -> float:
        """Mean over the compared nodes of both trees of their best Jaccard index; 1 without any."""
        every = np.concatenate([self.best_a, self.best_b])
        return float(every.mean()) if len(every) else 1.0

    @property
    def matches(self) -> tuple[NodeMatch, ...]:
        """The pairs with a Jaccard index of at least 1/2."""
        return tuple(pair for pair in self.pairs if pair.jaccard >= _GOOD)

    def left(self, pair: NodeMatch) -> NDArray[np.int64]:
        """Compared rows (places in `rows`) that are in the pair's first node and not in its second.

        Parameters
        ----------
        pair : NodeMatch
            One of `pairs`.
        """
        return np.flatnonzero(self._holds(0, pair.a) & ~self._holds(1, pair.b))

    def joined(self, pair: NodeMatch) -> NDArray[np.int64]:
        """Compared rows (places in `rows`) that are in the pair's second node and not in its first.

        Parameters
        ----------
        pair : NodeMatch
            One of `pairs`.
        """
        return np.flatnonzero(self._holds(1, pair.b) & ~self._holds(0, pair.a))

    @property
    def moved(self) -> dict[int, int]:
        """Places in `rows` of the rows that left or joined matched nodes, and how many such nodes.

        The rows that moved most come first.
        """
        counted = Counter[int]()
        for pair in self.matches:
            counted.update(self.left(pair).tolist())
            counted.update(self.joined(pair).tolist())
        return dict(sorted(counted.items(), key=lambda one: (-one[1], one[0])))

    def name(self, place: int) -> str:
        """What a compared row is called: its name, or its number in the first tree.

        Parameters
        ----------
        place : int
            Its place in `rows`.
        """
        for tree, row in zip((self.a, self.b), self.rows[place].tolist(), strict=True):
            if tree.names is not None:
                return str(tree.names[row])
        return str(self.rows[place, 0])

    def to_frame(self) -> Any:
        """A pandas frame: a row for every pair, then for every node without a partner (-1)."""
        pandas = import_pandas("to_frame")
        frame = pandas.DataFrame(
            [*self.pairs, *self.only_a, *self.only_b], columns=list(NodeMatch._fields)
        )
        for side, tree in (("a", self.a), ("b", self.b)):
            if tree.node_names is not None:
                names = ["" if node < 0 else name_of(tree, node) for node in frame[side]]
                frame[f"name_{side}"] = names
        return frame

    def __repr__(self) -> str:
        return "\n".join([self._head(), *self._pair_lines(), *self._others(), *self._moves()])

    def _repr_html_(self) -> str:
        return f"<pre>{escape(repr(self))}</pre>"

    def _holds(self, side: int, node: int) -> NDArray[np.bool_]:
        """(m,) whether each compared row is under a node of the first (0) or second (1) tree."""
        tree = (self.a, self.b)[side]
        return tree.paths[self.rows[:, side], tree.levels[node]] == node

    def _head(self) -> str:
        n = len(self.rows)
        left_out = [len(tree.paths) - n for tree in (self.a, self.b)]
        beyond = (
            f" ({left_out[0]} of a and {left_out[1]} of b are left out)" if any(left_out) else ""
        )
        return (
            f"{n:,} rows in two trees{beyond}: {len(self.matches)} nodes match, of "
            f"{len(self.best_a)} in a and {len(self.best_b)} in b of at least {self.min_size} rows."
            f"\nThe best match of a node is {100 * self.similarity:.0f} % on average (Jaccard)."
        )

    def _pair_lines(self) -> Iterator[str]:
        if not self.matches:
            return
        yield f"{'a':>7}{'b':>7}{'rows a':>8}{'rows b':>8}{'match':>8}"
        for pair in self.matches[:_MOST_LINES]:
            line = f"{pair.a:>7}{pair.b:>7}{pair.size_a:>8,}{pair.size_b:>8,}"
            yield f"{line}{100 * pair.jaccard:>6.0f} %{self._changes(pair)}"
        yield from _more(len(self.matches), "match", "matches")

    def _changes(self, pair: NodeMatch) -> str:
        names = dict.fromkeys((name_of(self.a, pair.a), name_of(self.b, pair.b)))
        parts = [", ".join(name for name in names if name)]
        for word, places in (("left", self.left(pair)), ("joined", self.joined(pair))):
            parts.append(f"{word}: {self._listed(places.tolist())}" if len(places) else "")
        said = "; ".join(part for part in parts if part)
        return f"  {said}" if said else ""

    def _listed(self, places: list[int]) -> str:
        named = ", ".join(self.name(place) for place in places[:_MOST_NAMES])
        more = len(places) - _MOST_NAMES
        return f"{named} and {more:,} more" if more > 0 else named

    def _others(self) -> Iterator[str]:
        """Nodes that have no match, those in poor pairs included."""
        poor = [pair for pair in self.pairs if pair.jaccard < _GOOD]
        for side, alone in (("a", self.only_a), ("b", self.only_b)):
            size = f"size_{side}"
            ones = sorted(
                [*alone, *poor], key=lambda one: (-getattr(one, size), getattr(one, side))
            )
            if ones:
                said = [f"{getattr(one, side)} ({getattr(one, size):,})" for one in ones]
                more = f" and {len(said) - _MOST_LINES} more" if len(said) > _MOST_LINES else ""
                yield f"Only in {side}, node (rows): {', '.join(said[:_MOST_LINES])}{more}"

    def _moves(self) -> Iterator[str]:
        moved = self.moved
        if moved:
            rows = "1 row" if len(moved) == 1 else f"{len(moved):,} rows"
            yield f"{rows} left or joined a matched node: {self._listed(list(moved))}"


def compare_trees(a: Any, b: Any, *, min_size: int = 2) -> TreeComparison:
    """Which nodes of two trees match, how well, and which rows moved.

    Two nodes match as well as their Jaccard index says: rows in both over rows in either. Every
    node has a best match in the other tree. Beyond that, nodes are paired one to one, the best pair
    first; so no two nodes that are not a pair would both have a better partner in each other.

    Parameters
    ----------
    a, b : Tree, fitted model or array of shape (n,) or (n, m)
        Two fits, or a fit and classes. An array holds the label of each row, or a label for each of
        m levels, coarse to fine; labels that are text name their nodes. Rows are compared by name
        where both trees have names, else by number.
    min_size : int, default=2
        Nodes of fewer rows are left out.

    Returns
    -------
    TreeComparison
        Prints as text; `bhmc.plotting.plot_comparison` draws it.

    Examples
    --------
    >>> from bhmc import compare_trees
    >>> found = compare_trees([0, 0, 0, 1, 1, 1], [[0, 0], [0, 0], [1, 1], [1, 2], [1, 2], [1, 2]])
    >>> [(pair.a, pair.b, pair.jaccard) for pair in found.pairs]
    [(1, 2, 0.6666666666666666), (2, 4, 1.0)]
    >>> found.moved
    {2: 1}
    """
    one, two = tree_of(a, "a"), tree_of(b, "b")
    min_size = check_whole(min_size, "min_size", 1)
    rows = _common_rows(one, two)
    groups = [_groups(tree, own, min_size) for tree, own in zip((one, two), rows.T, strict=True)]
    return _compared(one, two, rows, min_size, *groups)


def tree_of(value: Any, name: str) -> Tree:
    """A tree, the tree of a fitted model, or the tree of labels.

    Parameters
    ----------
    value : Tree, fitted model or array of shape (n,) or (n, m)
        What was given.
    name : str
        The parameter's name, for messages.
    """
    if isinstance(value, Tree):
        return value
    if isinstance(getattr(value, "tree_", None), Tree):
        return value.tree_
    if hasattr(value, "get_params"):
        raise ValueError(f"{name} is not fitted: call fit first.")
    return _tree_of_labels(value, name)


def _tree_of_labels(labels: ArrayLike, name: str) -> Tree:
    array = np.asarray(labels)
    array = array[:, None] if array.ndim == 1 else array
    if array.ndim != 2 or not array.size:
        raise ValueError(
            f"{name} must be a Tree, a fitted model, or labels of shape (n,) or (n, m), got "
            f"{type(labels).__name__} of shape {np.shape(labels)}."
        )
    columns = np.column_stack([codes(column, name) for column in array.T])
    levels = true_levels(columns.tolist())  # a node is a whole path: labels need not be nested
    first = 1 + np.concatenate([[0], np.cumsum(levels.max(axis=0) + 1)])
    nodes = levels + first[:-1]
    parents = np.full(first[-1], -1)
    parents[nodes[:, 0]] = 0
    parents[nodes[:, 1:]] = nodes[:, :-1]
    tree = Tree.from_parents(parents, nodes[:, -1])
    return tree if array.dtype.kind not in "OU" else tree.rename(_label_names(tree, array))


def _label_names(tree: Tree, labels: NDArray[Any]) -> dict[int | str, str | None]:
    """Labels that are text are the names of their nodes."""
    _, row = np.unique(tree.paths[:, 1:], return_index=True)
    places = zip(*np.unravel_index(row, labels.shape), strict=True)
    texts = [" ".join(str(labels[place]).split()) for place in places]
    return dict(enumerate(texts, start=1))


def _common_rows(a: Tree, b: Tree) -> NDArray[np.int64]:
    """(m, 2) the numbers of the rows that both trees have."""
    if a.names is not None and b.names is not None:
        names = (a.names.astype(str), b.names.astype(str))
        if not np.array_equal(*names):
            return _rows_by_name(*names)
    if len(a.paths) != len(b.paths):
        raise ValueError(
            f"a has {len(a.paths)} rows and b has {len(b.paths)}: without names on both sides they "
            "cannot be compared."
        )
    return np.repeat(np.arange(len(a.paths)), 2).reshape(-1, 2)


def _rows_by_name(of_a: NDArray[Any], of_b: NDArray[Any]) -> NDArray[np.int64]:
    for names, side in ((of_a, "a"), (of_b, "b")):
        if len(np.unique(names)) < len(names):
            raise ValueError(
                f"rows cannot be compared by name: the rows of {side} have names that occur more "
                "than once, and a and b are not of the same rows in the same order."
            )
    _, one, two = np.intersect1d(of_a, of_b, return_indices=True)
    if not len(one):
        raise ValueError("a and b have no row in common: none of their names are the same.")
    return np.column_stack([one, two])[np.argsort(one)].astype(np.int64)


def _groups(tree: Tree, rows: NDArray[np.int64], min_size: int) -> Groups:
    paths = tree.paths[rows]
    sizes = np.bincount(paths.ravel(), minlength=tree.n_nodes)
    top = uppermost(tree.parents, sizes) == np.arange(tree.n_nodes)
    node = np.flatnonzero(top & (sizes >= min_size) & (sizes < len(rows)))
    place = np.full(tree.n_nodes, -1)
    place[node] = np.arange(len(node))
    at = place[paths]
    row, level = np.nonzero(at >= 0)
    holds = sparse.csr_array(
        (np.ones(len(row), dtype=np.int64), (at[row, level], row)), (len(node), len(rows))
    )
    return Groups(node, sizes[node], holds)


def _compared(
    a: Tree, b: Tree, rows: NDArray[np.int64], min_size: int, one: Groups, two: Groups
) -> TreeComparison:
    shared = sparse.coo_array(one.holds @ two.holds.T)
    i, j, both = shared.row, shared.col, shared.data
    jaccard = both / (one.size[i] + two.size[j] - both)
    best = [np.zeros(len(groups.node)) for groups in (one, two)]
    np.maximum.at(best[0], i, jaccard)
    np.maximum.at(best[1], j, jaccard)
    pairs, free = [], [np.ones(len(groups.node), dtype=bool) for groups in (one, two)]
    for e in np.lexsort((j, i, -both, -jaccard)).tolist():
        p, q = int(i[e]), int(j[e])
        if free[0][p] and free[1][q]:
            free[0][p] = free[1][q] = False
            sizes = (int(one.size[p]), int(two.size[q]))
            ids = (int(one.node[p]), int(two.node[q]))
            pairs.append(NodeMatch(*ids, *sizes, int(both[e]), float(jaccard[e])))
    return TreeComparison(
        a=a,
        b=b,
        rows=rows,
        min_size=min_size,
        pairs=tuple(sorted(pairs, key=lambda pair: (-pair.size_a, pair.a))),
        only_a=tuple(
            NodeMatch(int(one.node[p]), -1, int(one.size[p]), 0, 0, float(best[0][p]))
            for p in np.flatnonzero(free[0])
        ),
        only_b=tuple(
            NodeMatch(-1, int(two.node[q]), 0, int(two.size[q]), 0, float(best[1][q]))
            for q in np.flatnonzero(free[1])
        ),
        best_a=best[0],
        best_b=best[1],
    )


def _more(n: int, thing: str, things: str) -> Iterator[str]:
    if n > _MOST_LINES:
        left = n - _MOST_LINES
        yield f"… {left:,} more {thing if left == 1 else things}"
