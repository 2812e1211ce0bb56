"""Chains that come from files: what a file says is compared with the fit before a sweep is made."""

from __future__ import annotations

from typing import Any

import numpy as np

from bhmc.model.protocol import Sampler, Transition
from bhmc.model.state import State
from bhmc.posterior.recorder import Recorder


def resumed_chain(
    transition: Transition,
    captured: Any,
    rows: Any,
    n_levels: int,
    sampler: str,
    rng: np.random.Generator,
) -> Sampler:
    """The chain that goes on from what a file has.

    Parameters
    ----------
    transition : Transition
        The model.
    captured : mapping or State
        What `Sampler.capture` returned; a state in files of format 1.
    rows : Rows
        The data.
    n_levels : int
        Steps from the root to a leaf.
    sampler : str
        How rows are redrawn.
    rng : numpy.random.Generator
        The generator as it was.
    """
    if isinstance(captured, State):
        _check_state(captured, transition, rows, n_levels)
        return transition.sampler(captured, rows, sampler, rng)
    chain = transition.resume(captured, rows, sampler, rng)
    if int(chain.sizes().levels.max()) != n_levels:
        raise ValueError("the checkpoint is not valid: its tree has other levels than the fit.")
    return chain


def check_recorded(recorder: Recorder, chain: Sampler) -> None:
    """Refuse draws of other rows or other levels, which compiled summaries would index with.

    Parameters
    ----------
    recorder : Recorder
        What a file has of a chain's draws.
    chain : Sampler
        The chain that goes on.
    """
    kept = [*recorder.partitions.things, *(one.partition for one in recorder.wholes.things)]
    if not kept:
        return
    now = chain.partition()
    own, lowest = now.levels[now.leaf], int(now.levels.max())
    even = bool((own == lowest).all())
    for one in kept:
        levels = one.levels
        if len(one.leaf) != len(own) or (even and (levels[one.leaf] != lowest).any()):
            raise ValueError("the checkpoint is not valid: a draw is of other rows or levels.")


def _check_state(state: State, transition: Any, rows: Any, n_levels: int) -> None:
    family, hyper = rows.family, transition.hyper
    same = (
        (state.params.transition, transition.name, "another transition"),
        (len(state.paths), rows.n_rows, "other rows"),
        (state.n_levels, n_levels, "other levels"),
        (state.theta.shape[1], family.n_parameters, "other columns"),
        (state.shared.shape, (family.n_shared,), "another family"),
        (state.hyper.n_components, hyper.n_components, "another number of components"),
    )
    for found, wanted, what in same:
        if found != wanted:
            raise ValueError(f"the checkpoint is not valid: its state is of {what}.")
