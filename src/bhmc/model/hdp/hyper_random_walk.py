"""Concentrations by a random walk of their logarithm, as the paper has it, for any engine.

It stands between the tables and the weights of a sweep, as the slices of the compiled code do. It
is plain NumPy: a few numbers a sweep are not worth the seconds that compiling it would take.
"""

import math
from collections.abc import Callable, Mapping

import numpy as np

from bhmc.model.hdp.reference import _LARGEST_RATE, _SMALLEST_RATE, log_concentrations
from bhmc.model.hdp.workspace import Rates, Workspace
from bhmc.priors import Prior

# Standard deviation of a step of log x. The paper does not say; this one accepts about half.
STEP = 0.5


def walk_concentrations(
    ws: Workspace, rates: Rates, priors: Mapping[str, Prior], rng: np.random.Generator
) -> Rates:
    """alpha given V; gamma0 and gamma given the tables: one step each, where there is a prior.

    Targets: prior times p(V | alpha), p(the root's customers | gamma0) and p(tables | gamma).
    """
    for name, log_given in log_concentrations(ws, rates).items():
        if name in priors:
            x = walk_step(log_posterior(priors[name], log_given), getattr(rates, name), rng)
            rates = rates._replace(**{name: x})
    return rates


def log_posterior(prior: Prior, log_given: Callable[[float], float]) -> Callable[[float], float]:
    """log prior(x) + log_given(x); -inf where the prior excludes x."""

    def log_p(x: float) -> float:
        possible = _SMALLEST_RATE < x < _LARGEST_RATE
        log_density = prior.log_density(x) if possible else -math.inf
        return -math.inf if log_density == -math.inf else log_density + float(log_given(x))

    return log_p


def walk_step(log_p: Callable[[float], float], x: float, rng: np.random.Generator) -> float:
    """x' = x exp(STEP N(0, 1)), accepted with probability min(1, p(x') x' / (p(x) x)).

    The factor x' / x is there because the steps are even in log x, and not in x.
    """
    new = x * math.exp(STEP * rng.standard_normal())
    log_odds = log_p(new) - log_p(x) + math.log(new) - math.log(x)
    return new if -rng.standard_exponential() < log_odds else x
