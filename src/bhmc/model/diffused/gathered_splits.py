"""Atoms split and merge through their rows, where rows are many or elsewhere.

The same proposals as in `atom_splits.py`, one by one: two rows are drawn by how many rows are
where, the rows of their atoms are gathered, and a kernel sees these alone. Atoms with too many rows
together are left as they are: a split and the merge that undoes it gather the same rows, so both
are left out or none.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bhmc.model.diffused.atom_splits import are_due, passes, proposals
from bhmc.model.diffused.row_numbers import RowNumbers, row_numbers, split_room

# Rows of a proposal times coordinates, at most: 64 MB of them.
MOST_NUMBERS = 2**23


class Place(NamedTuple):
    """A row, by its atom and its place among the rows of that atom."""

    atom: int
    """The slot of the atom."""
    place: int
    """From 0."""


class Together(NamedTuple):
    """The rows of one or two atoms as kernels see them."""

    rows: NDArray[np.int64]
    """(m,) their numbers among all rows."""
    component: NDArray[np.int32]
    """(m,) their atoms; changed by kernels."""
    numbers: RowNumbers
    """The rows themselves."""
    ends: tuple[int, int]
    """Which of them are i and j."""


def split_and_merge_gathered(chain: Any, moves: tuple[str, ...]) -> None:
    """Some proposals of "split" and of "branch", as named, one after the other.

    Parameters
    ----------
    chain : BlockedDiffusedSampler
        Changed in place.
    moves : tuple of str
        Names of moves; others are not of atoms through their rows.
    """
    named = [move for name, move in _MOVES.items() if name in moves]
    if not named or not are_due(chain):
        return
    tries = proposals(chain)
    for move in named:
        # Known once for all proposals: "split" leaves nodes where they are, and "branch" is last.
        chain.known[:, 0] = -1.0
        with chain.rows.gathering():
            _try_some(chain, move, tries)


def _try_some(chain: Any, move: Callable[[Any], bool], tries: int) -> None:
    for _ in range(tries):
        if move(chain):
            chain.forget_sums()
            chain.tidy()


def _split_atoms(chain: Any) -> bool:
    """Rows of an atom become one of the same leaf, or join one; whether the proposal was accepted.

    i is any row, j another row of its leaf.
    """
    forest = chain.forest
    i = _draw_row(chain, np.flatnonzero(forest.leaf >= 0))
    leaf = forest.leaf[i.atom]
    if forest.rows[leaf] < 2:
        return False
    j = i
    while j == i:
        j = _draw_row(chain, np.flatnonzero(forest.leaf == leaf))
    if _is_too_large(chain, i, j):
        return False
    chain.tidy(n_atoms=chain.n_components + 1)
    forest, held = chain.forest, _gathered(chain, i, j)
    room = split_room(len(held.rows), len(forest.leaf), chain.known)
    given = forest, held.numbers, room, held.component, *held.ends, passes(chain), chain.rates[1]
    return _settled(chain, held, chain.engine.split_gathered(*given, chain.source))


def _split_branches(chain: Any) -> bool:
    """Rows of an atom become one on a new branch, or such a one joins another; whether it was
    accepted. i and j are any rows.
    """
    depth = chain.forest.depth
    if not depth:
        return False
    atoms = np.flatnonzero(chain.forest.leaf >= 0)
    i, j = _draw_row(chain, atoms), _draw_row(chain, atoms)
    if i == j or _is_too_large(chain, i, j):
        return False
    top = chain.engine.top_of_branch(chain.forest, i.atom, j.atom, chain.source)
    if top < 0:
        return False
    chain.tidy(n_nodes=int(chain.forest.used[0]) + depth, n_atoms=chain.n_components + 1)
    forest, held = chain.forest, _gathered(chain, i, j)
    room = split_room(len(held.rows), len(forest.leaf), chain.known)
    given = forest, held.numbers, room, held.component, *held.ends, top, passes(chain)
    return _settled(chain, held, chain.engine.branch_gathered(*given, *chain.rates, chain.source))


def _draw_row(chain: Any, atoms: NDArray[np.int64]) -> Place:
    """A row of these atoms, each as likely as the others."""
    ends = np.cumsum(chain.forest.count[atoms])
    place = int(chain.rng.integers(ends[-1]))
    at = int(np.searchsorted(ends, place, side="right"))
    return Place(int(atoms[at]), place - int(ends[at] - chain.forest.count[atoms[at]]))


def _is_too_large(chain: Any, i: Place, j: Place) -> bool:
    """Whether too many rows would have to be gathered."""
    n_rows = int(sum(chain.forest.count[k] for k in {i.atom, j.atom}))
    return n_rows * len(chain.forest.column) > MOST_NUMBERS


def _gathered(chain: Any, i: Place, j: Place) -> Together:
    """All rows of the atoms of i and j; rows are in order, so it does not matter where they are."""
    found = chain.rows.gather(sorted({i.atom, j.atom}))
    ends = [int(np.flatnonzero(found.component == one.atom)[one.place]) for one in (i, j)]
    numbers = row_numbers(found.family, slice(0, len(found.rows)))
    return Together(found.rows, found.component, numbers, (ends[0], ends[1]))


def _settled(chain: Any, held: Together, accepted: bool) -> bool:
    """Rows are where an accepted proposal has put them."""
    if accepted:
        chain.rows.put(held.rows, 0, held.component)
    return bool(accepted)


_MOVES = {"split": _split_atoms, "branch": _split_branches}
