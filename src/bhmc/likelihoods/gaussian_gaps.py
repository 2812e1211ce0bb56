"""Gaussian families with correlations, bound to rows of which entries are missing.

A chain draws missing entries in every sweep, given the others and theta, and goes on as if they
had been there. Densities have them integrated out: they are those of the entries that a row has.
"""

import copy
from abc import abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from bhmc.likelihoods._gaps import Gaps, first_numbers
from bhmc.likelihoods._learned_means import VERY_LARGE, LearnedMeans
from bhmc.likelihoods._located import NoiseUnits, plain_log_new_at
from bhmc.likelihoods._summary import ColumnSummary, summary_of_all
from bhmc.likelihoods.blocks import Floats
from bhmc.likelihoods.shaped_gaussian import ShapedGaussianFamily
from bhmc.likelihoods.tied_gaussian import TiedGaussianFamily

# Rounds in which the missing entries of rows in known groups settle.
_ROUNDS = 10


class WithGaps(NoiseUnits, LearnedMeans):
    """u ~ N(theta, 1) in coordinates, for rows x of which some entries may be missing.

    `given` numbers for the gaps, rows are whole and plain: t(x), and f up to a number that is the
    same for all theta. `seated` has sums of such rows, but densities without them. Without numbers,
    densities are those of the entries x_O that a row has, and h(x) is log N(x_O; b_O, V_OO) with
    b at the origin of the coordinates. A row without any entry has t(x) = 0, f = 1 and h = 0.
    """

    takes_statistics = False  # missing entries are drawn where the rows are
    has_latent = True
    is_plain = False

    _gaps: Gaps
    _own: Floats  # (r, s): t of the rows with gaps, filled; zeros at first

    def __init__(self, likelihood: Any, X: Floats, summary: ColumnSummary | None = None):
        self._gaps = Gaps(X)
        self._own = np.zeros((len(self._gaps.rows), X.shape[1] + 1))
        # Sums of products are made of whole rows first; those of the others change with them.
        whole = np.where(self._gaps.is_whole[:, None], X, self._middle_of(likelihood, X.shape[1]))
        summary = summary_of_all(X, summary)
        super().__init__(likelihood, whole, summary)
        self._of_whole = self._products_now()
        self._take(first_numbers(self._gaps, summary.sample))
        largest = np.abs(self._own).max(initial=0.0)
        self.subtracts_well = self.subtracts_well and bool(largest < VERY_LARGE)

    # ---- What differs between the families ------------------------------------------------------

    @abstractmethod
    def _whitener(self) -> Floats:
        """(d, d): W with W' W = sigma2^-1, in the units of the data."""

    @staticmethod
    @abstractmethod
    def _middle_of(likelihood: Any, d: int) -> Floats:
        """(d,): the origin of the coordinates, in the units of the data."""

    @abstractmethod
    def _points_of(self, rows: Floats) -> Floats:
        """(r, d): y of rows x."""

    @abstractmethod
    def _products_now(self) -> Floats:
        """The sums of products that draws of the noise use."""

    @abstractmethod
    def _use_products(self, of_whole: Floats, own: Floats, n_rows: float) -> None:
        """Have draws of the noise use sums over whole rows and over rows with t in `own`."""

    @abstractmethod
    def _turned_from(self, linear: Floats) -> Floats:
        """(K, d): theta in coordinates from the first d columns of natural parameters."""

    @abstractmethod
    def _prior_of_means(self) -> tuple[Floats, Floats]:
        """Mean (d,) and covariance (d, d) of theta before its rows are seen, in units of X."""

    # ---- Missing entries ------------------------------------------------------------------------

    @property
    def latent(self) -> Floats:
        """(q,): what the gaps are filled with, row by row."""
        return self._numbers

    def given(self, latent: Floats) -> Self:
        """A copy whose gaps are filled with these numbers (q,)."""
        family = self._with_sums_of(latent)
        family.is_plain = True
        return family

    def draw_latent(
        self, places: Floats, component: NDArray[np.integer], rng: np.random.Generator
    ) -> Floats:
        """(q,): x_M ~ N(m_M - Q_MM^-1 Q_MO (x_O - m_O), Q_MM^-1), Q = sigma2^-1, row by row."""
        means = self.leave(places)[component[self._gaps.rows]]
        return self._gaps.draw(means, self._precision(), rng)

    def seated(
        self, theta: Floats, component: NDArray[np.integer], rng: np.random.Generator
    ) -> Self:
        """A copy whose sums have gaps filled given theta (K, p); its densities have none."""
        return self._with_sums_of(self.draw_latent(self.enter(theta), component, rng))

    def for_groups(self, labels: NDArray[np.integer]) -> Self:
        """A copy whose sums have gaps at their means given the best theta of every group of rows.

        By the EM algorithm: theta is the mean of the filled rows of a group.
        """
        family, n_groups = self, int(labels.max()) + 1
        for _ in range(_ROUNDS):
            count, total = family.whitened_sums(family.sums(labels, n_groups))
            theta = self.leave(total / np.maximum(count, 1.0))
            means = theta[labels[self._gaps.rows]]
            family = self._with_sums_of(self._gaps.expected(means, self._precision()))
        return family

    def _with_sums_of(self, numbers: Floats) -> Self:
        family = copy.copy(self)
        family.is_plain = False
        family._take(numbers)
        return family

    def _take(self, numbers: Floats) -> None:
        """Fill the gaps."""
        y = self._points_of(self._gaps.filled(numbers))
        self._numbers, self._own = numbers, np.column_stack([y, np.ones(len(y))])
        self._use_products(self._of_whole, self._own, float((~self._gaps.is_empty).sum()))

    def _precision(self) -> Floats:
        """(d, d): sigma2^-1, in the units of the data."""
        whitener = self._whitener()
        return whitener.T @ whitener

    def _base(self) -> Floats:
        """(d,): the origin of the coordinates, in the units of the data."""
        return self.leave(np.zeros((1, self.n_parameters)))[0]

    # ---- Rows -----------------------------------------------------------------------------------

    def statistics(self, rows: slice) -> Floats:
        """(y, 1) of filled rows; 0 where a row has no entry."""
        t, (at, which) = super().statistics(rows), self._in_slice(rows)
        empty = self._gaps.is_empty[rows]
        if not (len(at) or empty.any()):
            return t
        t = np.array(t)
        t[empty], t[at] = 0.0, self._own[which]
        t.flags.writeable = False
        return t

    def points(self, rows: slice) -> Floats:
        """y of filled rows; NaN where a row has no entry."""
        y = np.array(self.statistics(rows)[:, :-1])
        y[self._gaps.is_empty[rows]] = np.nan
        return y

    def whitened(self, rows: slice) -> tuple[Floats, Floats | None]:
        """u of filled rows; a row without any entry has seen nothing."""
        u, _ = super().whitened(rows)
        if not self._gaps.is_empty.any():
            return u, None
        seen = ~self._gaps.is_empty[rows, None]
        return u, np.broadcast_to(seen, u.shape).astype(np.float64)

    def fill(
        self, rows: slice, statistics: NDArray[Any], natural: NDArray[Any], out: NDArray[Any]
    ) -> None:
        """log f - h of filled rows where gaps are `given`, else of the entries that rows have."""
        super().fill(rows, statistics, natural, out)
        at, which = self._in_slice(rows)
        if len(at) and not self.is_plain:
            places = self._turned_from(natural[:, : self.n_parameters])
            out[at] = self._of_gaps(places, np.ones(len(places)))[which]

    def log_base(self) -> Floats:
        """Of the entries that rows have: log N(x_O; b_O, V_OO); 0 where there is none."""
        h = super().log_base()
        h[self._gaps.rows] = self._gaps.log_densities(self._whitener(), self._base())
        h[self._gaps.is_empty] = 0.0
        return h

    def log_base_sum(self) -> float:
        """Row by row: gaps differ."""
        return float(self.log_base().sum())

    def log_new(self) -> Floats:
        """log f*(x) - h(x) of the entries that rows have: theta has its law beside no place."""
        found = super().log_new()
        mean, spread = self._prior_of_means()
        noise = np.linalg.inv(self._whitener())
        wide = np.asarray(np.linalg.inv(np.linalg.cholesky(noise @ noise.T + spread)), np.float64)
        of_base = self._gaps.log_densities(self._whitener(), self._base())
        found[self._gaps.rows] = self._gaps.log_densities(wide, mean) - of_base
        found[self._gaps.is_empty] = 0.0
        return found

    def log_new_at(self, rows: slice, places: Floats, variances: Floats) -> Floats:
        """u ~ N(m, 1 + v) less N(0, 1): of filled rows where gaps are `given`, else of the entries
        that rows have; 0 where there is none.
        """
        table = plain_log_new_at(super().whitened(rows)[0], places, variances)
        at, which = self._in_slice(rows)
        if len(at) and not self.is_plain:
            table[at] = self._of_gaps(places, 1.0 + variances[:, 0])[which]
        table[self._gaps.is_empty[rows]] = 0.0
        return table

    def log_likelihood(self, natural: Floats, sums: Floats, components: NDArray[Any]) -> float:
        """sum over n of log f(x_n; theta_c_n) - h(x_n), of the entries that rows have."""
        own = components[self._gaps.rows]
        filled = np.einsum("ns,ns->", self._own, natural[own])
        places = self._turned_from(natural[:, : self.n_parameters])
        seen = self._of_gaps(places, np.ones(len(places)))[np.arange(len(own)), own]
        whole = super().log_likelihood(natural, sums, components)
        return whole - float(filled) + float(seen.sum())

    def _of_gaps(self, places: Floats, widths: Floats) -> Floats:
        """(r, K): log f - h of all rows with gaps, at places with such variances."""
        means = self.leave(places)
        return self._gaps.log_ratios(self._whitener(), self._base(), means, widths)

    def _in_slice(self, rows: slice) -> tuple[NDArray[np.int64], slice]:
        """(where in the slice, which of them): the rows with gaps in a slice of rows."""
        first, last = np.searchsorted(self._gaps.rows, [rows.start, rows.stop]).tolist()
        return self._gaps.rows[first:last] - rows.start, slice(first, last)


