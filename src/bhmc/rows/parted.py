"""All rows of a chain, held in parts: in this process by one that reads a file, or by workers."""

import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from bhmc.likelihoods import ConjugateFamily
from bhmc.likelihoods.block_sums import Piece, sum_of_pieces
from bhmc.rows.lately import GatheredLately
from bhmc.rows.local import LocalRows
from bhmc.rows.part import Found, RowsPart, room_for
from bhmc.rows.protocol import Few, Gathered, Menu, Totals
from bhmc.rows.sources import Source
from bhmc.rows.tiles import tile_height

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# Rows that are lost so many times in a row will be lost again.
MOST_TRIES = 20


class PartLost(Exception):  # noqa: N818 (chains go back to where they were, and on)
    """Who held a part of the rows is gone, or others may hold it now."""


class RowsGoneError(ConnectionError):
    """Rows are lost, and nobody is there who could hold them."""


def lost_too_often(said: str, error: PartLost) -> RowsGoneError:
    """What is raised where rows are lost again and again.

    Parameters
    ----------
    said : str
        What the rows are.
    error : PartLost
        The last time.
    """
    return RowsGoneError(
        f"Parts of {said} were lost {MOST_TRIES} times without any progress: look at the logs and "
        f"the memory of those who hold them ({error}). With checkpoint=... the same fit resumes "
        f"from its last sweep saved."
    )


class Answer(Protocol):
    """What a part has been asked for."""

    def result(self) -> Any:
        """The answer, once it is there."""
        ...


class Ask(Protocol):
    """How to ask a part: the name of a method of `RowsPart`, and what it is given."""

    def __call__(self, method: str, *given: Any) -> Answer:
        """Begin to ask; several parts work at the same time."""
        ...


class Held(NamedTuple):
    """A part, from afar."""

    ask: Ask
    first_row: int
    """The number of its first row."""
    n_rows: int
    """How many it has."""

    @property
    def end(self) -> int:
        """The number of the row that follows its last one."""
        return self.first_row + self.n_rows


class Done(NamedTuple):
    """An answer that is there."""

    value: Any

    def result(self) -> Any:
        """The answer."""
        return self.value


class Holder(Protocol):
    """Who holds the rows of a fit, in parts."""

    n_rows: int
    """Number of rows."""
    names: Sequence[str] | None
    """Names of the columns, where they have some."""
    said: str
    """What the rows are, for messages."""
    may_lose: bool
    """Whether parts may be lost: chains then keep a copy of themselves to go back to."""

    def hold(self) -> list[Held]:
        """All parts in order, made anew."""
        ...

    def is_outdated(self) -> bool:
        """Whether parts are lost, or would be made otherwise by now."""
        ...

    def let_go(self) -> None:
        """Nobody needs the parts any more."""
        ...


class HolderHere:
    """A file that this process reads.

    Parameters
    ----------
    source : Source
        All rows.
    n_threads : int
        Threads that work on blocks.
    precision : {"float64", "float32"}
        Type of the likelihood tables.
    """

    may_lose = False

    def __init__(self, source: Source, n_threads: int, precision: str):
        self.n_rows, self.names, self.said = source.shape[0], source.names, source.describe()
        self._part = RowsPart(source, n_threads=n_threads, precision=precision)

    def hold(self) -> list[Held]:
        """One part."""
        part = self._part

        def ask(method: str, *given: Any) -> Done:
            return Done(getattr(part, method)(*given))

        return [Held(ask, 0, part.n_rows)]

    def is_outdated(self) -> bool:
        """Never."""
        return False

    def let_go(self) -> None:
        """Nothing: the part goes with its last chain."""


def ask_all(parts: Sequence[Held], method: str, *given: tuple) -> list[Any]:
    """What all parts answer, in order; they work at the same time.

    Parameters
    ----------
    parts : sequence of Held
        Who is asked.
    method : str
        Of `RowsPart`.
    *given : tuple
        What each part is given; a single one is for all.
    """
    each = given * len(parts) if len(given) == 1 else given
    answers = [part.ask(method, *own) for part, own in zip(parts, each, strict=True)]
    return [answer.result() for answer in answers]


