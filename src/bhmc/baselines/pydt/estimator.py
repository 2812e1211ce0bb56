"""`PYDT`: the Pitman-Yor diffusion tree as an estimator; settings, time and what is kept."""

import time
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bhmc._validation.parameters import check_choice, check_positive, check_whole, seed_sequence
from bhmc.baselines.base import TreeEstimator
from bhmc.baselines.pydt.chain import DiffusionChain, RatePriors
from bhmc.baselines.pydt.state import DiffusionTree, Rates
from bhmc.priors import Beta, Gamma, InverseGamma, Prior
from bhmc.tree import Tree

# Turns in one compiled call: between calls the clock is looked at, and Ctrl-C is heard.
_AT_A_TIME = {"slice": 100, "mh": 10_000}


# The variance of the data is at least this and at most its inverse: densities stay numbers.
_LEAST = 1e-200


class PYDT(TreeEstimator):
    """The Pitman-Yor diffusion tree of Knowles and Ghahramani (2015), by Markov chain Monte Carlo.

    Rows are particles that start together and move as Brownian motion until t = 1; each follows
    those before it, and leaves them at some time. `alpha=0, theta=0` is the Dirichlet diffusion
    tree of Neal (2003), which has two branches at every node.

    A draw is a sweep: as many turns as there are rows, in each of which a random subtree is cut off
    and may find another place, then all times of nodes, then the rates that are learned.

    Parameters
    ----------
    n_clusters : int, default=8
        Clusters of `labels_`; the tree does not depend on it.
    sampler : {"slice", "mh"}, default="slice"
        How a subtree finds its place: by a slice sampler over all places, or by a place from the
        prior, accepted or not (Metropolis-Hastings; a turn is cheap and seldom accepted).
    alpha, theta : number, prior or "learn", default="learn"
        How readily a node has more than two branches; 0 <= alpha < 1 and theta >= 0. A number fixes
        it. A prior of `bhmc.priors` has it learned, and "learn" stands for Beta(1, 1), Gamma(1, 1).
    c : number, prior or "learn", default="learn"
        Rows part at the rate c / (1 - t): large, and most part early. "learn": Gamma(2, 1).
    sigma2 : number, prior or "learn", default="learn"
        Variance of the motion in unit time. "learn": InverseGamma(2, v), v being the mean variance
        of the columns.
    noise : number, prior or "learn", default="learn"
        Variance of what is added to each row at t = 1. "learn": InverseGamma(1, v / 100).
    n_warmup, n_draws : int, default=50
        Draws before the ones that count, and draws that count.
    moves_per_draw : int, optional
        Turns of a draw, if not as many as there are rows.
    max_seconds : float, optional
        Stop after this time, keep what there is, and say so in `stopped_early_`. The first tree is
        always finished.
    random_state : int, Generator, RandomState, SeedSequence or None, default=None
        Seed.

    Attributes
    ----------
    tree_ : Tree
        The draw with the highest log joint density; heights are 1 - t.
    labels_ : ndarray of shape (n,)
        The rows cut into `n_clusters` clusters, earliest divergences first.
    log_joint_ : ndarray of shape (draws,)
        log p(X, tree, rates) of each draw: a density in -log(1 - t) of every node.
    hyper_ : dict
        The rates of the draw that is `tree_`. `clone(model).set_params(**model.hyper_)` fixes them
        for further runs.
    traces_ : dict of arrays of shape (draws,)
        alpha, theta, c, sigma2 and noise of each draw.
    n_moves_ : int
        Turns taken in all.
    stopped_early_ : bool
        Whether `max_seconds` ended the run.

    Examples
    --------
    >>> from bhmc.baselines import PYDT
    >>> rows = [[0.0, 0.1], [0.1, 0.0], [5.0, 5.1], [5.2, 5.0]]
    >>> PYDT(n_clusters=2, n_warmup=5, n_draws=5, random_state=0).fit_predict(rows)
    array([0, 0, 1, 1], dtype=int32)
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        sampler: str = "slice",
        alpha: float | Prior | str = "learn",
        theta: float | Prior | str = "learn",
        c: float | Prior | str = "learn",
        sigma2: float | Prior | str = "learn",
        noise: float | Prior | str = "learn",
        n_warmup: int = 50,
        n_draws: int = 50,
        moves_per_draw: int | None = None,
        max_seconds: float | None = None,
        random_state: Any = None,
    ):
        self.n_clusters = n_clusters
        self.sampler = sampler
        self.alpha = alpha
        self.theta = theta
        self.c = c
        self.sigma2 = sigma2
        self.noise = noise
        self.n_warmup = n_warmup
        self.n_draws = n_draws
        self.moves_per_draw = moves_per_draw
        self.max_seconds = max_seconds
        self.random_state = random_state

    def _fit_tree(self, X: NDArray[np.float64]) -> Tree:
        sampler = check_choice(self.sampler, "sampler", tuple(_AT_A_TIME))
        n_warmup = check_whole(self.n_warmup, "n_warmup", 0)
        n_draws = check_whole(self.n_draws, "n_draws", 1)
        n_moves = len(X)
        if self.moves_per_draw is not None:
            n_moves = check_whole(self.moves_per_draw, "moves_per_draw", 1)
        X = X - X.mean(axis=0)
        rates, priors = self._settings(X)
        rng = np.random.default_rng(seed_sequence(self.random_state))
        clock = _Clock(self.max_seconds)
        chain = DiffusionChain(X, rates, priors, sampler, rng)
        chain.start()
        kept: list[_Draw] = []
        best: tuple[_Draw, DiffusionTree] | None = None
        stopped = False
        for i in range(n_warmup + n_draws):
            if kept and clock.is_over:  # a draw without a turn would be the last one again
                stopped = True
                break
            stopped = not _sweep(chain, n_moves, _AT_A_TIME[sampler], clock)
            if i >= n_warmup or stopped:
                draw = _Draw(chain.log_joint(), chain.rates)
                kept.append(draw)
                if best is None or draw.log_joint > best[0].log_joint:
                    best = draw, chain.tree
            if stopped:
                break
        assert best is not None  # n_draws is at least 1
        self.stopped_early_ = stopped
        self.n_moves_ = chain.n_moves
        self.log_joint_ = np.array([draw.log_joint for draw in kept])
        self.traces_ = {
            name: np.array([getattr(draw.rates, name) for draw in kept]) for name in Rates._fields
        }
        self.hyper_ = best[0].rates._asdict()
        return _as_tree(best[1], len(X))

    def _settings(self, X: NDArray[np.float64]) -> tuple[Rates, RatePriors]:
        """Where the rates start, and the priors of those that are learned."""
        v = _mean_variance(X)
        usual = {
            "alpha": (0.2, Beta(1, 1)),
            "theta": (0.5, Gamma(1, 1)),
            "c": (1.0, Gamma(2, 1)),
            "sigma2": (v, InverseGamma(2, v)),
            "noise": (v / 100, InverseGamma(1, v / 100)),
        }
        rates, priors = {}, {}
        for name, (start, prior) in usual.items():
            given = getattr(self, name)
            if isinstance(given, Prior) or given == "learn":
                prior = given if isinstance(given, Prior) else prior
                rates[name], priors[name] = _start_within(prior, start, name), prior
            else:
                rates[name], priors[name] = _check_rate(given, name), None
        if rates["noise"] == 0 and len(np.unique(X, axis=0)) < len(X):
            raise ValueError(
                "noise=0 allows no two equal rows, and there are some: give a noise above 0 or "
                "have it learned."
            )
        return Rates(**rates), RatePriors(**priors)


class _Draw(NamedTuple):
    log_joint: float
    rates: Rates


class _Clock:
    """Tells whether the time is over."""

    def __init__(self, max_seconds: float | None):
        seconds = np.inf if max_seconds is None else check_positive(max_seconds, "max_seconds")
        self._end = time.monotonic() + seconds

    @property
    def is_over(self) -> bool:
        return time.monotonic() >= self._end


def _sweep(chain: DiffusionChain, n_moves: int, at_a_time: int, clock: _Clock) -> bool:
    """One draw, or what there is time for of it; whether it was whole.

    Each part leaves the posterior as it is.
    """
    left = n_moves
    while left > 0 and not clock.is_over:
        now = min(left, at_a_time)
        chain.move(now)
        left -= now
    if left or clock.is_over:
        return False
    chain.redraw_times()
    chain.redraw_rates()
    return True


def _mean_variance(X: NDArray[np.float64]) -> float:
    """The mean variance of the columns, 1 where all rows are equal."""
    if not np.ptp(X, axis=0).any():
        return 1.0
    with np.errstate(over="ignore"):
        v = float(X.var(axis=0).mean())
    if not _LEAST <= v <= 1 / _LEAST:
        raise ValueError(
            f"the mean variance of X's columns must be between {_LEAST:g} and {1 / _LEAST:g}, got "
            f"{v:g}: multiply X by a number."
        )
    return v


def _start_within(prior: Prior, start: float, name: str) -> float:
    """`start`, or a number in the middle of a prior that does not allow it."""
    if np.isfinite(prior.log_density(start)):
        return start
    if isinstance(prior, Beta):
        return prior.a / (prior.a + prior.b)
    low, high = getattr(prior, "low", 0.0), getattr(prior, "high", np.inf)
    middle = 0.5 * (low + min(high, 1.0) if name == "alpha" else low + high)
    if (name == "alpha" and not low < middle < 1) or not np.isfinite(prior.log_density(middle)):
        raise ValueError(f"the prior of {name} allows no number that {name} may be, got {prior!r}.")
    return middle


def _check_rate(value: Any, name: str) -> float:
    """`value` as a rate: above 0, or 0 where the model has a case for it."""
    if name in ("c", "sigma2"):
        return check_positive(value, name)
    below = 1.0 if name == "alpha" else np.inf
    what = "at least 0 and below 1" if name == "alpha" else "finite and at least 0"
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f'{name} must be a number, one of bhmc.priors or "learn", got {value!r}.')
    if not 0 <= float(value) < below:
        raise ValueError(f"{name} must be {what}, got {value!r}.")
    return float(value)


def _as_tree(tree: DiffusionTree, n: int) -> Tree:
    return Tree.from_parents(tree.parents, np.arange(n), heights=np.exp(-tree.clocks))
