"""`LogitUnits`: columns of 0 and 1 on a tree, in coordinates that are logits.

A row of 1 has the likelihood sigmoid(theta), one of 0 sigmoid(-theta). Given omega ~ PG(rows seen,
theta) that of all rows is Gaussian in theta (Polson, Scott and Windle, 2013). Compiled code is
imported when it is first needed.
"""

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import expit

from bhmc.likelihoods._located import Located, TreePrior
from bhmc.likelihoods.blocks import Floats

# Variance from the root to a component: most probabilities lie within 0.02 and 0.98 of even ones.
_SPREAD = 4.0


def prior_of_logits(origin: Floats) -> TreePrior:
    """One block without noise.

    Parameters
    ----------
    origin : (p,) array
        Where the root is expected.
    """
    return TreePrior(origin, np.array([_SPREAD]), np.array([False]))


class LogitUnits(Located):
    """Rows are choices between 1 and 0, one for each logit that they reach."""

    @property
    @abstractmethod
    def n_logits(self) -> int:
        """D."""

    @abstractmethod
    def logit_counts(self, sums: Floats) -> tuple[Floats, Floats]:
        """(ones, seen), (K, D) each: rows with a 1, and all rows that reach a logit, from sums."""

    @abstractmethod
    def natural_of_logs(self, log_one: Floats, log_zero: Floats) -> Floats:
        """(M, s): eta of components with these (M, D) log probabilities of a 1 and a 0."""

    @abstractmethod
    def statistics(self, rows: slice) -> Floats:
        """As in `Family`."""

    def row_numbers(self, rows: slice) -> tuple[Floats, Floats, NDArray[np.bool_]]:
        """(ones, seen), (n, D) each, and that all coordinates are logits."""
        t: Any = self.statistics(rows)
        ones, seen = self.logit_counts(t.toarray() if sparse.issparse(t) else t)
        return ones, seen, np.ones(self.n_logits, dtype=bool)

    def precision_columns(self) -> tuple[NDArray[np.int64], Floats]:
        """Every logit has a precision of its own."""
        if not self.n_logits:
            raise ValueError("a column on a diffusing tree needs two categories, and none has.")
        return np.arange(self.n_logits), np.ones(self.n_logits)

    def evidence(
        self, places: Floats, sums: Floats, rng: np.random.Generator
    ) -> tuple[Floats, Floats]:
        """Precision: omega ~ PG(seen, theta). Linear: ones - seen / 2."""
        from bhmc._compiled.polya_gamma import draw_polya_gamma
        from bhmc._compiled.random_source import random_source

        ones, seen = self.logit_counts(sums)
        return draw_polya_gamma(seen, places, random_source(rng)), ones - seen / 2

    def log_new_at(self, rows: slice, places: Floats, variances: Floats) -> Floats:
        """Logits are independent: a 1 or a 0 in each has the log of its mean probability."""
        from bhmc.likelihoods.logistic_normal import log_bernoulli_at

        eta = self.natural_of_logs(*log_bernoulli_at(places, variances))
        return self.statistics(rows) @ eta.T

    def log_evidence_at(self, sums: Floats, place: Floats, variance: Floats) -> Floats:
        """The sum over logits of one-dimensional integrals."""
        from bhmc.likelihoods.logistic_normal import log_logit_evidence

        return log_logit_evidence(*self.logit_counts(sums), place, variance)

    def draw_theta_at(
        self, sums: Floats, places: Floats, variances: Floats, rng: np.random.Generator
    ) -> Floats:
        """Exact draws, logit by logit, without omega."""
        from bhmc.likelihoods.logistic_normal import draw_logits_at

        return draw_logits_at(*self.logit_counts(sums), places, variances, rng)

    def own_places(self, sums: Floats, origin: Floats) -> Floats:
        """logit of (ones + p) / (seen + 1), p the probability at the origin."""
        ones, seen = self.logit_counts(sums)
        return np.log((ones + expit(origin)) / (seen - ones + expit(-origin)))

    def draw_shared_at(
        self, theta: Floats, sums: Floats, increments: Floats, rng: np.random.Generator
    ) -> Floats:
        """Nothing is learned."""
        return np.empty(0)

    def shared_at(self, root: Floats, total: Floats) -> Floats:
        """Nothing is learned."""
        return np.empty(0)

    def log_prior_noise(self) -> float:
        """0."""
        return 0.0
