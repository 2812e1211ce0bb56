"""Joint tests of Gaussian families whose components have variances of their own.

As in tests/exact/geweke.py and invariance.py, with two columns and with statistics that are bounded
or nearly so: where variances are inverse gamma, plain moments of x and theta need not exist.
"""

import numpy as np
from benchmarks.chains import chain_of, start_state

import bhmc
from tests.exact import geweke
from tests.exact.alarm import N_BATCHES, rng_for, z_scores
from tests.exact.invariance import prior_statistics

STATISTICS = (
    "x, first column",
    "x, second column",
    "x^2",
    "x_i x_j over pairs",
    "first times second column of x",
    "mean of a datum's component",
    "that mean, squared",
    "x times that mean",
    "log variance, first column",
    "log variance, last column",
    "correlation in a component",
    "residual squared over variance",
    "residual squared times log variance",
    "log variance times size of component",
    "x^2 of data alone in their component",
    "components",
    "leaves",
    "pair shares component",
    "pair shares component within a leaf",
    "x_i x_j of pairs that share component",
    "root weight of own component",
    "leaf weight of own component",
    "root remainder",
    "leaf sum of squared weights",
)

# Entries that are never seen: one row lacks both, another one of them.
GAPS = np.zeros((6, 2), dtype=bool)
GAPS[[0, 2, 2, 4], [1, 0, 1, 0]] = True


def squash(x):
    """x / (1 + |x|): bounded, and one to one."""
    return x / (1 + np.abs(x))


def statistics(state: bhmc.State, X: np.ndarray, means: np.ndarray, covariances: np.ndarray):
    """The numbers named in STATISTICS; where X is missing an entry, its terms count as 0."""
    c, leaf_row, weights = state.components, state.paths[:, -1], state.weights
    i, j = geweke.pairs(len(X))
    size = np.bincount(c)[c][:, None]
    variance = np.diagonal(covariances, axis1=1, axis2=2)[c]
    log_v = np.tanh(np.log(variance) / 4)
    residual = (X - means[c]) ** 2 / variance
    residual = np.where(np.isnan(X), 0.0, residual / (1 + residual))
    x, m = np.where(np.isnan(X), 0.0, squash(X)), squash(means[c])
    correlation = covariances[c, 0, 1] / np.sqrt(variance[:, 0] * variance[:, 1])
    same_c, same_leaf = c[i] == c[j], leaf_row[i] == leaf_row[j]
    pairs = (x[i] * x[j]).sum(axis=1)
    of_pairs = np.array([pairs, same_c, same_c & same_leaf, pairs * same_c]).mean(axis=1)
    of_entries = np.array(
        [
            x**2,
            m,
            m**2,
            x * m,
            residual,
            residual * log_v,
            log_v * size,
            x**2 * (size == 1),
        ]
    ).mean(axis=(1, 2))
    of_rows = np.array(
        [
            x[:, 0],
            x[:, 1],
            x[:, 0] * x[:, 1],
            log_v[:, 0],
            log_v[:, 1],
            correlation,
            weights[0, c],
            weights[leaf_row, c],
            (weights**2).sum(axis=1)[leaf_row],
        ]
    ).mean(axis=1)
    return np.array(
        [
            *of_rows[:2],
            of_entries[0],
            of_pairs[0],
            of_rows[2],
            *of_entries[1:4],
            *of_rows[3:6],
            *of_entries[4:],
            len(set(c.tolist())),
            len(set(leaf_row.tolist())),
            *of_pairs[1:],
            *of_rows[6:8],
            weights[0, -1],
            of_rows[8],
        ]
    )


class Setting(geweke.Setting):
    """Six data of two columns; `moments` gives (K, 2) means and (K, 2, 2) covariances of theta."""

    def __init__(self, likelihood, moments, n_components: int | None = None, gaps: bool = False):
        # Components are born often: errors of f* show in nothing else.
        super().__init__(n_components, n_levels=2, numbers=(0.6, 2.5, 1.5))
        self.likelihood, self.n_features = likelihood, 2
        self.moments, self.gaps = moments, gaps

    def forward_key(self):
        return *self._key(), self.moments.__qualname__, self.gaps

    def seen(self, X):
        return np.where(GAPS, np.nan, X) if self.gaps else X

    def statistics(self, state, X):
        return statistics(state, X, *self.moments(state.theta))


def joint_z(setting: Setting, n_draws: int, seed: int) -> np.ndarray:
    """Geweke's test: z per statistic of sweep, new data, sweep, ... against independent draws.

    A wide component begets wide data, and these a wide component: some 30 sweeps pass until that is
    forgotten. So the chain starts from the prior for every batch, and batches are independent.
    """
    rng = rng_for(seed)
    prior = prior_statistics(setting, n_draws, rng)
    batches = [
        geweke.from_sweeps(setting, "gibbs", n_draws // N_BATCHES, rng) for _ in range(N_BATCHES)
    ]
    return z_scores(prior, np.concatenate(batches))


def assert_chains_agree(one, other) -> None:
    """Chains of two families from the same seed visit the same trees and components."""
    traces = []
    for family in (one, other):
        rng = np.random.default_rng(8)
        hyper = bhmc.Hyper(0.6, 1.2, 0.8)
        chain = chain_of(
            start_state(family, n_levels=2, hyper=hyper, rng=rng), family, "gibbs", rng
        )
        traces.append([])
        for _ in range(40):
            chain.sweep()
            state = chain.state()
            traces[-1].append(np.column_stack([state.components, state.paths]))
    np.testing.assert_array_equal(*traces)
    assert len({trace[:, 0].max() for trace in traces[0]}) > 1  # components came and went


def table(z: np.ndarray) -> str:
    """One line per statistic."""
    return "\n".join(f"{name:<40}{value:7.1f}" for name, value in zip(STATISTICS, z, strict=True))
