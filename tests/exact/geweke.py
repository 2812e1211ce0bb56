"""The joint-distribution test of Geweke (2004): two ways to draw (state, X), one law.

Marginal-conditional: `sample_prior`, independent draws. Successive-conditional: one sweep given X,
then fresh X given the state, over and over. If the sweep leaves the posterior invariant for every
X, every statistic has the same mean under both.
"""

from functools import cache

import numpy as np
from benchmarks.chains import chain_of

import bhmc
from bhmc.model.hdp.sampler import HdpSampler

STATISTICS = (
    "x mean",
    "x second moment",
    "x_i x_j over pairs",
    "theta of a datum, squared",
    "x times its theta",
    "components",
    "leaves",
    "children of the root",
    "pair shares leaf",
    "pair shares component within a leaf",
    "pair shares component across leaves",
    "pair shares component across root's children",
    "root weight of own component",
    "inner weight of own component",
    "leaf weight of own component",
    "root sum of squared weights",
    "inner sum of squared weights",
    "leaf sum of squared weights",
    "root remainder",
    "inner remainder",
    "leaf remainder",
    "root weight times leaf weight",
    "inner minus root weight, squared",
    "largest root weight times components",
)


@cache
def pairs(n: int) -> tuple[np.ndarray, np.ndarray]:
    """i and j of all pairs i < j of n data."""
    return np.triu_indices(n, 1)


def statistics(state: bhmc.State, X: np.ndarray) -> np.ndarray:
    """The numbers named in STATISTICS; means of as many numbers are taken at once, for speed."""
    weights, c, paths = state.weights, state.components, state.paths
    n, x = len(X), X[:, 0]
    i, j = pairs(n)
    theta = state.theta[c, 0]
    inner_row, leaf_row = paths[:, 1], paths[:, -1]
    root, inner, leaf = weights[0, c], weights[inner_row, c], weights[leaf_row, c]
    squares = (weights**2).sum(axis=1)
    same_leaf, same_c = leaf_row[i] == leaf_row[j], c[i] == c[j]
    same_branch = inner_row[i] == inner_row[j]
    n_used = len(set(c.tolist()))
    of_x = np.array([x, x**2, theta**2, x * theta]).mean(axis=1)
    of_pairs = np.array(
        [
            x[i] * x[j],
            same_leaf,
            same_c & same_leaf,
            same_c & ~same_leaf,
            same_c & ~same_branch,
        ]
    ).mean(axis=1)
    of_weights = np.array(
        [
            root,
            inner,
            leaf,
            squares[inner_row],
            squares[leaf_row],
            weights[inner_row, -1],
            weights[leaf_row, -1],
            root * leaf,
            (inner - root) ** 2,
        ]
    ).mean(axis=1)
    return np.array(
        [
            *of_x[:2],
            of_pairs[0],
            *of_x[2:],
            n_used,
            len(set(leaf_row.tolist())),
            len(set(inner_row.tolist())),
            *of_pairs[1:],
            *of_weights[:3],
            squares[0],
            *of_weights[3:5],
            weights[0, -1],
            *of_weights[5:],
            weights[0].max() * n_used,
        ]
    )


class Setting:
    """A small model in which every event is common: few data, middling concentrations.

    None of the concentrations is 1: a kernel that forgot one of them would not be noticed.
    """

    def __init__(
        self,
        n_components: int | None = None,
        n: int = 6,
        n_levels: int = 3,
        numbers: tuple[float, float, float] = (0.6, 1.2, 0.8),
        sigma2: float = 0.5,
    ):
        self.n, self.n_levels, self.n_features = n, n_levels, 1
        self.hyper = bhmc.Hyper(*numbers, n_components)
        self.likelihood = bhmc.likelihoods.Gaussian(sigma2=sigma2, mu0=0.3, sigma0=1.5)

    def forward_key(self) -> tuple | None:
        """Everything that prior_draw and statistics depend on; None where that is not all of it."""
        if type(self) is not Setting:
            return None
        return self._key()

    def _key(self) -> tuple:
        numbers = self.n, self.n_levels, self.n_features, repr(self.hyper)
        return type(self), *numbers, repr(self.likelihood)

    def prior_draw(self, rng) -> tuple[bhmc.State, np.ndarray]:
        """Everything from the generative process."""
        state, X = bhmc.sample_prior(
            self.n,
            n_levels=self.n_levels,
            hyper=self.hyper,
            likelihood=self.likelihood,
            rng=rng,
            n_features=self.n_features,
        )
        return state, self.seen(X)

    def new_data(self, state: bhmc.State, rng) -> np.ndarray:
        """Fresh data given the state."""
        return self.seen(bhmc.sample_data(state, likelihood=self.likelihood, rng=rng))

    def seen(self, X: np.ndarray) -> np.ndarray:
        """What a sampler sees of X; always the same entries."""
        return X

    def chain(self, state, X, sampler, rng, **engine) -> HdpSampler:
        """A chain at `state`; concentrations with a prior are learned."""
        family = self.likelihood.prepare(X)
        return chain_of(state, family, sampler, rng, learning=self.hyper, **engine)

    def statistics(self, state: bhmc.State, X: np.ndarray) -> np.ndarray:
        """What is compared."""
        return statistics(state, X)


def from_prior(setting: Setting, n_draws: int, rng) -> np.ndarray:
    """(n_draws, statistics) independent draws of the generative process."""
    return np.array([setting.statistics(*setting.prior_draw(rng)) for _ in range(n_draws)])


def from_sweeps(setting: Setting, sampler: str, n_draws: int, rng, **engine) -> np.ndarray:
    """(n_draws, statistics) along the chain sweep, new data, sweep, new data, ..."""
    state, X = setting.prior_draw(rng)
    rows = []
    for _ in range(n_draws):
        chain = setting.chain(state, X, sampler, rng, **engine)
        chain.sweep()
        state = chain.state()
        X = setting.new_data(state, rng)
        rows.append(setting.statistics(state, X))
    return np.array(rows)
