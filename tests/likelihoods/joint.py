"""What the tests of the families of whole numbers share: joint tests, and checks of the protocol.

The joint tests are those of `tests.exact` (Geweke's, and the invariance of one kernel) for a family
with any theta: a Setting says by `measure` what to look at in it. Entries of X may be hidden: they
turn into NaN after they are drawn, always the same ones.
"""

from collections.abc import Callable

import numpy as np
from scipy import sparse
from scipy.special import polygamma, psi

import bhmc
from tests.exact import alarm, geweke
from tests.exact.alarm import Z_LIMIT, rng_for, z_of
from tests.exact.invariance import paired_z, prior_statistics

STATISTICS = (
    "x in column 0",
    "x in column 1",
    "x in column 0, squared",
    "x_i x_j over pairs",
    "x_i x_j over pairs in one component",
    "x of a datum alone in its component",
    "x in column 0 times x in column 1",
    "measure of a datum",
    "measure of a datum, squared",
    "x times measure, column 0",
    "x times measure, column 1",
    "measure in column 0 times measure in column 1",
    "components",
    "leaves",
    "pair shares component",
    "root weight of own component",
    "leaf weight of own component",
    "root remainder",
)

N_BATCHES = 60

# Row 2 has no entry at all.
HIDDEN = ((0, 0), (1, 1), (2, 0), (2, 1), (4, 1))


class Setting(geweke.Setting):
    """A small model in which every event is common, with a likelihood of the caller's."""

    def __init__(
        self,
        likelihood: bhmc.likelihoods.Likelihood,
        measure: Callable[[np.ndarray], np.ndarray],
        n_features: int = 2,
        n_components: int | None = None,
        hidden: tuple[tuple[int, int], ...] = (),
        is_sparse: bool = False,
    ):
        super().__init__(n_components, n_levels=2)
        self.likelihood, self.measure, self.n_features = likelihood, measure, n_features
        self._hidden, self._is_sparse = hidden, is_sparse

    def forward_key(self):
        measure = getattr(self.measure, "__qualname__", repr(self.measure))
        return *self._key(), measure, self._hidden, self._is_sparse

    def seen(self, X):
        for entry in self._hidden:
            X[entry] = np.nan
        return sparse.csr_array(X) if self._is_sparse else X

    def statistics(self, state, X) -> np.ndarray:
        """The numbers named in STATISTICS; a hidden entry counts as 0. Means as in `geweke`."""
        X = X.toarray() if sparse.issparse(X) else np.nan_to_num(X)
        c, leaves, weights = state.components, state.paths[:, -1], state.weights
        measure = self.measure(state.theta)[c]
        i, j = geweke.pairs(len(X))
        products, same = X[i, 0] * X[j, 0], c[i] == c[j]
        alone = np.bincount(c)[c] == 1
        of_pairs = np.array([products, products * same, same]).mean(axis=1)
        of_rows = np.array(
            [
                X[:, 0],
                X[:, 1],
                X[:, 0] ** 2,
                X[:, 0] * alone,
                X[:, 0] * X[:, 1],
                measure[:, 0],
                measure[:, 0] ** 2,
                X[:, 0] * measure[:, 0],
                X[:, 1] * measure[:, 1],
                measure[:, 0] * measure[:, 1],
                weights[0, c],
                weights[leaves, c],
            ]
        ).mean(axis=1)
        return np.array(
            [
                *of_rows[:3],
                *of_pairs[:2],
                *of_rows[3:10],
                len(set(c.tolist())),
                len(set(leaves.tolist())),
                of_pairs[2],
                *of_rows[10:],
                weights[0, -1],
            ]
        )


def geweke_z(setting: Setting, n_draws: int, seed: int) -> float:
    """Largest |z| between independent prior draws and sweeps that take turns with new data."""
    rng = rng_for(seed)
    prior = prior_statistics(setting, n_draws, rng)
    chain = geweke.from_sweeps(setting, "gibbs", n_draws, rng)
    return _largest(_joint_z(prior, chain), "joint test")


def invariance_z(setting: Setting, stage: str, n_draws: int, seed: int) -> float:
    """Largest |z| of the change of a statistic under one kernel applied to exact draws.

    For wrong families only, which chance cannot fail: these are not counted as checks.
    """
    counted = alarm.checks_made
    z = paired_z(setting, "gibbs", stage, n_draws, rng_for(seed), until=Z_LIMIT)
    alarm.checks_made = counted
    return _largest(z, stage)


def moment_z(draws: np.ndarray, cumulants) -> float:
    """Largest |z| of the means and variances of independent draws (size, p).

    `cumulants` are the exact mean, variance and fourth cumulant of each column. The fourth gives
    the error of the variance: one estimated from the draws would be too small with it.
    """
    mean, variance, fourth = cumulants
    errors = np.sqrt(np.array([variance, fourth + 2 * variance**2]) / len(draws))
    means = np.array([draws.mean(axis=0) - mean, ((draws - mean) ** 2).mean(axis=0) - variance])
    return _largest(z_of(means, errors), "moments")


def log_gamma_cumulants(shape) -> np.ndarray:
    """(3, ...): mean, variance and fourth cumulant of log G, G ~ Gamma(shape, 1)."""
    shape = np.asarray(shape, dtype=float)
    return np.array([psi(shape), polygamma(1, shape), polygamma(3, shape)])


