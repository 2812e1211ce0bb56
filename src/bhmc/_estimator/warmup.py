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


def warmup(precision: str = "float64") -> None:
    """Compile every kernel now, or load it from the disk cache, so that no fit has to wait for it.

    Parameters
    ----------
    precision : {"float64", "float32"}, default="float64"
        As in `BHMC`.
    """
    check_choice(precision, "precision", PRECISIONS)
    rows = LocalRows(resolve("gaussian").prepare(np.array([[0.0], [1.0]])), precision)
    rng, hyper = np.random.default_rng(0), Hyper(alpha=1.0, gamma0=1.0, gamma=1.0)
    for name in TRANSITIONS:
        for how in ("exact", "paper"):
            transition = with_moves(transition_named(name).bind(hyper, how), "auto")
            for sampler in transition.samplers:
                state = start_state(transition, rows, n_levels=2, rng=rng)
                transition.sampler(state, rows, sampler, rng).sweep()
    label = np.array([0, 1])
    improved([label], [[label]], rng)
    soft_support(label[:, None], 2, [partition_of([label], label)])
