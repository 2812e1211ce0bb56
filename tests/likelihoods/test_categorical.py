"""The Categorical family against SciPy, sums over all x, `Bernoulli`, and the joint tests."""

import itertools

import numpy as np
import pytest
from scipy import stats

from bhmc.likelihoods.bernoulli import Bernoulli
from bhmc.likelihoods.categorical import Categorical, CategoricalFamily
from tests.exact.alarm import Z_LIMIT, rng_for
from tests.exact.invariance import with_family
from tests.likelihoods.column_cases import (
    CATEGORICAL,
    WIDTHS,
    C,
    both,
    last_probabilities,
    some_theta,
)
from tests.likelihoods.joint import (
    Setting,
    assert_dirichlet,
    assert_same_numbers,
    draws_of,
    invariance_z,
    mean_z,
)

LIKELIHOOD, X, HOLED = CATEGORICAL.likelihood, CATEGORICAL.X, CATEGORICAL.holed
THETA, SPLIT = CATEGORICAL.theta, np.cumsum(WIDTHS)[:-1]
DATA = both(CATEGORICAL)


def shapes(data, rows):
    """A list of the shapes of each column's Dirichlet given some rows."""
    return [
        c + np.array([(data[rows, d] == code).sum() for code in range(k)])
        for d, (c, k) in enumerate(zip(C, WIDTHS, strict=True))
    ]


@DATA
def test_log_table(data):
    """Entry by entry, looked up."""
    blocks = np.split(THETA, SPLIT, axis=1)
    expected = [
        [
            sum(blocks[d][k, int(x)] for d, x in enumerate(row) if not np.isnan(x))
            for k in range(len(THETA))
        ]
        for row in data
    ]
    np.testing.assert_allclose(LIKELIHOOD.prepare(data).log_table(THETA), expected, rtol=1e-12)


@DATA
def test_log_marginal(data):
    """As a multinomial of one trial: SciPy's Dirichlet-multinomial."""
    expected = [
        sum(
            stats.dirichlet_multinomial.logpmf(np.eye(k, dtype=int)[int(x)], np.full(k, c), 1)
            for x, c, k in zip(row, C, WIDTHS, strict=True)
            if not np.isnan(x)
        )
        for row in data
    ]
    np.testing.assert_allclose(LIKELIHOOD.prepare(data).log_marginal(), expected, atol=1e-12)


def test_densities_sum_to_one():
    everything = np.array(list(itertools.product(*map(range, WIDTHS))), dtype=float)
    family = LIKELIHOOD.prepare(everything)
    assert np.exp(family.log_marginal()).sum() == pytest.approx(1, rel=1e-12)
    np.testing.assert_allclose(np.exp(family.log_table(THETA)).sum(axis=0), 1, rtol=1e-12)


def test_log_prior():
    """SciPy's Dirichlet: a density of all probabilities of a column but the last."""
    expected = [
        sum(
            stats.dirichlet.logpdf(np.exp(block) / np.exp(block).sum(), np.full(len(block), c))
            for c, block in zip(C, np.split(theta, SPLIT), strict=True)
        )
        for theta in THETA
    ]
    np.testing.assert_allclose(LIKELIHOOD.prepare(X).log_prior(THETA), expected, rtol=1e-10)


def test_two_categories_are_bernoulli():
    """The same f and f*; the prior density is that of p instead of the logit's."""
    rng = np.random.default_rng(2)
    data = rng.integers(0, 2, (6, 3)).astype(float)
    data[2, 1] = np.nan
    logits = rng.normal(size=(4, 3))
    log_p, log_q = -np.logaddexp(0, -logits), -np.logaddexp(0, logits)
    theta = np.stack([log_q, log_p], axis=2).reshape(4, 6)
    family, twin = Categorical(C, 2).prepare(data), Bernoulli(C, C).prepare(data)
    np.testing.assert_allclose(family.log_table(theta), twin.log_table(logits), rtol=1e-12)
    np.testing.assert_allclose(family.log_marginal(), twin.log_marginal(), rtol=1e-12)
    jacobian = (log_p + log_q).sum(axis=1)
    np.testing.assert_allclose(
        family.log_prior(theta) + jacobian, twin.log_prior(logits), rtol=1e-10
    )


@DATA
def test_bayes_rule(data):
    """h(theta) f(x; theta) / f*(x) is Dir(concentration + the category seen), column by column."""
    family = LIKELIHOOD.prepare(data)
    log_posterior = (
        family.log_prior(THETA)[None] + family.log_table(THETA) - family.log_marginal()[:, None]
    )
    for n in range(len(data)):
        blocks = zip(shapes(data, [n]), np.split(THETA, SPLIT, axis=1), strict=True)
        expected = sum(
            stats.dirichlet.logpdf((np.exp(block) / np.exp(block).sum(1, keepdims=True)).T, own)
            for own, block in blocks
        )
        np.testing.assert_allclose(log_posterior[n], expected, rtol=1e-9)


@pytest.mark.parametrize(
    ("data", "rows", "seed"),
    [(X, [], 502), (X, [2], 503), (HOLED, [0, 1, 3, 4], 504)],
    ids=["prior", "one row", "rows with holes"],
)
def test_draw_theta_is_the_posterior(data, rows, seed):
    family = LIKELIHOOD.prepare(data)
    sums = family.statistics(slice(0, 7))[rows].sum(axis=0)
    theta = draws_of(family, sums, 20_000, seed)
    for own, block in zip(shapes(data, rows), np.split(theta, SPLIT, axis=1), strict=True):
        assert_dirichlet(block, own)


