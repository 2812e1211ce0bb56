"""`Draws`: what was kept of all chains. Numbers of every draw, and as many whole draws as asked.

Labels of nodes and components mean nothing from one draw to the next, so the numbers are those that
no relabelling changes. Whole draws are kept small: a partition has a leaf and a component for each
row (one, two or four bytes each) and the parents of the nodes.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bhmc._extras import import_pandas
from bhmc._validation.parameters import check_whole
from bhmc.model.protocol import Places
from bhmc.model.state import Partition
from bhmc.posterior.display import DrawsDisplay

__all__ = ["Draws", "Mixture", "Partition", "concat"]


class Mixture(NamedTuple):
    """What one draw says of a row not seen: weights of its components, and what they look like."""

    weights: NDArray[np.float64]
    """(A,) probability of each component for the next row, and last of one not yet seen: K + 1
    numbers, or K + M where there are M places at which one may begin."""
    theta: NDArray[np.float64]
    """(K, p) component parameters."""
    shared: NDArray[np.float64]
    """(q,) numbers that all components share."""
    places: Places | None = None
    """Where components begin, if they have a place on the tree."""


# Numbers of every draw, in the order in which they are shown.
_SCALARS = ("log_joint", "log_likelihood", "n_nodes", "n_components", "component_entropy")
_VECTORS = ("nodes_at", "entropy_at", "shared", "together")
_OF_COMPONENTS = ("n_components", "component_entropy")
# A covariance of many columns is more numbers than anyone judges one by one.
_MOST_ENTRIES = 3_000
# What is kept of some draws, and where the chain and the draw of each are.
_KEPT = {"partitions": "partition_index", "mixtures": "mixture_index"}


@dataclass(frozen=True, eq=False)
class Draws(DrawsDisplay):
    """All that was kept. Arrays begin with (chain, draw) and cannot be written to."""

    log_joint: NDArray[np.float64]
    """(chain, draw) log p(X, theta, c, V | B) and the log priors of what is learned: the log joint
    given the weights. Their own density is left out: weights of e^-1000 are common and drown it."""
    log_likelihood: NDArray[np.float64]
    """(chain, draw) log p(X, c, V | B, theta), the complete-data log likelihood."""
    n_nodes: NDArray[np.int64]
    """(chain, draw) nodes in the tree."""
    n_components: NDArray[np.int64]
    """(chain, draw) components that exist; 0 in a model without components."""
    component_entropy: NDArray[np.float64]
    """(chain, draw) entropy in nats of the shares of the rows that components hold."""
    learned: dict[str, NDArray[np.float64]]
    """Hyperparameters by name, each (chain, draw) or (chain, draw, ...). `draws.alpha` is short for
    `draws.learned["alpha"]`. `BHMC` has `alpha` (how readily data open new branches), `gamma0` (how
    many components the tree spreads over) and `gamma` (how closely nodes follow their parents)."""
    nodes_at: NDArray[np.int64]
    """(chain, draw, level) nodes at levels 1 to L; none in a model whose trees have no levels."""
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

    def __post_init__(self) -> None:
        values = (getattr(self, field.name) for field in fields(self))
        for value in (*values, *self.learned.values()):
            if isinstance(value, np.ndarray):
                value.flags.writeable = False

    def __setstate__(self, state: dict[str, Any]) -> None:
        # NumPy forgets the flag when it pickles or copies an array.
        self.__dict__.update(state)
        self.__post_init__()

    def __getattr__(self, name: str) -> NDArray[np.float64]:
        return learned_value(self.__dict__.get("learned", {}), name, "Draws")

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.learned]

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

    def numbers(self) -> dict[str, NDArray[Any]]:
        """Every number of a draw by its name, each an array (chain, draw).

        Levels, pairs and shared numbers are named `nodes_at[2]`, `together[0]` and `shared[0]`.
        Levels count from 1. Of a vector of more than 3,000 numbers, such as a covariance of many
        columns in `shared`, evenly spaced ones are here, 3,000 at most.
        """
        found: dict[str, NDArray[Any]] = {}
        for name in _SCALARS:
            if self.n_components.any() or name not in _OF_COMPONENTS:
                found[name] = getattr(self, name)
        for name, values in self.learned.items():
            found |= _entries(name, values, 0)
        for name in _VECTORS:
            found |= _entries(name, getattr(self, name), 1 if name.endswith("_at") else 0)
        return found

    def to_frame(self) -> Any:
        """`numbers` as a pandas DataFrame: a row for each draw, with the columns `chain`, `draw`.

        Of a vector of more than 3,000 numbers it has those that `numbers` has.
        """
        pandas = import_pandas("to_frame")
        chain, draw = np.indices((self.n_chains, self.n_draws))
        columns = {"chain": chain, "draw": draw} | self.numbers()
        return pandas.DataFrame({name: values.ravel() for name, values in columns.items()})

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
        """Every `step`-th draw of each chain, the last one included.

        Parameters
        ----------
        step : int
            Draws from one that stays to the next.
        """
        step = check_whole(step, "step", 1)
        first = (self.n_draws - 1) % step
        return self._select(slice(None), np.arange(first, self.n_draws, step))

    def chain(self, chain: int) -> Draws:
        """One chain alone.

        Parameters
        ----------
        chain : int
            Its number, from 0.
        """
        chain = check_whole(chain, "chain", 0)
        if chain >= self.n_chains:
            raise ValueError(f"chain must be at most {self.n_chains - 1}, got {chain}.")
        return self._select(np.array([chain]), None)

    def _select(self, chains, draws) -> Draws:
        """The draws of some chains (an index array or slice) and some draws (or None: all)."""
        chains = np.arange(self.n_chains)[chains]
        draws = np.arange(self.n_draws) if draws is None else draws
        cells = np.ix_(chains, draws)
        parts: dict[str, Any] = {
            name: getattr(self, name)[cells] for name in (*_SCALARS, *_VECTORS)
        }
        parts["learned"] = {name: values[cells] for name, values in self.learned.items()}
        new_chain = {old: new for new, old in enumerate(chains.tolist())}
        new_draw = {old: new for new, old in enumerate(draws.tolist())}
        for things, index in _KEPT.items():
            places = enumerate(getattr(self, index).tolist())
            left = [
                (i, new_chain[c], new_draw[t])
                for i, (c, t) in places
                if c in new_chain and t in new_draw
            ]
            parts[things] = tuple(getattr(self, things)[i] for i, _, _ in left)
            parts[index] = np.array([place for _, *place in left], dtype=np.int64).reshape(-1, 2)
        return replace(self, **parts)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save in one file, whole or not at all (docs/file-format.md).

        Parameters
        ----------
        path : str or path
            Where to write; a file there is replaced.
        """
        from bhmc._io.archive import write

        write(path, "draws", self)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Draws:
        """The draws of a file that `save` wrote.

        Parameters
        ----------
        path : str or path
            The file.
        """
        from bhmc._io.archive import read

        return read(path, "draws")

    def to_arviz(self) -> Any:
        """The draws as a DataTree of ArviZ with named dimensions; see `bhmc.posterior.to_arviz`."""
        from bhmc.posterior.arviz import to_arviz

        return to_arviz(self)

    def __repr__(self) -> str:
        kept = len(self.partitions)
        every = "all" if kept == self.n_chains * self.n_draws else f"{kept}"
        return (
            f"Draws({self.n_chains} chains x {self.n_draws} draws, "
            f"{self.n_levels} levels, partitions of {every} kept)"
        )


