"""Listeners to the chains of an experiment: a time limit, and a recorder of the warm-up."""

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bhmc.model.protocol import Sampler as Chain
from bhmc.model.state import Info
from bhmc.posterior.recorder import Recorder
from bhmc.posterior.retention import Plan

# Nothing but the numbers of every sweep.
_NUMBERS_ONLY = Plan(state_step=0, partition_step=0, best=False)
_NOTHING = Info(0, 0, 0, 0, 0)


class WarmupRecorder:
    """Records the numbers of every sweep of the warm-up, which `Draws` leave out."""

    def __init__(self, n_warmup: int):
        self._n_warmup = n_warmup
        self._chains: dict[int, Recorder] = {}

    def __call__(self, number: int, chain: Chain, made: int) -> bool:
        """Record chain `number` after sweep `made`; never ask it to stop."""
        if made <= self._n_warmup:
            recorder = self._chains.setdefault(number, Recorder(_NUMBERS_ONLY))
            recorder.on_draw(chain, _NOTHING)
        return False

    def series(self) -> dict[str, NDArray]:
        """Numbers of the warm-up by name, each (chain, sweep); none where chains were cut short."""
        chains = [self._chains[number].rows for number in sorted(self._chains)]
        if not chains or any(len(rows) < self._n_warmup for rows in chains):
            return {}

        def column(pick: Any) -> NDArray:
            return np.array([[pick(row) for row in rows] for rows in chains])

        found = {
            "log_likelihood": column(lambda row: row.log_likelihood),
            "n_nodes": column(lambda row: row.n_nodes),
            "n_components": column(lambda row: row.n_components),
        }
        for i in range(len(chains[0][0].nodes_at)):
            found[f"nodes_at[{i + 1}]"] = column(lambda row, i=i: row.nodes_at[i])
        return found


class TimeLimit:
    """Asks a chain to stop when its share of the time is over.

    Parameters
    ----------
    seconds : float
        Time for all chains together.
    n_chains, n_jobs : int
        How many chains there are, and how many run at the same time.
    """

    def __init__(self, seconds: float, n_chains: int, n_jobs: int):
        self._each = seconds * min(n_jobs, n_chains) / n_chains
        self._begun: dict[int, float] = {}
        self.is_over = False
        """Whether a chain was asked to stop."""

    def __call__(self, number: int, chain: Chain, made: int) -> bool:
        """Whether the time of chain `number` is over."""
        begun = self._begun.setdefault(number, time.monotonic())
        over = time.monotonic() - begun > self._each
        self.is_over |= over
        return over
