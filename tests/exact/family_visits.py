"""Visits of a chain to all (tree, partition) states of three data, against exact probabilities.

Every family, its missing entries and shared numbers, and the concentrations, which are learned:
what is exact comes from `marginals` and `learned_enumeration`.
"""

from functools import cache

import numpy as np
from benchmarks.chains import chain_of, start_state
from numpy.typing import NDArray

from tests.exact import enumeration as en
from tests.exact import marginals, marginals_shared
from tests.exact.alarm import rng_for, z_of_chain
from tests.exact.learned import PRIORS
from tests.exact.learned_enumeration import learned_prior

HYPER, N_LEVELS = PRIORS["gamma"], 2

CASES = {
    "Gaussian": marginals.gaussian,
    "SharedGaussian": lambda: marginals_shared.shared_gaussian("diagonal"),
    "SharedGaussian, spherical": lambda: marginals_shared.shared_gaussian("spherical", least=0.3),
    "SharedGaussian, full": marginals_shared.tied_gaussian,
    "ShapedGaussian": marginals_shared.shaped_gaussian,
    "AdaptiveGaussian": lambda: marginals_shared.adaptive_gaussian("diagonal", least=0.3),
    "AdaptiveGaussian, spherical": lambda: marginals_shared.adaptive_gaussian("spherical"),
    "FreeGaussian": lambda: marginals.free_gaussian("diagonal"),
    "FreeGaussian, spherical": lambda: marginals.free_gaussian("spherical"),
    "FullGaussian": marginals.full_gaussian,
    "Bernoulli": marginals.bernoulli,
    "Categorical": marginals.categorical,
    "Poisson": marginals.poisson,
    "Multinomial": marginals.multinomial,
}

# A state that is expected less often is judged together with others of its partition.
LEAST_VISITS = 100


@cache
def _prior():
    return learned_prior(3, N_LEVELS, HYPER)


@cache
def exact(name: str) -> tuple[marginals.Case, NDArray[np.float64]]:
    """The case, and (S,): p(V, c | X) in the order of the prior's keys."""
    case, prior = CASES[name](), _prior()
    log_data = {c: case.log_p_data(c) for c in en.partitions(3)}
    p = prior.p * np.exp([log_data[c] - max(log_data.values()) for _, c in prior.keys])
    return case, p / p.sum()


def largest_z(name: str, n_sweeps: int, seed: int, family=None, sampler: str = "gibbs") -> float:
    """Largest |z| over all states, trees, partitions and concentrations; of another family, too."""
    case, p = exact(name)
    bound = (family or type(case.likelihood.prepare(case.X)))(case.likelihood, case.X)
    visits, logs = _run(bound, n_sweeps, sampler, rng_for(seed))
    means, variances, chain = _of_states(p, visits)
    learned = _of_concentrations(p, visits, logs)
    z = z_of_chain(
        np.column_stack([chain, learned[2]]),
        np.append(means, learned[0]),
        np.append(variances, learned[1]),
    )
    return float(np.abs(z).max())


def _run(family, n_sweeps: int, sampler: str, rng):
    """(T,) numbers of the states a chain visits, and (T, 3) logarithms of the concentrations."""
    number = {key: i for i, key in enumerate(_prior().keys)}
    state = start_state(family, n_levels=N_LEVELS, hyper=HYPER, rng=rng)
    chain = chain_of(state, family, sampler, rng, learning=HYPER)
    visits, logs = np.empty(n_sweeps, dtype=int), np.empty((n_sweeps, 3))
    for t in range(-n_sweeps // 10, n_sweeps):  # the first tenth forgets the start
        chain.sweep()
        if t >= 0:
            state = chain.state()
            visits[t] = number[en.key_of(state.paths, state.components)]
            logs[t] = np.log(state.hyper[:3])
    return visits, logs


def _of_states(p: NDArray[np.float64], visits: NDArray[np.int64]):
    """Means, variances and the chain's indicators of states, trees and partitions."""
    keys = _prior().keys
    rare = p * len(visits) < LEAST_VISITS
    together = [
        ("rare", c) if few else (tree, c) for few, (tree, c) in zip(rare, keys, strict=True)
    ]
    columns = [
        np.array([label == other for label in labels])
        for labels in (together, [tree for tree, _ in keys], [c for _, c in keys])
        for other in dict.fromkeys(labels)
    ]
    member = np.array([column for column in columns if p @ column * len(visits) >= LEAST_VISITS]).T
    means = p @ member
    return means, means * (1 - means), member[visits].astype(float)


def _of_concentrations(p, visits, logs):
    """The same for log alpha, log gamma0 and log gamma, and joined with what depends on them.

    That is: one leaf, one component, and one component within two or more leaves.
    """
    prior = _prior()
    one_leaf = np.array([max(tree[-1]) == 0 for tree, _ in prior.keys])
    one_component = np.array([max(c) == 0 for _, c in prior.keys])
    joined = np.column_stack([one_leaf, one_component, one_component & ~one_leaf]).astype(float)
    factors = np.stack([np.ones_like(joined), joined], axis=2)  # (S, 3, 2)
    first = np.einsum("s,skf,sk->kf", p, factors, prior.moments[:, :, 0])
    second = np.einsum("s,skf,sk->kf", p, factors**2, prior.moments[:, :, 1])
    chain = factors[visits] * logs[:, :, None]
    return first.ravel(), (second - first**2).ravel(), chain.reshape(len(logs), -1)
