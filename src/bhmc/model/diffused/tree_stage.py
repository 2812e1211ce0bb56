"""The tree given the atoms' evidence: moves with m and theta integrated out, then m and theta."""

from typing import Any

import numpy as np

from bhmc.model.diffused.locations import draw_locations


def redraw_tree(chain: Any, moves: tuple[str, ...]) -> None:
    """Moves "atom", "subtree", "regroup" and "steps" as named; then (m, theta) | tree, evidence.

    Parameters
    ----------
    chain : DiffusedSampler
        Changed in place.
    moves : tuple of str
        Names of moves; others are not of the tree.
    """
    atoms, depth = int(chain.forest.used[1]), chain.forest.depth
    chain.tidy(n_nodes=1 + atoms * depth)  # no tree of these atoms has more
    forest, family = chain.forest, chain.rows.family
    k = int(forest.used[1])
    evidence = family.evidence(forest.theta[:k], chain.sums(), chain.rng)
    forest.precision[:k], forest.linear[:k] = evidence
    for name, move in _MOVES.items():
        if name in moves:
            move(chain)
    chain.engine.collect(forest)
    draw_locations(forest, chain.rng, chain.engine)


def _move_atoms(chain: Any) -> None:
    """Every atom, in random order, draws its leaf."""
    order = chain.rng.permutation(int(chain.forest.used[1]))
    chain.engine.collect(chain.forest)
    chain.engine.move_atoms(chain.forest, order, *chain.rates, chain.source)


def _move_subtrees(chain: Any) -> None:
    """For every atom, in random order, its ancestor at a random level draws where it hangs.

    Nodes are named by an atom and a level, which no move changes: a list of nodes would depend on
    the tree, and what is drawn from would no longer be left alone.
    """
    if chain.forest.depth < 2:
        return
    order = chain.rng.permutation(int(chain.forest.used[1]))
    levels = chain.rng.integers(2, chain.forest.depth + 1, size=len(order))
    chain.engine.collect(chain.forest)
    chain.engine.move_subtrees(chain.forest, order, levels, *chain.rates, chain.source)


def _regroup(chain: Any) -> None:
    """Nodes split and merge: a proposal for each atom, whose number stays the same."""
    tries = chain.n_components if chain.forest.depth else 0
    if tries:
        chain.engine.regroup(chain.forest, tries, *chain.rates, chain.source)


def _draw_steps(chain: Any) -> None:
    """v_l | tree, evidence, with m and theta integrated out: each by a slice of its logarithm."""
    if chain.learns:
        prior, blocks = chain.steps, chain.blocks
        law = prior.least, prior.shape, prior.scales
        variances = np.ascontiguousarray(chain.variances)
        chain.engine.draw_steps(chain.forest, blocks, variances, *law, chain.source)


_MOVES = {
    "atom": _move_atoms,
    "subtree": _move_subtrees,
    "regroup": _regroup,
    "steps": _draw_steps,
}