class TiedGaussianWithGaps(WithGaps, TiedGaussianFamily):
    """`SharedGaussian(covariance="full")` bound to rows with missing entries."""

    def _whitener(self) -> Floats:
        return self.whitener

    @staticmethod
    def _middle_of(likelihood: Any, d: int) -> Floats:
        return likelihood.checked(d)[0]

    def _points_of(self, rows: Floats) -> Floats:
        return (rows - self._location) / self._scale

    def _products_now(self) -> Floats:
        return self._products

    def _use_products(self, of_whole: Floats, own: Floats, n_rows: float) -> None:
        self._products, self._n_all = of_whole + own[:, :-1].T @ own[:, :-1], n_rows

    def _turned_from(self, linear: Floats) -> Floats:
        return np.linalg.solve(self._turn.T, linear.T).T.astype(np.float64)

    def _prior_of_means(self) -> tuple[Floats, Floats]:
        return self._location + self._scale * self._m0, np.diag(self._w * self._scale**2)


class ShapedGaussianWithGaps(WithGaps, ShapedGaussianFamily):
    """`ShapedGaussian` without heavy tails, bound to rows with missing entries."""

    def _whitener(self) -> Floats:
        return self._inverse / np.sqrt(self._v)[:, None]

    @staticmethod
    def _middle_of(likelihood: Any, d: int) -> Floats:
        return np.zeros(d) + likelihood.location

    def _points_of(self, rows: Floats) -> Floats:
        return self._shaped.entered(rows)

    def _products_now(self) -> Floats:
        return self._squares

    def _use_products(self, of_whole: Floats, own: Floats, n_rows: float) -> None:
        self._squares = of_whole + np.einsum("nd,nd->d", own[:, :-1], own[:, :-1])
        self._observed = np.full(self.n_parameters, n_rows)

    def _turned_from(self, linear: Floats) -> Floats:
        return linear * np.sqrt(self._v)

    def _prior_of_means(self) -> tuple[Floats, Floats]:
        root = self._root * np.sqrt(self._w)
        return self._left(self._m0[None])[0], root @ root.T
