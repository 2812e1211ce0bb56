"""Correlated columns with missing entries: SciPy's densities, regressions, wrong families, fits."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from bhmc import BHMC
from bhmc.likelihoods import Product, ShapedGaussian, SharedGaussian
from bhmc.likelihoods.gaussian_gaps import TiedGaussianWithGaps
from bhmc.likelihoods.tied_gaussian import TiedGaussianFamily
from tests.exact import alarm, discrete_trees
from tests.exact.alarm import Z_LIMIT, rng_for
from tests.exact.diffused import SETTINGS
from tests.exact.invariance import paired_z

N, D, K = 40, 3, 4
MIDDLE, UNITS = np.array([0.0, 99.0, 5.0]), np.array([1.0, 9.0, 0.1])
LIKELIHOODS = {
    "tied": SharedGaussian("full", location=MIDDLE, scale=UNITS),
    "shaped": ShapedGaussian(
        np.array([[1.0, 3.0, 0.0], [3.0, 100.0, 0.2], [0.0, 0.2, 0.01]]), MIDDLE
    ),
}
every_likelihood = pytest.mark.parametrize("name", LIKELIHOODS)


def table(seed=0) -> np.ndarray:
    """Rows with gaps; rows 3 and 7 have no entry, rows 0 and 5 lack none."""
    rng = np.random.default_rng(seed)
    X = MIDDLE + UNITS * (rng.normal(size=(N, D)) @ [[1, 0.5, 0], [0, 1, 0.3], [0, 0, 1]])
    whole = X.copy()
    X[rng.random(X.shape) < 0.25] = np.nan
    X[[3, 7]], X[[0, 5]] = np.nan, whole[[0, 5]]
    return X


X = table()
SEEN = ~np.isnan(X)
THETA = MIDDLE + UNITS * np.random.default_rng(2).normal(size=(K, D))
COMPONENT = np.random.default_rng(3).integers(K, size=N)
PARTIAL = np.flatnonzero(SEEN.any(axis=1) & ~SEEN.all(axis=1))


def bound(name):
    """(family, mu0, V, covariance of theta)."""
    likelihood = LIKELIHOODS[name]
    shared = likelihood.sample_shared(D, np.random.default_rng(1))
    mu0, V, spread = likelihood.split(shared)
    return likelihood.prepare(X).at(shared), mu0, V, np.diag(spread) if spread.ndim == 1 else spread


def log_of_seen(means: np.ndarray, covariances: np.ndarray) -> np.ndarray:
    """(n, K): SciPy's log density of the entries that rows have; 0 where there is none."""
    found = np.zeros((N, len(means)))
    for n, seen in enumerate(SEEN):
        for k, (mean, V) in enumerate(zip(means, covariances, strict=True)):
            if seen.any():
                law = multivariate_normal(mean[seen], V[np.ix_(seen, seen)])
                found[n, k] = law.logpdf(X[n, seen])
    return found


# ---- Densities have gaps integrated out ----


@every_likelihood
def test_densities_are_those_of_the_entries_that_rows_have(name):
    family, mu0, V, spread = bound(name)
    np.testing.assert_allclose(family.log_table(THETA), log_of_seen(THETA, [V] * K), atol=1e-10)
    new = log_of_seen([mu0], [V + spread])[:, 0]
    np.testing.assert_allclose(family.log_marginal(), new, atol=1e-10)
    v = np.array([0.5, 1.0, 2.0, 0.0])
    at = family.log_new_at(slice(0, N), family.enter(THETA), v[:, None])
    wide = log_of_seen(THETA, [(1 + one) * V for one in v])
    np.testing.assert_allclose(at + family.log_base()[:, None], wide, atol=1e-10)


@every_likelihood
def test_the_log_likelihood_has_none_whatever_gaps_are_filled_with(name):
    family, _, V, _ = bound(name)
    natural, rng = family.natural(THETA), np.random.default_rng(4)
    filled = family.given(rng.normal(size=len(family.latent)) * 5)
    expected = log_of_seen(THETA, [V] * K)[np.arange(N), COMPONENT].sum()
    for one in (family, filled, family.seated(THETA, COMPONENT, rng)):
        found = one.log_likelihood(natural, one.sums(COMPONENT, K), COMPONENT)
        assert found + one.log_base().sum() == pytest.approx(expected, abs=1e-8)
    np.testing.assert_allclose(family.seated(THETA, COMPONENT, rng).log_table(THETA)[3], 0.0)


# ---- Gaps are drawn ----


