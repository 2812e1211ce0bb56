"""`log_maximum`: the best log likelihood of a group, against SciPy's densities at the best theta.

Every expectation is written from the definition, with the rows themselves: the mean (or share) of a
group's entries in SciPy's density, log base taken off. The general way of `ConjugateFamily` is one
more witness.
"""

import numpy as np
import pytest
from scipy import optimize, stats

from bhmc.likelihoods import (
    AdaptiveGaussian,
    Bernoulli,
    Categorical,
    ConjugateFamily,
    FreeGaussian,
    FullGaussian,
    Gaussian,
    Multinomial,
    Poisson,
    Product,
    ShapedGaussian,
    SharedGaussian,
)
from bhmc.likelihoods._own_variance import own_variance
from bhmc.priors import Uniform

RNG = np.random.default_rng(0)
groups = np.repeat([0, 1, 2], [1, 5, 6])  # one of a single row
N, D = len(groups), 3
NUMBERS = RNG.normal(size=(N, D)) * [1.0, 0.3, 4.0] + [0, 2, -1]
COUNTS = RNG.poisson(3.0, size=(N, D)).astype(float)
BITS = RNG.integers(2, size=(N, D)).astype(float)
CODES = RNG.integers(3, size=(N, D)).astype(float)
COVARIANCE = np.array([[1.0, 0.4, 0.0], [0.4, 0.5, 0.1], [0.0, 0.1, 2.0]])


def holed(X):
    X = X.copy()
    X[0, 0] = X[3, 1] = X[8] = np.nan  # an entry of the single row, another, a whole row
    return X


def by_column(log_density):
    """Sum of log densities of the observed entries of every group and column, at their mean."""

    def best(X):
        total = 0.0
        for column in X.T:
            seen = column[~np.isnan(column)]
            total += log_density(seen).sum() if len(seen) else 0.0
        return total

    return best


def normal(variance):
    """At the group's own means, given variances (d,) or a covariance."""
    if np.ndim(variance) == 2:
        return lambda X: np.sum(stats.multivariate_normal.logpdf(X - X.mean(axis=0), cov=variance))

    def best(X):
        means = [
            column[~np.isnan(column)].mean() if (~np.isnan(column)).any() else 0.0 for column in X.T
        ]
        return np.nansum(stats.norm.logpdf(X, means, np.sqrt(variance)))

    return best


def multinomial(X):
    shares = X.sum(axis=0) / X.sum()
    return sum(stats.multinomial.logpmf(row, row.sum(), shares) for row in X)


poisson = by_column(lambda x: stats.poisson.logpmf(x, x.mean()))
bernoulli = by_column(lambda x: stats.bernoulli.logpmf(x, x.mean()))
categorical = by_column(lambda x: np.log([np.mean(x == code) for code in x]))
SHARED = np.array([0.1, 1.9, -1.0, 0.7, 0.2, 3.0, 1.0, 1.0, 4.0])  # mu0, sigma2, sigma0
TIED = np.concatenate(  # mu0, the lower triangle of sigma2, sigma0, psi
    [[0.1, 1.9, -1.0], COVARIANCE[np.tril_indices(D)], [1.0, 1.0, 4.0], [0.5, 0.3, 2.0]]
)

SHAPED = np.array([0.1, -0.3, 0.4, 0.7, 1.5])  # R^-1 (mu0 - location), sigma2, sigma0

CASES = {
    "known": (Gaussian(sigma2=[0.7, 0.2, 3.0]), NUMBERS, [], normal([0.7, 0.2, 3.0])),
    "known, full": (Gaussian(sigma2=COVARIANCE), NUMBERS, [], normal(COVARIANCE)),
    "learned": (Gaussian(sigma2=Uniform(0, 1)), NUMBERS, [0.6], normal(np.full(D, 0.6))),
    "shared": (SharedGaussian(scale=[1, 2, 3]), NUMBERS, SHARED, normal(SHARED[3:6])),
    "shared, holes": (SharedGaussian(), holed(NUMBERS), SHARED, normal(SHARED[3:6])),
    "tied": (SharedGaussian("full", scale=[1, 2, 3]), NUMBERS, TIED, normal(COVARIANCE)),
    "shaped": (ShapedGaussian(COVARIANCE, [0, 2, -1]), NUMBERS, SHAPED, normal(0.7 * COVARIANCE)),
    "bernoulli": (Bernoulli(), BITS, [], bernoulli),
    "bernoulli, holes": (Bernoulli(), holed(BITS), [], bernoulli),
    "categorical": (Categorical(), CODES, [], categorical),
    "categorical, holes": (Categorical(), holed(CODES), [], categorical),
    "poisson": (Poisson(), COUNTS, [], poisson),
    "poisson, holes": (Poisson(), holed(COUNTS), [], poisson),
    "multinomial": (Multinomial(), COUNTS, [], multinomial),
}
every_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES)


