"""Families bound to blocks of rows against the family bound to all rows, bit for bit."""

import itertools
from dataclasses import fields
from functools import reduce

import numpy as np
import pytest
from scipy import sparse

from bhmc import likelihoods as lik
from bhmc.likelihoods import ColumnSummary, learned_noise
from bhmc.likelihoods._registry import FAMILIES, class_of
from bhmc.likelihoods._summary import EXACT_BELOW
from bhmc.priors import InverseGamma, Uniform

# Beyond one slice of 4,096 rows, and rows of the sample are more than one apart.
N, CUT = 4_500, 2_113

COVARIANCE = np.array([[1.0, 0.3, 0.0], [0.3, 2.0, -0.2], [0.0, -0.2, 0.5]])


def measured(rng, n=N):
    return 5 + rng.normal(size=(n, 3)) * [1.0, 10.0, 0.1] + 4 * rng.integers(2, size=(n, 1))


def bits(rng, n=N):
    return rng.integers(2, size=(n, 3)).astype(float)


def codes(rng, n=N):
    X = rng.integers(3, size=(n, 3)).astype(float)
    X[n - 1] = 4.0  # a code that only the second half has
    return X


def counts(rng, n=N):
    return rng.poisson(3.0, size=(n, 3)).astype(float)


def words(rng, n=N):
    return sparse.csr_array(rng.poisson(0.5, size=(n, 8)).astype(float))


def mixed(rng, n=N):
    return np.column_stack([measured(rng, n), bits(rng, n)[:, 0], codes(rng, n)[:, 0]])


PARTS = [(lik.SharedGaussian(), [0, 2]), (lik.Gaussian(), [1]), (lik.Bernoulli(), [3])]
CASES = {
    "gaussian": (lik.Gaussian(0.5, 1.0, 3.0), measured),
    "gaussian full": (lik.Gaussian(COVARIANCE, 1.0, 2 * COVARIANCE), measured),
    "learned noise": (lik.Gaussian(InverseGamma(2.0, 1.0), 1.0, 3.0), measured),
    "learned noise full": (lik.Gaussian(Uniform(0, 9), 1.0, COVARIANCE), measured),
    "shared": (lik.SharedGaussian(location=4.0, scale=2.0), measured),
    "shared spherical": (lik.SharedGaussian("spherical", 4.0, 2.0), measured),
    "shared full": (lik.SharedGaussian("full", 4.0, 2.0), measured),
    "shaped": (lik.ShapedGaussian(COVARIANCE, 4.0), measured),
    "free": (lik.FreeGaussian(location=4.0, scale=2.0), measured),
    "free spherical": (lik.FreeGaussian("spherical", 4.0, 2.0), measured),
    "full": (lik.FullGaussian(mu0=4.0, sigma0=COVARIANCE), measured),
    "adaptive": (lik.AdaptiveGaussian(location=4.0, scale=2.0), measured),
    "adaptive spherical": (lik.AdaptiveGaussian("spherical", 4.0, 2.0), measured),
    "bernoulli": (lik.Bernoulli(0.5, 2.0), bits),
    "categorical": (lik.Categorical(0.7), codes),
    "categorical given": (lik.Categorical(0.7, n_categories=5), codes),
    "poisson": (lik.Poisson(2.0, 0.5), counts),
    "multinomial": (lik.Multinomial(0.8), counts),
    "multinomial sparse": (lik.Multinomial(0.8), words),
    "product": (lik.Product([*PARTS, (lik.Categorical(), [4])]), mixed),
}
HOLES = [name for name, (likelihood, _) in CASES.items() if likelihood.allows_missing]
GAUSSIANS = [name for name, (_, make) in CASES.items() if make is measured]

# Of a product of matrices the last bit of a row may depend on the rows beside it, unless blocks
# begin at a multiple of this.
HEIGHT = 4096
PRODUCTS = {"gaussian full", "learned noise full", "shared full"}


