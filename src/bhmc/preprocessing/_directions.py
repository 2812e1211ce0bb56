"""Singular directions above noise: `OptimalThresholdPCA`."""

import math
import warnings
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from bhmc._validation.parameters import check_positive, check_whole


class OptimalThresholdPCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Principal components whose singular values are above the optimal hard threshold for noise.

    Gavish and Donoho (2014): of all rules that keep the singular values above a threshold, this one
    loses least in the worst case when the table is one of low rank plus white noise. For an m x n
    table with m <= n and b = m / n it is lambda(b) sqrt(n) noise if the noise is known, and
    omega(b) times the median singular value if it is not. Constant columns have no noise
    and are not counted.

    Parameters
    ----------
    noise : float, optional
        Standard deviation of the noise in an entry, after standardising. By default it is not known
        and is estimated by the median of the singular values above 0. (Values of 0 do not come from
        noise but from columns that are constant or sums of others.)
    centre : bool, default=True
        Whether to take the mean from every column.
    standardise : bool, default=False
        Whether to divide every column by its standard deviation. Constant columns stay.
    n_components : int, optional
        Keep so many, whatever the threshold says; it is found all the same.

    Attributes
    ----------
    threshold_ : float
        The threshold for singular values.
    n_above_ : int
        How many singular values are above it.
    n_components_ : int
        How many are kept: `n_components` or `n_above_`, and one at least.
    singular_values_ : ndarray of shape (min(n_samples, n_features),)
        All of them, in descending order.
    components_ : ndarray of shape (n_components_, n_features)
        The directions that are kept, each of length 1.
    mean_, scale_ : ndarrays of shape (n_features,)
        What was taken from every column, and what it was divided by.

    Notes
    -----
    All singular values are needed, so sparse tables are made dense.

    Examples
    --------
    >>> import numpy as np
    >>> from bhmc.preprocessing import OptimalThresholdPCA
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 3)) @ rng.normal(size=(3, 50)) + 0.5 * rng.normal(size=(200, 50))
    >>> OptimalThresholdPCA().fit_transform(X).shape
    (200, 3)
    """

    def __init__(
        self,
        noise: float | None = None,
        *,
        centre: bool = True,
        standardise: bool = False,
        n_components: int | None = None,
    ):
        self.noise = noise
        self.centre = centre
        self.standardise = standardise
        self.n_components = n_components

    def fit(self, X: Any, y: Any = None) -> "OptimalThresholdPCA":
        """Find the threshold and the directions above it.

        Parameters
        ----------
        X : (n_samples, n_features) array or sparse matrix
            The table.
        y : ignored
            For scikit-learn's conventions.
        """
        noise = None if self.noise is None else check_positive(self.noise, "noise")
        X = _dense(validate_data(self, X, accept_sparse="csr", dtype=float, ensure_min_samples=2))
        wanted = _check_wanted(self.n_components, min(X.shape))
        self.mean_: NDArray[np.float64] = X.mean(axis=0) if self.centre else np.zeros(X.shape[1])
        self.scale_: NDArray[np.float64] = _scales(X) if self.standardise else np.ones(X.shape[1])
        _, values, directions = np.linalg.svd((X - self.mean_) / self.scale_, full_matrices=False)
        self.singular_values_ = values
        noisy = len(X), max(int(_varies(X).sum()), 1)
        self.threshold_: float = _threshold(values, noisy, noise)
        self.n_above_: int = int((values > self.threshold_).sum())
        self.n_components_: int = wanted or max(self.n_above_, 1)
        if wanted is None and not self.n_above_:
            warnings.warn(
                "No singular value is above the threshold, so the table looks like noise: the "
                "largest one is kept.",
                stacklevel=2,
            )
        self.components_: NDArray[np.float64] = directions[: self.n_components_]
        return self

    def transform(self, X: Any) -> NDArray[np.float64]:
        """(n_samples, n_components_) the rows in the kept directions.

        Parameters
        ----------
        X : (n_samples, n_features) array or sparse matrix
            Rows with the columns of the fit.
        """
        check_is_fitted(self)
        X = _dense(validate_data(self, X, accept_sparse="csr", dtype=float, reset=False))
        return ((X - self.mean_) / self.scale_) @ self.components_.T

    def inverse_transform(self, X: Any) -> NDArray[np.float64]:
        """(n_samples, n_features) rows of the table, rebuilt from the kept directions alone.

        Parameters
        ----------
        X : (n_samples, n_components_) array
            What `transform` returned.
        """
        check_is_fitted(self)
        X = check_array(X, dtype=float)
        if X.shape[1] != self.n_components_:
            raise ValueError(
                f"X must have a column for each of the {self.n_components_} components, "
                f"got {X.shape[1]}."
            )
        return X @ self.components_ * self.scale_ + self.mean_

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def optimal_factor(ratio: float) -> float:
    """lambda(b): the threshold for noise 1, over sqrt(n), for sides of ratio b.

    Parameters
    ----------
    ratio : float
        b, the shorter side of the table over the longer.
    """
    b = ratio
    return math.sqrt(2 * (b + 1) + 8 * b / (b + 1 + math.sqrt(b * b + 14 * b + 1)))


@cache
def median_of_noise(ratio: float) -> float:
    """Median of the Marchenko-Pastur law: the law of the squared singular values of noise, over n.

    The density on (1 - sqrt b)^2 < x < (1 + sqrt b)^2, where b is the ratio, has infinite slopes at
    the ends; in the angle t of x = 1 + b - 2 sqrt(b) cos(t) the density is smooth.

    Parameters
    ----------
    ratio : float
        b, the shorter side of the table over the longer.
    """
    from scipy import integrate, optimize  # slow to import

    root = math.sqrt(ratio)

    def x(t: float) -> float:
        return (1 - root) ** 2 + 4 * root * math.sin(t / 2) ** 2

    def share_below(t: float) -> float:
        area, _ = integrate.quad(lambda s: 2 / math.pi * math.sin(s) ** 2 / x(s), 0, t)
        return area

    return x(optimize.brentq(lambda t: share_below(t) - 0.5, 1e-6, math.pi))


def _threshold(values: NDArray, shape: tuple[int, int], noise: float | None) -> float:
    ratio = min(shape) / max(shape)
    if noise is not None:
        return optimal_factor(ratio) * math.sqrt(max(shape)) * noise
    rank = int((values > values[0] * max(shape) * np.finfo(float).eps).sum())
    if not rank:  # nothing but zeros
        return 0.0
    return (
        optimal_factor(ratio) / math.sqrt(median_of_noise(ratio)) * float(np.median(values[:rank]))
    )


def _scales(X: NDArray[np.float64]) -> NDArray[np.float64]:
    """Standard deviations, 1 for a constant column."""
    return np.where(_varies(X), X.std(axis=0), 1.0)


def _varies(X: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which columns are not constant, but for rounding."""
    return np.ptp(X, axis=0) > 4 * np.finfo(float).eps * np.abs(X).max(axis=0)


def _check_wanted(n_components: int | None, most: int) -> int | None:
    if n_components is None:
        return None
    wanted = check_whole(n_components, "n_components", 1)
    if wanted > most:
        raise ValueError(f"n_components must be at most {most} for this table, got {wanted}.")
    return wanted


def _dense(X: Any) -> NDArray[np.float64]:
    return X.toarray() if hasattr(X, "toarray") else X
