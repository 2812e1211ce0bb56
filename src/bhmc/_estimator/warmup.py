"""`warmup`: compile every kernel now."""

import numpy as np

from bhmc._sampling.start import start_state
from bhmc._validation.parameters import check_choice
from bhmc.likelihoods import resolve
from bhmc.model.registry import TRANSITIONS, transition_named, with_moves
from bhmc.model.state import Hyper
from bhmc.posterior.support import soft_support
from bhmc.posterior.vi_search import improved, partition_of
from bhmc.rows.local import PRECISIONS, LocalRows

# Sweeps of two rows: enough for moves that are seldom accepted to happen.
_SWEEPS = 30


def warmup(precision: str = "float64", transition: str = "hdp") -> None:
    """Compile every kernel now, or load it from the disk cache, so that no fit has to wait for it.

    Parameters
    ----------
    precision : {"float64", "float32"}, default="float64"
        As in `BHMC`.
    transition : str, default="hdp"
        Whose kernels; those of "diffused" and "gaussian" are the same.
    """
    check_choice(precision, "precision", PRECISIONS)
    check_choice(transition, "transition", tuple(TRANSITIONS))
    located = transition_named(transition).located
    family = resolve("known_gaussian" if located else "gaussian")
    rows = LocalRows(family.prepare(np.array([[0.0], [1.0]])), precision)
    rng, hyper = np.random.default_rng(0), Hyper(alpha=1.0, gamma0=1.0, gamma=1.0)
    for how in ("exact", "paper"):
        bound = with_moves(transition_named(transition).bind(hyper, how), "auto")
        for sampler in bound.samplers:
            state = start_state(bound, rows, n_levels=2, rng=rng)
            chain = bound.sampler(state, rows, sampler, rng)
            for _ in range(_SWEEPS):
                chain.sweep()
    label = np.array([0, 1])
    improved([label], [[label]], rng)
    soft_support(label[:, None], 2, [partition_of([label], label)])
