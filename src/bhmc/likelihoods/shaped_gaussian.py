"""x ~ N(theta, sigma2 shape): a known shape of the covariance, whose size is learned."""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from bhmc._validation.parameters import check_covariance, check_positive, check_vector
from bhmc.likelihoods._axes import matrix
from bhmc.likelihoods._degrees import noise_degrees
from bhmc.likelihoods._kinds import of_one_kind
from bhmc.likelihoods._located import TreePrior, prior_in_noise_units
from bhmc.likelihoods._missing import has_missing
from bhmc.likelihoods._protocol import ConjugateFamily
from bhmc.likelihoods._resolution import least_variance
from bhmc.likelihoods._scales import column_scales, common_deviation
from bhmc.likelihoods._shape import noise_shape
from bhmc.likelihoods._summary import ColumnSummary, summary_of_all
from bhmc.likelihoods._units import Learning
from bhmc.likelihoods._wishart import over_triangle
from bhmc.likelihoods.block_sums import ROWS_PER_BLOCK
from bhmc.likelihoods.blocks import Floats
from bhmc.likelihoods.gaussian import Gaussian
from bhmc.likelihoods.shared_gaussian import SharedGaussian, SharedGaussianFamily

NO_GAPS = (
    "ShapedGaussian with finite degrees takes no missing entries (NaN): fill them in, drop their "
    "rows, or use degrees=inf."
)
TOO_FEW_WHOLE_ROWS = (
    "'shaped_gaussian' takes its shape from rows without missing entries (NaN), and X has {n} of "
    "them: use 'shared_gaussian', which needs no whole rows."
)


AUTO = "auto"


