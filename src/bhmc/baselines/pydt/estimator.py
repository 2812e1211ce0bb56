"""`PYDT`: the Pitman-Yor diffusion tree as an estimator. Wiring and validation."""

import os
from collections.abc import Callable
from functools import partial
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from bhmc._estimator.chain_run import Ended, Task, common_draws, run_chains
from bhmc._estimator.checkpoint import BETWEEN_CHECKPOINTS, check_checkpoint
from bhmc._validation.parameters import (
    check_choice,
    check_n_jobs,
    check_positive,
    check_whole,
    seed_sequence,
)
from bhmc.baselines.base import TreeEstimator
from bhmc.baselines.pydt.chain import (
    TURNS_AT_A_TIME,
    DiffusionChain,
    RatePriors,
    add_log_priors,
)
from bhmc.baselines.pydt.state import DiffusionTree, Rates
from bhmc.posterior.diagnostics import Diagnostics, diagnose
from bhmc.posterior.draws import Draws
from bhmc.posterior.recorder import best_state, collect
from bhmc.posterior.retention import Plan
from bhmc.priors import Beta, Gamma, InverseGamma, Prior
from bhmc.tree import Tree

_FIRST_LINE = "Keeping the numbers of every draw and the tree of the best draw."

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
        Stop a chain after this time, keep what there is, and say so in `stopped_early_`. The first
        tree is always finished; a chain without a draw keeps the tree it has.
    n_chains : int, default=1
        Independent chains. The first is the same however many there are.
    n_jobs : int, optional
        Chains run at the same time: threads, or processes within
        `joblib.parallel_config("loky")`. The answer does not depend on it.
    checkpoint : path, optional
        Chains are saved now and then in files of this name with `.0`, `.1`, ... after it, and a
        later fit with the same settings and data, or more draws, resumes from them.
    checkpoint_interval : float, default=30.0
        Seconds from one save of a chain to the next, at least.
    progress : bool, default=False
        Show a bar of sweeps, time left, log joint and nodes, on a terminal or in a notebook.
    random_state : int, Generator, RandomState, SeedSequence or None, default=None
        Seed.

    Attributes
    ----------
    tree_ : Tree
        The draw with the highest log joint density of all chains; heights are 1 - t.
    labels_ : ndarray of shape (n,)
        The rows cut into `n_clusters` clusters, earliest divergences first.
    draws_ : Draws
        Numbers of every draw, (chain, draw). `log_likelihood` is log p(X, tree | rates). Diffusion
        trees have neither levels nor components, so there are no numbers of those.
    diagnostics_ : Diagnostics
        Whether chains agree, number by number; `print(model.diagnostics_)`.
    log_joint_ : ndarray of shape (draws,)
        log p(X, tree, rates) of each draw, chain after chain: a density in -log(1 - t) of every
        node.
    hyper_ : dict
        The rates of the draw that is `tree_`. `clone(model).set_params(**model.hyper_)` fixes them
        for further runs.
    traces_ : dict of arrays of shape (draws,)
        alpha, theta, c, sigma2 and noise of each draw, chain after chain.
    n_moves_ : int
        Turns taken in all.
    stopped_early_ : bool
        Whether `max_seconds` ended a chain.
    interrupted_ : bool
        Whether Ctrl-C ended the chains before all draws were made. Before the first draw,
        KeyboardInterrupt is raised as ever.

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
        n_chains: int = 1,
        n_jobs: int | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        checkpoint_interval: float = BETWEEN_CHECKPOINTS,
        progress: bool = False,
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
        self.n_chains = n_chains
        self.n_jobs = n_jobs
        self.checkpoint = checkpoint
        self.checkpoint_interval = checkpoint_interval
        self.progress = progress
        self.random_state = random_state

    def _fit_tree(self, X: NDArray[np.float64]) -> Tree:
        self._check_parameters()
        data = X - X.mean(axis=0)
        rates, priors = self._settings(data)
        ended = run_chains(self, self._task(data, rates, priors), self._seeds(), X, _FIRST_LINE)
        recorders = common_draws([one.recorder for one in ended])
        if not recorders:
            raise KeyboardInterrupt
        self.stopped_early_: bool = any(one.out_of_time for one in ended)
        self.interrupted_: bool = self._are_stopped(ended) and not self.stopped_early_
        self.n_moves_: int = sum(one.result or 0 for one in ended)
        self.draws_: Draws = collect(recorders)
        self.traces_: dict[str, NDArray[np.float64]] = {
            name: trace.flatten() for name, trace in self.draws_.learned.items()
        }
        self.log_joint_: NDArray[np.float64] = _log_joint(self.draws_, self.traces_, priors)
        best = best_state(recorders)
        self.hyper_: dict[str, float] = best["rates"]
        return _as_tree(DiffusionTree(best["parents"], best["clocks"]), len(X))

    @property
    def diagnostics_(self) -> Diagnostics:
        """R-hat and effective draws of every number in `draws_`, and what they say."""
        check_is_fitted(self, "draws_")
        return diagnose(self.draws_)

    def _check_parameters(self) -> None:
        """Refuse a bad parameter before any work is done."""
        check_choice(self.sampler, "sampler", tuple(TURNS_AT_A_TIME))
        check_whole(self.n_warmup, "n_warmup", 0)
        check_whole(self.n_draws, "n_draws", 1)
        check_whole(self.n_chains, "n_chains", 1)
        check_n_jobs(self.n_jobs)
        if self.moves_per_draw is not None:
            check_whole(self.moves_per_draw, "moves_per_draw", 1)
        if self.max_seconds is not None:
            check_positive(self.max_seconds, "max_seconds")
        if self.checkpoint is not None:
            check_checkpoint(self.checkpoint)
        check_positive(self.checkpoint_interval, "checkpoint_interval")

    def _seeds(self) -> list[np.random.SeedSequence]:
        """One for each chain; the first does not depend on how many there are."""
        first = seed_sequence(self.random_state)
        return [first, *first.spawn(self.n_chains - 1)]

    def _task(self, X: NDArray[np.float64], rates: Rates, priors: RatePriors) -> Task:
        """What the chains are to do."""
        return Task(
            make_chain=partial(
                diffusion_chain,
                X=X,
                rates=rates,
                priors=priors,
                sampler=self.sampler,
                n_turns=self.moves_per_draw,
            ),
            n_warmup=self.n_warmup,
            n_draws=self.n_draws,
            plan=Plan(state_step=0, partition_step=0, best_by="log_joint"),
            max_seconds=np.inf if self.max_seconds is None else self.max_seconds,
            result=_turns_taken,
        )

    def _are_stopped(self, ended: list[Ended]) -> bool:
        return any(one.made < self.n_warmup + self.n_draws for one in ended)

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


