"""`Draws`: what was kept of all chains. Numbers of every draw, and as many whole draws as asked.

Labels of nodes and components mean nothing from one draw to the next, so the numbers are those that
no relabelling changes. Whole draws are kept small: a leaf and a component for each row (one, two or
four bytes each) and the parents of the nodes are all that a partition consists of.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bhmc._validation.parameters import check_whole
from bhmc.model.state import paths_to


class Partition(NamedTuple):
    """The tree and the components of one draw, without its weights and parameters."""

    leaf: NDArray[np.unsignedinteger]
    """(n,) node id of each row's leaf, in the smallest type that holds it."""
    component: NDArray[np.unsignedinteger]
    """(n,) component of each row, likewise."""
    parents: NDArray[np.int32]
    """(n_nodes,) parent of each node, -1 for the root, which is 0; parents come before children."""

    @property
    def nbytes(self) -> int:
        """Bytes of its arrays."""
        return self.leaf.nbytes + self.component.nbytes + self.parents.nbytes

    def paths(self, n_levels: int) -> NDArray[np.int32]:
        """(n, n_levels + 1) node ids from the root to each row's leaf."""
        return paths_to(self.leaf, self.parents, n_levels)

    def nodes_at(self, level: int, n_levels: int) -> NDArray[np.int32]:
        """(n,) node id of each row at one level."""
        nodes = self.leaf.astype(np.int32)
        for _ in range(n_levels - level):
            nodes = self.parents[nodes]
        return nodes


class Mixture(NamedTuple):
    """What one draw says of a row not seen: weights of its components, and what they look like."""

    weights: NDArray[np.float64]
    """(K + 1,) probability of each component for the next row, a component not yet seen last."""
    theta: NDArray[np.float64]
    """(K, p) component parameters."""
    shared: NDArray[np.float64]
    """(q,) numbers that all components share."""


# Numbers of every draw, in the order in which they are shown.
_SCALARS = ("log_joint", "log_likelihood", "n_nodes", "n_components", "component_entropy")
_CONCENTRATIONS = ("alpha", "gamma0", "gamma")
_VECTORS = ("nodes_at", "entropy_at", "shared", "together")


