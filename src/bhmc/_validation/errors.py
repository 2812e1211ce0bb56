"""What a user got wrong, as exceptions: an error about an entry carries place, value and need."""

import errno
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from numbers import Number
from typing import Any

# What the system says where there is none: the disk, a user's share of it or a file is full.
NO_ROOM = (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC), errno.EFBIG)


class RefusedError(Exception):
    """A command cannot do what was asked; the text is a sentence that says why and what to do."""


class UnwrittenError(RefusedError):
    """A file cannot be written; the text is a sentence that says which and why."""


class EntryError(Exception):
    """X holds something that cannot be used: an entry, or a whole column.

    Parameters
    ----------
    value : object
        The entry; for a whole column the words for what the column holds.
    row, column : int
        Where the entry is; `row` is None where a whole column is wrong.
    need : str
        What would be right: a clause without a full stop.
    names : list of str, optional
        Names of the columns; may be set later.
    """

    def __init__(
        self,
        value: Any,
        row: int | None,
        column: int,
        need: str,
        names: Sequence[str] | None = None,
    ):
        value = value.item() if hasattr(value, "item") else value  # NumPy's, without importing it
        super().__init__(value, row, column, need, names)  # `args`, which pickle needs
        self.value, self.row, self.column = value, row, column
        self.need, self.names = need, names

    def __str__(self) -> str:
        return self.sentence("X", place(self.row, self.column, self.names))

    def sentence(self, data: str, where: str) -> str:
        """The whole sentence; `data` is what the data are called, `where` the place in words."""
        return f"{data} has {self.words()} in {where}; {self.need}."

    def words(self) -> str:
        """What stands there, in words."""
        if self.row is None:
            return str(self.value)
        if isinstance(self.value, str | bytes):
            return f"the text {self.value!r}"
        if isinstance(self.value, float) and math.isnan(self.value):
            return "NaN (a missing value)"
        if isinstance(self.value, int):
            return str(self.value)
        return f"{self.value:.15g}" if isinstance(self.value, Number) else repr(self.value)

    def within(self, columns: Sequence[int]) -> "EntryError":
        """The same error where X is a part of other data: its columns are `columns` of those."""
        return type(self)(self.value, self.row, columns[self.column], self.need)


class WrongEntryError(EntryError, ValueError):
    """A value that the likelihood, or bhmc, cannot take."""


class WrongTypeError(EntryError, TypeError):
    """An object that is no number, or a column of such objects."""

    def words(self) -> str:
        """The kind of object that stands there."""
        return super().words() if self.row is None else f"a {type(self.value).__name__}"


@contextmanager
def naming_columns(
    names: Sequence[str] | None, origin: Sequence[int] | None = None
) -> Iterator[None]:
    """Errors about entries name their columns by `names`, one for each column of the data.

    Parameters
    ----------
    names : list of str or None
        Names of the columns.
    origin : sequence of int, optional
        Where the data are some columns of X: the numbers of these in X, which errors then give.
    """
    try:
        yield
    except EntryError as error:
        if origin is not None:
            error.column = origin[error.column]
            names = None if names is None else dict(zip(origin, names, strict=True))  # pyright: ignore[reportAssignmentType]
        error.names = names
        raise


@contextmanager
def refusals() -> Iterator[None]:
    """Turn the library's refusals of data and settings into `RefusedError`.

    Only calls that check what a user gave belong in here: elsewhere the same exceptions mean a
    fault of ours, which must not look like a user's.
    """
    try:
        yield
    except (ValueError, TypeError, ImportError, OverflowError) as error:
        raise RefusedError(str(error)) from error


def place(row: int | None, column: int, names: Sequence[str] | None = None) -> str:
    """A column in a sentence, by its number and its name where it has one; and the row."""
    name = "" if names is None else f" ({names[column]!r})"
    return f"column {column}{name}" + ("" if row is None else f", row {row}")


def reason_of(error: Exception) -> str:
    """Why the system refused, in its words, without number and file name."""
    return getattr(error, "strerror", None) or str(error)
