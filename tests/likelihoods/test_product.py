"""The product of families against the sum of its parts, and in the joint tests."""

import pickle

import numpy as np
import pytest
from scipy.special import expit
from sklearn.base import clone

import bhmc
from bhmc import BHMC
from bhmc.likelihoods import (
    AdaptiveGaussian,
    Bernoulli,
    Categorical,
    FullGaussian,
    Gaussian,
    Multinomial,
    Poisson,
    Product,
    SharedGaussian,
    kind_of,
    resolve,
)
from bhmc.likelihoods.product import ProductFamily
from tests.exact.alarm import Z_LIMIT, rng_for
from tests.exact.invariance import paired_z
from tests.likelihoods import joint
from tests.likelihoods.joint import assert_keeps_the_protocol, invariance_z

COLUMNS = [[3, 0], [1], [4, 2], [5]]
FAMILIES = [
    SharedGaussian(location=[0.25, 2.0], scale=[1.0, 4.0]),
    Bernoulli(0.7, 1.4),
    AdaptiveGaussian(location=-1.0, scale=2.0),
    Categorical(1.5, n_categories=3),
]
PARTS = list(zip(FAMILIES, COLUMNS, strict=True))


def simulated(n=7, seed=0):
    """(shared, theta of three components, X), from the model; X rounded, so that sums are exact."""
    rng, product = np.random.default_rng(seed), Product(PARTS)
    shared = product.sample_shared(6, rng)
    settled = product.at(shared)
    theta = settled.sample_theta(3, 6, rng)
    data = settled.sample_data(theta[rng.integers(0, 3, n)], rng)
    return shared, theta, np.round(4 * data) / 4


SHARED, THETA, X = simulated()
HOLED = X.copy()
HOLED[[0, 1, 2, 2, 4], [0, 1, 3, 5, 4]] = np.nan
HOLED[3] = np.nan
DATA = pytest.mark.parametrize("data", [X, HOLED], ids=["complete", "with holes"])


def alone(data):
    """(family with its numbers put in, its theta) for every part on its own."""
    first, start = 0, 0
    for likelihood, columns in PARTS:
        family = likelihood.prepare(data[:, columns])
        own = SHARED[first : first + family.n_shared]
        yield family.at(own), THETA[:, start : start + family.n_parameters]
        first, start = first + family.n_shared, start + family.n_parameters


def bound(data):
    return Product(PARTS).prepare(data).at(SHARED)


@DATA
def test_densities_are_sums_over_the_parts(data):
    family, parts = bound(data), list(alone(data))
    for name in ("log_table", "log_prior"):
        expected = sum(getattr(part, name)(theta) for part, theta in parts)
        np.testing.assert_allclose(getattr(family, name)(THETA), expected, rtol=1e-12)
    for name in ("log_base", "log_new", "log_marginal", "log_prior_shared"):
        expected = sum(getattr(part, name)() for part, _ in parts)
        np.testing.assert_allclose(getattr(family, name)(), expected, rtol=1e-12, atol=1e-12)


@DATA
def test_protocol(data):
    assert_keeps_the_protocol(bound(data), THETA)


@DATA
def test_draws_are_those_of_the_parts_in_turn(data):
    """Each part sees its own sums and shared numbers: the same draws as on its own."""
    family, components = bound(data), np.arange(7) % 3
    sums = family.sums(components, 3)
    together = rng_for(1)
    theta = family.draw_theta(sums, together)
    shared = family.draw_shared(THETA, sums, together)
    parts, rng = list(alone(data)), rng_for(1)
    own = [part.sums(components, 3) for part, _ in parts]
    pairs = list(zip(parts, own, strict=True))
    np.testing.assert_array_equal(
        theta, np.hstack([part.draw_theta(s, rng) for (part, _), s in pairs])
    )
    np.testing.assert_array_equal(
        shared, np.concatenate([part.draw_shared(t, s, rng) for (part, t), s in pairs])
    )
    start = np.concatenate([part.start_shared() for part, _ in parts])
    np.testing.assert_array_equal(family.start_shared(), start)


