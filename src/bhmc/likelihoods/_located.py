"""`Located`: what a family offers for components that have a place on a tree, in place of H.

In the family's own coordinates the law of theta_k is N(location, variance) in every coordinate, and
rows give Gaussian evidence on theta_k. Gaussian families with one covariance for all components
are such: in units of the noise every row is evidence of precision 1.
"""

from abc import ABC, abstractmethod
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from bhmc.likelihoods.blocks import Floats


class TreePrior(NamedTuple):
    """What is expected of a tree before any row is seen."""

    origin: Floats
    """(p,) where the root is, as a parameter."""
    spread: Floats
    """(blocks,) variance from the root to a component; in units of the noise where there is one."""
    has_noise: NDArray[np.bool_]
    """(blocks,) whether there is: then steps are wider than kappa times the noise."""


class Located(ABC):
    """A family whose components can sit on a diffusing tree; D coordinates, P precisions.

    Coordinates that have seen the same rows share a precision: those of a Gaussian without missing
    entries all do, and P is 1.
    """

    has_weights: bool = False
    """Whether the numbers of `has_latent` are weights. Then there is `redraw_alone`, too."""

    @property
    def latent(self) -> Floats:
        """(q,) the numbers of rows that the family holds, where it `has_latent`."""
        raise NotImplementedError

    def given(self, latent: Floats) -> Self:
        """A copy that holds these numbers (q,) of rows, given which they are Gaussian and whole."""
        raise NotImplementedError

    def draw_latent(
        self, places: Floats, component: NDArray[np.integer], rng: np.random.Generator
    ) -> Floats:
        """(q,) the numbers of rows, given theta of their components.

        Parameters
        ----------
        places : (K, D) array
            theta, in coordinates.
        component : (n,) array
            The component of every row.
        rng : numpy.random.Generator
            Where all randomness comes from.
        """
        raise NotImplementedError

    @abstractmethod
    def precision_columns(self) -> tuple[NDArray[np.int64], Floats]:
        """(D,) which precision each coordinate has, and (P,) how many coordinates have it."""

    def blocks(self) -> NDArray[np.int64]:
        """(P,) the block of each precision, from 0: each has variances of steps of its own."""
        return np.zeros(len(self.precision_columns()[1]), dtype=np.int64)

    @abstractmethod
    def prior_on_tree(self) -> "TreePrior":
        """As `Likelihood.prior_on_tree`."""

    @abstractmethod
    def enter(self, theta: Floats) -> Floats:
        """(K, D): parameters (K, p) in the family's coordinates, at its shared numbers."""

    @abstractmethod
    def leave(self, places: Floats) -> Floats:
        """(K, p): back from coordinates (K, D)."""

    def carried_to(self, other: "Located", places: Floats) -> Floats:
        """(K, D): the same parameters in the coordinates of this family at other shared numbers.

        Parameters
        ----------
        other : Located
            The family at those numbers.
        places : (K, D) array
            Parameters in the coordinates of this one.
        """
        return other.enter(self.leave(places))

    @abstractmethod
    def evidence(
        self, places: Floats, sums: Floats, rng: np.random.Generator
    ) -> tuple[Floats, Floats]:
        """(precision (K, P), linear (K, D)): evidence of the rows on theta in coordinates.

        exp(-precision theta^2 / 2 + linear theta), exact or given auxiliary variables drawn here.
        Both are 0 where nothing was seen.

        Parameters
        ----------
        places : (K, D) array
            The current theta, in coordinates.
        sums : (K, s) array
            Sums of t over the rows of each component.
        rng : numpy.random.Generator
            Where auxiliary variables come from.
        """

    @abstractmethod
    def log_new_at(self, rows: slice, places: Floats, variances: Floats) -> Floats:
        """(rows, M): log of the integral of f(x_n; theta) over N(place, variance), less h(x_n).

        Parameters
        ----------
        rows : slice
            Which rows.
        places : (M, D) array
            Means of theta, in coordinates.
        variances : (M, P) array
            Variances of theta.
        """

    @abstractmethod
    def log_evidence_at(self, sums: Floats, place: Floats, variance: Floats) -> Floats:
        """(K,): log of the integral of exp(eta(theta) . sums) over N(place, variance).

        That is log p(rows), less the sum of their h, for rows that share one theta; numbers that
        are the same however rows are grouped may be left out.

        Parameters
        ----------
        sums : (K, s) array
            Sums of t over the rows of each group.
        place : (D,) array
            Mean of theta before its rows are seen, in coordinates.
        variance : (P,) array
            Variances of it.
        """

    @abstractmethod
    def draw_theta_at(
        self, sums: Floats, places: Floats, variances: Floats, rng: np.random.Generator
    ) -> Floats:
        """(K, D): theta_k in coordinates, given its rows and N(place, variance).

        Parameters
        ----------
        sums : (K, s) array
            Sums of t over the rows of each component.
        places : (K, D) array
            Means of theta before its rows are seen, in coordinates.
        variances : (K, P) array
            Variances of it.
        rng : numpy.random.Generator
            Where all randomness comes from.
        """

    @abstractmethod
    def own_places(self, sums: Floats, origin: Floats) -> Floats:
        """(K, D): where a component's rows alone would put it; at the origin where there are none.

        Parameters
        ----------
        sums : (K, s) array
            Sums of t over the rows of each component.
        origin : (D,) array
            The mean of the root's location, in coordinates.
        """

    @abstractmethod
    def draw_shared_at(
        self, theta: Floats, sums: Floats, increments: Floats, rng: np.random.Generator
    ) -> Floats:
        """(q,): the shared numbers given theta, all rows, and the steps of the tree.

        Parameters
        ----------
        theta : (K, p) array
            Parameters of the components.
        sums : (K, s) array
            Sums of t over the rows of each component.
        increments : (J, D) array
            All steps of the tree and to theta, each divided by its standard deviation, in the
            coordinates of this family. In the units of the data they scale with the noise.
        rng : numpy.random.Generator
            Where all randomness comes from.
        """

    @abstractmethod
    def shared_at(self, root: Floats, total: Floats) -> Floats:
        """(q,): the shared numbers with the law of a component that has no place in the tree yet.

        Parameters
        ----------
        root : (p,) array
            The root's location, as a parameter.
        total : (blocks,) array
            The variance from the root to a component.
        """

    @abstractmethod
    def log_prior_noise(self) -> float:
        """log p of the shared numbers that are learned on a tree."""