@every_likelihood
def test_gaps_follow_their_regression_on_the_other_entries(name):
    family, _, V, _ = bound(name)
    places, rng, n = family.enter(THETA), np.random.default_rng(5), 2_000
    draws = np.array([family.draw_latent(places, COMPONENT, rng) for _ in range(n)])
    first = 0
    for row in PARTIAL:
        seen, gap, m = SEEN[row], ~SEEN[row], THETA[COMPONENT[row]]
        slope = V[np.ix_(gap, seen)] @ np.linalg.inv(V[np.ix_(seen, seen)])
        mean = m[gap] + slope @ (X[row, seen] - m[seen])
        left = V[np.ix_(gap, gap)] - slope @ V[np.ix_(seen, gap)]
        root = np.linalg.inv(np.linalg.cholesky(left))
        z = (draws[:, first : first + gap.sum()] - mean) @ root.T
        assert np.abs(z.mean(axis=0)).max() < 4.5 / np.sqrt(n)
        assert np.abs(z.T @ z / n - np.eye(gap.sum())).max() < 4.5 * np.sqrt(2 / n)
        first += gap.sum()
    assert first == draws.shape[1]


@every_likelihood
def test_given_gaps_the_rows_are_whole(name):
    """All that a chain reads is that of the family without gaps, less the rows without entries."""
    family, *_ = bound(name)
    numbers = family.latent + 0.3
    filled = X.copy()
    filled[PARTIAL[:, None], np.arange(D)] = np.where(
        SEEN[PARTIAL], X[PARTIAL], family._gaps.filled(numbers)
    )
    kept = SEEN.any(axis=1)
    shared = LIKELIHOODS[name].sample_shared(D, np.random.default_rng(1))
    whole, given = LIKELIHOODS[name].prepare(filled[kept]).at(shared), family.given(numbers)
    everything, places, v = slice(0, N), family.enter(THETA), np.ones((K, 1))
    sums = given.sums(COMPONENT, K)
    np.testing.assert_allclose(sums, whole.sums(COMPONENT[kept], K), rtol=1e-9)
    u, seen = given.whitened(everything)
    np.testing.assert_allclose(u[kept], whole.whitened(slice(0, kept.sum()))[0], rtol=1e-9)
    np.testing.assert_array_equal(seen, np.repeat(kept[:, None].astype(float), D, axis=1))
    np.testing.assert_array_equal(u[~kept], 0.0)
    of_kept = whole.log_new_at(slice(0, int(kept.sum())), places, v)
    tables = [
        (given.log_new_at(everything, places, v), of_kept),
        (_filled_table(given, THETA), _filled_table(whole, THETA)),
    ]
    for ours, theirs in tables:
        np.testing.assert_allclose(ours[kept], theirs, rtol=1e-9, atol=1e-9)
        np.testing.assert_array_equal(ours[~kept], 0.0)
    drawn = [
        one.draw_shared_at(THETA, sums, np.ones((5, D)), np.random.default_rng(6))
        for one in (given, whole)
    ]
    np.testing.assert_allclose(drawn[0], drawn[1], rtol=1e-9)


def _filled_table(family, theta):
    out, rows = np.empty((family.n_rows, len(theta))), slice(0, family.n_rows)
    family.fill(rows, family.statistics(rows), family.natural(theta), out)
    return out


@every_likelihood
def test_groups_have_their_best_theta(name):
    """EM: filled rows whose means are those that they were filled from."""
    family, _, V, _ = bound(name)
    best = family.for_groups(COMPONENT)
    count, total = best.whitened_sums(best.sums(COMPONENT, K))
    theta = family.leave(total / count)

    def log_f(theta):
        return log_of_seen(theta, [V] * K)[np.arange(N), COMPONENT].sum()

    for direction in np.random.default_rng(7).normal(size=(20, K, D)):
        assert log_f(theta) > log_f(theta + 0.1 * UNITS * direction)


def test_points_of_rows_show_which_have_nothing():
    points = bound("tied")[0].points(slice(0, N))
    np.testing.assert_array_equal(np.isnan(points).any(axis=1), ~SEEN.any(axis=1))


def test_large_tables_keep_no_copy(monkeypatch):
    monkeypatch.setattr("bhmc.likelihoods._learned_means.LARGEST_COPY", 0)
    small = bound("tied")[0]
    monkeypatch.undo()
    kept = bound("tied")[0]
    assert small._kept is None
    np.testing.assert_array_equal(small.statistics(slice(2, 30)), kept.statistics(slice(2, 30)))
    np.testing.assert_array_equal(small._products, kept._products)


# ---- What is refused ----


def test_what_is_said_where_gaps_have_no_place():
    with pytest.raises(ValueError, match=r"'hdp' skips missing entries .*='shared_gaussian'"):
        BHMC(likelihood="tied_gaussian", transition="hdp", n_warmup=1, n_draws=1).fit(X)
    with pytest.raises(ValueError, match="with finite degrees takes no missing entries"):
        ShapedGaussian(degrees=4.0).prepare(X)
    with pytest.raises(ValueError, match=r"X has 1 of them: use 'shared_gaussian'"):
        ShapedGaussian.scaled_to(X[[0, *PARTIAL]])
    product = Product([("tied_gaussian", [0, 1]), ("bernoulli", 2)])
    assert product.allows_missing
    assert product.draws_missing
    assert ShapedGaussian.scaled_to(X).with_tails(X) is None


