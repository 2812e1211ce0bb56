"""Diffusing trees of 0 and 1, of categories and of mixed columns: settings, and what is compared.

Steps have heavy tails, so statistics are bounded, or logarithms.
"""

import numpy as np

import bhmc
from bhmc.likelihoods import Bernoulli, Categorical, Product, SharedGaussian
from bhmc.model.diffused.setting import MOVES, Diffused, GaussianNodes
from bhmc.priors import Gamma
from tests.exact import geweke
from tests.exact.diffused import DiffusedSetting

_LEARNED = bhmc.Hyper(Gamma(4, 5), 1.0, Gamma(4, 3))
BITS = Bernoulli([1.0, 0.6], [1.0, 1.4])
CODES = Categorical(1.0, [3, 2], [0.2, 0.5, 0.3, 0.3, 0.7])
MIXED = Product(
    [
        (SharedGaussian("spherical", noise_shape=4.0, noise_scale=0.5), [0]),
        (Bernoulli(0.8, 1.2), [2]),
        (Categorical(1.0, 3, [0.3, 0.5, 0.2]), [1]),
    ]
)
MIXED_TIED = Product(
    [(SharedGaussian("full", noise_scale=0.5), [0, 1]), (Bernoulli(0.8, 1.2), [2])]
)


class TreeSetting(DiffusedSetting):
    """A small tree with all moves; some entries may be missing."""

    def statistics(self, state, X):
        return statistics(state, X)


def statistics(state: bhmc.State, X: np.ndarray) -> np.ndarray:
    """Numbers of nodes, pairs that share them, places, steps, variances, entries, rates.

    Parameters
    ----------
    state : State
        Of the diffused transition or of its Gaussian form.
    X : (n, d) array
        Data; NaN where missing.
    """
    i, j = geweke.pairs(len(X))
    groups = np.column_stack([state.paths[:, 1:], state.components])
    numbers = np.array([len(set(column)) for column in groups.T.tolist()], dtype=float)
    share = (groups[i] == groups[j]).astype(float)
    theta = np.tanh(state.theta[state.components] / 2)
    inner = np.tanh(state.params.locations[state.paths] / 2)
    x = np.tanh(np.nan_to_num(X))
    alike = (x[i] * x[j]).mean(axis=1)
    near = ((theta[i] - theta[j]) ** 2).mean(axis=1)
    v = np.log(state.params.variances[1:].ravel())
    rates = np.log(state.hyper[:3])[[0, 2]]
    return np.concatenate(
        [
            numbers,
            share.mean(axis=0),
            (share * alike[:, None]).mean(axis=0),
            [alike.mean(), near.mean(), (alike * near).mean()],
            theta.mean(axis=0),
            (theta**2).mean(axis=0),
            (x.mean(axis=1)[:, None] * theta).mean(axis=0),
            (inner**2).mean(axis=(0, 2)),
            (inner[:, -1] * theta).mean(axis=0),
            x.mean(axis=0),
            (x**2).mean(axis=0),
            v,
            v * numbers[-1],
            v * near.mean(),
            rates,
            rates * numbers[-1],
            np.log(np.abs(state.shared[1:])),
        ]
    )


def learned(kind, likelihood, n=6, n_levels=2, n_features=2, holes=False) -> TreeSetting:
    """A setting whose concentrations are learned, with all moves."""
    return TreeSetting(kind(_LEARNED, 0.3, MOVES), likelihood, n, n_levels, n_features, holes)


SETTINGS = {
    "bits": learned(Diffused, BITS),
    "bits, holes": learned(Diffused, BITS, 7, 3, holes=True),
    "bits, leaves": learned(GaussianNodes, BITS),
    "codes": learned(Diffused, CODES),
    "codes, holes": learned(Diffused, CODES, 7, 1, holes=True),
    "codes, leaves": learned(GaussianNodes, CODES, holes=True),
    "mixed": learned(Diffused, MIXED, n_features=3),
    "mixed, holes": learned(Diffused, MIXED, 6, 1, 3, holes=True),
    "mixed tied, holes": learned(Diffused, MIXED_TIED, 6, 1, 3, holes=True),
    "mixed, leaves": learned(GaussianNodes, MIXED, n_features=3),
}
