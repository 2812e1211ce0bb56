"""The Multinomial family against SciPy, sums over all x, dense against sparse, the joint tests."""

import itertools

import numpy as np
import pytest
from benchmarks.chains import chain_of, start_state
from scipy import sparse, stats
from scipy.special import gammaln

from bhmc.likelihoods import multinomial as module
from bhmc.likelihoods.multinomial import Multinomial, MultinomialFamily
from tests.exact.alarm import Z_LIMIT, rng_for
from tests.exact.invariance import with_family
from tests.likelihoods.joint import (
    Setting,
    assert_dirichlet,
    assert_keeps_the_protocol,
    assert_same_numbers,
    draws_of,
    geweke_z,
    invariance_z,
    mean_z,
    moment_z,
)

A = np.array([0.6, 2.5, 1.2, 0.9])
LIKELIHOOD = Multinomial(A)
X = np.random.default_rng(0).poisson([3.0, 0.3, 1.0, 0.7], (7, 4)).astype(float)
X[3], X[5] = 0, [0, 0, 9, 0]  # no counts at all; all in one column
THETA = np.log(np.random.default_rng(1).dirichlet(np.ones(4), 4))
AS = {"dense": np.asarray, "array": sparse.csr_array, "matrix": sparse.csr_matrix}
FORMS = pytest.mark.parametrize("form", [*AS.values(), sparse.coo_array], ids=[*AS, "coo"])


@FORMS
def test_log_table(form):
    expected = np.column_stack(
        [stats.multinomial.logpmf(X, X.sum(axis=1), np.exp(theta)) for theta in THETA]
    )
    table = LIKELIHOOD.prepare(form(X)).log_table(THETA)
    np.testing.assert_allclose(table, expected, rtol=1e-10, atol=1e-12)


