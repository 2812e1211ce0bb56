"""`SharedGaussian` with a full covariance: SciPy, the textbook posteriors, joint tests, mutants."""

import numpy as np
import pytest
from scipy import stats

import bhmc
from bhmc import BHMC
from bhmc.likelihoods import SharedGaussian, by_name
from bhmc.likelihoods._axes import UnitNormals
from bhmc.likelihoods.tied_gaussian import TiedGaussianFamily
from tests.exact import alarm, learned
from tests.exact.alarm import Z_LIMIT, rng_for, z_of, z_scores
from tests.exact.geweke import from_prior, from_sweeps
from tests.exact.invariance import paired_z, with_family
from tests.likelihoods.joint import assert_keeps_the_protocol

D, N = 3, 40
LOCATION, SCALE = np.array([1.0, -2.0, 0.5]), np.array([2.0, 0.5, 1.5])
LEAST = 0.05
LIKELIHOOD = SharedGaussian("full", LOCATION, SCALE, 1.7, 0.4, 2.5, 0.6, LEAST)
NU = D - 1 + 2 * 1.7
SIGMA2 = np.array([[1.0, 0.3, -0.4], [0.3, 0.2, 0.0], [-0.4, 0.0, 2.0]])
MU0, SIGMA0, PSI = np.array([0.5, -1.5, 1.0]), np.array([3.0, 0.4, 1.2]), np.array([1.5, 0.1, 0.8])
SHARED = np.concatenate([MU0, SIGMA2[np.tril_indices(D)], SIGMA0, PSI])
X = MU0 + np.random.default_rng(0).normal(size=(N, D)) * [2.0, 0.6, 1.5]
COMPONENTS = np.arange(N) % 3
FAMILY = LIKELIHOOD.prepare(X).at(SHARED)
THETA = LIKELIHOOD.at(SHARED).sample_theta(3, D, np.random.default_rng(1))


# ---- Densities ----


def test_densities():
    normal = stats.multivariate_normal
    table = np.column_stack([normal(theta, SIGMA2).logpdf(X) for theta in THETA])
    np.testing.assert_allclose(FAMILY.log_table(THETA), table, rtol=1e-10)
    new = normal(MU0, SIGMA2 + np.diag(SIGMA0)).logpdf(X)
    np.testing.assert_allclose(FAMILY.log_marginal(), new, rtol=1e-10)
    prior = normal(MU0, np.diag(SIGMA0)).logpdf(THETA)
    np.testing.assert_allclose(FAMILY.log_prior(THETA), prior, rtol=1e-10)


def test_log_prior_of_the_shared_numbers():
    """In the units of the data: SciPy's laws have the scales put in."""
    units = SCALE**2
    expected = stats.norm.logpdf(MU0, LOCATION, SCALE).sum()
    expected += stats.invgamma.logpdf(SIGMA0, 2.5, scale=0.6 * units).sum()
    expected += stats.expon.logpdf(PSI, LEAST * units, 0.4 * units).sum()
    expected += stats.invwishart.logpdf(SIGMA2, NU, NU * np.diag(PSI))
    assert FAMILY.log_prior_shared() == pytest.approx(expected, rel=1e-12)


def test_the_protocol():
    """The table is eta . t + h; sums of whole numbers merge exactly."""
    whole = np.random.default_rng(2).integers(-4, 5, (30, D)).astype(float)
    plain = SharedGaussian("full", 0.0, 1.0)
    shared = plain.prepare(whole).start_shared()
    assert_keeps_the_protocol(plain.prepare(whole).at(shared), THETA)


def test_whitener():
    np.testing.assert_allclose(FAMILY.whitener.T @ FAMILY.whitener, np.linalg.inv(SIGMA2))
    draws = LIKELIHOOD.at(SHARED).sample_data(np.repeat(THETA[:1], 20_000, axis=0), rng_for(140))
    white = (draws - THETA[0]) @ FAMILY.whitener.T
    second = (white.T @ white / 20_000 - np.eye(D)) / np.sqrt(1 + np.eye(D))
    z = np.concatenate([white.mean(axis=0), second[np.tril_indices(D)]])
    assert np.abs(z_of(z, np.full(len(z), 1 / np.sqrt(20_000)))).max() < Z_LIMIT


