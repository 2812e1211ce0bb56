"""One Markov chain of diffusion trees: moves of subtrees, times of nodes, rates."""

import math
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from bhmc._sampling.run import Stopped
from bhmc.baselines.pydt import kernels
from bhmc.baselines.pydt.captured import check_captured
from bhmc.baselines.pydt.state import (
    ALPHA,
    MOVED,
    MOVES,
    N_FREE,
    NOISE,
    NONE,
    SIGMA2,
    THETA,
    DiffusionTree,
    Rates,
    kept,
    make_work,
    n_leaves,
    parents_first,
    put_tree,
    restore,
    tree_of,
)
from bhmc.model.state import Info, Sizes
from bhmc.posterior.draws import Partition
from bhmc.priors import Prior

# Turns in one compiled call: between calls a chain hears that it is to stop.
TURNS_AT_A_TIME = {"slice": 100, "mh": 10_000}

# First width of a slice in the logarithm of a rate, and the logarithms that are possible at all.
_WIDTH, _FARTHEST = 1.0, 600.0


class RatePriors(NamedTuple):
    """The prior of each rate that is learned; None for one that is fixed."""

    alpha: Prior | None = None
    theta: Prior | None = None
    c: Prior | None = None
    sigma2: Prior | None = None
    noise: Prior | None = None


def add_log_priors(total: float, priors: RatePriors, rates: Rates) -> float:
    """`total` with the log prior density of every rate that is learned added, one after another.

    Parameters
    ----------
    total : float
        A log density given the rates.
    priors : RatePriors
        The priors of the rates that are learned.
    rates : Rates
        The rates of a draw.
    """
    for prior, value in zip(priors, rates, strict=True):
        total += 0.0 if prior is None else prior.log_density(value)
    return total


