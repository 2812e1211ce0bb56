"""What sets every node apart: its rows against those of its siblings and against the rest.

A feature is compared in two groups of rows, those of the node and the others, by the likelihood
ratio of "the groups differ" to "they do not":

    number   G = N log(1 + h (m_1 - m_2)^2 / S),  h = n_1 n_2 / N,  N = n_1 + n_2,
             S = sum of squares within both groups + 2 v, v the variance over all rows;
    share    G = 2 sum over the four cells of O log(O / E),  cells: 1 or 0, in or out;
    word     the same, cells: this word or another one, in or out, counted in words.

The statistic is the root of G with the sign of the difference. It is large where a difference is
both large and borne out by many rows, so a node of two rows does not win by an extreme mean, and it
has one unit (about that of a z-value) for all kinds of features. No feature can tell more of who is
in the node than there is to tell: G is at most 2 (N log N - n_1 log n_1 - n_2 log n_2). A share
that is 1 inside and 0 outside reaches the bound, and the G of a number is cut there. The 2 v stand
for two more rows of ordinary spread: a small node whose rows are all the same would otherwise have
S = 0. Rows were put into the node because they are alike, so the statistic ranks features; it is
not a test. Features are ranked by its size, and what the rows of the node have less of counts 1
less, which is about what chance makes of a statistic: of features that tell about the same, a
person wants to hear what the rows have, not what they lack.

The effect says how large the difference is: (m_1 - m_2) / s with s^2 = S / (N + 2), times
h / (h + 1), which halves it for a single row; for shares and words the log odds ratio with 1/2
added to every cell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import xlogy

from bhmc.tree.index import uppermost

if TYPE_CHECKING:
    from bhmc.tree import Tree

Floats = NDArray[np.float64]

KINDS = ("number", "share", "word")
NUMBER, SHARE, WORD = range(3)
AGAINST = ("siblings", "rest")

# Features kept of every node: so many, and fewer where nodes are many.
_MOST, _LEAST, _MOST_ENTRIES = 20, 5, 2**20

# Numbers that are worked on at a time.
_BLOCK = 2**20

# Rows of ordinary spread that are added within groups.
_MORE_ROWS = 2.0

# A smaller G is rounding error.
_ROUNDING = 1e-6

# So is a mean nearer to 0 than this, in units of the column.
_ROUNDING_OF_MEANS = 1e-12

# Features that differ less than this in their statistics tell about the same.
_ABOUT_THE_SAME = 1.0


@dataclass(frozen=True, eq=False)
class NodeFeatures:
    """The features that set each node apart, most telling first; see this file's docstring.

    Nodes of the same rows, such as an only child and its parent, are one group. Arrays are
    (2, groups, m): against the siblings, then against the rest. A place that no feature fills has
    the column -1.
    """

    group_of: NDArray[np.int32]
    """(n_nodes,) the group of each node."""
    columns: NDArray[np.int32]
    """Numbers of the features."""
    statistic: NDArray[np.float32]
    """Root of the log likelihood ratio G, with the sign of the difference."""
    effect: NDArray[np.float32]
    """Size of the difference."""
    inside: NDArray[np.float64]
    """Mean over the node's rows; for a word its share of their words."""
    outside: NDArray[np.float64]
    """The same over the other rows."""
    kinds: NDArray[np.int8]
    """(features,) 0: number, 1: share (of rows that have a 1), 2: word."""

    def __post_init__(self) -> None:
        for one in fields(self):
            getattr(self, one.name).flags.writeable = False


class Group(NamedTuple):
    """Sums over groups of rows, for some features."""

    n: Floats
    """Entries that are not missing; for words all words."""
    total: Floats
    squares: Floats

    def of(self, groups: NDArray[np.int64] | slice) -> Group:
        """The sums of some groups."""
        return Group(*(part[groups] for part in self))

    def __sub__(self, other: Group) -> Group:  # type: ignore[override]
        return Group(*(mine - its for mine, its in zip(self, other, strict=True)))


class Units(NamedTuple):
    """Entries are (x - centre) / scale, so that squares neither overflow nor lose digits."""

    centre: Floats
    scale: Floats


class Comparison(NamedTuple):
    """The node's rows against others, for some features."""

    statistic: Floats
    effect: Floats
    inside: Floats
    outside: Floats


