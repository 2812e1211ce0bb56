"""What is kept of a chain: numbers of every draw, and as many whole draws as there is room for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bhmc.model.protocol import Sampler, Transition
from bhmc.model.state import Info, Sizes
from bhmc.posterior.draws import Draws, learned_value
from bhmc.posterior.predictive import mixture_of
from bhmc.posterior.retention import Plan, Thinned, WholeDraw, small

# Pairs of rows of which every draw says whether they are together.
_N_PAIRS = 8

Learned = dict[str, float | NDArray[np.float64]]


class WarmupTraces(NamedTuple):
    """What was learned, sweep by sweep of the warm-up."""

    learned: dict[str, NDArray[np.float64]]
    """Hyperparameters by name, each (chain, sweep); `traces.alpha` is short for
    `traces.learned["alpha"]`."""
    shared: NDArray[np.float64]
    """(chain, sweep, q) the numbers that all components share, such as a learned sigma2."""

    def __getattr__(self, name: str) -> NDArray[np.float64]:
        return learned_value(self.learned, name, "WarmupTraces")


class Row(NamedTuple):
    """The numbers of one draw, as `Draws` has them of all."""

    log_joint: float
    log_likelihood: float
    n_nodes: int
    n_components: int
    component_entropy: float
    learned: Learned
    nodes_at: NDArray[np.int64]
    entropy_at: NDArray[np.float64]
    shared: NDArray[np.float64]
    together: NDArray[np.bool_]


_PLAIN_FIELDS = [name for name in Row._fields if name != "learned"]


class Recorder:
    """Listens to a chain: hand `on_draw` (and `on_warmup`) to `run`.

    Parameters
    ----------
    plan : Plan, optional
        What to keep of whole draws and partitions; by default nothing.
    """

    def __init__(self, plan: Plan | None = None):
        self.plan: Plan = plan or Plan(state_step=0, partition_step=0)
        self.rows: list[Row] = []
        self.warmup_learned: list[Learned] = []
        self.warmup_shared: list[NDArray[np.float64]] = []
        self.wholes: Thinned = Thinned(self.plan.state_step, self.plan.state_bytes)
        limit = 2**62 if self.plan.every_partition else self.plan.partition_bytes
        step = 1 if self.plan.every_partition else self.plan.partition_step
        self.partitions: Thinned = Thinned(step, limit)
        self.pairs: NDArray[np.int64] = np.empty((0, 2), dtype=np.int64)
        self.best: Any = None
        self.best_value: float = -np.inf

    def on_warmup(self, sampler: Sampler) -> None:
        """Note what the sampler has learned so far.

        Parameters
        ----------
        sampler : Sampler
            The chain after a sweep of the warm-up.
        """
        self.warmup_learned.append(dict(sampler.learned()))
        self.warmup_shared.append(sampler.shared)

    def on_draw(self, sampler: Sampler, info: Info | None = None) -> None:
        """Note the draw's numbers; keep the whole of it where the plan says so.

        Parameters
        ----------
        sampler : Sampler
            The chain at a draw.
        info : Info, optional
            What happened in the last sweep; not kept.
        """
        log_likelihood = sampler.log_likelihood()
        if np.isnan(log_likelihood):
            raise ArithmeticError(
                "The log likelihood is NaN because values overflowed double precision."
            )
        draw, sizes = len(self.rows), sampler.sizes()
        if not self.rows:
            self.pairs = watched_pairs(int(sizes.components.sum()))
        self.rows.append(_numbers(sampler, sizes, log_likelihood, self.pairs))
        self._keep(sampler, draw)
        value = getattr(self.rows[-1], self.plan.best_by)
        if self.plan.best and (self.best is None or value > self.best_value):
            self.best = None  # never two of them: for many rows a state is large
            self.best, self.best_value = sampler.state(), value

    def first(self, n_draws: int) -> Recorder:
        """What was kept of the first `n_draws` draws; this same recorder where that is all."""
        if n_draws == len(self.rows):
            return self
        fewer = Recorder(self.plan)
        fewer.rows, fewer.pairs = self.rows[:n_draws], self.pairs
        fewer.warmup_learned, fewer.warmup_shared = self.warmup_learned, self.warmup_shared
        fewer.wholes, fewer.partitions = self.wholes.first(n_draws), self.partitions.first(n_draws)
        fewer.best, fewer.best_value = self.best, self.best_value
        return fewer

    def copy(self) -> Recorder:
        """A recorder that goes on from here by itself."""
        return Recorder.from_contents(self.contents(), self.plan)

    def become(self, other: Recorder) -> None:
        """Have noted what another has, which is not used any more.

        Parameters
        ----------
        other : Recorder
            The other one.
        """
        self.__dict__.update(other.__dict__)

    def within(self, most_bytes: int) -> Recorder:
        """The numbers of all draws, and as many partitions and whole draws as take no more bytes.

        Whole draws take at most half of the bytes, partitions what is left.

        Parameters
        ----------
        most_bytes : int
            What they may take together.
        """
        fewer = Recorder(self.plan)
        fewer.__dict__.update(self.__dict__)
        fewer.wholes = self.wholes.within(most_bytes // 2)
        fewer.partitions = self.partitions.within(most_bytes - fewer.wholes.nbytes)
        return fewer

    def contents(self) -> dict[str, Any]:
        """All that was kept, as values that a file can hold."""
        wholes = self.wholes.things
        return {
            "rows": {name: [getattr(row, name) for row in self.rows] for name in _PLAIN_FIELDS},
            "learned": _columns([row.learned for row in self.rows]),
            "pairs": self.pairs,
            "warmup_learned": _columns(self.warmup_learned),
            "warmup_shared": self.warmup_shared,
            "partitions": {
                "step": self.partitions.step,
                "draws": self.partitions.draws,
                "partitions": self.partitions.things,
            },
            "wholes": {
                "step": self.wholes.step,
                "draws": self.wholes.draws,
                "partitions": [whole.partition for whole in wholes],
                "others": _columns([whole.others for whole in wholes]),
            },
            "best": self.best,
            "best_log_likelihood": self.best_value,  # its name in files, whatever the number
        }

    @classmethod
    def from_contents(cls, values: dict[str, Any], plan: Plan) -> Recorder:
        """A recorder that resumes from what another had kept.

        Parameters
        ----------
        values : dict
            What `contents` gave.
        plan : Plan
            What to keep from now on.
        """
        recorder, rows = cls(plan), values["rows"]
        plain = zip(*(rows[name] for name in _PLAIN_FIELDS), strict=True)
        learned = _dicts(values["learned"], len(rows["log_joint"]))
        recorder.rows = [
            Row(**dict(zip(_PLAIN_FIELDS, numbers, strict=True)), learned=one)
            for numbers, one in zip(plain, learned, strict=True)
        ]
        recorder.pairs = values["pairs"]
        recorder.warmup_shared = list(values["warmup_shared"])
        recorder.warmup_learned = _dicts(values["warmup_learned"], len(recorder.warmup_shared))
        kept, wholes = values["partitions"], values["wholes"]
        recorder.partitions.restore(kept["step"], kept["draws"], kept["partitions"])
        others = _dicts(wholes["others"], len(wholes["draws"]))
        things = list(map(WholeDraw, wholes["partitions"], others))
        recorder.wholes.restore(wholes["step"], wholes["draws"], things)
        recorder.best, recorder.best_value = values["best"], values["best_log_likelihood"]
        return recorder

    def _keep(self, sampler: Sampler, draw: int) -> None:
        keeps_whole = self.plan.state_step > 0 and self.wholes.wants(draw)
        keeps_partition = self.plan.partition_step > 0 and self.partitions.wants(draw)
        if not keeps_whole and not keeps_partition:
            return
        kept = small(sampler.partition())
        if keeps_partition:
            self.partitions.add(draw, kept)
        if keeps_whole:
            self.wholes.add(draw, WholeDraw.of(sampler.state(), kept))


def best_state(recorders: Sequence[Recorder]) -> Any:
    """The best draw over all chains: what `Sampler.state` returned where `Plan.best_by` is highest.

    By default that is the complete-data log likelihood, as in the paper.

    Parameters
    ----------
    recorders : sequence of Recorder
        One for each chain; each has kept its best draw.
    """
    best = max(recorders, key=lambda recorder: recorder.best_value)
    assert best.best is not None, "a chain keeps at least one draw"
    return best.best


def watched_pairs(n_rows: int) -> NDArray[np.int64]:
    """(pairs, 2) a few pairs of rows, always the same for the same number of rows.

    Parameters
    ----------
    n_rows : int
        Rows of the data.
    """
    if n_rows < 2:
        return np.empty((0, 2), dtype=np.int64)
    rng = np.random.default_rng(n_rows)
    first = rng.integers(0, n_rows, size=_N_PAIRS)
    return np.column_stack([first, (first + rng.integers(1, n_rows, size=_N_PAIRS)) % n_rows])


def collect(recorders: Sequence[Recorder], transition: Transition | None = None) -> Draws:
    """What all chains have kept.

    Parameters
    ----------
    recorders : sequence of Recorder
        One for each chain, with as many draws each.
    transition : Transition, optional
        Whose draws they are.
    """
    numbers = collect_numbers(recorders)
    wholes, whole_index = kept_of([one.wholes for one in recorders])
    partitions, partition_index = kept_of([one.partitions for one in recorders])
    states = (whole.state(numbers.n_levels) for whole in wholes)
    return replace(
        numbers,
        partitions=partitions,
        partition_index=partition_index,
        mixtures=tuple(mixture_of(state, transition) for state in states),
        mixture_index=whole_index,
    )


def collect_numbers(recorders: Sequence[Recorder]) -> Draws:
    """The numbers of all draws of all chains, without partitions and mixtures.

    Parameters
    ----------
    recorders : sequence of Recorder
        One for each chain, with as many draws each.
    """
    columns = {
        name: _table([[getattr(row, name) for row in one.rows] for one in recorders])
        for name in _PLAIN_FIELDS
    }
    nothing = np.empty((0, 2), dtype=np.int64)
    return Draws(
        **columns,
        learned=_stacked([[row.learned for row in one.rows] for one in recorders]),
        pairs=recorders[0].pairs,
        partitions=(),
        partition_index=nothing,
        mixtures=(),
        mixture_index=nothing.copy(),
    )


def kept_of(stores: Sequence[Thinned]) -> tuple[tuple, NDArray[np.int64]]:
    """The things that all chains have kept, and the (chain, draw) of each.

    Parameters
    ----------
    stores : sequence of Thinned
        One for each chain.
    """
    things = tuple(thing for store in stores for thing in store.things)
    index = [(chain, draw) for chain, store in enumerate(stores) for draw in store.draws]
    return things, np.array(index, dtype=np.int64).reshape(-1, 2)


def collect_warmup(recorders: Sequence[Recorder]) -> WarmupTraces:
    """The warm-up's numbers of all chains, stacked.

    Parameters
    ----------
    recorders : sequence of Recorder
        One for each chain, with as many sweeps of the warm-up each.
    """
    return WarmupTraces(
        learned=_stacked([recorder.warmup_learned for recorder in recorders]),
        shared=np.array([recorder.warmup_shared for recorder in recorders]),
    )


def _numbers(
    sampler: Sampler, sizes: Sizes, log_likelihood: float, pairs: NDArray[np.int64]
) -> Row:
    """What is noted of a draw; entropies are -sum of p log p, p being shares of the rows."""
    levels, nodes = sizes.levels, sizes.nodes
    n, terms = nodes[0], np.bincount(levels, weights=nodes * np.log(nodes))
    held = sizes.components[sizes.components > 0]
    counted = slice(1, None) if sizes.even else slice(0)
    one, other = sampler.components_of(pairs.ravel()).reshape(-1, 2).T
    return Row(
        log_joint=log_likelihood + sampler.log_prior(),
        log_likelihood=log_likelihood,
        n_nodes=len(nodes),
        n_components=sampler.n_components,
        component_entropy=float(np.log(n) - (held * np.log(held)).sum() / n) if len(held) else 0.0,
        learned=dict(sampler.learned()),
        nodes_at=np.bincount(levels)[counted],
        entropy_at=(np.log(n) - terms / n)[counted],
        shared=sampler.shared,
        together=one == other,
    )


def _table(values: list[list[Any]]) -> NDArray[Any]:
    """(chain, draw, ...) of one number; (chain, draw, 0) where not all draws have levels."""
    lengths = {np.size(value) for chain in values for value in chain}
    if len(lengths) > 1:
        return np.empty((len(values), len(values[0]), 0), dtype=values[0][0].dtype)
    return np.array(values)


def _stacked(chains: Sequence[Sequence[Learned]]) -> dict[str, NDArray[np.float64]]:
    """(chain, draw, ...) of every hyperparameter."""
    names = chains[0][0] if chains[0] else {}
    return {name: np.array([[one[name] for one in chain] for chain in chains]) for name in names}


def _columns(dicts: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Many dicts with the same keys as one dict of lists, which a file packs."""
    return {name: [one[name] for one in dicts] for name in (dicts[0] if dicts else {})}


def _dicts(columns: Mapping[str, Sequence[Any]], n: int) -> list[dict[str, Any]]:
    """The n dicts of which `_columns` made one."""
    return [{name: values[i] for name, values in columns.items()} for i in range(n)]