def test_shared_numbers_come_apart_as_they_were_put_together():
    for d in (1, 2, 5):
        likelihood = SharedGaussian("full", np.arange(d), 1.0 + np.arange(d))
        shared = likelihood.sample_shared(d, np.random.default_rng(d))
        family = likelihood.prepare(np.zeros((3, d)))
        assert len(shared) == family.n_shared == len(family.start_shared())
        mu0, sigma2, sigma0 = likelihood.split(shared)
        np.testing.assert_array_equal(sigma2, sigma2.T)
        np.testing.assert_array_equal(sigma2[np.tril_indices(d)], shared[d : -2 * d])
        np.testing.assert_array_equal([mu0, sigma0], [shared[:d], shared[-2 * d : -d]])


# ---- Draws ----


@pytest.mark.parametrize("rows", [[], [3], [1, 4, 5, 2, 6]], ids=str)
def test_draw_theta_is_the_posterior(rows):
    """N(C (sigma0^-1 mu0 + sigma2^-1 sum x), C), C = (sigma0^-1 + n sigma2^-1)^-1."""
    noise, spread = np.linalg.inv(SIGMA2), np.diag(1 / SIGMA0)
    covariance = np.linalg.inv(spread + len(rows) * noise)
    mean = covariance @ (spread @ MU0 + noise @ X[rows].sum(axis=0))
    sums = FAMILY.statistics(slice(0, N))[rows].sum(axis=0, keepdims=True)
    theta = FAMILY.draw_theta(np.repeat(sums, 10_000, axis=0), rng_for(141))
    white = np.linalg.solve(np.linalg.cholesky(covariance), (theta - mean).T)
    equal = np.eye(D)
    second = (white @ white.T / 10_000 - equal) / np.sqrt(1 + equal)
    z = np.concatenate([white.mean(axis=1), second[np.tril_indices(D)]])
    assert np.abs(z_of(z, np.full(len(z), 1 / np.sqrt(10_000)))).max() < Z_LIMIT


def wishart_z(sigma2, scale, freedom):
    """z of moments of sigma2^-1 ~ W(scale^-1, freedom).

    With scale = C C', G = C' sigma2^-1 C is W(I, freedom): diagonal chi2(freedom), other entries of
    mean 0 and variance `freedom`, log|G| a sum of log chi2.
    """
    root = np.linalg.cholesky(scale)
    g = root.T @ np.linalg.solve(sigma2, np.broadcast_to(root, sigma2.shape))
    i, j = np.tril_indices(D)
    equal, halves = i == j, (freedom - np.arange(D)) / 2
    log_det = np.linalg.slogdet(g)[1] - (stats.loggamma.mean(halves) + np.log(2)).sum()
    z = [
        (g[:, i, j].mean(axis=0) - freedom * equal) / np.sqrt(freedom * (1 + equal)),
        [log_det.mean() / np.sqrt(stats.loggamma.var(halves).sum())],
    ]
    return np.concatenate(z) * np.sqrt(len(sigma2))


def exponential_z(p):
    """z of means and variances of probabilities that should be uniform."""
    means = (p.mean(axis=0) - 0.5) * np.sqrt(12 * len(p))
    variances = (((p - 0.5) ** 2).mean(axis=0) - 1 / 12) * np.sqrt(180 * len(p))
    return np.concatenate([means, variances])


def parts_of(shared):
    sigma2 = np.array([LIKELIHOOD.split(one)[1] for one in shared])
    return sigma2, shared[:, -2 * D : -D], shared[:, -D:]


def test_shared_numbers_from_their_priors():
    rng = rng_for(142)
    shared = np.array([LIKELIHOOD.sample_shared(D, rng) for _ in range(3_000)])
    sigma2, sigma0, psi = parts_of(shared)
    rooted = np.sqrt(psi)
    scaled = sigma2 / rooted[:, :, None] / rooted[:, None, :]
    z = [
        wishart_z(scaled, NU * np.eye(D), NU),
        exponential_z(stats.expon.cdf(psi, LEAST * SCALE**2, 0.4 * SCALE**2)),
        exponential_z(stats.invgamma.cdf(sigma0, 2.5, scale=0.6 * SCALE**2)),
        exponential_z(stats.norm.cdf(shared[:, :D], LOCATION, SCALE)),
    ]
    assert np.abs(z_of(np.concatenate(z), np.ones(sum(map(len, z))))).max() < Z_LIMIT


