"""`ShapedGaussian`: SciPy's densities, the spherical family in turned coordinates, joint tests,
mutants, and the shape that is taken from a table.
"""

import numpy as np
import pytest
from scipy import stats

import bhmc
from bhmc import BHMC
from bhmc.likelihoods import ShapedGaussian, by_name
from bhmc.likelihoods._shape import noise_shape
from bhmc.likelihoods.shaped_gaussian import ShapedGaussianFamily
from bhmc.model.diffused.setting import MOVES, Diffused
from bhmc.priors import Gamma
from tests.exact import alarm, learned
from tests.exact.alarm import Z_LIMIT, rng_for, z_of, z_scores
from tests.exact.diffused import DiffusedSetting
from tests.exact.geweke import from_prior, from_sweeps
from tests.exact.invariance import paired_z, with_family
from tests.likelihoods.joint import assert_keeps_the_protocol

D, N = 3, 40
SHAPE = np.array([[1.0, 0.3, -0.4], [0.3, 0.2, 0.0], [-0.4, 0.0, 2.0]])
LOCATION, ROOT = np.array([1.0, -2.0, 0.5]), np.linalg.cholesky(SHAPE)
LIKELIHOOD = ShapedGaussian(SHAPE, LOCATION, 1.7, 0.4, 2.5, 0.6, 0.05)
SHARED = np.array([0.4, -0.3, 0.2, 0.7, 2.2])  # R^-1 (mu0 - location), sigma2, sigma0
MU0 = LOCATION + ROOT @ SHARED[:D]
X = MU0 + np.random.default_rng(0).normal(size=(N, D)) * [2.0, 0.6, 1.5]
FAMILY = LIKELIHOOD.prepare(X).at(SHARED)
THETA = LIKELIHOOD.at(SHARED).sample_theta(3, D, np.random.default_rng(1))


def test_densities():
    normal = stats.multivariate_normal
    table = np.column_stack([normal(theta, 0.7 * SHAPE).logpdf(X) for theta in THETA])
    np.testing.assert_allclose(FAMILY.log_table(THETA), table, rtol=1e-10)
    new = normal(MU0, (0.7 + 2.2) * SHAPE).logpdf(X)
    np.testing.assert_allclose(FAMILY.log_marginal(), new, rtol=1e-10)
    prior = normal(MU0, 2.2 * SHAPE).logpdf(THETA)
    np.testing.assert_allclose(FAMILY.log_prior(THETA), prior, rtol=1e-10)
    known = LIKELIHOOD.at(SHARED).prepare(X)
    np.testing.assert_allclose(known.log_table(THETA), table, rtol=1e-10)


def test_on_a_tree():
    """New components around a place; one that has rows; all in the units of the data."""
    place, v = np.array([0.2, -1.5, 1.0]), np.array([[3.0]])
    own = FAMILY.enter(place[None])
    np.testing.assert_allclose(FAMILY.leave(own), place[None], rtol=1e-12)
    log_new = FAMILY.log_new_at(slice(0, N), own, v)[:, 0] + FAMILY.log_base()
    expected = stats.multivariate_normal(place, 0.7 * (1 + 3.0) * SHAPE).logpdf(X)
    np.testing.assert_allclose(log_new, expected, rtol=1e-10)
    noise = LIKELIHOOD.noise_on_tree(SHARED, D)
    np.testing.assert_allclose(noise, 0.7 * SHAPE, atol=1e-12)
    shared = FAMILY.shared_at(place, np.array([3.0]))
    np.testing.assert_allclose(shared, LIKELIHOOD.shared_on_tree(SHARED, place, np.array([3.0])))
    known = LIKELIHOOD.at(shared)
    np.testing.assert_allclose(known.mu0, place, rtol=1e-12)
    np.testing.assert_allclose(known.sigma0, 3.0 * 0.7 * SHAPE, atol=1e-12)


