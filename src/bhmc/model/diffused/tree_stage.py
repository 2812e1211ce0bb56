"""The tree given the atoms' evidence: moves with m and theta integrated out, then m and theta."""

from typing import Any

from bhmc.model.diffused.forest import grown
from bhmc.model.diffused.locations import draw_locations


def redraw_tree(chain: Any, moves: tuple[str, ...]) -> None:
    """Moves "atom", "subtree" and "regroup" as named; then (m, theta) | tree, evidence.

    Parameters
    ----------
    chain : DiffusedSampler
        Changed in place; its atoms have no holes.
    moves : tuple of str
        Names of moves; others are not of the tree.
    """
    forest, family = chain.forest, chain.rows.family
    forest.precision[:], forest.linear[:] = family.evidence(forest.theta, chain.sums(), chain.rng)
    for name, move in _MOVES.items():
        if name in moves:
            move(chain)
    chain.engine.collect(chain.forest)
    draw_locations(chain.forest, chain.rng)


def _move_atoms(chain: Any) -> None:
    """Every atom, in random order, draws its leaf."""
    order, done = chain.rng.permutation(int(chain.forest.used[1])), 0
    while done < len(order):
        chain.engine.collect(chain.forest)
        done = chain.engine.move_atoms(chain.forest, order, done, *chain.rates, chain.source)
        _grow(chain, done < len(order))


def _move_subtrees(chain: Any) -> None:
    """For every atom, in random order, its ancestor at a random level draws where it hangs.

    Nodes are named by an atom and a level, which no move changes: a list of nodes would depend on
    the tree, and what is drawn from would no longer be left alone.
    """
    if chain.forest.depth < 2:
        return
    order, done = chain.rng.permutation(int(chain.forest.used[1])), 0
    levels = chain.rng.integers(2, chain.forest.depth + 1, size=len(order))
    while done < len(order):
        chain.engine.collect(chain.forest)
        done = chain.engine.move_subtrees(
            chain.forest, order, levels, done, *chain.rates, chain.source
        )
        _grow(chain, done < len(order))


def _regroup(chain: Any) -> None:
    """Nodes split and merge: a proposal for each atom, whose number stays the same."""
    left = chain.n_components if chain.forest.depth else 0
    while left > 0:
        left -= chain.engine.regroup(chain.forest, left, *chain.rates, chain.source)
        _grow(chain, left > 0)


_MOVES = {"atom": _move_atoms, "subtree": _move_subtrees, "regroup": _regroup}


def _grow(chain: Any, is_short: bool) -> None:
    """Half as many slots for nodes again, where they ran out."""
    if is_short:
        forest = chain.forest
        chain.forest = grown(forest, n_nodes=len(forest.level) // 2 + 4 * (forest.depth + 1))