@FORMS
def test_log_marginal(form):
    expected = [stats.dirichlet_multinomial.logpmf(x.astype(int), A, int(x.sum())) for x in X]
    log_marginal = LIKELIHOOD.prepare(form(X)).log_marginal()
    np.testing.assert_allclose(log_marginal, expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("total", [0, 1, 4])
def test_densities_sum_to_one(total):
    """Over all rows of one total."""
    rows = [x for x in itertools.product(range(total + 1), repeat=4) if sum(x) == total]
    family = LIKELIHOOD.prepare(np.array(rows, dtype=float))
    assert np.exp(family.log_marginal()).sum() == pytest.approx(1, rel=1e-12)
    np.testing.assert_allclose(np.exp(family.log_table(THETA)).sum(axis=0), 1, rtol=1e-12)


def test_a_row_without_counts_says_nothing():
    family = LIKELIHOOD.prepare(sparse.csr_array(X))
    np.testing.assert_array_equal(family.log_table(THETA)[3], 0)
    assert family.log_marginal()[3] == 0


def test_log_prior():
    """SciPy's Dirichlet: a density of all probabilities but the last."""
    p = np.exp(THETA)
    expected = stats.dirichlet.logpdf((p / p.sum(axis=1, keepdims=True)).T, A)
    np.testing.assert_allclose(LIKELIHOOD.prepare(X).log_prior(THETA), expected, rtol=1e-10)


def test_log_marginal_is_the_mean_over_the_prior():
    family = LIKELIHOOD.prepare(X)
    theta = LIKELIHOOD.sample_theta(20_000, 4, rng_for(601))
    # Row 3 has f = 1, whatever theta.
    assert mean_z(np.exp(family.log_table(theta)).T, np.exp(family.log_marginal())) < Z_LIMIT


@pytest.mark.parametrize("form", AS.values(), ids=AS)
def test_bayes_rule(form):
    """h(theta) f(x; theta) / f*(x) is Dir(concentration + x)."""
    family = LIKELIHOOD.prepare(form(X))
    log_posterior = (
        family.log_prior(THETA)[None] + family.log_table(THETA) - family.log_marginal()[:, None]
    )
    p = np.exp(THETA)
    for n, x in enumerate(X):
        expected = stats.dirichlet.logpdf((p / p.sum(axis=1, keepdims=True)).T, A + x)
        np.testing.assert_allclose(log_posterior[n], expected, rtol=1e-9)


@pytest.mark.parametrize(
    ("rows", "seed"), [([], 602), ([2], 603), ([0, 1, 3, 4], 604)], ids=["prior", "one", "four"]
)
def test_draw_theta_is_the_posterior(rows, seed):
    family = LIKELIHOOD.prepare(sparse.csr_array(X))
    sums = family.statistics(slice(0, 7)).toarray()[rows].sum(axis=0)
    assert_dirichlet(draws_of(family, sums, 20_000, seed), A + X[rows].sum(axis=0))


def test_sample_theta_and_sample_data():
    rng = rng_for(605)
    assert_dirichlet(LIKELIHOOD.sample_theta(20_000, 4, rng), A)
    likelihood = Multinomial(A, n_trials=5)
    x = likelihood.sample_data(np.tile(THETA[0], (20_000, 1)), rng)
    np.testing.assert_array_equal(x.sum(axis=1), 5)
    p, variance = np.exp(THETA[0]), np.exp(THETA[0]) * (1 - np.exp(THETA[0]))
    assert moment_z(x, (5 * p, 5 * variance, 5 * variance * (1 - 6 * variance))) < Z_LIMIT


def test_n_trials():
    x = Multinomial(A, n_trials=[3, 0, 7, 1]).sample_data(THETA, rng_for(0))
    np.testing.assert_array_equal(x.sum(axis=1), [3, 0, 7, 1])
    assert Multinomial(A, n_trials=[3, 0]).sample_data(THETA[:0], rng_for(0)).shape == (0, 4)
    with pytest.raises(ValueError, match=r"^n_trials must be a number or hold one for each of the"):
        Multinomial(A, n_trials=[3, 0]).sample_data(THETA, rng_for(0))
    for wrong in (-1, 2.5, [1, -1, 1, 1], True):
        with pytest.raises(ValueError, match=r"^n_trials must be made of whole numbers"):
            Multinomial(A, n_trials=wrong).sample_data(THETA, rng_for(0))


# ---- Dense and sparse ----


@pytest.mark.parametrize("form", AS.values(), ids=AS)
def test_protocol(form):
    assert_keeps_the_protocol(LIKELIHOOD.prepare(form(X)), THETA)


@FORMS
def test_dense_and_sparse_give_the_same_numbers(form):
    family = LIKELIHOOD.prepare(form(X))
    assert sparse.issparse(family.statistics(slice(0, 2))) == (form is not np.asarray)
    assert_same_numbers(LIKELIHOOD.prepare(X), family, THETA, exact=False)


@pytest.mark.parametrize("form", AS.values(), ids=AS)
def test_large_data_are_not_copied(form, monkeypatch):
    small = LIKELIHOOD.prepare(form(X))
    monkeypatch.setattr(module, "LARGEST_COPY", 0)
    large = LIKELIHOOD.prepare(form(X))
    assert large._kept is None
    assert_keeps_the_protocol(large, THETA)
    assert_same_numbers(small, large, THETA)


def test_entries_stored_twice_or_as_zero():
    """They count as their sum, and the caller's matrix stays as it is."""
    parts = ([1.0, 2.0, 0.0, 4.0], ([0, 0, 1, 1], [2, 2, 0, 1]))
    twice = sparse.coo_array(parts, shape=(2, 4))
    unsorted = sparse.csr_array(([1.0, 2.0, 0.0, 4.0], [2, 2, 1, 0], [0, 2, 4]), shape=(2, 4))
    for data in (twice, unsorted):
        before = data.data.copy()
        family, plain = LIKELIHOOD.prepare(data), LIKELIHOOD.prepare(data.toarray())
        assert_same_numbers(plain, family, THETA, exact=False)
        np.testing.assert_array_equal(data.data, before)


@pytest.mark.parametrize("kept", [True, False], ids=["kept", "not kept"])
def test_rows_are_never_made_dense(kept, monkeypatch):
    """Neither for tables nor for sums: what would make them dense is taken away."""
    monkeypatch.setattr(module, "LARGEST_COPY", module.LARGEST_COPY if kept else 0)
    monkeypatch.setattr(sparse.csr_array, "toarray", None)
    monkeypatch.setattr(sparse.csr_array, "todense", None)
    monkeypatch.setattr(sparse.coo_array, "toarray", None)
    d = 200_000
    indices = np.arange(30) * (d // 30)
    data = sparse.csr_array((np.ones(30), indices, np.arange(0, 31, 3)), shape=(10, d))
    family = Multinomial(0.5).prepare(data)
    theta = Multinomial(0.5).sample_theta(2, d, rng_for(0))
    np.testing.assert_allclose(
        family.log_table(theta)[0], np.log(6) + theta[:, indices[:3]].sum(axis=1)
    )
    sums = family.sums(np.arange(10) % 2, 2)
    assert sums[:, -1].tolist() == [5, 5]
    assert np.isfinite(family.log_marginal()).all()


@pytest.mark.parametrize("sampler", ["gibbs", "mh"])
def test_a_chain_on_sparse_data_is_the_one_on_dense_data(sampler):
    """The same seed gives the same draws: sums are whole numbers, so they agree to the last bit."""
    data = np.random.default_rng(3).poisson(1.0, (40, 6)).astype(float)
    ends = []
    for form in (np.asarray, sparse.csr_array):
        rng = rng_for(7)
        family = Multinomial(0.5).prepare(form(data))
        hyper = Setting(LIKELIHOOD, np.exp).hyper
        state = start_state(family, n_levels=2, hyper=hyper, rng=rng)
        chain = chain_of(state, family, sampler, rng)
        for _ in range(20):
            chain.sweep()
        ends.append((chain.state(), chain.log_likelihood()))
    (dense, log_dense), (thin, log_thin) = ends
    np.testing.assert_array_equal(thin.paths, dense.paths)
    np.testing.assert_array_equal(thin.components, dense.components)
    np.testing.assert_array_equal(thin.theta, dense.theta)
    assert log_thin == pytest.approx(log_dense, rel=1e-12)


# ---- Refusals and extremes ----


@FORMS
@pytest.mark.parametrize("value", [0.5, -1, np.inf, 2e12])
def test_other_values_are_refused(form, value):
    data = np.eye(9)
    data[7, 3] = value
    with pytest.raises(
        ValueError,
        match=rf"^X has {value:.15g} in column 3, row 7; the Multinomial family needs whole number",
    ):
        Multinomial().prepare(form(data))


@FORMS
def test_missing_values_are_refused(form):
    data = np.eye(9)
    data[7, 3] = np.nan
    with pytest.raises(ValueError, match=r"^X has NaN \(a missing value\) in column 3, row 7; the"):
        Multinomial().prepare(form(data))


def test_settings_are_refused():
    with pytest.raises(ValueError, match=r"^concentration must be between .*, got 0\.$"):
        Multinomial(0.0).prepare(X)
    with pytest.raises(ValueError, match=r"^concentration must be a number or hold one for each"):
        Multinomial([1.0, 2.0]).sample_theta(1, 3, rng_for(0))


@pytest.mark.parametrize("concentration", [1e-3, 1e-8, 1e12])
def test_extreme_settings_give_finite_numbers(concentration):
    likelihood, data = Multinomial(concentration, n_trials=9), X.copy()
    data[6], data[5, 0] = 1e6, 1e12
    family = likelihood.prepare(data)
    sums = family.sums(np.arange(7) % 3, 5)
    for theta in (family.draw_theta(sums, rng_for(1)), likelihood.sample_theta(50, 4, rng_for(2))):
        for numbers in (theta, family.natural(theta), family.log_table(theta)):
            assert np.isfinite(numbers).all()
        assert np.isfinite(family.log_prior(theta)).all()
        assert (likelihood.sample_data(theta, rng_for(3)).sum(axis=1) == 9).all()
    assert np.isfinite(family.log_marginal()).all()


def test_rows_leave_sums_by_subtraction_only_where_that_is_exact():
    assert LIKELIHOOD.prepare(X).subtracts_well
    assert not Multinomial().prepare(np.full((5_000, 2), 1e12)).subtracts_well


def test_float32_is_refused_for_long_rows():
    LIKELIHOOD.prepare(X).check_precision("float32")
    family = Multinomial().prepare(np.array([[3.0, 1e5]]))
    family.check_precision("float64")
    with pytest.raises(ValueError, match=r"may reach 1.1e\+05: use 'float64'"):
        family.check_precision("float32")


# ---- Joint tests ----

JOINT = Multinomial([0.8, 1.5, 0.6], n_trials=[3, 1, 0, 5, 2, 4])
SHARP = Multinomial(0.2, n_trials=6)


# A wrong family shows in 600 draws: see below.
@pytest.mark.parametrize(
    ("n_components", "is_sparse", "n_draws"),
    [
        (None, True, 900),
        pytest.param(None, True, 3_000, marks=pytest.mark.exact_long),
        pytest.param(3, False, 3_000, marks=pytest.mark.exact_long),
    ],
    ids=["short", "infinite and sparse", "finite and dense"],
)
def test_joint_law(n_components, is_sparse, n_draws):
    setting = Setting(JOINT, np.exp, 3, n_components, is_sparse=is_sparse)
    assert geweke_z(setting, n_draws, 610) < Z_LIMIT


class _OneTooMany(MultinomialFamily):
    def draw_theta(self, sums, rng):
        return super().draw_theta(sums + np.eye(self.n_statistics)[0], rng)


def test_the_joint_law_rejects_a_count_too_many():
    setting = Setting(with_family(JOINT, _OneTooMany), np.exp, n_features=3, is_sparse=True)
    assert geweke_z(setting, 600, 611) > Z_LIMIT


class _MarginalAtThePriorMean(MultinomialFamily):
    """Each count on its own: f* forgets that they share p."""

    def log_new(self):
        mean = np.log(self._prior / self._prior.sum())[None, :]
        return self.log_table(mean)[:, 0] - self.log_base()


class _SumsCountColumns(MultinomialFamily):
    """How many rows have a count in the column, not how many counts."""

    def statistics(self, rows):
        t = super().statistics(rows).copy()
        t.data[:] = 1.0
        return t


@pytest.mark.parametrize(
    ("family", "likelihood", "stage", "n_draws"),
    [
        (_MarginalAtThePriorMean, SHARP, "redraw_data", 1_200),
        (_SumsCountColumns, JOINT, "redraw_theta", 500),
    ],
)
def test_wrong_families_are_rejected(family, likelihood, stage, n_draws):
    setting = Setting(with_family(likelihood, family), np.exp, 3, is_sparse=True)
    assert invariance_z(setting, stage, n_draws, 620) > Z_LIMIT


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_rows_seen_from_others(form):
    """p(x | others) = p(x, others) / p(others), Dirichlet-multinomial in all their words."""
    rng = np.random.default_rng(0)
    X, prior = rng.poisson(1.0, size=(7, 5)).astype(float), np.array([0.3, 1.0, 2.0, 0.5, 1.5])
    family = Multinomial(prior).prepare(form(X))
    component = np.array([0, 1, 0, 0, 1, 1, 0])
    sums = family.sums(component, 2)

    def log_words(counts):
        whole = gammaln(prior.sum()) - gammaln((prior + counts).sum())
        return whole + (gammaln(prior + counts) - gammaln(prior)).sum()

    everything = slice(0, 7)
    for without in (True, False):
        found = family.log_predictive(everything, component, sums, without)
        for n in range(7):
            others = component == component[n]
            others[n] &= not without
            given = X[others].sum(axis=0)
            np.testing.assert_allclose(found[n], log_words(given + X[n]) - log_words(given))