def test_sample_theta_and_sample_data():
    rng = rng_for(505)
    theta = LIKELIHOOD.sample_theta(20_000, 3, rng)
    for own, block in zip(shapes(X, []), np.split(theta, SPLIT, axis=1), strict=True):
        assert_dirichlet(block, own)
    x = LIKELIHOOD.sample_data(np.tile(THETA[0], (20_000, 1)), rng)
    for d, block in enumerate(np.split(THETA[0], SPLIT)):
        assert mean_z(x[:, d, None] == np.arange(WIDTHS[d]), np.exp(block)) < Z_LIMIT


def test_categories_are_counted():
    """One more than the largest code of the column; one where nothing is observed."""
    data = np.array([[0.0, 3.0, np.nan], [np.nan, 1.0, np.nan]])
    family = Categorical().prepare(data)
    assert family.n_parameters == 1 + 4 + 1
    given = Categorical(n_categories=[1, 4, 1]).prepare(data)
    assert_same_numbers(family, given, some_theta([1, 4, 1], 2))
    assert Categorical(n_categories=6).prepare(data).n_parameters == 18
    np.testing.assert_allclose(family.log_marginal(), -np.log(4))


@pytest.mark.parametrize("value", [0.5, -1, np.inf, 65536])
def test_other_values_are_refused(value):
    data = np.zeros((9, 4))
    data[7, 3] = value
    with pytest.raises(
        ValueError,
        match=rf"^X has {value} in column 3, row 7; the Categorical family needs whole numbers",
    ):
        Categorical().prepare(data)


def test_codes_beyond_n_categories_are_refused():
    data = np.array([[0.0, 3.0], [2.0, 4.0]])
    with pytest.raises(ValueError, match=r"^X has 4 in column 1, row 1; codes must be below n_cat"):
        Categorical(n_categories=[3, 4]).prepare(data)


def test_settings_are_refused():
    with pytest.raises(ValueError, match=r"^concentration must be between .*, got 0\.$"):
        Categorical(0.0).prepare(X)
    with pytest.raises(ValueError, match=r"^n_categories must be a whole number or hold one for "):
        Categorical(n_categories=[2, 3]).prepare(X)
    with pytest.raises(ValueError, match=r"^n_categories must be at least 1"):
        Categorical(n_categories=0).prepare(X)
    with pytest.raises(TypeError, match=r"^n_categories must be a whole number"):
        Categorical(n_categories=2.5).prepare(X)
    with pytest.raises(ValueError, match=r"^n_categories\[1\] must be at least 1"):
        Categorical(n_categories=[2, 0, 3]).prepare(X)
    with pytest.raises(ValueError, match=r"^n_categories must be given to simulate data"):
        Categorical().sample_theta(1, 2, rng_for(0))
    with pytest.raises(ValueError, match=r"^n_categories must be given to simulate data"):
        Categorical().sample_data(THETA, rng_for(0))
    with pytest.raises(ValueError, match=r"^theta has 9 numbers a component, but n_categories ne"):
        Categorical(n_categories=2).sample_data(THETA, rng_for(0))


@pytest.mark.parametrize("concentration", [1e-3, 1e-8, 1e12])
def test_extreme_settings_give_finite_numbers(concentration):
    likelihood = Categorical(concentration, WIDTHS)
    family = likelihood.prepare(HOLED)
    sums = family.sums(np.arange(7) % 3, 5)
    sums[4] = 1e6 * sums[0]
    for theta in (family.draw_theta(sums, rng_for(1)), likelihood.sample_theta(50, 3, rng_for(2))):
        for numbers in (theta, family.natural(theta), family.log_table(theta)):
            assert np.isfinite(numbers).all()
        assert np.isfinite(family.log_prior(theta)).all()
        assert (likelihood.sample_data(theta, rng_for(3)) < WIDTHS).all()
    assert np.isfinite(family.log_marginal()).all()


def test_float32_is_refused_for_very_many_columns():
    LIKELIHOOD.prepare(X).check_precision("float32")
    family = Categorical(n_categories=1000).prepare(np.zeros((1, 2000)))
    family.check_precision("float64")
    with pytest.raises(ValueError, match=r"may reach 1.38e\+04: use 'float64'"):
        family.check_precision("float32")


# ---- Joint tests ----

JOINT, SHARP = CATEGORICAL.joint, Categorical(0.3, [2, 3])


class _MarginalForgetsTheCategories(CategoricalFamily):
    """f* = 1."""

    def log_new(self):
        return np.zeros(self.n_rows)


class _ConcentrationIsOne(CategoricalFamily):
    def __init__(self, likelihood, X):
        super().__init__(likelihood, X)
        self._concentration = np.ones(self.n_parameters)


@pytest.mark.parametrize(
    ("family", "likelihood", "stage", "n_draws"),
    [
        (_MarginalForgetsTheCategories, JOINT, "redraw_data", 500),
        (_ConcentrationIsOne, SHARP, "redraw_theta", 500),
    ],
)
def test_wrong_families_are_rejected(family, likelihood, stage, n_draws):
    setting = Setting(with_family(likelihood, family), last_probabilities)
    assert invariance_z(setting, stage, n_draws, 520) > Z_LIMIT
