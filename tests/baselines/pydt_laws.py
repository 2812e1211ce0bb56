"""What the joint tests of the diffusion tree share: settings, exact draws, statistics.

A draw comes from the forward simulator, so (rates, tree, X) have their joint law exactly.
"""

from typing import NamedTuple

import numpy as np

from bhmc.baselines.pydt import density
from bhmc.baselines.pydt.chain import DiffusionChain, RatePriors
from bhmc.baselines.pydt.simulate import simulate_data, simulate_tree
from bhmc.baselines.pydt.state import LATEST, DiffusionTree, Rates
from bhmc.priors import Beta, Gamma, InverseGamma
from tests.exact.alarm import z_of, z_scores


class Setting(NamedTuple):
    """The size of the data, and the rates: of every draw the same, or drawn from these priors."""

    n: int
    n_features: int
    rates: Rates


DIFFUSION = Setting(5, 2, Rates(0.0, 0.0, 1.0, 1.5, 0.1))
PITMAN_YOR = Setting(5, 2, Rates(0.3, 0.6, 1.2, 1.5, 0.1))
MANY_BRANCHES = Setting(6, 1, Rates(0.6, 0.4, 0.8, 1.0, 0.02))
STRONG_DATA = Setting(5, 4, Rates(0.4, 0.3, 1.0, 2.0, 0.05))
# Little is known from the data, and subtrees are large: errors of the prior show.
WEAK_DATA = Setting(8, 1, Rates(0.4, 0.3, 3.0, 0.5, 2.0))
WEAK_DIFFUSION = Setting(8, 1, Rates(0.0, 0.0, 1.0, 0.5, 2.0))
SETTINGS = {
    "ddt": DIFFUSION,
    "pydt": PITMAN_YOR,
    "bushy": MANY_BRANCHES,
    "strong": STRONG_DATA,
    "weak": WEAK_DATA,
    "weak ddt": WEAK_DIFFUSION,
}


def statistics(tree: DiffusionTree, X: np.ndarray, rates: Rates) -> np.ndarray:
    """Numbers that see topology, times, rates, data, and how they go together."""
    n = len(X)
    time_shared = density.covariance(tree, n, rates._replace(sigma2=1.0, noise=0.0))
    pairs = np.triu_indices(n, 1)
    shared = time_shared[pairs]
    apart = np.log(((X[pairs[0]] - X[pairs[1]]) ** 2).sum(axis=1) + 1e-3)
    sizes = np.array(density.leaves_below(density.children_of(tree))[n:])
    kids = np.bincount(tree.parents[tree.parents >= 0])[n:]
    top = float(np.exp(-tree.clocks[tree.parents < 0][0]))
    logs = np.log(np.array(rates[2:]))
    own = np.array(
        [
            len(sizes),
            (kids > 2).sum(),
            (kids**2).sum(),
            (sizes == 2).sum(),
            (sizes == n - 1).sum(),
            top,
            top**2,
            shared.mean(),
            shared[0],
            shared[0] * shared[-1],
            (shared**2).mean(),
            np.minimum(tree.clocks[n:], 20.0).mean(),
            (shared * apart).mean(),
            shared[0] * apart[0],
            shared[0] * apart[1],
            top * apart.mean(),
            X[0, 0] * X[1, 0],
            shared.mean() * logs[0],
            shared.mean() * logs[1],
            shared.mean() * logs[2],
            len(sizes) * rates.alpha,
            len(sizes) * np.log1p(rates.theta),
            apart.mean() * logs[1],
            apart.mean() * logs[2],
            top * rates.alpha,
        ]
    )
    return np.concatenate([own, logs, [rates.alpha, np.log1p(rates.theta)]])


def exact_draw(setting: Setting, rng) -> tuple[DiffusionTree, np.ndarray]:
    """A tree and its data. A clock beyond LATEST, where samplers never go, is one in 100,000."""
    tree = simulate_tree(setting.n, setting.rates, rng)
    while tree.clocks[setting.n :].max() >= LATEST:
        tree = simulate_tree(setting.n, setting.rates, rng)
    return tree, simulate_data(tree, setting.n, setting.n_features, setting.rates, rng)


PRIORS = RatePriors(Beta(2, 3), Gamma(2, 3), Gamma(6, 5), InverseGamma(5, 6), InverseGamma(5, 1))


def drawn_rates(rng, *, diffusion: bool = False) -> tuple[Rates, RatePriors]:
    """Rates from their priors, and the priors; alpha = theta = 0 for a Dirichlet diffusion tree."""
    priors = PRIORS._replace(alpha=None, theta=None) if diffusion else PRIORS
    return Rates(*(0.0 if prior is None else prior.sample(rng) for prior in priors)), priors


N_TURNS = 12


def paired_changes(
    setting: Setting | str,
    stage: str,
    n_draws: int,
    rng,
    sampler="slice",
    kind=DiffusionChain,
    **engine,
) -> np.ndarray:
    """(n_draws, statistics) changes of exact draws by one stage of a sweep of `N_TURNS` turns.

    Setting "learned" and "learned ddt": rates are drawn too.
    """
    changes = []
    for _ in range(n_draws):
        priors = RatePriors()
        if isinstance(setting, str):
            rates, priors = drawn_rates(rng, diffusion="ddt" in setting)
            now = Setting(5, 2, rates)
        else:
            now = setting
        tree, X = exact_draw(now, rng)
        chain = kind(X, now.rates, priors, sampler, rng, n_turns=N_TURNS, **engine)
        chain.start_from(tree)
        getattr(chain, stage)()
        before = statistics(tree, X, now.rates)
        changes.append(statistics(chain.tree, X, chain.rates) - before)
    return np.array(changes)


def paired_z(*arguments, **settings) -> np.ndarray:
    """z of the mean change of every statistic: 0 in law where the stage leaves the posterior."""
    changes = paired_changes(*arguments, **settings)
    return z_of(changes.mean(axis=0), changes.std(axis=0, ddof=1) / np.sqrt(len(changes)))


def geweke_z(sampler: str, n_draws: int, rng, *, diffusion: bool) -> np.ndarray:
    """z per statistic: exact draws of (rates, tree, X), and a chain that redraws each in turn."""
    exact = []
    for _ in range(n_draws):
        rates, priors = drawn_rates(rng, diffusion=diffusion)
        tree, X = exact_draw(Setting(5, 2, rates), rng)
        exact.append(statistics(tree, X, rates))
    followed = []
    for _ in range(n_draws):
        chain = DiffusionChain(X, rates, priors, sampler, rng)
        chain.start_from(tree)
        chain.sweep()
        tree, rates = chain.tree, chain.rates
        X = simulate_data(tree, 5, 2, rates, rng)
        followed.append(statistics(tree, X, rates))
    return z_scores(np.array(exact), np.array(followed))
