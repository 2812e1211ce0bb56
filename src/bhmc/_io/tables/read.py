"""Tables from files: what `bhmc fit` and `bhmc predict` read."""

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from bhmc._io.tables.binary import read_matrix, read_parquet, typed
from bhmc._io.tables.frame import frame_of
from bhmc._io.tables.plan import Asked, fitted_column, plan_columns, spelled
from bhmc._io.tables.spreadsheet import read_spreadsheet
from bhmc._io.tables.text import TextOptions, read_text
from bhmc._validation.column_kinds import Spelling
from bhmc._validation.column_plan import ColumnPlan, PlannedColumn, in_options
from bhmc._validation.errors import EntryError, RefusedError
from bhmc._validation.plain_files import irregular

_BY_ENDING = {
    "csv": "csv",
    "txt": "csv",
    "dat": "csv",
    "data": "csv",
    "tsv": "tsv",
    "tab": "tsv",
    "parquet": "parquet",
    "pq": "parquet",
    "npy": "npy",
    "npz": "npz",
    "mtx": "mtx",
    "xlsx": "xlsx",
    "xlsm": "xlsx",
    "xls": "xlsx",
    "ods": "xlsx",
}


@dataclass(frozen=True)
class Reading:
    """What a user says of a file; None: find out."""

    id: str | None = None
    """The column that names the rows; "" is a first column without a name."""
    no_id: bool = False
    """Whether no column names the rows."""
    drop: tuple[str, ...] = ()
    kinds: tuple[tuple[str, str], ...] = ()
    """Columns and what they are: pairs of `--as`."""
    format: str | None = None
    delimiter: str | None = None
    decimal: str = "."
    encoding: str | None = None
    header: bool | None = None
    only: tuple[str, ...] | None = None
    """Columns that matter; others may hold anything."""
    thousands: str = ""

    def to_json(self) -> dict[str, Any]:
        """Itself as a dict of plain values."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> "Reading":
        """The inverse of `to_json`; runs of an older bhmc have `text`, columns of categories."""
        values = dict(values)
        older = [(name, "category") for name in values.pop("text", ())]
        kinds = [tuple(pair) for pair in values.pop("kinds", older)]
        only = values.pop("only", None)
        return cls(
            **{**values, "drop": tuple(values["drop"])},
            kinds=tuple(kinds),
            only=None if only is None else tuple(only),
        )

    def asked(self, names: Sequence[str]) -> Asked:
        """What it says of these columns."""
        uses = dict(self.kinds)
        if self.only is not None:
            uses |= {name: "drop" for name in names if name not in self.only}
        uses |= dict.fromkeys(self.drop, "drop")
        if self.id is not None:
            uses[self.id] = "id"
        ids = not self.no_id and self.only is None
        return Asked(uses, ids, Spelling(self.decimal, self.thousands))

    def using(self, *uses: str) -> tuple[str, ...]:
        """Columns with one of these uses."""
        return tuple(name for name, use in self.kinds if use in uses)

    def matters(self, name: str) -> bool:
        """Whether the column of this name must make sense."""
        left_out = (*self.drop, *self.using("drop"))
        return name not in left_out and (self.only is None or name in self.only)


@dataclass(frozen=True)
class Table:
    """A table as it was read: typed columns or a matrix, and where its rows were in the file."""

    path: Path
    names: list[str]
    """Names of the columns; x1, x2, ... where the file has none."""
    columns: list[NDArray] | None
    """float64, or objects for text; None where there is a matrix."""
    matrix: Any = None
    """(n, d) array or sparse matrix."""
    items: list[str] | None = None
    """Names of the rows."""
    item_column: str | None = None
    """The column they were in."""
    lines: NDArray[np.int64] | None = None
    """The line of each row in a text file."""
    notes: tuple[str, ...] = ()
    """What was found out rather than said by the user."""
    plan: ColumnPlan = ColumnPlan()  # noqa: RUF009 (a tuple does not change)
    """What every column of the file was taken for; empty for a matrix."""
    texts: tuple[str, ...] = ()
    """The free text of each row; none where no column holds free text."""
    from_texts: tuple[str, ...] = ()
    """Columns of numbers that were made from these texts."""
    boilerplate: tuple[str, ...] = ()
    """Sentences of these texts that say nothing."""

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of data."""
        if self.columns is None:
            return self.matrix.shape
        return (len(self.columns[0]) if self.columns else 0), len(self.columns)

    @property
    def text_columns(self) -> list[str]:
        """Names of the columns of text."""
        return [name for name, kind in zip(self.names, self.kinds, strict=True) if kind == "text"]

    @property
    def kinds(self) -> list[str]:
        """For each column "number" or "text"."""
        if self.columns is None:
            return ["number"] * self.shape[1]
        return ["text" if column.dtype == object else "number" for column in self.columns]

    def data(self, as_matrix: bool = False) -> Any:
        """What to fit: a frame where columns have names, else the matrix."""
        if self.columns is None:
            return self.matrix
        if as_matrix:
            return np.column_stack(self.columns)
        return frame_of(self.names, self.columns, self.items)

    def row_names(self) -> list[str]:
        """What to call the rows: their names, else their numbers from 1."""
        return self.items or [str(i + 1) for i in range(self.shape[0])]

    def place(self, row: int) -> str:
        """A row in a sentence, as a reader of the file would find it."""
        return f"row {row + 1}" if self.lines is None else f"line {self.lines[row]}"

    def where(self, row: int | None, column: int) -> str:
        """An entry in a sentence, or a whole column, as a reader of the file would find it."""
        name = f"column {self.names[column]!r}"
        return name if row is None else f"{name}, {self.place(row)}"

    def select(self, names: Sequence[str]) -> "Table":
        """The columns of these names, in this order."""
        index = {name: j for j, name in enumerate(self.names)}
        chosen = [index[name] for name in names]
        if self.columns is not None:
            return replace(self, names=list(names), columns=[self.columns[j] for j in chosen])
        return replace(self, names=list(names), matrix=self.matrix[:, chosen])