def bound(likelihood, X, shared):
    family = likelihood.prepare(X).at(np.array(shared, dtype=float))
    sums = family.sums(groups, 3)
    return family.with_spread(sums), sums


@every_case
def test_the_best_log_likelihood_of_a_group(case):
    likelihood, X, shared, best = case
    family, sums = bound(likelihood, X, shared)
    base = np.bincount(groups, family.log_base())
    expected = [best(X[groups == group]) for group in range(3)]
    np.testing.assert_allclose(family.log_maximum(sums) + base, expected, rtol=1e-10, atol=1e-10)


@every_case
def test_the_general_way_gives_the_same(case):
    likelihood, X, shared, _ = case
    family, sums = bound(likelihood, X, shared)
    general = ConjugateFamily.log_maximum(family, sums)
    np.testing.assert_allclose(general, family.log_maximum(sums), rtol=1e-6, atol=1e-5)


OWN = {
    "free": (FreeGaussian(scale=[1, 2, 3], shape=1.5, noise=0.3), NUMBERS, []),
    "free, holes": (FreeGaussian(shape=1.5, noise=0.3), holed(NUMBERS), []),
    "free, spherical": (FreeGaussian("spherical", shape=1.5, noise=0.3), NUMBERS, []),
    "adaptive": (AdaptiveGaussian(), NUMBERS, [0, 2, -1, 0.2, 0.2, 0.2, 0.1, 0.1, 0.1, 1.5]),
}


def pooled(X, shape, noise, scale, spherical):
    """The variances within groups, each with 2 shape entries of variance noise / shape more."""
    squares, entries = np.zeros(D), np.zeros(D)
    for group in range(3):
        own = X[groups == group] / scale
        for d, column in enumerate(own.T):
            seen = column[~np.isnan(column)]
            squares[d] += len(seen) * seen.var() if len(seen) else 0.0
            entries[d] += len(seen)
    if spherical:
        squares, entries = squares.sum(), entries.sum()
    more = np.array([3 * 2 * shape * (noise / shape), 3 * 2 * shape])
    return np.broadcast_to((squares + more[0]) / (entries + more[1]), D) * scale**2


@pytest.mark.parametrize("name", OWN)
def test_variances_of_a_components_own_are_pooled(name):
    likelihood, X, shared = OWN[name]
    family, sums = bound(likelihood, X, shared)
    shape, noise = (1.5, 0.2 * 1.5) if name == "adaptive" else (1.5, 0.3)
    scale = np.broadcast_to(np.array(likelihood.scale, dtype=float), D)
    variance = pooled(X, shape, noise, scale, name.endswith("spherical"))
    assert_loses(family, sums, X, normal(variance))


def test_a_covariance_of_a_components_own_is_pooled():
    likelihood = FullGaussian(nu=5.5, sigma0=COVARIANCE, mu0=[1, 2, 3])
    family, sums = bound(likelihood, NUMBERS, [])
    scatter = sum(
        np.cov(NUMBERS[groups == g].T, bias=True) * (groups == g).sum() for g in (1, 2)
    )  # a single row has none
    assert_loses(family, sums, NUMBERS, normal((scatter + 3 * COVARIANCE) / (N + 3 * 5.5)))


def assert_loses(family, sums, X, best):
    """What every two groups lose is what SciPy says; constants of the variances cancel."""
    for a, b in ((0, 1), (0, 2), (1, 2)):
        found = family.log_maximum(sums[[a, b]]).sum() - family.log_maximum(sums[[a]] + sums[[b]])
        both = X[(groups == a) | (groups == b)]
        expected = best(X[groups == a]) + best(X[groups == b]) - best(both)
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
        assert expected > 0.01


def test_parts_of_a_product_add_up():
    product = Product([(Bernoulli(), [0, 2]), (FreeGaussian(), [1, 3])])
    X = np.column_stack([BITS[:, 0], NUMBERS[:, 0], BITS[:, 1], NUMBERS[:, 2]])
    family, sums = bound(product, X, [])
    parts = [bound(Bernoulli(), X[:, [0, 2]], []), bound(FreeGaussian(), X[:, [1, 3]], [])]
    expected = sum(part.log_maximum(own) for part, own in parts)
    np.testing.assert_allclose(family.log_maximum(sums), expected, rtol=1e-12)


def best_log_likelihood(sizes, means, v):
    """Expected log likelihood of a group of one column at its best mean and variance, by search.

    Entries of component k have the variance v about means[k].
    """
    sizes, means = np.array(sizes), np.array(means)
    middle = np.average(means, weights=sizes)  # the best mean, whatever the variance

    def negative(log_variance):
        spread = v + (means - middle) ** 2
        each = np.log(2 * np.pi) + log_variance + spread / np.exp(log_variance)
        return 0.5 * (sizes * each).sum()

    bounds = np.log(v) - 1, np.log(v + np.ptp(means) ** 2) + 1
    return -optimize.minimize_scalar(negative, bounds=bounds, method="bounded").fun


