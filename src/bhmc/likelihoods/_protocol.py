"""What every likelihood family offers, and nothing more.

A `Likelihood` is a setting: what a user writes. `prepare(X)` checks it against data and returns a
family: the same setting bound to the data. Samplers see only the family. The forward simulator
sees only `sample_theta` and `sample_data`, which share no code with the family, so that joint tests
can see an error on either side.

A bound family is made of parts that are needed apart:

- `Family`, F: how rows become statistics and parameters become natural parameters.
- `BaseMeasure`, H: the law of a component's parameters, drawn independently of other components.
- `ConjugateFamily`: F with an H whose posterior can be drawn exactly. All families here are such.
- `Located` (_located.py): F for components that have a place on a tree.

Families are exponential families:

    log f(x; theta) = eta(theta) . t(x) + h(x),

where t(x), the sufficient statistics, end with the number 1. So a table of log likelihoods is a
matrix product, sums of t over the rows of a component are all that its posterior needs (the last
of them counts the rows), and sums over blocks of rows add up. h plays no part in draws.

Numbers that all components share and that are learned (a noise variance, say) are the state's
`shared`. Where a `Likelihood` or `Family` has some, `at(shared)` returns a copy that holds them,
and only the copy's other methods may be called. Where there are none, it returns the object itself.

A family may be bound to a block of rows: `prepare(block, summary)`, with the `ColumnSummary` of all
rows. Every row then has the statistics that it has among all rows. A family bound to no rows,
`prepare(X[:0], summary)`, draws from sums that were made elsewhere.
"""

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from bhmc.likelihoods._located import TreePrior
from bhmc.likelihoods._summary import ColumnSummary
from bhmc.likelihoods.blocks import Floats, slices

# Rows counted so many times over leave a posterior this much narrower than one nat can see.
_COPIES = 1e8