def data_of(name, kind="plain"):
    likelihood, make = CASES[name]
    X = make(np.random.default_rng(3))
    if kind == "holes":  # in the second half only
        X[CUT + 5 :: 7, 0] = X[-1, 2] = np.nan
    if kind == "far":  # in the first half only
        X[11] += 3e4
    return likelihood, X


PAIRS = [(name, "plain") for name in CASES]
PAIRS += [(name, "holes") for name in HOLES] + [
    (name, "far") for name in GAUSSIANS if name != "full"
]
every = pytest.mark.parametrize(("name", "kind"), PAIRS)


def summary_of(X, cuts):
    """The summaries of the blocks between these rows, merged in order."""
    ends = [0, *cuts, X.shape[0]]
    parts = [
        ColumnSummary.of(X[first:last], first, X.shape[0])
        for first, last in itertools.pairwise(ends)
    ]
    return reduce(ColumnSummary.merge, parts)


def bound(likelihood, X, cuts=()):
    """Families bound to the blocks between these rows, with shared numbers where a chain begins."""
    summary, ends = summary_of(X, cuts), [0, *cuts, X.shape[0]]
    pairs = itertools.pairwise(ends)
    families = [likelihood.prepare(X[first:last], summary) for first, last in pairs]
    return [family.at(family.start_shared()) for family in families]


def dense(table):
    return table.toarray() if sparse.issparse(table) else np.asarray(table)


def of_rows(families, method):
    """What a method says of the rows of all families, one after the other."""
    found = []
    for family in families:
        call = getattr(family, method)
        found.append(dense(call(slice(0, family.n_rows)) if method in BY_SLICE else call()))
    return np.concatenate(found)


BY_SLICE = ("statistics", "points")


def assert_same_bits(found, wanted):
    assert found.dtype == wanted.dtype
    np.testing.assert_array_equal(found, wanted, strict=True)


def test_every_family_is_here():
    tested = {type(likelihood) for likelihood, _ in CASES.values()}
    assert tested == {class_of(name) for name in FAMILIES} | {lik.Product}


@every
@pytest.mark.parametrize("cut", [CUT, HEIGHT])
def test_blocks_have_the_rows_of_the_whole(name, kind, cut):
    likelihood, X = data_of(name, kind)
    whole = likelihood.prepare(X)
    whole, blocks = whole.at(whole.start_shared()), bound(likelihood, X, [cut])
    for method in ("statistics", "points", "log_base", "log_new"):
        wanted, found = of_rows([whole], method), of_rows(blocks, method)
        if name in PRODUCTS and cut != HEIGHT:
            np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)
        else:
            assert_same_bits(found, wanted)


@every
def test_sums_of_blocks(name, kind):
    """Each block's sums are those of its rows in the whole, and all add up to the whole's."""
    likelihood, X = data_of(name, kind)
    components = np.random.default_rng(4).integers(3, size=N)
    whole, (first, last) = likelihood.prepare(X), bound(likelihood, X, [HEIGHT])
    elsewhere = np.arange(N) >= HEIGHT
    sums = first.sums(components[:HEIGHT], 3), last.sums(components[HEIGHT:], 3)
    for others, found in zip((elsewhere, ~elsewhere), sums, strict=True):
        assert_same_bits(found, whole.sums(np.where(others, 3, components), 4)[:3])
    np.testing.assert_allclose(sums[0] + sums[1], whole.sums(components, 3), rtol=1e-9, atol=1e-9)


