"""One Markov chain of diffusion trees: moves of subtrees, times of nodes, rates."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bhmc.baselines.pydt import kernels
from bhmc.baselines.pydt.state import (
    ALPHA,
    MOVES,
    NOISE,
    SIGMA2,
    THETA,
    DiffusionTree,
    Rates,
    make_work,
    put_tree,
    tree_of,
)
from bhmc.priors import Prior

# First width of a slice in the logarithm of a rate, and the logarithms that are possible at all.
_WIDTH, _FARTHEST = 1.0, 600.0


class RatePriors(NamedTuple):
    """The prior of each rate that is learned; None for one that is fixed."""

    alpha: Prior | None = None
    theta: Prior | None = None
    c: Prior | None = None
    sigma2: Prior | None = None
    noise: Prior | None = None


class DiffusionChain:
    """The state of a chain and its steps. Each leaves p(tree, rates | X) as it is."""

    def __init__(
        self,
        X: NDArray[np.float64],
        rates: Rates,
        priors: RatePriors,
        sampler: str,
        rng: np.random.Generator,
        engine: Any = kernels,
    ):
        self._engine, self._priors, self._rng = engine, priors, rng
        self._source = engine.random_source(rng)
        self._moves = {"slice": engine.slice_moves, "mh": engine.mh_moves}[sampler]
        self._work = make_work(X, rates)
        engine.tabulate(self._work)

    def start(self) -> None:
        """A first tree: leaves attached one after another, in random order, where they fit."""
        leaves = self._rng.permutation((len(self._work.parent) + 1) // 2)
        self._engine.insert_leaves(self._work, leaves, self._source)

    def start_from(self, tree: DiffusionTree) -> None:
        """`tree` as the first."""
        put_tree(self._work, tree)
        self._engine.refresh(self._work)

    def sweep(self, n_moves: int) -> None:
        """Moves of subtrees, then the times of all nodes, then the rates."""
        self.move(n_moves)
        self.redraw_times()
        self.redraw_rates()

    def move(self, n_moves: int) -> None:
        """So many turns, in each of which a random subtree may find another place."""
        self._moves(self._work, n_moves, self._source)

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

    def log_joint(self) -> float:
        """log p(X, tree, rates), a density in the clocks s = -log(1 - t) and the rates learned."""
        total = self._engine.refresh(self._work) + self._engine.log_tree(self._work)
        for prior, value in zip(self._priors, self.rates, strict=True):
            total += 0.0 if prior is None else prior.log_density(value)
        return total

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
