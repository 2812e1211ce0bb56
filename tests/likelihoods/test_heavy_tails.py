"""Rows with weights: SciPy's Student density, quadrature, wrong families, chains that go on, files.

Joint tests of every stage are in `tests/exact/test_diffused.py` (long), under "tails".
"""

from dataclasses import replace

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.special import gammaln

from bhmc import BHMC
from bhmc.likelihoods import Product, ShapedGaussian, by_name
from bhmc.likelihoods._degrees import noise_degrees
from bhmc.likelihoods._tail_integral import log_integral
from bhmc.likelihoods.heavy_tails import HeavyTailedFamily
from bhmc.likelihoods.shaped_gaussian import ShapedGaussianFamily
from bhmc.model.diffused.row_numbers import row_numbers
from tests.exact import alarm
from tests.exact.alarm import P_LIMIT, Z_LIMIT, rng_for
from tests.exact.diffused import SETTINGS
from tests.exact.invariance import paired_z
from tests.mutants.diffused_parts import plain

D, NU, N = 3, 4.0, 40
SHAPE = np.array([[1.0, 0.3, -0.4], [0.3, 0.2, 0.0], [-0.4, 0.0, 2.0]])
LOCATION = np.array([1.0, -2.0, 0.5])
LIKELIHOOD = ShapedGaussian(SHAPE, LOCATION, degrees=NU)
SHARED = np.array([0.4, -0.3, 0.2, 0.7, 2.2])  # R^-1 (mu0 - location), sigma2, sigma0
X = LOCATION + np.random.default_rng(0).normal(size=(N, D)) * [2.0, 0.6, 9.0]
FAMILY = LIKELIHOOD.prepare(X).at(SHARED)
THETA = LOCATION + np.random.default_rng(1).normal(size=(3, D))
COMPONENT = np.arange(N) % 3
W = np.random.default_rng(2).gamma(2.0, 0.5, N)
ALL = slice(0, N)


def test_densities_are_those_of_student():
    student = [stats.multivariate_t(theta, 0.7 * SHAPE, NU) for theta in THETA]
    table = np.column_stack([one.logpdf(X) for one in student])
    np.testing.assert_allclose(FAMILY.log_table(THETA), table, rtol=1e-10)
    own = table[np.arange(N), COMPONENT].sum()
    for family in (FAMILY, FAMILY.given(W), FAMILY.seated(THETA, COMPONENT, rng_for(250))):
        found = family.log_likelihood(family.natural(THETA), np.empty(0), COMPONENT)
        np.testing.assert_allclose(found + family.log_base().sum(), own, rtol=1e-10)


# Each number beside each other one; `make exact` has all 27 together.
LATIN = [
    (nu, d, v)
    for i, nu in enumerate((0.7, 3.0, 30.0))
    for j, d in enumerate((1, 16, 300))
    for k, v in enumerate((0.02, 1.0, 60.0))
    if (i + j + k) % 3 == 0
]
OTHERS = [
    pytest.param(nu, d, v, marks=pytest.mark.exact_long)
    for nu in (0.7, 3.0, 30.0)
    for d in (1, 16, 300)
    for v in (0.02, 1.0, 60.0)
    if (nu, d, v) not in LATIN
]


@pytest.mark.parametrize(("nu", "d", "v"), LATIN + OTHERS)
def test_a_new_component_around_a_place(nu, d, v):
    """The sum over log w, and its table, against adaptive quadrature around the peak."""
    squares = np.array([0.0, 0.3 * d, d, 4.0 * d, 200.0 * d])
    half = nu / 2
    constant = half * np.log(half) - gammaln(half)

    def log_p(x, square):
        w = np.exp(x)
        wide = 1 / w + v
        log_f = -0.5 * (d * np.log(2 * np.pi * wide) + square / wide)
        return constant + half * (x - w) + log_f  # w ~ Gamma(nu / 2, rate nu / 2), by log w

    grid = np.linspace(-60, 8, 20_001)
    expected = []
    for square in squares:
        values = log_p(grid, square)
        peak, top = grid[values.argmax()], values.max()
        ends = grid[values > top - 45][[0, -1]] + [-0.01, 0.01]
        how = {"points": [peak], "limit": 400, "epsabs": 0, "epsrel": 1e-12}
        total = integrate.quad(lambda x, s=square, t=top: np.exp(log_p(x, s) - t), *ends, **how)[0]
        expected.append(top + np.log(total))
    np.testing.assert_allclose(log_integral(squares, v, d, nu), expected, rtol=0, atol=1e-8)
    many = np.concatenate([squares, np.linspace(0, 200.0 * d, 3_000)])
    np.testing.assert_allclose(log_integral(many, v, d, nu)[:5], expected, rtol=0, atol=1e-8)


