"""Where the rows of a fit are: in memory, or elsewhere, in parts that are read block by block.

Chains see all rows wherever they are. What a fit chooses by looking at rows, it chooses by evenly
spaced ones where there are many; of rows elsewhere, the same ones are in its tree and its draws.
"""

from __future__ import annotations

import hashlib
import itertools
import threading
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from bhmc._estimator.sizes import PILOT_ROWS, ROWS_FOR_A_SAMPLE
from bhmc._validation.errors import naming_columns
from bhmc.likelihoods import ColumnSummary, ConjugateFamily, Likelihood
from bhmc.likelihoods.block_sums import sum_of_pieces
from bhmc.rows.part import Begun, Look
from bhmc.rows.parted import (
    MOST_TRIES,
    Held,
    Holder,
    PartedRows,
    PartLost,
    ask_all,
    lost_too_often,
    rows_within,
)

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def evenly_spaced(n_rows: int) -> Ints:
    """Numbers of the rows that stand for all: at most `PILOT_ROWS`, evenly spaced.

    Parameters
    ----------
    n_rows : int
        Number of all rows.
    """
    return np.arange(0, n_rows, -(-n_rows // PILOT_ROWS))


class Shown(NamedTuple):
    """The rows that a fit chooses by: all, or evenly spaced ones where there are many."""

    data: Any
    """(m, d) array or sparse matrix."""
    rows: Ints | None = None
    """(m,) their numbers among all rows; None: these are all."""
    summary: ColumnSummary | None = None
    """Of all rows, where these are not all."""

    @classmethod
    def of(cls, data: Any) -> Shown:
        """Those of a table in memory.

        All rows are shown where evenly spaced ones would mislead, too: a column has nothing but 0
        and 1 in them, and other numbers elsewhere.

        Parameters
        ----------
        data : (n, d) array or sparse matrix
            All rows.
        """
        if data.shape[0] < ROWS_FOR_A_SAMPLE or sparse.issparse(data):
            return cls(data)
        rows, summary = evenly_spaced(len(data)), ColumnSummary.of(data)
        misleading = look_like_flags(data[rows], summary).any()
        return cls(data) if misleading else cls(data[rows], rows, summary)

    def family(self, likelihood: Likelihood) -> ConjugateFamily:
        """The likelihood bound to them, each with the statistics that it has among all rows.

        Parameters
        ----------
        likelihood : Likelihood
            The family's setting.
        """
        if self.summary is None:
            return likelihood.prepare(self.data)
        return likelihood.prepare(self.data, self.summary.of_sample(len(self.data)))

    def start(self, init: Any) -> Any:
        """Where a pilot chain of them begins.

        Parameters
        ----------
        init : str or array
            Where chains of all rows begin.
        """
        if self.rows is None:
            return init
        if isinstance(init, str):
            return "kmeans" if init == "sample" else init
        return init[self.rows]


def look_like_flags(shown: Floats, summary: ColumnSummary) -> NDArray[np.bool_]:
    """(d,) whether a column has nothing but 0 and 1 in the rows shown, and other numbers elsewhere.

    Parameters
    ----------
    shown : (m, d) array
        Some rows.
    summary : ColumnSummary
        Of all rows.
    """
    flags = ((shown == 0) | (shown == 1) | np.isnan(shown)).all(axis=0)
    with np.errstate(invalid="ignore"):
        others = (summary.smallest < 0) | (summary.largest > 1)
    return flags & others


class RowsElsewhere:
    """The rows of a fit, in parts that others hold. Where a part is lost, all are made anew.

    Parameters
    ----------
    holder : Holder
        Who holds them.
    """

    def __init__(self, holder: Holder):
        self.n_rows, self.names, self.said = holder.n_rows, holder.names, holder.said
        self.may_lose = holder.may_lose
        self._holder, self._parts, self._lock = holder, holder.hold(), threading.RLock()
        self._numbers, self._likelihood = itertools.count(), None
        self.digest: str | None = None
        try:
            self._begin()
        except BaseException:
            self.close()
            raise

    def _begin(self) -> None:
        """A first pass over all rows, and those that are shown."""
        looks: list[Look] = self._ask(lambda _: ("look", (self.n_rows,)))
        self._check_finite(looks)
        self.summary = reduce(ColumnSummary.merge, [one.summary for one in looks])
        self.digest = self._digest_of(looks)
        rows = evenly_spaced(self.n_rows)
        self.shown = Shown(self.take(rows), rows, self.summary)

    def is_outdated(self) -> bool:
        """Whether parts are lost, or would be made otherwise by now."""
        return self._holder.is_outdated()

    def close(self) -> None:
        """The chains have ended: who holds the rows may forget them."""
        self._holder.let_go()

    def check_flags(self) -> None:
        """Refuse a column whose evenly spaced rows mislead who chooses a family by them."""
        misleading = np.flatnonzero(look_like_flags(self.shown.data, self.summary))
        if len(misleading):
            raise ValueError(
                f"{self._column(misleading[0])} of {self.said} has 0 and 1 alone in "
                f"{len(self.shown.data):,} evenly spaced rows, and other numbers elsewhere: name a "
                f"likelihood for it, such as likelihood='shaped_gaussian'."
            )

    def take(self, rows: Ints) -> Floats:
        """(m, d) some rows.

        Parameters
        ----------
        rows : (m,) array
            Their numbers, in increasing order.
        """
        return np.concatenate(
            self._ask(lambda parts: ("take", *((rows_within(rows, part),) for part in parts)))
        )

    def family_of(self, likelihood: Likelihood, rows: Ints) -> ConjugateFamily:
        """The family of a sample of the rows, each with the statistics that it has among all.

        Parameters
        ----------
        likelihood : Likelihood
            The family's setting.
        rows : (m,) array
            Their numbers, in increasing order.
        """
        return likelihood.prepare(self.take(rows), self.summary.of_sample(len(rows)))

    def bind(self, likelihood: Likelihood) -> ConjugateFamily:
        """The family of no rows that draws from sums of all; parts can place rows from now on.

        Parameters
        ----------
        likelihood : Likelihood
            The family's setting.
        """
        family = likelihood.prepare(self.shown.data[:0], self.summary)
        self._check_taken(likelihood, family)
        with naming_columns(self.names):
            begun: list[Begun] = self._ask(lambda _: ("bind", (likelihood, self.summary)))
        self._likelihood = likelihood
        family = family.with_shared_sums(
            sum_of_pieces(piece for one in begun for piece in one.sums)
        )
        family.subtracts_well = all(one.subtracts_well for one in begun)
        return family

    def rows_of_chain(
        self, likelihood: Likelihood, family: ConjugateFamily, precision: str
    ) -> PartedRows:
        """All rows, for one chain.

        Parameters
        ----------
        likelihood : Likelihood
            The family's setting.
        family : ConjugateFamily
            What `bind` gave.
        precision : {"float64", "float32"}
            Type of the likelihood tables.
        """
        self._renew_outdated()
        given = evenly_spaced(self.n_rows), next(self._numbers), precision
        return PartedRows(self._parts, family, *given)

    def _check_finite(self, looks: Sequence[Look]) -> None:
        """Refuse a number that is infinite."""
        for one in looks:
            if one.first_infinite is not None:
                row, column = one.first_infinite
                raise ValueError(
                    f"row {row:,}, {self._column(column)} of {self.said} is infinite: mend it, or "
                    f"make it a missing entry (NaN)."
                )

    def _digest_of(self, looks: Sequence[Look]) -> str:
        digests = [number for one in looks for number in one.digests]
        return hashlib.sha256(repr((self.n_rows, digests)).encode()).hexdigest()

    def _check_taken(self, likelihood: Likelihood, family: ConjugateFamily) -> None:
        """Refuse a family that needs all rows in memory, for itself or for missing entries."""
        name = type(likelihood).__name__
        if not family.takes_statistics:
            raise ValueError(
                f"{name} needs all rows in memory, and these stay in {self.said}: use "
                f"'shaped_gaussian', 'tied_gaussian', 'shared_gaussian', 'spherical_gaussian', "
                f"'bernoulli' or 'categorical'."
            )
        with_gaps = self.shown.data[:1].copy()
        with_gaps[:, self.summary.missing] = np.nan
        if not likelihood.prepare(with_gaps, self.summary).takes_statistics:
            raise ValueError(
                f"{name} draws missing numbers (NaN), which needs all rows in memory, and these "
                f"stay in {self.said}: fill them in, or use likelihood='shared_gaussian', which "
                f"skips them."
            )

    def _column(self, j: int) -> str:
        return f"column {j}" if self.names is None else f"column {self.names[j]!r}"

    def _ask(self, question: Callable[[Sequence[Held]], tuple]) -> list[Any]:
        """What all parts answer, asked again where one was lost."""
        for n_tries in itertools.count(1):
            try:
                return ask_all(self._parts, *question(self._parts))
            except PartLost as error:
                if n_tries == MOST_TRIES:
                    raise lost_too_often(self.said, error) from error
                self._renew_outdated()
        raise AssertionError("never here")

    def _renew_outdated(self) -> None:
        """Parts made anew where some are lost; the likelihood is bound to them as before."""
        with self._lock:
            for n_tries in itertools.count(1):
                if not self._holder.is_outdated():
                    return
                self._parts = self._holder.hold()
                try:
                    self._bind_again()
                except PartLost as error:
                    if n_tries == MOST_TRIES:
                        raise lost_too_often(self.said, error) from error

    def _bind_again(self) -> None:
        """Refuse rows that are others by now; the likelihood is bound to them as before."""
        if self.digest is None:
            return
        if self._digest_of(ask_all(self._parts, "look", (self.n_rows,))) != self.digest:
            raise RuntimeError(
                f"The rows of {self.said} are others than those that the fit began with: rows that "
                f"a worker lost are read again, so they must not change."
            )
        if self._likelihood is not None:
            ask_all(self._parts, "bind", (self._likelihood, self.summary))
