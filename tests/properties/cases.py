"""Every transition with every family that it takes: small tables, states and short chains."""

from functools import cache

import numpy as np
from hypothesis import settings
from studies.same_draws import data

from bhmc import Hyper, State
from bhmc._sampling.start import start_state
from bhmc.model.registry import TRANSITIONS, transition_named, with_moves
from bhmc.rows.local import LocalRows

HYPER = Hyper(0.8, 1.2, 1.3)
N_LEVELS = 2

# The same examples at every run; a compiled kernel makes the first of them slow.
FEW = settings(max_examples=5, deadline=None, derandomize=True)
MANY = settings(max_examples=40, deadline=None, derandomize=True)


def _goes_together(name: str, family: str) -> bool:
    transition = transition_named(name)
    try:
        transition.check(data.FAMILIES[family], N_LEVELS, transition.samplers[0])
    except ValueError:
        return False
    return True


PAIRS = [(name, one) for name in TRANSITIONS for one in data.FAMILIES if _goes_together(name, one)]


def transition_of(name: str):
    """The transition with all its moves."""
    transition = transition_named(name)
    return with_moves(transition.bind(HYPER, transition.samplers[0]), "auto")


def short_chain(name: str, family: str, X, seed: int, sweeps: int, init="prior"):
    """A chain after a few sweeps."""
    rng, transition = np.random.default_rng(seed), transition_of(name)
    rows = LocalRows(data.FAMILIES[family].prepare(X))
    state = start_state(transition, rows, n_levels=N_LEVELS, rng=rng, init=init)
    chain = transition.sampler(state, rows, transition.samplers[0], rng)
    for _ in range(sweeps):
        chain.sweep()
    return chain


@cache
def some_state(name: str, family: str) -> State:
    """A state in the middle of a chain."""
    return short_chain(name, family, data.rows_of(family), seed=3, sweeps=4).state()


def reordered(state: State, order) -> State:
    """The same state where row i is what was row order[i]."""
    return state._replace(paths=state.paths[order], components=state.components[order])


def log_likelihood(name: str, family: str, state: State, X) -> float:
    """That of a chain which is at this state, all parts of the family included."""
    rows = LocalRows(data.FAMILIES[family].prepare(X))
    transition = transition_of(name)
    chain = transition.sampler(state, rows, transition.samplers[0], np.random.default_rng(0))
    return chain.log_likelihood()