def concat(draws: Sequence[Draws]) -> Draws:
    """More chains: the chains of several fits of the same data, one after another.

    Parameters
    ----------
    draws : sequence of Draws
        Fits of the same data with equal `n_levels`, `n_draws` and learned hyperparameters.
    """
    if not draws:
        raise ValueError("draws must hold at least one Draws, got none.")
    first = draws[0]
    for other in draws[1:]:
        if not _is_alike(first, other):
            raise ValueError(
                f"concat needs fits of the same data with equal n_draws, got {first!r} of "
                f"{first.n_rows} rows and {other!r} of {other.n_rows} rows."
            )
    parts: dict[str, Any] = {
        name: np.concatenate([getattr(one, name) for one in draws])
        for name in (*_SCALARS, *_VECTORS)
    }
    parts["learned"] = {
        name: np.concatenate([one.learned[name] for one in draws]) for name in first.learned
    }
    before = np.cumsum([0, *(one.n_chains for one in draws[:-1])])
    for things, index in _KEPT.items():
        parts[things] = tuple(thing for one in draws for thing in getattr(one, things))
        parts[index] = np.concatenate(
            [
                getattr(one, index) + np.array([shift, 0])
                for one, shift in zip(draws, before, strict=True)
            ]
        )
    return replace(first, **parts)


def learned_value(
    learned: Mapping[str, NDArray[Any]], name: str, owner: str
) -> NDArray[np.float64]:
    """A hyperparameter by its name.

    Parameters
    ----------
    learned : mapping from names to arrays
        The hyperparameters of the model.
    name : str
        The one that is asked for.
    owner : str
        What it was asked of, for the message of the AttributeError where there is none.
    """
    if name not in learned:
        known = ", ".join(learned) or "none"
        raise AttributeError(f"{owner} has no {name!r}; this model's hyperparameters are: {known}.")
    return learned[name]


def _entries(name: str, values: NDArray[Any], first: int) -> dict[str, NDArray[Any]]:
    """`alpha`, or the numbers of a vector as `shared[0]`, `shared[1]`, ... counted from `first`.

    Of very many numbers, evenly spaced ones.
    """
    if values.ndim == 2:
        return {name: values}
    places = list(np.ndindex(values.shape[2:]))
    return {
        f"{name}[{','.join(str(i + first) for i in place)}]": values[(..., *place)]
        for place in places[:: max(1, -(-len(places) // _MOST_ENTRIES))]
    }


def _is_alike(one: Draws, other: Draws) -> bool:
    """Whether chains of the two can stand side by side."""
    shapes = (
        {name: array.shape[1:] for name, array in draws.numbers().items()} for draws in (one, other)
    )
    return (
        one.n_draws == other.n_draws
        and one.n_rows == other.n_rows
        and np.array_equal(one.pairs, other.pairs)
        and next(shapes) == next(shapes)
    )
