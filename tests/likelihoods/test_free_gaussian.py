"""FreeGaussian against SciPy, quadrature, the textbook posterior and the joint tests."""

import copy
import dataclasses

import numpy as np
import pytest
from scipy import stats

from bhmc.likelihoods import free_gaussian as module
from bhmc.likelihoods.blocks import slices
from bhmc.likelihoods.free_gaussian import FreeGaussian, FreeGaussianFamily
from tests.exact.alarm import T_LIMIT, Z_LIMIT, rng_for, z_of
from tests.exact.invariance import paired_z, with_family
from tests.likelihoods.gaussian_cases import COMPONENTS, FREE_CASES, FreeCase, total
from tests.likelihoods.joint_gaussian import Setting, assert_chains_agree, joint_z, table

KINDS = ("diagonal", "spherical")
every_case = pytest.mark.parametrize("case", FREE_CASES)


# ---- Densities ----


@pytest.mark.parametrize("case", [case for case in FREE_CASES if case.values[0].d == 1])
def test_log_marginal_is_the_integral(case):
    """Over the mean and the log variance, of the family's own densities, by the trapezium rule."""
    log_v, log_step = np.linspace(-9.0, 25.0, 400, retstep=True)
    z, z_step = np.linspace(-30.0, 30.0, 600, retstep=True)
    sd = np.exp(log_v / 2)[:, None]
    theta = np.column_stack(
        [(case.location + sd * z).ravel(), np.broadcast_to(log_v[:, None], (400, 600)).ravel()]
    )
    log_p = case.family.log_table(theta) + case.family.log_prior(theta) + theta[:, 1] / 2
    value = np.exp(log_p).sum(axis=1) * log_step * z_step
    np.testing.assert_allclose(case.family.log_marginal(), np.log(value), rtol=1e-6, atol=1e-6)


# ---- Draws ----


def moment_z(case, theta, X):
    """z of first and second moments: 1 / v is gamma, and the mean given v is normal."""
    shape, noise, centre, strength = case.posterior(X)
    g = noise * np.exp(-theta[:, case.d :])  # Gamma(shape, 1)
    w = (theta[:, : case.d] - centre) * np.sqrt(strength) * np.exp(-theta[:, case.d :] / 2)
    fourth = shape * (shape + 1) * (shape + 2) * (shape + 3) - (shape * (shape + 1)) ** 2
    z = [
        (g.mean(axis=0) - shape) / np.sqrt(shape),
        ((g**2).mean(axis=0) - shape * (shape + 1)) / np.sqrt(fourth),
        w.mean(axis=0),
        ((w**2).mean(axis=0) - 1) / np.sqrt(2),
        (w * (g - shape)).mean(axis=0) / np.sqrt(shape),
        (w[1:] * w[:-1]).mean(axis=0),
    ]
    z = np.concatenate(z)
    return z_of(z, np.full(len(z), 1 / np.sqrt(len(theta))))


@every_case
@pytest.mark.parametrize("rows", [[], [3], [1, 4, 5, 2, 6]], ids=str)
def test_draw_theta_is_the_posterior(case, rows):
    sums = np.repeat(total(case.family, rows), 20_000, axis=0)
    theta = case.family.draw_theta(sums, rng_for(74))
    assert np.abs(moment_z(case, theta, case.X[rows])).max() < Z_LIMIT


@every_case
def test_forward_draws(case):
    rng = rng_for(75)
    theta = case.likelihood.sample_theta(20_000, case.d, rng)
    assert np.abs(moment_z(case, theta, case.X[:0])).max() < Z_LIMIT
    X = case.likelihood.sample_data(np.repeat(case.theta[:1], 20_000, axis=0), rng)
    w = (X - case.theta[0, : case.d]) * np.exp(-case.theta[0, case.d :] / 2)
    z = np.concatenate([w.mean(axis=0), ((w**2).mean(axis=0) - 1) / np.sqrt(2)])
    assert np.abs(z_of(z, np.full(len(z), 1 / np.sqrt(len(w))))).max() < Z_LIMIT


# ---- Missing entries ----


