"""Tables whose rows stay in the file and are read block by block: which, and how to open them."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bhmc._cli.in_memory import what_needs_memory
from bhmc._estimator.rows_of_fit import evenly_spaced
from bhmc._estimator.sizes import ROWS_FOR_A_SAMPLE
from bhmc._extras import import_pyarrow_parquet
from bhmc._io.tables.read import Reading, Table, check_file, suggest
from bhmc._validation.column_plan import ColumnPlan, PlannedColumn, in_options
from bhmc._validation.errors import RefusedError, reason_of, refusals
from bhmc.likelihoods.block_sums import ROWS_PER_BLOCK
from bhmc.rows import open_rows
from bhmc.rows.sources import Source

_PARQUET, _ZARR = ".parquet", ".zarr"
# Formats that are read at once as well: rules decide. Others are read in blocks, or not at all.
_EITHER = (".npy", _PARQUET)

# What options of a table may say where its rows are read in blocks.
_USES = ("number", "drop", "id")


@dataclass(frozen=True)
class TableInBlocks(Table):
    """A table of numbers that stays in its file: `matrix` is a `Source`."""

    spread: Any = None
    """The same rows as a Dask array, where workers read them."""
    column_names: tuple[str, ...] | None = None
    """Names of the columns, where the file has some."""

    @property
    def stays(self) -> bool:
        """Whether there are so many rows that a fit leaves them where they are."""
        return self.shape[0] >= ROWS_FOR_A_SAMPLE

    @property
    def rows_in_tree(self) -> NDArray[np.int64]:
        """Numbers of the rows that a fit shows in its tree."""
        n = self.shape[0]
        return evenly_spaced(n) if self.stays else np.arange(n)

    def data(self, as_matrix: bool = False) -> Any:
        """What to fit: an array where a fit would load the rows anyway, by rules of its own."""
        if not self.stays:
            return self.matrix.read(slice(0, self.shape[0]))
        return self.matrix if self.spread is None else self.spread

    def row_names(self) -> list[str]:
        """The rows of the tree by their numbers in the file, from 1."""
        return [str(row + 1) for row in self.rows_in_tree]

    def place(self, row: int) -> str:
        """A row of the tree in a sentence, as a reader of the file would find it."""
        return f"row {self.rows_in_tree[row] + 1}"

    def said(self) -> str:
        """Where the rows are, in one line."""
        name = self.path.name
        if not self.stays:
            return (
                f"Rows of {name} are read at once, because there are fewer than "
                f"{ROWS_FOR_A_SAMPLE:,}."
            )
        if self.spread is not None:
            return f"Rows of {name} are read by the workers, which keep them."
        return f"Rows stay in {name} and are read in blocks of {ROWS_PER_BLOCK:,}."


class _LackingError(RefusedError):
    """Columns that were fitted are not there, however the file is read."""


class Decision(NamedTuple):
    """Where the rows of a fit are."""

    table: TableInBlocks | None
    """The table, where its rows stay in the file; None where it is read at once."""
    why: str = ""
    """Why many rows are read at once, in a sentence."""


def decide(options, reading: Reading) -> Decision:
    """Whether the rows of `bhmc fit` stay in the file: where that is asked for, or there are many.

    Parameters
    ----------
    options : Namespace
        Of the command.
    reading : Reading
        What they say of the table.
    """
    path, asked = Path(options.data), _is_asked(options)
    if options.blocks is False or not (asked or _may_stay(path, reading)):
        return Decision(None)
    if not asked and path.suffix in _EITHER and not path.is_dir():
        return _by_itself(path, reading, options)
    _check_options(options, path)
    table = opened(path, reading)
    with _readable(path):
        first = first_block(table.matrix)
    what = what_needs_memory(options, first) if table.stays else ""
    if what:
        raise RefusedError(
            f"rows of {path} cannot be read in blocks: {what} needs all rows in memory."
        )
    return Decision(table)


def table_to_place(options, reading: Reading, names: Sequence[str]) -> TableInBlocks | None:
    """The table of `bhmc predict`, likewise.

    Parameters
    ----------
    options : Namespace
        Of the command.
    reading : Reading
        What they say of the table.
    names : sequence of str
        The columns that were fitted.
    """
    path = Path(options.data)
    if options.blocks is False or not (options.blocks or _may_stay(path, reading)):
        return None
    either = path.suffix in _EITHER and not path.is_dir()
    if options.blocks or not either:
        return opened(path, reading, names)
    table = _tried(path, reading, names)
    return table if table is not None and table.stays else None


def opened(path: Path, reading: Reading, only: Sequence[str] | None = None) -> TableInBlocks:
    """A file or folder as a table in blocks; a sentence where it is none.

    Parameters
    ----------
    path : Path
        A `.npy` or `.parquet` file, a folder of Parquet files, or a Zarr array.
    reading : Reading
        Which columns are left out.
    only : sequence of str, optional
        The columns wanted, in this order, where they have names.
    """
    if not path.is_dir():
        check_file(path)
    with refusals(), _readable(path):
        names = _names_of(path, reading, only)
        source = open_rows(path, names)
    if 0 in source.shape:
        raise RefusedError(f"{path} is empty: its shape is {source.shape}.")
    if only is not None and source.shape[1] != len(only):
        raise RefusedError(f"{path} has {source.shape[1]} columns, and {len(only)} were fitted.")
    return _table(path, source, names)


def check_varies(table: TableInBlocks) -> None:
    """Refuse a table that says nothing of groups.

    Parameters
    ----------
    table : TableInBlocks
        Opened.
    """
    source, n = table.matrix, table.shape[0]
    if n < 2:
        raise RefusedError(f"{table.path} has {n} row; a hierarchy needs at least two.")
    with _readable(table.path):
        varies = _varies(first_block(source)) or _varies(source.take(evenly_spaced(n)))
    if not varies:
        raise RefusedError(
            f"every column of {table.path} is constant or empty, so nothing tells its rows apart."
        )


def first_block(source: Source) -> NDArray[np.float64]:
    """The first rows of a table.

    Parameters
    ----------
    source : Source
        The table.
    """
    return source.read(slice(0, min(source.shape[0], ROWS_PER_BLOCK)))


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """What cannot be read is a sentence."""
    try:
        yield
    except (OSError, EOFError) as error:
        said = " ".join(reason_of(error).split()).rstrip(".")
        raise RefusedError(f"{path} cannot be read: {said}.") from None


def _varies(X: NDArray[np.float64]) -> bool:
    return bool((np.fmax.reduce(X) > np.fmin.reduce(X)).any())


def _is_asked(options) -> bool:
    return bool(options.blocks) or options.scheduler is not None


def _may_stay(path: Path, reading: Reading) -> bool:
    """Whether the name says that rows may be read in blocks, and nothing else is said."""
    if reading.format not in (None, path.suffix.removeprefix(".")):
        return False
    if path.is_dir():
        return path.suffix == _ZARR or any(path.glob(f"*{_PARQUET}"))
    return path.suffix in _EITHER


def _by_itself(path: Path, reading: Reading, options) -> Decision:
    """The table where it is large and nothing speaks for memory."""
    if options.text or reading.id is not None or _other_uses(reading):
        return Decision(None)
    table = _tried(path, reading)
    if table is None or not table.stays:
        return Decision(None)
    with _readable(path):
        first = first_block(table.matrix)
    said = f"Rows of {path.name} are read into memory, because"
    if path.suffix == _PARQUET and not (has_fractions := _have_fractions(first)).all():
        name = table.names[int(np.argmin(has_fractions))]
        why = f"column {name!r} has no fractions, so that rules decide what it is"
        return Decision(None, f"{said} {why}; with --blocks every column is a number.")
    what = what_needs_memory(options, first)
    return Decision(None, f"{said} {what} needs them there.") if what else Decision(table)


def _tried(path: Path, reading: Reading, only: Sequence[str] | None = None) -> TableInBlocks | None:
    """The table in blocks; None where it cannot be: who reads it at once says why."""
    try:
        return opened(path, reading, only)
    except _LackingError:
        raise
    except RefusedError:
        return None


def _have_fractions(first: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Columns that the rules for columns take for numbers, whatever other rows hold."""
    return (np.nan_to_num(first) % 1 != 0).any(axis=0)


