"""x_d ~ Bernoulli(p_d) with p_d ~ Beta(a_d, b_d), every column on its own."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaln, entr, expit

from bhmc.likelihoods._discrete import (
    ColumnFamily,
    check_entries,
    check_float32,
    check_shapes,
    draw_log_gamma,
)
from bhmc.likelihoods._located import TreePrior
from bhmc.likelihoods._logits import LogitUnits, prior_of_logits
from bhmc.likelihoods._protocol import ConjugateFamily, Likelihood
from bhmc.likelihoods._summary import ColumnSummary
from bhmc.likelihoods.blocks import Floats, by_rows, over


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
    has_places = True

    @classmethod
    def scaled_to(cls, X: Floats) -> "Bernoulli":
        """The family with its prior at the columns' own frequencies: a + b = 2, as if flat.

        A flat prior expects ones and zeros alike, which makes a new component costly wherever ones
        are rare. X must hold all rows.
        """
        ones, seen = np.nansum(X, axis=0), (~np.isnan(X)).sum(axis=0)
        share = (ones + 0.5) / (seen + 1)
        return cls(a=2 * share, b=2 * (1 - share))

    def prepare(self, X: Floats, summary: ColumnSummary | None = None) -> ConjugateFamily:
        """The family bound to X."""
        return BernoulliFamily(self, X, summary)

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

    def noise_on_tree(self, shared: Floats, n_features: int) -> Floats:
        """Steps of logits have no other unit: 1."""
        return np.ones(n_features)

    def prior_on_tree(self, n_features: int) -> TreePrior:
        """The logits of a / (a + b)."""
        a, b = self.checked(n_features)
        return prior_of_logits(np.log(a / b))

    def checked(self, n_features: int) -> tuple[Floats, Floats]:
        """(a, b) as (d,) vectors."""
        return check_shapes(self.a, n_features, "a"), check_shapes(self.b, n_features, "b")


class BernoulliFamily(ColumnFamily, LogitUnits):
    """The conditionals of `Bernoulli` for given data: slope theta, level log(1 - p), h(x) = 0."""

    takes_statistics = True

    def __init__(self, likelihood: Bernoulli, X: Floats, summary: ColumnSummary | None = None):
        # Entries first: settings that were taken from wrong ones are wrong for that reason.
        check_entries(X, _is_bit, "the Bernoulli family needs 0 or 1")
        self._a, self._b = likelihood.checked(X.shape[1])
        super().__init__(X, summary)

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
        return by_rows(self.n_rows, lambda rows: self.statistics(rows) @ eta)

    def log_evidence(self, sums: Floats) -> Floats:
        """sum_d log B(a + S, b + N - S) / B(a, b), with S = sum o x and N = sum o."""
        ones, seen = self._parts(sums)
        each = betaln(self._a + ones, self._b + (seen - ones)) - betaln(self._a, self._b)
        return each.sum(axis=1)

    def log_prior(self, theta: Floats) -> Floats:
        """log of the density of the logits: sum_d [ a log p + b log(1 - p) - log B(a, b) ].

        Beyond Beta(a, b) for p this has the Jacobian dp / dtheta = p (1 - p).
        """
        log_p, log_q = -np.logaddexp(0.0, -theta), -np.logaddexp(0.0, theta)
        return (self._a * log_p + self._b * log_q - betaln(self._a, self._b)).sum(axis=1)

    def log_maximum(self, sums: Floats) -> Floats:
        """sum_d [ S log(S / N) + (N - S) log(1 - S / N) ], with S = sum o x and N = sum o."""
        ones, seen = self._parts(sums)
        return -(seen * entr(over(ones, seen)) + seen * entr(over(seen - ones, seen))).sum(axis=1)

    def draw_theta(self, sums: Floats, rng: np.random.Generator) -> Floats:
        """logit p_kd, p_kd ~ Beta(a_d + S_kd, b_d + N_kd - S_kd), with S = sum o x and N = sum o.

        That is log G - log G' for gamma variables of these two shapes.
        """
        ones, seen = self._parts(sums)
        return draw_log_gamma(self._a + ones, rng) - draw_log_gamma(self._b + (seen - ones), rng)

    # ---- On a tree: theta is a place already ----------------------------------------------------

    @property
    def n_logits(self) -> int:
        """One a column."""
        return self.n_parameters

    def prior_on_tree(self) -> TreePrior:
        """The logits of a / (a + b)."""
        return prior_of_logits(np.log(self._a / self._b))

    def enter(self, theta: Floats) -> Floats:
        """theta."""
        return theta

    def leave(self, places: Floats) -> Floats:
        """theta."""
        return places

    def logit_counts(self, sums: Floats) -> tuple[Floats, Floats]:
        """(sum o x, sum o)."""
        ones, seen = self._parts(sums)
        every = np.empty(ones.shape)  # for few numbers `np.broadcast_to` takes far longer
        every[...] = seen
        return ones, every

    def natural_of_logs(self, log_one: Floats, log_zero: Floats) -> Floats:
        """Slope log p - log(1 - p), level log(1 - p)."""
        return self._joined(log_one - log_zero, log_zero)


def _is_bit(x: Floats) -> NDArray[np.bool_]:
    """Whether entries are 0, 1 or missing."""
    return (x == 0) | (x == 1) | np.isnan(x)
