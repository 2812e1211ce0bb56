"""x_d ~ Categorical(p_d) with p_d ~ Dir(concentration_d, ...), every column on its own."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln, log_expit, xlogy

from bhmc._validation.parameters import check_positive_vector, check_whole
from bhmc.likelihoods._discrete import (
    check_entries,
    check_float32,
    check_shapes,
    draw_log_dirichlet,
    log_rising,
    sample_log_dirichlet,
)
from bhmc.likelihoods._located import TreePrior
from bhmc.likelihoods._logits import LogitUnits, prior_of_logits
from bhmc.likelihoods._protocol import ConjugateFamily, Likelihood
from bhmc.likelihoods._statistics import with_kept, with_unkept
from bhmc.likelihoods._sticks import Sticks
from bhmc.likelihoods._summary import ColumnSummary, summary_of_all
from bhmc.likelihoods.blocks import LARGEST_COPY, Floats, by_rows

# A code beyond this is surely a number of some other kind; and every category costs memory.
_LARGEST_CODE = 65535


@dataclass(frozen=True, eq=False)
class Categorical(Likelihood):
    """Columns of category codes 0, 1, 2, ...; NaN is a missing entry.

    A component's parameters are log probabilities: those of column 0's categories, then those of
    column 1's, and so on.

    Parameters
    ----------
    concentration : float or (d,), default=1.0
        p_d ~ Dir(concentration_d, ..., concentration_d).
    n_categories : int or a list of d, optional
        How many categories a column has. Default: one more than its largest code. To simulate data
        it must be given.
    shares : list, optional
        How often each category is expected, column after column: where a diffusing tree begins. It
        asks of every row "is it the most frequent category?", then the next, and so on, in the
        order of these numbers. Default: all alike. `BHMC` takes them from the data.
    """

    concentration: ArrayLike = 1.0
    n_categories: ArrayLike | None = None
    shares: ArrayLike | None = None

    allows_missing = True
    has_places = True

    def counted(self, X: Floats) -> "Categorical":
        """A copy whose `n_categories` is one more than the largest code in X, with shares of X.

        X must hold all rows.
        """
        widths = self.checked(X.shape[1])
        if widths is None:
            widths = _largest_codes(ColumnSummary.of(X)) + 1
        number = widths if self.n_categories is None else self.n_categories
        shares = _shares_of(X, widths) if self.shares is None else self.shares
        return replace(self, n_categories=number, shares=shares)

    def prepare(self, X: Floats, summary: ColumnSummary | None = None) -> ConjugateFamily:
        """The family bound to X."""
        return CategoricalFamily(self, X, summary)

    def sample_theta(self, size: int, n_features: int, rng: np.random.Generator) -> Floats:
        """theta = (log p_1, ..., log p_d), p_d ~ Dir(concentration_d, ...)."""
        concentration = check_shapes(self.concentration, n_features, "concentration")
        columns = zip(concentration, self._given(n_features), strict=True)
        return np.hstack([sample_log_dirichlet(np.full(k, c), size, rng) for c, k in columns])

    def sample_data(self, theta: Floats, rng: np.random.Generator) -> Floats:
        """x_id = j with probability exp(theta_idj)."""
        widths = self._given(self._n_features(theta.shape[1]))
        if theta.shape[1] != widths.sum():
            raise ValueError(
                f"theta has {theta.shape[1]} numbers a component, but n_categories needs "
                f"{widths.sum()}."
            )
        X = np.empty((len(theta), len(widths)))
        for d, log_p in enumerate(np.split(theta, np.cumsum(widths)[:-1], axis=1)):
            running = np.cumsum(np.exp(log_p), axis=1)
            u = rng.random((len(theta), 1)) * running[:, -1:]
            X[:, d] = (running[:, :-1] <= u).sum(axis=1)
        return X

    def noise_on_tree(self, shared: Floats, n_features: int) -> Floats:
        """Steps of logits have no other unit: 1."""
        return np.ones(len(self.blocks_on_tree(n_features)))

    def blocks_on_tree(self, n_features: int) -> NDArray[np.int64]:
        """One: a logit for every category of a column but its last."""
        return np.zeros(int((self._given(n_features) - 1).sum()), dtype=np.int64)

    def prior_on_tree(self, n_features: int) -> TreePrior:
        """The logarithms of `shares`."""
        return prior_of_logits(np.log(self.checked_shares(self._given(n_features))))

    def sample_theta_at(
        self, locations: Floats, variances: Floats, shared: Floats, rng: np.random.Generator
    ) -> Floats:
        """Each category, most frequent first, takes sigmoid(logit) of what is left."""
        widths = self._given(self._n_features(locations.shape[1]))
        shares, theta = self.checked_shares(widths), np.empty_like(locations)
        for first, k in zip(np.cumsum(widths) - widths, widths, strict=True):
            order = first + np.argsort(-shares[first : first + k], kind="stable")
            left = np.zeros(len(locations))
            for i, category in enumerate(order[:-1]):
                others = np.logaddexp.reduce(locations[:, order[i + 1 :]], axis=1)
                step = np.sqrt(variances[:, 0]) * rng.standard_normal(len(locations))
                logit = locations[:, category] - others + step
                theta[:, category] = left + log_expit(logit)
                left = left + log_expit(-logit)
            theta[:, order[-1]] = left
        return theta

    def checked_shares(self, widths: NDArray[np.int64]) -> Floats:
        """(p,) `shares` of columns with so many categories; they add up to 1 in each."""
        if self.shares is None:
            return np.repeat(1 / widths, widths)
        shares = check_positive_vector(self.shares, int(widths.sum()), "shares")
        total = np.add.reduceat(shares, np.cumsum(widths) - widths)
        return shares / np.repeat(total, widths)

    def checked(self, n_features: int) -> NDArray[np.int64] | None:
        """(d,) numbers of categories, where they are given."""
        given = self.n_categories
        if given is None:
            return None
        if np.ndim(given) == 0:
            return np.full(n_features, check_whole(given, "n_categories", 1))
        each = [check_whole(k, f"n_categories[{d}]", 1) for d, k in enumerate(np.asarray(given))]
        if len(each) != n_features:
            raise ValueError(
                f"n_categories must be a whole number or hold one for each of the {n_features} "
                f"features, got {len(each)}."
            )
        return np.array(each)

    def _given(self, n_features: int) -> NDArray[np.int64]:
        """(d,) numbers of categories for simulation."""
        widths = self.checked(n_features)
        if widths is None:
            raise ValueError(
                "n_categories must be given to simulate data, because there are no codes to count."
            )
        return widths

    def _n_features(self, n_parameters: int) -> int:
        """d, from the length of theta."""
        given = self.n_categories
        if given is None:
            return 0
        return np.size(given) if np.ndim(given) else n_parameters // max(1, int(np.asarray(given)))


class CategoricalFamily(ConjugateFamily, LogitUnits):
    """The conditionals of `Categorical` for given data.

    t(x) holds for every column a block of zeros with a 1 in the place of its code, zeros alone
    where it is missing; and the final 1. eta(theta) = (theta, 0) and h(x) = 0.
    """

    takes_statistics = True

    def __init__(self, likelihood: Categorical, X: Floats, summary: ColumnSummary | None = None):
        self.n_rows, d = X.shape
        check_entries(
            X, _is_code, f"the Categorical family needs whole numbers from 0 to {_LARGEST_CODE}"
        )
        concentration = check_shapes(likelihood.concentration, d, "concentration")
        widths = likelihood.checked(d)
        if widths is None:
            widths = _largest_codes(summary_of_all(X, summary)) + 1
        else:
            check_entries(X, lambda x: ~(x >= widths), "codes must be below n_categories")
        self._widths, self._starts = widths, np.cumsum(widths) - widths
        self._concentration = np.repeat(concentration, widths)
        self._shares = likelihood.checked_shares(widths)
        self._sticks = Sticks(widths, self._shares)
        self.n_parameters = int(widths.sum())
        self.n_statistics = self.n_parameters + 1
        self._log_constant = float((gammaln(concentration * widths)).sum())
        self._log_constant -= float(gammaln(self._concentration).sum())
        self._X, self._kept = X, None
        if self.n_rows * self.n_statistics * 8 <= LARGEST_COPY:
            self._kept, self._X = self.statistics(slice(0, self.n_rows)), None

    def check_precision(self, dtype: str) -> None:
        """Refuse float32 where log probabilities add up to too much."""
        if dtype == "float32":
            check_float32(float(np.log(self._widths).sum()))

    def with_statistics(self, t: Floats) -> Self:
        """A copy that holds these rows alone."""
        return with_kept(self, t)

    def with_rows(self, X: Floats) -> Self:
        """A copy that holds these rows alone."""
        return with_unkept(self, X)

    def statistics(self, rows: slice) -> Floats:
        """(one-hot blocks, 1)."""
        if self._kept is not None:
            return self._kept[rows]
        assert self._X is not None, "the data are here if no copy was kept"
        x = self._X[rows]
        t = np.zeros((len(x), self.n_statistics))
        i, d = np.nonzero(~np.isnan(x))
        t[i, self._starts[d] + x[i, d].astype(np.int64)] = 1.0
        t[:, -1] = 1.0
        t.flags.writeable = False
        return t

    def points(self, rows: slice) -> Floats:
        """The blocks; NaN all over those of missing entries."""
        blocks = self.statistics(rows)[:, :-1]
        missing = np.add.reduceat(blocks, self._starts, axis=1) == 0
        return np.where(np.repeat(missing, self._widths, axis=1), np.nan, blocks)

    def natural(self, theta: Floats) -> Floats:
        """(theta, 0)."""
        return np.column_stack([theta, np.zeros(len(theta))])

    def log_base(self) -> Floats:
        """h(x) = 0."""
        return np.zeros(self.n_rows)

    def log_new(self) -> Floats:
        """log f*(x) = -sum_d o_d log k_d: the prior mean of p_d is 1 / k_d for each category."""
        eta = np.append(np.repeat(-np.log(self._widths), self._widths), 0.0)
        return by_rows(self.n_rows, lambda rows: self.statistics(rows) @ eta)

    def log_evidence(self, sums: Floats) -> Floats:
        """sum_d [ sum over categories of log G(c + C) / G(c) ] - log G(k c + N) / G(k c)."""
        counts = sums[:, :-1]
        seen = np.add.reduceat(counts, self._starts, axis=1)
        total = np.add.reduceat(self._concentration, self._starts)
        each = log_rising(self._concentration, counts).sum(axis=1)
        return each - log_rising(total, seen).sum(axis=1)

    def log_prior(self, theta: Floats) -> Floats:
        """sum_d log Dir(p_d; concentration_d, ...), with p_d = exp(theta_d).

        A density of the first k_d - 1 probabilities of every column, not of their logarithms: those
        of a column have one coordinate less than numbers.
        """
        return self._log_constant + theta @ (self._concentration - 1)

    def log_maximum(self, sums: Floats) -> Floats:
        """sum over categories of C log(C / N), C the count of the category and N of its column."""
        counts = sums[:, :-1]
        seen = np.add.reduceat(counts, self._starts, axis=1)
        return xlogy(counts, counts).sum(axis=1) - xlogy(seen, seen).sum(axis=1)

    def draw_theta(self, sums: Floats, rng: np.random.Generator) -> Floats:
        """log p_kd, p_kd ~ Dir(concentration_d + counts of the categories of column d)."""
        shapes = self._concentration + sums[:, :-1]
        return draw_log_dirichlet(shapes, self._starts, self._widths, rng)

    # ---- On a tree: logits of sticks ------------------------------------------------------------

    @property
    def n_logits(self) -> int:
        """One for every category of a column but its last."""
        return self._sticks.n_logits

    def prior_on_tree(self) -> TreePrior:
        """The logarithms of `shares`."""
        return prior_of_logits(np.log(self._shares))

    def enter(self, theta: Floats) -> Floats:
        """Logits from log probabilities."""
        return self._sticks.logits(theta)

    def leave(self, places: Floats) -> Floats:
        """Log probabilities from logits."""
        return self._sticks.log_shares(log_expit(places), log_expit(-places))

    def logit_counts(self, sums: Floats) -> tuple[Floats, Floats]:
        """Rows of a category, and those of this and of all that come after it."""
        return self._sticks.counts(sums[:, :-1])

    def natural_of_logs(self, log_one: Floats, log_zero: Floats) -> Floats:
        """(log probabilities, 0)."""
        return self.natural(self._sticks.log_shares(log_one, log_zero))


def _is_code(x: Floats) -> NDArray[np.bool_]:
    """Whether entries are codes or missing."""
    return ((x >= 0) & (x <= _LARGEST_CODE) & (x == np.floor(x))) | np.isnan(x)


def _largest_codes(summary: ColumnSummary) -> NDArray[np.int64]:
    """(d,): the largest code of every column; 0 where nothing is observed."""
    # A larger number is no code, and is refused as such.
    return np.clip(np.nan_to_num(summary.largest), 0, _LARGEST_CODE).astype(np.int64)


def _shares_of(X: Floats, widths: NDArray[np.int64]) -> Floats:
    """(p,): how often each category is seen, as if each had been seen half a time before."""
    shares = []
    for column, k in zip(X.T, widths, strict=True):
        codes = column[(column >= 0) & (column < k)].astype(np.int64)  # others are refused later
        shares.append((np.bincount(codes, minlength=k) + 0.5) / (len(codes) + 0.5 * k))
    return np.concatenate(shares)