def _other_uses(reading: Reading) -> list[str]:
    """Columns that are said to be more than numbers."""
    return [name for name, use in reading.kinds if use not in _USES]


def _check_options(options, path: Path) -> None:
    """Refuse what needs all rows at once."""
    as_others = [name for name, use in options.kinds if use not in _USES]
    for name, given in {"--text": options.text, "--as": as_others}.items():
        if given:
            raise RefusedError(
                f"{name} needs all rows at once, and those of {path.name} are read in blocks: turn "
                f"column {given[0]!r} into numbers, or leave it out with "
                f"{in_options(given[0], 'drop')}."
            )


def _names_of(path: Path, reading: Reading, only: Sequence[str] | None) -> list[str] | None:
    """Columns of Parquet files that are wanted, all of them numbers; None for a matrix."""
    files = sorted(path.glob(f"*{_PARQUET}")) if path.is_dir() else [path]
    if path.suffix == _ZARR or not files or files[0].suffix != _PARQUET:
        _check_matrix(path, reading)
        return None
    schema = _schema_of(files[0])
    left_out = {*reading.drop, *reading.using("drop", "id"), *_given(reading.id)}
    _check_known(path, list(schema.names), [*left_out, *reading.using("number")], only or ())
    names = [name for name in schema.names if name not in left_out] if only is None else list(only)
    for name in names:
        _check_number(schema.field(name).type, name, path)
    if not names:
        raise RefusedError(f"{path} has no column left to fit: all were dropped or name the rows.")
    return names