def test_places_given_weights_and_without():
    """Given w: N(x; place, sigma2 (1 / w + v) shape); without: the mean of that over w."""
    place, v = np.array([[0.2, -1.5, 1.0], [0.4, -2.0, 3.0]]), np.array([[3.0], [0.5]])
    own = FAMILY.enter(place)

    def normals(w):
        wide = [[0.7 * (1 / one + v[j, 0]) * SHAPE for j in range(2)] for one in w]
        pairs = [[stats.multivariate_normal(place[j], wide[n][j]) for j in range(2)] for n in ALL_N]
        return np.array([[pairs[n][j].logpdf(X[n]) for j in range(2)] for n in ALL_N])

    ALL_N = range(N)
    less = [
        stats.multivariate_normal(LOCATION, 0.7 / w * SHAPE).logpdf(x)
        for w, x in zip(W, X, strict=True)
    ]
    given = FAMILY.given(W).log_new_at(ALL, own, v) + np.array(less)[:, None]
    np.testing.assert_allclose(given, normals(W), rtol=1e-9)
    squares = ((FAMILY.whitened(ALL)[0][:, None] - own) ** 2).sum(axis=2)
    for j in range(2):
        found = FAMILY.log_new_at(ALL, own, v)[:, j] + FAMILY.log_base()
        units = -0.5 * np.linalg.slogdet(0.7 * SHAPE)[1]
        expected = log_integral(squares[:, j], float(v[j, 0]), D, NU) + units
        np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_rows_count_as_often_as_they_weigh():
    """A weight of 3 is three rows: sums, evidence and the squares of the noise."""
    weights = np.random.default_rng(3).integers(1, 4, N)
    family = FAMILY.given(weights.astype(float))
    again = np.repeat(np.arange(N), weights)
    plain_family = replace(LIKELIHOOD, degrees=np.inf).prepare(X[again]).at(SHARED)
    sums, others = family.sums(COMPONENT, 3), plain_family.sums(COMPONENT[again], 3)
    np.testing.assert_allclose(sums, others, rtol=1e-12)
    np.testing.assert_allclose(family._squares, plain_family._squares, rtol=1e-12)
    np.testing.assert_allclose(family.whitened_sums(sums)[0][:, 0], np.bincount(COMPONENT, weights))


def test_weights_and_simulated_rows():
    """w given theta by its density; |u|^2 / D of simulated rows ~ F(D, nu)."""
    places = FAMILY.enter(THETA)
    rng = rng_for(251)
    many = np.array([FAMILY.draw_latent(places, COMPONENT, rng) for _ in range(300)])
    squares = ((FAMILY.whitened(ALL)[0] - places[COMPONENT]) ** 2).sum(axis=1)
    u = stats.gamma((NU + D) / 2, scale=2 / (NU + squares)).cdf(many)
    assert stats.kstest(u.ravel(), "uniform").pvalue > P_LIMIT
    theta = np.repeat(THETA[:1], 4_000, axis=0)
    rows = LIKELIHOOD.at(SHARED).sample_data(theta, rng)
    white = np.linalg.solve(np.linalg.cholesky(0.7 * SHAPE), (rows - theta).T)
    assert stats.kstest((white**2).mean(axis=0), stats.f(D, NU).cdf).pvalue > P_LIMIT


def test_weights_of_known_groups_are_the_best():
    """The EM algorithm ends where the likelihood of Student's density is largest."""
    family = FAMILY.for_groups(COMPONENT)
    count, total = family.whitened_sums(family.sums(COMPONENT, 3))
    best = FAMILY.leave(total / count)

    def log_f(theta):
        return FAMILY.log_likelihood(FAMILY.natural(theta), np.empty(0), COMPONENT)

    for step in np.random.default_rng(4).normal(size=(20, 3, D)) * 0.05:
        assert log_f(best) > log_f(best + step) - 1e-4


