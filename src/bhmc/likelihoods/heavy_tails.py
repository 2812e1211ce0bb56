"""`ShapedGaussian` with tails like Student's t: every row has a weight, its precision."""

import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from bhmc.likelihoods._summary import ColumnSummary
from bhmc.likelihoods._tail_integral import log_integral
from bhmc.likelihoods.blocks import Floats, by_rows, slices
from bhmc.likelihoods.gaussian import Gaussian
from bhmc.likelihoods.shaped_gaussian import ShapedGaussianFamily

if TYPE_CHECKING:
    from bhmc.likelihoods.shaped_gaussian import ShapedGaussian

# Proposals for the weight of a row that is alone in its component.
_TRIES = 4

# Rounds in which the weights of rows in known groups settle.
_ROUNDS = 10


@dataclass(frozen=True, eq=False)
class HeavyTailed(Gaussian):
    """x ~ N(theta, sigma2 / w), w ~ Gamma(degrees / 2, degrees / 2) for every row: to simulate.

    Parameters
    ----------
    sigma2, mu0, sigma0
        As in `Gaussian`.
    degrees : float, default=inf
        Degrees of freedom of the noise.
    """

    degrees: float = np.inf

    def prepare(self, X: Floats, summary: ColumnSummary | None = None) -> NoReturn:
        """Refused: a fit takes `ShapedGaussian`, which learns sigma2."""
        raise TypeError("Rows with weights are fitted by ShapedGaussian(degrees=...).")

    def sample_data(self, theta: Floats, rng: np.random.Generator) -> Floats:
        """theta + N(0, sigma2) / sqrt(w)."""
        w = rng.gamma(self.degrees / 2, 2 / self.degrees, len(theta))
        return theta + (super().sample_data(theta, rng) - theta) / np.sqrt(w)[:, None]


