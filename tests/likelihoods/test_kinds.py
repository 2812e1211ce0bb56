"""Which tables count as columns of one kind."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.metrics import adjusted_mutual_info_score
from sklearn.preprocessing import StandardScaler, normalize

from bhmc import BHMC
from bhmc.datasets import load_zoo
from bhmc.likelihoods import Multinomial, choose, resolve
from bhmc.likelihoods._kinds import of_one_kind

DIGITS = load_digits().data
RNG = np.random.default_rng(0)
SHARES = RNG.dirichlet(np.ones(5), 200)
RATINGS = RNG.integers(1, 6, (100, 8)).astype(float)

ONE_KIND = {
    "pixels": DIGITS,
    "pixels in other units": DIGITS / 16 - 3,
    "principal components of pixels": PCA(20).fit_transform(DIGITS),
    "a singular value decomposition": TruncatedSVD(20, random_state=0).fit_transform(DIGITS),
    "rows of one length": normalize(load_wine().data),
    "shares that add up": SHARES,
    "ratings": RATINGS,
    "tiny numbers": 1e-200 * SHARES,
}
DIFFERENT = {
    "iris": load_iris().data,
    "wine": load_wine().data,
    "cancer": load_breast_cancer().data,
    "standardised columns": StandardScaler().fit_transform(load_wine().data),
    "flags and a count": np.asarray(load_zoo().data, dtype=float),
    "one column": RNG.normal(size=(50, 1)),
    "independent columns": RNG.normal(size=(300, 10)),
    "equal rows": np.ones((10, 3)),
    "zeros": np.zeros((10, 3)),
    "more columns than rows": RNG.normal(size=(5, 20)),
}


@pytest.mark.parametrize("name", ONE_KIND)
def test_one_kind(name):
    assert of_one_kind(ONE_KIND[name])


@pytest.mark.parametrize("name", DIFFERENT)
def test_different_kinds(name):
    assert not of_one_kind(DIFFERENT[name])


@pytest.mark.parametrize("name", ["iris", "wine", "standardised columns"])
def test_a_hole_makes_no_table_of_one_kind(name):
    holes = DIFFERENT[name].copy()
    holes[0, 0] = np.nan
    assert not of_one_kind(holes)
    ratings = RATINGS.copy()
    ratings[3, 2] = np.nan
    assert of_one_kind(ratings)


def word_counts(n=60, d=40):
    """Two kinds of texts, each with words of its own."""
    rng = np.random.default_rng(1)
    label = np.arange(n) % 2
    rates = np.where(np.arange(d) // (d // 2) == label[:, None], 0.5, 0.02)
    return rng.poisson(rates).astype(float), label


def test_counts_of_words():
    X, label = word_counts()
    assert choose(X) == choose(sparse.csr_array(X)) == "multinomial"
    assert choose(X[:, :9]) != "multinomial"
    assert choose(X + 0.5) != "multinomial"
    assert choose((X > 0).astype(float)) == "bernoulli"
    assert (
        choose(np.asarray(load_zoo().data, dtype=float)) == choose(load_wine().data) == "gaussian"
    )
    short = {"n_warmup": 100, "n_draws": 50, "n_chains": 1, "random_state": 0}
    dense, thin = (BHMC(**short).fit(data) for data in (X, sparse.csr_array(X)))
    assert type(dense.likelihood_) is type(thin.likelihood_) is Multinomial
    np.testing.assert_array_equal(dense.component_labels_, thin.component_labels_)
    assert adjusted_mutual_info_score(label, dense.component_labels_) > 0.9


def test_sparse_numbers_that_are_no_counts_are_refused():
    for entries in (0.5, -1.0):
        with pytest.raises(TypeError, match="X is sparse, and this likelihood needs a dense array"):
            BHMC().fit(sparse.csr_array(np.eye(12) * entries))


def test_auto_says_what_it_took():
    quick = {"n_warmup": 2, "n_draws": 2, "n_chains": 1, "random_state": 0}
    hdp = {**quick, "transition": "hdp"}
    pixels = BHMC(**hdp).fit(DIGITS[:200]).likelihood_
    measures = BHMC(**hdp).fit(load_iris().data).likelihood_
    assert (type(pixels).__name__, pixels.covariance) == ("SharedGaussian", "spherical")
    assert (type(measures).__name__, measures.covariance) == ("AdaptiveGaussian", "diagonal")
    assert type(BHMC(**quick).fit(load_iris().data).likelihood_).__name__ == "ShapedGaussian"


def test_auto_for_a_tree_takes_families_with_places():
    """One covariance for all components, and numbers in place of counts of words."""
    wine = load_wine().data
    assert choose(wine, located=True) == "shaped_gaussian"
    holed = np.where(np.arange(wine.size).reshape(wine.shape) == 5, np.nan, wine)
    assert choose(holed, located=True) == "shaped_gaussian"
    holed[: len(wine) // 2 + 1, 3] = np.nan  # more than half of the rows lack an entry
    assert choose(holed, located=True) == "shared_gaussian"
    holed[: len(wine) // 2 - 1] = np.nan  # rows without any entry have no say
    assert choose(holed, located=True) == "shaped_gaussian"
    assert choose(wine[:, :1], located=True) == "shared_gaussian"
    zoo = np.asarray(load_zoo().data, dtype=float)
    taken = resolve("auto", zoo, located=True)
    assert [type(family).__name__ for family in taken.families] == ["SharedGaussian", "Bernoulli"]
    assert taken.has_places
    assert not resolve("auto", zoo).has_places
    words = np.zeros((40, 12))
    words[np.arange(40), np.arange(40) % 12] = 2
    assert choose(words) == "multinomial"
    assert choose(words, located=True) == "shaped_gaussian"