@dataclass(frozen=True, eq=False)
class Draws:
    """All that was kept. Arrays begin with (chain, draw) and cannot be written to."""

    log_joint: NDArray[np.float64]
    """(chain, draw) log p(X, theta, c, V | B) and the log priors of what is learned: the log joint
    given the weights. Their own density is left out: weights of e^-1000 are common and drown it."""
    log_likelihood: NDArray[np.float64]
    """(chain, draw) log p(X, c, V | B, theta), the complete-data log likelihood."""
    n_nodes: NDArray[np.int64]
    """(chain, draw) nodes in the tree."""
    n_components: NDArray[np.int64]
    """(chain, draw) components that exist."""
    component_entropy: NDArray[np.float64]
    """(chain, draw) entropy in nats of the shares of the rows that components hold."""
    alpha: NDArray[np.float64]
    """(chain, draw) how readily data open new branches."""
    gamma0: NDArray[np.float64]
    """(chain, draw) how many components the tree spreads over."""
    gamma: NDArray[np.float64]
    """(chain, draw) how closely nodes follow their parents."""
    nodes_at: NDArray[np.int64]
    """(chain, draw, level) nodes at levels 1 to L."""
    entropy_at: NDArray[np.float64]
    """(chain, draw, level) entropy in nats of the shares of the rows that nodes of levels 1 to L
    hold."""
    shared: NDArray[np.float64]
    """(chain, draw, number) learned numbers that all components share; none in many families."""
    together: NDArray[np.bool_]
    """(chain, draw, pair) whether the two rows of each of `pairs` are in one component."""
    pairs: NDArray[np.int64]
    """(pair, 2) a few pairs of rows, the same in every draw."""
    partitions: tuple[Partition, ...]
    """The partitions that were kept: of all draws, or of draws evenly spaced (`keep="summary"`)."""
    partition_index: NDArray[np.int64]
    """(kept, 2) chain and draw of each of `partitions`."""
    mixtures: tuple[Mixture, ...]
    """The mixtures that were kept, of draws evenly spaced."""
    mixture_index: NDArray[np.int64]
    """(kept, 2) chain and draw of each of `mixtures`."""

    def __post_init__(self):
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, np.ndarray):
                value.flags.writeable = False

    def __setstate__(self, state):
        # NumPy forgets the flag when it pickles or copies an array.
        self.__dict__.update(state)
        self.__post_init__()

    @property
    def n_chains(self) -> int:
        """Number of chains."""
        return self.log_joint.shape[0]

    @property
    def n_draws(self) -> int:
        """Draws of each chain."""
        return self.log_joint.shape[1]

    @property
    def n_levels(self) -> int:
        """Steps from the root to a leaf."""
        return self.nodes_at.shape[2]

    @property
    def n_rows(self) -> int:
        """Rows of the data."""
        return len(self.partitions[0].leaf) if self.partitions else 0

    def numbers(self) -> dict[str, NDArray]:
        """Every number of a draw by its name, each an array (chain, draw).

        Those of levels, pairs and shared numbers are named `nodes_at[2]`, `together[0]`,
        `shared[0]`; levels count from 1.
        """
        found = {name: getattr(self, name) for name in (*_SCALARS, *_CONCENTRATIONS)}
        for name in _VECTORS:
            first = 1 if name.endswith("_at") else 0
            values = getattr(self, name)
            for i in range(values.shape[2]):
                found[f"{name}[{i + first}]"] = values[:, :, i]
        return found

    @property
    def paths(self) -> NDArray[np.int32]:
        """(chain, draw, n, n_levels + 1) node ids, root first; made anew at every call.

        Only where the partitions of all draws were kept (`keep="paths"`).
        """
        self._check_all_kept("paths")
        paths = [one.paths(self.n_levels) for one in self.partitions]
        return np.array(paths).reshape(self.n_chains, self.n_draws, *paths[0].shape)

    @property
    def components(self) -> NDArray[np.int32]:
        """(chain, draw, n) component of each row; made anew at every call, as `paths`."""
        self._check_all_kept("components")
        found = np.array([one.component for one in self.partitions], dtype=np.int32)
        return found.reshape(self.n_chains, self.n_draws, -1)

    def _check_all_kept(self, what: str) -> None:
        every, kept = self.n_chains * self.n_draws, len(self.partitions)
        if kept < every:
            raise ValueError(
                f"{what} of all draws were not kept, only those of {kept} of {every} draws: use "
                f"`partitions` and `partition_index`, or fit with keep='paths'."
            )

    def thin(self, step: int) -> Draws:
        """Every `step`-th draw of each chain, the last one included."""
        step = check_whole(step, "step", 1)
        first = (self.n_draws - 1) % step
        return self._select(slice(None), np.arange(first, self.n_draws, step))

    def chain(self, chain: int) -> Draws:
        """One chain alone; chains are numbered from 0."""
        chain = check_whole(chain, "chain", 0)
        if chain >= self.n_chains:
            raise ValueError(f"chain must be at most {self.n_chains - 1}, got {chain}.")
        return self._select(np.array([chain]), None)

    def _select(self, chains, draws) -> Draws:
        """The draws of some chains (an index array or slice) and some draws (or None: all)."""
        chains = np.arange(self.n_chains)[chains]
        draws = np.arange(self.n_draws) if draws is None else draws
        new_chain = {old: new for new, old in enumerate(chains.tolist())}
        new_draw = {old: new for new, old in enumerate(draws.tolist())}
        arrays: dict[str, Any] = {
            name: getattr(self, name)[np.ix_(chains, draws)]
            for name in (*_SCALARS, *_CONCENTRATIONS, *_VECTORS)
        }
        for things, index in (("partitions", "partition_index"), ("mixtures", "mixture_index")):
            pairs = enumerate(getattr(self, index).tolist())
            left = [
                (i, new_chain[c], new_draw[t])
                for i, (c, t) in pairs
                if c in new_chain and t in new_draw
            ]
            arrays[things] = tuple(getattr(self, things)[i] for i, _, _ in left)
            arrays[index] = np.array([pair for _, *pair in left], dtype=np.int64).reshape(-1, 2)
        return replace(self, **arrays)

    def save(self, path: str | os.PathLike) -> None:
        """Save in one file, whole or not at all (docs/file-format.md)."""
        from bhmc._io.archive import write

        write(path, "draws", self)

    @classmethod
    def load(cls, path: str | os.PathLike) -> Draws:
        """The draws of a file that `save` wrote."""
        from bhmc._io.archive import read

        return read(path, "draws")

    def to_arviz(self) -> Any:
        """All of it as a DataTree of ArviZ with named dimensions."""
        from bhmc.posterior.arviz import to_arviz

        return to_arviz(self)

    def __repr__(self) -> str:
        kept = len(self.partitions)
        every = "all" if kept == self.n_chains * self.n_draws else f"{kept}"
        return (
            f"Draws({self.n_chains} chains x {self.n_draws} draws, "
            f"{self.n_levels} levels, partitions of {every} kept)"
        )


def concat(draws: list[Draws]) -> Draws:
    """More chains: the chains of several fits of the same data, one after another.

    All must have the same number of draws, levels, rows and pairs.
    """
    if not draws:
        raise ValueError("draws must hold at least one Draws, got none.")
    first = draws[0]
    for other in draws[1:]:
        same = (
            other.n_draws == first.n_draws
            and other.nodes_at.shape[2] == first.nodes_at.shape[2]
            and other.shared.shape[2] == first.shared.shape[2]
            and other.n_rows == first.n_rows
            and np.array_equal(other.pairs, first.pairs)
        )
        if not same:
            raise ValueError(
                f"draws of the same data and of as many draws a chain can be put together, got "
                f"{first!r} of {first.n_rows} rows and {other!r} of {other.n_rows} rows."
            )
    arrays: dict[str, Any] = {
        name: np.concatenate([getattr(one, name) for one in draws])
        for name in (*_SCALARS, *_CONCENTRATIONS, *_VECTORS)
    }
    before = np.cumsum([0, *(one.n_chains for one in draws[:-1])])
    for things, index in (("partitions", "partition_index"), ("mixtures", "mixture_index")):
        arrays[things] = tuple(thing for one in draws for thing in getattr(one, things))
        arrays[index] = np.concatenate(
            [
                getattr(one, index) + np.array([shift, 0])
                for one, shift in zip(draws, before, strict=True)
            ]
        )
    return replace(first, **arrays)
