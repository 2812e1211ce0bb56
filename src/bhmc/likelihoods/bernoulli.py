"""x_d ~ Bernoulli(p_d) with p_d ~ Beta(a_d, b_d), every column on its own.

Also here: what the other families of whole numbers need too (checks, `ColumnFamily`, log gammas).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaln, expit

from bhmc._checks import check_vector
from bhmc.likelihoods._protocol import LARGEST_COPY, Family, Floats, Likelihood, has_missing, slices

# A gamma variable of a smaller shape is so near 0 that sums of its logarithms lose digits; of a
# larger one, log gamma functions do.
_LEAST_SHAPE, _LARGEST_SHAPE = 1e-8, 1e12

_NEEDS = "the Bernoulli family needs 0 or 1"

# A float32 log likelihood of this size is off by about 1e-3.
_WIDEST_FLOAT32 = 1e4


@dataclass(frozen=True, eq=False)
class Bernoulli(Likelihood):
    """Columns of 0 and 1, each with its own probability of 1; NaN is a missing entry.

    A component's parameters are the logits theta_d = log(p_d / (1 - p_d)): a probability near 1
    would be rounded to 1. `scipy.special.expit(theta)` gives the probabilities.

    Parameters
    ----------
    a, b : float or (d,), default=1.0
        p_d ~ Beta(a_d, b_d): a counts ones and b zeros, as if so many had been seen before.
    """

    a: ArrayLike = 1.0
    b: ArrayLike = 1.0

    allows_missing = True

    @classmethod
    def scaled_to(cls, X: Floats) -> "Bernoulli":
        """The family with its prior at the columns' own frequencies: a + b = 2, as if flat.

        A flat prior expects ones and zeros alike, which makes a new component costly wherever ones
        are rare.
        """
        check_entries(X, _is_bit, _NEEDS)  # else the prior would be refused, not the data
        ones, seen = np.nansum(X, axis=0), (~np.isnan(X)).sum(axis=0)
        share = (ones + 0.5) / (seen + 1)
        return cls(a=2 * share, b=2 * (1 - share))

    def prepare(self, X: Floats) -> "BernoulliFamily":
        """The family bound to X."""
        return BernoulliFamily(self, X)

    def sample_theta(self, size: int, n_features: int, rng: np.random.Generator) -> Floats:
        """theta = log G - log G', G ~ Gamma(a), G' ~ Gamma(b): p = G / (G + G') ~ Beta(a, b)."""
        ones, zeros = (
            # G(s) = G(s + 1) U^(1 / s): small shapes give a logarithm, not the number 0.
            np.log(rng.standard_gamma(shape + 1, (size, n_features)))
            + np.log1p(-rng.random((size, n_features))) / shape
            for shape in self.checked(n_features)
        )
        return ones - zeros

    def sample_data(self, theta: Floats, rng: np.random.Generator) -> Floats:
        """x_id = 1 with probability 1 / (1 + exp(-theta_id)), else 0."""
        return (rng.random(theta.shape) < expit(theta)).astype(np.float64)

    def checked(self, n_features: int) -> tuple[Floats, Floats]:
        """(a, b) as (d,) vectors."""
        return check_shapes(self.a, n_features, "a"), check_shapes(self.b, n_features, "b")


class ColumnFamily(Family):
    """A family whose columns are each on their own and have one parameter each.

    With o_d = 1 where entry d is observed, t(x) = (x, 1), or (o x, o, 1) where some are missing:

        log f(x; theta) = sum_d o_d [ slope_d(theta) x_d + level_d(theta) ] + h(x).
    """

    def __init__(self, X: Floats):
        self.n_rows, d = X.shape
        self._missing = has_missing(X)
        self.n_parameters, self.n_statistics = d, (2 * d if self._missing else d) + 1
        self._X, self._kept = X, None
        if X.nbytes <= LARGEST_COPY:
            self._kept, self._X = self.statistics(slice(0, self.n_rows)), None

    def statistics(self, rows: slice) -> Floats:
        """(x, 1) or (o x, o, 1)."""
        if self._kept is not None:
            return self._kept[rows]
        assert self._X is not None, "the data are here if no copy was kept"
        x, d = self._X[rows], self.n_parameters
        t = np.ones((len(x), self.n_statistics))
        if self._missing:
            np.logical_not(np.isnan(x), out=t[:, d:-1])
            x = np.where(np.isnan(x), 0.0, x)
        t[:, :d] = x
        t.flags.writeable = False
        return t

    def _joined(self, slope: Floats, level: Floats) -> Floats:
        """(K, s): eta from slopes and levels (K, d)."""
        if self._missing:
            return np.column_stack([slope, level, np.zeros(len(slope))])
        return np.column_stack([slope, level.sum(axis=1)])

    def _parts(self, sums: Floats) -> tuple[Floats, Floats]:
        """Sums of x (K, d), and how many entries those are: (K, d) or (K, 1)."""
        d = self.n_parameters
        return sums[:, :d], sums[:, d:-1] if self._missing else sums[:, -1:]


class BernoulliFamily(ColumnFamily):
    """The conditionals of `Bernoulli` for given data: slope theta, level log(1 - p), h(x) = 0."""

    def __init__(self, likelihood: Bernoulli, X: Floats):
        self._a, self._b = likelihood.checked(X.shape[1])
        check_entries(X, _is_bit, _NEEDS)
        super().__init__(X)

    def check_precision(self, dtype: str) -> None:
        """Refuse float32 where logits (about 1 / a or 1 / b in size) add up to too much."""
        if dtype == "float32":
            check_float32(float((1 / np.minimum(1.0, np.minimum(self._a, self._b))).sum()))

    def natural(self, theta: Floats) -> Floats:
        """(theta, sum_d log(1 - p_d)), by column where entries are missing."""
        return self._joined(theta, -np.logaddexp(0.0, theta))

    def log_base(self) -> Floats:
        """h(x) = 0."""
        return np.zeros(self.n_rows)

    def log_new(self) -> Floats:
        """log f*(x): f is linear in every p_d, so f* is f at their means a_d / (a_d + b_d)."""
        eta = self.natural(np.log(self._a / self._b)[None, :])[0]
        return np.concatenate([self.statistics(rows) @ eta for rows in slices(self.n_rows)])

    def log_prior(self, theta: Floats) -> Floats:
        """log of the density of the logits: sum_d [ a log p + b log(1 - p) - log B(a, b) ].

        Beyond Beta(a, b) for p this has the Jacobian dp / dtheta = p (1 - p).
        """
        log_p, log_q = -np.logaddexp(0.0, -theta), -np.logaddexp(0.0, theta)
        return (self._a * log_p + self._b * log_q - betaln(self._a, self._b)).sum(axis=1)

    def draw_theta(self, sums: Floats, rng: np.random.Generator) -> Floats:
        """logit p_kd, p_kd ~ Beta(a_d + S_kd, b_d + N_kd - S_kd), with S = sum o x and N = sum o.

        That is log G - log G' for gamma variables of these two shapes.
        """
        ones, seen = self._parts(sums)
        return draw_log_gamma(self._a + ones, rng) - draw_log_gamma(self._b + (seen - ones), rng)


def draw_log_gamma(shapes: Floats, rng: np.random.Generator) -> Floats:
    """log G, G ~ Gamma(shape, 1).

    G(s) = G(s + 1) exp(-E / s), E exponential: where s is small, G itself would be rounded to 0.
    """
    return np.log(rng.standard_gamma(shapes + 1)) - rng.standard_exponential(shapes.shape) / shapes


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
            refuse(float(X[rows][i, j]), rows.start + i, j, needs)


def refuse(value: float, row: int, column: int, needs: str) -> NoReturn:
    """Raise the sentence that names a wrong entry."""
    what = "NaN (a missing value)" if np.isnan(value) else f"{value:.15g}"
    raise ValueError(f"X has {what} in column {column}, row {row}; {needs}.")


def check_float32(size: float) -> None:
    """Refuse float32 for log likelihoods of this size."""
    if size > _WIDEST_FLOAT32:
        raise ValueError(
            f"precision='float32' needs log likelihoods within {_WIDEST_FLOAT32:g}, and those of "
            f"this model and data may reach {size:.3g}: use 'float64'."
        )


def _is_bit(x: Floats) -> NDArray[np.bool_]:
    """Whether entries are 0, 1 or missing."""
    return (x == 0) | (x == 1) | np.isnan(x)
