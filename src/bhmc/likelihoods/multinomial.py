"""x ~ Multinomial(N, p) with N the row's own total, and p ~ Dir(concentration)."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.special import gammaln, xlogy

from bhmc._validation.errors import WrongEntryError
from bhmc.likelihoods._discrete import (
    LARGEST_COUNT,
    check_entries,
    check_float32,
    check_shapes,
    draw_log_dirichlet,
    is_count,
    log_rising,
    sample_log_dirichlet,
)
from bhmc.likelihoods._protocol import ConjugateFamily, Likelihood
from bhmc.likelihoods._summary import ColumnSummary, summary_of_all
from bhmc.likelihoods.blocks import LARGEST_COPY, Floats, slices

_NEEDS = f"the Multinomial family needs whole numbers from 0 to {LARGEST_COUNT:g}"


@dataclass(frozen=True, eq=False)
class Multinomial(Likelihood):
    """Rows of counts, such as the words of a document; dense or SciPy sparse.

    A component's parameters are the log probabilities theta_d = log p_d. A row's total is taken as
    given: densities are those of its counts given their total.

    Parameters
    ----------
    concentration : float or (d,), default=1.0
        p ~ Dir(concentration_1, ..., concentration_d).
    n_trials : int or (n,), default=1
        Totals of simulated rows, one for all or one for each. Given data have totals of their own;
        `BHMC` takes their median where the likelihood is given by name.
    """

    concentration: ArrayLike = 1.0
    n_trials: ArrayLike = 1

    allows_sparse = True

    @classmethod
    def scaled_to(cls, X: Any) -> "Multinomial":
        """The family whose simulated rows have the median total of the rows of X: all rows."""
        totals = np.asarray(X.sum(axis=1)).ravel()
        middle = np.median(totals[np.isfinite(totals)]) if len(totals) else 1.0
        return cls(n_trials=int(np.clip(middle, 0, LARGEST_COUNT)))

    def extents(self, X: Any) -> Floats:
        """(n,): totals of rows."""
        return np.asarray(X.sum(axis=1), dtype=np.float64).ravel()

    def with_extents(self, X: Any) -> "Multinomial":
        """A copy whose simulated rows have the totals of the rows of X."""
        return replace(self, n_trials=self.extents(X).astype(np.int64))

    def prepare(self, X: Any, summary: ColumnSummary | None = None) -> ConjugateFamily:
        """The family bound to X."""
        return MultinomialFamily(self, X, summary)

    def sample_theta(self, size: int, n_features: int, rng: np.random.Generator) -> Floats:
        """theta = log p, p ~ Dir(concentration)."""
        shapes = check_shapes(self.concentration, n_features, "concentration")
        return sample_log_dirichlet(shapes, size, rng)

    def sample_data(self, theta: Floats, rng: np.random.Generator) -> Floats:
        """x_i ~ Multinomial(n_trials_i, exp(theta_i))."""
        totals = self._totals(len(theta))
        p = np.exp(theta)
        p /= p.sum(axis=1, keepdims=True)
        return rng.multinomial(totals, p).astype(np.float64)

    def _totals(self, n: int) -> NDArray[np.int64]:
        """(n,) totals; where there are no rows any number of them will do."""
        totals = np.asarray(self.n_trials)
        if totals.dtype.kind not in "iu" or totals.min(initial=0) < 0:
            raise ValueError(
                f"n_trials must be made of whole numbers of at least 0, got {self.n_trials!r}."
            )
        if totals.ndim and n and totals.shape != (n,):
            raise ValueError(
                f"n_trials must be a number or hold one for each of the {n} rows, got shape "
                f"{totals.shape}."
            )
        return np.full(n, totals, dtype=np.int64) if n else np.zeros(0, dtype=np.int64)


class MultinomialFamily(ConjugateFamily):
    """The conditionals of `Multinomial` for given data.

    t(x) = (x, 1), sparse where X is; eta(theta) = (theta, 0); h(x) = log N! - sum_d log x_d!.
    """

    def __init__(self, likelihood: Multinomial, X: Any, summary: ColumnSummary | None = None):
        self.n_rows, d = X.shape
        self.n_parameters, self.n_statistics = d, d + 1
        self._X, self._kept = _checked(X), None
        self._prior = check_shapes(likelihood.concentration, d, "concentration")
        if _bytes_of(self._X) <= LARGEST_COPY:
            self._kept, self._X = self.statistics(slice(0, self.n_rows)), None
        self._totals = self._row_sums(lambda x, _: x)
        self.subtracts_well = summary_of_all(X, summary).adds_exactly

    def check_precision(self, dtype: str) -> None:
        """Refuse float32 where a row has so many counts that their log probabilities are large."""
        if dtype == "float32":
            check_float32(float(self._totals.max(initial=0.0) * np.log(self.n_parameters + 1)))

    def statistics(self, rows: slice) -> Any:
        """(x, 1), a SciPy CSR array where X is sparse."""
        if self._kept is not None:
            return self._kept[rows]
        assert self._X is not None, "the data are here if no copy was kept"
        x = self._X[rows]
        if sparse.issparse(x):
            return _with_ones(x)
        t = np.column_stack([x, np.ones(len(x))])
        t.flags.writeable = False
        return t

    def points(self, rows: slice) -> Any:
        """Roots of the shares x / N: long rows and short ones of the same kind lie together.

        Sparse, whatever the data are: both kinds of data start alike.
        """
        x = sparse.csr_array(self.statistics(rows)[:, :-1])
        totals = np.maximum(self._totals[rows], 1.0)
        shares = x.data / np.repeat(totals, np.diff(x.indptr))
        return sparse.csr_array((np.sqrt(shares), x.indices, x.indptr), shape=x.shape)

    def natural(self, theta: Floats) -> Floats:
        """(theta, 0)."""
        return np.column_stack([theta, np.zeros(len(theta))])

    def log_base(self) -> Floats:
        """h(x) = log N! - sum_d log x_d!."""
        return gammaln(self._totals + 1) - self._row_sums(lambda x, _: gammaln(x + 1))

    def log_new(self) -> Floats:
        """log f*(x) - h(x): Dirichlet-multinomial without its coefficient. A = sum_d a_d:

        sum_d log Gamma(a_d + x_d) / Gamma(a_d) - log Gamma(A + N) / Gamma(A).
        """
        whole = log_rising(self._prior.sum(), self._totals)
        return self._row_sums(lambda x, a: log_rising(a, x)) - whole

    def log_evidence(self, sums: Floats) -> Floats:
        """sum_d log G(a_d + S_d) / G(a_d) - log G(A + S) / G(A), S_d = sum x_d, S their total."""
        counts = sums[:, :-1]
        each = log_rising(self._prior, counts).sum(axis=1)
        return each - log_rising(self._prior.sum(), counts.sum(axis=1))

    def log_prior(self, theta: Floats) -> Floats:
        """log Dir(p; concentration), with p = exp(theta).

        A density of the first d - 1 probabilities, not of their logarithms: p has one coordinate
        less than numbers.
        """
        constant = gammaln(self._prior.sum()) - gammaln(self._prior).sum()
        return constant + theta @ (self._prior - 1)

    def log_maximum(self, sums: Floats) -> Floats:
        """sum_d S_d log(S_d / S), with S_d = sum x_d and S their total."""
        counts = sums[:, :-1]
        total = counts.sum(axis=1)
        return xlogy(counts, counts).sum(axis=1) - xlogy(total, total)

    def draw_theta(self, sums: Floats, rng: np.random.Generator) -> Floats:
        """log p_k, p_k ~ Dir(concentration + sum x)."""
        d = np.array([self.n_parameters])
        return draw_log_dirichlet(self._prior + sums[:, :-1], np.zeros(1, dtype=np.int64), d, rng)

    def log_predictive(
        self, rows: slice, component: NDArray[Any], sums: Floats, without: bool
    ) -> Floats:
        """log p(x | S) - h(x): as `log_new`, with a + S in place of a, S the other rows' counts."""
        x = sparse.csr_array(self.statistics(rows)[:, :-1])
        totals, n = self._totals[rows], x.shape[0]
        owners = _by_entry(np.arange(n), x)
        shapes = self._prior[x.indices] + sums[component[owners], x.indices]
        whole = (self._prior.sum() + sums[:, :-1].sum(axis=1))[component]
        if without:
            shapes, whole = shapes - x.data, whole - totals
        each = np.bincount(owners, log_rising(shapes, x.data), minlength=n)
        return each - log_rising(whole, totals)

    def fill(self, rows: slice, statistics: Any, natural: NDArray[Any], out: NDArray[Any]) -> None:
        """out[n, k] = x_n . theta_k, without a dense copy of sparse rows."""
        if not sparse.issparse(statistics):
            super().fill(rows, statistics, natural, out)
            return
        statistics, natural = statistics.astype(out.dtype), natural.astype(out.dtype)
        if statistics.nnz < self.n_statistics:  # few rows of many columns: only those they have
            used, places = np.unique(statistics.indices, return_inverse=True)
            parts = (statistics.data, places, statistics.indptr)
            statistics = sparse.csr_array(parts, shape=(statistics.shape[0], len(used)))
            natural = natural[:, used]
        out[:] = statistics @ natural.T

    def sums(self, components: NDArray[Any], n_components: int) -> Floats:
        """(K, s): sums of t over the rows of each component, entry by entry where X is sparse."""
        sums = np.zeros((n_components, self.n_statistics))
        for rows in slices(self.n_rows):
            t = self.statistics(rows)
            if sparse.issparse(t):
                np.add.at(sums, (_by_entry(components[rows], t), t.indices), t.data)
            else:
                np.add.at(sums, components[rows], t)
        return sums

    def _row_sums(self, function: Callable[[Floats, Floats], Floats]) -> Floats:
        """(n,): sum_d function(x_nd, a_d) for a function that is 0 where x is."""
        total = np.empty(self.n_rows)
        for rows in slices(self.n_rows):
            x = self.statistics(rows)[:, :-1]
            if sparse.issparse(x):
                owners = _by_entry(np.arange(x.shape[0]), x)
                each = function(x.data, self._prior[x.indices])
                total[rows] = np.bincount(owners, each, minlength=x.shape[0])
            else:
                total[rows] = function(x, self._prior).sum(axis=1)
        return total