@pytest.mark.parametrize("rows", [[], [3], [1, 4, 5, 2, 6]], ids=str)
def test_draw_theta_is_the_posterior(rows):
    """N((mu0 / s0 + sum x / s) / (1 / s0 + n / s), shape / (1 / s0 + n / s))."""
    precision = 1 / 2.2 + len(rows) / 0.7
    mean = (MU0 / 2.2 + X[rows].sum(axis=0) / 0.7) / precision
    sums = FAMILY.statistics(slice(0, N))[rows].sum(axis=0, keepdims=True)
    theta = FAMILY.draw_theta(np.repeat(sums, 10_000, axis=0), rng_for(240))
    white = np.linalg.solve(ROOT / np.sqrt(precision), (theta - mean).T)
    equal = np.eye(D)
    second = (white @ white.T / 10_000 - equal) / np.sqrt(1 + equal)
    z = np.concatenate([white.mean(axis=1), second[np.tril_indices(D)]])
    assert np.abs(z_of(z, np.full(len(z), 1 / np.sqrt(10_000)))).max() < Z_LIMIT


def test_the_protocol():
    whole = np.random.default_rng(2).integers(-4, 5, (30, D)).astype(float)
    plain = ShapedGaussian(np.diag([1.0, 4.0, 0.25]))  # halves and doubles: exact sums
    family = plain.prepare(whole)
    assert_keeps_the_protocol(family.at(family.start_shared()), THETA)


# ---- The shape of a table ----


