"""Rows as the compiled code of the diffused transition sees them: a number for each coordinate."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bhmc.likelihoods._located import NoiseUnits

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class RowNumbers(NamedTuple):
    """In every coordinate a row is one of two things that do not depend on theta but through it.

    Gaussian: value ~ N(theta, 1). A logit: value is 1 with probability sigmoid(theta), else 0.
    Where rows have weights w, value / w ~ N(theta, 1 / w): a row counts w times.
    """

    value: Floats
    """(n, D) 0 where an entry is missing; there may be further columns, which nobody reads."""
    seen: Floats
    """(n, D) 1, or 0 where missing; (n, 1) the rows' weights, where they have some. No rows where
    all are Gaussian, none is missing and all count once.
    """
    is_logit: NDArray[np.bool_]
    """(D,)"""


class SplitRoom(NamedTuple):
    """Lists of the rows of every atom, and room for a proposal to split or merge."""

    head: Ints
    """(C,) the first row of each atom, -1 where there is none."""
    next: Ints
    """(n,) the next row of the same atom, -1 at the end."""
    member: Ints
    """(n,) rows of a proposal."""
    side: Ints
    """(n,) the side of each of them: 0 or 1."""
    odds: Floats
    """(n,) log odds of side 0."""
    known: Floats
    """(4096, 5) integrals of logits: leaf, coordinate, ones, rows, and what was found. Of no use
    where there are no logits.
    """


def row_numbers(family: Any, rows: slice) -> RowNumbers:
    """Rows in the family's coordinates.

    Parameters
    ----------
    family : Located
        At its shared numbers.
    rows : slice
        Which rows.
    """
    if isinstance(family, NoiseUnits):
        value, seen = family.whitened(rows)
        is_logit = np.zeros(value.shape[1], dtype=bool)
        seen = np.empty((0, value.shape[1])) if seen is None else seen
    else:
        value, seen, is_logit = family.row_numbers(rows)
    return RowNumbers(_own(value), _own(seen), is_logit)


def has_plain_rows(family: Any) -> bool:
    """Whether rows are N(theta, 1) in every coordinate, and none lacks an entry.

    Parameters
    ----------
    family : Located
        At its shared numbers.
    """
    return (
        isinstance(family, NoiseUnits)
        and family.is_plain
        and family.whitened(slice(0, 1))[1] is None
    )


def plain_numbers(family: Any, rows: slice, out: Floats) -> RowNumbers:
    """Plain rows with two columns more: (u, 1, |u|^2).

    Parameters
    ----------
    family : NoiseUnits
        At its shared numbers.
    rows : slice
        Which rows.
    out : (n, D + 2) array
        Where they go.
    """
    u = family.whitened(rows)[0]
    d = u.shape[1]
    out[:, :d], out[:, d] = u, 1.0
    np.einsum("nd,nd->n", u, u, out=out[:, d + 1])
    return RowNumbers(out, np.empty((0, d)), np.zeros(d, dtype=bool))


def lines_of(places: Floats, variances: Floats) -> Floats:
    """(M, D + 2): log N(u; m, 1 + v) - log N(u; 0, 1) is this line times (u, 1, |u|^2).

    Parameters
    ----------
    places : (M, D) array
        m.
    variances : (M,) array
        v.
    """
    wide = 1.0 + variances
    falls = np.einsum("md,md->m", places, places) / wide + places.shape[1] * np.log(wide)
    return np.column_stack([places / wide[:, None], -0.5 * falls, 0.5 - 0.5 / wide])


def _own(array: NDArray) -> Floats:
    """In order, and not read-only: compiled code has one type for all."""
    array = np.ascontiguousarray(array, dtype=np.float64)
    return array if array.flags.writeable else array.copy()


def no_integrals(n: int = 4096) -> Floats:
    """Room for so many integrals of logits, none of which is known yet.

    Parameters
    ----------
    n : int, default=4096
        How many.
    """
    return np.full((n, 5), -1.0)


def split_room(n_rows: int, n_atoms: int, known: Floats | None = None) -> SplitRoom:
    """Room for rows and slots of atoms; lists are empty.

    Parameters
    ----------
    n_rows, n_atoms : int
        How many.
    known : (n, 5) array, optional
        Integrals at these locations of nodes, where some are known.
    """
    return SplitRoom(
        head=np.full(n_atoms, -1, dtype=np.int64),
        next=np.empty(n_rows, dtype=np.int64),
        member=np.empty(n_rows, dtype=np.int64),
        side=np.empty(n_rows, dtype=np.int64),
        odds=np.empty(n_rows),
        known=no_integrals() if known is None else known,
    )