def read_table(
    name: str,
    reading: Reading,
    *,
    lenient: bool = False,
    also_text: Mapping[str, Sequence[str]] | None = None,
) -> Table:
    """Read a file as `reading` says; name rows and leave out columns as it asks.

    With `lenient` the columns it names need not be there: it was said of another file. `also_text`
    has further columns to take for text as it is written, by the option that names them.
    """
    path = Path(name)
    check_file(path)
    asked = {"--drop": reading.drop, "--as": [name for name, _ in reading.kinds]}
    asked |= also_text or {}
    if reading.id is not None:
        asked["--id"] = [reading.id]
    further = [name for names in (also_text or {}).values() for name in names]
    table = _read(path, reading, _format_of(path, reading.format), tuple(further))
    if not lenient:
        for option, wanted in asked.items():
            for column in wanted:
                _check_known(column, option, table)
    elif reading.id not in table.names:
        reading = replace(reading, id=None)
    if table.columns is None:
        return _matrix_columns(table, reading)
    table = _planned(table, reading, further)
    if not table.names and not further:
        raise RefusedError(f"{path} has no column left to fit: all were dropped or name the rows.")
    return table


def _matrix_columns(table: Table, reading: Reading) -> Table:
    """A matrix without the columns that are dropped."""
    if reading.id is not None:
        raise RefusedError(
            f"--id {reading.id}: {table.path} is a matrix of numbers without names of rows."
        )
    for name, use in reading.kinds:
        if use not in ("number", "drop"):
            raise RefusedError(
                f"{in_options(name, use)}: {table.path} is a matrix of numbers; make it a table "
                "with names of columns, such as CSV."
            )
    dropped = {*reading.drop, *reading.using("drop")}
    left = [name for name in table.names if name not in dropped]
    if not left:
        raise RefusedError(f"{table.path} has no column left to fit: all were dropped.")
    return table.select(left) if len(left) < len(table.names) else table


def _planned(table: Table, reading: Reading, further: Sequence[str]) -> Table:
    """The fitted columns, as the plan takes them, and names of the rows."""
    asked = reading.asked(table.names)
    asked = asked._replace(uses={**dict.fromkeys(further, "category"), **asked.uses})
    assert table.columns is not None
    try:
        plan = plan_columns(table.names, table.columns, asked)
        columns = [
            fitted_column(table.columns[j], plan.columns[j], j, asked.spelling) for j in plan.fitted
        ]
    except EntryError as error:
        where = table.where(error.row, error.column)
        raise RefusedError(error.sentence(str(table.path), where)) from error
    ids = plan.using("id")
    named = table
    if ids:
        first = table.names.index(reading.id) if reading.id is not None else ids[0]
        plan = plan._replace(item_column=table.names[first])
        named = _named_by(table, table.names[first], plan.columns[first])
    return replace(named, names=plan.names, columns=columns, plan=plan)


def check_fittable(table: Table) -> None:
    """Refuse a table that says nothing of groups."""
    n = table.shape[0]
    if n < 2:
        raise RefusedError(f"{table.path} has {n} row; a hierarchy needs at least two.")
    if not _anything_varies(table):
        raise RefusedError(
            f"every column of {table.path} is constant or empty, so nothing tells its rows apart."
        )


def _anything_varies(table: Table) -> bool:
    if table.columns is None:
        matrix = table.matrix
        if sparse.issparse(matrix):
            highest, lowest = (getattr(matrix, f)(axis=0).toarray() for f in ("max", "min"))
        else:
            highest, lowest = np.fmax.reduce(matrix), np.fmin.reduce(matrix)
        return bool((highest > lowest).any())
    return any(
        len({cell for cell in column if cell is not None}) > 1
        if column.dtype == object
        else np.fmax.reduce(column) > np.fmin.reduce(column)
        for column in table.columns
    )


