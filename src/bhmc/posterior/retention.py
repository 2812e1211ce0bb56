"""How much of a chain is kept: partitions and whole draws, evenly spaced, within so many bytes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bhmc.model.hdp.params import hdp_state
from bhmc.model.state import Hyper, State
from bhmc.posterior.draws import Mixture, Partition
from bhmc.posterior.predictive import component_weights

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
    """Whether the most likely draw is kept."""


def memory_of_partitions(n_rows: int, n_draws: int, n_chains: int) -> int:
    """Bytes that the partitions of all draws take: chains x draws x rows x 4.

    Two bytes for a leaf and two for a component, up to 65,536 of each; a component takes one up to
    256, and the few nodes of a tree are not counted.
    """
    return 4 * n_rows * n_draws * n_chains


def plan(keep: str, *, n_rows: int, n_draws: int, n_chains: int, best: bool) -> Plan:
    """What each of the chains keeps; refuses what would not fit into this machine's memory."""
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
    """What will be kept, and the memory it takes, in words."""
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
    log_weights: NDArray[np.float64]
    theta: NDArray[np.float64]
    shared: NDArray[np.float64]
    hyper: Hyper

    def state(self, n_levels: int) -> State:
        """The draw as a state."""
        return hdp_state(
            paths=self.partition.paths(n_levels),
            components=self.partition.component.astype(np.int32),
            parents=self.partition.parents,
            log_weights=self.log_weights,
            theta=self.theta,
            hyper=self.hyper,
            shared=self.shared,
        )

    def mixture(self, n_levels: int) -> Mixture:
        """What the draw says of a row not seen."""
        return Mixture(component_weights(self.state(n_levels)), self.theta, self.shared)

    @property
    def nbytes(self) -> int:
        """Bytes of its arrays."""
        return self.partition.nbytes + self.log_weights.nbytes + self.theta.nbytes


class Thinned:
    """Things of draws evenly spaced, within so many bytes: where they are more, every other goes.

    The first draw is always among them.
    """

    def __init__(self, step: int, most_bytes: int):
        self.step, self.most_bytes = max(step, 1), most_bytes
        self.draws: list[int] = []
        self.things: list[Any] = []
        self._bytes: list[int] = []

    def wants(self, draw: int) -> bool:
        """Whether the thing of this draw is to be kept."""
        return draw % self.step == 0

    def add(self, draw: int, thing: Any) -> None:
        """Keep a thing."""
        self.draws.append(draw)
        self.things.append(thing)
        self._bytes.append(thing.nbytes)
        while sum(self._bytes) > self.most_bytes and len(self.things) > 1:
            self.step *= 2
            self._select([i for i, draw in enumerate(self.draws) if draw % self.step == 0])

    def restore(self, step: int, draws: list[int], things: list[Any]) -> None:
        """Go on from things that were kept before."""
        self.step, self.draws, self.things = step, list(draws), list(things)
        self._bytes = [thing.nbytes for thing in things]

    def first(self, n_draws: int) -> Thinned:
        """The things of the first so many draws."""
        fewer = Thinned(self.step, self.most_bytes)
        fewer.draws, fewer.things, fewer._bytes = self.draws, self.things, self._bytes
        fewer._select([i for i, draw in enumerate(self.draws) if draw < n_draws])
        return fewer

    def _select(self, places: list[int]) -> None:
        self.draws = [self.draws[i] for i in places]
        self.things = [self.things[i] for i in places]
        self._bytes = [self._bytes[i] for i in places]


def small(numbers: NDArray) -> NDArray:
    """The same whole numbers, none below 0, in the smallest type that holds them."""
    return numbers.astype(np.min_scalar_type(int(numbers.max())))


def _free_memory() -> float:
    """Bytes of memory that are free or could be; infinite where the system does not say."""
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            found = [line.split()[1] for line in file if line.startswith("MemAvailable:")]
        return float(found[0]) * 1024
    except (OSError, IndexError, ValueError):
        return float("inf")
