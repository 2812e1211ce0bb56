"""Every move, alone and with the others, leaves exact draws of every diffusing tree exact.

{diffused, gaussian} x {known, spherical, shared, tied, shaped, tails, bernoulli, categorical,
mixed} x moves. The wrong moves are in `tests/mutants/diffused_mutants.py`.
"""

import numpy as np
import pytest

from bhmc.model.diffused.setting import MOVES
from tests.exact.alarm import Z_LIMIT, rng_for
from tests.exact.invariance import paired_z
from tests.exact.tree_matrix import ALL, FAMILIES, STAGES, TRANSITIONS, cell

N_SHORT, N_LONG = 1_500, 10_000
# One family a move; whole sweeps are in `test_diffused.py` and `test_discrete_trees.py`. Moves of
# one tree and family share their exact draws, which take longer than the moves.
SHORT = [
    ("known", "diffused", "split"),
    ("bernoulli", "diffused", "branch"),
    ("bernoulli", "diffused", "atom"),
    ("bernoulli", "diffused", "steps"),
    ("bernoulli", "diffused", "shift"),
    ("spherical", "gaussian", "subtree"),
    ("spherical", "gaussian", "regroup"),
]


def worst_z(family: str, transition: str, move: str, n_draws: int, **engine) -> float:
    """The largest |z| of what a move changes in exact draws."""
    setting = cell(family, transition, move)
    z = paired_z(setting, "gibbs", STAGES[move], n_draws, rng_for(221), **engine)
    worst = float(np.abs(z).max())
    print(f"{family}, {transition}, {move}: |z| {worst:.1f} at {n_draws} draws")
    return worst


@pytest.mark.parametrize(("family", "transition", "move"), SHORT)
def test_a_move_leaves_exact_draws_exact(family, transition, move):
    assert worst_z(family, transition, move, N_SHORT) < Z_LIMIT


# Moves come last: those of one tree share their exact draws.
@pytest.mark.exact_long
@pytest.mark.parametrize("move", STAGES)
@pytest.mark.parametrize("transition", TRANSITIONS)
@pytest.mark.parametrize("family", FAMILIES)
def test_every_move_with_every_family(family, transition, move):
    assert worst_z(family, transition, move, N_LONG) < Z_LIMIT


def test_the_matrix_is_whole():
    """No move is left out, and none of the short form either."""
    assert set(STAGES) == {*MOVES, ALL}
    assert sorted(move for *_, move in SHORT) == sorted(MOVES)
    assert {transition for _, transition, _ in SHORT} == set(TRANSITIONS)