def test_one_family_in_two_parts_is_the_family():
    """Also where its columns are not in order."""
    bits = (X > 0.5).astype(float)[:, :4]
    a = np.array([0.7, 1.0, 2.0, 3.0])
    split = Product([(Bernoulli(a[[2, 0]]), [2, 0]), (Bernoulli(a[[1, 3]]), [1, 3])]).prepare(bits)
    theta = np.random.default_rng(0).normal(size=(5, 4))
    np.testing.assert_allclose(
        split.log_table(theta[:, [2, 0, 1, 3]]), Bernoulli(a).prepare(bits).log_table(theta)
    )
    np.testing.assert_allclose(split.log_marginal(), Bernoulli(a).prepare(bits).log_marginal())


def test_a_part_with_its_own_fill_keeps_it():
    """Gaussian takes rows far from everything by differences, and so it does as a part."""
    data = np.array([[0.0, 0.0], [1.0, 1.0], [0.5, 0.0], [1e9, 1.0]])
    product = Product([(Gaussian(), [0]), (Bernoulli(), [1])]).prepare(data)
    theta = np.array([[1e9 + 0.25, 0.3], [0.2, -0.1]])
    gaussian, bernoulli = Gaussian().prepare(data[:, :1]), Bernoulli().prepare(data[:, 1:])
    expected = gaussian.log_table(theta[:, :1]) + bernoulli.log_table(theta[:, 1:])
    np.testing.assert_allclose(product.log_table(theta), expected, rtol=1e-12)
    assert not product.subtracts_well
    c = np.array([1, 1, 1, 0])
    log_f = product.log_likelihood(product.natural(theta), product.sums(c, 2), c)
    log_f += product.log_base().sum()
    np.testing.assert_allclose(log_f, expected[np.arange(4), c].sum(), rtol=1e-10)


def test_simulated_columns_belong_to_their_parts():
    state, data = bhmc.sample_prior(
        40,
        n_levels=1,
        hyper=bhmc.Hyper(1.0, 1.0, 1.0),
        likelihood=Product(PARTS),
        rng=np.random.default_rng(0),
        n_features=6,
    )
    assert state.theta.shape[1] == 2 + 1 + 4 + 3
    assert set(np.unique(data[:, 1])) == {0.0, 1.0}
    assert set(np.unique(data[:, 5])) == {0.0, 1.0, 2.0}
    for column in (0, 2, 3, 4):
        assert len(np.unique(data[:, column])) == 40
    again = bhmc.sample_data(state, likelihood=Product(PARTS), rng=np.random.default_rng(1))
    assert again.shape == data.shape
    with pytest.raises(ValueError, match="column 5, but X has 5 columns"):
        Product(PARTS).sample_theta(2, 5, np.random.default_rng(0))


def test_names_take_their_scales_from_their_columns():
    data = np.column_stack([X[:, 0], X[:, 1]])
    scaled = resolve(Product([("gaussian", [0]), ("bernoulli", 1)]), data)
    np.testing.assert_array_equal(
        scaled.families[0].location, AdaptiveGaussian.scaled_to(data[:, :1]).location
    )
    np.testing.assert_array_equal(scaled.families[1].a, Bernoulli.scaled_to(data[:, 1:]).a)
    same = Product.scaled_to(data, [("gaussian", [0]), ("bernoulli", 1)])
    np.testing.assert_array_equal(same.families[1].a, scaled.families[1].a)
    plain = resolve(Product([("gaussian", [0]), ("bernoulli", 1)]))
    assert [type(family) for family in plain.families] == [Gaussian, Bernoulli]


def test_missing_entries_where_all_parts_allow_them():
    assert kind_of(Product(PARTS)).allows_missing
    for part in (("known_gaussian", 1), (FullGaussian(), 1), (Multinomial(), 1)):
        assert not kind_of(Product([("bernoulli", 0), part])).allows_missing
        with pytest.raises(ValueError, match=r"^X has NaN"):
            BHMC(likelihood=Product([("bernoulli", 0), part])).fit([[0.0, 1.0], [1.0, np.nan]])


