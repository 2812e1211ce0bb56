"""What is kept of a chain: a few numbers of every draw, and the whole of the best one."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bhmc._state import Info, State
from bhmc.sampling import Chain


class Draws(NamedTuple):
    """Numbers of every kept draw, each an array (chain, draw)."""

    log_likelihood: NDArray[np.float64]
    """log p(X, c, V | B, theta), the complete-data log likelihood."""
    n_nodes: NDArray[np.int64]
    """Nodes in the tree."""
    n_components: NDArray[np.int64]
    """Components that exist."""
    alpha: NDArray[np.float64]
    """How readily data open new branches."""
    gamma0: NDArray[np.float64]
    """How many components the tree spreads over."""
    gamma: NDArray[np.float64]
    """How closely nodes follow their parents."""

    def __repr__(self) -> str:
        n_chains, n_draws = self.log_likelihood.shape
        return f"Draws({n_chains} chains x {n_draws} draws of {', '.join(self._fields)})"


class WarmupTraces(NamedTuple):
    """What was learned, sweep by sweep of the warm-up; each array is (chain, sweep)."""

    alpha: NDArray[np.float64]
    """How readily data open new branches."""
    gamma0: NDArray[np.float64]
    """How many components the tree spreads over."""
    gamma: NDArray[np.float64]
    """How closely nodes follow their parents."""
    shared: NDArray[np.float64]
    """(chain, sweep, q) the numbers that all components share, such as a learned sigma2."""


class Recorder:
    """Listens to a chain: hand `on_draw` (and `on_warmup`) to `sampling.run`."""

    def __init__(self):
        self.rows: list[tuple[float, ...]] = []
        self.warmup_hyper: list[tuple[float, ...]] = []
        self.warmup_shared: list[NDArray[np.float64]] = []
        self.best: State | None = None
        self.best_log_likelihood = -np.inf

    def on_warmup(self, chain: Chain) -> None:
        """Note what the chain has learned so far."""
        hyper = chain.hyper
        self.warmup_hyper.append((hyper.alpha, hyper.gamma0, hyper.gamma))
        self.warmup_shared.append(chain.shared)

    def on_draw(self, chain: Chain, info: Info) -> None:
        """Note the draw's numbers; keep its state if none before it was more likely."""
        log_likelihood = chain.log_likelihood()
        if np.isnan(log_likelihood):
            raise ArithmeticError("a draw has no likelihood: its numbers are beyond a double.")
        hyper = chain.hyper
        self.rows.append(
            (
                log_likelihood,
                chain.n_nodes,
                chain.n_components,
                hyper.alpha,
                hyper.gamma0,
                hyper.gamma,
            )
        )
        if self.best is None or log_likelihood > self.best_log_likelihood:
            self.best = None  # never two of them: for many rows a state is large
            self.best, self.best_log_likelihood = chain.state(), log_likelihood


def best_state(recorders: list[Recorder]) -> State:
    """The draw of the highest complete-data log likelihood over all chains, as in the paper."""
    best = max(recorders, key=lambda recorder: recorder.best_log_likelihood)
    assert best.best is not None, "a chain keeps at least one draw"
    return best.best


def collect(recorders: list[Recorder]) -> Draws:
    """The numbers of all chains, stacked."""
    rows = np.moveaxis(np.array([recorder.rows for recorder in recorders]), -1, 0)
    log_likelihood, n_nodes, n_components, *hyper = rows
    return Draws(log_likelihood, n_nodes.astype(np.int64), n_components.astype(np.int64), *hyper)


def collect_warmup(recorders: list[Recorder]) -> WarmupTraces:
    """The warm-up's numbers of all chains, stacked."""
    hyper = np.moveaxis(np.array([recorder.warmup_hyper for recorder in recorders]), -1, 0)
    return WarmupTraces(*hyper, shared=np.array([one.warmup_shared for one in recorders]))
