"""What the families of whole numbers share: checks, `ColumnFamily`, draws by log gammas."""

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaln, gammaln

from bhmc._validation.errors import WrongEntryError
from bhmc._validation.parameters import check_vector
from bhmc.likelihoods._missing import observed_points, observed_statistics
from bhmc.likelihoods._protocol import ConjugateFamily
from bhmc.likelihoods._statistics import with_kept, with_unkept
from bhmc.likelihoods._summary import ColumnSummary, summary_of_all
from bhmc.likelihoods.blocks import LARGEST_COPY, Floats, slices

# A gamma variable of a smaller shape is so near 0 that sums of its logarithms lose digits; of a
# larger one, log gamma functions do.
_LEAST_SHAPE, _LARGEST_SHAPE = 1e-8, 1e12

# A float32 log likelihood of this size is off by about 1e-3.
_WIDEST_FLOAT32 = 1e4

# The log likelihood of a larger count is off by more than 0.01, because a double has 16 digits.
LARGEST_COUNT = 1e12


class ColumnFamily(ConjugateFamily):
    """A family whose columns are each on their own and have one parameter each.

    With o_d = 1 where entry d is observed, t(x) = (x, 1), or (o x, o, 1) where some are missing:

        log f(x; theta) = sum_d o_d [ slope_d(theta) x_d + level_d(theta) ] + h(x).
    """

    def __init__(self, X: Floats, summary: ColumnSummary | None = None):
        self.n_rows, d = X.shape
        self._missing = summary_of_all(X, summary).has_missing
        self.n_parameters, self.n_statistics = d, (2 * d if self._missing else d) + 1
        self._X, self._kept = X, None
        if X.nbytes <= LARGEST_COPY:
            self._kept, self._X = self.statistics(slice(0, self.n_rows)), None

    def with_statistics(self, t: Floats) -> Self:
        """A copy that holds these rows alone."""
        return with_kept(self, t)

    def with_rows(self, X: Floats) -> Self:
        """A copy that holds these rows alone."""
        return with_unkept(self, X)

    def statistics(self, rows: slice) -> Floats:
        """(x, 1) or (o x, o, 1)."""
        if self._kept is not None:
            return self._kept[rows]
        assert self._X is not None, "the data are here if no copy was kept"
        return observed_statistics(self._X[rows], self._missing)

    def points(self, rows: slice) -> Floats:
        """x."""
        return observed_points(self.statistics(rows), self.n_parameters, self._missing)

    def _joined(self, slope: Floats, level: Floats) -> Floats:
        """(K, s): eta from slopes and levels (K, d)."""
        if self._missing:
            return np.column_stack([slope, level, np.zeros(len(slope))])
        eta = np.empty((len(slope), self.n_statistics))
        eta[:, :-1], eta[:, -1] = slope, level.sum(axis=1)
        return eta

    def _parts(self, sums: Floats) -> tuple[Floats, Floats]:
        """Sums of x (K, d), and how many entries those are: (K, d) or (K, 1)."""
        d = self.n_parameters
        return sums[:, :d], sums[:, d:-1] if self._missing else sums[:, -1:]


def draw_log_gamma(shapes: Floats, rng: np.random.Generator) -> Floats:
    """log G, G ~ Gamma(shape, 1).

    G(s) = G(s + 1) exp(-E / s), E exponential: where s is small, G itself would be rounded to 0.
    """
    return np.log(rng.standard_gamma(shapes + 1)) - rng.standard_exponential(shapes.shape) / shapes


def draw_log_dirichlet(
    shapes: Floats, starts: NDArray[Any], widths: NDArray[Any], rng: np.random.Generator
) -> Floats:
    """log p for every block of columns, p ~ Dir(its shapes): gammas divided by their sum."""
    log_g = draw_log_gamma(shapes, rng)
    log_total = np.logaddexp.reduceat(log_g, starts, axis=1)
    return log_g - np.repeat(log_total, widths, axis=1)


def sample_log_dirichlet(shapes: Floats, size: int, rng: np.random.Generator) -> Floats:
    """(size, k): log p, p ~ Dir(shapes), for the forward simulator."""
    # G(s) = G(s + 1) U^(1 / s): small shapes give a logarithm, not the number 0.
    log_u = np.log1p(-rng.random((size, len(shapes))))
    log_g = np.log(rng.standard_gamma(shapes + 1, (size, len(shapes)))) + log_u / shapes
    largest = log_g.max(axis=1, keepdims=True)
    return log_g - largest - np.log(np.exp(log_g - largest).sum(axis=1, keepdims=True))


def is_count(x: Floats) -> NDArray[np.bool_]:
    """Whether entries are whole numbers from 0 to LARGEST_COUNT."""
    return (x >= 0) & (x <= LARGEST_COUNT) & (x == np.floor(x))


def log_rising(a: Floats, x: Floats) -> Floats:
    """log Gamma(a + x) / Gamma(a), which is 0 for x = 0.

    By the beta function, which knows both arguments: where a is large, the two gamma functions are
    all but equal.
    """
    some = x > 0
    safe = np.where(some, x, 1.0)
    return np.where(some, gammaln(safe) - betaln(a, safe), 0.0)


def check_shapes(value: ArrayLike, n_features: int, name: str) -> Floats:
    """`value` as a (d,) vector of shapes of gamma variables."""
    return check_between(value, n_features, name, _LEAST_SHAPE, _LARGEST_SHAPE)


def check_between(
    value: ArrayLike, n_features: int, name: str, least: float, largest: float
) -> Floats:
    """`value` as a (d,) vector, if it lies between `least` and `largest`."""
    vector = check_vector(value, n_features, name)
    bad = vector[~((vector >= least) & (vector <= largest))]
    if len(bad):
        raise ValueError(f"{name} must be between {least:g} and {largest:g}, got {bad[0]:g}.")
    return vector


def check_entries(X: Floats, fits: Callable[[Floats], NDArray[np.bool_]], needs: str) -> None:
    """Refuse the first entry of X, row by row, that does not fit."""
    for rows in slices(len(X)):
        bad = np.argwhere(~fits(X[rows]))
        if len(bad):
            i, j = bad[0].tolist()
            raise WrongEntryError(float(X[rows][i, j]), rows.start + i, j, needs)


def check_float32(size: float) -> None:
    """Refuse float32 for log likelihoods of this size."""
    if size > _WIDEST_FLOAT32:
        raise ValueError(
            f"precision='float32' needs log likelihoods within {_WIDEST_FLOAT32:g}, and those of "
            f"this model and data may reach {size:.3g}: use 'float64'."
        )
