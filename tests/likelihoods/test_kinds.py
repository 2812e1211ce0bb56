"""Which tables count as columns of one kind."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.preprocessing import StandardScaler, normalize

from bhmc import BHMC
from bhmc.datasets import load_zoo
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


def test_auto_says_what_it_took():
    quick = {"n_warmup": 2, "n_draws": 2, "n_chains": 1, "random_state": 0}
    pixels = BHMC(**quick).fit(DIGITS[:200]).likelihood_
    measures = BHMC(**quick).fit(load_iris().data).likelihood_
    assert (type(pixels).__name__, pixels.covariance) == ("SharedGaussian", "spherical")
    assert (type(measures).__name__, measures.covariance) == ("AdaptiveGaussian", "diagonal")