def grouped(covariance, n=600, d=4, far=6.0, seed=0, k=5):
    """Rows of k groups with one covariance."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(k, d)) * far
    rows = centres[rng.integers(k, size=n)] + rng.multivariate_normal(np.zeros(d), covariance, n)
    return rows - rows.mean(axis=0)


def test_the_shape_is_the_shrunk_covariance_within_groups():
    """Two groups that k-means finds: 0.7 of the truth and 0.3 of equal variances."""
    covariance = np.diag([9.0, 1.0, 1.0, 0.25]) + 0.3
    rows = grouped(covariance, n=400, far=30.0, k=2)
    found = noise_shape(rows)
    turned = np.linalg.solve(np.linalg.cholesky(found), rows.T)
    assert (turned**2).mean() == pytest.approx(1.0)
    expected = 0.7 * covariance + 0.3 * np.trace(covariance) / 4 * np.eye(4)
    np.testing.assert_allclose(found / np.trace(found), expected / np.trace(expected), atol=0.05)


def test_rows_that_were_held_out_may_refuse_the_shape():
    """White noise has no shape; few rows of many columns only seem to have one."""
    rows = np.random.default_rng(3).normal(size=(40, 12))
    for table in (rows, rows[:20], rows[:, :1]):
        found = noise_shape(table - table.mean(axis=0))
        np.testing.assert_allclose(found, found[0, 0] * np.eye(len(found)))


def test_units_make_no_difference():
    """Columns of different kinds: the family is the same in metres and in inches."""
    rows = grouped(np.diag([9.0, 1.0, 1.0, 0.25]) + 0.3) * [1.0, 3.0, 0.5, 2.0]
    units = np.array([10.0, 0.01, 1.0, 254.0])
    one, other = (ShapedGaussian.scaled_to(table) for table in (rows, rows * units))
    expected = np.asarray(one.shape) * units * units[:, None]
    np.testing.assert_allclose(other.shape, expected, rtol=1e-6)
    assert other.least_variance == pytest.approx(one.least_variance, rel=1e-6)


def test_constant_and_equal_columns():
    rows = grouped(np.eye(4), n=60)
    table = np.column_stack([rows, rows[:, 0], np.full(60, 7.0)])
    likelihood = by_name("shaped_gaussian", table)
    family = likelihood.prepare(table)
    assert np.isfinite(family.at(family.start_shared()).log_new()).all()
    equal = by_name("shaped_gaussian", np.ones((10, 3)))
    assert np.isfinite(np.asarray(equal.shape)).all()


def test_long_groups_side_by_side(tmp_path):
    """Two long thin parallel groups: plain distances cut them into more pieces."""
    rng = np.random.default_rng(0)
    along = rng.normal(size=(200, 1)) * 3
    rows = np.hstack([along, along, along]) + rng.normal(size=(200, 3)) * 0.25
    group = np.arange(200) % 2
    rows[:, 0] += 5 * group
    settings = {"transition": "diffused", "n_levels": 1, "n_warmup": 40, "n_draws": 30}
    model = BHMC(likelihood="shaped_gaussian", n_chains=1, random_state=0, **settings).fit(rows)
    label, counts = np.unique(model.component_labels_, return_counts=True)
    pure = [np.bincount(group[model.component_labels_ == one]).max() for one in label]
    assert sum(pure) / 200 > 0.97
    plain = BHMC(likelihood="spherical_gaussian", n_chains=1, random_state=0, **settings).fit(rows)
    assert len(counts) < 0.8 * (plain.component_labels_.max() + 1)
    model.save(tmp_path / "model.bhmc")
    again = BHMC.load(tmp_path / "model.bhmc")
    np.testing.assert_array_equal(again.score_samples(rows), model.score_samples(rows))
    np.testing.assert_array_equal(again.predict(rows), model.predict(rows))


# ---- Joint tests ----

_TURNED = np.array([[1.0, 0.6], [0.6, 0.9]])


class Shaped(learned.Learned):
    """The statistics of `Learned`, with how x lies around theta."""

    def forward_key(self):
        return self._key()

    def statistics(self, state, X):
        positive = state.shared.copy()
        away = np.tanh(X - state.theta[state.components])
        both = (away[:, 0] * away[:, 1]).mean()
        more = [both, both * np.log(positive[-2]), away.var()]
        return np.append(learned.statistics(state._replace(shared=positive), X), more)


def setting(hyper=bhmc.Hyper(0.6, 1.2, 0.8), family=None, **how):  # noqa: B008
    likelihood = ShapedGaussian(_TURNED, 0.3, noise_shape=2.5, least_variance=0.1)
    likelihood = with_family(likelihood, family) if family else likelihood
    return Shaped(hyper, likelihood, n_features=2, **how)


def on_tree(family=None):
    likelihood = ShapedGaussian(_TURNED, 0.2, noise_shape=4.0, noise_scale=0.5)
    likelihood = with_family(likelihood, family) if family else likelihood
    hyper = bhmc.Hyper(Gamma(4, 5), 1.0, Gamma(4, 3))
    return DiffusedSetting(Diffused(hyper, 0.5, MOVES), likelihood, 6, 2, 2)


@pytest.mark.parametrize("stage", ["redraw_theta", "redraw_data"])
def test_hdp_leaves_exact_draws_exact(stage):
    z = paired_z(setting(n=5, n_levels=2), "gibbs", stage, 700, rng_for(241))
    assert np.abs(z).max() < Z_LIMIT


@pytest.mark.parametrize("stage", ["redraw_rows", "redraw_shared", "sweep"])
def test_diffused_leaves_exact_draws_exact(stage):
    z = paired_z(on_tree(), "gibbs", stage, 400, rng_for(242))
    assert np.abs(z).max() < Z_LIMIT


@pytest.mark.exact_long
def test_joint_law_long():
    """Geweke's test, on a tree."""
    one = on_tree()
    z = z_scores(
        from_prior(one, 20_000, rng_for(243)), from_sweeps(one, "gibbs", 20_000, rng_for(244))
    )
    print(f"shaped: largest |z| {np.abs(z).max():.1f}")
    assert np.abs(z).max() < Z_LIMIT


class _ThetaNotTurned(ShapedGaussianFamily):
    """Draws of theta are left in the coordinates y."""

    def _left(self, m):
        return self._middle + m


class _NoiseOfPlainDistances(ShapedGaussianFamily):
    """sigma2 from theta that was not turned."""

    def draw_shared_at(self, theta, sums, increments, rng):
        return super().draw_shared_at(self._middle + theta @ self._root.T, sums, increments, rng)


@pytest.mark.parametrize(
    ("family", "stage"), [(_ThetaNotTurned, "sweep"), (_NoiseOfPlainDistances, "redraw_shared")]
)
def test_wrong_family_is_rejected(family, stage, monkeypatch):
    monkeypatch.setattr(alarm, "checks_made", alarm.checks_made)
    z = paired_z(on_tree(family), "gibbs", stage, 400, rng_for(245), until=Z_LIMIT)
    print(f"{family.__name__}: largest |z| {np.abs(z).max():.1f}")
    assert np.abs(z).max() > Z_LIMIT