class Family(ABC):
    """A likelihood F bound to n rows of data. `theta` is (K, p): a row of parameters a component.

    Chains in different threads share one family: no method may change it.
    """

    n_rows: int
    """n, the number of rows bound here."""
    n_parameters: int
    """p."""
    n_statistics: int
    """s, the length of t(x), its last 1 included."""
    n_shared: int = 0
    """q, the number of learned numbers that all components share."""

    subtracts_well: bool = True
    """Whether a row may leave a sum by subtraction, which loses digits where a row is very large.

    Of rows in several blocks it is true if it is true of every block.
    """

    takes_statistics: bool = False
    """Whether `with_statistics` and `with_rows` bind the family to rows that are elsewhere."""

    has_latent: bool = False
    """Whether rows have numbers that a chain draws: weights, or entries that are missing. Only
    chains whose components have a place on the tree do: see `Located`.
    """

    def at(self, shared: Floats) -> Self:
        """A copy of the family that holds the shared numbers (q,); the data are not copied."""
        return self

    def start_shared(self) -> Floats:
        """(q,): where a chain begins, from the data."""
        return np.empty(0)

    def draw_shared(self, theta: Floats, sums: Floats, rng: np.random.Generator) -> Floats:
        """(q,): the shared numbers given theta and all data.

        Parameters
        ----------
        theta : (K, p) array
            Parameters of the components that have rows.
        sums : (K, s) array
            Sums of t over the rows of each component.
        rng : numpy.random.Generator
            Where all randomness comes from.
        """
        return np.empty(0)

    def log_prior_shared(self) -> float:
        """Log of the prior density of the shared numbers."""
        return 0.0

    def shared_sums(self) -> Floats:
        """(w,): sums over the rows bound here that `draw_shared` needs beyond those of t.

        Those of blocks add up, in the order of the blocks.
        """
        return np.empty(0)

    def with_shared_sums(self, sums: Floats) -> Self:
        """A copy of the family whose `draw_shared` uses these `shared_sums` (w,) of all rows."""
        return self

    def with_statistics(self, t: Floats) -> Self:
        """The family bound to other rows, whose statistics these are; sums of all rows stay.

        Parameters
        ----------
        t : (m, s) array
            What `statistics` gave where the rows are; not to be written to.
        """
        raise NotImplementedError(f"{type(self).__name__} must have its rows in memory.")

    def with_rows(self, X: Floats) -> Self:
        """The family bound to other rows, which are not looked at; sums of all rows stay.

        Of families with `takes_statistics`. Blocks of a file are bound so in every sweep, each
        after `prepare` has checked it once.

        Parameters
        ----------
        X : (m, d) array
            Rows of the data that the family was bound to; not to be written to.
        """
        raise NotImplementedError(f"{type(self).__name__} must have its rows in memory.")

    @abstractmethod
    def statistics(self, rows: slice) -> Floats:
        """(rows, s): t(x_n) of a slice of rows, the last column 1; not to be written to.

        t never depends on the shared numbers: samplers keep sums of it while those change.
        """

    @abstractmethod
    def natural(self, theta: Floats) -> Floats:
        """(K, s): eta(theta_k)."""

    @abstractmethod
    def log_base(self) -> Floats:
        """(n,): h(x_n)."""

    def log_base_sum(self) -> float:
        """sum over n of h(x_n); a family overrides it where sums of all rows say it at once."""
        return float(self.log_base().sum())

    def points(self, rows: slice) -> Any:
        """(rows, p): a slice of rows as points whose distances say how unlike they are.

        Only the starts of chains by k-means and Ward look at them. NaN stands for a missing entry;
        the points may be a SciPy CSR array. Here: all statistics but the final 1.
        """
        return self.statistics(rows)[:, :-1]

    def check_precision(self, dtype: str) -> None:  # noqa: B027
        """Refuse a type of the likelihood tiles in which they would lose too many digits."""

    def fill(
        self, rows: slice, statistics: NDArray[Any], natural: NDArray[Any], out: NDArray[Any]
    ) -> None:
        """out[n, k] = log f(x_n; theta_k) - h(x_n) for a slice of rows, in the type of `out`.

        Parameters
        ----------
        rows : slice
            Which rows.
        statistics : (rows, s) array
            t of these rows.
        natural : (K, s) array
            eta of the components.
        out : (rows, K) array
            Where the table goes.
        """
        if out.dtype != np.float64:
            statistics, natural = statistics.astype(out.dtype), natural.astype(out.dtype)
        np.matmul(statistics, natural.T, out=out)

    def log_likelihood(self, natural: Floats, sums: Floats, components: NDArray[Any]) -> float:
        """sum over n of log f(x_n; theta_c_n) - h(x_n).

        Parameters
        ----------
        natural : (K, s) array
            eta of the components.
        sums : (K, s) array
            Sums of t over the rows of each component.
        components : (n,) array
            The component of every row.
        """
        return float(np.vdot(natural, sums))

    def seated(
        self, theta: Floats, component: NDArray[np.integer], rng: np.random.Generator
    ) -> Self:
        """A copy whose sums give the rows the weights that they have beside theta; here: itself.

        Parameters
        ----------
        theta : (K, p) array
            Parameters of the components.
        component : (n,) array
            The component of every row.
        rng : numpy.random.Generator
            Where weights come from, if rows have some.
        """
        return self

    def for_groups(self, labels: NDArray[np.integer]) -> Self:
        """A copy whose sums give the rows the weights that they have in these groups; here: itself.

        Parameters
        ----------
        labels : (n,) array
            The group of every row, from 0; none is empty.
        """
        return self

    def log_table(self, theta: Floats) -> Floats:
        """(n, K): log f(x_n; theta_k), all at once; for small data and for tests."""
        everything = slice(0, self.n_rows)
        table = np.empty((self.n_rows, len(theta)))
        self.fill(everything, self.statistics(everything), self.natural(theta), table)
        return table + self.log_base()[:, None]

    def sums(self, components: NDArray[Any], n_components: int) -> Floats:
        """(K, s): sums of t over the rows of each component.

        Parameters
        ----------
        components : (n,) array
            The component of every row.
        n_components : int
            K.
        """
        sums = np.zeros((n_components, self.n_statistics))
        for rows in slices(self.n_rows, min(4096, max(1, 2**22 // self.n_statistics))):
            np.add.at(sums, components[rows], self.statistics(rows))
        return sums


class BaseMeasure(ABC):
    """The law H of a component's parameters: theta_k ~ H, independently of other components."""

    @abstractmethod
    def log_new(self) -> Floats:
        """(n,): log f*(x_n) - h(x_n), f*(x) = integral of f(x; theta) dH(theta)."""

    @abstractmethod
    def log_evidence(self, sums: Floats) -> Floats:
        """(K,): log of the integral of exp(eta(theta) . sums) dH(theta).

        That is log p(rows), less the sum of their h, for rows that share one theta ~ H. Of a single
        row it is `log_new`.

        Parameters
        ----------
        sums : (K, s) array
            Sums of t over the rows of each group.
        """

    @abstractmethod
    def log_prior(self, theta: Floats) -> Floats:
        """(K,): log of the density of H at theta_k."""

    @abstractmethod
    def draw_theta(self, sums: Floats, rng: np.random.Generator) -> Floats:
        """(K, p): theta_k ~ p(theta | its rows), from the sums (K, s) of t over them."""

    def log_predictive(
        self, rows: slice, component: NDArray[Any], sums: Floats, without: bool
    ) -> Floats | None:
        """(rows,): log p(x_n | other rows of its component) - h(x_n); None: no quick closed form.

        Outlier scores draw theta from its posterior where there is none. A family with very many
        parameters had better have one.

        Parameters
        ----------
        rows : slice
            Which rows.
        component : (rows,) array
            Their components.
        sums : (K, s) array
            Sums of t over the rows of each component.
        without : bool
            Whether t(x_n) is in the sums of its component, and has to leave them.
        """
        return None


class ConjugateFamily(Family, BaseMeasure):
    """F and an H for which f* and draws of theta given rows are exact: a conjugate pair."""

    def log_marginal(self) -> Floats:
        """(n,): log f*(x_n)."""
        return self.log_new() + self.log_base()

    def log_maximum(self, sums: Floats) -> Floats:
        """(K,): the largest log likelihood of a group's rows, max over theta of eta(theta) . sums.

        What two groups lose when they share one parameter is the sum of their two numbers less the
        number of their sums added up; it is never below 0. Here: theta is drawn given the rows,
        each counted 1e8 times, so that it is the best theta to about eight digits. A family with a
        formula overrides this. Where components have variances of their own, only the mean is the
        best one: the variances are those of `with_spread`, which must come first.

        Parameters
        ----------
        sums : (K, s) array
            Sums of t over the rows of each group, of any positive number of rows.
        """
        theta = self.draw_theta(_COPIES * sums, np.random.default_rng(0))
        return np.einsum("ks,ks->k", self.natural(theta), sums)

    def with_spread(self, sums: Floats) -> Self:
        """A copy whose `log_maximum` has the variances that rows have within all components.

        Here: the family itself. Where every component has variances of its own, their best values
        would not do: the density of a single row has no largest value, and a column that happens to
        be constant in some components would outweigh all others.

        Parameters
        ----------
        sums : (K, s) array
            Sums of t over the rows of each component.
        """
        return self

    def log_maximum_by_variance(self, sums: Floats) -> tuple[Floats, Floats] | None:
        """(K, p) and (K, p): `log_maximum` in p parts, and the entries of each; None: no variances.

        A part is what has one variance: a column, or all columns where they have one together.
        Here: None. Gaussian families override it.

        Parameters
        ----------
        sums : (K, s) array
            As in `log_maximum`.
        """
        return None

    def group_sums(self, sums: Floats) -> Floats:
        """(K, m): numbers that add up over components, from which `group_maximum` is worked out.

        Here: the sums themselves.

        Parameters
        ----------
        sums : (K, s) array
            Sums of t over the rows of each component.
        """
        return sums

    def group_maximum(self, sums: Floats) -> Floats:
        """(K,): the largest log likelihood of groups of components, in units that compare.

        Here: `log_maximum`.

        Parameters
        ----------
        sums : (K, m) array
            Those of `group_sums`, added up over the components of each group.
        """
        return self.log_maximum(sums)


class Likelihood(ABC):
    """A family and its fixed numbers, before it has seen data."""

    allows_missing: bool = False
    """Whether NaN in X is a missing entry."""
    draws_missing: bool = False
    """Whether a chain draws missing entries, as those on a diffusing tree do; others skip them."""
    allows_sparse: bool = False
    """Whether X may be a SciPy sparse matrix."""
    has_places: bool = False
    """Whether its components can sit on a diffusing tree: its families are `Located`."""
    needs_places: bool = False
    """Whether they must: other transitions refuse it."""

    @classmethod
    def scaled_to(cls, X: Any) -> "Likelihood":
        """The family in the units of X, where it has units. X must hold all rows."""
        return cls()

    def with_tails(self, X: Any) -> "Likelihood | None":
        """The likelihood with noise that has heavy tails, as held-out rows ask for; None if none.

        Parameters
        ----------
        X : (n, d) array or sparse matrix
            All rows of the data.
        """
        return None

    def counted(self, X: Any) -> "Likelihood":
        """A copy with what the family would count in X as a setting; X must hold all rows.

        Other rows are then read as these are.
        """
        return self

    def extents(self, X: Any) -> Floats:
        """(n,): how much of each row of X there is, for densities depend on it: known entries."""
        n, d = X.shape
        return np.full(n, float(d)) if sparse.issparse(X) else (~np.isnan(X)).sum(axis=1) * 1.0

    def with_extents(self, X: Any) -> "Likelihood":
        """A copy whose simulated rows have the totals of the rows of X, where rows have totals."""
        return self

    def describe(self) -> str:
        """One line: which family has which columns."""
        return f"{type(self).__name__} for all columns"

    @abstractmethod
    def prepare(self, X: Any, summary: ColumnSummary | None = None) -> ConjugateFamily:
        """Check the settings against X and return the family bound to it.

        Parameters
        ----------
        X : (n, d) array
            The rows, all of them or a block.
        summary : ColumnSummary, optional
            The summary of all rows, from which the family takes its centre, its units and the
            layout of its statistics. Default: X holds all rows.
        """

    @abstractmethod
    def sample_theta(self, size: int, n_features: int, rng: np.random.Generator) -> Floats:
        """(size, p): theta ~ H.

        Parameters
        ----------
        size : int
            Number of components.
        n_features : int
            Number of columns of the data.
        rng : numpy.random.Generator
            Where all randomness comes from.
        """

    @abstractmethod
    def sample_data(self, theta: Floats, rng: np.random.Generator) -> Floats:
        """(len(theta), n_features): x_i ~ F(theta_i).

        Parameters
        ----------
        theta : (n, p) array
            The parameters of every row's component.
        rng : numpy.random.Generator
            Where all randomness comes from.
        """

    def at(self, shared: Floats) -> "Likelihood":
        """A copy of the likelihood that holds the shared numbers (q,)."""
        return self

    def sample_shared(self, n_features: int, rng: np.random.Generator) -> Floats:
        """(q,): the shared numbers from their prior."""
        return np.empty(0)

    def noise_on_tree(self, shared: Floats, n_features: int) -> Floats:
        """(d,) or (d, d): covariance of rows around their component, which steps of a tree follow.

        Of families that can sit on a diffusing tree.

        Parameters
        ----------
        shared : (q,) array
            The shared numbers.
        n_features : int
            Columns of the data.
        """
        raise NotImplementedError(f"{type(self).__name__} has no place on a diffusing tree.")

    def blocks_on_tree(self, n_features: int) -> NDArray[np.int64]:
        """(D,) the block of each coordinate, from 0.

        Parameters
        ----------
        n_features : int
            Columns of the data.
        """
        return np.zeros(n_features, dtype=np.int64)

    def prior_on_tree(self, n_features: int) -> TreePrior:
        """Where the tree's root is expected, and how far components spread.

        Parameters
        ----------
        n_features : int
            Columns of the data.
        """
        raise NotImplementedError(f"{type(self).__name__} has no place on a diffusing tree.")

    def sample_theta_at(
        self, locations: Floats, variances: Floats, shared: Floats, rng: np.random.Generator
    ) -> Floats:
        """(m, p): theta ~ N(location, variance times the noise's covariance).

        Parameters
        ----------
        locations : (m, p) array
            Means of theta.
        variances : (m, blocks) array
            In units of the noise where there is one.
        shared : (q,) array
            The shared numbers.
        rng : numpy.random.Generator
            Where all randomness comes from.
        """
        d = locations.shape[1]
        noise = self.noise_on_tree(shared, d)
        steps = np.sqrt(variances[:, self.blocks_on_tree(d)]) * rng.standard_normal(locations.shape)
        if noise.ndim == 1:
            return locations + steps * np.sqrt(noise)
        return locations + steps @ np.linalg.cholesky(noise).T

    def shared_on_tree(self, shared: Floats, root: Floats, total: Floats) -> Floats:
        """(q,): the shared numbers with the law of a component that has no place in the tree yet.

        Parameters
        ----------
        shared : (q,) array
            The shared numbers.
        root : (p,) array
            The root's location.
        total : (blocks,) array
            The variance from the root to a component.
        """
        return shared
