"""Tables from files: what `bhmc fit` and `bhmc predict` read."""

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from bhmc._io.tables.binary import read_matrix, read_parquet
from bhmc._io.tables.frame import frame_of
from bhmc._io.tables.text import TextOptions, read_text
from bhmc._validation.errors import RefusedError

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
}


@dataclass(frozen=True)
class Reading:
    """What a user says of a file; None: find out."""

    id: str | None = None
    """The column that names the rows; "" is a first column without a name."""
    no_id: bool = False
    """Whether no column names the rows."""
    drop: tuple[str, ...] = ()
    text: tuple[str, ...] = ()
    """Columns of categories even where their cells spell numbers."""
    format: str | None = None
    delimiter: str | None = None
    decimal: str = "."
    encoding: str | None = None
    header: bool | None = None
    only: tuple[str, ...] | None = None
    """Columns that matter; others may hold anything."""

    def to_json(self) -> dict[str, Any]:
        """Itself as a dict of plain values."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> "Reading":
        """The inverse of `to_json`."""
        lists = {name: tuple(values[name]) for name in ("drop", "text")}
        return cls(**{**values, **lists})

    def matters(self, name: str) -> bool:
        """Whether the column of this name must make sense."""
        return name not in self.drop and (self.only is None or name in self.only)


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
    texts: tuple[str, ...] = ()
    """The free text of each row; none where no column holds free text."""
    from_texts: tuple[str, ...] = ()
    """Columns of numbers that were made from these texts."""

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
    has further columns to take for text, by the option that names them.
    """
    path = Path(name)
    check_file(path)
    asked = {"--drop": reading.drop, "--text": reading.text, **(also_text or {})}
    for further in (also_text or {}).values():
        reading = replace(reading, text=(*reading.text, *further))
    table = _read(path, reading, _format_of(path, reading.format))
    if not lenient:
        for option, wanted in asked.items():
            for column in wanted:
                _check_known(column, option, table)
    elif reading.id not in table.names:
        reading = replace(reading, id=None)
    table = _name_rows(table, reading)
    left = [name for name in table.names if name not in reading.drop]
    if len(left) < len(table.names):
        table = table.select(left)
    if not table.names and not any((also_text or {}).values()):
        raise RefusedError(f"{path} has no column left to fit: all were dropped or name the rows.")
    return table


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
    if ending in ("xls", "xlsx", "ods"):
        raise RefusedError(f"{path} is a spreadsheet, which bhmc does not read: save it as CSV.")
    raise RefusedError(
        f"the name of {path} does not say what it holds: it should end in .csv, .tsv, .txt (these "
        "also with .gz), .parquet, .npy, .npz or .mtx; or say --format."
    )


def _read(path: Path, reading: Reading, kind: str) -> Table:
    if kind in ("csv", "tsv"):
        delimiter = reading.delimiter or ("\t" if kind == "tsv" else None)
        # Names keep their spelling (007), and what is dropped may hold anything.
        text = (*reading.text, *reading.drop, "" if reading.id is None else reading.id)
        options = TextOptions(
            delimiter, reading.decimal, reading.encoding, reading.header, text, reading.only
        )
        found = read_text(path, options)
        notes = () if found.has_header else (_no_header(found.names, reading),)
        return Table(path, found.names, found.columns, lines=found.lines, notes=notes)
    if kind == "parquet":
        names, columns = read_parquet(path, reading.matters)
        columns = [
            _spelled(column) if name in reading.text else column
            for name, column in zip(names, columns, strict=True)
        ]
        return Table(path, names, columns)
    matrix = read_matrix(path, kind)
    return Table(path, [f"x{j + 1}" for j in range(matrix.shape[1])], None, matrix)


def _no_header(names: list[str], reading: Reading) -> str:
    found = "The first line holds numbers only, so it is data" if reading.header is None else ""
    called = f"columns are called {names[0]}" + (f" to {names[-1]}" if len(names) > 1 else "")
    return f"{found or 'No header'}; {called}."


def _spelled(column: NDArray) -> NDArray:
    """Numbers as text, whole ones without a point."""
    if column.dtype == object:
        return column
    return np.array([None if np.isnan(x) else f"{x:.15g}" for x in column], dtype=object)


def _name_rows(table: Table, reading: Reading) -> Table:
    """Take the column that names the rows out of the data."""
    if reading.no_id:
        return table
    if table.columns is None:
        if reading.id is not None:
            raise RefusedError(
                f"--id {reading.id}: {table.path} is a matrix of numbers without names of rows."
            )
        return table
    if reading.id is not None:
        _check_known(reading.id, "--id", table)
        return _named_by(table, reading.id)
    guess = _guess_names(table)
    if guess is None or guess in reading.drop or guess in reading.text:
        return table
    shown = repr(guess) if guess else "the first column"
    note = f"Rows are named by {shown}, different in every row (--no-id takes it for data)."
    named = _named_by(table, guess)
    return replace(named, notes=(*named.notes, note))


def _guess_names(table: Table) -> str | None:
    """The first column, where it has no name or its text differs in every row."""
    assert table.columns is not None
    if len(table.names) < 2:
        return None
    first = table.columns[0]
    if table.names[0] == "":
        return ""
    missing = first.dtype != object or any(cell is None for cell in first)
    return None if missing or len(set(first)) < len(first) else table.names[0]


def _named_by(table: Table, name: str) -> Table:
    assert table.columns is not None
    j = table.names.index(name)
    column = table.columns[j] if table.columns[j].dtype == object else _spelled(table.columns[j])
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
    left = table.select([other for other in table.names if other != name])
    notes = (*table.notes, repeated) if repeated else table.notes
    return replace(left, items=[str(item) for item in column], item_column=name, notes=notes)


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