class HeavyTailedFamily(ShapedGaussianFamily):
    """u ~ N(theta, 1 / w), w ~ Gamma(nu / 2, nu / 2), in units of the noise.

    Without weights, densities of rows have them integrated out: log f(x; theta) is

        -(nu + D) / 2 log(1 + |u - theta|^2 / nu) + h(x).

    `given` weights, t(x) = w (y, 1) and everything is Gaussian: a row counts w times. Sums of t are
    weighted, f is up to a number that is the same for all theta, and `seated` has those sums but
    densities without weights.
    """

    takes_statistics = False  # rows have weights
    has_latent = True
    has_weights = True
    is_plain = False

    _weights: Floats | None = None
    _is_given = False

    def __init__(
        self, likelihood: "ShapedGaussian", X: Floats, summary: ColumnSummary | None = None
    ):
        self._nu = float(likelihood.degrees)
        super().__init__(likelihood, X, summary)

    # ---- Weights --------------------------------------------------------------------------------

    def given(self, latent: Floats) -> Self:
        """A copy that holds the rows' weights (n,), given which rows are Gaussian."""
        family = self._with_sums_of(latent)
        family._is_given = True
        return family

    @property
    def latent(self) -> Floats:
        """(n,) the weights that the family holds; 1 before it holds any."""
        return np.ones(self.n_rows) if self._weights is None else self._weights

    def draw_latent(
        self, places: Floats, component: NDArray[np.integer], rng: np.random.Generator
    ) -> Floats:
        """(n,): w ~ Gamma((nu + D) / 2, (nu + |u - theta|^2) / 2)."""
        rate = 0.5 * (self._nu + self._squares_from(places, component))
        return rng.standard_gamma(0.5 * (self._nu + self.n_parameters), self.n_rows) / rate

    def redraw_alone(
        self,
        rows: NDArray[np.integer],
        weights: Floats,
        places: Floats,
        variance: float,
        rng: np.random.Generator,
    ) -> tuple[Floats, Floats]:
        """(w, theta) of rows that are alone in their components: w ~ p(w) N(u; place, 1 / w + v) by
        Metropolis and Hastings, proposed from p(w); then theta ~ N(place, v) given w and u.

        Given theta, which follows such a row, its weight hardly moves.

        Parameters
        ----------
        rows : (m,) array
            Which rows.
        weights : (m,) array
            Their weights.
        places : (m, D) array
            Means of their theta.
        variance : float
            Variance of their theta.
        rng : numpy.random.Generator
            Where all randomness comes from.
        """
        u, d, a = self._whitened_rows(rows), self.n_parameters, 0.5 * self._nu
        squares = np.einsum("nd,nd->n", u - places, u - places)

        def log_f(w: Floats) -> Floats:
            wide = 1 / w + variance
            return -0.5 * (d * np.log(wide) + squares / wide)

        w = weights.copy()
        for _ in range(_TRIES):
            proposed = np.maximum(rng.standard_gamma(a, len(w)) / a, 1e-300)
            accepted = np.log(rng.random(len(w))) < log_f(proposed) - log_f(w)
            w = np.where(accepted, proposed, w)
        precision = (w + 1 / variance)[:, None]
        mean = (w[:, None] * u + places / variance) / precision
        return w, mean + rng.standard_normal(mean.shape) / np.sqrt(precision)

    def seated(
        self, theta: Floats, component: NDArray[np.integer], rng: np.random.Generator
    ) -> Self:
        """A copy whose sums have weights drawn given theta (K, p); its densities have none."""
        return self._with_sums_of(self.draw_latent(self.enter(theta), component, rng))

    def for_groups(self, labels: NDArray[np.integer]) -> Self:
        """A copy whose sums have the weights of the best theta of every group of rows.

        By the EM algorithm: w = (nu + D) / (nu + |u - theta|^2), theta the weighted mean.
        """
        family, n_groups = self, int(labels.max()) + 1
        for _ in range(_ROUNDS):
            count, total = family.whitened_sums(family.sums(labels, n_groups))
            squares = self._squares_from(total / count, labels)
            family = self._with_sums_of((self._nu + self.n_parameters) / (self._nu + squares))
        return family

    def _with_sums_of(self, weights: Floats) -> Self:
        family = copy.copy(self)
        family._weights, family._is_given = weights, False
        family._squares = np.zeros(self.n_parameters)
        for rows in slices(self.n_rows):
            y = self._plain(rows)[:, :-1]
            family._squares += weights[rows] @ (y * y)
        return family

    def _squares_from(self, places: Floats, component: NDArray[np.integer]) -> Floats:
        """(n,): |u - theta|^2."""

        def of_slice(rows: slice) -> Floats:
            away = self._whitened_rows(rows) - places[component[rows]]
            return np.einsum("nd,nd->n", away, away)

        return by_rows(self.n_rows, of_slice)

    # ---- Rows -----------------------------------------------------------------------------------

    def statistics(self, rows: slice) -> Floats:
        """(y, 1), times w where there are weights."""
        t = self._plain(rows)
        return t if self._weights is None else t * self._weights[rows, None]

    def points(self, rows: slice) -> Floats:
        """y: without weights."""
        return self._plain(rows)[:, :-1]

    def fill(
        self, rows: slice, statistics: NDArray[Any], natural: NDArray[Any], out: NDArray[Any]
    ) -> None:
        """log f - h; given weights, that of Gaussian rows."""
        if self._is_given:
            super().fill(rows, statistics, natural, out)
            return
        out[:] = self._log_f(self._plain(rows) @ natural.T, self._own_squares(rows)[:, None])

    def log_base(self) -> Floats:
        """Of f without weights: what of Student's density does not depend on theta."""
        d, sigma2 = self.n_parameters, float(self._v[0])
        h = self._log_constant() - 0.5 * d * np.log(sigma2) - self._log_det
        return np.full(self.n_rows, h)

    def log_base_sum(self) -> float:
        """The same of all rows."""
        return float(self.log_base().sum())

    def log_likelihood(self, natural: Floats, sums: Floats, components: NDArray[Any]) -> float:
        """sum over n of log f(x_n; theta_c_n) - h(x_n), without weights."""

        def of_slice(rows: slice) -> Floats:
            products = np.einsum("ns,ns->n", self._plain(rows), natural[components[rows]])
            return self._log_f(products, self._own_squares(rows))

        return float(by_rows(self.n_rows, of_slice).sum())

    def whitened(self, rows: slice) -> tuple[Floats, Floats | None]:
        """(w u, w) where weights are given: a row's precision, and what it adds to sums."""
        u = self._whitened_rows(rows)
        if not self._is_given:
            return u, None
        assert self._weights is not None, "given"
        w = self._weights[rows, None]
        return w * u, w

    def log_new_at(self, rows: slice, places: Floats, variances: Floats) -> Floats:
        """u ~ N(m, 1 / w + v): less N(0, 1 / w) given w, and else with w integrated out, less h."""
        u, v, number = self._whitened_rows(rows), *_distinct(variances)
        squares, d = np.einsum("nd,nd->n", u, u)[:, None], self.n_parameters
        products = u @ places.T - 0.5 * np.einsum("md,md->m", places, places)
        if self._is_given:
            assert self._weights is not None, "given"
            w = self._weights[rows, None]
            wide = 1 + w * v
            own = 0.5 * w * squares * (w * v / wide) - 0.5 * d * np.log(wide)
            return own[:, number] + products * (w / wide)[:, number]
        found, away = np.empty(products.shape), np.maximum(squares - 2 * products, 0.0)
        for i, one in enumerate(v.tolist()):
            found[:, number == i] = log_integral(away[:, number == i], one, d, self._nu)
        return found - self._log_constant()

    def _log_f(self, products: Floats, squares: Floats) -> Floats:
        """-(nu + D) / 2 log(1 + |u - theta|^2 / nu), from u . theta - |theta|^2 / 2 and |u|^2."""
        away = np.maximum(squares - 2 * products, 0.0)
        return -0.5 * (self._nu + self.n_parameters) * np.log1p(away / self._nu)

    def _log_constant(self) -> float:
        """Of Student's density in units of the noise."""
        nu, d = self._nu, self.n_parameters
        return float(gammaln((nu + d) / 2) - gammaln(nu / 2) - 0.5 * d * np.log(nu * np.pi))

    def _plain(self, rows: slice) -> Floats:
        """(y, 1)."""
        return super().statistics(rows)

    def _whitened_rows(self, rows: slice | NDArray[np.integer]) -> Floats:
        """u of some rows."""
        if isinstance(rows, slice):
            return self._plain(rows)[:, :-1] / np.sqrt(self._v)
        if self._kept is not None:
            return self._kept[rows, :-1] / np.sqrt(self._v)
        each = [self._plain(slice(n, n + 1)) for n in rows.tolist()]
        return np.vstack(each)[:, :-1] / np.sqrt(self._v)

    def _own_squares(self, rows: slice) -> Floats:
        """(rows,): |u|^2."""
        u = self._whitened_rows(rows)
        return np.einsum("nd,nd->n", u, u)


def _distinct(variances: Floats) -> tuple[Floats, NDArray[np.int64]]:
    """(v, number): the different variances, few because levels are, and which of them each is."""
    v, number = np.unique(variances[:, 0], return_inverse=True)
    return v, number.reshape(-1)
