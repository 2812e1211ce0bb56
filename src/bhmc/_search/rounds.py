"""One score of a search: a short chain on four fifths of a subset, judged on the other fifth.

A score is a function of the plan, the round and the split alone, with seeds of its own. So a score
does not depend on threads, on time or on the scores made before.
"""

import time
from dataclasses import replace
from inspect import signature
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bhmc._compiled.blas_threads import one_blas_thread
from bhmc._estimator.bhmc import BHMC
from bhmc._sampling.start import start_state
from bhmc._search.settings import OF_THE_MODEL, draw_settings
from bhmc._validation.parameters import check_whole
from bhmc.likelihoods import Likelihood, by_name, kind_of, resolve
from bhmc.model.hyper import concentrations
from bhmc.model.registry import transition_named, with_moves
from bhmc.model.state import Hyper
from bhmc.posterior.predictive import log_predictive
from bhmc.rows.local import LocalRows

# The round whose settings are the defaults of `BHMC`.
DEFAULTS = 0

# Sweeps from one kept draw to the next.
THIN = 4

# A fifth is held out.
PARTS = 5

# What the seeds are for.
_SETTINGS, _SPLIT, _CHAIN = range(3)


class Plan(NamedTuple):
    """What all rounds of a search share."""

    X: Any
    likelihood: str | Likelihood
    priors: dict[str, Any]
    n_subset: int
    warmup: int
    draws: int
    entropy: Any
    spawn_key: tuple[int, ...]

    def rng(self, *key: int) -> np.random.Generator:
        """The generator of one purpose, the same in every run of the search."""
        seed = np.random.SeedSequence(self.entropy, spawn_key=(*self.spawn_key, *key))
        return np.random.default_rng(seed)

    def settings(self, number: int) -> dict[str, Any]:
        """What round `number` sets; nothing in the round of the defaults."""
        if number == DEFAULTS:
            return {}
        return draw_settings(self.priors, self.rng(_SETTINGS, number))

    def split(self, number: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """(rows to fit, rows held out) of split `number`: a subset of its own, cut 4 to 1."""
        rows = self.rng(_SPLIT, number).permutation(self.X.shape[0])[: self.n_subset]
        cut = self.n_subset // PARTS
        return np.sort(rows[cut:]), np.sort(rows[:cut])

    def family_settings(self, settings: dict[str, Any], X: Any) -> Likelihood:
        """The likelihood in the units of X, with the settings that are its own put in."""
        numbers = {name: value for name, value in settings.items() if name not in OF_THE_MODEL}
        if isinstance(self.likelihood, str):
            kind = class_of(self.likelihood)
            early = {name for name, value in numbers.items() if _scales_by(kind, name, value)}
            own = {name: numbers.pop(name) for name in early}
            likelihood = by_name(self.likelihood, X, **own)
            likelihood = likelihood.counted(self.X)  # a code may be in the rows held out alone
        else:
            likelihood = resolve(self.likelihood.counted(self.X), X)
        return replace(likelihood, **numbers) if numbers else likelihood  # type: ignore[type-var]


def class_of(likelihood: str | Likelihood) -> type[Likelihood]:
    """The class of a likelihood, or of what its name stands for."""
    return type(kind_of(likelihood))


def _scales_by(kind: type[Likelihood], name: str, value) -> bool:
    """Whether the family must know this setting to find its units: a word, or one it asks for."""
    return isinstance(value, str) or name in signature(kind.scaled_to).parameters


class Score(NamedTuple):
    """Held-out log density of a row under a round's settings, on one split."""

    round: int
    split: int
    score: float
    components: float


def score(plan: Plan, number: int, split: int, deadline: float = np.inf) -> Score | None:
    """mean over held-out rows of log( mean over draws of p(x | draw) ); None when out of time."""
    settings = plan.settings(number)
    fitted, held_out = plan.split(split)
    likelihood = plan.family_settings(settings, plan.X[fitted])
    try:
        return _score(plan, number, split, settings, likelihood, fitted, held_out, deadline)
    except (ArithmeticError, np.linalg.LinAlgError):
        if number == DEFAULTS:
            raise
        return Score(number, split, -np.inf, np.nan)  # settings that no double can follow


def _score(plan, number, split, settings, likelihood, fitted, held_out, deadline) -> Score | None:
    (hyper, n_levels), rng = hyper_and_depth(settings), plan.rng(_CHAIN, split, number)
    family, unseen = likelihood.prepare(plan.X[fitted]), likelihood.prepare(plan.X[held_out])
    log_p = np.full(len(held_out), -np.inf)
    components = []
    with one_blas_thread():
        usual, rows = BHMC(), LocalRows(family)
        transition = with_moves(transition_named("hdp").bind(hyper), usual.moves)
        start = start_state(transition, rows, n_levels=n_levels, rng=rng, init="kmeans")
        chain = transition.sampler(start, rows, transition.samplers[0], rng)
        for sweep in range(1, plan.warmup + THIN * plan.draws + 1):
            if time.monotonic() > deadline:
                return None
            chain.sweep()
            if sweep > plan.warmup and (sweep - plan.warmup) % THIN == 0:
                log_p = np.logaddexp(log_p, log_predictive(chain.state(), unseen))
                components.append(chain.n_components)
    value = float(np.mean(log_p)) - float(np.log(plan.draws))
    return Score(number, split, value if value == value else -np.inf, float(np.mean(components)))


def hyper_and_depth(settings: dict[str, Any]) -> tuple[Hyper, int]:
    """(concentrations, n_levels) as a chain takes them, checked."""
    wanted = model_settings(settings)
    n_levels = check_whole(wanted.pop("n_levels"), "n_levels", 1)
    return concentrations(**wanted), n_levels


def model_settings(settings: dict[str, Any]) -> dict[str, Any]:
    """n_levels and concentrations: the settings' own, else those of `BHMC`."""
    usual = BHMC().get_params()
    return {name: settings.get(name, usual[name]) for name in OF_THE_MODEL}
