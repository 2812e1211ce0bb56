"""Settings at which block moves are judged, and what is compared beyond the usual statistics."""

import numpy as np

import bhmc
from bhmc.likelihoods import FullGaussian
from tests.exact import geweke
from tests.exact.learned import PRIORS, Learned

# A move that leaves weights or theta behind passes all statistics but these.
STATISTICS = ("leaf weights . parent weights", "squared distance of x from its theta")


def of_moves(state: bhmc.State, X: np.ndarray) -> np.ndarray:
    """The numbers named in STATISTICS; the second is bounded."""
    leaf, up = (state.weights[state.paths[:, level]] for level in (-1, -2))
    apart = X[:, 0] - state.theta[state.components, 0]
    return np.array([(leaf * up).sum(axis=1).mean(), np.tanh(apart**2).mean()])


class Moving(geweke.Setting):
    """A setting with these statistics too; some with another family."""

    def __init__(self, *given, likelihood=None, n_features=1, **how):
        super().__init__(*given, **how)
        self.likelihood, self.n_features = likelihood or self.likelihood, n_features

    def forward_key(self):
        return self._key()

    def statistics(self, state, X):
        usual = geweke.statistics(state, X)
        usual[:5] = np.tanh(usual[:5])  # a covariance that is drawn has heavy tails
        return np.concatenate([usual, of_moves(state, X)])


class MovingLearned(Learned):
    """The same where concentrations are learned."""

    def forward_key(self):
        return self._key()

    def statistics(self, state, X):
        return np.concatenate([super().statistics(state, X), of_moves(state, X)])


# That of the recipes' own tests, and others in which wrong versions show in few draws.
AIMED = {"n": 6, "numbers": (1.0, 1.0, 0.8)}
SETTINGS = {
    "aimed": Moving(**AIMED),
    "deep": Moving(**AIMED, n_levels=4),
    # More levels than have moves in a sweep.
    "very deep": Moving(**{**AIMED, "n": 4, "n_levels": 11}),
    "finite": Moving(4, **AIMED),
    "full gaussian": Moving(
        **{**AIMED, "n_levels": 2},
        likelihood=FullGaussian(nu=5.0, lam=0.5, mu0=0.3, sigma0=0.8),
        n_features=2,
    ),
    "learned": MovingLearned(PRIORS["gamma"]),
    "branches": Moving(n=8, n_levels=2, numbers=(0.5, 1.0, 2.0)),
    "subtrees": Moving(n=8, n_levels=3, numbers=(1.0, 1.0, 0.4)),
    "spread": Moving(n=6, n_levels=2, numbers=(0.6, 2.0, 6.0), sigma2=1.0),
    "one level": Moving(n=8, n_levels=1, numbers=(0.5, 2.0, 2.0), sigma2=1.0),
    "full leaves": Moving(n=8, n_levels=2, numbers=(0.3, 1.5, 6.0), sigma2=2.0),
    "tables": Moving(n=5, n_levels=2, numbers=(0.6, 1.0, 1.5), sigma2=0.1),
}