def _checked(X):
    """X as float64, dense or a CSR array that names no entry twice; other values refused."""
    if not sparse.issparse(X):
        check_entries(X, is_count, _NEEDS)
        return np.asarray(X, dtype=np.float64)
    X = sparse.csr_array(X, dtype=np.float64)
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    bad = np.flatnonzero(~is_count(X.data))
    if len(bad):
        row = int(np.searchsorted(X.indptr, bad[0], side="right")) - 1
        raise WrongEntryError(float(X.data[bad[0]]), row, int(X.indices[bad[0]]), _NEEDS)
    return X


def _bytes_of(X) -> int:
    """Bytes that X takes."""
    if sparse.issparse(X):
        return X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
    return X.nbytes


def _by_entry(of_rows: NDArray[Any], x) -> NDArray[Any]:
    """Each row's number, repeated for each of the entries that the sparse x stores of it."""
    return np.repeat(of_rows, np.diff(x.indptr))


def _with_ones(x):
    """A CSR array with a last column of ones."""
    ends, (n, d) = x.indptr[1:], x.shape
    parts = (
        np.insert(x.data, ends, 1.0),
        np.insert(x.indices, ends, d),
        x.indptr + np.arange(n + 1, dtype=x.indptr.dtype),
    )
    return sparse.csr_array(parts, shape=(n, d + 1))
