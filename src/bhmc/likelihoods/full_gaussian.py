"""x ~ N(mean, Sigma), with a mean and a full covariance of every component's own."""

import copy
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln, multigammaln

from bhmc._validation.parameters import check_covariance, check_positive, check_vector
from bhmc.likelihoods._missing import has_missing
from bhmc.likelihoods._protocol import ConjugateFamily, Likelihood
from bhmc.likelihoods._scales import column_scales
from bhmc.likelihoods._summary import ColumnSummary, summary_of_all
from bhmc.likelihoods._wishart import draw_factors, log_multigamma, over_triangle
from bhmc.likelihoods.blocks import LARGEST_COPY, Floats, by_rows, over, product_in_double, slices

# What `scaled_to` adds to the diagonal of a correlation matrix with a smaller eigenvalue than this.
_RIDGE = 1e-6

# nu must be so much above d - 1, or a draw of Sigma may overflow a double.
_LEAST_FREEDOM = 0.2

# The squares of a row farther from mu0 than this, in units of sigma0, cost a sum digits when they
# are subtracted again.
_VERY_FAR = 1e3

# Sums of squares so large have rounding errors of about 0.01, where sigma0 itself counts as 1. (The
# error of a sum of n numbers grows as their sum times sqrt(n).)
_LARGEST_SQUARES = 1e14

_NO_GAPS = (
    "X has missing values, and FullGaussian cannot skip them, because a full covariance ties "
    "all entries of a row together: use FreeGaussian or SharedGaussian, which can."
)


