"""The published sampler (Algorithm 2 of the paper), to the letter, and its walk of concentrations.

Three of its steps are not the conditional they stand for, so it does not leave the posterior
alone: raw counts in the weights of inner nodes; the break of a new component that ignores that a
datum has just chosen it; a lone component that stays on offer beside the integral over new ones.
The walk is exact, and serves every sampler where `hyper="paper"`.
"""

import math
from collections.abc import Callable, Mapping

import numpy as np

from bhmc.model.hdp import workspace
from bhmc.model.hdp.density import log_concentrations
from bhmc.model.hdp.sampler import HdpSampler
from bhmc.model.hdp.workspace import Rates, Workspace
from bhmc.priors import Prior

# The published sampler breaks the root's stick until less than this is left.
EPSILON = 1e-3

# A concentration beyond these counts as impossible.
_SMALLEST_RATE, _LARGEST_RATE = 1e-100, 1e100

# Standard deviation of a step of log x. The paper does not say; this one accepts about half.
STEP = 0.5


def walk_concentrations(
    ws: Workspace, rates: Rates, priors: Mapping[str, Prior], rng: np.random.Generator
) -> Rates:
    """alpha given V; gamma0 and gamma given the tables: one step each, where there is a prior.

    Targets: prior times p(V | alpha), p(the root's customers | gamma0) and p(tables | gamma).
    """
    customers = ws.customers[:, : ws.room[workspace.WIDTH]]
    targets = log_concentrations(ws.level, ws.n_under, customers, rates.n_fixed)
    for name, log_given in targets.items():
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


def draw_weights_and_walk(chain: HdpSampler) -> Rates:
    """B and the concentrations as the engine's `draw_weights`, with a walk in place of slices.

    Parameters
    ----------
    chain : HdpSampler
        Whose customers at the leaves are counted.
    """
    engine, ws, rates = chain.engine, chain.ws, chain.rates
    if chain.priors:
        engine.draw_tables(ws, rates, False, chain.source)
        rates = walk_concentrations(ws, rates, chain.priors, chain.rng)
    if chain.literal or not chain.priors:
        engine.draw_tables(ws, rates, chain.literal, chain.source)
    engine.draw_weights_given_tables(ws, rates, chain.source)
    return rates


class PublishedSampler(HdpSampler):
    """Algorithm 2 of the paper: rows in random order within a tile, components from the prior."""

    literal = True

    def redraw_data(self) -> None:
        """Paths and components of all data, as published."""
        self._begin_pass()
        self._break_root()
        for n_rows in self.rows.tiles():
            self._pass_over_tile(n_rows)
        self.engine.release_empty(self.ws)

    def _order(self, n_rows: int) -> np.ndarray:
        return self.rng.permutation(n_rows)

    def _rows_done(self, position: int) -> int:
        return 0  # of rows in random order none at the head is known to be done

    def _break_root(self) -> None:
        """Components from the prior until the root has less than epsilon left."""
        nothing = np.zeros(self.rows.family.n_statistics)
        while self.ws.log_beta[0, 0] >= np.log(EPSILON):
            if not self.ws.room[workspace.FREE_COLUMNS]:
                self.make_room()
            k = self.engine.break_component(self.ws, self.rates, workspace.NONE, self.source)
            self.draw_new_theta(k, nothing)
