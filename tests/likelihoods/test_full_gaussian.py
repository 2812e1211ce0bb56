"""FullGaussian against SciPy, quadrature, the textbook posterior and the joint tests."""

import copy

import numpy as np
import pytest
from scipy import stats

from bhmc.likelihoods import full_gaussian as module
from bhmc.likelihoods.blocks import slices
from bhmc.likelihoods.full_gaussian import FullGaussian, FullGaussianFamily
from bhmc.rows.local import tile_height
from tests.exact.alarm import T_LIMIT, Z_LIMIT, rng_for, z_of
from tests.exact.invariance import paired_z, with_family
from tests.likelihoods.gaussian_cases import FULL_CASES, FullCase, outlier, total, unpacked
from tests.likelihoods.joint_gaussian import Setting, assert_chains_agree, joint_z, table

every_case = pytest.mark.parametrize("case", FULL_CASES)


# ---- Densities ----


@every_case
def test_number_of_statistics(case):
    assert case.family.n_statistics == case.d + case.d * (case.d + 1) // 2 + 1


@pytest.mark.parametrize("case", [case for case in FULL_CASES if case.values[0].d == 1])
def test_log_marginal_is_the_integral(case):
    """Over the mean and T, of the family's own densities, by the trapezium rule in log T."""
    log_t, log_step = np.linspace(-4.0, 16.0, 400, retstep=True)
    z, z_step = np.linspace(-30.0, 30.0, 600, retstep=True)
    t = np.exp(log_t)[:, None]
    theta = np.column_stack([(case.mu0 + t * z).ravel(), np.repeat(t, 600, axis=1).ravel()])
    log_p = case.family.log_table(theta) + case.family.log_prior(theta) + 2 * np.log(theta[:, 1])
    value = np.exp(log_p).sum(axis=1) * log_step * z_step
    np.testing.assert_allclose(case.family.log_marginal(), np.log(value), rtol=1e-6)


# ---- Draws ----


def moment_z(case, theta, X):
    """z of moments of the precision P ~ W(sigma0'^-1, nu') and of the mean given Sigma.

    With sigma0' = C C', G = C' P C is W(I, nu'): diagonal chi2(nu'), off-diagonal entries of mean 0
    and variance nu', log|G| a sum of log chi2. T^-1 (mean - mu') sqrt(lam') is standard normal.
    """
    nu, scale, centre, lam = case.posterior(X)
    means, factors = unpacked(theta, case.d)
    root = np.linalg.solve(factors, np.linalg.cholesky(scale))  # G = root' root
    g = np.swapaxes(root, 1, 2) @ root
    w = np.linalg.solve(factors, (means - centre)[:, :, None])[:, :, 0] * np.sqrt(lam)
    i, j = np.tril_indices(case.d)
    equal = i == j
    halves = (nu - np.arange(case.d)) / 2
    log_det = np.linalg.slogdet(g)[1] - (stats.loggamma.mean(halves) + np.log(2)).sum()
    second, fourth = nu * (nu + 2), nu * (nu + 2) * (nu + 4) * (nu + 6)  # of chi2(nu)
    squares = np.diagonal(g, axis1=1, axis2=2) ** 2
    z = [
        (g[:, i, j].mean(axis=0) - nu * equal) / np.sqrt(nu * (1 + equal)),
        (squares.mean(axis=0) - second) / np.sqrt(fourth - second**2),
        [log_det.mean() / np.sqrt(stats.loggamma.var(halves).sum())],
        w.mean(axis=0),
        ((w[:, i] * w[:, j]).mean(axis=0) - equal) / np.sqrt(1 + equal),
        (w * (g[:, 0, :1] - nu)).mean(axis=0) / np.sqrt(2 * nu),
        (w[1:] * w[:-1]).mean(axis=0),
    ]
    z = np.concatenate(z)
    return z_of(z, np.full(len(z), 1 / np.sqrt(len(theta))))


@every_case
@pytest.mark.parametrize("rows", [[], [3], [1, 4, 5, 2, 6]], ids=str)
def test_draw_theta_is_the_posterior(case, rows):
    sums = np.repeat(total(case.family, rows), 10_000, axis=0)
    theta = case.family.draw_theta(sums, rng_for(84))
    assert (unpacked(theta, case.d)[1].diagonal(axis1=1, axis2=2) > 0).all()
    assert np.abs(moment_z(case, theta, case.X[rows])).max() < Z_LIMIT