def test_float32_is_refused_as_the_parts_refuse_it():
    bound(X).check_precision("float32")
    narrow = Product([(Bernoulli(1e-5), [1]), (Gaussian(1e9, sigma0=1e9), [0, 2, 3, 4, 5])])
    narrow.prepare(X).check_precision("float64")
    with pytest.raises(ValueError, match="use 'float64'"):
        narrow.prepare(X).check_precision("float32")


# ---- What it says, and what it refuses ----


def test_describe():
    product = Product([(Bernoulli(), [0, 3]), ("gaussian", range(1, 3))])
    assert product.describe() == 'Bernoulli for 0, 3; "gaussian" for 1, 2'
    assert repr(product) == f"Product({product.describe()})"
    named = product.named(["eggs", "weight", "height", "fins"])
    assert named.describe() == "Bernoulli for 'eggs', 'fins'; \"gaussian\" for 'weight', 'height'"
    many = Product([("gaussian", range(12)), ("poisson", 12)])
    assert many.describe() == '"gaussian" for 0, 1, 2, 3, 4, 5, 6, 7 and 4 more; "poisson" for 12'
    assert Bernoulli().describe() == "Bernoulli for all columns"


def test_copies():
    product = Product([("bernoulli", "b"), ("gaussian", 1)], names=["b", "g"])
    for other in (pickle.loads(pickle.dumps(product)), clone(BHMC(likelihood=product)).likelihood):
        assert other.describe() == product.describe()
        assert other.columns(2) == [[0], [1]]


@pytest.mark.parametrize(
    ("parts", "error", "words"),
    [
        (3, TypeError, r"^parts of Product must be a list of pairs \(family, columns\), got 3\.$"),
        ([], ValueError, "^Product needs at least one part"),
        (["gaussian"], TypeError, r"^a part of Product must be a pair .*, got 'gaussian'\.$"),
        ([("gaussian", [0], 1)], TypeError, "^a part of Product must be a pair"),
        ([("normal", [0])], ValueError, r"^Product has the family 'normal'; choose one of 'gauss"),
        ([("auto", [0])], ValueError, r"^Product has the family 'auto'; choose one of"),
        ([(Bernoulli, [0])], TypeError, "^a family in Product must be a name or an object"),
        ([(Product(PARTS), [0])], TypeError, "other than Product"),
        ([("poisson", [])], ValueError, r'^Product has no columns for "poisson"\.$'),
        ([("poisson", [-1])], ValueError, r"whole numbers of at least 0, got -1\.$"),
        ([("poisson", [True])], ValueError, r"whole numbers of at least 0, got True\.$"),
        ([("poisson", [0.0])], ValueError, r"whole numbers of at least 0, got 0\.0\.$"),
    ],
)
def test_wrong_parts_are_refused(parts, error, words):
    with pytest.raises(error, match=words):
        Product(parts)


@pytest.mark.parametrize(
    ("columns", "names", "words"),
    [
        (([0], [1, 3]), None, "column 3, but X has 3 columns"),
        (([0], [2]), None, "has column 1 in no part"),
        (([0], [2]), ["a", "b", "c"], "has column 'b' in no part"),
        (([0, 1], [1, 2]), None, "has column 1 in more than one part"),
        ((["a", 1], [2]), None, "the column name 'a', but no names of columns"),
        ((["a", 1], ["x"]), ["a", "b", "c"], "the column name 'x', which X does not have"),
        ((["a", 1], [0, 2]), ["a", "b", "c"], "has column 'a' in more than one part"),
    ],
)
def test_wrong_columns_are_refused(columns, names, words):
    product = Product(list(zip(["gaussian", "poisson"], columns, strict=True)), names)
    with pytest.raises(ValueError, match=words):
        product.prepare(np.ones((4, 3)))


def test_an_entry_is_named_by_its_place_in_the_whole():
    data = np.zeros((5, 4))
    data[3, 2] = 0.5
    product = Product([("gaussian", [0, 3]), (Poisson(), [1, 2])])
    with pytest.raises(ValueError, match=r"^X has 0\.5 in column 2, row 3; the Poisson family"):
        product.prepare(data)
    wrong = Product([("gaussian", [0, 3]), (Bernoulli(a=[1.0]), [1, 2])])
    with pytest.raises(ValueError, match=r"^in the part of columns \[1, 2\]: a must be a number"):
        wrong.prepare(np.zeros((5, 4)))


