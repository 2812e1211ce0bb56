"""Joint tests where concentrations and shared numbers are learned: more statistics, more to draw."""

import numpy as np

import bhmc
from bhmc.likelihoods import SharedGaussian
from bhmc.priors import Beta, Gamma, InverseGamma, Uniform
from bhmc.sampling import Chain
from tests.exact import geweke

# Statistics that join a concentration with what depends on it: alone it may pass where a joint
# draw is wrong.
STATISTICS = (
    *geweke.STATISTICS,
    "log alpha",
    "log gamma0",
    "log gamma",
    "log alpha times leaves",
    "log gamma0 times components",
    "log gamma0 times root remainder",
    "log gamma0 times root sum of squared weights",
    "log gamma times inner minus root weight, squared",
    "log gamma times leaf sum of squared weights",
)

PRIORS = {
    "gamma": bhmc.Hyper(Gamma(4, 6), Gamma(5, 4), Gamma(4, 4)),
    "uniform": bhmc.Hyper(Uniform(0.2, 1.5), Uniform(0.5, 2.0), Uniform(0.3, 1.8)),
    "beta and inverse gamma": bhmc.Hyper(Beta(3, 2), InverseGamma(5, 5), InverseGamma(4, 3)),
    "gamma alone": bhmc.Hyper(0.6, 1.2, Gamma(4, 4)),
}


def statistics(state: bhmc.State, X: np.ndarray) -> np.ndarray:
    """The numbers named in STATISTICS."""
    base = geweke.statistics(state, np.where(np.isnan(X), 0.0, X))
    named = dict(zip(geweke.STATISTICS, base, strict=True))
    alpha, gamma0, gamma = np.log(state.hyper[:3])
    joined = (
        alpha,
        gamma0,
        gamma,
        alpha * named["leaves"],
        gamma0 * named["components"],
        gamma0 * named["root remainder"],
        gamma0 * named["root sum of squared weights"],
        gamma * named["inner minus root weight, squared"],
        gamma * named["leaf sum of squared weights"],
    )
    return np.concatenate([base, joined, _of_shared(state, X)])


def _of_shared(state: bhmc.State, X: np.ndarray) -> np.ndarray:
    """Shared numbers, alone and with theta, data and components."""
    if not len(state.shared):
        return np.empty(0)
    shared = state.shared
    logs = np.log(np.abs(shared))
    theta = state.theta[state.components]
    x = np.where(np.isnan(X), theta, X)
    return np.concatenate(
        [
            logs,
            logs * len(state.theta),
            [
                (logs[-1] * (state.theta**2).mean()),
                (shared[0] * state.theta[:, 0]).mean(),
                (np.abs(x - theta) / np.exp(logs[X.shape[1]] / 2)).mean(),
            ],
        ]
    )


class Learned(geweke.Setting):
    """A setting with priors in place of numbers; some entries missing where `holes`."""

    def __init__(self, hyper, likelihood=None, n_components=None, holes=False, n_features=1, **how):
        super().__init__(n_components, **how)
        self.hyper = hyper._replace(n_components=n_components)
        self.likelihood = likelihood or self.likelihood
        self.n_features, self.holes = n_features, holes

    def prior_draw(self, rng):
        state, X = bhmc.sample_prior(
            self.n,
            n_levels=self.n_levels,
            hyper=self.hyper,
            likelihood=self.likelihood,
            rng=rng,
            n_features=self.n_features,
        )
        return state, self.with_holes(X)

    def with_holes(self, X):
        if self.holes:
            X = X.copy()
            X[1, 0] = X[2, -1] = X[4, :] = np.nan
        return X

    def chain(self, state, X, sampler, rng, **engine) -> Chain:
        family = self.likelihood.prepare(X)
        return Chain(state, family, sampler, rng, learning=self.hyper, **engine)


def shared_gaussian(covariance: str) -> SharedGaussian:
    """Light tails, so that every statistic has a variance."""
    return SharedGaussian(
        covariance,
        location=0.3,
        scale=1.2,
        noise_shape=9.0,
        noise_scale=3.0,
        spread_shape=9.0,
        spread_scale=8.0,
    )


def from_prior(setting: Learned, n_draws: int, rng) -> np.ndarray:
    """(n_draws, statistics) independent draws of the generative process."""
    return np.array([statistics(*setting.prior_draw(rng)) for _ in range(n_draws)])


def from_sweeps(setting: Learned, sampler: str, n_draws: int, rng, **engine) -> np.ndarray:
    """(n_draws, statistics) along the chain sweep, new data, sweep, new data, ..."""
    state, X = setting.prior_draw(rng)
    rows = []
    for _ in range(n_draws):
        chain = setting.chain(state, X, sampler, rng, **engine)
        chain.sweep()
        state = chain.state()
        X = setting.with_holes(bhmc.sample_data(state, likelihood=setting.likelihood, rng=rng))
        rows.append(statistics(state, X))
    return np.array(rows)