class PartedRows:
    """The rows of one chain, which others hold; what is drawn does not depend on the parts.

    Parameters
    ----------
    parts : sequence of Held
        All rows, in order.
    family : ConjugateFamily
        Bound to no rows; it draws from sums of all rows.
    watch : (m,) array
        Numbers of the rows whose places are noted in draws, in order.
    chain : int, default=0
        The number of the chain, by which parts know it.
    precision : {"float64", "float32"}, default="float64"
        Type of the likelihood tables.
    """

    def __init__(
        self,
        parts: Sequence[Held],
        family: ConjugateFamily,
        watch: Ints,
        chain: int = 0,
        precision: str = "float64",
    ):
        self.family, self.shared = family, np.empty(0)
        self.n_rows = parts[-1].end
        self.height = min(tile_height(family.n_statistics), self.n_rows)
        self._parts, self._watch = list(parts), watch
        self._chain, self._precision, self._lately = chain, precision, GatheredLately()
        weakref.finalize(self, _forget, self._parts, chain)

    def turn_to(self, shared: Floats) -> None:
        """Go on with the same data under other shared numbers."""
        self.family, self.shared = self.family.at(shared), shared

    def put(self, rows: Any, leaf: Any, component: Any) -> None:
        """Place rows in components (columns); leaves have one slot."""
        self._lately.forget()
        if isinstance(rows, slice):
            whole = np.ndim(component) > 0
            own = [component[p.first_row : p.end] if whole else component for p in self._parts]
            self._ask_all("fill", *[(one,) for one in own])
        else:
            given = [(rows[own], component[own]) for own in self._owned(rows)]
            self._ask_all("put", *given)

    @contextmanager
    def few(self, runs: Sequence[slice]) -> Iterator[Few]:
        """The rows come here; their places go back."""
        given = [(runs_within(runs, part),) for part in self._parts]
        found = joined(self._ask_all("few", *given))
        rows = LocalRows(self.family.with_rows(found.X), self._precision)
        rows.turn_to(self.shared)
        rows.put(slice(None), 0, found.component)
        yield Few(rows, moved_together(runs))
        self.put(found.rows, 0, rows.component)

    @contextmanager
    def gathering(self) -> Iterator[None]:
        """Parts find rows anew each time."""
        yield

    def gather(self, columns: Sequence[int]) -> Gathered:
        """All rows of a few components."""
        missing = self._lately.missing(columns)
        if missing:
            self._lately.add(missing, joined(self._ask_all("gather", (missing,))))
        found = self._lately.of(columns)
        return Gathered(found.rows, found.component, self.family.with_rows(found.X))

    def renumber_columns(self, new_column: Ints) -> None:
        """Columns have other numbers: new_column[old]."""
        self._lately.forget()
        self._ask_all("renumber_columns", (new_column.astype(np.int32),))

    def components_of(self, rows: Ints) -> NDArray[np.int32]:
        """(m,) columns of a few rows."""
        found, owned = np.empty(len(rows), dtype=np.int32), self._owned(rows)
        answers = self._ask_all("components_of", *[(rows[own],) for own in owned])
        for own, answer in zip(owned, answers, strict=True):
            found[own] = answer
        return found

    def watched(self) -> NDArray[np.int32]:
        """Columns of the rows that are watched."""
        return self.components_of(self._watch)

    def all_components(self) -> NDArray[np.int32]:
        """(n,) columns of all rows."""
        answers = self._ask_all("components_of", ())
        if len(answers) == 1:
            return answers[0]
        whole = room_for(self.n_rows)
        for part, own in zip(self._parts, answers, strict=True):
            whole[part.first_row : part.end] = own
        return whole

    def log_likelihood(self, natural: Floats, sums: Floats) -> float:
        """sum over n of log f(x_n; theta_c_n) - h(x_n), from sums of all rows."""
        return self.family.log_likelihood(natural, sums, np.empty(0, dtype=np.int32))

    def totals(self, shared: Floats, shape: tuple[int, int]) -> Totals:
        """Counts and sums of all rows."""
        return _added(self._ask_all("totals", (shape, shared)))

    def anchored(self, key: int, rate: float) -> tuple[Ints, Ints]:
        """The only leaf, and the components that anchors occupy."""
        columns = self._ask_all("anchored", (key, rate))
        return np.zeros(1, dtype=np.int64), np.unique(np.concatenate(columns))

    def redraw(self, menu: Menu, key: int, shape: tuple[int, int]) -> Totals:
        """Redraw all rows that may move, and add all rows up."""
        self._lately.forget()
        return _added(self._ask_all("redraw", (menu, key, shape, self.shared)))

    def _ask_all(self, method: str, *given: tuple) -> list[Any]:
        return ask_all(self._parts, method, *((self._chain, *own) for own in given))

    def _owned(self, rows: Ints) -> list[Ints]:
        """Places in `rows` of those that each part holds."""
        return [
            np.flatnonzero((rows >= part.first_row) & (rows < part.end)) for part in self._parts
        ]


def _forget(parts: Sequence[Held], chain: int) -> None:
    """Nothing of a chain that has ended stays with the parts that are still there."""
    for part in parts:
        with suppress(Exception):
            part.ask("forget", chain)


def runs_within(runs: Sequence[slice], part: Held) -> list[slice]:
    """What of some runs lies in a part.

    Parameters
    ----------
    runs : sequence of slice
        Rows, in order.
    part : Held
        Whose rows are wanted.
    """
    cut = [slice(max(run.start, part.first_row), min(run.stop, part.end)) for run in runs]
    return [run for run in cut if run.start < run.stop]


def rows_within(rows: Ints, part: Held) -> Ints:
    """Those of some rows that lie in a part.

    Parameters
    ----------
    rows : (m,) array
        Numbers of rows.
    part : Held
        Whose rows are wanted.
    """
    return rows[(rows >= part.first_row) & (rows < part.end)]


def moved_together(runs: Sequence[slice]) -> list[slice]:
    """Runs of the same lengths without gaps, from 0.

    Parameters
    ----------
    runs : sequence of slice
        Rows, in order.
    """
    ends = np.cumsum([run.stop - run.start for run in runs]).tolist()
    return [slice(end - (run.stop - run.start), end) for run, end in zip(runs, ends, strict=True)]


def joined(found: Sequence[Found]) -> Found:
    """What several parts have found, in order.

    Parameters
    ----------
    found : sequence of Found
        From all parts.
    """
    if len(found) == 1:
        return found[0]
    return Found(*(np.concatenate(own) for own in zip(*found, strict=True)))


def _added(pieces: Sequence[list[Piece]]) -> Totals:
    return sum_of_pieces((piece for own in pieces for piece in own), Totals.plus)
