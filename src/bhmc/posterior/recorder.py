"""What is kept of a chain: numbers of every draw, and as many whole draws as there is room for."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bhmc.model.protocol import Sampler as Chain
from bhmc.model.state import Info, State
from bhmc.posterior.draws import Draws, Partition
from bhmc.posterior.retention import Plan, Thinned, WholeDraw, small

# Pairs of rows that are watched.
_N_PAIRS = 8


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


class Row(NamedTuple):
    """The numbers of one draw."""

    log_joint: float
    log_likelihood: float
    n_nodes: int
    n_components: int
    component_entropy: float
    alpha: float
    gamma0: float
    gamma: float
    nodes_at: NDArray[np.int64]
    entropy_at: NDArray[np.float64]
    shared: NDArray[np.float64]
    together: NDArray[np.bool_]


class Recorder:
    """Listens to a chain: hand `on_draw` (and `on_warmup`) to `sampling.run`."""

    def __init__(self, plan: Plan | None = None):
        self.plan = plan or Plan(state_step=0, partition_step=0)
        self.rows: list[Row] = []
        self.warmup_hyper: list[tuple[float, ...]] = []
        self.warmup_shared: list[NDArray[np.float64]] = []
        self.wholes = Thinned(self.plan.state_step, self.plan.state_bytes)
        limit = 2**62 if self.plan.every_partition else self.plan.partition_bytes
        step = 1 if self.plan.every_partition else self.plan.partition_step
        self.partitions = Thinned(step, limit)
        self.pairs = np.empty((0, 2), dtype=np.int64)
        self.best: State | None = None
        self.best_log_likelihood = -np.inf

    def on_warmup(self, chain: Chain) -> None:
        """Note what the chain has learned so far."""
        self.warmup_hyper.append(tuple(chain.learned().values()))
        self.warmup_shared.append(chain.shared)

    def on_draw(self, chain: Chain, info: Info) -> None:
        """Note the draw's numbers; keep the whole of it where the plan says so."""
        log_likelihood = chain.log_likelihood()
        if np.isnan(log_likelihood):
            raise ArithmeticError("a draw has no likelihood: its numbers are beyond a double.")
        draw = len(self.rows)
        if not self.rows:
            self.pairs = watched_pairs(len(chain.partition().leaf))
        self.rows.append(_numbers(chain, log_likelihood, self.pairs))
        self._keep(chain, draw)
        if self.plan.best and (self.best is None or log_likelihood > self.best_log_likelihood):
            self.best = None  # never two of them: for many rows a state is large
            self.best, self.best_log_likelihood = chain.state(), log_likelihood

    def first(self, n_draws: int) -> Recorder:
        """What was kept of the first so many draws; all of it, this same recorder."""
        if n_draws == len(self.rows):
            return self
        fewer = Recorder(self.plan)
        fewer.rows, fewer.pairs = self.rows[:n_draws], self.pairs
        fewer.warmup_hyper, fewer.warmup_shared = self.warmup_hyper, self.warmup_shared
        fewer.wholes, fewer.partitions = self.wholes.first(n_draws), self.partitions.first(n_draws)
        fewer.best, fewer.best_log_likelihood = self.best, self.best_log_likelihood
        return fewer

    def _keep(self, chain: Chain, draw: int) -> None:
        whole = self.plan.state_step > 0 and self.wholes.wants(draw)
        partition = self.plan.partition_step > 0 and self.partitions.wants(draw)
        if not whole and not partition:
            return
        tree = chain.partition()
        kept = Partition(small(tree.leaf), small(tree.component), tree.parents)
        if partition:
            self.partitions.add(draw, kept)
        if whole:
            state = chain.state()
            self.wholes.add(
                draw,
                WholeDraw(kept, state.params.log_weights, state.theta, state.shared, state.hyper),
            )


def best_state(recorders: list[Recorder]) -> State:
    """The draw of the highest complete-data log likelihood over all chains, as in the paper."""
    best = max(recorders, key=lambda recorder: recorder.best_log_likelihood)
    assert best.best is not None, "a chain keeps at least one draw"
    return best.best


def watched_pairs(n_rows: int) -> NDArray[np.int64]:
    """(pairs, 2) a few pairs of rows, always the same for so many rows."""
    if n_rows < 2:
        return np.empty((0, 2), dtype=np.int64)
    rng = np.random.default_rng(n_rows)
    first = rng.integers(0, n_rows, size=_N_PAIRS)
    return np.column_stack([first, (first + rng.integers(1, n_rows, size=_N_PAIRS)) % n_rows])


def collect(recorders: list[Recorder]) -> Draws:
    """What all chains have kept; they must have as many draws each."""
    columns = {
        name: np.array([[getattr(row, name) for row in one.rows] for one in recorders])
        for name in Row._fields
    }
    n_levels = columns["nodes_at"].shape[2]
    wholes, whole_index = kept_of([one.wholes for one in recorders])
    partitions, partition_index = kept_of([one.partitions for one in recorders])
    return Draws(
        **columns,
        pairs=recorders[0].pairs,
        partitions=partitions,
        partition_index=partition_index,
        mixtures=tuple(whole.mixture(n_levels) for whole in wholes),
        mixture_index=whole_index,
    )


def kept_of(stores: list[Thinned]) -> tuple[tuple, NDArray[np.int64]]:
    """The things that all chains have kept, and the chain and draw of each."""
    things = tuple(thing for store in stores for thing in store.things)
    index = [(chain, draw) for chain, store in enumerate(stores) for draw in store.draws]
    return things, np.array(index, dtype=np.int64).reshape(-1, 2)


def collect_warmup(recorders: list[Recorder]) -> WarmupTraces:
    """The warm-up's numbers of all chains, stacked."""
    hyper = np.moveaxis(np.array([recorder.warmup_hyper for recorder in recorders]), -1, 0)
    return WarmupTraces(*hyper, shared=np.array([one.warmup_shared for one in recorders]))


def _numbers(chain: Chain, log_likelihood: float, pairs: NDArray[np.int64]) -> Row:
    """What is noted of a draw; entropies are -sum of p log p, p being shares of the rows."""
    tree = chain.partition()
    n_nodes = len(tree.parents)
    sizes = np.bincount(tree.leaf, minlength=n_nodes)
    levels = np.zeros(n_nodes, dtype=np.int64)
    for z in range(1, n_nodes):
        levels[z] = levels[tree.parents[z]] + 1
    for z in range(n_nodes - 1, 0, -1):
        sizes[tree.parents[z]] += sizes[z]
    n, terms = sizes[0], np.bincount(levels, weights=sizes * np.log(sizes))
    held = np.bincount(tree.component)
    held = held[held > 0]
    hyper = chain.learned()
    return Row(
        log_joint=log_likelihood + chain.log_prior(),
        log_likelihood=log_likelihood,
        n_nodes=len(sizes),
        n_components=chain.n_components,
        component_entropy=float(np.log(n) - (held * np.log(held)).sum() / n),
        alpha=hyper["alpha"],
        gamma0=hyper["gamma0"],
        gamma=hyper["gamma"],
        nodes_at=np.bincount(levels)[1:],
        entropy_at=(np.log(n) - terms / n)[1:],
        shared=chain.shared,
        together=tree.component[pairs[:, 0]] == tree.component[pairs[:, 1]],
    )