def check_file(path: Path) -> None:
    """Refuse what is no file with something in it."""
    try:
        if path.is_dir():
            raise RefusedError(f"{path} is a folder; name the file with the table.")
        if not path.exists():
            raise RefusedError(f"there is no file {path}.{_near_files(path)}")
        if (other := irregular(path)) is not None:
            raise RefusedError(f"{path} is {other}, not a file: copy what it gives into a file.")
        if path.stat().st_size == 0:
            raise RefusedError(f"{path} is empty: there is no table in it.")
    except (OSError, ValueError) as error:
        raise RefusedError(f"{path} cannot be read: {error}.") from None


def _near_files(path: Path) -> str:
    try:
        others = [other.name for other in path.parent.iterdir()]
    except OSError:
        return f" Nor is there a folder {path.parent}."
    near = difflib.get_close_matches(path.name, others, n=1)
    return f" Did you mean {path.parent / near[0]}?" if near else ""


def _format_of(path: Path, said: str | None) -> str:
    if said is not None:
        return said
    ending = path.name.lower().removesuffix(".gz").rpartition(".")[2]
    if ending in _BY_ENDING:
        return _BY_ENDING[ending]
    raise RefusedError(
        f"the name of {path} does not say what it holds: it should end in .csv, .tsv, .txt (these "
        "also with .gz), .xlsx, .parquet, .npy, .npz or .mtx; or say --format."
    )


def _read(path: Path, reading: Reading, kind: str, further: tuple[str, ...]) -> Table:
    if kind in ("csv", "tsv"):
        return _read_csv(path, reading, kind, further)
    if kind in ("parquet", "xlsx"):
        notes: list[str] = []
        if kind == "parquet":
            names, columns = read_parquet(path, reading.matters)
        else:
            names, cells, notes = read_spreadsheet(path)
            columns = [
                typed(column, name, path) if reading.matters(name) else np.full(len(column), np.nan)
                for name, column in zip(names, cells, strict=True)
            ]
        columns = [
            spelled(column) if name in further else column
            for name, column in zip(names, columns, strict=True)
        ]
        return Table(path, names, columns, notes=tuple(notes))
    matrix = read_matrix(path, kind)
    return Table(path, [f"x{j + 1}" for j in range(matrix.shape[1])], None, matrix)


def _read_csv(path: Path, reading: Reading, kind: str, further: tuple[str, ...]) -> Table:
    # Names keep their spelling (007), and what is dropped may hold anything.
    text = (*further, *reading.using("category", "id", "drop"), *reading.drop, reading.id or "")
    options = TextOptions(
        delimiter=reading.delimiter or ("\t" if kind == "tsv" else None),
        decimal=reading.decimal,
        encoding=reading.encoding,
        header=reading.header,
        text=text,
        only=reading.only,
        numbers=reading.using("number"),
        thousands=reading.thousands,
    )
    found = read_text(path, options)
    notes = found.notes if found.has_header else (_no_header(found.names, reading), *found.notes)
    return Table(path, found.names, found.columns, lines=found.lines, notes=notes)


def _no_header(names: list[str], reading: Reading) -> str:
    found = "The first line holds numbers only, so it is data" if reading.header is None else ""
    called = f"columns are called {names[0]}" + (f" to {names[-1]}" if len(names) > 1 else "")
    return f"{found or 'No header'}; {called}."


def _named_by(table: Table, name: str, one: PlannedColumn) -> Table:
    """The table with names of its rows; a repeated name is said."""
    assert table.columns is not None
    column = spelled(table.columns[table.names.index(name)])
    first, repeated = {}, ""
    for row, item in enumerate(column):
        if item is None:
            raise RefusedError(
                f"{table.path}, {table.place(row)}: there is no name in column {name!r}, which is "
                "to name the rows."
            )
        if item in first and not repeated:
            repeated = (
                f"The name {item!r} in column {name!r} is both in {table.place(first[item])} and "
                f"in {table.place(row)}: in the tree you cannot tell them apart."
            )
        first.setdefault(item, row)
    notes = [*table.notes, repeated] if repeated else list(table.notes)
    if not one.was_asked:
        shown = f"{name!r}, which {one.because}" if name else "the first column, which has no name"
        notes.append(f"Rows are named by {shown} (--no-id takes it for data).")
    items = [str(item) for item in column]
    return replace(table, items=items, item_column=name, notes=tuple(notes))


def _check_known(name: str, option: str, table: Table) -> None:
    if name in table.names:
        return
    raise RefusedError(f"{option} {name!r} is no column of {table.path}.{suggest(name, table)}")


def suggest(name: str, table: Table) -> str:
    """The nearest names of columns, or some of those there are."""
    folded = {other.lower(): other for other in table.names}
    near = difflib.get_close_matches(name.lower(), folded, n=3)
    if near:
        return f" Did you mean {' or '.join(repr(folded[one]) for one in near)}?"
    shown = ", ".join(repr(other) for other in table.names[:6])
    return f" Its columns are {shown}{', ...' if len(table.names) > 6 else ''}."