@pytest.mark.parametrize("kind", KINDS)
def test_missing_entries_are_skipped(kind):
    """A column that nobody has seen might as well not be there: f, f* and draws of the others."""
    case = FreeCase(3, kind, gaps=False)
    X, kept = case.X.copy(), [0, 2]
    X[:, 1] = np.nan
    fewer = FreeGaussian(kind, case.location[kept], case.scale[kept]).prepare(X[:, kept])
    family = FreeGaussian(kind, case.location, case.scale).prepare(X)
    columns = kept + ([3, 5] if kind == "diagonal" else [3])
    theta = case.theta
    np.testing.assert_allclose(family.log_table(theta), fewer.log_table(theta[:, columns]))
    np.testing.assert_allclose(family.log_marginal(), fewer.log_marginal())
    np.testing.assert_allclose(
        family.log_likelihood(family.natural(theta), family.sums(COMPONENTS, 4), COMPONENTS)
        + family.log_base().sum(),
        fewer.log_table(theta[:, columns])[np.arange(7), COMPONENTS].sum(),
    )


@pytest.mark.parametrize("kind", KINDS)
def test_a_row_of_nothing_says_nothing(kind):
    case = FreeCase(3, kind, gaps=True)
    np.testing.assert_array_equal(case.family.log_table(case.theta)[2], 0.0)
    assert case.family.log_marginal()[2] == 0.0
    draws = [
        case.family.draw_theta(total(case.family, rows), np.random.default_rng(1))
        for rows in ([], [2], [2, 2, 2])
    ]
    np.testing.assert_array_equal(draws[1], draws[0])
    np.testing.assert_array_equal(draws[2], draws[0])


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_missing_is_the_same_with_masks(kind):
    """A wholly missing row switches masks on; the other rows have the same numbers."""
    case = FreeCase(3, kind, gaps=False)
    family = case.likelihood.prepare(np.vstack([case.X, np.full(3, np.nan)]))
    assert family.n_statistics == case.family.n_statistics + 3
    np.testing.assert_allclose(family.log_table(case.theta)[:7], case.family.log_table(case.theta))
    np.testing.assert_allclose(family.log_marginal()[:7], case.family.log_marginal())
    draws = [
        thing.draw_theta(thing.sums(components, 4), np.random.default_rng(1))
        for thing, components in ((case.family, COMPONENTS), (family, np.append(COMPONENTS, 2)))
    ]
    np.testing.assert_allclose(*draws)