def test_draw_shared_is_the_conditional():
    """sigma2 given psi and the rows; psi given sigma2; mu0 given sigma0; sigma0 given mu0."""
    rng, sums = rng_for(143), FAMILY.sums(COMPONENTS, 3)
    shared = np.array([FAMILY.draw_shared(THETA, sums, rng) for _ in range(4_000)])
    sigma2, sigma0, psi = parts_of(shared)
    away, units = X - THETA[COMPONENTS], SCALE**2
    precision = np.diagonal(np.linalg.inv(sigma2), axis1=1, axis2=2)
    law = stats.gamma(NU / 2 + 1, scale=1 / (NU * precision / 2 + 1 / (0.4 * units)))
    below = law.cdf(LEAST * units)
    mean = (LOCATION / units + THETA.sum(axis=0) / SIGMA0) / (1 / units + 3 / SIGMA0)
    deviation = 1 / np.sqrt(1 / units + 3 / SIGMA0)
    squares = ((THETA - shared[:, None, :D]) ** 2).sum(axis=1)
    z = [
        wishart_z(sigma2, NU * np.diag(PSI) + away.T @ away, NU + N),
        exponential_z((law.cdf(psi) - below) / (1 - below)),
        exponential_z(stats.norm.cdf(shared[:, :D], mean, deviation)),
        exponential_z(stats.invgamma.cdf(sigma0, 4.0, scale=0.6 * units + squares / 2)),
    ]
    assert np.abs(z_of(np.concatenate(z), np.ones(sum(map(len, z))))).max() < Z_LIMIT
    assert (psi >= LEAST * units).all()


# ---- Data that a full covariance does not like ----


def swept(X, n_draws=100):
    """The last shared numbers of a chain with three given components."""
    family = by_name("tied_gaussian", X).prepare(X)
    shared, rng, components = family.start_shared(), np.random.default_rng(0), np.arange(len(X)) % 3
    sums = family.sums(components, 3)
    for _ in range(n_draws):
        bound = family.at(shared)
        shared = bound.draw_shared(bound.draw_theta(sums, rng), sums, rng)
    return family.at(shared), shared


@pytest.mark.parametrize("kind", ["collinear", "constant", "wider than long", "equal rows"])
def test_noise_does_not_vanish(kind):
    """psi stays above its least value: noise that shrank with every sweep would be 0 by then."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(30, 4))
    X = {
        "collinear": np.column_stack([X, X[:, 0] - 2 * X[:, 1]]),
        "constant": np.column_stack([X, np.full(30, 7.0)]),
        "wider than long": rng.normal(size=(9, 15)),
        "equal rows": np.repeat(X[:3], 10, axis=0),
    }[kind]
    family, shared = swept(X)
    sigma2 = SharedGaussian("full").split(shared)[1]
    scale = by_name("tied_gaussian", X).scale
    least = np.linalg.eigvalsh(sigma2 / scale / np.reshape(scale, (-1, 1)))[0]
    assert least > 1e-6
    assert np.isfinite(family.log_new()).all()
    assert np.isfinite(family.log_prior_shared())


def test_far_from_the_location():
    """An object's units may be far from those of X: rounding errors leave the scatter positive."""
    X = 1e6 + np.random.default_rng(3).normal(size=(50, 3)) * [1.0, 1e-3, 1.0]
    likelihood = SharedGaussian("full")
    family = likelihood.prepare(X)
    bound, rng = family.at(family.start_shared()), np.random.default_rng(0)
    sums = family.sums(np.zeros(50, dtype=int), 1)
    for _ in range(20):
        bound = family.at(bound.draw_shared(bound.draw_theta(sums, rng), sums, rng))
    assert np.isfinite(bound.log_new()).all()


def test_correlated_groups_are_found(tmp_path):
    """Two long thin parallel groups: independent columns need several components for each."""
    rng = np.random.default_rng(0)
    along = rng.normal(size=(120, 1)) * 4
    X = np.hstack([along, along]) + rng.normal(size=(120, 2)) * 0.3
    group = np.arange(120) % 2
    X[:, 0] += 4 * group
    settings = {"n_levels": 2, "n_warmup": 60, "n_draws": 30, "n_chains": 1, "random_state": 0}
    model = BHMC(likelihood="tied_gaussian", **settings).fit(X)
    largest = np.bincount(model.component_labels_).argsort()[-2:]
    inside = np.isin(model.component_labels_, largest)
    assert inside.mean() > 0.95
    assert len({*zip(model.component_labels_[inside], group[inside], strict=True)}) == 2
    model.save(tmp_path / "model.bhmc")
    again = BHMC.load(tmp_path / "model.bhmc")
    np.testing.assert_array_equal(again.score_samples(X), model.score_samples(X))
    apart = BHMC(likelihood="shared_gaussian", **settings).fit(X)
    assert apart.component_labels_.max() > model.component_labels_.max()


# ---- Joint tests ----