class DiffusionChain:
    """A chain of diffusion trees, a `Sampler`. Each stage leaves p(tree, rates | X) alone.

    Parameters
    ----------
    X : (n, d) array
        The data.
    rates : Rates
        Where the rates are.
    priors : RatePriors
        The priors of the rates that are learned.
    sampler : {"slice", "mh"}
        How a subtree finds its place.
    rng : numpy.random.Generator
        Where all randomness comes from.
    engine : module, default=kernels
        The conditionals: `kernels`, the slow twin, or a deliberately wrong module in tests.
    n_turns : int, optional
        Turns of a sweep, if not as many as there are rows.
    stop : callable, optional
        Asked now and then within a sweep; where it says True the sweep raises `Stopped`.
    """

    stages: ClassVar[tuple[str, ...]] = ("move_subtrees", "redraw_times", "redraw_rates")
    """Methods that each leave the posterior alone."""

    def __init__(
        self,
        X: NDArray[np.float64],
        rates: Rates,
        priors: RatePriors,
        sampler: str,
        rng: np.random.Generator,
        engine: Any = kernels,
        n_turns: int | None = None,
        stop: Callable[[], bool] | None = None,
    ):
        self._engine, self._priors, self._rng = engine, priors, rng
        self._source = engine.random_source(rng)
        self._moves = {"slice": engine.slice_moves, "mh": engine.mh_moves}[sampler]
        self._at_a_time, self._stop = TURNS_AT_A_TIME[sampler], stop
        self._n_turns = self._turns_left = len(X) if n_turns is None else n_turns
        self._work = make_work(X, rates)
        engine.tabulate(self._work)

    @classmethod
    def resume(
        cls,
        captured: Mapping[str, Any],
        X: NDArray[np.float64],
        priors: RatePriors,
        *arguments: Any,
        **settings: Any,
    ) -> Self:
        """The chain that goes on, bit for bit, from where `capture` found another.

        Parameters
        ----------
        captured : mapping
            What `capture` returned.
        X, priors, *arguments, **settings
            The same data and settings; `rng` is the generator as it was.
        """
        check_captured(captured, make_work(X, Rates(0.0, 1.0, 1.0, 1.0, 1.0)))
        priors = priors if captured["learns"] else RatePriors()
        rates = Rates(*captured["work"]["rates"].tolist())
        chain = cls(X, rates, priors, *arguments, **settings)
        restore(chain._work, captured["work"])
        chain._turns_left = captured["turns_left"]
        return chain

    def capture(self) -> dict[str, Any]:
        """All that the chain needs to go on bit for bit, but for the data and the generator.

        Messages are among it: made anew they may differ in the last digit.
        """
        return {
            "work": kept(self._work),
            "turns_left": self._turns_left,
            "learns": any(prior is not None for prior in self._priors),
        }

    def start(self) -> None:
        """A first tree: leaves attached one after another, in random order, where they fit."""
        leaves = self._rng.permutation(n_leaves(self._work))
        self._engine.insert_leaves(self._work, leaves, self._source)

    def start_from(self, tree: DiffusionTree) -> None:
        """`tree` as the first.

        Parameters
        ----------
        tree : DiffusionTree
            A tree over the rows of X.
        """
        put_tree(self._work, tree)
        self._engine.refresh(self._work)

    def sweep(self) -> Info:
        """Turns of subtrees, then the times of all nodes, then the rates.

        `paths_accepted` counts subtrees that found another place; nothing else is counted.
        """
        before = int(self._work.counts[MOVED])
        for stage in self.stages:
            getattr(self, stage)()
        return Info(0, 0, 0, 0, int(self._work.counts[MOVED]) - before)

    # ---- What others see -----------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """A copy of the current tree and rates: `parents` and `clocks` as in `DiffusionTree`, and
        the rates by name.
        """
        return self.tree._asdict() | {"rates": self.learned()}

    def partition(self) -> Partition:
        """A copy of the current tree. Every row has its own leaf; there are no components."""
        parents = self.tree.parents
        order = parents_first(parents)
        number = np.empty(len(order) + 1, dtype=np.int32)
        number[order], number[-1] = np.arange(len(order)), NONE
        leaf = number[: n_leaves(self._work)]
        return Partition(leaf, np.empty(0, dtype=np.int32), number[parents[order]])

    def sizes(self) -> Sizes:
        """How large the nodes are; there are no components."""
        return self.partition().sizes()

    def components_of(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Nothing: there are no components, so no pair of rows is watched."""
        return np.empty(0, dtype=np.int64)

    def log_likelihood(self) -> float:
        """log p(X, tree | rates), a density in the clocks s = -log(1 - t) of all inner nodes.

        The messages that the chain goes on with are left alone: no draw depends on who asks.
        """
        work = self._work
        work = work._replace(up=work.up.copy(), up_var=work.up_var.copy())
        return self._engine.refresh(work) + self._engine.log_tree(work)

    def log_prior(self) -> float:
        """The log prior densities of the rates that are learned."""
        return add_log_priors(0.0, self._priors, self.rates)

    def log_joint(self) -> float:
        """log p(X, tree, rates), a density in the clocks s = -log(1 - t) and the rates learned."""
        return add_log_priors(self.log_likelihood(), self._priors, self.rates)

    def learned(self) -> dict[str, Any]:
        """The current rates by name, those that are fixed included."""
        return self.rates._asdict()

    def stop_learning(self) -> None:
        """The rates stay where they are from now on."""
        self._priors = RatePriors()

    @property
    def shared(self) -> NDArray[np.float64]:
        """(0,) there are no components that could share numbers."""
        return np.empty(0)

    @property
    def n_nodes(self) -> int:
        """Number of nodes in the tree, leaves included."""
        return len(self._work.parent) - int(self._work.counts[N_FREE])

    @property
    def n_components(self) -> int:
        """0: a diffusion tree has no components."""
        return 0

    @property
    def rates(self) -> Rates:
        """The rates now."""
        return Rates(*self._work.rates.tolist())

    @property
    def tree(self) -> DiffusionTree:
        """The tree now."""
        return tree_of(self._work)

    @property
    def n_moves(self) -> int:
        """Turns taken so far."""
        return int(self._work.counts[MOVES])

    # ---- Stages --------------------------------------------------------------------------------

    def move_subtrees(self) -> None:
        """All turns of a sweep, or those that a sweep broken off has left."""
        while self._turns_left > 0:
            if self._stop is not None and self._stop():
                raise Stopped
            now = min(self._turns_left, self._at_a_time)
            self.move(now)
            self._turns_left -= now
        self._turns_left = self._n_turns

    def move(self, n_turns: int) -> None:
        """Some turns, in each of which a random subtree may find another place.

        Parameters
        ----------
        n_turns : int
            How many.
        """
        self._moves(self._work, n_turns, self._source)

    def redraw_times(self) -> None:
        """The times of all inner nodes."""
        self._engine.redraw_times(self._work, self._source)

    def redraw_rates(self) -> None:
        """c, alpha, theta, sigma2, noise, each by a slice sampler's step given all else."""
        for name in ("c", "alpha", "theta", "sigma2", "noise"):
            prior = getattr(self._priors, name)
            if prior is not None:
                place = Rates._fields.index(name)
                self._redraw_rate(place, prior)

    def _redraw_rate(self, place: int, prior: Prior) -> None:
        rates = self._work.rates

        def log_density(value: float) -> float:
            rates[place] = value
            return prior.log_density(value) + self._log_part(place)

        if place == ALPHA:
            new = _slice_between(log_density, float(rates[place]), self._rng)
        else:
            new = _slice_logarithm(log_density, float(rates[place]), self._rng)
        log_density(new)  # leaves the new value in place, with tables and messages that fit it

    def _log_part(self, place: int) -> float:
        """log of the part of p(X, tree | rates) that depends on one of the rates."""
        if place in (SIGMA2, NOISE):
            return self._engine.refresh(self._work)
        if place in (ALPHA, THETA):
            self._engine.tabulate(self._work)
        return self._engine.log_tree(self._work)


def _slice_between(
    log_density: Callable[[float], float], x: float, rng: np.random.Generator
) -> float:
    """A number between 0 and 1 ~ a slice sampler's step: the whole interval, shrunk towards x."""
    level = log_density(x) + math.log(1.0 - rng.random())
    low, high = 0.0, 1.0
    while high - low > 1e-12:
        new = low + (high - low) * rng.random()
        if 0.0 < new < 1.0 and log_density(new) >= level:
            return new
        low, high = (new, high) if new < x else (low, new)
    return x


def _slice_logarithm(
    log_density: Callable[[float], float], x: float, rng: np.random.Generator
) -> float:
    """A number above 0 ~ a slice sampler's step in its logarithm: stepping out, then shrinking."""

    def log_target(y: float) -> float:
        if abs(y) > _FARTHEST:
            return -math.inf
        return log_density(math.exp(y)) + y  # dx = x dy

    now = math.log(x)
    level = log_target(now) + math.log(1.0 - rng.random())
    low = now - _WIDTH * rng.random()
    high = low + _WIDTH
    while low >= -_FARTHEST and log_target(low) >= level:
        low -= _WIDTH
    while high <= _FARTHEST and log_target(high) >= level:
        high += _WIDTH
    while high - low > 1e-12:
        new = low + (high - low) * rng.random()
        if log_target(new) >= level:
            return math.exp(new)
        low, high = (new, high) if new < now else (low, new)
    return x
