"""Two trees side by side: which nodes match, which rows moved, in numbers and in sentences."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from bhmc._explorer.container import Arrays, floats
from bhmc._explorer.shown import Shown
from bhmc.metrics._compare_trees import NodeMatch, TreeComparison
from bhmc.plotting.style import percent
from bhmc.tree import Tree
from bhmc.tree.html import count, short
from bhmc.tree.node_names import name_of

# Groups and rows that are named in sentences; rows that are drawn as ribbons.
_MOST_GROUPS, _MOST_ROWS, _MOST_MOVED = 6, 6, 2_000


def compare_arrays(
    found: TreeComparison, ours: Shown, theirs: Shown, item_of: NDArray[np.int64]
) -> Arrays:
    """Pairs of nodes, and the items that moved, those first that moved most.

    Parameters
    ----------
    found : TreeComparison
        What `compare_trees` found.
    ours, theirs : Shown
        Nodes of the two trees.
    item_of : (n,) array
        The item of each row of our tree; -1 where it is not in the page.
    """
    pairs = [pair for pair in found.pairs if _has(ours, pair.a) and _has(theirs, pair.b)]
    rows = found.rows[list(found.moved), 0] if found.moved else np.empty(0, dtype=np.int64)
    moved = item_of[rows]
    return {
        "compare.a": ours.place[[pair.a for pair in pairs]].astype("<i4"),
        "compare.b": theirs.place[[pair.b for pair in pairs]].astype("<i4"),
        "compare.match": floats([pair.jaccard for pair in pairs]),
        "compare.moved": moved[moved >= 0][:_MOST_MOVED].astype("<i4"),
    }


def compare_rows(found: TreeComparison, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """The row of the other tree that is each of some rows of ours; -1 where it has none.

    Parameters
    ----------
    found : TreeComparison
        What `compare_trees` found.
    rows : array of int
        Row numbers of our tree.
    """
    other = np.full(len(found.a.paths), -1, dtype=np.int64)
    other[found.rows[:, 0]] = found.rows[:, 1]
    return other[rows]


def compare_sentences(found: TreeComparison, ours: list[str], theirs: list[str]) -> list[str]:
    """What a person asks of two trees first.

    Parameters
    ----------
    found : TreeComparison
        What `compare_trees` found.
    ours, theirs : list of str
        What sets each node of the two trees apart, by id; "" where it is not known.
    """
    return [
        *_head(found),
        *_moved(found),
        *_changed(found, ours),
        *_alone(found, ours, theirs),
    ]


def _head(found: TreeComparison) -> Iterator[str]:
    n = len(found.rows)
    left_out = [len(tree.paths) - n for tree in (found.a, found.b)]
    if any(left_out):
        yield (
            f"{n:,} rows are in both trees; {left_out[0]:,} are only on the left, and "
            f"{left_out[1]:,} only on the right."
        )
    same = sum(pair.jaccard == 1 for pair in found.matches)
    yield (
        f"{count(len(found.matches), 'group')} of the left tree "
        f"{'has' if len(found.matches) == 1 else 'have'} a match on the right, of "
        f"{len(found.best_a):,} on the left and {len(found.best_b):,} on the right; {same:,} of "
        "them hold exactly the same rows."
    )
    yield f"The best match of a group is {percent(found.similarity)} on average."


def _moved(found: TreeComparison) -> Iterator[str]:
    moved, n = list(found.moved), len(found.rows)
    if not moved:
        yield f"None of {n:,} rows moved: no row left or joined a matched group."
        return
    yield (
        f"{len(moved):,} of {n:,} rows moved: they left or joined a matched group. They are "
        f"{_rows(found, moved)}."
    )


def _changed(found: TreeComparison, phrases: list[str]) -> Iterator[str]:
    """Matched groups whose rows differ, the largest first."""
    changed = [pair for pair in found.matches if pair.jaccard < 1]
    for pair in changed[:_MOST_GROUPS]:
        parts = [
            f"{word}: {_rows(found, places.tolist())}"
            for word, places in (("left it", found.left(pair)), ("joined it", found.joined(pair)))
            if len(places)
        ]
        yield (
            f"{_group(found.a, pair.a, phrases, pair.size_a)} is group {pair.b} of "
            f"{count(pair.size_b, 'row')} on the right ({percent(pair.jaccard)} match); "
            f"{'; '.join(parts)}."
        )


def _alone(found: TreeComparison, ours: list[str], theirs: list[str]) -> Iterator[str]:
    """Groups without a match, the largest first."""
    poor = [pair for pair in found.pairs if pair not in set(found.matches)]
    for side, alone, phrases in (("a", found.only_a, ours), ("b", found.only_b, theirs)):
        ones = sorted([*alone, *poor], key=lambda one: -getattr(one, f"size_{side}"))
        if not ones:
            continue
        named = [_of_side(found, side, one, phrases) for one in ones[:_MOST_GROUPS]]
        more = f" and {len(ones) - len(named):,} more" if len(ones) > len(named) else ""
        where = "left" if side == "a" else "right"
        yield f"Only on the {where}: {', '.join(named)}{more}."


def _of_side(found: TreeComparison, side: str, one: NodeMatch, phrases: list[str]) -> str:
    node, size = getattr(one, side), getattr(one, f"size_{side}")
    text = _group(getattr(found, side), node, phrases, size)
    return text[0].lower() + text[1:]


def _group(tree: Tree, node: int, phrases: list[str], size: int) -> str:
    """`Group 3 (milk, hair; 41 rows)`."""
    said = short(name_of(tree, node) or phrases[node])
    inside = f"{said}; {count(size, 'row')}" if said else count(size, "row")
    return f"Group {node} ({inside})"


def _rows(found: TreeComparison, places: list[int]) -> str:
    """Some rows by name."""
    plain = found.a.names is None and found.b.names is None
    named = [
        short(f"row {found.name(one)}" if plain else found.name(one)) for one in places[:_MOST_ROWS]
    ]
    more = len(places) - _MOST_ROWS
    return ", ".join(named) + (f" and {more:,} more" if more > 0 else "")


def _has(shown: Shown, node: int) -> bool:
    return bool(shown.ids[shown.place[node]] == node)