# ---- Units ----


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_units_do_not_matter(kind, gaps):
    rng = np.random.default_rng(3)
    X = np.vstack([rng.normal(size=(30, 2)), 0.3 * rng.normal(size=(30, 2)) + 4])
    if gaps:
        X[rng.random(X.shape) < 0.2] = np.nan
    near, far = (FreeGaussian.scaled_to(x, covariance=kind).prepare(x) for x in (X, 1000 * X + 50))
    theta = near.draw_theta(near.sums(np.arange(60) // 30, 2), np.random.default_rng(0))
    moved = far.draw_theta(far.sums(np.arange(60) // 30, 2), np.random.default_rng(0))
    np.testing.assert_allclose(moved[:, :2], 1000 * theta[:, :2] + 50, rtol=1e-9)
    np.testing.assert_allclose(moved[:, 2:], theta[:, 2:] + 2 * np.log(1000), rtol=1e-9)
    seen = (~np.isnan(X)).sum(axis=1)
    shift = -np.log(1000) * seen[:, None]
    np.testing.assert_allclose(
        far.log_table(moved), near.log_table(theta) + shift, rtol=1e-9, atol=1e-9
    )
    np.testing.assert_allclose(far.log_marginal(), near.log_marginal() + shift[:, 0], atol=1e-9)
    assert_chains_agree(near, far)


def test_scaled_to():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 3)) * [1.0, 100.0, 1e-3] + [5.0, 0.0, -1.0]
    X = np.column_stack([X, np.full(50, 0.1), np.full(50, np.nan)])
    X[:5, 0] = np.nan
    scaled = FreeGaussian.scaled_to(X, strength=0.7)
    assert (scaled.strength, scaled.covariance) == (0.7, "diagonal")
    sd = np.append(np.nanstd(X[:, :3], axis=0), [1.0, 1.0])
    np.testing.assert_allclose(scaled.scale, sd)
    np.testing.assert_allclose(scaled.location, np.append(np.nanmean(X[:, :4], axis=0), 0.0))
    spherical = FreeGaussian.scaled_to(X, covariance="spherical")
    assert spherical.scale == pytest.approx(np.sqrt(np.mean(sd[:3] ** 2)))
    assert FreeGaussian.scaled_to(X[:, 3:], covariance="spherical").scale == 1.0


# ---- Extremes, large data, refusals ----


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("far", [1e4, 1e6, 1e9])
def test_an_outlier_keeps_its_digits(far, kind):
    """Alone and with others, in units that do not fit it: no digit is lost that matters."""
    X = np.random.default_rng(0).normal(size=(20, 2))
    X[3] = far
    family = FreeGaussian(kind).prepare(X)
    assert not family.subtracts_well
    components = np.where(np.arange(20) == 3, 1, 0)
    for c in (components, np.zeros(20, dtype=int)):
        theta = family.draw_theta(family.sums(c, 2), np.random.default_rng(1))
        mean, sd = theta[:, :2], np.exp(theta[:, 2:] / 2)
        expected = stats.norm.logpdf(X[:, None], mean, sd * np.ones(2)).sum(axis=2)
        np.testing.assert_allclose(family.log_table(theta), expected, rtol=1e-9, atol=1e-7)


def test_many_rows(monkeypatch):
    monkeypatch.setattr(module, "LARGEST_COPY", 0)
    case = FreeCase(3, "spherical", gaps=False)
    X = case.location + case.scale * np.random.default_rng(0).normal(size=(5000, 3))
    X[4500, 1] = np.nan
    assert len(slices(5000)) > 1
    before = X.copy()
    family = case.likelihood.prepare(X)
    np.testing.assert_allclose(family.log_table(case.theta), case.log_f(X), rtol=1e-9)
    np.testing.assert_allclose(family.log_marginal(), case.log_new(X), rtol=1e-9)
    np.testing.assert_array_equal(X, before)


@pytest.mark.parametrize(
    ("settings", "error", "words"),
    [
        ({"covariance": "full"}, ValueError, "covariance='full' is not known; choose one of"),
        ({"shape": 0.0}, ValueError, "shape must be finite and above 0"),
        ({"shape": 0.05}, ValueError, "shape must be at least 0.1"),
        ({"noise": -1.0}, ValueError, "noise must be finite and above 0"),
        ({"strength": "1"}, TypeError, "strength must be a number above 0"),
        ({"scale": [1.0, -1.0]}, ValueError, "scale must be above 0"),
        ({"scale": np.eye(2)}, ValueError, r"scale must be a number or hold one for each of the 2"),
        (
            {"scale": [1.0, 2.0], "covariance": "spherical"},
            ValueError,
            "scale must be one number where covariance is 'spherical', got 1 and 2",
        ),
        ({"location": [1.0, 2.0, 3.0]}, ValueError, "location must be a number or hold one"),
        ({"location": np.nan}, ValueError, "location must be finite"),
        ({"scale": 1e-120}, ValueError, "X is too far from location in units of scale"),
    ],
)
def test_refusals(settings, error, words):
    likelihood = FreeGaussian(**settings)
    with pytest.raises(error, match=words):
        likelihood.prepare(np.ones((3, 2)))
    if "1e-120" not in str(settings):
        with pytest.raises(error, match=words):
            likelihood.sample_theta(1, 2, np.random.default_rng(0))


# ---- Joint tests: the family in the whole model ----


def moments(theta):
    """(K, 2) means and (K, 2, 2) covariances."""
    variances = np.exp(theta[:, 2:]) * np.ones(2)
    return theta[:, :2], variances[:, :, None] * np.eye(2)


def setting(kind, n_components=None, family=FreeGaussianFamily):
    """With gaps: two rows lack an entry and one lacks both."""
    likelihood = FreeGaussian(
        kind, location=[0.3, -0.2], scale=0.5, shape=0.8, noise=1.0, strength=0.2
    )
    return Setting(with_family(likelihood, family), moments, n_components, gaps=True)


@pytest.mark.exact_long
@pytest.mark.parametrize("n_components", [None, 3])
@pytest.mark.parametrize("kind", KINDS)
def test_joint_law(kind, n_components):
    """Geweke's test; the suite has one sweep from exact draws, by which wrong families show."""
    z = joint_z(setting(kind, n_components), 3_000, seed=71)
    print(f"FreeGaussian {kind}, K {n_components}: largest |z| {np.abs(z).max():.1f}")
    assert np.abs(z).max() < T_LIMIT, table(z)


class _MarginalForgetsItsScale(FreeGaussianFamily):
    """f* without its factor w^(-q / 2)."""

    def log_new(self):
        half = self._counts(self.statistics(slice(0, self.n_rows))).sum(axis=1) / 2
        return super().log_new() + half * np.log(_wide(self))


class _MarginalHasTooHeavyTails(FreeGaussianFamily):
    """f* with the exponent shape, not shape + q / 2."""

    def log_new(self):
        t = self.statistics(slice(0, self.n_rows))
        squares = t[:, self._d : self._d + self._each]
        half = self._pooled(self._counts(t)) / 2
        return super().log_new() + (half * np.log1p(squares / (2 * _wide(self)))).sum(axis=1)


class _OneDatumTooMany(FreeGaussianFamily):
    """In the shape of the variance."""

    def draw_theta(self, sums, rng):
        other = copy.copy(self)
        other._prior = dataclasses.replace(self._prior, shape=self._prior.shape + 0.5)
        return super(_OneDatumTooMany, other).draw_theta(sums, rng)


class _ForgetsThePriorMean(FreeGaussianFamily):
    """The term strength n / (strength + n) (ybar - 0)^2 of the variance."""

    def draw_theta(self, sums, rng):
        count, s, sums = self._counts(sums), sums[:, : self._d], sums.copy()
        n = np.maximum(count, 1)
        extra = s**2 / n - s**2 / (self._prior.strength + count)
        sums[:, self._d : self._d + self._each] -= self._pooled(extra)
        return super().draw_theta(sums, rng)


class _CountsMissingEntries(FreeGaussianFamily):
    """A row counts for every column."""

    def draw_theta(self, sums, rng):
        sums = sums.copy()
        sums[:, -self._d - 1 : -1] = sums[:, -1:]
        return super().draw_theta(sums, rng)


class _ForgetsTheWidth(FreeGaussianFamily):
    """log f without -log(v) / 2."""

    def natural(self, theta):
        eta = super().natural(theta)
        eta[:, -self._d - 1 : -1] += 0.5 * self._enter(theta)[1]
        return eta


def _wide(family):
    return family._prior.noise * (1 + 1 / family._prior.strength)


@pytest.mark.parametrize(
    ("family", "stage", "kind"),
    [
        (_MarginalForgetsItsScale, "redraw_data", "diagonal"),
        (_MarginalHasTooHeavyTails, "redraw_data", "spherical"),
        (_OneDatumTooMany, "redraw_theta", "diagonal"),
        (_ForgetsThePriorMean, "redraw_theta", "spherical"),
        (_CountsMissingEntries, "redraw_theta", "diagonal"),
        (_CountsMissingEntries, "redraw_theta", "spherical"),
        (_ForgetsTheWidth, "redraw_data", "spherical"),
    ],
)
def test_wrong_family_is_rejected(family, stage, kind):
    z = paired_z(setting(kind, family=family), "gibbs", stage, 600, rng_for(72), until=Z_LIMIT)
    print(f"{family.__name__}, {kind}: largest |z| {np.abs(z).max():.1f}")
    assert np.abs(z).max() > Z_LIMIT, table(z)


@pytest.mark.parametrize("kind", KINDS)
def test_one_sweep_leaves_the_joint_law_alone(kind):
    z = paired_z(setting(kind), "gibbs", "sweep", 800, rng_for(73))
    print(f"FreeGaussian {kind}, one sweep: largest |z| {np.abs(z).max():.1f}")
    assert np.abs(z).max() < Z_LIMIT, table(z)
