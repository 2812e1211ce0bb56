"""The Gaussian family against SciPy, quadrature and the textbook formulas."""

import itertools

import numpy as np
import pytest
from scipy import integrate, stats

from bhmc.likelihoods import (
    AdaptiveGaussian,
    Bernoulli,
    Family,
    Gaussian,
    Likelihood,
    resolve,
)
from bhmc.likelihoods import gaussian as gaussian_module
from bhmc.likelihoods.blocks import slices
from bhmc.likelihoods.gaussian import _FAR, _NOISE_SHARE

FULL = np.array([[2.0, 0.6, -0.3], [0.6, 1.0, 0.2], [-0.3, 0.2, 0.5]])
FULL0 = np.array([[3.0, -1.0, 0.4], [-1.0, 2.0, 0.1], [0.4, 0.1, 5.0]])
COVARIANCES = {
    1: {"number": 0.7, "diagonal": [0.7], "full": [[0.7]]},
    3: {"number": 0.7, "diagonal": [0.7, 2.0, 0.1], "full": FULL},
}
PRIORS = {
    1: {"number": 2.5, "diagonal": [2.5], "full": [[2.5]]},
    3: {"number": 2.5, "diagonal": [2.5, 0.3, 4.0], "full": FULL0},
}
MEANS = {1: {"number": -1.5, "vector": [-1.5]}, 3: {"number": -1.5, "vector": [1.0, -2.0, 0.5]}}


def matrix(value, d):
    """What a setting stands for: a number is that multiple of the identity."""
    value = np.asarray(value, dtype=float)
    return value if value.ndim == 2 else np.diag(np.broadcast_to(value, d))


class Case:
    """A setting, its plain matrices, and data bound to it."""

    def __init__(self, d, sigma2, sigma0, mu0):
        self.d = d
        self.likelihood = Gaussian(sigma2=sigma2, mu0=mu0, sigma0=sigma0)
        self.sigma, self.sigma0 = matrix(sigma2, d), matrix(sigma0, d)
        self.mu0 = np.broadcast_to(np.asarray(mu0, dtype=float), d)
        rng = np.random.default_rng(d)
        self.X = rng.normal(size=(7, d)) * 2 + self.mu0
        self.theta = rng.normal(size=(4, d)) * 2
        self.family = self.likelihood.prepare(self.X)

    def with_outlier(self, outlier=1e9):
        """X with a wild fourth row, its family, and theta with one component close to that row."""
        X = self.X.copy()
        X[3] = outlier
        theta = np.vstack([self.theta, X[3] + 0.5])
        return X, self.likelihood.prepare(X), theta

    def log_f(self, X, theta):
        """(n, K): SciPy's log f(x_n; theta_k)."""
        centred = X[:, None, :] - theta[None, :, :]
        return (
            stats.multivariate_normal(np.zeros(self.d), self.sigma)
            .logpdf(centred)
            .reshape(len(X), len(theta))
        )

    def posterior(self, rows):
        """With plain inverses: mean and covariance of theta given X[rows]."""
        precision = np.linalg.inv(self.sigma0) + len(rows) * np.linalg.inv(self.sigma)
        covariance = np.linalg.inv(precision)
        total = self.X[rows].sum(axis=0)
        shift = np.linalg.inv(self.sigma0) @ self.mu0 + np.linalg.inv(self.sigma) @ total
        return covariance @ shift, covariance


CASES = [
    pytest.param(
        Case(d, COVARIANCES[d][s], PRIORS[d][s0], MEANS[d][m]), id=f"d={d}, {s}, {s0}, mu0 {m}"
    )
    for d in (1, 3)
    for s, s0, m in itertools.product(COVARIANCES[d], PRIORS[d], MEANS[d])
]
every_case = pytest.mark.parametrize("case", CASES)


def total(family, rows):
    """(1, s): the sum of t over some rows, each taken from the family on its own."""
    each = [family.statistics(slice(n, n + 1)) for n in rows]
    return np.sum(each, axis=0) if each else np.zeros((1, family.n_statistics))


