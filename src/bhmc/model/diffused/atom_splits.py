"""Atoms split and merge through their rows."""

import math
from typing import Any

from bhmc.model.diffused.row_numbers import RowNumbers, split_room

# Proposals of each kind in a sweep: a multiple of the root of the number of rows, and so many at
# most. It must not depend on the atoms: their number changes with each of them. Four times the root
# doubles the effective draws of the number of atoms on small tables; where coordinates are logits a
# proposal takes integrals: there the root itself has to do, and twice that gives Zoo little more
# for a third more time.
_MULTIPLE, _MULTIPLE_OF_LOGITS, _MOST = 4.0, 1.0, 64

# Passes in which rows settle on their sides before they draw them, at most. Of overlapping groups
# in 32 columns three times as many splits are accepted with five as with one, and with twenty no
# more (`make study NAME=split_passes`). Logits have one: what their rows choose by is not exact,
# and with five fewer splits are accepted.
PASSES, _PASSES_OF_LOGITS = 5, 1

# With more rows than this the proposals, which read all rows of an atom, are made in a part of the
# sweeps, chosen at random without looking at the state: this number over that of all rows, to a
# power that the chain names.
_ROWS_OF_EVERY_SWEEP = 10_000


def split_and_merge(chain: Any, moves: tuple[str, ...]) -> None:
    """Some proposals of "split" and of "branch", as named, one after the other.

    Parameters
    ----------
    chain : DiffusedSampler
        Changed in place.
    moves : tuple of str
        Names of moves; others are not of atoms through their rows.
    """
    named = [move for name, move in _MOVES.items() if name in moves]
    if not named or not are_due(chain):
        return
    numbers, tries = chain.numbers_of(slice(0, chain.rows.n_rows)), proposals(chain)
    # Known once, for all moves: "split" leaves nodes where they are, and "branch" is the last.
    chain.known[:, 0] = -1.0
    for move in named:
        if move(chain, numbers, tries):
            chain.forget_sums()
            chain.tidy()


def are_due(chain: Any) -> bool:
    """Whether proposals are made in this sweep: by chance alone, whatever the state is.

    Parameters
    ----------
    chain : DiffusedSampler
        Its generator says so.
    """
    share = (_ROWS_OF_EVERY_SWEEP / chain.rows.n_rows) ** chain.power_of_splits
    return share >= 1 or chain.rng.random() <= share


def proposals(chain: Any) -> int:
    """Proposals of each kind in a sweep.

    Parameters
    ----------
    chain : DiffusedSampler
        A chain.
    """
    multiple = _MULTIPLE_OF_LOGITS if chain.is_logit.any() else _MULTIPLE
    return min(math.ceil(multiple * math.sqrt(chain.rows.n_rows)), _MOST)


def _split_atoms(chain: Any, numbers: RowNumbers, tries: int) -> int:
    """Rows of an atom become one of the same leaf, or join one; how many were accepted."""
    chain.tidy(n_atoms=chain.n_components + tries)
    forest, component = chain.forest, chain.rows.component
    room = split_room(len(component), len(forest.leaf), chain.known)
    g = chain.rates[1]
    given = forest, numbers, room, component, tries, passes(chain), g, chain.source
    return chain.engine.split_atoms(*given)


def _split_branches(chain: Any, numbers: RowNumbers, tries: int) -> int:
    """Rows of an atom become one on a new branch, or such a one joins another; how many were."""
    depth = chain.forest.depth
    if not depth:
        return 0
    n_nodes = int(chain.forest.used[0]) + tries * depth
    chain.tidy(n_nodes=n_nodes, n_atoms=chain.n_components + tries)
    forest, component = chain.forest, chain.rows.component
    room = split_room(len(component), len(forest.leaf), chain.known)
    given = forest, numbers, room, component, tries, passes(chain), *chain.rates, chain.source
    return chain.engine.split_branches(*given)


def passes(chain: Any) -> int:
    """Passes in which rows settle on their sides.

    Parameters
    ----------
    chain : DiffusedSampler
        A chain.
    """
    return _PASSES_OF_LOGITS if chain.is_logit.any() else PASSES


_MOVES = {"split": _split_atoms, "branch": _split_branches}