def mean_z(values: np.ndarray, expected) -> float:
    """Largest |z| of the means of independent values (size, ...) against what they should be."""
    error = values.std(axis=0, ddof=1) / np.sqrt(len(values))
    return _largest(z_of(values.mean(axis=0) - expected, error), "means")


def assert_dirichlet(log_p, own):
    """log p has the law of Dir(own): p sums to 1, moments of log p, and one product."""
    np.testing.assert_allclose(np.exp(log_p).sum(axis=1), 1, rtol=1e-10)
    cumulants = log_gamma_cumulants(own) - log_gamma_cumulants([own.sum()])
    assert moment_z(log_p, cumulants) < Z_LIMIT
    product = np.exp(log_p[:, 0] + log_p[:, -1])[:, None]
    assert mean_z(product, own[0] * own[-1] / (own.sum() * (own.sum() + 1))) < Z_LIMIT


def draws_of(family, sums: np.ndarray, size: int, seed: int) -> np.ndarray:
    """(size, p) draws of theta given one row of sums."""
    return family.draw_theta(np.tile(sums, (size, 1)), rng_for(seed))


def dense(statistics) -> np.ndarray:
    return statistics.toarray() if sparse.issparse(statistics) else statistics


def assert_keeps_the_protocol(family, theta: np.ndarray) -> None:
    """t ends with 1, eta . t + h is the table, sums merge, and `fill` fits into a wider table."""
    n, everything = family.n_rows, slice(0, family.n_rows)
    t = dense(family.statistics(everything))
    assert t.shape == (n, family.n_statistics)
    assert theta.shape[1] == family.n_parameters
    np.testing.assert_array_equal(t[:, -1], 1.0)
    for rows in (slice(0, 0), slice(1, 3), slice(n - 1, n)):
        np.testing.assert_array_equal(dense(family.statistics(rows)), t[rows])
    eta = family.natural(theta)
    expected = t @ eta.T
    table = family.log_table(theta)
    np.testing.assert_allclose(table, expected + family.log_base()[:, None], rtol=1e-12, atol=1e-12)
    assert family.log_table(theta[:0]).shape == (n, 0)
    for dtype, digits in (("float64", 1e-12), ("float32", 1e-5)):
        wide = np.full((n, len(theta) + 2), 7.0, dtype=dtype)
        part = family.statistics(slice(1, n))
        family.fill(slice(1, n), part, eta, wide[1:, 1:-1])
        np.testing.assert_allclose(wide[1:, 1:-1], expected[1:], rtol=digits, atol=digits)
        wide[1:, 1:-1] = 7.0
        np.testing.assert_array_equal(wide, 7.0)
    assert_sums_merge(family, t)
    components = np.arange(n) % len(theta)
    log_f = family.log_likelihood(eta, family.sums(components, len(theta)), components)
    expected = table[np.arange(n), components].sum() - family.log_base().sum()
    np.testing.assert_allclose(log_f, expected, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(family.log_base_sum(), family.log_base().sum(), rtol=1e-10)


def assert_sums_merge(family, t: np.ndarray) -> None:
    """Sums are those of the rows one by one; of two components made one, their sum. All exact."""
    components = np.arange(family.n_rows) % 3
    sums = family.sums(components, 4)
    for k in range(4):
        np.testing.assert_array_equal(sums[k], t[components == k].sum(axis=0))
    merged = family.sums(np.minimum(components, 1), 2)
    np.testing.assert_array_equal(merged, [sums[0], sums[1] + sums[2]])


def assert_same_numbers(one, other, theta: np.ndarray, exact: bool = True) -> None:
    """Two families with the same data give the same numbers and the same draws."""
    components = np.arange(one.n_rows) % len(theta)
    sums = one.sums(components, len(theta))
    np.testing.assert_array_equal(other.sums(components, len(theta)), sums)
    np.testing.assert_array_equal(
        other.draw_theta(sums, rng_for(1)), one.draw_theta(sums, rng_for(1))
    )
    for name, arguments in (
        ("log_table", (theta,)),
        ("log_prior", (theta,)),
        ("log_new", ()),
        ("log_base", ()),
    ):
        values = [getattr(family, name)(*arguments) for family in (one, other)]
        np.testing.assert_allclose(*values, rtol=0 if exact else 1e-12, atol=0 if exact else 1e-12)


def _joint_z(prior: np.ndarray, chain: np.ndarray) -> np.ndarray:
    """z per column: means of independent rows `prior` against means of correlated rows `chain`.

    Batch means say how many draws of the chain are worth one independent draw; the spread of one is
    taken from the prior draws. In the chain a skew statistic's spread goes up and down with its
    mean, which makes z too wide: near p = 1 Bernoulli data hardly vary.
    """
    n = len(chain)
    batches = chain.reshape(N_BATCHES, -1, chain.shape[1]).mean(axis=1)
    spread = np.maximum(chain.var(axis=0), 1e-300)
    worth = np.maximum(batches.var(axis=0, ddof=1) * (n / N_BATCHES) / spread, 1.0)
    variance = prior.var(axis=0, ddof=1) * (1 / len(prior) + worth / n)
    return z_of(chain.mean(axis=0) - prior.mean(axis=0), np.sqrt(variance))


def _largest(z: np.ndarray, what: str) -> float:
    value = float(np.abs(z).max())
    print(f"{what}: largest |z| {value:.2f}")
    return value