# ---- Joint tests: two parts that learn, so that an error in splitting shows ----

JOINT = Product(
    [
        (SharedGaussian(location=1.0, noise_shape=4, noise_scale=1, spread_shape=4), [1]),
        (Bernoulli(0.6, 1.5), [0]),
        (SharedGaussian(location=-1.0, scale=2.0, noise_shape=5, spread_shape=3), [3]),
        (Categorical([0.8], n_categories=3), [2]),
    ]
)


def measure(theta):
    """Of the Bernoulli column, and of a category."""
    return np.column_stack([expit(theta[:, 1]), np.exp(theta[:, 3]), np.tanh(theta[:, [0, 2]])])


class Setting(joint.Setting):
    """Also looks at the learned numbers, and at columns of different parts together."""

    def __init__(self, likelihood=JOINT, **settings):
        super().__init__(likelihood, measure, n_features=4, **settings)

    def statistics(self, state, X):
        shared = np.concatenate([state.shared[[0, 3]], np.log(state.shared[[1, 2, 4, 5]])])
        x = np.nan_to_num(X)
        x[:, [1, 3]] = np.tanh(x[:, [1, 3]])
        own = measure(state.theta)[state.components]
        products = (x[:, 2] * x[:, 3], x[:, 3] * own[:, 3], x[:, 1] * own[:, 2], x[:, 0] * x[:, 3])
        apart = np.tanh(state.theta[:, [0, 2]] - state.shared[[0, 3]])
        return np.concatenate(
            [
                super().statistics(state, x),
                np.tanh(shared),
                [np.mean(product) for product in products],
                (apart**2).mean(axis=0) * np.tanh(shared[[3, 5]]),
            ]
        )


HIDDEN = ((0, 0), (1, 1), (2, 0), (2, 1), (2, 2), (2, 3), (4, 3), (5, 2))


@pytest.mark.parametrize(
    ("n_components", "hidden"),
    [
        pytest.param(None, (), marks=pytest.mark.exact_long),
        (None, HIDDEN),
        pytest.param(3, HIDDEN, marks=pytest.mark.exact_long),
    ],
    ids=["infinite", "infinite with holes", "finite with holes"],
)
def test_joint_law(n_components, hidden):
    """One sweep leaves exact draws alone. (A long chain would forget shared numbers slowly.)"""
    setting = Setting(n_components=n_components, hidden=hidden)
    z = paired_z(setting, "gibbs", "sweep", 600, rng_for(370))
    print(f"largest |z| {np.abs(z).max():.2f}")
    assert np.abs(z).max() < Z_LIMIT


class _BiasCountedTwice(ProductFamily):
    """The number that the first part's eta adds to every row is added once more."""

    def natural(self, theta):
        eta = super().natural(theta)
        eta[:, -1] += eta[:, self._parts[0].n_statistics - 1]
        return eta


class _MarginalOfAllPartsButOne(ProductFamily):
    def log_new(self):
        return super().log_new() - self._parts[-1].log_new()


class _SharedNumbersExchanged(ProductFamily):
    """The parts that learn get each other's shared numbers."""

    def _of_shared(self, shared):
        first, nothing, second, last = super()._of_shared(shared)
        return [second, nothing, first, last]


class _ThetaFromTheNextPart(ProductFamily):
    def draw_shared(self, theta, sums, rng):
        return super().draw_shared(theta[:, [2, 1, 0, 3, 4, 5]], sums, rng)


@pytest.mark.parametrize(
    ("wrong", "stage"),
    [
        (_BiasCountedTwice, "redraw_data"),
        (_MarginalOfAllPartsButOne, "redraw_data"),
        (_SharedNumbersExchanged, "redraw_theta"),
        (_ThetaFromTheNextPart, "redraw_theta"),
    ],
)
def test_wrong_products_are_rejected(wrong, stage):
    class Wrong(Product):
        def prepare(self, X):
            return wrong(super().prepare(X)._parts)

    setting = Setting(Wrong(JOINT.parts))
    assert invariance_z(setting, stage, 300, 371) > Z_LIMIT