class Tied(learned.Learned):
    """The statistics of `Learned`, with the correlation, and what x tells of sigma2."""

    def forward_key(self):
        return self._key()

    def statistics(self, state, X):
        positive = state.shared.copy()
        deviation = np.sqrt(positive[[2, 4]])
        correlation = positive[3] / deviation.prod()
        positive[3] = np.exp(correlation)  # of which `learned` takes the logarithm
        away = np.tanh((X - state.theta[state.components]) / deviation)
        both = (away[:, 0] * away[:, 1]).mean()
        ratio = np.log(positive[[2, 4]] / positive[-2:])
        log_det = np.log(positive[[2, 4]]).sum() + np.log1p(-(correlation**2))
        more = [both, both * correlation, correlation**2, *ratio, log_det, away.var()]
        return np.append(learned.statistics(state._replace(shared=positive), X), more)


def setting(hyper=bhmc.Hyper(0.6, 1.2, 0.8), family=None, **how):  # noqa: B008
    likelihood = SharedGaussian("full", 0.3, 1.2, noise_shape=1.5, least_variance=0.1)
    likelihood = with_family(likelihood, family) if family else likelihood
    return Tied(hyper, likelihood, n_features=2, **how)


@pytest.mark.parametrize("stage", ["redraw_theta", "redraw_data"])
def test_shared_numbers_on_exact_draws(stage):
    z = paired_z(setting(n=5, n_levels=2), "gibbs", stage, 1_000, rng_for(144))
    print(f"{stage}: largest |z| {np.abs(z).max():.1f}")
    assert np.abs(z).max() < Z_LIMIT


def test_one_sweep_leaves_the_joint_law_alone():
    z = paired_z(setting(learned.PRIORS["gamma"]), "gibbs", "sweep", 700, rng_for(145))
    print(f"one sweep: largest |z| {np.abs(z).max():.1f}")
    assert np.abs(z).max() < Z_LIMIT


@pytest.mark.exact_long
@pytest.mark.parametrize("sampler", ["gibbs", "mh"])
def test_joint_law_long(sampler):
    """Geweke's test."""
    one = setting(learned.PRIORS["gamma"])
    z = z_scores(
        from_prior(one, 20_000, rng_for(146)), from_sweeps(one, sampler, 20_000, rng_for(147))
    )
    print(f"{sampler}: largest |z| {np.abs(z).max():.1f}")
    assert np.abs(z).max() < Z_LIMIT


class _OneDatumTooMany(TiedGaussianFamily):
    """In the degrees of freedom of sigma2."""

    def draw_shared(self, theta, sums, rng):
        self._n_all += 1
        return super().draw_shared(theta, sums, rng)


class _CrossProductsOnce(TiedGaussianFamily):
    """The scatter about the component means, with sum y m' taken off once."""

    def draw_shared(self, theta, sums, rng):
        cross = sums[:, :-1].T @ self._scaled(theta)
        self._products = self._products + (cross + cross.T) / 2
        return super().draw_shared(theta, sums, rng)


class _PsiOfMarginalVariances(TiedGaussianFamily):
    """1 / V_dd in place of (V^-1)_dd."""

    def _draw_covariance(self, scale, freedom, rng):
        v, _ = super()._draw_covariance(scale, freedom, rng)
        return v, 1 / np.diag(v)


class _ThetaOfSphericalNoise(TiedGaussianFamily):
    """The prior variance of A m without its directions."""

    def draw_theta(self, sums, rng):
        even = np.full_like(self._normals.variance, self._normals.variance.mean())
        self._normals = UnitNormals(self._normals.mean, even)
        return super().draw_theta(sums, rng)


class _MarginalWithoutDeterminant(TiedGaussianFamily):
    """f* without |I + delta|^(-1 / 2)."""

    def log_new(self):
        return super().log_new() + 0.5 * np.log(1 + self._normals.variance).sum()


@pytest.mark.parametrize(
    ("family", "stage", "n_draws"),
    [
        (_OneDatumTooMany, "redraw_theta", 500),
        (_CrossProductsOnce, "redraw_theta", 200),
        (_PsiOfMarginalVariances, "redraw_theta", 1_000),
        (_ThetaOfSphericalNoise, "redraw_theta", 1_000),
        (_MarginalWithoutDeterminant, "redraw_data", 500),
    ],
)
def test_wrong_family_is_rejected(family, stage, n_draws, monkeypatch):
    monkeypatch.setattr(alarm, "checks_made", alarm.checks_made)
    own = setting(family=family, n=5, n_levels=2)
    z = paired_z(own, "gibbs", stage, n_draws, rng_for(148), until=Z_LIMIT)
    print(f"{family.__name__}: largest |z| {np.abs(z).max():.1f}")
    assert np.abs(z).max() > Z_LIMIT