@dataclass(frozen=True, eq=False)
class ShapedGaussian(Learning):
    """Gaussian components that share one covariance, whose shape is known and whose size is not.

    With `shape` = R R' and y = R^-1 (x - location),

        sigma2 ~ InverseGamma(noise_shape, noise_scale)      x ~ N(theta, sigma2 shape)
        sigma0 ~ InverseGamma(spread_shape, spread_scale)    theta ~ N(mu0, sigma0 shape)
        R^-1 (mu0 - location) ~ N(0, I)

    with sigma2 no smaller than least_variance: in the coordinates y it is `SharedGaussian` with a
    spherical covariance. By name, "shaped_gaussian", the shape is the covariance of rows within
    groups of k-means, shrunk by 30 % towards equal variances. Rows that were held out say how many
    groups, and whether the shape is that of equal variances. Missing entries are drawn by the
    chain, where a transition has a place for components; others refuse them.

    With finite `degrees` nu, rows have tails like Student's t, and one that lies far out needs no
    component of its own:

        x ~ N(theta, sigma2 shape / w)      w ~ Gamma(nu / 2, nu / 2), for every row

    This needs a transition whose components have a place on the tree, and stands alone: not in a
    `Product`.

    Parameters
    ----------
    shape : float, (d,) or (d, d), default=1.0
        The covariance of the rows of a component, up to its size sigma2.
    location : float or (d,), default=0.0
        Middle of the columns.
    noise_shape, noise_scale : float, default=1.0, 0.2
        Prior of sigma2.
    spread_shape, spread_scale : float, default=1.0, 0.2
        Prior of sigma0.
    least_variance : float, default=0.0
        sigma2 is no smaller. `BHMC` takes it from the data where the likelihood is given by name:
        what so many rows can show (docs/families.md).
    degrees : float or "auto", default=inf
        Degrees of freedom of the noise; inf is Gaussian noise. "auto" is for likelihoods that take
        their settings from data: those with which rows that were held out have the highest density.
    """

    shape: ArrayLike = 1.0
    location: ArrayLike = 0.0
    noise_shape: float = 1.0
    noise_scale: float = 0.2
    spread_shape: float = 1.0
    spread_scale: float = 0.2
    least_variance: float = 0.0
    degrees: float | str = np.inf

    allows_missing = True
    draws_missing = True
    has_places = True

    @property
    def needs_places(self) -> bool:  # type: ignore[override]
        """Whether rows have weights, which only chains on a diffusing tree draw."""
        return self.degrees != np.inf

    @classmethod
    def scaled_to(cls, X: Floats, **settings: Any) -> Self:
        """Location, shape and least variance from X, which must hold all rows.

        Degrees of freedom, too, where `degrees` is "auto". Rows with missing entries have no say.
        """
        X = _whole_rows(X)
        location, deviation = column_scales(X)
        if of_one_kind(X):
            deviation = np.full(X.shape[1], common_deviation(X))
        shape = noise_shape((X - location) / deviation) * deviation * deviation[:, None]
        given = {"location": location, "shape": shape, **settings}
        if given.get("degrees") == AUTO:
            given["degrees"] = noise_degrees(X - location, shape)
        likelihood = cls(**given)
        rows, spherical = likelihood.entered(X), likelihood.in_own_units()
        least = least_variance(rows, spherical)
        return cls(**{"least_variance": least, **given})

    def with_tails(self, X: Floats) -> Self | None:
        """The degrees of freedom that held-out rows ask for; None where noise is Gaussian.

        None, too, where entries are missing.
        """
        if has_missing(X):
            return None
        location = check_vector(self.location, X.shape[1], "location")
        degrees = noise_degrees(X - location, np.asarray(self.shape))
        return None if degrees == np.inf else replace(self, degrees=degrees)

    def in_own_units(self) -> SharedGaussian:
        """The same family in the coordinates y."""
        return SharedGaussian(
            covariance="spherical",
            noise_shape=self.noise_shape,
            noise_scale=self.noise_scale,
            spread_shape=self.spread_shape,
            spread_scale=self.spread_scale,
            least_variance=self.least_variance,
        )

    def root(self, n_features: int) -> Floats:
        """(d, d): R, lower triangular, with R R' = shape.

        Parameters
        ----------
        n_features : int
            Columns of the data.
        """
        shape = matrix(check_covariance(self.shape, n_features, "shape"))
        return np.linalg.cholesky(shape).astype(np.float64)

    def entered(self, rows: Floats) -> Floats:
        """(n, d): y = R^-1 (x - location) of rows x, or of parameters.

        Parameters
        ----------
        rows : (n, d) array
            In the units of the data.
        """
        d = rows.shape[1]
        centred = rows - check_vector(self.location, d, "location")
        return over_triangle(centred, self.root(d), transposed=True)

    def left(self, rows: Floats) -> Floats:
        """(n, d): x = location + R y.

        Parameters
        ----------
        rows : (n, d) array
            In the coordinates y.
        """
        d = rows.shape[1]
        return check_vector(self.location, d, "location") + rows @ self.root(d).T

    def prepare(self, X: Floats, summary: ColumnSummary | None = None) -> ConjugateFamily:
        """The family bound to X."""
        if check_degrees(self.degrees) == np.inf:
            if not has_missing(X):
                return ShapedGaussianFamily(self, X, summary)
            from bhmc.likelihoods.gaussian_gaps import ShapedGaussianWithGaps

            return ShapedGaussianWithGaps(self, X, summary)
        if has_missing(X):
            raise ValueError(NO_GAPS)
        from bhmc.likelihoods.heavy_tails import HeavyTailedFamily

        return HeavyTailedFamily(self, X, summary)

    def at(self, shared: Floats) -> Gaussian:
        """Gaussian components with these numbers known; rows have tails if these do."""
        mu0, sigma2, sigma0 = shared[:-2], float(shared[-2]), float(shared[-1])
        root = self.root(len(mu0))
        shape = root @ root.T
        known = sigma2 * shape, self.left(mu0[None])[0], sigma0 * shape
        if check_degrees(self.degrees) == np.inf:
            return Gaussian(*known)
        from bhmc.likelihoods.heavy_tails import HeavyTailed

        return HeavyTailed(*known, float(self.degrees))

    def sample_shared(self, n_features: int, rng: np.random.Generator) -> Floats:
        """(R^-1 (mu0 - location), sigma2, sigma0) from their priors."""
        return self.in_own_units().sample_shared(n_features, rng)

    def noise_on_tree(self, shared: Floats, n_features: int) -> Floats:
        """sigma2 shape."""
        root = self.root(n_features)
        return float(shared[-2]) * (root @ root.T)

    def prior_on_tree(self, n_features: int) -> TreePrior:
        """`location`, and 1 / noise_scale: rows have variance 1 in units of `shape`."""
        location = check_vector(self.location, n_features, "location")
        return prior_in_noise_units(location, 1 / self.noise_scale)

    def shared_on_tree(self, shared: Floats, root: Floats, total: Floats) -> Floats:
        """The root's location as mu0, and sigma0 = total sigma2."""
        own = self.entered(root[None])[0]
        return self.in_own_units().shared_on_tree(shared, own, total)

    def split(self, shared: Floats) -> tuple[Floats, Floats, Floats]:
        """(mu0, sigma2, sigma0) in the units of the data, (d,), (d, d) and (d, d).

        Parameters
        ----------
        shared : (q,) array
            The numbers that components share.
        """
        known = self.at(shared)
        return np.asarray(known.mu0), np.asarray(known.sigma2), np.asarray(known.sigma0)


