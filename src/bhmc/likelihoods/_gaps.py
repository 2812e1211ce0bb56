"""Missing entries of Gaussian rows with a full covariance, given the entries that are there."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from bhmc.likelihoods._scales import column_scales
from bhmc.likelihoods.blocks import Floats

Ints = NDArray[np.int64]

# Added to the variances of whole rows, in units of the columns: keeps their covariance regular.
_RIDGE = 0.05


class Pattern(NamedTuple):
    """Rows that lack the same entries."""

    rows: Ints
    """Which of the rows with gaps."""
    missing: Ints
    """Columns that they lack."""
    seen: Ints
    """Columns that they have."""


class Gaps:
    """Where entries of a table are missing.

    Parameters
    ----------
    X : (n, d) array
        The table; NaN is a missing entry.
    """

    def __init__(self, X: Floats):
        missing = np.isnan(X)
        n_missing = missing.sum(axis=1)
        self.is_empty: NDArray[np.bool_] = n_missing == X.shape[1]
        self.rows: Ints = np.flatnonzero((n_missing > 0) & ~self.is_empty)
        self.values: Floats = X[self.rows].astype(np.float64)
        self.missing: NDArray[np.bool_] = missing[self.rows]
        self.patterns = _patterns(self.missing)
        # Rows with nothing to fill in.
        self.is_whole: NDArray[np.bool_] = n_missing == 0

    def filled(self, numbers: Floats) -> Floats:
        """(r, d): the rows with gaps, filled with numbers (q,), gap after gap.

        Parameters
        ----------
        numbers : (q,) array
            One for each gap, row by row.
        """
        rows = self.values.copy()
        rows[self.missing] = numbers
        return rows

    def expected(self, means: Floats, precision: Floats) -> Floats:
        """(q,): the mean of every gap given the entries that its row has.

        With the row's mean m and precision Q, m_M - Q_MM^-1 Q_MO (x_O - m_O).

        Parameters
        ----------
        means : (r, d) array
            m, the mean of every row.
        precision : (d, d) array
            Q, the inverse of the rows' covariance.
        """
        return self._given_seen(means, precision, np.zeros(int(self.missing.sum())))

    def draw(self, means: Floats, precision: Floats, rng: np.random.Generator) -> Floats:
        """(q,): x_M ~ N(m_M - Q_MM^-1 Q_MO (x_O - m_O), Q_MM^-1), row by row.

        Parameters
        ----------
        means, precision
            As in `expected`.
        rng : numpy.random.Generator
            Where all randomness comes from.
        """
        return self._given_seen(means, precision, rng.standard_normal(int(self.missing.sum())))

    def _given_seen(self, means: Floats, precision: Floats, normals: Floats) -> Floats:
        """What `draw` says, with these standard normal numbers."""
        noise = np.zeros(self.missing.shape)
        noise[self.missing] = normals
        found = means.copy()
        for rows, missing, seen in self.patterns:
            own = precision[np.ix_(missing, missing)]
            root = np.linalg.cholesky(own)
            away = self.values[np.ix_(rows, seen)] - means[np.ix_(rows, seen)]
            pull = solve_triangular(root, precision[np.ix_(missing, seen)] @ away.T, lower=True)
            drawn = noise[np.ix_(rows, missing)].T - pull
            found[np.ix_(rows, missing)] += solve_triangular(root, drawn, lower=True, trans="T").T
        return found[self.missing]

    def log_ratios(self, whitener: Floats, base: Floats, means: Floats, widths: Floats) -> Floats:
        """(r, K): log N(x_O; m_O, w V_OO) - log N(x_O; b_O, V_OO) of the entries that are there.

        Parameters
        ----------
        whitener : (d, d) array
            W with W' W = V^-1.
        base : (d,) array
            b.
        means : (K, d) array
            m.
        widths : (K,) array
            w.
        """
        rows, points = self._from(base) @ whitener.T, (means - base) @ whitener.T
        squares, falls = _squares(rows)[:, None], np.tile(_squares(points), (len(rows), 1))
        products, seen = rows @ points.T, (~self.missing).sum(axis=1)
        for own, p, q, _ in self._in_gaps(whitener, rows, points):
            squares[own] -= _squares(p)[:, None]
            falls[own] -= _squares(q)
            products[own] -= p @ q.T
        found = squares * (0.5 - 0.5 / widths) + (products - 0.5 * falls) / widths
        return found - 0.5 * seen[:, None] * np.log(widths)

    def log_densities(self, whitener: Floats, mean: Floats) -> Floats:
        """(r,): log N(x_O; m_O, V_OO) of the entries that are there.

        Parameters
        ----------
        whitener : (d, d) array
            W with W' W = V^-1.
        mean : (d,) array
            m.
        """
        rows, seen = self._from(mean) @ whitener.T, (~self.missing).sum(axis=1)
        log_p = np.full(len(rows), np.linalg.slogdet(whitener)[1]) - 0.5 * _squares(rows)
        for own, p, _, log_det in self._in_gaps(whitener, rows, rows[:0]):
            log_p[own] += 0.5 * _squares(p) - log_det
        return log_p - 0.5 * seen * np.log(2 * np.pi)

    def _from(self, base: Floats) -> Floats:
        """(r, d): rows less a point; 0 where an entry is missing."""
        return np.where(self.missing, 0.0, self.values - base)

    def _in_gaps(
        self, whitener: Floats, rows: Floats, points: Floats
    ) -> Iterator[tuple[Ints, Floats, Floats, float]]:
        """Of every pattern (rows, p, q, log |Q_MM| / 2): what gaps take away from products of
        whitened vectors, p of rows and q of points.

        With z and y the rows before and after, and Q = W' W, products over the entries that are
        there are z_O' V_OO^-1 z'_O = y . y' - p . p', p = L^-1 Q_M: z and L L' = Q_MM: a short way
        where gaps are few.
        """
        pulled, drawn = rows @ whitener, points @ whitener
        for own, missing, _ in self.patterns:
            columns = whitener[:, missing]
            root = np.linalg.cholesky(columns.T @ columns)
            p = solve_triangular(root, pulled[np.ix_(own, missing)].T, lower=True).T
            q = solve_triangular(root, drawn[:, missing].T, lower=True).T
            yield own, p, q, float(np.log(np.diag(root)).sum())


def _squares(rows: Floats) -> Floats:
    """(n,): the squared length of every row."""
    return np.einsum("nd,nd->n", rows, rows)


def first_numbers(gaps: Gaps, sample: Floats) -> Floats:
    """(q,): what gaps are filled with before components are known.

    Their means given the row's other entries, were all rows one Gaussian: that of whole rows. The
    columns' means where whole rows are no more than columns.

    Parameters
    ----------
    gaps : Gaps
        Those of some rows.
    sample : (m, d) array
        Rows that stand for all, NaN where an entry is missing.
    """
    mean, deviation = column_scales(sample)
    means, precision = np.broadcast_to(mean, gaps.missing.shape), np.eye(len(mean))
    whole = (sample[~np.isnan(sample).any(axis=1)] - mean) / deviation
    if len(whole) > len(mean):
        precision = np.linalg.inv(whole.T @ whole / len(whole) + _RIDGE * precision)
    return gaps.expected(means, precision / deviation / deviation[:, None])


def _patterns(missing: NDArray[np.bool_]) -> list[Pattern]:
    """Rows of which every entry, or none, is missing are in no pattern."""
    if not len(missing):
        return []
    packed = np.packbits(missing, axis=1)
    _, first, number = np.unique(packed, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(number.reshape(-1), kind="stable")
    groups = np.split(order, np.cumsum(np.bincount(number.reshape(-1)))[:-1])
    return [
        Pattern(rows, np.flatnonzero(missing[i]), np.flatnonzero(~missing[i]))
        for rows, i in zip(groups, first.tolist(), strict=True)
    ]