@every
def test_a_family_without_rows_draws_what_the_whole_draws(name, kind):
    """All that draws need of rows comes from the summary and from sums."""
    likelihood, X = data_of(name, kind)
    whole = likelihood.prepare(X)
    blocks = bound(likelihood, X, [CUT])
    idle = likelihood.prepare(X[:0], summary_of(X, [CUT]))
    assert_same_bits(idle.start_shared(), whole.start_shared())
    shared, sums = whole.start_shared(), whole.sums(np.arange(N) % 4, 4)
    idle = idle.with_shared_sums(whole.shared_sums()).at(shared)
    whole = whole.at(shared)
    theta, again = (one.draw_theta(sums, np.random.default_rng(5)) for one in (whole, idle))
    assert_same_bits(again, theta)
    for method in ("natural", "log_prior"):
        assert_same_bits(getattr(idle, method)(theta), getattr(whole, method)(theta))
    drawn, redrawn = (
        one.draw_shared(theta, sums, np.random.default_rng(6)) for one in (whole, idle)
    )
    assert_same_bits(redrawn, drawn)
    total = sum(block.shared_sums() for block in blocks)
    np.testing.assert_allclose(total, whole.shared_sums(), rtol=1e-10)
    assert all(block.subtracts_well for block in blocks) == whole.subtracts_well
    assert (idle.n_rows, len(idle.log_base()), len(idle.log_new())) == (0, 0, 0)
    idle.check_precision("float64")


@pytest.mark.parametrize("name", ["shared", "learned noise", "product"])
def test_draws_of_shared_numbers_need_the_sums_of_all_rows(name):
    """The test above can fail: a block's own sums give other draws."""
    likelihood, X = data_of(name)
    whole, block = likelihood.prepare(X), likelihood.prepare(X[:CUT], ColumnSummary.of(X))
    shared, sums = whole.start_shared(), whole.sums(np.arange(N) % 4, 4)
    theta = whole.at(shared).draw_theta(sums, np.random.default_rng(5))
    drawn = [
        one.at(shared).draw_shared(theta, sums, np.random.default_rng(6)) for one in (whole, block)
    ]
    assert not np.array_equal(*drawn)


def whole_of_its_own_block(X, summary):
    return ColumnSummary.of(X)


@pytest.mark.parametrize(
    ("name", "kind", "module"),
    [
        ("gaussian", "plain", "gaussian"),
        ("learned noise", "plain", "learned_noise"),
        ("shared", "holes", "_learned_means"),
        ("free", "holes", "free_gaussian"),
        ("adaptive", "holes", "free_gaussian"),
        ("bernoulli", "holes", "_discrete"),
        ("poisson", "holes", "_discrete"),
        ("categorical", "plain", "categorical"),
        ("product", "plain", "product"),
    ],
)
def test_a_family_of_its_own_block_is_another(name, kind, module, monkeypatch):
    """A family that takes its centre or its layout from its own rows is found out."""
    monkeypatch.setattr(f"bhmc.likelihoods.{module}.summary_of_all", whole_of_its_own_block)
    with pytest.raises((AssertionError, ValueError)):
        test_blocks_have_the_rows_of_the_whole(name, kind, CUT)


# ---- The summary itself ------------------------------------------------------------------------


def assert_same_summary(one, other):
    for field in fields(ColumnSummary):
        np.testing.assert_array_equal(
            getattr(one, field.name), getattr(other, field.name), err_msg=field.name, strict=True
        )