class FakeRng:
    """Hands out a fixed array where a Generator would draw normals."""

    def __init__(self, z):
        self.z = np.asarray(z, dtype=float)

    def standard_normal(self, size):
        size = (size,) if isinstance(size, int) else size
        assert tuple(size) == self.z.shape
        return self.z


def implied_mean_and_covariance(draw, k, d):
    """A draw is mean + M z, so zeros give the mean, unit vectors the columns of M: all exact."""
    mean = draw(FakeRng(np.zeros((k, d))))
    columns = []
    for j in range(d):
        z = np.zeros((k, d))
        z[:, j] = 1
        columns.append(draw(FakeRng(z)) - mean)
    m = np.stack(columns, axis=-1)  # (k, d, d)
    # Linear: a third z is predicted by the first d + 1.
    z = np.random.default_rng(0).normal(size=(k, d))
    np.testing.assert_allclose(
        draw(FakeRng(z)), mean + np.einsum("kij,kj->ki", m, z), rtol=1e-10, atol=1e-10
    )
    return mean, m @ np.swapaxes(m, 1, 2)


@every_case
def test_log_table(case):
    table = case.family.log_table(case.theta)
    assert table.shape == (len(case.X), len(case.theta))
    expected = np.column_stack(
        [stats.multivariate_normal(theta, case.sigma).logpdf(case.X) for theta in case.theta]
    )
    np.testing.assert_allclose(table, expected, rtol=1e-10)


@every_case
def test_log_table_of_no_components(case):
    assert case.family.log_table(case.theta[:0]).shape == (len(case.X), 0)


@every_case
def test_log_marginal(case):
    expected = stats.multivariate_normal(case.mu0, case.sigma + case.sigma0).logpdf(case.X)
    np.testing.assert_allclose(case.family.log_marginal(), expected, rtol=1e-10)


@every_case
def test_log_prior(case):
    expected = stats.multivariate_normal(case.mu0, case.sigma0).logpdf(case.theta)
    np.testing.assert_allclose(case.family.log_prior(case.theta), expected, rtol=1e-10)


@pytest.mark.parametrize("case", [case for case in CASES if case.values[0].d == 1])
def test_log_marginal_is_the_integral(case):
    """f*(x) = integral of f(x; theta) h(theta), by quadrature of the family's own densities."""

    def integrand(theta):
        theta = np.array([[theta]])
        return np.exp(case.family.log_table(theta)[:, 0] + case.family.log_prior(theta))

    value, error = integrate.quad_vec(integrand, -30, 30, epsabs=1e-12)
    assert error < 1e-8
    np.testing.assert_allclose(case.family.log_marginal(), np.log(value), rtol=1e-7)


@every_case
def test_bayes_rule(case):
    """h(theta) f(x; theta) / f*(x) is the posterior density that a founder's theta comes from."""
    for n in range(len(case.X)):
        log_posterior = (
            case.family.log_prior(case.theta)
            + case.family.log_table(case.theta)[n]
            - case.family.log_marginal()[n]
        )
        mean, covariance = implied_mean_and_covariance(
            lambda rng, n=n: case.family.draw_theta(case.family.statistics(slice(n, n + 1)), rng),
            1,
            case.d,
        )
        expected = stats.multivariate_normal(mean[0], covariance[0]).logpdf(case.theta)
        np.testing.assert_allclose(log_posterior, expected, rtol=1e-8)


