"""Settings of the families of whole numbers whose columns are each on their own."""

from collections.abc import Callable
from types import ModuleType
from typing import NamedTuple

import numpy as np
import pytest
from scipy.special import expit

from bhmc.likelihoods import Likelihood, _discrete, categorical
from bhmc.likelihoods.bernoulli import Bernoulli, BernoulliFamily
from bhmc.likelihoods.categorical import Categorical, CategoricalFamily
from bhmc.likelihoods.poisson import Poisson, PoissonFamily


class ColumnCase(NamedTuple):
    """A likelihood with data, holes in them, some theta, and what the tests of all need."""

    likelihood: Likelihood
    family: type
    X: np.ndarray
    theta: np.ndarray
    widths: list[int]  # how many numbers of theta a column has
    # The likelihood of some columns only.
    part: Callable[[np.ndarray], Likelihood]
    module: ModuleType  # that decides whether data are copied
    # For joint tests: a likelihood of two columns, and what to look at in its theta.
    joint: Likelihood
    measure: Callable[[np.ndarray], np.ndarray]
    seed: int

    @property
    def holed(self) -> np.ndarray:
        """X with missing entries; row 3 has no other."""
        X = self.X.copy()
        X[[0, 1, 3, 3, 3, 5], [0, 2, 0, 1, 2, 1]] = np.nan
        return X


def both(case: ColumnCase):
    """A test runs with complete data and with holes."""
    return pytest.mark.parametrize("data", [case.X, case.holed], ids=["complete", "with holes"])


A, B = np.array([0.7, 2.5, 1.0]), np.array([1.4, 0.6, 3.0])
BERNOULLI = ColumnCase(
    Bernoulli(A, B),
    BernoulliFamily,
    np.random.default_rng(0).integers(0, 2, (7, 3)).astype(float),
    np.random.default_rng(1).normal(size=(4, 3)) * 3,
    [1, 1, 1],
    lambda seen: Bernoulli(A[seen], B[seen]),
    _discrete,
    Bernoulli([0.7, 1.5], [1.6, 0.8]),
    expit,
    300,
)

SHAPE, RATE = np.array([0.7, 2.5, 1.0]), np.array([0.2, 0.6, 3.0])
POISSON = ColumnCase(
    Poisson(SHAPE, RATE),
    PoissonFamily,
    np.random.default_rng(0).poisson([3.0, 5.0, 0.7], (7, 3)).astype(float),
    np.random.default_rng(1).normal(size=(4, 3)),
    [1, 1, 1],
    lambda seen: Poisson(SHAPE[seen], RATE[seen]),
    _discrete,
    Poisson([1.5, 2.5], [0.7, 1.2]),
    np.exp,
    400,
)


def some_theta(widths, size=4, seed=1):
    """Log probabilities, column by column."""
    rng = np.random.default_rng(seed)
    return np.log(np.hstack([rng.dirichlet(np.ones(k), size) for k in widths]))


def last_probabilities(theta):
    """Of each column's last category, where columns have two and three."""
    return np.exp(theta[:, [1, 4]])


C, WIDTHS = np.array([0.6, 2.5, 1.2]), [2, 4, 3]
CATEGORICAL = ColumnCase(
    Categorical(C, WIDTHS),
    CategoricalFamily,
    np.random.default_rng(0).integers(0, WIDTHS, (7, 3)).astype(float),
    some_theta(WIDTHS),
    WIDTHS,
    lambda seen: Categorical(C[seen], np.array(WIDTHS)[seen]),
    categorical,
    Categorical([0.8, 1.5], [2, 3]),
    last_probabilities,
    500,
)
