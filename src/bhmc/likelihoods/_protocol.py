"""What every likelihood family offers, and nothing more.

A `Likelihood` is a setting: what a user writes. `prepare(X)` checks it against data and returns a
`Family`: the same setting bound to the data. Samplers see only the `Family`; the forward simulator
sees only `sample_theta` and `sample_data`, which share no code with it, so that joint tests can see
an error on either side.

Families are exponential families:

    log f(x; theta) = eta(theta) . t(x) + h(x),

where t(x), the sufficient statistics, end with the number 1. So a table of log likelihoods is a
matrix product, sums of t over the rows of a component are all that its posterior needs (the last
of them counts the rows), and such sums can be added up from anywhere. h plays no part in draws.

Numbers that all components share and that are learned (a noise variance, say) are the state's
`shared`. A `Likelihood` or `Family` that has some is used `at(shared)`: the same with those numbers
put in, after which its other methods may be called. One that has none is itself `at` anything.
"""

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Data of at most so many bytes are kept as statistics: a second copy.
LARGEST_COPY = 64 * 2**20


class Family(ABC):
    """A likelihood bound to data X (n rows). `theta` is (K, p): a row of parameters a component.

    Chains in different threads share one family: no method may change it.
    """

    n_rows: int
    """n."""
    n_parameters: int
    """p."""
    n_statistics: int
    """s, the length of t(x), its last 1 included."""
    n_shared: int = 0
    """q, the number of learned numbers that all components share."""

    subtracts_well: bool = True
    """Whether a row may be taken out of a sum by subtraction: not where some dwarf the others."""

    def at(self, shared: Floats) -> Self:
        """The family with the shared numbers (q,) put in; the data are not copied."""
        return self

    def start_shared(self) -> Floats:
        """(q,): where a chain begins, from the data."""
        return np.empty(0)

    def draw_shared(self, theta: Floats, sums: Floats, rng: np.random.Generator) -> Floats:
        """(q,): the shared numbers given theta and all data, from the sums (K, s) of t."""
        return np.empty(0)

    def log_prior_shared(self) -> float:
        """Log of the prior density of the shared numbers put in."""
        return 0.0

    @abstractmethod
    def statistics(self, rows: slice) -> Floats:
        """(rows, s): t(x_n) of a slice of rows, the last column 1; not to be written to."""

    @abstractmethod
    def natural(self, theta: Floats) -> Floats:
        """(K, s): eta(theta_k)."""

    @abstractmethod
    def log_base(self) -> Floats:
        """(n,): h(x_n)."""

    @abstractmethod
    def log_new(self) -> Floats:
        """(n,): log f*(x_n) - h(x_n), f*(x) = integral of f(x; theta) dH(theta)."""

    @abstractmethod
    def log_prior(self, theta: Floats) -> Floats:
        """(K,): log of the density of H at theta_k."""

    @abstractmethod
    def draw_theta(self, sums: Floats, rng: np.random.Generator) -> Floats:
        """(K, p): theta_k ~ p(theta | its rows), from the sums (K, s) of t over them."""

    def points(self, rows: slice) -> Any:
        """(rows, p): a slice of rows as points whose distances say how unlike they are.

        Only the starts of chains by k-means and Ward look at them. NaN stands for a missing entry;
        the points may be a SciPy CSR array. Here: all statistics but the final 1.
        """
        return self.statistics(rows)[:, :-1]

    def check_precision(self, dtype: str) -> None:  # noqa: B027
        """Refuse a type of the likelihood tiles in which they would lose too many digits."""

    def fill(self, rows: slice, statistics: NDArray, natural: NDArray, out: NDArray) -> None:
        """out[n, k] = log f(x_n; theta_k) - h(x_n) for a slice of rows, in the type of `out`."""
        if out.dtype != np.float64:
            statistics, natural = statistics.astype(out.dtype), natural.astype(out.dtype)
        np.matmul(statistics, natural.T, out=out)

    def log_likelihood(self, natural: Floats, sums: Floats, components: NDArray) -> float:
        """sum over n of log f(x_n; theta_c_n) - h(x_n), from the sums of t over each component."""
        return float(np.vdot(natural, sums))

    def log_table(self, theta: Floats) -> Floats:
        """(n, K): log f(x_n; theta_k), all at once; for small data and for tests."""
        everything = slice(0, self.n_rows)
        table = np.empty((self.n_rows, len(theta)))
        self.fill(everything, self.statistics(everything), self.natural(theta), table)
        return table + self.log_base()[:, None]

    def log_marginal(self) -> Floats:
        """(n,): log f*(x_n)."""
        return self.log_new() + self.log_base()

    def sums(self, components: NDArray, n_components: int) -> Floats:
        """(K, s): sums of t over the rows of each component."""
        sums = np.zeros((n_components, self.n_statistics))
        for rows in slices(self.n_rows, min(4096, max(1, 2**22 // self.n_statistics))):
            np.add.at(sums, components[rows], self.statistics(rows))
        return sums


def has_missing(X: Floats) -> bool:
    """Whether X holds NaN; slice by slice, for X may be large."""
    return any(bool(np.isnan(X[rows]).any()) for rows in slices(len(X)))


def observed_statistics(y: Floats, missing: bool) -> Floats:
    """(y, 1), or (o y, o, 1) where some entries are missing: o is 1 where y is no NaN, else 0."""
    d = y.shape[1]
    t = np.ones((len(y), (2 * d if missing else d) + 1))
    if missing:
        np.logical_not(np.isnan(y), out=t[:, d:-1])
        y = np.where(np.isnan(y), 0.0, y)
    t[:, :d] = y
    t.flags.writeable = False
    return t


def observed_points(t: Floats, d: int, missing: bool) -> Floats:
    """The first d columns of statistics that end with (o, 1) where some entries are missing.

    NaN where o is 0.
    """
    return np.where(t[:, -d - 1 : -1] > 0, t[:, :d], np.nan) if missing else t[:, :d]


def column_scales(X: Floats) -> tuple[Floats, Floats]:
    """(d,) means and standard deviations of columns, NaN left out; 1 where a column is constant.

    Centred first: the variance of large equal numbers would be rounding error.
    """
    parts = slices(len(X))
    observed = np.maximum(np.sum([(~np.isnan(X[rows])).sum(axis=0) for rows in parts], axis=0), 1)
    head = X[parts[0]]
    centre = np.nansum(head, axis=0) / np.maximum((~np.isnan(head)).sum(axis=0), 1)
    shift = np.sum([np.nansum(X[rows] - centre, axis=0) for rows in parts], axis=0) / observed
    centre = centre + shift
    squares = np.sum([np.nansum((X[rows] - centre) ** 2, axis=0) for rows in parts], axis=0)
    constant = squares <= (1e-14 * np.abs(centre)) ** 2 * observed
    return centre, np.sqrt(np.where(constant, 1.0, squares / observed))


def common_deviation(X: Floats) -> float:
    """The root mean square of the standard deviations of the columns that vary; 1 if none does."""
    varies = np.fmax.reduce(X, axis=0) > np.fmin.reduce(X, axis=0)
    deviation = column_scales(X)[1][varies]
    return float(np.sqrt(np.mean(deviation**2))) if len(deviation) else 1.0


def slices(n: int, height: int = 4096) -> list[slice]:
    """Slices of at most `height` rows that cover n rows."""
    return [slice(first, min(first + height, n)) for first in range(0, n, height)]


class Likelihood(ABC):
    """A family and its fixed numbers, before it has seen data."""

    allows_missing: bool = False
    """Whether NaN in X is a missing entry, which the family skips exactly."""
    allows_sparse: bool = False
    """Whether X may be a SciPy sparse matrix."""

    @classmethod
    def scaled_to(cls, X) -> "Likelihood":
        """The family in the units of X, where it has units."""
        return cls()

    def counted(self, X) -> "Likelihood":
        """The same with what it would count in X put in: other rows are then taken as these are."""
        return self

    def describe(self) -> str:
        """One line: which family has which columns."""
        return f"{type(self).__name__} for all columns"

    @abstractmethod
    def prepare(self, X) -> Family:
        """Check the settings against X and return the family bound to it."""

    @abstractmethod
    def sample_theta(self, size: int, n_features: int, rng: np.random.Generator) -> Floats:
        """(size, p): theta ~ H."""

    @abstractmethod
    def sample_data(self, theta: Floats, rng: np.random.Generator) -> Floats:
        """(len(theta), n_features): x_i ~ F(theta_i)."""

    def at(self, shared: Floats) -> "Likelihood":
        """The likelihood with the shared numbers (q,) put in."""
        return self

    def sample_shared(self, n_features: int, rng: np.random.Generator) -> Floats:
        """(q,): the shared numbers from their prior."""
        return np.empty(0)