def test_infinite_degrees_are_the_family_without_weights():
    family = ShapedGaussian(SHAPE, LOCATION).prepare(X)
    assert type(family) is ShapedGaussianFamily
    assert not family.has_weights


# ---- Kernels ----


def test_sides_by_weights_are_those_by_coordinates():
    """`seen` of a column for each coordinate takes the slow way."""
    setting = SETTINGS["full leaves, tails"]
    engine, n_splits = plain(), 0
    for seed in range(12):
        state, rows = setting.prior_draw(rng_for(seed))
        ends = []
        for wide in (False, True):
            rng = rng_for(252)
            chain = setting.chain(state, rows, "gibbs", rng, engine=engine)
            if wide:
                chain.rows.family.whitened = _wide(chain.rows.family)
            before = chain.n_components
            chain.redraw_atoms()
            n_splits += chain.n_components != before
            ends.append((chain.state(), rng.random()))
        (one, draw), (other, its) = ends
        assert draw == its
        np.testing.assert_array_equal(one.components, other.components)
        np.testing.assert_allclose(one.theta, other.theta, rtol=1e-9)
    assert n_splits > 4


def _wide(family):
    def whitened(rows):
        value, weights = HeavyTailedFamily.whitened(family, rows)
        return value, np.repeat(weights, value.shape[1], axis=1)

    return whitened


@pytest.mark.parametrize("level", [0, 1, 2, 3])
def test_new_columns_are_what_the_family_says(level):
    """A column of a node, or of an atom, that begins while rows are redrawn."""
    setting = SETTINGS["tails"]
    state, rows = setting.prior_draw(rng_for(253))
    chain = setting.chain(state, rows, "gibbs", rng_for(254))
    family, forest, engine = chain.family, chain.forest, plain()
    v = np.append(np.cumsum(forest.variance[::-1], axis=0)[::-1][:, 0], 0.0)[level + 1]
    places = np.random.default_rng(5).normal(size=(2, len(forest.column)))
    old = family.log_new_at(slice(0, 6), places, np.full((2, 1), v))
    young, numbers = np.zeros((6, 1)), row_numbers(family, slice(0, 6))
    engine.find_line(forest, numbers, places, 1, 0, level)
    engine.fill_young(forest, numbers, old, 0, young, 0, 0, level)
    np.testing.assert_allclose(young[:, 0], old[:, 1], rtol=1e-10)


# ---- Joint tests and mutants ----


@pytest.mark.parametrize(
    ("where", "stage", "n_draws"),
    [
        ("tails", "sweep", 300),
        ("gaussian tails", "redraw_rows", 300),
        ("full leaves, tails", "redraw_atoms", 300),
        ("loose, tails", "redraw_latent", 500),
    ],
)
def test_exact_draws_stay_exact(where, stage, n_draws):
    z = paired_z(SETTINGS[where], "gibbs", stage, n_draws, rng_for(255))
    assert np.abs(z).max() < Z_LIMIT


class _CoordinatesForgotten(HeavyTailedFamily):
    """w ~ Gamma(nu / 2, ...): D is not there."""

    def draw_latent(self, places, component, rng):
        rate = 0.5 * (self._nu + self._squares_from(places, component))
        return rng.standard_gamma(0.5 * self._nu, self.n_rows) / rate


class _SumsNotWeighted(HeavyTailedFamily):
    """Evidence of atoms from plain sums."""

    def statistics(self, rows):
        return self._plain(rows)

    def fill(self, rows, statistics, natural, out):
        if self._is_given:
            statistics = statistics * self._weights[rows, None]
        super().fill(rows, statistics, natural, out)


class _SquaresNotWeighted(HeavyTailedFamily):
    """sigma2 from plain squares."""

    def given(self, weights):
        family = super().given(weights)
        family._squares = super().given(np.ones(self.n_rows))._squares
        return family


class _EveryProposalTaken(HeavyTailedFamily):
    """The weight of a row alone is a draw from its prior."""

    def redraw_alone(self, rows, weights, places, variance, rng):
        weights = rng.gamma(self._nu / 2, 2 / self._nu, len(rows))
        u = self._whitened_rows(rows)
        precision = (weights + 1 / variance)[:, None]
        mean = (weights[:, None] * u + places / variance) / precision
        return weights, mean + rng.standard_normal(mean.shape) / np.sqrt(precision)