@dataclass(frozen=True, eq=False)
class FullGaussian(Likelihood):
    """Gaussian components, each with a mean and a full covariance of its own.

        Sigma ~ InverseWishart(sigma0, nu)    mean ~ N(mu0, Sigma / lam)    x ~ N(mean, Sigma)

    A row of theta holds the d means, then T with Sigma = T T', the lower triangular factor with a
    positive diagonal, row by row: d (d + 1) / 2 numbers. Sampling costs d^2 a row and d^3 a
    component: this family is for at most some hundred columns. Missing entries are refused.

    Parameters
    ----------
    nu : float, optional
        Degrees of freedom, above d - 1 (by 0.2 at least); d + 2 where not given, for which sigma0
        is the prior mean of Sigma.
    lam : float, default=0.1
        How many data the prior mean counts for.
    mu0 : float or (d,), optional
        Prior mean of the component means; 0 where not given.
    sigma0 : float, (d,) or (d, d), optional
        Scale matrix of Sigma; the identity where not given.
    """

    nu: float | None = None
    lam: float = 0.1
    mu0: ArrayLike | None = None
    sigma0: ArrayLike | None = None

    @classmethod
    def scaled_to(cls, X: Floats, **settings: Any) -> "FullGaussian":
        """The family in the units of X: mu0 its mean and sigma0 its covariance.

        A constant column counts as having variance 1. Where columns are collinear, or nearly, 1e-6
        of each variance is added to it. X must hold all rows.
        """
        if has_missing(X):
            raise ValueError(_NO_GAPS)
        mean, deviation = column_scales(X)
        correlation = np.zeros((len(mean), len(mean)))
        for rows in slices(len(X)):
            z = (X[rows] - mean) / deviation
            correlation += z.T @ z / len(X)
        np.fill_diagonal(correlation, 1.0)
        if np.linalg.eigvalsh(correlation)[0] < _RIDGE:
            correlation += _RIDGE * np.eye(len(mean))
        return cls(mu0=mean, sigma0=correlation * deviation * deviation[:, None], **settings)

    def prepare(self, X: Floats, summary: ColumnSummary | None = None) -> ConjugateFamily:
        """The family bound to X."""
        return FullGaussianFamily(self, X, summary)

    def sample_theta(self, size: int, n_features: int, rng: np.random.Generator) -> Floats:
        """Sigma ~ InverseWishart(sigma0, nu), mean ~ N(mu0, Sigma / lam); by SciPy."""
        nu, mu0, sigma0 = self.checked(n_features)
        theta = np.empty((size, n_features + n_features * (n_features + 1) // 2))
        for row in theta:
            from scipy import stats  # 50 MB, which a worker that keeps rows does not need

            sigma = np.reshape(stats.invwishart.rvs(nu, sigma0, random_state=rng), sigma0.shape)
            row[:n_features] = rng.multivariate_normal(mu0, sigma / self.lam, method="cholesky")
            row[n_features:] = np.linalg.cholesky(sigma)[np.tri(n_features, dtype=bool)]
        return theta

    def sample_data(self, theta: Floats, rng: np.random.Generator) -> Floats:
        """x_i ~ N(mean_i, T_i T_i'), (len(theta), d)."""
        d = int(np.sqrt(2 * theta.shape[1] + 2.25) - 1.5)  # d + d (d + 1) / 2 numbers
        X, factor = np.empty((len(theta), d)), np.zeros((d, d))
        for x, row in zip(X, theta, strict=True):
            factor[np.tri(d, dtype=bool)] = row[d:]
            x[:] = row[:d] + factor @ rng.normal(size=d)
        return X

    def checked(self, n_features: int) -> tuple[float, Floats, Floats]:
        """(nu, mu0, sigma0), the last two (d,) and (d, d), every setting checked."""
        check_positive(self.lam, "lam")
        nu = n_features + 2.0 if self.nu is None else check_positive(self.nu, "nu")
        if nu < n_features - 1 + _LEAST_FREEDOM:
            raise ValueError(
                f"nu must be at least {_LEAST_FREEDOM} above d - 1 = {n_features - 1} for draws to "
                f"be finite, got {self.nu!r}."
            )
        mu0 = check_vector(0.0 if self.mu0 is None else self.mu0, n_features, "mu0")
        sigma0 = 1.0 if self.sigma0 is None else self.sigma0
        sigma0 = check_covariance(sigma0, n_features, "sigma0")
        return nu, mu0, np.diag(sigma0) if sigma0.ndim == 1 else sigma0


class FullGaussianFamily(ConjugateFamily):
    """The conditionals of `FullGaussian` for given data.

    In the coordinates y = L^-1 (x - mu0), with sigma0 = L L', the prior is that of mu0 = 0 and
    sigma0 = I. There a component has mean m, factor L^-1 T, and precision P = W W', W = L' T'^-1.
    With t(x) = (y, y_i y_j for all i >= j, 1),

        log f(x; theta) = (P m, -P_ij (halved where i = j), log|P| / 2 - m' P m / 2) . t(x) + h(x),
        h(x) = -d log(2 pi) / 2 - log|L|.

    The terms cancel where a component is narrow and far from mu0. But lam ties the mean to the
    covariance: given n rows, m' P m is of the order of (nu + n) / lam at most, and no more digits
    than this number has are lost.
    """

    # Put in by `with_spread`: C in the coordinates y.
    _within: Floats

    _draw_factor = staticmethod(draw_factors)

    def __init__(self, likelihood: FullGaussian, X: Floats, summary: ColumnSummary | None = None):
        self.n_rows, self._d = X.shape
        summary = summary_of_all(X, summary)
        if summary.has_missing:
            raise ValueError(_NO_GAPS)
        self._nu, self._mu0, sigma0 = likelihood.checked(self._d)
        self._lam = likelihood.lam
        self._root = np.linalg.cholesky(sigma0)
        self._log_root = np.log(np.diag(self._root))
        self._lower = np.tril_indices(self._d)
        self.n_parameters = self._d + len(self._lower[0])
        self.n_statistics = self.n_parameters + 1
        self._X, self._kept = X, None
        squares = self._squares()
        if not squares.sum() * np.sqrt(summary.n_rows) < _LARGEST_SQUARES:
            raise ValueError(
                "X is too far from mu0 in units of sigma0 for a double to hold sums of squares: "
                "FullGaussian.scaled_to(X) takes both from the data."
            )
        self.subtracts_well = bool(squares.max(initial=0.0) < _VERY_FAR**2)
        if self.n_rows * self.n_statistics * X.itemsize <= LARGEST_COPY:
            self._kept, self._X = self.statistics(slice(0, self.n_rows)), None

    def statistics(self, rows: slice) -> Floats:
        """(y, y_i y_j for all i >= j, 1), the pairs row by row of the triangle."""
        if self._kept is not None:
            return self._kept[rows]
        y, first = self._white(rows), self._d
        t = np.empty((len(y), self.n_statistics))
        t[:, :first], t[:, -1] = y, 1.0
        for i in range(self._d):
            np.multiply(y[:, : i + 1], y[:, i : i + 1], out=t[:, first : first + i + 1])
            first += i + 1
        t.flags.writeable = False
        return t

    def points(self, rows: slice) -> Floats:
        """x - mu0 in units of the columns, the roots of the diagonal of Sigma0.

        Not y: there every direction is as wide as every other, and those in which groups lie apart
        would count no more than those of noise.
        """
        y = self.statistics(rows)[:, : self._d]
        return y @ (self._root / np.sqrt((self._root**2).sum(axis=1))[:, None]).T

    def natural(self, theta: Floats) -> Floats:
        """(P m, -P_ij (halved where i = j), log|P| / 2 - m' P m / 2)."""
        m, w, log_diagonal = self._enter(theta)
        precision = w @ np.swapaxes(w, 1, 2)
        i, j = self._lower
        pulled = np.einsum("kij,kj->ki", precision, m)
        eta = np.empty((len(theta), self.n_statistics))
        eta[:, : self._d] = pulled
        eta[:, self._d : -1] = precision[:, i, j] * np.where(i == j, -0.5, -1.0)
        eta[:, -1] = -log_diagonal.sum(axis=1) - 0.5 * (m * pulled).sum(axis=1)
        return eta

    def fill(
        self, rows: slice, statistics: NDArray[Any], natural: NDArray[Any], out: NDArray[Any]
    ) -> None:
        """eta . t in float64 whatever the type of the table: terms are large before they cancel."""
        product_in_double(statistics, natural, out)

    def log_base(self) -> Floats:
        """-d log(2 pi) / 2 - log|L|."""
        return np.full(self.n_rows, -0.5 * self._d * np.log(2 * np.pi) - self._log_root.sum())

    def log_new(self) -> Floats:
        """log f*(x) - h(x): Student t, nu - d + 1 degrees of freedom, location mu0,
        scale sigma0 (lam + 1) / (lam (nu - d + 1)).

        With w = (lam + 1) / lam,

            log f*(y) = log G((nu + 1) / 2) - log G((nu - d + 1) / 2) - (d / 2) log(pi w)
                        - ((nu + 1) / 2) log(1 + |y|^2 / w).
        """
        nu, d, w = self._nu, self._d, (self._lam + 1) / self._lam
        constant = gammaln((nu + 1) / 2) - gammaln((nu - d + 1) / 2) - 0.5 * d * np.log(w / 2)
        return constant - (nu + 1) / 2 * np.log1p(self._squares() / w)

    def log_evidence(self, sums: Floats) -> Floats:
        """log G_d((nu + n) / 2) / G_d(nu / 2) - ((nu + n) / 2) log|sigma0'| + (d / 2) log(lam / l)
        + (n d / 2) log 2, with sigma0' and l as in `draw_theta`.
        """
        d, n, strength = self._d, sums[:, -1], self._lam + sums[:, -1:]
        scale = self._unpacked(sums[:, d:-1]) + np.eye(d)
        scale -= sums[:, :d, None] * (sums[:, :d] / strength)[:, None, :]
        root = np.linalg.cholesky(scale)  # which reads the lower triangle only
        log_det = 2 * np.log(np.diagonal(root, axis1=1, axis2=2)).sum(axis=1)
        value = log_multigamma((self._nu + n) / 2, d) - log_multigamma(self._nu / 2, d)
        value = value - (self._nu + n) / 2 * log_det + n * d / 2 * np.log(2)
        return value + d / 2 * np.log(self._lam / strength[:, 0])

    def log_prior(self, theta: Floats) -> Floats:
        """Log density of (mean, T) as theta holds them: Sigma ~ W^-1(sigma0, nu) and
        mean ~ N(mu0, Sigma / lam), with the factor dSigma / dT = 2^d prod_i T_ii^(d + 1 - i).

        In the coordinates y, where T is L^-1 T, dividing by that change's |L| prod_i L_ii^i.
        """
        nu, d, lam = self._nu, self._d, self._lam
        m, w, log_diagonal = self._enter(theta)
        place = np.arange(1, d + 1)
        log_p = -0.5 * nu * d * np.log(2) - multigammaln(nu / 2, d) + d * np.log(2)
        log_p -= log_diagonal @ (nu + place) + 0.5 * (w**2).sum(axis=(1, 2))
        squares = (np.einsum("kij,ki->kj", w, m) ** 2).sum(axis=1)
        log_p += 0.5 * (d * np.log(lam / (2 * np.pi)) - lam * squares) - log_diagonal.sum(axis=1)
        return log_p - self._log_root @ (place + 1)

    def draw_theta(self, sums: Floats, rng: np.random.Generator) -> Floats:
        """Sigma ~ W^-1(sigma0', nu + n), then mean ~ N(mu', Sigma / l), l = lam + n,

        mu' = (lam mu0 + n xbar) / l, sigma0' = sigma0 + S + (lam n / l)(xbar - mu0)(xbar - mu0)', S
        the scatter about xbar. In the coordinates y, with s and Q the sums of y and y y', mu' is
        s / l and sigma0' is I + Q - s s' / l.
        """
        d, strength = self._d, self._lam + sums[:, -1:]
        centre = sums[:, :d] / strength
        scale = self._unpacked(sums[:, d:-1]) - sums[:, :d, None] * centre[:, None, :] + np.eye(d)
        root = np.linalg.cholesky(scale)  # which reads the lower triangle only
        factor = self._draw_factor(root, self._nu + sums[:, -1], rng)
        z = rng.standard_normal((len(sums), d)) / np.sqrt(strength)
        m = centre + np.einsum("kij,kj->ki", factor, z)
        i, j = self._lower
        return np.hstack([self._mu0 + m @ self._root.T, (self._root @ factor)[:, i, j]])

    def log_maximum(self, sums: Floats) -> Floats:
        """|C^-1 sum y|^2 / (2 N_k), C C' being the covariance within all components."""
        white = over_triangle(sums[:, : self._d], self._within, transposed=True)
        return 0.5 * over((white**2).sum(axis=1), sums[:, -1])

    def log_maximum_by_variance(self, sums: Floats) -> tuple[Floats, Floats]:
        """All columns together: the size of the covariance is one number."""
        return self.log_maximum(sums)[:, None], self._d * sums[:, -1:]

    def with_spread(self, sums: Floats) -> Self:
        """A copy with C C' = (sum_k S_k + K sigma0) / (sum_k n_k + K nu).

        S_k is the scatter of n_k rows about their mean. Each component's prior counts for nu rows
        of scatter sigma0.
        """
        family, n, s = copy.copy(self), sums[:, -1:], sums[:, : self._d]
        scatter = self._unpacked(sums[:, self._d : -1]).sum(axis=0) - over(s, n).T @ s
        total = n.sum() + len(sums) * self._nu
        family._within = np.linalg.cholesky((scatter + len(sums) * np.eye(self._d)) / total)
        return family

    def sums(self, components: NDArray[Any], n_components: int) -> Floats:
        """(K, s): sums of t over the rows of each component, without a wide t for every row."""
        d, (i, j) = self._d, self._lower
        sums = np.zeros((n_components, self.n_statistics))
        for rows in slices(self.n_rows):
            y = self._white(rows)
            for k in np.unique(components[rows]):
                own = y[components[rows] == k]
                sums[k, :d] += own.sum(axis=0)
                sums[k, d:-1] += (own.T @ own)[i, j]
                sums[k, -1] += len(own)
        return sums

    def _enter(self, theta: Floats) -> tuple[Floats, Floats, Floats]:
        """(m, W, log of the diagonal of L^-1 T): (K, d), (K, d, d) and (K, d)."""
        m = over_triangle(theta[:, : self._d] - self._mu0, self._root, transposed=True)
        factor = self._unpacked(theta[:, self._d :])
        log_diagonal = np.log(np.diagonal(factor, axis1=1, axis2=2)) - self._log_root
        w = np.empty_like(factor)
        for k in range(len(theta)):
            w[k] = over_triangle(self._root.T, factor[k], transposed=True)
        return m, w, log_diagonal

    def _unpacked(self, triangles: Floats) -> Floats:
        """(K, d, d): lower triangles from their numbers row by row, 0 above them."""
        i, j = self._lower
        matrices = np.zeros((len(triangles), self._d, self._d))
        matrices[:, i, j] = triangles
        return matrices

    def _white(self, rows: slice) -> Floats:
        """(rows, d): y."""
        if self._kept is not None:
            return self._kept[rows, : self._d]
        assert self._X is not None, "the data are here if no copy was kept"
        return over_triangle(self._X[rows] - self._mu0, self._root, transposed=True)

    def _squares(self) -> Floats:
        """(n,): |y|^2."""

        def of_slice(rows: slice) -> Floats:
            y = self._white(rows)
            return np.einsum("nd,nd->n", y, y)

        return by_rows(self.n_rows, of_slice)