@every_case
def test_draw_theta_is_the_posterior(case):
    """Components of 3, 1, 0, 2 and 1 data; the empty one draws from H."""
    components = np.array([0, 3, 0, 1, 4, 0, 3])
    mean, covariance = implied_mean_and_covariance(
        lambda rng: case.family.draw_theta(case.family.sums(components, 5), rng), 5, case.d
    )
    for k in range(5):
        expected_mean, expected = case.posterior(np.flatnonzero(components == k))
        np.testing.assert_allclose(mean[k], expected_mean, rtol=1e-9, atol=1e-10)
        np.testing.assert_allclose(covariance[k], expected, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(mean[2], case.mu0)
    np.testing.assert_allclose(covariance[2], case.sigma0, rtol=1e-9, atol=1e-12)


@every_case
@pytest.mark.parametrize("rows", [[], [3], [0, 5], [0, 1, 2, 3, 4, 5, 6]], ids=str)
def test_draw_theta_of_one_component_is_the_posterior(case, rows):
    mean, covariance = implied_mean_and_covariance(
        lambda rng: case.family.draw_theta(total(case.family, rows), rng), 1, case.d
    )
    expected_mean, expected = case.posterior(rows)
    np.testing.assert_allclose(mean[0], expected_mean, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(covariance[0], expected, rtol=1e-8, atol=1e-10)


@every_case
def test_sample_theta_and_sample_data(case):
    mean, covariance = implied_mean_and_covariance(
        lambda rng: case.likelihood.sample_theta(2, case.d, rng), 2, case.d
    )
    np.testing.assert_allclose(mean, np.tile(case.mu0, (2, 1)))
    np.testing.assert_allclose(covariance, np.tile(case.sigma0, (2, 1, 1)), rtol=1e-9, atol=1e-12)
    mean, covariance = implied_mean_and_covariance(
        lambda rng: case.likelihood.sample_data(case.theta, rng), 4, case.d
    )
    np.testing.assert_allclose(mean, case.theta)
    np.testing.assert_allclose(covariance, np.tile(case.sigma, (4, 1, 1)), rtol=1e-9, atol=1e-12)


@every_case
def test_draws_with_a_true_generator(case):
    """Rows are independent and standard normals are what is asked of the generator: |z| < 4."""
    rng, size = np.random.default_rng(11), 20_000
    draws = {
        "H": (case.likelihood.sample_theta(size, case.d, rng), case.mu0, case.sigma0),
        "F": (
            case.likelihood.sample_data(np.tile(case.theta[0], (size, 1)), rng),
            case.theta[0],
            case.sigma,
        ),
        "empty": (
            case.family.draw_theta(case.family.sums(np.zeros(7, int), size), rng)[1:],
            case.mu0,
            case.sigma0,
        ),
    }
    for name, (x, mean, covariance) in draws.items():
        white = np.linalg.solve(np.linalg.cholesky(covariance), (x - mean).T)
        z_mean = white.mean(axis=1) * np.sqrt(white.shape[1])
        assert (np.abs(z_mean) < 4).all(), name
        second = white @ white.T / white.shape[1] - np.eye(case.d)
        z_second = second * np.sqrt(white.shape[1]) / (1 + (np.eye(case.d) * (np.sqrt(2) - 1)))
        assert (np.abs(z_second) < 4).all(), name
        lagged = (white[:, 1:] * white[:, :-1]).mean(axis=1) * np.sqrt(white.shape[1])
        assert (np.abs(lagged) < 4).all(), name


def test_scalar_diagonal_and_full_are_one_family():
    X = np.random.default_rng(0).normal(size=(5, 3))
    theta = X[:2] + 0.3
    settings = [(0.5, 2.0), ([0.5] * 3, [2.0] * 3), (0.5 * np.eye(3), 2.0 * np.eye(3))]
    families = [Gaussian(s, 0.1, s0).prepare(X) for s, s0 in settings]
    for family in families[1:]:
        np.testing.assert_allclose(family.log_table(theta), families[0].log_table(theta))
        np.testing.assert_allclose(family.log_marginal(), families[0].log_marginal())
        np.testing.assert_allclose(family.log_prior(theta), families[0].log_prior(theta))


# ---- The exponential family: log f = eta . t + h ----


@every_case
def test_statistics(case):
    t = case.family.statistics(slice(0, len(case.X)))
    assert (case.family.n_rows, case.family.n_parameters) == case.X.shape
    assert t.shape == (len(case.X), case.family.n_statistics)
    np.testing.assert_array_equal(t[:, -1], 1.0)
    for rows in (slice(0, 3), slice(2, 5), slice(6, 7), slice(4, 4)):
        np.testing.assert_allclose(case.family.statistics(rows), t[rows], rtol=1e-12, atol=1e-14)


@every_case
def test_natural_times_statistics_is_log_f(case):
    """Without `fill`, and t row by row: eta . t + h is SciPy's log density."""
    eta = case.family.natural(case.theta)
    assert eta.shape == (len(case.theta), case.family.n_statistics)
    t = np.vstack([total(case.family, [n]) for n in range(len(case.X))])
    log_f = t @ eta.T + case.family.log_base()[:, None]
    expected = np.column_stack(
        [stats.multivariate_normal(theta, case.sigma).logpdf(case.X) for theta in case.theta]
    )
    np.testing.assert_allclose(log_f, expected, rtol=1e-10)


@every_case
@pytest.mark.parametrize("far", [False, True], ids=["near", "far"])
@pytest.mark.parametrize("rows", [slice(0, 7), slice(2, 5), slice(3, 4), slice(4, 7), slice(4, 4)])
def test_fill_is_the_table_without_its_base(case, far, rows):
    """Also into a part of a wider table, whose other cells stay as they are."""
    X, family, theta = case.with_outlier() if far else (case.X, case.family, case.theta)
    height = rows.stop - rows.start
    wide = np.full((height + 2, len(theta) + 3), 7.0)
    out = wide[:height, 1 : len(theta) + 1]
    family.fill(rows, family.statistics(rows), family.natural(theta), out)
    base = family.log_base()[rows, None]
    np.testing.assert_allclose(
        out,
        family.log_table(theta)[rows] - base,
        rtol=1e-10,
        atol=1e-13 * np.abs(base).max(initial=1),
    )
    expected = case.log_f(X, theta)[rows]
    digits = {"rtol": 1e-9, "atol": 1e-5} if far else {"rtol": 1e-10}
    np.testing.assert_allclose(out + base, expected, **digits)
    out[:] = 7.0
    np.testing.assert_array_equal(wide, 7.0)


@every_case
def test_sums(case):
    components = np.array([0, 3, 0, 1, 4, 0, 3])
    sums = case.family.sums(components, 5)
    np.testing.assert_array_equal(sums[:, -1], [3, 1, 0, 2, 1])
    for k in range(5):
        expected = total(case.family, np.flatnonzero(components == k))[0]
        np.testing.assert_allclose(sums[k], expected, rtol=1e-12, atol=1e-13)


@every_case
@pytest.mark.parametrize("cut", [0, 1, 4, 7])
def test_sums_merge(case, cut):
    """Sums over two halves of the rows add up, and so do those of two components made one."""
    components = np.array([0, 2, 0, 1, 2, 0, 1])
    halves = np.zeros((2, 3, case.family.n_statistics))
    for half, rows in zip(halves, (slice(0, cut), slice(cut, 7)), strict=True):
        np.add.at(half, components[rows], case.family.statistics(rows))
    sums = case.family.sums(components, 3)
    np.testing.assert_allclose(halves.sum(axis=0), sums, rtol=1e-12, atol=1e-13)
    together = case.family.sums(np.minimum(components, 1), 2)
    np.testing.assert_allclose(together[0], sums[0], rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(together[1], sums[1] + sums[2], rtol=1e-12, atol=1e-13)


@every_case
def test_log_likelihood(case):
    """Component 2 is empty; h is added once."""
    components = np.array([0, 3, 0, 1, 1, 0, 3])
    family = case.family
    value = family.log_likelihood(
        family.natural(case.theta), family.sums(components, 4), components
    )
    expected = sum(
        stats.multivariate_normal(case.theta[k], case.sigma).logpdf(x)
        for x, k in zip(case.X, components, strict=True)
    )
    assert value + family.log_base().sum() == pytest.approx(expected, rel=1e-10)


@every_case
@pytest.mark.parametrize("own", [True, False], ids=["own component", "with others"])
def test_log_likelihood_with_an_outlier(case, own):
    """In a component of its own its digits show; elsewhere it hides all other rows."""
    X, family, theta = case.with_outlier()
    assert len(family._far) == 1
    components = np.array([0, 3, 0, 4 if own else 1, 1, 0, 3])
    value = family.log_likelihood(family.natural(theta), family.sums(components, 5), components)
    expected = case.log_f(X, theta)[np.arange(7), components].sum()
    assert value + family.log_base().sum() == pytest.approx(expected, rel=1e-9, abs=1e-5)
    if own:
        assert abs(expected) < 1e4


@every_case
def test_log_marginal_with_an_outlier(case):
    X, family, _ = case.with_outlier()
    expected = stats.multivariate_normal(case.mu0, case.sigma + case.sigma0).logpdf(X)
    np.testing.assert_allclose(family.log_marginal(), expected, rtol=1e-9)


@every_case
def test_a_table_in_float32(case):
    """Within the rounding of float32: half a unit an operand, and one for every sum."""
    rows = slice(0, len(case.X))
    t, eta = case.family.statistics(rows), case.family.natural(case.theta)
    narrow = np.empty((len(t), len(eta)), dtype=np.float32)
    case.family.fill(rows, t.astype(np.float32), eta.astype(np.float32), narrow)
    wide = np.empty((len(t), len(eta)))
    case.family.fill(rows, t, eta, wide)
    unit = np.finfo(np.float32).eps
    assert (np.abs(narrow - wide) <= 4 * unit * (np.abs(t) @ np.abs(eta).T)).all()
    assert (narrow != wide).any()  # else nothing was tested


@every_case
def test_a_table_in_float32_with_an_outlier(case):
    """The outlier's row keeps its six digits for components it is not in."""
    _, family, _ = case.with_outlier()
    rows = slice(0, family.n_rows)
    t, eta = family.statistics(rows), family.natural(case.theta)
    narrow = np.empty((len(t), len(eta)), dtype=np.float32)
    family.fill(rows, t.astype(np.float32), eta.astype(np.float32), narrow)
    wide = np.empty((len(t), len(eta)))
    family.fill(rows, t, eta, wide)
    np.testing.assert_allclose(narrow[3], wide[3], rtol=1e-6)
    np.testing.assert_allclose(np.delete(narrow, 3, 0), np.delete(wide, 3, 0), rtol=1e-4, atol=1e-4)


# ---- Precision ----


@pytest.mark.parametrize("kind", ["number", "diagonal", "full"])
@pytest.mark.parametrize("mu0_moves", [True, False])
def test_far_from_the_origin(kind, mu0_moves):
    """Data at 1e8 keep the digits that their own doubles have."""
    shift = 2.0**27  # 1.3e8, and exact
    X = np.round(np.random.default_rng(0).normal(size=(9, 3)) * 2**20) / 2**20
    theta = X[:3] + 0.5
    setting = {"sigma2": COVARIANCES[3][kind], "sigma0": PRIORS[3][kind]}
    near = Gaussian(mu0=0.0, **setting).prepare(X)
    far = Gaussian(mu0=shift if mu0_moves else 0.0, **setting).prepare(X + shift)
    np.testing.assert_allclose(far.log_table(theta + shift), near.log_table(theta), rtol=1e-6)
    assert not len(far._far)  # by its centre, and not row by row
    if mu0_moves:
        np.testing.assert_allclose(far.log_marginal(), near.log_marginal(), rtol=1e-6)
        components = np.array([0, 0, 1, 1, 1, 2, 2, 2, 2])
        z = FakeRng(np.ones((3, 3)))
        np.testing.assert_allclose(
            far.draw_theta(far.sums(components, 3), z) - shift,
            near.draw_theta(near.sums(components, 3), z),
            atol=1e-6,
        )


@pytest.mark.parametrize("outlier", [0.999 * _FAR**0.5, 1e6, 1e9, 1e12])
def test_one_outlier_does_not_blur_the_others(outlier):
    """A single wild row must not cost the other rows their digits."""
    X = np.random.default_rng(0).normal(size=(20, 1))
    X[0] = outlier
    theta = np.array([[0.3], [2.0]])
    table = Gaussian().prepare(X).log_table(theta)
    expected = stats.norm.logpdf(X, loc=theta.T)
    np.testing.assert_allclose(table[1:], expected[1:], atol=1e-5)
    np.testing.assert_allclose(table[0], expected[0], rtol=1e-9)


@pytest.mark.parametrize("outlier", [0.999 * _FAR**0.5, 1.001 * _FAR**0.5, 1e6, 1e9, 1e12])
def test_an_outlier_keeps_its_own_digits(outlier):
    """Near theta of its own, a wild row has the digits that its double has."""
    X = np.random.default_rng(0).normal(size=(20, 1))
    X[0] = outlier
    family = Gaussian().prepare(X)
    assert len(family._far) == (outlier > _FAR**0.5)
    theta = outlier + np.array([[0.0], [0.5], [-3.0]])
    table = family.log_table(theta)
    expected = stats.norm.logpdf(X, loc=theta.T)
    np.testing.assert_allclose(table[0], expected[0], rtol=0, atol=1e-7 + 4 * np.spacing(outlier))
    np.testing.assert_allclose(table[1:], expected[1:], rtol=1e-9)


def test_a_table_is_never_above_its_peak():
    X = np.random.default_rng(0).normal(size=(50, 3)) + 1e7
    family = Gaussian(sigma2=0.01).prepare(X)
    peak = stats.multivariate_normal(np.zeros(3), 0.01 * np.eye(3)).logpdf(np.zeros(3))
    table = family.log_table(X)
    assert (table <= peak + 1e-9).all()
    np.testing.assert_allclose(np.diag(table), peak, atol=1e-5)


# ---- The setting itself ----


def test_scaled_to():
    X = np.random.default_rng(0).normal(size=(50, 3)) * [1.0, 100.0, 1e-3] + [5.0, 0.0, -1.0]
    X = np.column_stack([X, np.full(50, 0.1)])
    scaled = Gaussian.scaled_to(X)
    variances = np.append(X[:, :3].var(axis=0), 1.0)  # a constant column counts as variance 1
    np.testing.assert_allclose(scaled.mu0, X.mean(axis=0))
    np.testing.assert_allclose(scaled.sigma0, variances)
    np.testing.assert_allclose(scaled.sigma2, _NOISE_SHARE * variances)


@pytest.mark.parametrize("value", [0.1, 1e8 + 0.1, -1e149, 0.0])
def test_scaled_to_a_constant(value):
    """Equal numbers have variance 0, whatever rounding says: their column counts as variance 1."""
    scaled = Gaussian.scaled_to(np.full((1000, 1), value))
    assert scaled.sigma0 == 1.0
    assert scaled.sigma2 == pytest.approx(_NOISE_SHARE)
    assert scaled.mu0 == pytest.approx(value, rel=1e-12)


def test_resolve():
    X = np.random.default_rng(0).normal(size=(9, 2))
    setting = Gaussian(sigma2=0.3)
    assert resolve(setting) is setting
    assert resolve(setting, X) is setting
    plain = resolve("gaussian")
    assert (plain.sigma2, plain.mu0, plain.sigma0) == (1.0, 0.0, 1.0)
    known = resolve("known_gaussian", X)
    np.testing.assert_array_equal(known.sigma0, Gaussian.scaled_to(X).sigma0)
    assert isinstance(resolve("gaussian", X), AdaptiveGaussian)
    assert isinstance(resolve("auto", X), AdaptiveGaussian)
    assert isinstance(resolve("auto", (X > 0).astype(float)), Bernoulli)
    for constant in (np.zeros((3, 2)), np.ones((3, 2)), X * 0 + np.nan):
        assert isinstance(resolve("auto", constant), AdaptiveGaussian)


def test_the_protocol_is_kept():
    family = Gaussian().prepare(np.eye(2))
    for protocol, thing in ((Likelihood, Gaussian()), (Family, family)):
        fields = protocol.__annotations__
        names = [name for name in vars(protocol) if not name.startswith("_") and name not in fields]
        assert names
        for name in names:
            assert callable(getattr(thing, name)), name
    assert isinstance(family, Family)
    for name in Family.__annotations__:
        assert isinstance(getattr(family, name), int), name


def test_prepare_does_not_keep_or_change_the_data():
    X = np.random.default_rng(0).normal(size=(6, 2))
    before = X.copy()
    family = Gaussian().prepare(X)
    table = family.log_table(X[:2].copy())
    np.testing.assert_array_equal(X, before)
    X[:] = 0
    np.testing.assert_array_equal(family.log_table(before[:2]), table)
    assert not any(np.shares_memory(array, X) for array in arrays_of(family))


# ---- Large data ----


def arrays_of(thing):
    """Every array that an object of this package holds, itself or through another such object."""
    for value in vars(thing).values():
        if isinstance(value, np.ndarray):
            yield value
        elif type(value).__module__.startswith("bhmc"):
            yield from arrays_of(value)


@pytest.fixture
def keep_nothing(monkeypatch):
    """Any data count as too large for a copy in the family's own coordinates."""
    monkeypatch.setattr(gaussian_module, "LARGEST_COPY", 0)


@every_case
@pytest.mark.parametrize("far", [False, True], ids=["near", "far"])
def test_large_data_give_the_same_numbers(case, far, keep_nothing):
    X, components = case.X.copy(), np.array([0, 3, 0, 1, 1, 0, 3])
    kept, theta = case.family, case.theta
    if far:
        X[3] = 1e9
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(gaussian_module, "LARGEST_COPY", X.nbytes)
            kept = case.likelihood.prepare(X.copy())
        theta = np.vstack([theta, X[3] + 0.5])
    family = case.likelihood.prepare(X)
    assert family._kept is None
    assert kept._kept is not None
    z = FakeRng(np.ones((4, case.d)))
    numbers = {
        "t": lambda family: family.statistics(slice(0, 7)),
        "t of a slice": lambda family: family.statistics(slice(2, 5)),
        "t of no rows": lambda family: family.statistics(slice(0, 0)),
        "eta": lambda family: family.natural(theta),
        "h": lambda family: family.log_base(),
        "f* / h": lambda family: family.log_new(),
        "H": lambda family: family.log_prior(theta),
        "f": lambda family: family.log_table(theta),
        "f*": lambda family: family.log_marginal(),
        "sums": lambda family: family.sums(components, 4),
        "theta": lambda family: family.draw_theta(family.sums(components, 4), z),
        "f / h of all": lambda family: family.log_likelihood(
            family.natural(theta), family.sums(components, len(theta)), components
        ),
    }
    for name, number in numbers.items():
        np.testing.assert_allclose(
            number(family), number(kept), rtol=1e-12, atol=1e-13, err_msg=name
        )


@pytest.mark.parametrize("kind", ["number", "diagonal", "full"])
def test_large_data_are_not_copied_or_changed(kind, keep_nothing):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 10))
    before = X.copy()
    covariance = {"number": 0.5, "diagonal": np.arange(1, 11), "full": np.eye(10) + 0.3}[kind]
    family = Gaussian(sigma2=covariance).prepare(X)
    theta = X[:4].copy()
    components = np.arange(3000) % 4

    def own_bytes():
        own = [array for array in arrays_of(family) if not np.shares_memory(array, X)]
        assert len(own) < len(list(arrays_of(family)))  # it looks at X itself
        return sum(array.nbytes for array in own)

    at_first = own_bytes()
    assert at_first < X.nbytes / 4
    family.log_table(theta), family.log_marginal(), family.log_prior(theta)
    sums = family.sums(components, 4)
    family.draw_theta(sums, rng)
    family.log_likelihood(family.natural(theta), sums, components)
    assert own_bytes() == at_first
    np.testing.assert_array_equal(X, before)
    np.testing.assert_array_equal(theta, before[:4])


@pytest.mark.parametrize("copied", [True, False])
@pytest.mark.parametrize("kind", ["number", "diagonal", "full"])
def test_many_rows(kind, copied, monkeypatch):
    """More rows than the family takes at once, with outliers in the first and the last slice."""
    if not copied:
        monkeypatch.setattr(gaussian_module, "LARGEST_COPY", 0)
    n, far = 5000, [10, 4500]
    assert len(slices(n)) > 1
    case = Case(3, COVARIANCES[3][kind], PRIORS[3][kind], MEANS[3]["vector"])
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    X[far] = [[1e9], [-1e7]]
    theta = np.vstack([case.theta, X[far] + 0.5])
    family = case.likelihood.prepare(X)
    np.testing.assert_array_equal(family._far, far)
    log_f = case.log_f(X, theta)
    base = family.log_base()[:, None]
    np.testing.assert_allclose(family.log_table(theta), log_f, rtol=1e-9, atol=1e-5)
    for rows in (slice(0, 4096), slice(4096, n), slice(4400, 4600), slice(4500, 4501)):
        out = np.empty((rows.stop - rows.start, len(theta)))
        family.fill(rows, family.statistics(rows), family.natural(theta), out)
        np.testing.assert_allclose(out + base[rows], log_f[rows], rtol=1e-9, atol=1e-5)
    marginal = stats.multivariate_normal(case.mu0, case.sigma + case.sigma0).logpdf(X)
    np.testing.assert_allclose(family.log_marginal(), marginal, rtol=1e-9)
    components = rng.integers(4, size=n)
    components[far] = [4, 5]
    value = family.log_likelihood(family.natural(theta), family.sums(components, 6), components)
    expected = log_f[np.arange(n), components].sum()
    assert value + base.sum() == pytest.approx(expected, rel=1e-9)


# ---- Settings that do not fit together ----


@pytest.mark.parametrize("which", ["sigma2", "sigma0"])
def test_units_far_apart_do_not_turn_variances_negative(which):
    """Covariances in units 1e8 apart: generalised eigenvalues would come out negative, then NaN."""
    rng = np.random.default_rng(3)
    root = rng.standard_normal((3, 3))
    units = np.diag([1e-4, 1.0, 1e4])
    covariance = units @ (root @ root.T + np.eye(3)) @ units
    X = rng.standard_normal((40, 3))
    family = Gaussian(**{which: covariance}).prepare(X)
    theta = family.draw_theta(family.sums(np.arange(40) % 4, 4), rng)
    other = np.eye(3)
    sigma, sigma0 = (covariance, other) if which == "sigma2" else (other, covariance)
    assert np.isfinite(theta).all()
    covariance_of = stats.Covariance.from_cholesky  # SciPy's own way refuses such a matrix
    noise, both = (covariance_of(np.linalg.cholesky(m)) for m in (sigma, sigma + sigma0))
    marginal = stats.multivariate_normal(np.zeros(3), both).logpdf(X)
    np.testing.assert_allclose(family.log_marginal(), marginal, rtol=1e-6)
    table = np.transpose([stats.multivariate_normal(mean, noise).logpdf(X) for mean in theta])
    np.testing.assert_allclose(family.log_table(theta), table, rtol=1e-6)


@pytest.mark.parametrize(("sigma2", "sigma0"), [(1e200, 1e-200), (1e-200, 1e200)])
def test_a_ratio_beyond_a_double_is_refused(sigma2, sigma0):
    with pytest.raises(ValueError, match="sigma0 and sigma2 are too far apart"):
        Gaussian(sigma2=sigma2, sigma0=sigma0).prepare(np.zeros((2, 1)))