def prior_in_noise_units(origin: Floats, spread: float) -> TreePrior:
    """One block, in units of the noise.

    Parameters
    ----------
    origin : (p,) array
        Where the root is expected.
    spread : float
        Variance from the root to a component, in units of the noise.
    """
    return TreePrior(origin, np.array([spread]), np.array([True]))


class NoiseUnits(Located):
    """Gaussian rows in units of the noise: u ~ N(theta, 1) in every coordinate."""

    is_plain: bool = True
    """Whether f and f* are N(u; theta, 1) and N(u; m, 1 + v) themselves, up to h(x)."""

    @abstractmethod
    def whitened(self, rows: slice) -> tuple[Floats, Floats | None]:
        """(u, o): rows (n, D) in coordinates, 0 where an entry is missing, and 1 where it is not.

        o is None where no row of the data lacks an entry.
        """

    @abstractmethod
    def whitened_sums(self, sums: Floats) -> tuple[Floats, Floats]:
        """(counts (K, P), sums of u (K, D)) from sums of t."""

    def evidence(
        self, places: Floats, sums: Floats, rng: np.random.Generator
    ) -> tuple[Floats, Floats]:
        """Precision: rows seen. Linear: their sum."""
        return self.whitened_sums(sums)

    def log_evidence_at(self, sums: Floats, place: Floats, variance: Floats) -> Floats:
        """log of the integral of exp(-p theta^2 / 2 + h theta), p rows seen and h their sum."""
        column, repeats = self.precision_columns()
        p, h = self.whitened_sums(sums)
        below = 1 + p * variance
        log_z = -0.5 * np.log(below) @ repeats
        wide = variance[column]
        each = h * (place + 0.5 * wide * h) - 0.5 * p[:, column] * place**2
        return log_z + (each / below[:, column]).sum(axis=1)

    def own_places(self, sums: Floats, origin: Floats) -> Floats:
        """The mean of a component's rows."""
        column, _ = self.precision_columns()
        p, h = self.whitened_sums(sums)
        seen = p[:, column] > 0
        return np.where(seen, h / np.where(seen, p[:, column], 1.0), origin)

    def draw_theta_at(
        self, sums: Floats, places: Floats, variances: Floats, rng: np.random.Generator
    ) -> Floats:
        """N((h + m / v) / (p + 1 / v), 1 / (p + 1 / v)) with p rows seen and their sum h."""
        column = self.precision_columns()[0]
        precision, linear = self.whitened_sums(sums)
        total = (precision + 1 / variances)[:, column]
        mean = (linear + places / variances[:, column]) / total
        return mean + rng.standard_normal(mean.shape) / np.sqrt(total)

    def log_new_at(self, rows: slice, places: Floats, variances: Floats) -> Floats:
        """u ~ N(m, 1 + v), less the log density of N(0, 1), over observed entries."""
        u, observed = self.whitened(rows)
        wide = 1.0 + variances
        if observed is None:
            return plain_log_new_at(u, places, variances)
        table = (u * u) @ (0.5 - 0.5 / wide).T
        table += u @ (places / wide).T
        return table - 0.5 * (observed @ (places**2 / wide + np.log(wide)).T)


def plain_log_new_at(u: Floats, places: Floats, variances: Floats) -> Floats:
    """(n, M): log N(u; m, 1 + v) - log N(u; 0, 1), no entry missing and v the same in all.

    Parameters
    ----------
    u : (n, D) array
        Rows, in units of the noise.
    places : (M, D) array
        m.
    variances : (M, 1) array
        v.
    """
    wide = 1.0 + variances
    table = (0.5 - 0.5 / wide[:, 0]) * np.einsum("nd,nd->n", u, u)[:, None]
    table += u @ (places / wide).T
    falls = np.einsum("md,md->m", places, places) / wide[:, 0]
    return table - 0.5 * (falls + u.shape[1] * np.log(wide[:, 0]))