SHARING = (Gaussian, SharedGaussian, ShapedGaussian)
GAUSSIANS = {
    **{name: CASES[name][:3] for name in CASES if isinstance(CASES[name][0], SHARING)},
    **OWN,
    "full": (FullGaussian(nu=5.5, sigma0=COVARIANCE, mu0=[1, 2, 3]), NUMBERS, []),
}


@pytest.mark.parametrize("name", GAUSSIANS)
def test_parts_of_one_variance_add_up(name):
    likelihood, X, shared = GAUSSIANS[name]
    family, sums = bound(likelihood, X, shared)
    parts, entries = family.log_maximum_by_variance(sums)
    np.testing.assert_allclose(parts.sum(axis=1), family.log_maximum(sums), rtol=1e-12)
    seen = np.array([(~np.isnan(X[groups == group])).sum(axis=0) for group in range(3)])
    by_column = name.startswith(("shared", "free", "adaptive")) and "spherical" not in name
    expected = seen if by_column else seen.sum(axis=1, keepdims=True)
    np.testing.assert_array_equal(entries, expected)


@pytest.mark.parametrize("name", ["bernoulli", "categorical", "poisson", "multinomial"])
def test_counts_have_no_variances(name):
    likelihood, X, shared, _ = CASES[name]
    family, sums = bound(likelihood, X, shared)
    assert family.log_maximum_by_variance(sums) is None


def mixed(gaussian, numbers, shared):
    """A product of bits and numbers at these shared numbers, its sums and those of the bits."""
    product = Product([(Bernoulli(), [0, 1]), (gaussian, [2, 3, 4])])
    X = np.column_stack([BITS[:, :2], numbers])
    family, sums = bound(product, X, shared)
    return family, sums, bound(Bernoulli(), BITS[:, :2], [])


def test_groups_of_a_mixed_table_have_variances_of_their_own():
    """Each column of numbers has its best mean and variance; bits are as they were."""
    family, sums, (bits, own) = mixed(SharedGaussian(), NUMBERS, SHARED)
    together = family.group_sums(sums).sum(axis=0)[None]
    n, means = np.bincount(groups), [NUMBERS[groups == group].mean(axis=0) for group in range(3)]
    gained = family.group_maximum(family.group_sums(sums)).sum() - family.group_maximum(together)
    expected = bits.log_maximum(own).sum() - bits.log_maximum(own.sum(axis=0)[None])
    for d, v in enumerate(SHARED[3:6]):
        column = [mean[d] for mean in means]
        expected += sum(best_log_likelihood([k], [m], v) for k, m in zip(n, column, strict=True))
        expected -= best_log_likelihood(n, column, v)
    np.testing.assert_allclose(gained, expected, rtol=1e-6)
    plain = family.log_maximum(sums).sum() - family.log_maximum(sums.sum(axis=0)[None])
    assert (plain > expected + 0.5).all()


def test_a_missing_column_of_a_group_loses_nothing():
    numbers = NUMBERS.copy()
    numbers[groups == 0, 1] = np.nan
    family, sums, _ = mixed(SharedGaussian(), numbers, SHARED)
    best = family.group_maximum(family.group_sums(sums))
    assert np.isfinite(best).all()
    np.testing.assert_allclose(best, family.log_maximum(sums), rtol=1e-12)


@pytest.mark.parametrize("parts", [1, 0])
def test_one_gaussian_family_alone_keeps_the_noise_as_the_unit(parts):
    likelihood = Product([(SharedGaussian(), [0, 1, 2])]) if parts else SharedGaussian()
    family, sums = bound(likelihood, NUMBERS, SHARED)
    together = family.group_sums(sums).sum(axis=0)[None]
    np.testing.assert_allclose(
        family.group_maximum(together), family.log_maximum(sums.sum(axis=0)[None]), rtol=1e-12
    )


@pytest.mark.parametrize("far", [1e-3, 1e3])
def test_own_variance_is_wards_criterion_where_means_are_near(far):
    """Two groups of 5 and 15 entries, `far` deviations apart; far ones lose log(far) an entry."""
    ward = 5 * 15 / 20 * far**2 / 2
    lost = -float(own_variance(np.array(0.0), np.array(-ward), np.array(20.0)))
    expected = ward if far < 1 else 20 * np.log(far * np.sqrt(5 * 15) / 20)
    assert lost == pytest.approx(expected, rel=1e-4)
    assert float(own_variance(np.array(3.0), np.array(3.0 + 1e-12), np.array(20.0))) == 3.0
