"""How much of a chain is kept: partitions and whole draws, evenly spaced, within so many bytes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bhmc.model.state import Partition, State

if TYPE_CHECKING:
    from bhmc.posterior.draws import Draws

KEEPS = ("auto", "paths", "summary")

# keep="auto" keeps all partitions where they take no more.
_MOST_AUTO_BYTES = 256 * 2**20

# Whole draws kept of all chains together: enough for an average, and for a choice among them.
_MOST_STATES = 100

# Bytes that whole draws of all chains may take, and partitions where not all are wanted.
_STATE_BYTES = 48 * 2**20
_PARTITION_BYTES = 32 * 2**20


class Plan(NamedTuple):
    """What one chain is to keep."""

    every_partition: bool = False
    """Whether the partitions of all draws are kept."""
    state_step: int = 1
    """Draws from one whole draw kept to the next; 0 for none."""
    state_bytes: int = _STATE_BYTES
    """What the whole draws may take before every other one is dropped."""
    partition_step: int = 1
    """As `state_step`, for partitions where not all are kept."""
    partition_bytes: int = _PARTITION_BYTES
    """As `state_bytes`."""
    best: bool = True
    """Whether the best draw is kept."""
    best_by: str = "log_likelihood"
    """The number of a draw that is highest in the best one."""


def memory_of_partitions(n_rows: int, n_draws: int, n_chains: int) -> int:
    """Bytes that the partitions of all draws take: chains x draws x rows x 4.

    A leaf and a component take two bytes each, up to 65,536 of them; a component takes one byte up
    to 256. The few nodes of a tree are not counted.

    Parameters
    ----------
    n_rows, n_draws, n_chains : int
        Rows of the data, draws of each chain, and chains.
    """
    return 4 * n_rows * n_draws * n_chains


def plan(keep: str, *, n_rows: int, n_draws: int, n_chains: int, best: bool) -> Plan:
    """What each of the chains keeps; refuses what would not fit into this machine's memory.

    Parameters
    ----------
    keep : {"auto", "paths", "summary"}
        As in `BHMC`.
    n_rows, n_draws, n_chains : int
        Rows of the data, draws of each chain, and chains.
    best : bool
        Whether the most likely draw is kept.
    """
    every, needed = n_draws * n_chains, memory_of_partitions(n_rows, n_draws, n_chains)
    free = _free_memory()
    if keep == "paths" and needed > free:
        raise ValueError(
            f"keep='paths' would take {needed / 2**20:,.0f} MB ({n_chains} chains x {n_draws} "
            f"draws x {n_rows} rows x 4 bytes), and {free / 2**20:,.0f} MB are free: use "
            f"keep='summary', or fewer draws."
        )
    return Plan(
        every_partition=_keeps_every(keep, needed),
        state_step=-(-every // _MOST_STATES),
        state_bytes=_STATE_BYTES // n_chains,
        partition_step=-(-needed // _PARTITION_BYTES),
        partition_bytes=_PARTITION_BYTES // n_chains,
        best=best,
    )


def _keeps_every(keep: str, needed: int) -> bool:
    """Whether the partitions of all draws are kept, which take so many bytes."""
    return keep == "paths" or (keep == "auto" and needed <= _MOST_AUTO_BYTES)


def memory_sentence(keep: str, n_rows: int, n_draws: int, n_chains: int) -> str:
    """What will be kept, and the memory it takes, in words; parameters as in `plan`."""
    needed = memory_of_partitions(n_rows, n_draws, n_chains)
    if _keeps_every(keep, needed):
        formula = f"{n_chains} x {n_draws} draws x {n_rows:,} rows x 4 bytes"
        return f"Keeping the tree of every draw takes up to {_in_words(needed)} ({formula})."
    return f"Keeping the trees of some draws, evenly spaced, within {_in_words(_PARTITION_BYTES)}."


def _in_words(n_bytes: float) -> str:
    return f"{n_bytes / 2**20:,.0f} MB" if n_bytes >= 2**20 else f"{n_bytes / 2**10:,.0f} kB"


class WholeDraw(NamedTuple):
    """A draw as it is kept: all of a `State`, but a leaf in the place of each path."""

    partition: Partition
    others: dict[str, Any]
    """The fields of the state that are not in the partition, by name."""

    @classmethod
    def of(cls, state: State, partition: Partition) -> WholeDraw:
        """The small form of a state.

        Parameters
        ----------
        state : State
            The draw.
        partition : Partition
            Its tree and components.
        """
        others = state._asdict()
        for name in ("paths", "components", "parents"):
            del others[name]
        return cls(partition, others)

    def state(self, n_levels: int) -> State:
        """The draw as a state.

        Parameters
        ----------
        n_levels : int
            Level of the leaves.
        """
        return State(
            paths=self.partition.paths(n_levels),
            components=self.partition.component.astype(np.int32),
            parents=self.partition.parents,
            **self.others,
        )

    @property
    def nbytes(self) -> int:
        """Bytes of its arrays but for the few shared numbers."""
        large = [value for name, value in self.others.items() if name != "shared"]
        return self.partition.nbytes + _bytes_in(large)


def _bytes_in(value: Any) -> int:
    """Bytes of the arrays in nested tuples and lists."""
    if isinstance(value, np.ndarray):
        return value.nbytes
    return sum(map(_bytes_in, value)) if isinstance(value, tuple | list) else 0


class Thinned:
    """Things of draws evenly spaced, within a limit of bytes: above it every other thing goes.

    The first draw is always among them.

    Parameters
    ----------
    step : int
        Draws from one thing kept to the next, at first.
    most_bytes : int
        The limit; a thing says its size as `nbytes`.
    """

    def __init__(self, step: int, most_bytes: int):
        self.step, self.most_bytes = max(step, 1), most_bytes
        self.draws: list[int] = []
        self.things: list[Any] = []
        self._bytes: list[int] = []

    def wants(self, draw: int) -> bool:
        """Whether the thing of this draw, a number from 0, is to be kept."""
        return draw % self.step == 0

    def add(self, draw: int, thing: Any) -> None:
        """Keep the thing of this draw, a number from 0."""
        self.draws.append(draw)
        self.things.append(thing)
        self._bytes.append(thing.nbytes)
        while sum(self._bytes) > self.most_bytes and len(self.things) > 1:
            self.step *= 2
            self._select([i for i, draw in enumerate(self.draws) if draw % self.step == 0])

    def restore(self, step: int, draws: list[int], things: list[Any]) -> None:
        """Resume from things that were kept before: the step, and the draw of each thing.

        More draws than before may be planned: then the step is the plan's, and fewer are kept.
        """
        self.step, self.draws, self.things = max(step, self.step), list(draws), list(things)
        self._bytes = [thing.nbytes for thing in things]
        self._select([i for i, draw in enumerate(self.draws) if draw % self.step == 0])

    def first(self, n_draws: int) -> Thinned:
        """The things of the first `n_draws` draws."""
        fewer = Thinned(self.step, self.most_bytes)
        fewer.draws, fewer.things, fewer._bytes = self.draws, self.things, self._bytes
        fewer._select([i for i, draw in enumerate(self.draws) if draw < n_draws])
        return fewer

    def within(self, most_bytes: int) -> Thinned:
        """Every second thing, every fourth, ... : as many as take no more bytes, one at least."""
        step = step_within(self.draws, self._bytes, most_bytes, self.step)
        fewer = Thinned(self.step, self.most_bytes)
        fewer.restore(step, self.draws, self.things)
        return fewer

    @property
    def nbytes(self) -> int:
        """Bytes of all things."""
        return sum(self._bytes)

    def _select(self, places: list[int]) -> None:
        self.draws = [self.draws[i] for i in places]
        self.things = [self.things[i] for i in places]
        self._bytes = [self._bytes[i] for i in places]


def step_within(
    draws: Sequence[int], n_bytes: Sequence[int], most_bytes: int, step: int = 1
) -> int:
    """Draws from one thing to the next so that things take no more bytes: `step`, or it doubled.

    Parameters
    ----------
    draws : sequence of int
        The draw of each thing, a number from 0.
    n_bytes : sequence of int
        The size of each.
    most_bytes : int
        The limit; the things of draw 0 stay even above it.
    step : int, default=1
        Draws from one thing to the next now.
    """
    kept, sizes, step = np.asarray(draws), np.asarray(n_bytes), max(step, 1)
    while sizes[kept % step == 0].sum() > most_bytes:
        fewer = kept % (2 * step) == 0
        if not fewer.any() or step > kept.max():
            break
        step *= 2
    return step


def draws_within(draws: Draws, most_bytes: int) -> Draws:
    """The same draws with fewer partitions, and mixtures if need be, evenly spaced.

    Numbers of draws stay. Mixtures take at most half of the bytes, partitions what is left.

    Parameters
    ----------
    draws : Draws
        What a fit kept.
    most_bytes : int
        What partitions and mixtures may take together.
    """
    mixtures, mixture_index, taken = _within(draws.mixtures, draws.mixture_index, most_bytes // 2)
    partitions, partition_index, _ = _within(
        draws.partitions, draws.partition_index, most_bytes - taken
    )
    return replace(
        draws,
        mixtures=mixtures,
        mixture_index=mixture_index,
        partitions=partitions,
        partition_index=partition_index,
    )


def _within(things: tuple, index: NDArray[Any], most_bytes: int) -> tuple[tuple, NDArray[Any], int]:
    """The things that stay, the chain and draw of each, and the bytes of all."""
    sizes = np.array([_bytes_in(thing) for thing in things], dtype=np.int64)
    stays = index[:, 1] % step_within(index[:, 1].tolist(), sizes.tolist(), most_bytes) == 0
    kept = tuple(thing for thing, does in zip(things, stays, strict=True) if does)
    return kept, index[stays], int(sizes[stays].sum())


def small(partition: Partition) -> Partition:
    """The same partition with labels in the smallest types that hold them.

    Parameters
    ----------
    partition : Partition
        Its labels are whole numbers, none below 0.
    """
    leaf, component, parents = partition
    return Partition(_small(leaf), _small(component), parents)


def _small(labels: NDArray[Any]) -> NDArray[Any]:
    return labels.astype(np.min_scalar_type(int(labels.max(initial=0))))


def _free_memory() -> float:
    """Bytes of memory that are free or could be; infinite where the system does not say."""
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            found = [line.split()[1] for line in file if line.startswith("MemAvailable:")]
        return float(found[0]) * 1024
    except (OSError, IndexError, ValueError):
        return float("inf")