def _schema_of(file: Path) -> Any:
    parquet = import_pyarrow_parquet(f"{file.name} in blocks")
    try:
        return parquet.read_schema(file)
    except OSError:
        raise
    except Exception as error:  # its reader raises whatever a damaged file makes it stumble on
        said = str(error).splitlines()[0].rstrip(".")
        raise RefusedError(f"{file} is no Parquet file, or damaged ({said}).") from None


def _check_matrix(path: Path, reading: Reading) -> None:
    given = {"--drop": reading.drop, "--as": reading.kinds, "--id": _given(reading.id)}
    for option, names in given.items():
        if names and path.suffix in (".npy", _ZARR):
            raise RefusedError(
                f"{option}: {path.name} is a matrix of numbers without names of columns, and its "
                f"rows are read in blocks: leave {option} out."
            )


def _given(name: str | None) -> list[str]:
    return [] if name is None else [name]


def _check_known(path: Path, names: list[str], asked: Sequence[str], fitted: Sequence[str]) -> None:
    for name in asked:
        if name not in names:
            raise RefusedError(
                f"{path} has no column {name!r}.{suggest(name, Table(path, names, None))}"
            )
    missing = [name for name in fitted if name not in names]
    if missing:
        more = f" and {len(missing) - 5} more" if len(missing) > 5 else ""
        listed = ", ".join(repr(name) for name in missing[:5])
        raise _LackingError(f"{path} lacks columns that were fitted: {listed}{more}.")


def _check_number(kind: Any, name: str, path: Path) -> None:
    import pyarrow as pa

    numbers = pa.types.is_floating, pa.types.is_integer, pa.types.is_boolean
    if not any(is_one(kind) for is_one in numbers):
        raise RefusedError(
            f"column {name!r} of {path} is of type {kind}, and rows that are read in blocks must "
            f"hold numbers alone: leave it out with {in_options(name, 'drop')}."
        )


def _table(path: Path, source: Source, names: list[str] | None) -> TableInBlocks:
    if names is None:
        called = [f"x{j + 1}" for j in range(source.shape[1])]
        return TableInBlocks(path, called, None, source)
    plan = ColumnPlan(tuple(PlannedColumn(name, "number", "number") for name in names))
    return TableInBlocks(path, names, None, source, plan=plan, column_names=tuple(names))