@pytest.mark.parametrize(
    ("family", "stage", "where", "n_draws"),
    [
        (_CoordinatesForgotten, "sweep", "tails", 300),
        (_SumsNotWeighted, "redraw_tree", "tails", 300),
        (_SquaresNotWeighted, "redraw_shared", "tails", 300),
        (_EveryProposalTaken, "redraw_latent", "loose, tails", 1_200),
    ],
)
def test_a_wrong_family_is_rejected(family, stage, where, n_draws, monkeypatch):
    monkeypatch.setattr(alarm, "checks_made", alarm.checks_made)
    setting = SETTINGS[where].of_family(family)
    z = paired_z(setting, "gibbs", stage, n_draws, rng_for(256), until=Z_LIMIT)
    print(f"{family.__name__}: largest |z| {np.abs(z).max():.1f}")
    assert np.abs(z).max() > Z_LIMIT


# ---- Chains and files ----


def rows_with_tails(n: int, d: int = 6, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    noise = rng.normal(size=(n, d)) / np.sqrt(rng.gamma(1.5, 1 / 1.5, n))[:, None]
    return rng.normal(size=(3, d))[np.arange(n) % 3] * 8 + noise


def test_a_fit_with_tails(tmp_path):
    """Rows far out need no components of their own; scores, files and checkpoints."""
    rows = rows_with_tails(150)
    how = {"n_levels": 1, "n_warmup": 40, "n_draws": 20, "n_chains": 1, "random_state": 0}
    plain_fit = BHMC(likelihood="shaped_gaussian", transition="diffused", **how).fit(rows)
    path = tmp_path / "chain"
    fit = BHMC(likelihood="tailed_gaussian", transition="diffused", checkpoint=path, **how)
    fit.fit(rows)
    assert fit.likelihood_.degrees < 10
    assert fit.draws_.n_components.mean() < 0.8 * plain_fit.draws_.n_components.mean()
    fresh = rows_with_tails(300)[150:]
    assert fit.score_samples(fresh).mean() > plain_fit.score_samples(fresh).mean()
    far = np.argmax(np.abs(rows - np.median(rows, axis=0)).max(axis=1))
    assert fit.outlier_scores_[far] > np.quantile(fit.outlier_scores_, 0.8)
    assert fit.dendrogram_.n_components == fit.tree_.n_components
    fit.save(tmp_path / "model.bhmc")
    again = BHMC.load(tmp_path / "model.bhmc")
    assert again.likelihood_.degrees == fit.likelihood_.degrees
    np.testing.assert_array_equal(again.score_samples(fresh), fit.score_samples(fresh))
    resumed = BHMC(likelihood="tailed_gaussian", transition="diffused", checkpoint=path, **how)
    np.testing.assert_array_equal(resumed.fit(rows).draws_.log_joint, fit.draws_.log_joint)


def test_where_weights_have_no_place():
    rows = rows_with_tails(30)
    for likelihood in (ShapedGaussian(degrees=5.0), "tailed_gaussian"):
        with pytest.raises(ValueError, match=r"'hdp' has no weights of rows, .*degrees=inf"):
            BHMC(likelihood=likelihood, transition="hdp").fit(rows)
    with pytest.raises(ValueError, match="Product takes no family with weights of rows"):
        Product([(ShapedGaussian(degrees=5.0), [0, 1]), ("bernoulli", 2)])
    for degrees in (0.0, -1.0, np.nan):
        with pytest.raises(ValueError, match="degrees must be finite and above 0"):
            ShapedGaussian(degrees=degrees).prepare(rows)
    with pytest.raises(ValueError, match="degrees='auto' is taken from data"):
        ShapedGaussian(degrees="auto").prepare(rows)


@pytest.mark.parametrize(("true", "least", "most"), [(3.0, 3.0, 5.0), (np.inf, 30.0, np.inf)])
def test_degrees_by_rows_held_out(true, least, most):
    rng = np.random.default_rng(6)
    noise = rng.normal(size=(1_200, 4))
    if true < np.inf:
        noise /= np.sqrt(rng.gamma(true / 2, 2 / true, 1_200))[:, None]
    rows = rng.normal(size=(6, 4))[rng.integers(6, size=1_200)] * 6 + noise
    found = by_name("tailed_gaussian", rows).degrees
    assert least <= found <= most
    assert noise_degrees(np.zeros((20, 2)), np.eye(2)) == np.inf
