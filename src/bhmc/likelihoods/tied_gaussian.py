"""The conditionals of `SharedGaussian` with one full covariance for all components."""

import copy
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import multigammaln

from bhmc.likelihoods._axes import Axes, UnitNormals
from bhmc.likelihoods._learned_means import LearnedMeans
from bhmc.likelihoods._located import NoiseUnits, TreePrior
from bhmc.likelihoods._summary import ColumnSummary, summary_of_all
from bhmc.likelihoods._truncated import gamma_above
from bhmc.likelihoods._wishart import draw_factors, over_triangle
from bhmc.likelihoods.blocks import Floats, by_rows, over, product_in_double

if TYPE_CHECKING:
    from bhmc.likelihoods.shared_gaussian import SharedGaussian

# A chain starts with this share of every column's variance as noise.
_START_SHARE = 0.2

# Rounding errors of a scatter matrix are below this share of the sums of squares it is made of.
_ROUNDING = 1e-12


class TiedGaussianFamily(NoiseUnits, LearnedMeans):
    """The conditionals of `SharedGaussian(covariance="full")` for given data.

    In the coordinates y of `LearnedMeans`, with V the covariance of the noise there,

        log f(x; theta) = (V^-1 m, -m' V^-1 m / 2) . (y, 1) + h(x),
        h(x) = -y' V^-1 y / 2 - log |2 pi V| / 2 - sum_d log scale_d.

    A makes two covariances diagonal: A V A' = I and A diag(w) A' = diag(delta). Of A y and A m
    every entry is on its own: N(A m, 1) and N(A m0, delta). And V^-1 = A' A.

    The shared numbers are mu0, the lower triangle of sigma2 row by row, sigma0 and psi.
    """

    # Put in by `at`: psi, A, and the law of A y.
    _psi: Floats
    _axes: Axes
    _turn: Floats
    _normals: UnitNormals

    def __init__(
        self, likelihood: "SharedGaussian", X: Floats, summary: ColumnSummary | None = None
    ):
        d = X.shape[1]
        summary = summary_of_all(X, summary).filled()
        self._n_all = float(summary.n_rows)
        super().__init__(likelihood, X, summary)
        self._nu = d - 1 + 2 * likelihood.noise_shape
        self.n_shared = 3 * d + d * (d + 1) // 2

    def _n_products(self) -> int:
        return self.n_parameters**2

    def _products_of(self, t: Floats) -> Floats:
        return (t[:, :-1].T @ t[:, :-1]).ravel()

    def _use_shared_sums(self, sums: Floats) -> None:
        self._products = sums.reshape(self.n_parameters, self.n_parameters)

    def at(self, shared: Floats) -> Self:
        """A copy that holds mu0, sigma2, sigma0 and psi."""
        family, d = copy.copy(self), self.n_parameters
        mu0, sigma2, sigma0 = self._likelihood.split(shared)
        family._m0, family._w = (mu0 - self._location) / self._scale, sigma0 / self._scale**2
        family._psi = shared[-d:] / self._scale**2
        family._axes = Axes(sigma2 / self._scale / self._scale[:, None], family._w)
        family._turn = family._axes.matrix
        family._normals = UnitNormals(family._turn @ family._m0, family._axes.prior_variance)
        return family

    @property
    def whitener(self) -> Floats:
        """(d, d): W with W' W = sigma2^-1, in the units of the data. Rows X @ W.T have noise I."""
        return self._turn / self._scale

    def shared_sums(self) -> Floats:
        """The sum over rows of y y', row by row."""
        return self._products.ravel()

    def start_shared(self) -> Floats:
        """mu0 at the location, sigma2 and psi a fifth of the scale squared, sigma0 all of it."""
        d = self.n_parameters
        psi = np.maximum(_START_SHARE, self._least)
        return self._packed(np.zeros(d), _START_SHARE * np.eye(d), np.ones(d), psi)

    def draw_shared(self, theta: Floats, sums: Floats, rng: np.random.Generator) -> Floats:
        """sigma2 | theta, X, psi; then psi | sigma2; then mu0 and sigma0 by `_draw_means`.

        With SS = sum_n (y_n - m_c_n)(y_n - m_c_n)' over N rows, in units of scale:
        sigma2 ~ InverseWishart(nu diag(psi) + SS, nu + N);
        psi_d ~ Gamma(nu / 2 + 1, rate nu (sigma2^-1)_dd / 2 + 1 / noise_scale), above its least
        value. SS needs no pass over the rows: it is made of `shared_sums` and of sums of y.
        """
        m = self._scaled(theta)
        v, psi = self._draw_noise(self._scatter(m, sums), self._n_all, rng)
        m0, w = self._draw_means(m, rng)
        return self._packed(m0, v, w, psi)

    def _scatter(self, m: Floats, sums: Floats) -> Floats:
        """SS: the sum over rows of (y - m)(y - m)'."""
        cross = sums[:, :-1].T @ m
        return self._products - cross - cross.T + (m * sums[:, -1:]).T @ m

    def _draw_noise(
        self, scatter: Floats, freedom: float, rng: np.random.Generator
    ) -> tuple[Floats, Floats]:
        """(sigma2 | scatter, psi; psi | sigma2), in units of scale."""
        ridge = self._nu * self._psi + _ROUNDING * np.diag(self._products)
        v, precision = self._draw_covariance(scatter + np.diag(ridge), freedom, rng)
        shape, rate = self._nu / 2 + 1, self._nu * precision / 2 + 1 / self._likelihood.noise_scale
        psi = np.maximum(gamma_above(shape, rate * self._least, rng) / rate, self._least)
        return v, psi

    def _draw_covariance(
        self, scale: Floats, freedom: float, rng: np.random.Generator
    ) -> tuple[Floats, Floats]:
        """V ~ InverseWishart(scale, nu + freedom), and the diagonal of V^-1."""
        degrees = np.array([self._nu + freedom])
        factor = draw_factors(np.linalg.cholesky(scale)[None], degrees, rng)[0]
        inverse = over_triangle(np.eye(len(scale)), factor)
        return factor @ factor.T, (inverse**2).sum(axis=0)

    def log_prior_shared(self) -> float:
        """log p(mu0) + log p(sigma0) + log p(psi) + log p(sigma2 | psi), in the units of X."""
        return float(sum(self._log_prior_means())) + self.log_prior_noise()

    def log_prior_noise(self) -> float:
        """log p(psi) + log p(sigma2 | psi), in the units of X."""
        nu, d, typical = self._nu, self.n_parameters, self._likelihood.noise_scale
        log_p = -(d + 3) * np.log(self._scale).sum()
        log_p -= (np.log(typical) + (self._psi - self._least) / typical).sum()
        log_p += nu / 2 * np.log(nu * self._psi / 2).sum() - multigammaln(nu / 2, d)
        log_p -= (nu + d + 1) / 2 * self._axes.log_det_sigma
        return float(log_p - nu / 2 * (self._turn**2 @ self._psi).sum())

    def natural(self, theta: Floats) -> Floats:
        """(V^-1 m, -m' V^-1 m / 2)."""
        turned = self._scaled(theta) @ self._turn.T
        return np.column_stack([turned @ self._turn, -0.5 * (turned**2).sum(axis=1)])

    def fill(
        self, rows: slice, statistics: NDArray[Any], natural: NDArray[Any], out: NDArray[Any]
    ) -> None:
        """eta . t in float64 whatever the type of the table: terms are large before they cancel."""
        product_in_double(statistics, natural, out)

    def log_base(self) -> Floats:
        """-y' V^-1 y / 2 - log |2 pi V| / 2 - sum_d log scale_d."""
        log_det = self.n_parameters * np.log(2 * np.pi) + self._axes.log_det_sigma
        constant = -0.5 * log_det - np.log(self._scale).sum()
        return constant - 0.5 * self._by_turned_rows(lambda y: np.einsum("nd,nd->n", y, y))

    def log_base_sum(self) -> float:
        """The same of all rows, from the sum of y y'."""
        log_det = self.n_parameters * np.log(2 * np.pi) + self._axes.log_det_sigma
        constant = -0.5 * log_det - np.log(self._scale).sum()
        squares = np.einsum("id,de,ie->", self._turn, self._products, self._turn, optimize=True)
        return self._n_all * constant - 0.5 * float(squares)

    def log_new(self) -> Floats:
        """log f*(x) - h(x): A y ~ N(A m0, 1 + delta) entry by entry."""
        mean, wide = self._normals.mean, 1 + self._normals.variance
        square, linear = 0.5 - 0.5 / wide, mean / wide
        constant = -0.5 * (mean**2 / wide + np.log(wide)).sum()
        return constant + self._by_turned_rows(lambda y: (y * (square * y + linear)).sum(axis=1))

    def log_evidence(self, sums: Floats) -> Floats:
        """Of A y ~ N(A m, 1) with A m ~ N(A m0, delta), entry by entry."""
        return self._normals.log_evidence(sums[:, :-1] @ self._turn.T, sums[:, -1:])

    def log_maximum(self, sums: Floats) -> Floats:
        """|A sum y|^2 / (2 N_k)."""
        squares = ((sums[:, :-1] @ self._turn.T) ** 2).sum(axis=1)
        return 0.5 * over(squares, sums[:, -1])

    def log_maximum_by_variance(self, sums: Floats) -> tuple[Floats, Floats]:
        """All columns together: the size of the covariance is one number."""
        return self.log_maximum(sums)[:, None], self.n_parameters * sums[:, -1:]

    def draw_theta(self, sums: Floats, rng: np.random.Generator) -> Floats:
        """A m_k ~ N((A m0 / delta + A sum y) / P, 1 / P), P = 1 / delta + N_k, entry by entry."""
        m = self._normals.draw(sums[:, :-1] @ self._turn.T, sums[:, -1:], rng)
        return self._location + self._scale * self._axes.leave(m)

    # ---- On a tree ------------------------------------------------------------------------------

    def precision_columns(self) -> tuple[NDArray[np.int64], Floats]:
        """One precision for all coordinates."""
        d = self.n_parameters
        return np.zeros(d, dtype=np.int64), np.array([float(d)])

    def prior_on_tree(self) -> TreePrior:
        """`location`, and 1 / noise_scale."""
        return self._likelihood.prior_on_tree(self.n_parameters)

    def enter(self, theta: Floats) -> Floats:
        """A m."""
        return self._scaled(theta) @ self._turn.T

    def leave(self, places: Floats) -> Floats:
        """location + scale A^-1 places."""
        return self._location + self._scale * self._axes.leave(places)

    def whitened(self, rows: slice) -> tuple[Floats, Floats | None]:
        """A y."""
        return self.statistics(rows)[:, :-1] @ self._turn.T, None

    def whitened_sums(self, sums: Floats) -> tuple[Floats, Floats]:
        """(N_k, A sum y)."""
        return sums[:, -1:], sums[:, :-1] @ self._turn.T

    def draw_shared_at(
        self, theta: Floats, sums: Floats, increments: Floats, rng: np.random.Generator
    ) -> Floats:
        """sigma2 ~ InverseWishart(nu diag(psi) + SS + R' R, nu + N + J), then psi | sigma2.

        R holds the J steps, each divided by its standard deviation, in units of scale.
        """
        steps = self._axes.leave(increments)
        scatter = self._scatter(self._scaled(theta), sums) + steps.T @ steps
        v, psi = self._draw_noise(scatter, self._n_all + len(steps), rng)
        return self._packed(self._m0, v, self._w, psi)

    def shared_at(self, root: Floats, total: Floats) -> Floats:
        """mu0 is the root's location, sigma0 the variances from there to a component."""
        factor = self._axes.leave(np.eye(self.n_parameters))
        v = factor.T @ factor
        return self._packed(self._scaled(root), v, total * np.diag(v), self._psi)

    def _by_turned_rows(self, function: Callable[[Floats], Floats]) -> Floats:
        """(n,): a function of A y."""
        return by_rows(
            self.n_rows, lambda rows: function(self.statistics(rows)[:, :-1] @ self._turn.T)
        )

    def _packed(self, m0: Floats, v: Floats, w: Floats, psi: Floats) -> Floats:
        """(mu0, lower triangle of sigma2, sigma0, psi) in the units of the data."""
        units = self._scale**2
        sigma2 = (v * self._scale * self._scale[:, None])[np.tril_indices(len(v))]
        return np.concatenate([self._location + self._scale * m0, sigma2, w * units, psi * units])
