"""`warmup`: compile every kernel now."""

from functools import cache
from typing import Any

import numpy as np

from bhmc._sampling.start import start_state
from bhmc._validation.parameters import check_choice
from bhmc.likelihoods import resolve
from bhmc.model.registry import AUTO, TRANSITIONS, transition_named, with_moves
from bhmc.model.state import Hyper
from bhmc.posterior.summary import expected_vi
from bhmc.posterior.support import soft_support
from bhmc.posterior.vi_search import improved, partition_of
from bhmc.rows.local import PRECISIONS, LocalRows

# Sweeps of two rows: enough for moves that are seldom accepted to happen.
_SWEEPS = 30

# What "auto" may stand for.
_EITHER = ("diffused", "hdp")


def warmup(precision: str = "float64", transition: str = AUTO) -> None:
    """Compile every kernel now, or load it from the disk cache, so that no fit has to wait for it.

    Parameters
    ----------
    precision : {"float64", "float32"}, default="float64"
        As in `BHMC`.
    transition : str, default="auto"
        Whose kernels. "auto" compiles those of "diffused" and of "hdp", since the data decide which
        of them a fit takes; either alone takes half the time. Those of "diffused" and "gaussian"
        are the same.
    """
    check_choice(precision, "precision", PRECISIONS)
    check_choice(transition, "transition", (AUTO, *TRANSITIONS))
    for name in _EITHER if transition == AUTO else (transition,):
        _run_all_samplers(name, precision)
    _run_estimates()


@cache  # what a process has compiled or loaded stays
def _run_estimates() -> None:
    """All that a point estimate needs."""
    label, rng = np.array([0, 1]), np.random.default_rng(0)
    expected_vi([label], [label])
    improved([label], [[label]], rng)
    soft_support(label[:, None], 2, [partition_of([label], label)])


@cache
def _run_all_samplers(name: str, precision: str) -> None:
    """Some sweeps of every sampler that a transition has.

    On a diffusing tree, families of bits and categories have kernels of their own.
    """
    rng = np.random.default_rng(0)
    transition, hyper = transition_named(name), Hyper(alpha=1.0, gamma0=1.0, gamma=1.0)
    families = ("known_gaussian", "bernoulli") if transition.located else ("gaussian",)
    for family in families:
        rows = LocalRows(resolve(family).prepare(np.array([[0.0], [1.0]])), precision)
        for how in ("exact", "paper"):
            bound = with_moves(transition.bind(hyper, how), "auto")
            for sampler in bound.samplers:
                _sweep(bound, rows, sampler, rng)


def _sweep(transition: Any, rows: LocalRows, sampler: str, rng: np.random.Generator) -> None:
    state = start_state(transition, rows, n_levels=2, rng=rng)
    chain = transition.sampler(state, rows, sampler, rng)
    for _ in range(_SWEEPS):
        chain.sweep()
    chain.log_prior()  # as the recorder notes of a draw
    if transition.located:  # as outlier scores draw
        family: Any = rows.family
        column, repeats = family.precision_columns()
        sums = family.sums(np.zeros(rows.n_rows, dtype=np.int64), 1)
        at, wide = np.zeros((1, len(column))), np.ones((1, len(repeats)))
        family.draw_theta_at(sums, at, wide, rng)