# ---- Joint tests and mutants ----


@pytest.mark.parametrize(
    ("where", "stage"),
    [
        ("tied holes", "sweep"),
        ("shaped holes", "sweep"),
        ("gaussian tied holes", "redraw_rows"),
        ("tied holes", "redraw_shared"),
        ("full leaves, tied holes", "redraw_atoms"),
    ],
)
def test_exact_draws_stay_exact(where, stage):
    z = paired_z(SETTINGS[where], "gibbs", stage, 300, rng_for(257))
    assert np.abs(z).max() < Z_LIMIT


def test_exact_draws_of_mixed_columns_stay_exact():
    setting = discrete_trees.SETTINGS["mixed tied, holes"]
    z = paired_z(setting, "gibbs", "sweep", 300, rng_for(258))
    assert np.abs(z).max() < Z_LIMIT


class _Likely(TiedGaussianWithGaps):
    """Gaps are filled with their means."""

    def draw_latent(self, places, component, rng):
        means = self.leave(places)[component[self._gaps.rows]]
        return self._gaps.expected(means, self._precision())


class _Alone(TiedGaussianWithGaps):
    """Gaps do not look at the other entries."""

    def draw_latent(self, places, component, rng):
        places = places[component[self._gaps.rows]]
        rows = self.leave(places + rng.standard_normal(places.shape))
        return rows[self._gaps.missing]


class _Empty(TiedGaussianWithGaps):
    """A row without any entry counts as one in the middle."""

    def statistics(self, rows):
        t = np.array(super().statistics(rows))
        t[:, -1] = 1.0
        return t


class _Counted(TiedGaussianWithGaps):
    """A row without any entry counts where the noise is drawn."""

    def _use_products(self, of_whole, own, n_rows):
        super()._use_products(of_whole, own, n_rows + self._gaps.is_empty.sum())


@pytest.mark.parametrize(
    ("family", "where", "stage", "n_draws"),
    [
        (_Likely, "tied holes", "redraw_shared", 1_400),
        (_Alone, "tied holes", "redraw_shared", 600),
        (_Empty, "tied holes", "redraw_tree", 600),
        (_Counted, "tied holes", "redraw_shared", 1_000),
    ],
)
def test_a_wrong_family_is_rejected(family, where, stage, n_draws, monkeypatch):
    monkeypatch.setattr(alarm, "checks_made", alarm.checks_made)
    z = paired_z(
        SETTINGS[where].of_family(family), "gibbs", stage, n_draws, rng_for(259), until=Z_LIMIT
    )
    print(f"{family.__name__}: largest |z| {np.abs(z).max():.1f}")
    assert np.abs(z).max() > Z_LIMIT


# ---- Fits ----


def groups_with_gaps(n=150, seed=0):
    """Three tilted groups in three columns, a tenth of the entries missing; two rows have none."""
    rng = np.random.default_rng(seed)
    label = np.arange(n) % 3
    noise = rng.normal(size=(n, 3)) @ np.array([[1.0, 1.0, 0.5], [-0.2, 0.2, 0], [0, 0, 0.3]])
    X = noise + np.array([[0, 0, 0], [0, 2.5, 0], [4, -1, 1]])[label]
    X[rng.random(X.shape) < 0.1] = np.nan
    X[[10, 20]] = np.nan
    return X, label


def test_a_fit_with_gaps_finds_the_groups_and_goes_on(tmp_path):
    from sklearn.metrics import adjusted_mutual_info_score

    X, label = groups_with_gaps()
    seen = ~np.isnan(X).all(axis=1)
    model = BHMC(
        likelihood="tied_gaussian",
        transition="diffused",
        n_warmup=60,
        n_draws=20,
        n_chains=1,
        n_levels=1,
        random_state=0,
    ).fit(X)
    assert type(model.likelihood_).__name__ == "SharedGaussian"
    found = model.tree_.components
    assert adjusted_mutual_info_score(label[seen], found[seen]) > 0.75
    with pytest.warns(UserWarning, match="rows of X have no entry"):
        scores = model.score_samples(X)
    np.testing.assert_array_equal(np.isnan(scores), ~seen)
    np.testing.assert_array_equal(np.isnan(model.outlier_scores_), ~seen)
    family = model.likelihood_.prepare(X)
    assert isinstance(family, TiedGaussianFamily)
    model.save(tmp_path / "model")
    again = type(model).load(tmp_path / "model")
    np.testing.assert_array_equal(again.score_samples(X[seen]), scores[seen])
