"""Settings where concentrations and shared numbers are learned: more to draw, more statistics."""

import numpy as np

import bhmc
from bhmc.likelihoods import AdaptiveGaussian, SharedGaussian
from bhmc.priors import Beta, Gamma, InverseGamma, Uniform
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
    """The numbers named in STATISTICS, then those of what the family shares.

    Numbers of data and theta are bounded: variances that are drawn have heavy tails.
    """
    base = geweke.statistics(state, np.where(np.isnan(X), 0.0, X))
    base[:5] = np.tanh(base[:5])
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
    """Shared numbers (the first d are means, the rest positive), with theta and with weights."""
    if not len(state.shared):
        return np.empty(0)
    d = X.shape[1]
    numbers = np.concatenate([np.tanh(state.shared[:d]), np.log(state.shared[d:])])
    theta = state.theta
    apart = np.tanh(theta[:, :d] - state.shared[:d])
    with_theta = [(apart**2).mean(), (apart**2).mean() * numbers[-1], apart[:, 0].mean()]
    if theta.shape[1] > d:
        log_v = theta[:, d:]
        scaled = np.tanh((theta[:, :d] - state.shared[:d]) / np.exp(log_v / 2)) ** 2
        with_theta += [log_v.mean(), (log_v**2).mean(), log_v.mean() * numbers[d], scaled.mean()]
        with_theta += [log_v.mean() * numbers[-1], scaled.mean() * numbers[-2]]
    root = (state.weights[0] ** 2).sum()
    return np.concatenate([numbers, numbers * len(theta), numbers * root, with_theta])


class Learned(geweke.Setting):
    """A setting with priors in place of numbers; some entries missing where `holes`."""

    def __init__(self, hyper, likelihood=None, n_components=None, holes=False, n_features=1, **how):
        super().__init__(n_components, **how)
        self.hyper = hyper._replace(n_components=n_components)
        self.likelihood = likelihood or self.likelihood
        self.n_features, self.holes = n_features, holes

    def forward_key(self):
        return (*self._key(), self.holes) if type(self) is Learned else None

    def seen(self, X):
        if self.holes:
            X = X.copy()
            X[1, 0] = X[2, -1] = X[4, :] = np.nan
        return X

    def statistics(self, state, X):
        return statistics(state, X)


FAMILIES = {
    f"{name} {covariance}": family(covariance, location=0.3, scale=1.2)
    for name, family in (("shared", SharedGaussian), ("adaptive", AdaptiveGaussian))
    for covariance in ("diagonal", "spherical")
}