@pytest.mark.parametrize(
    ("n_theta", "n_rows"),
    [(2_000, 5_000), pytest.param(5_000, 20_000, marks=pytest.mark.exact_long)],
)
@every_case
def test_forward_draws(case, n_theta, n_rows):
    rng = rng_for(85)
    theta = case.likelihood.sample_theta(n_theta, case.d, rng)
    assert np.abs(moment_z(case, theta, case.X[:0])).max() < Z_LIMIT
    X = case.likelihood.sample_data(np.repeat(case.theta[:1], n_rows, axis=0), rng)
    w = np.linalg.solve(case.factors[0], (X - case.means[0]).T)
    equal = np.eye(case.d)
    second = (w @ w.T / n_rows - equal) / np.sqrt(1 + equal)
    z = np.concatenate([w.mean(axis=1), second[np.tril_indices(case.d)]])
    assert np.abs(z_of(z, np.full(len(z), 1 / np.sqrt(n_rows)))).max() < Z_LIMIT


# ---- Units and defaults ----


def test_units_do_not_matter():
    rng = np.random.default_rng(3)
    mix = np.array([[1.0, 0.0], [0.8, 0.5]])
    X = np.vstack([rng.normal(size=(30, 2)) @ mix.T, 0.3 * rng.normal(size=(30, 2)) + [4, -4]])
    near, far = (FullGaussian.scaled_to(x, nu=8.0).prepare(x) for x in (X, 1000 * X + 50))
    theta = near.draw_theta(near.sums(np.arange(60) // 30, 2), np.random.default_rng(0))
    moved = far.draw_theta(far.sums(np.arange(60) // 30, 2), np.random.default_rng(0))
    np.testing.assert_allclose(moved[:, :2], 1000 * theta[:, :2] + 50, rtol=1e-9)
    np.testing.assert_allclose(moved[:, 2:], 1000 * theta[:, 2:], rtol=1e-9)
    shift = -2 * np.log(1000)
    np.testing.assert_allclose(far.log_table(moved), near.log_table(theta) + shift, rtol=1e-9)
    np.testing.assert_allclose(far.log_marginal(), near.log_marginal() + shift, rtol=1e-9)
    assert_chains_agree(near, far)


def test_scaled_to():
    X = np.random.default_rng(0).normal(size=(50, 3)) * [1.0, 100.0, 1e-3] + [5.0, 0.0, -1.0]
    scaled = FullGaussian.scaled_to(X, lam=0.7)
    assert (scaled.lam, scaled.nu) == (0.7, None)
    np.testing.assert_allclose(scaled.mu0, X.mean(axis=0))
    np.testing.assert_allclose(scaled.sigma0, np.cov(X.T, bias=True))


def test_scaled_to_singular_data():
    """A constant column counts as variance 1; a column that repeats others adds a millionth."""
    x = np.random.default_rng(0).normal(size=(50, 2)) * [1.0, 1e5]
    X = np.column_stack([x, x @ [2.0, 1e-5], np.full(50, 0.1)])
    sigma0 = FullGaussian.scaled_to(X).sigma0
    expected = np.cov(X.T, bias=True)
    expected[3, 3] = 1.0
    np.testing.assert_allclose(
        sigma0, expected * (1 + 1e-6 * np.eye(4)), rtol=1e-9, atol=1e-7 * x.std(axis=0).max()
    )
    few = FullGaussian.scaled_to(X[:3]).prepare(X[:3])
    assert np.isfinite(few.log_marginal()).all()


def test_defaults():
    """nu = d + 2, mu0 = 0 and sigma0 = I; a number and a vector of variances stand for matrices."""
    X = FullCase(3, 1.3).X
    plain = FullGaussian().prepare(X)
    for setting in (
        FullGaussian(5.0, 0.1, np.zeros(3), np.eye(3)),
        FullGaussian(mu0=0.0, sigma0=1.0),
        FullGaussian(sigma0=[1.0, 1.0, 1.0]),
    ):
        np.testing.assert_allclose(setting.prepare(X).log_marginal(), plain.log_marginal())


# ---- Extremes, large data, refusals ----


def test_an_outlier_in_units_that_do_not_fit_it():
    X = outlier(3)
    family = FullGaussian().prepare(X)
    assert not family.subtracts_well
    components = np.where(np.arange(20) == 3, 1, 0)
    for c in (components, np.zeros(20, dtype=int)):
        theta = family.draw_theta(family.sums(c, 2), np.random.default_rng(1))
        z = [np.linalg.solve(t, (X - m).T) for m, t in zip(*unpacked(theta, 3), strict=True)]
        expected = -0.5 * np.transpose([(each**2).sum(axis=0) for each in z])
        expected -= np.log(unpacked(theta, 3)[1].diagonal(axis1=1, axis2=2)).sum(axis=1)
        expected -= 1.5 * np.log(2 * np.pi)
        np.testing.assert_allclose(family.log_table(theta), expected, rtol=1e-4, atol=1e-3)


def test_many_rows(monkeypatch):
    monkeypatch.setattr(module, "LARGEST_COPY", 0)
    case = FullCase(3, 1.3)
    X = case.mu0 + np.random.default_rng(0).normal(size=(5000, 3))
    assert len(slices(5000)) > 1
    before = X.copy()
    family = case.likelihood.prepare(X)
    np.testing.assert_allclose(family.log_table(case.theta), case.log_f(X), rtol=1e-9)
    np.testing.assert_allclose(family.log_marginal(), case.log_new(X), rtol=1e-9)
    components = np.arange(5000) % 3
    sums = np.zeros((3, family.n_statistics))
    np.add.at(sums, components, family.statistics(slice(0, 5000)))
    np.testing.assert_allclose(family.sums(components, 3), sums, rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(X, before)


def test_wide_data():
    """200 columns: statistics are made tile by tile, and a draw has the digits it needs."""
    d, n = 200, 500
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + rng.normal(size=d)
    family = FullGaussian.scaled_to(X).prepare(X)
    assert family._kept is None
    rows = slice(0, tile_height(family.n_statistics))
    assert family.statistics(rows).nbytes < 2**25
    components = np.arange(n) % 2
    theta = family.draw_theta(family.sums(components, 2), rng)
    means, factors = unpacked(theta, d)
    out = np.empty((rows.stop, 2))
    family.fill(rows, family.statistics(rows), family.natural(theta), out)
    for k in range(2):
        z = np.linalg.solve(factors[k], (X[rows] - means[k]).T)
        log_f = -0.5 * (z**2).sum(axis=0) - np.log(np.diag(factors[k])).sum()
        log_f -= 0.5 * d * np.log(2 * np.pi)
        np.testing.assert_allclose(out[:, k] + family.log_base()[rows], log_f, rtol=1e-8)


@pytest.mark.parametrize(
    ("settings", "error", "words"),
    [
        ({"nu": 1.0}, ValueError, "nu must be at least 0.2 above d - 1 = 1 for draws to be finite"),
        ({"nu": -1.0}, ValueError, "nu must be finite and above 0"),
        ({"nu": "3"}, TypeError, "nu must be a number above 0"),
        ({"lam": 0.0}, ValueError, "lam must be finite and above 0"),
        ({"mu0": [1.0, 2.0, 3.0]}, ValueError, "mu0 must be a number or hold one"),
        ({"sigma0": [[1.0, 2.0], [2.0, 1.0]]}, ValueError, "sigma0 must be a positive definite"),
        ({"sigma0": [1.0, -1.0]}, ValueError, "sigma0 must be above 0"),
    ],
)
def test_refusals(settings, error, words):
    likelihood = FullGaussian(**settings)
    with pytest.raises(error, match=words):
        likelihood.prepare(np.ones((3, 2)))
    with pytest.raises(error, match=words):
        likelihood.sample_theta(1, 2, np.random.default_rng(0))


def test_data_too_far_from_the_prior_are_refused():
    X = np.random.default_rng(0).normal(size=(10, 2)) + 1e8
    with pytest.raises(ValueError, match=r"X is too far from mu0.*FullGaussian.scaled_to"):
        FullGaussian().prepare(X)
    FullGaussian.scaled_to(X).prepare(X)


@pytest.mark.parametrize("call", [FullGaussian().prepare, FullGaussian.scaled_to])
def test_missing_entries_are_refused(call):
    X = np.array([[1.0, 2.0], [np.nan, 3.0]])
    with pytest.raises(ValueError, match=r"cannot skip them.*use FreeGaussian or SharedGaussian"):
        call(X)


# ---- Joint tests: the family in the whole model ----


def moments(theta):
    """(K, 2) means and (K, 2, 2) covariances."""
    means, factors = unpacked(theta, 2)
    return means, factors @ np.swapaxes(factors, 1, 2)


def setting(n_components=None, family=FullGaussianFamily):
    likelihood = FullGaussian(
        nu=2.6, lam=0.2, mu0=[0.3, -0.2], sigma0=0.5 * np.array([[1.0, 0.5], [0.5, 0.8]])
    )
    return Setting(with_family(likelihood, family), moments, n_components)


@pytest.mark.exact_long
@pytest.mark.parametrize("n_components", [None, 3])
def test_joint_law(n_components):
    """Geweke's test; the suite has one sweep from exact draws, by which wrong families show."""
    z = joint_z(setting(n_components), 3_000, seed=81)
    print(f"FullGaussian, K {n_components}: largest |z| {np.abs(z).max():.1f}")
    assert np.abs(z).max() < T_LIMIT, table(z)


class _MarginalForgetsItsScale(FullGaussianFamily):
    """f* without its factor w^(-d / 2)."""

    def log_new(self):
        return super().log_new() + 0.5 * self._d * np.log((self._lam + 1) / self._lam)


class _OneDatumTooMany(FullGaussianFamily):
    """In the degrees of freedom."""

    def draw_theta(self, sums, rng):
        other = copy.copy(self)
        other._nu = self._nu + 1
        return super(_OneDatumTooMany, other).draw_theta(sums, rng)


class _ForgetsThePriorMean(FullGaussianFamily):
    """The term lam n / (lam + n) (xbar - mu0)(xbar - mu0)' of the scale matrix."""

    def draw_theta(self, sums, rng):
        n, s, (i, j), sums = sums[:, -1:], sums[:, : self._d], self._lower, sums.copy()
        excess = 1 / np.maximum(n, 1) - 1 / (self._lam + n)
        sums[:, self._d : -1] -= s[:, i] * s[:, j] * excess
        return super().draw_theta(sums, rng)


class _BartlettUpsideDown(FullGaussianFamily):
    """Degrees of freedom that fall along the diagonal, as for the other triangle."""

    def _draw_factor(self, root, nu, rng):
        return super()._draw_factor(root, nu, _Reversed(rng))


class _Reversed:
    """A generator whose gamma variables come with their shapes in reverse."""

    def __init__(self, rng):
        self.standard_normal = rng.standard_normal
        self.standard_gamma = lambda shape: rng.standard_gamma(shape[:, ::-1])


class _CountsPairsOnce(FullGaussianFamily):
    """y_i y_j stands in t once and in y' P y twice."""

    def natural(self, theta):
        eta, (i, j) = super().natural(theta), self._lower
        eta[:, self._d : -1] *= np.where(i == j, 1.0, 0.5)
        return eta


@pytest.mark.parametrize(
    ("family", "stage"),
    [
        (_MarginalForgetsItsScale, "redraw_data"),
        (_OneDatumTooMany, "redraw_theta"),
        (_ForgetsThePriorMean, "redraw_theta"),
        (_BartlettUpsideDown, "redraw_theta"),
        (_CountsPairsOnce, "redraw_data"),
    ],
)
def test_wrong_family_is_rejected(family, stage):
    z = paired_z(setting(family=family), "gibbs", stage, 500, rng_for(82), until=Z_LIMIT)
    print(f"{family.__name__}: largest |z| {np.abs(z).max():.1f}")
    assert np.abs(z).max() > Z_LIMIT, table(z)


def test_one_sweep_leaves_the_joint_law_alone():
    z = paired_z(setting(), "gibbs", "sweep", 800, rng_for(83))
    print(f"FullGaussian, one sweep: largest |z| {np.abs(z).max():.1f}")
    assert np.abs(z).max() < Z_LIMIT, table(z)