def node_features(
    tree: Tree, blocks: Callable[[], Iterator[Floats]], words: Sequence[bool] | NDArray[Any]
) -> NodeFeatures:
    """What sets each node of a tree apart.

    Parameters
    ----------
    tree : Tree
        Whose nodes are described.
    blocks : function
        Returns an iterator over the features of all rows, some (n, b) columns at a time in order;
        NaN is a missing entry. It is called twice.
    words : (features,) array of bool
        Which features are counts of words.
    """
    words = np.asarray(words, dtype=bool)
    n_words = _words_of_rows(blocks(), words, len(tree.paths)) if words.any() else None
    leaf = _leaves(tree)
    nodes, group_of = np.unique(uppermost(tree.parents, tree.sizes), return_inverse=True)
    parents = np.maximum(tree.parents[nodes], 0)
    m = min(len(words), int(np.clip(_MOST_ENTRIES // len(nodes), _LEAST, _MOST)))
    kinds, first = np.zeros(len(words), dtype=np.int8), 0
    best = _Best(len(nodes), m)
    for values in blocks():
        own = slice(first, first + values.shape[1])
        kinds[own] = _kinds(values, words[own])
        sums, units = _sums(tree, leaf, values, words[own], n_words)
        inside, every = sums.of(nodes), sums.of(slice(0, 1))
        for i, others in enumerate((sums.of(parents), every)):
            found = compare(inside, others - inside, every, kinds[own], units)
            best.add(i, first, found)
        first = own.stop
    return best.features(group_of.astype(np.int32), kinds)


def compare(
    inside: Group, outside: Group, every: Group, kinds: NDArray[np.int8], units: Units
) -> Comparison:
    """Two groups of rows, feature by feature; see this file's docstring.

    Parameters
    ----------
    inside, outside, every : Group
        Sums over the node's rows, over the others, and over all rows, in these units.
    kinds : (b,) array
        0: number, 1: share, 2: word.
    units : Units
        What entries were taken from, and divided by.
    """
    ratio, effect = np.zeros(inside.n.shape), np.zeros(inside.n.shape)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean, other = inside.total / inside.n, outside.total / outside.n
        for those, measure in ((kinds == NUMBER, _numbers), (kinds != NUMBER, _shares)):
            parts = (Group(*(part[:, those] for part in one)) for one in (inside, outside, every))
            ratio[:, those], effect[:, those] = measure(*parts)
    known = (inside.n > 0) & (outside.n > 0) & (ratio > _ROUNDING)
    signed = np.sign(mean - other) * np.sqrt(np.where(known, ratio, 0.0))
    means = (_left(part, units) for part in (mean, other))
    return Comparison(signed, np.where(known, effect, 0.0), *means)


def _left(means: Floats, units: Units) -> Floats:
    """Means in the units of the data; 0 where they are 0 but for rounding."""
    found = means * units.scale + units.centre
    least = _ROUNDING_OF_MEANS * np.maximum(units.scale, np.abs(units.centre))
    return np.where(np.abs(found) < least, 0.0, found)


def _numbers(one: Group, two: Group, every: Group) -> tuple[Floats, Floats]:
    """G and the standardised, shrunk difference of means."""
    n = one.n + two.n
    h = one.n * two.n / n
    difference = one.total / one.n - two.total / two.n
    within = sum(part.squares - part.total**2 / part.n for part in (one, two))
    spread = every.squares / every.n - (every.total / every.n) ** 2
    flat = ~(spread > 0)  # a constant column tells nothing
    within = np.maximum(within, 0.0) + _MORE_ROWS * np.where(flat, 1.0, spread)
    ratio = n * np.log1p(h * difference**2 / within)
    ratio = np.minimum(ratio, 2 * (xlogy(n, n) - xlogy(one.n, one.n) - xlogy(two.n, two.n)))
    effect = difference / np.sqrt(within / (n + _MORE_ROWS)) * h / (h + 1)
    return np.where(flat, 0.0, ratio), np.where(flat, 0.0, effect)


def _shares(one: Group, two: Group, every: Group) -> tuple[Floats, Floats]:
    """G and the log odds ratio of those that have a 1."""
    return share_ratio(one.total, one.n - one.total, two.total, two.n - two.total)


def share_ratio(a: Floats, b: Floats, c: Floats, d: Floats) -> tuple[Floats, Floats]:
    """G of a table of two by two, and the log odds ratio with 1/2 in every cell.

    Parameters
    ----------
    a, b, c, d : arrays
        How many have it and have it not, in one group; then in the other.
    """
    n = a + b + c + d
    cells, sides = (a, b, c, d, n), (a + b, c + d, a + c, b + d)
    ratio = sum((xlogy(cell, cell) for cell in cells), start=np.zeros(n.shape))
    ratio = 2 * (ratio - sum(xlogy(side, side) for side in sides))
    return ratio, np.log((a + 0.5) * (d + 0.5) / ((b + 0.5) * (c + 0.5)))


def _leaves(tree: Tree) -> sparse.csr_array:
    """(n_nodes, n) 1 where a row is in a leaf."""
    n = len(tree.paths)
    places = (tree.paths[:, -1], np.arange(n))
    return sparse.csr_array((np.ones(n), places), (tree.n_nodes, n))


def _kinds(values: Floats, words: NDArray[np.bool_]) -> NDArray[np.int8]:
    is_share = ((values == 0) | (values == 1) | np.isnan(values)).all(axis=0)
    return np.where(words, WORD, np.where(is_share, SHARE, NUMBER)).astype(np.int8)


def _sums(
    tree: Tree, leaf, values: Floats, words: NDArray[np.bool_], n_words: Floats | None
) -> tuple[Group, Units]:
    """Sums over the rows of every node, and the units of the entries."""
    seen = ~np.isnan(values)
    is_share = _kinds(values, words) != NUMBER
    with np.errstate(invalid="ignore"):
        centre = np.where(seen, values, 0.0).sum(axis=0) / seen.sum(axis=0)
    centre = np.where(is_share | np.isnan(centre), 0.0, centre)
    values = np.where(seen, values - centre, 0.0)
    scale = np.where(is_share, 1.0, np.abs(values).max(axis=0, initial=0.0))
    scale = np.where(scale > 0, scale, 1.0)
    values /= scale
    counted = seen.astype(float) if n_words is None else np.where(words, n_words[:, None], seen)
    parts = [leaf @ part for part in (counted, values, values**2)]
    return Group(*(_upwards(tree, part) for part in parts)), Units(centre, scale)


def _upwards(tree: Tree, sums: Floats) -> Floats:
    """Sums of leaves to those of all nodes."""
    for level in range(tree.n_levels, 0, -1):
        nodes = np.flatnonzero(tree.levels == level)
        np.add.at(sums, tree.parents[nodes], sums[nodes])
    return sums


def _words_of_rows(blocks: Iterator[Floats], words: NDArray[np.bool_], n: int) -> Floats:
    """(n,) how many words each row has."""
    total, first = np.zeros(n), 0
    for values in blocks:
        own = words[first : first + values.shape[1]]
        total += values[:, own].sum(axis=1)
        first += values.shape[1]
    return total


def _telling(columns: NDArray[Any], statistic: Floats) -> Floats:
    """By what features are ranked; see this file's docstring. Places without one come last."""
    size = np.abs(statistic) - _ABOUT_THE_SAME * (statistic < 0)
    return np.where(columns < 0, -np.inf, size)


class _Best:
    """The m most telling features of every node so far."""

    def __init__(self, n_nodes: int, m: int):
        shape = (2, n_nodes, m)
        self._columns = np.full(shape, -1, dtype=np.int32)
        types = (np.float32, np.float32, np.float64, np.float64)  # as in `NodeFeatures`
        self._values = [np.zeros(shape, dtype=dtype) for dtype in types]

    def add(self, against: int, first: int, found: Comparison) -> None:
        """Features from number `first` on, compared with the siblings (0) or the rest (1)."""
        step = max(1, _BLOCK // found.statistic.shape[1])
        for start in range(0, len(found.statistic), step):
            rows = slice(start, start + step)
            self._add(against, rows, first, [part[rows] for part in found])

    def _add(self, against: int, rows: slice, first: int, found: list[Floats]) -> None:
        kept = self._columns[against, rows]
        columns = first + np.arange(found[0].shape[1])
        columns = np.where(found[0] != 0, columns, -1)
        if columns.shape[1] > 2 * kept.shape[1]:  # sorting whole rows would cost more
            chosen = np.argpartition(-_telling(columns, found[0]), kept.shape[1], axis=1)
            chosen = np.sort(chosen[:, : kept.shape[1]], axis=1)
            columns, *found = (
                np.take_along_axis(part, chosen, axis=1) for part in (columns, *found)
            )
        columns = np.hstack([kept, columns])
        both = [
            np.hstack([old[against, rows], new])
            for old, new in zip(self._values, found, strict=True)
        ]
        # Largest first; of equals what the node has before what it lacks, the larger effect, the
        # lower column.
        size = _telling(columns, both[0]).round(3)
        order = np.lexsort((columns, -np.abs(both[1]), both[0] < 0, -size), axis=1)
        order = order[:, : kept.shape[1]]
        self._columns[against, rows] = np.take_along_axis(columns, order, axis=1)
        for old, new in zip(self._values, both, strict=True):
            old[against, rows] = np.take_along_axis(new, order, axis=1)

    def features(self, group_of: NDArray[np.int32], kinds: NDArray[np.int8]) -> NodeFeatures:
        """What was found."""
        values: dict[str, Any] = dict(zip(Comparison._fields, self._values, strict=True))
        return NodeFeatures(group_of=group_of, columns=self._columns, kinds=kinds, **values)