def _whole_rows(X: Floats) -> Floats:
    """The rows of X that lack nothing; refused where there are fewer than two."""
    if not has_missing(X):
        return X
    whole = X[~np.isnan(X).any(axis=1)]
    if len(whole) < 2:
        raise ValueError(TOO_FEW_WHOLE_ROWS.format(n=len(whole)))
    return whole


def check_degrees(degrees: float | str) -> float:
    """The degrees of freedom as a number above 0; refused where they are not known."""
    if isinstance(degrees, str):
        raise ValueError(
            f"degrees={degrees!r} is taken from data by likelihood='tailed_gaussian' alone: give a "
            "number above 0, or inf."
        )
    return degrees if degrees == np.inf else check_positive(degrees, "degrees")


class ShapedGaussianFamily(SharedGaussianFamily):
    """`SharedGaussian` with a spherical covariance, bound to y; theta is in the units of the data.

    f(x; theta) = f(y; m) / |R| with m = R^-1 (theta - location).
    """

    def __init__(self, likelihood: ShapedGaussian, X: Floats, summary: ColumnSummary | None = None):
        d = X.shape[1]
        self._shaped, self._root = likelihood, likelihood.root(d)
        self._inverse = np.linalg.inv(self._root)
        self._middle = check_vector(likelihood.location, d, "location")
        self._log_det = float(np.log(np.diag(self._root)).sum())
        filled = summary_of_all(X, summary).filled()
        # Many rows enter the coordinates tile by tile: a copy of all of them would be large.
        self._enters_later = filled.n_rows > ROWS_PER_BLOCK
        rows = X if self._enters_later else likelihood.entered(X)
        super().__init__(likelihood.in_own_units(), rows, filled)

    def _in_units(self, rows: Floats) -> Floats:
        """(r, d): y of rows x, or of rows that are in these coordinates already."""
        if not self._enters_later:
            return super()._in_units(rows)
        from bhmc._compiled.triangular import centred_products

        return centred_products(rows, self._middle, self._inverse)

    def with_rows(self, X: Floats) -> Self:
        """A copy that holds these rows alone."""
        return super().with_rows(X if self._enters_later else self._shaped.entered(X))

    def _entered(self, theta: Floats) -> Floats:
        """(K, d): m."""
        return (theta - self._middle) @ self._inverse.T

    def _left(self, m: Floats) -> Floats:
        """(K, d): location + R m."""
        return self._middle + m @ self._root.T

    def draw_shared(self, theta: Floats, sums: Floats, rng: np.random.Generator) -> Floats:
        """That of the spherical family, given m."""
        return super().draw_shared(self._entered(theta), sums, rng)

    def natural(self, theta: Floats) -> Floats:
        """That of the spherical family at m."""
        return super().natural(self._entered(theta))

    def log_base(self) -> Floats:
        """That of the spherical family, less log |R|."""
        return super().log_base() - self._log_det

    def log_base_sum(self) -> float:
        """Likewise."""
        return super().log_base_sum() - float(self._observed[0]) * self._log_det

    def log_prior(self, theta: Floats) -> Floats:
        """m ~ N(m0, sigma0), less log |R|."""
        return super().log_prior(self._entered(theta)) - self._log_det

    def draw_theta(self, sums: Floats, rng: np.random.Generator) -> Floats:
        """location + R m, m drawn by the spherical family."""
        return self._left(super().draw_theta(sums, rng))

    # ---- On a tree ------------------------------------------------------------------------------

    def prior_on_tree(self) -> TreePrior:
        """`location`, and 1 / noise_scale."""
        return self._shaped.prior_on_tree(self.n_parameters)

    def enter(self, theta: Floats) -> Floats:
        """m in units of the noise."""
        return super().enter(self._entered(theta))

    def leave(self, places: Floats) -> Floats:
        """location + R m."""
        return self._left(super().leave(places))

    def draw_shared_at(
        self, theta: Floats, sums: Floats, increments: Floats, rng: np.random.Generator
    ) -> Floats:
        """That of the spherical family, given m."""
        return super().draw_shared_at(self._entered(theta), sums, increments, rng)

    def shared_at(self, root: Floats, total: Floats) -> Floats:
        """mu0 is the root's location, sigma0 the variance from there to a component."""
        return super().shared_at(self._entered(root[None])[0], total)