def diffusion_chain(
    rng: np.random.Generator,
    captured: Any,
    stop: Callable[[], bool],
    *,
    X: NDArray[np.float64],
    rates: Rates,
    priors: RatePriors,
    sampler: str,
    n_turns: int | None,
) -> DiffusionChain:
    """A chain of diffusion trees, as `Task.make_chain` makes it.

    Parameters
    ----------
    rng, captured, stop
        As in `Task.make_chain`.
    X, rates, priors, sampler, n_turns
        As in `DiffusionChain`.
    """
    if captured is not None:
        return DiffusionChain.resume(captured, X, priors, sampler, rng, n_turns=n_turns, stop=stop)
    chain = DiffusionChain(X, rates, priors, sampler, rng, n_turns=n_turns, stop=stop)
    chain.start()
    return chain


def _turns_taken(chain: DiffusionChain) -> int:
    return chain.n_moves


def _log_joint(
    draws: Draws, traces: dict[str, NDArray[np.float64]], priors: RatePriors
) -> NDArray[np.float64]:
    """(draws,) log p(X, tree, rates) of each draw."""
    rates = zip(*(traces[name].tolist() for name in Rates._fields), strict=True)
    given = zip(draws.log_likelihood.ravel().tolist(), rates, strict=True)
    return np.array([add_log_priors(total, priors, Rates(*values)) for total, values in given])


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