def holed(rng, n=N):
    X = rng.normal(size=(n, 4)) * 10.0 ** np.arange(4)
    X[rng.random(X.shape) < 0.1] = np.nan
    X[:, 2] = np.nan
    X[n // 3, 3] = 1e300
    return X


@pytest.mark.parametrize("make", [measured, counts, holed, words])
@pytest.mark.parametrize("cuts", [[1], [CUT], [4096], [7, 7, 900, 4097, 4499]])
def test_merged_summaries_are_that_of_the_whole(make, cuts):
    X = make(np.random.default_rng(1))
    assert_same_summary(summary_of(X, cuts), ColumnSummary.of(X))


def test_merging_is_associative():
    X, n = holed(np.random.default_rng(2), 3_000), 3_000
    a, b, c = (ColumnSummary.of(X[i : i + 1_000], i, n) for i in (0, 1_000, 2_000))
    assert_same_summary(a.merge(b).merge(c), a.merge(b.merge(c)))


def test_what_a_summary_holds():
    X = np.array([[1.5, np.nan, -3.0], [7.0, 2.0, -1.0], [0.25, 4.0, -2.0]])
    summary = ColumnSummary.of(X)
    assert summary.missing.tolist() == [False, True, False]
    assert summary.smallest.tolist() == [0.25, 2.0, -3.0]
    assert summary.largest.tolist() == [7.0, 4.0, -1.0]
    np.testing.assert_array_equal(summary.counts, [np.nan, 6.0, np.nan])
    assert_same_bits(summary.sample, X)
    assert summary.has_missing
    assert not summary.select([0, 2]).has_missing
    assert summary.select([2]).centre().tolist() == [-2.0]


@pytest.mark.parametrize("n", [1_000, 2_047, 2_048, 10_000])
def test_the_sample_is_every_so_many_rows(n):
    X = np.arange(n, dtype=float)[:, None]
    wanted = X[:: max(1, n // 1024)]
    assert_same_bits(ColumnSummary.of(X).sample, wanted)
    assert_same_bits(summary_of(X, [3, n // 2 + 1]).sample, wanted)


def test_sums_of_counts_stop_where_doubles_end():
    """The same in any order, although doubles round such sums."""
    X = np.full((4, 1), 2.0**52)
    X[0] = X[3] = 1.0
    forwards, backwards = (summary_of(Y, [1, 2, 3]) for Y in (X, X[::-1]))
    assert forwards.counts == backwards.counts == ColumnSummary.of(X).counts == EXACT_BELOW
    assert not forwards.adds_exactly
    assert ColumnSummary.of(X[:2]).adds_exactly


def test_many_counts_in_the_other_half():
    """Sums that no block reaches alone must not be taken apart by subtraction either."""
    X = np.full((20_000, 1), 1e12)
    family = lik.Poisson().prepare(X[:5_000], ColumnSummary.of(X))
    assert lik.Poisson().prepare(X[:5_000]).subtracts_well
    assert not family.subtracts_well


def test_blocks_out_of_order_are_refused():
    X = np.zeros((10, 2))
    first, last = ColumnSummary.of(X[:4], 0, 10), ColumnSummary.of(X[6:], 6, 10)
    with pytest.raises(ValueError, match="begins at row 4 of 10, got one that begins at row 6"):
        first.merge(last)
    with pytest.raises(ValueError, match="of 11"):
        first.merge(ColumnSummary.of(X[4:], 4, 11))


@pytest.mark.parametrize("name", [name for name in CASES if name != "categorical given"])
def test_a_summary_of_some_rows_is_refused(name):
    likelihood, X = data_of(name)
    with pytest.raises(ValueError, match=r"all 4500 rows, got that of rows 0 to 2112"):
        likelihood.prepare(X[:CUT], ColumnSummary.of(X[:CUT], 0, N))


def test_a_summary_of_other_columns_is_refused():
    with pytest.raises(ValueError, match="summary has 2 columns, but X has 3 columns"):
        lik.Gaussian().prepare(np.zeros((5, 3)), ColumnSummary.of(np.zeros((5, 2))))


def test_a_product_with_names_needs_all_rows():
    X = measured(np.random.default_rng(0), 30)
    product = lik.Product([("gaussian", [0, 1, 2])])
    with pytest.raises(ValueError, match="'gaussian', whose scales come from all rows"):
        product.prepare(X[:10], ColumnSummary.of(X))
    assert product.prepare(X, ColumnSummary.of(X)).n_rows == 30


def test_wide_outliers_between_the_rows_of_the_sample():
    """No column varies in the sample: the noise starts from the range of all rows."""
    X = np.full((4_096, 1), 3.0)
    X[1::4] = 3.5
    assert learned_noise._deviation(ColumnSummary.of(X)) == 0.5
    assert learned_noise._deviation(ColumnSummary.of(np.ones((5, 2)))) == 1.0
