"""x ~ N(theta, Sigma) with Sigma known, and theta ~ N(mu0, Sigma0)."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bhmc._validation.parameters import check_covariance, check_vector
from bhmc.likelihoods._axes import Axes, UnitNormals, matrix
from bhmc.likelihoods._located import NoiseUnits, TreePrior, prior_in_noise_units
from bhmc.likelihoods._protocol import ConjugateFamily, Likelihood
from bhmc.likelihoods._summary import ColumnSummary, summary_of_all
from bhmc.likelihoods.blocks import LARGEST_COPY, Floats, by_rows, over, slices
from bhmc.likelihoods.learned_noise import LearnedNoiseFamily
from bhmc.priors import Prior

# Beyond this the square of a scaled value is no longer a finite number.
_LARGEST_SCALED = 1e150

# The ratio of prior variance to noise must be a number whose reciprocal is finite.
_SMALLEST_RATIO = 1e-300

# A row whose squared distance from the centre, in units of the noise, is beyond this is far: the
# cancellation in its log likelihoods could reach 1e-7.
_FAR = 1e8

# A float32 log likelihood of a row so many noise standard deviations from the centre is off by
# about the square of this times 6e-8.
_WIDEST_FLOAT32 = 100.0

# Share of a column's variance taken to lie within components, where the user does not say: that of
# two equal groups whose means are four standard deviations apart, 1 / (1 + 4).
_NOISE_SHARE = 0.2


@dataclass(frozen=True, eq=False)
class Gaussian(Likelihood):
    """Gaussian components with a known, shared covariance; the paper's family.

    Parameters
    ----------
    sigma2 : float, (d,), (d, d) or prior, default=1.0
        Covariance Sigma of the data around their component: a multiple of the identity, a diagonal,
        or a full matrix. These are (co)variances, not standard deviations. One of `bhmc.priors` has
        it learned, as a multiple of the identity: the paper has `Uniform(0, 0.1)`. Equal rows make
        its density grow without end as it vanishes: then give a prior that keeps it from 0.
    mu0 : float or (d,), default=0.0
        Prior mean of the component means.
    sigma0 : float, (d,) or (d, d), default=1.0
        Prior covariance Sigma0 of the component means.
    """

    sigma2: ArrayLike | Prior = 1.0
    mu0: ArrayLike = 0.0
    sigma0: ArrayLike = 1.0

    @property
    def has_places(self) -> bool:  # type: ignore[override]
        """Whether sigma2 is known: steps of a tree are in its units."""
        return not isinstance(self.sigma2, Prior)

    @classmethod
    def scaled_to(cls, X: Floats) -> "Gaussian":
        """The family in the units of X: mu0 the column means, Sigma0 the column variances.

        A fifth of each column's variance is taken to lie within components (sigma2), as in two
        equal groups four standard deviations apart. A constant column counts as having variance 1.
        X must hold all rows.
        """
        # Centred first, because the variance of large equal numbers would be rounding error.
        shift = sum((X[rows] - X[0]).sum(axis=0) for rows in slices(len(X))) / len(X)
        mean = X[0] + shift
        squares = sum((((X[rows] - X[0]) - shift) ** 2).sum(axis=0) for rows in slices(len(X)))
        spread = np.where(squares > 0, squares / len(X), 1.0)
        return cls(sigma2=_NOISE_SHARE * spread, mu0=mean, sigma0=spread)

    def prepare(self, X: Floats, summary: ColumnSummary | None = None) -> ConjugateFamily:
        """The family bound to X."""
        learned = isinstance(self.sigma2, Prior)
        bound = LearnedNoiseFamily if learned else GaussianFamily
        return bound(self, X, summary)

    def at(self, shared: Floats) -> "Gaussian":
        """A copy with this sigma2, where sigma2 is learned."""
        if not isinstance(self.sigma2, Prior):
            return self
        return replace(self, sigma2=float(shared[0]))

    def sample_shared(self, n_features: int, rng: np.random.Generator) -> Floats:
        """(sigma2,) from its prior, where it is learned."""
        if not isinstance(self.sigma2, Prior):
            return np.empty(0)
        return np.array([self.sigma2.sample(rng)])

    def sample_theta(self, size: int, n_features: int, rng: np.random.Generator) -> Floats:
        """theta ~ N(mu0, Sigma0), (size, d)."""
        mu0 = check_vector(self.mu0, n_features, "mu0")
        sigma0 = check_covariance(self.sigma0, n_features, "sigma0")
        return mu0 + _noise(sigma0, size, rng)

    def noise_on_tree(self, shared: Floats, n_features: int) -> Floats:
        """Sigma."""
        assert not isinstance(self.sigma2, Prior), "has_places says so"
        return check_covariance(self.sigma2, n_features, "sigma2")

    def prior_on_tree(self, n_features: int) -> TreePrior:
        """mu0, and the mean of Sigma0 in units of Sigma: trace(Sigma^-1 Sigma0) / d."""
        assert not isinstance(self.sigma2, Prior), "has_places says so"
        sigma = check_covariance(self.sigma2, n_features, "sigma2")
        sigma0 = check_covariance(self.sigma0, n_features, "sigma0")
        if sigma.ndim == sigma0.ndim == 1:
            spread = float((sigma0 / sigma).mean())
        else:
            spread = float(np.trace(np.linalg.solve(matrix(sigma), matrix(sigma0)))) / n_features
        return prior_in_noise_units(check_vector(self.mu0, n_features, "mu0"), spread)

    def sample_data(self, theta: Floats, rng: np.random.Generator) -> Floats:
        """x_i ~ N(theta_i, Sigma), (len(theta), d)."""
        if isinstance(self.sigma2, Prior):
            raise TypeError("Gaussian samples data only once its sigma2 is known: call at(shared).")
        sigma = check_covariance(self.sigma2, theta.shape[1], "sigma2")
        return theta + _noise(sigma, len(theta), rng)


class GaussianFamily(NoiseUnits, ConjugateFamily):
    """The conditionals of `Gaussian` for given data.

    A diagonalises both covariances: A Sigma A' = I and A Sigma0 A' = diag(d). In the coordinates
    y = A (x - c) and m = A (theta - c) every entry is on its own: y ~ N(m, 1), m ~ N(m0, d). So one
    set of scalar formulas serves scalar, diagonal and full covariances. With t(x) = (y, 1):

        log f(x; theta) = (m, -|m|^2 / 2) . (y, 1) + h(x),  h(x) = -|y|^2 / 2 + constant.

    The centre c is near the middle of the data, because y . m - |m|^2 / 2 cancels far from it.
    A row that is far from everything is taken by differences instead, with h(x) = constant.
    """

    def __init__(self, likelihood: Gaussian, X: Floats, summary: ColumnSummary | None = None):
        self.n_rows, n_features = X.shape
        self.n_parameters, self.n_statistics = n_features, n_features + 1
        mu0 = check_vector(likelihood.mu0, n_features, "mu0")
        assert not isinstance(likelihood.sigma2, Prior), "a prior is for LearnedNoiseFamily"
        sigma = check_covariance(likelihood.sigma2, n_features, "sigma2")
        sigma0 = check_covariance(likelihood.sigma0, n_features, "sigma0")
        self._axes = Axes(sigma, sigma0)
        ratio = self._axes.prior_variance
        if not _SMALLEST_RATIO < ratio.min() <= ratio.max() < np.inf:
            raise ValueError(
                "sigma0 and sigma2 are too far apart: their ratio overflows double precision."
            )
        self._origin, self._spread = mu0, float(ratio.mean())
        self._constant = -0.5 * (n_features * np.log(2 * np.pi) + self._axes.log_det_sigma)
        self._centre = summary_of_all(X, summary).centre()
        self._normals = UnitNormals(self._axes.enter(mu0 - self._centre), ratio)
        self._X, self._kept = X, None
        self._squares = by_rows(self.n_rows, lambda rows: _squares(self.statistics(rows)[:, :-1]))
        farthest = max(self._squares.max(initial=0.0), _squares(self._normals.mean))
        if not farthest < _LARGEST_SCALED**2:
            raise ValueError(
                "X is too far from mu0 in units of sigma2: a scaled value is beyond 1e150."
            )
        self._far = np.flatnonzero(self._squares > _FAR)
        self.subtracts_well = not len(self._far)
        if X.nbytes <= LARGEST_COPY:
            self._kept = self.statistics(slice(0, self.n_rows))
            self._X = None

    def check_precision(self, dtype: str) -> None:
        """Refuse float32 for data so wide that log likelihoods would be off by 1e-3 and more."""
        widest = np.sqrt(self._squares.max(initial=0.0))
        if dtype == "float32" and widest > _WIDEST_FLOAT32:
            raise ValueError(
                f"precision='float32' needs data within {_WIDEST_FLOAT32:g} noise standard "
                f"deviations of their middle, and a row is {widest:.3g} away: use 'float64'."
            )

    def statistics(self, rows: slice) -> Floats:
        """(y, 1)."""
        if self._kept is not None:
            return self._kept[rows]
        assert self._X is not None, "the data are here if no copy was kept"
        X = self._X[rows]
        t = np.empty((len(X), self.n_statistics))
        self._axes.enter(X, self._centre, out=t[:, :-1])
        t[:, -1] = 1.0
        t.flags.writeable = False
        return t

    def natural(self, theta: Floats) -> Floats:
        """(m, -|m|^2 / 2)."""
        eta = np.empty((len(theta), self.n_statistics))
        m = self._axes.enter(theta, self._centre, out=eta[:, :-1])
        np.multiply(_squares(m), -0.5, out=eta[:, -1])
        return eta

    def fill(
        self, rows: slice, statistics: NDArray[Any], natural: NDArray[Any], out: NDArray[Any]
    ) -> None:
        """y . m - |m|^2 / 2, and -|y - m|^2 / 2 for rows far from everything."""
        super().fill(rows, statistics, natural, out)
        far = self._far_rows(rows)
        if len(far):
            y = statistics[far, :-1]
            for k, m in enumerate(natural[:, :-1]):
                out[far, k] = -0.5 * _squares(y - m)

    def log_base(self) -> Floats:
        """-|y|^2 / 2 + constant; the constant alone for rows far from everything."""
        base = self._constant - 0.5 * self._squares
        base[self._far] = self._constant
        return base

    def log_new(self) -> Floats:
        """log f*(x) - h(x): y ~ N(m0, 1 + d) entry by entry."""
        mean, variance = self._normals.mean, 1 + self._normals.variance

        def of_slice(rows: slice) -> Floats:
            y = self.statistics(rows)[:, :-1]
            return -0.5 * ((y - mean) ** 2 / variance).sum(axis=1)

        log_new = by_rows(self.n_rows, of_slice)
        near = np.ones(self.n_rows, dtype=bool)
        near[self._far] = False
        log_new += 0.5 * np.where(near, self._squares, 0.0)
        return log_new - 0.5 * np.log(variance).sum()

    def log_evidence(self, sums: Floats) -> Floats:
        """Of y ~ N(m, 1) with m ~ N(m0, d), entry by entry."""
        return self._normals.log_evidence(sums[:, :-1], sums[:, -1:])

    def log_prior(self, theta: Floats) -> Floats:
        """log h(theta): m ~ N(m0, d) entry by entry, with the Jacobian of A."""
        m = self._axes.enter(theta, self._centre)
        mean, variance = self._normals.mean, self._normals.variance
        squares = ((m - mean) ** 2 / variance).sum(axis=1)
        return self._constant - 0.5 * (squares + np.log(variance).sum())

    def log_likelihood(self, natural: Floats, sums: Floats, components: Any) -> float:
        """sum over n of log f(x_n; theta_c_n) - h(x_n); row by row where some rows are far."""
        if not len(self._far):
            return super().log_likelihood(natural, sums, components)
        m = natural[:, :-1]
        squares = [
            _squares(self.statistics(rows)[:, :-1] - m[components[rows]]).sum()
            for rows in slices(self.n_rows)
        ]
        constants = self.n_rows * self._constant - self.log_base().sum()
        return float(constants - 0.5 * np.sum(squares))

    def log_maximum(self, sums: Floats) -> Floats:
        """|sum y|^2 / (2 N_k)."""
        return 0.5 * over(_squares(sums[:, :-1]), sums[:, -1])

    def log_maximum_by_variance(self, sums: Floats) -> tuple[Floats, Floats]:
        """All columns together: the size of the covariance is one number."""
        return self.log_maximum(sums)[:, None], self.n_parameters * sums[:, -1:]

    def draw_theta(self, sums: Floats, rng: np.random.Generator) -> Floats:
        """theta_k ~ N(posterior mean, posterior covariance), precision Sigma0^-1 + N_k Sigma^-1.

        m_k ~ N((m0 / d + sum y) / (1 / d + N_k), 1 / (1 / d + N_k)) entry by entry.
        """
        m = self._normals.draw(sums[:, :-1], sums[:, -1:], rng)
        return self._axes.leave(m) + self._centre

    # ---- On a tree: y is in units of the noise already ------------------------------------------

    def precision_columns(self) -> tuple[NDArray[np.int64], Floats]:
        """One precision for all coordinates."""
        d = self.n_parameters
        return np.zeros(d, dtype=np.int64), np.array([float(d)])

    def prior_on_tree(self) -> TreePrior:
        """mu0, and the mean of Sigma0 in units of Sigma."""
        return prior_in_noise_units(self._origin, self._spread)

    def enter(self, theta: Floats) -> Floats:
        """m = A (theta - c)."""
        return self._axes.enter(theta, self._centre)

    def leave(self, places: Floats) -> Floats:
        """A^-1 m + c."""
        return self._axes.leave(places) + self._centre

    def whitened(self, rows: slice) -> tuple[Floats, None]:
        """y."""
        return self.statistics(rows)[:, :-1], None

    def whitened_sums(self, sums: Floats) -> tuple[Floats, Floats]:
        """(N_k, sum of y)."""
        return sums[:, -1:], sums[:, :-1]

    def log_new_at(self, rows: slice, places: Floats, variances: Floats) -> Floats:
        """y ~ N(m, 1 + v); by differences for rows far from everything."""
        table = super().log_new_at(rows, places, variances)
        far = self._far_rows(rows)
        if len(far):
            y, wide = self.statistics(rows)[far, :-1], 1.0 + variances[:, 0]
            for k, m in enumerate(places):
                squares = _squares(y - m) / wide[k]
                table[far, k] = -0.5 * (squares + y.shape[1] * np.log(wide[k]))
        return table

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

    def _far_rows(self, rows: slice) -> NDArray[np.int64]:
        """Places within the slice of the rows that are far from everything."""
        if not len(self._far):
            return self._far
        return self._far[(self._far >= rows.start) & (self._far < rows.stop)] - rows.start


def _squares(y: Floats) -> Floats:
    """Squared lengths along the last axis."""
    return np.einsum("...d,...d->...", y, y)


def _noise(covariance: Floats, size: int, rng: np.random.Generator) -> Floats:
    """(size, d) draws from N(0, covariance), a variance vector or a matrix."""
    z = rng.standard_normal((size, len(covariance)))
    if covariance.ndim == 1:
        return z * np.sqrt(covariance)
    return z @ np.linalg.cholesky(covariance).T
