"""Visits to every (tree, partition) against their exact posterior probabilities."""

from functools import cache

import numpy as np
import pytest
from benchmarks.chains import chain_of

import bhmc
from bhmc.model.hdp.params import hdp_state
from bhmc.model.hdp.sampler import HdpSampler
from tests.exact import enumeration as en
from tests.exact.alarm import P_LIMIT, T_LIMIT, chi_square_p, rng_for, z_scores
from tests.mutants.mutants import build, find

NUMBERS = {"alpha": 0.9, "gamma0": 1.3, "gamma": 0.7, "sigma2": 0.6, "mu0": 0.1, "sigma0": 1.4}
DATA = np.array([[-1.1], [0.2], [1.4], [0.5]])
CASES = [(n, n_levels, None) for n in (3, 4) for n_levels in (1, 2, 3)] + [(3, 2, 2)]
# One of each depth and one finite; the ordinary suite leaves the other sizes to `make exact`.
SINGLE = [(4, 1, None), (3, 2, None), (3, 3, None), (3, 2, 2)]
CHAINS = [(4, 2, None, "gibbs"), (3, 2, 2, "mh")]


@cache
def _posterior(n, n_levels, n_components):
    return en.posterior(DATA[:n], n_levels, **NUMBERS, n_components=n_components)


class _Problem:
    """Three or four data whose posterior over (tree, partition) is known exactly."""

    def __init__(self, n, n_levels, n_components):
        self.X, self.n_levels, self.n_components = DATA[:n], n_levels, n_components
        self.posterior = _posterior(n, n_levels, n_components)
        self.number = {key: i for i, key in enumerate(self.posterior)}
        self.probabilities = np.array(list(self.posterior.values()))
        self.hyper = bhmc.Hyper(NUMBERS["alpha"], NUMBERS["gamma0"], NUMBERS["gamma"], n_components)
        likelihood = bhmc.likelihoods.Gaussian(NUMBERS["sigma2"], NUMBERS["mu0"], NUMBERS["sigma0"])
        self._family = likelihood.prepare(self.X)

    def exact_state(self, key, rng) -> bhmc.State:
        exact = en.draw_exact_state(
            key, self.X, rng, self.n_levels, **NUMBERS, n_components=self.n_components
        )
        return hdp_state(**exact._asdict(), hyper=self.hyper)

    def chain(self, state, sampler, rng, **engine) -> HdpSampler:
        return chain_of(state, self._family, sampler, rng, **engine)

    def visited(self, chain) -> int:
        state = chain.state()
        return self.number[
            en.key_of(state.paths, state.components, finite=self.n_components is not None)
        ]


@pytest.mark.parametrize(
    ("n", "n_levels", "n_components", "sampler"),
    [*((*case, "gibbs") for case in SINGLE), (3, 2, None, "mh")],
)
def test_one_sweep_from_exact_draws(n, n_levels, n_components, sampler):
    """Independent starts, so the visits after one sweep are a plain multinomial sample."""
    assert _one_sweep_p(_Problem(n, n_levels, n_components), sampler, 1_200) > P_LIMIT


@pytest.mark.exact_long
@pytest.mark.parametrize("sampler", ["gibbs", "mh"])
@pytest.mark.parametrize(("n", "n_levels", "n_components"), CASES)
def test_one_sweep_from_exact_draws_of_all_sizes(n, n_levels, n_components, sampler):
    assert _one_sweep_p(_Problem(n, n_levels, n_components), sampler, 3_000) > P_LIMIT


@pytest.mark.parametrize("name", ["new branches forgotten", "a Hastings term that does not cancel"])
def test_one_sweep_of_a_mutant_is_noticed(name):
    mutant = find(name)
    p = _one_sweep_p(_Problem(3, 2, None), mutant.sampler, 1_000, engine=build(mutant.edits))
    print(f"{name}: p {p:.1e}")
    assert p < P_LIMIT


def _one_sweep_p(problem, sampler, n_draws, **engine) -> float:
    """P value of the visits after one sweep from exact draws."""
    rng = rng_for(31)
    visits = np.zeros(len(problem.number))
    for key in en.draw_key(problem.posterior, rng, n_draws):
        chain = problem.chain(problem.exact_state(key, rng), sampler, rng, **engine)
        chain.sweep()
        visits[problem.visited(chain)] += 1
    return chi_square_p(visits, problem.probabilities)


@pytest.mark.parametrize(("n", "n_levels", "n_components", "sampler"), CHAINS)
def test_long_chain_visits_every_state_as_often_as_it_should(n, n_levels, n_components, sampler):
    """One chain from the least likely state: it must reach all others, in the right proportion."""
    _check_long_chain(_Problem(n, n_levels, n_components), sampler, 10_000)


@pytest.mark.exact_long
@pytest.mark.parametrize("sampler", ["gibbs", "mh"])
@pytest.mark.parametrize(("n", "n_levels", "n_components"), CASES)
def test_longer_chain_visits(n, n_levels, n_components, sampler):
    _check_long_chain(_Problem(n, n_levels, n_components), sampler, 200_000)


def _check_long_chain(problem, sampler, n_sweeps):
    rng = rng_for(32)
    rarest = min(problem.posterior, key=problem.posterior.get)
    chain = problem.chain(problem.exact_state(rarest, rng), sampler, rng)
    for _ in range(n_sweeps // 10):  # forget the start
        chain.sweep()
    path = np.empty(n_sweeps, dtype=int)
    for t in range(n_sweeps):
        chain.sweep()
        path[t] = problem.visited(chain)
    visits = np.bincount(path, minlength=len(problem.number))
    expected = problem.probabilities * n_sweeps
    # Even at ten sweeps to an independent one, 200 expected visits make none at all impossible.
    assert (visits[expected > 200] > 0).all()
    common = np.flatnonzero(expected > 200)
    indicators = (path[:, None] == common).astype(float)
    exact = np.broadcast_to(problem.probabilities[common], (2, len(common)))
    z = z_scores(exact, indicators)
    assert np.abs(z).max() < T_LIMIT
    # The rare states, visited or not, are checked together.
    rest = (~np.isin(path, common)).astype(float)[:, None]
    rest_exact = np.full((2, 1), 1 - problem.probabilities[common].sum())
    assert np.abs(z_scores(rest_exact, rest)).max() < T_LIMIT
