"""Tables in text files: CSV and its kin, compressed or not, with the line of every row.

The reader stands on Python's `csv` module. Readers of pandas and polars are quicker (100,000 rows
of 16 numbers, 31 MB: ours 1.7 s of CPU, pandas 0.15 s, polars 0.13 s; a fit of that table takes
minutes). But they do not say in which line a cell is, and they make numbers of what is none: 007
becomes 7, and integers beyond 2**53 are rounded. Errors here name the line, and ids keep their
spelling.
"""

import csv
import gzip
import io
import re
import zlib
from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bhmc._io.tables.columns import MISSING, Column, parse
from bhmc._validation.column_plan import in_options
from bhmc._validation.errors import RefusedError
from bhmc._validation.plain_files import TIMES_COMPRESSED, TooLargeError, check_bytes
from bhmc._validation.spellings import number, odd_number, separators_advice

_DELIMITERS = (",", "\t", ";", "|")
_BLOCK = 2_000
_SAMPLE = 65_536
# The longest cell that is read; the csv module's own limit is too short for some texts.
_LONGEST_CELL = 10_000_000
# A line may have so many letters, and more in a large file: a row of many cells takes much memory.
_LONGEST_LINE, _LETTERS_PER_BYTE = 2**21, 8
# The smallest compressed file may hold so many bytes.
_FREE_CONTENT = 2**21
# Blank lines, beside two for each row; columns without a name.
_MOST_BLANK, _MOST_UNNAMED = 1_000_000, 2**14
# The first line with which Excel may name the delimiter.
_SAID_BY_EXCEL = re.compile(r"\ufeff?\"?sep=(.)\"?\r?\n", re.IGNORECASE)
# Columns without a name are called so until they are seen to be empty.
_UNNAMED = "\0column "


class TextOptions(NamedTuple):
    """How a text file is to be read; None: find out."""

    delimiter: str | None = None
    decimal: str = "."
    encoding: str | None = None
    header: bool | None = None
    text: tuple[str, ...] = ()
    """Columns whose cells are text even where they spell numbers."""
    only: tuple[str, ...] | None = None
    """Columns that matter; others may hold anything."""
    numbers: tuple[str, ...] = ()
    """Columns that a user calls numbers, even with leading zeros."""
    thousands: str = ""


class TextTable(NamedTuple):
    """The columns of a text file."""

    names: list[str]
    columns: list[NDArray]
    lines: NDArray[np.int64]
    """(n,) the line of the file in which each row begins, from 1."""
    has_header: bool
    notes: tuple[str, ...] = ()


def read_text(path: Path, options: TextOptions) -> TextTable:
    """Read the file; columns that turn out to be text after all are read a second time."""
    _check_content(path)
    table, columns = _read_once(path, options)
    for column in columns:
        _check_mixed(column, path, options)
    again = tuple(column.name for column in columns if column.must_be_read_again)
    if again:
        table, columns = _read_once(path, options._replace(text=(*options.text, *again)))
    values = [column.values() for column in columns]
    notes = [*_encoding_notes(path, options), *_small_notes(columns)]
    return _without_unnamed(table._replace(columns=values, notes=tuple(notes)), path)


def _encoding_notes(path: Path, options: TextOptions) -> list[str]:
    if options.encoding is None and _encoding_of(path, options) == "utf-16":
        return [f"{path.name} is UTF-16 text, as its first bytes say."]
    return []


def _small_notes(columns: list[Column]) -> list[str]:
    """Cells that a decimal comma makes small: whoever wrote 1,200 may have meant 1200."""
    return [
        f"Column {column.name!r}: {column.first_read_small[1]!r} in line "
        f"{column.first_read_small[0]} is read as {number(column.first_read_small[1], ','):g}, "
        "because --decimal ',' says so."
        for column in columns
        if column.first_read_small is not None and not column.is_text
    ]


def _without_unnamed(table: TextTable, path: Path) -> TextTable:
    """Leave out columns without a name and without a cell, which spreadsheets write."""
    left = []
    for j, (name, column) in enumerate(zip(table.names, table.columns, strict=True)):
        if not name.startswith(_UNNAMED):
            left.append(j)
        elif not _is_empty(column):
            raise RefusedError(f"column {j + 1} of {path} has no name: give it one in line 1.")
    if len(left) == len(table.names):
        return table
    n_out = len(table.names) - len(left)
    note = f"Left out {n_out} empty column{'s' * (n_out > 1)} without a name."
    return table._replace(
        names=[table.names[j] for j in left],
        columns=[table.columns[j] for j in left],
        notes=(*table.notes, note),
    )


def _is_empty(column: NDArray) -> bool:
    if column.dtype == object:
        return all(cell is None for cell in column)
    return bool(np.isnan(column).all())


def _read_once(path: Path, options: TextOptions) -> tuple[TextTable, list[Column]]:
    rows = _rows(path, options)
    try:
        line, head = next(rows)
    except StopIteration:
        raise RefusedError(f"{path} is empty: there is no table in it.") from None
    has_header = _looks_like_header(head, options) if options.header is None else options.header
    if sum(not name for name in head) > _MOST_UNNAMED:
        raise RefusedError(f"{path} has more than {_MOST_UNNAMED:,} columns without a name.")
    names = head if has_header else [f"x{j + 1}" for j in range(len(head))]
    names = [
        f"{_UNNAMED}{j}" if not name and j and has_header else name for j, name in enumerate(names)
    ]
    _check_names(names, path)
    idle = () if options.only is None else set(names) - set(options.only)
    columns = [
        Column(name, name in options.text or name in idle, name in options.numbers)
        for name in names
    ]
    lines: array[int] = array("q", [] if has_header else [line])
    block = [] if has_header else [head]
    for line, row in rows:
        if len(row) != len(names):
            raise RefusedError(_ragged(path, line, len(row), len(names), has_header))
        lines.append(line)
        block.append(row)
        if len(block) == _BLOCK:
            _add(columns, block, lines, options)
            block = []
    if not lines:
        raise RefusedError(f"{path} has a header and no rows below it.")
    _add(columns, block, lines, options)
    return TextTable(names, [], np.array(lines, dtype=np.int64), has_header), columns


def _add(
    columns: list[Column], block: list[list[str]], lines: Sequence[int], options: TextOptions
) -> None:
    if not block:
        return
    for column, cells in zip(columns, zip(*block, strict=True), strict=True):
        column.add(cells, lines[-len(block) :], options.decimal, options.thousands)


def _rows(path: Path, options: TextOptions) -> Iterator[tuple[int, list[str]]]:
    """Each row that is not blank, with the line it begins in."""
    encoding = _encoding_of(path, options)
    line, n_rows, n_blank = 0, 0, 0
    csv.field_size_limit(_LONGEST_CELL)
    try:
        with _opened(path) as file:
            sample = file.read(_SAMPLE)
            _check_text(sample, path, options.encoding)
            file.seek(0)
            with io.TextIOWrapper(file, encoding=encoding, newline="") as text:
                shown = sample.decode(encoding, errors="replace")
                said = _SAID_BY_EXCEL.match(shown)
                if said:  # a first line of Excel's, which names the delimiter
                    shown, line = shown[said.end() :], 1
                    text.readline()
                delimiter = options.delimiter or (
                    said.group(1) if said else guess_delimiter(shown, path)
                )
                short = _short_lines(text, path)
                reader, above = csv.reader(short, delimiter=delimiter, strict=True), line
                for row in reader:
                    first, line = line + 1, reader.line_num + above
                    cells = [cell.strip() for cell in row]
                    if any(cells) or len(cells) > 1:
                        n_rows += 1
                        yield first, cells
                        continue
                    n_blank += 1
                    if n_blank > _MOST_BLANK + 2 * n_rows:
                        raise RefusedError(f"{path}: most of its first {line:,} lines are blank.")
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        raise RefusedError(
            f"{path} is not {_plain(encoding)} text (byte 0x{byte:02x} after line {line}): say "
            "what it is, for example --encoding latin-1."
        ) from None
    except LookupError:
        raise RefusedError(f"--encoding {options.encoding!r} is not known to Python.") from None
    except csv.Error as error:
        raise RefusedError(
            f"{path}, line {line + 1}: {error}. A quote may be missing or one too many."
        ) from None
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise RefusedError(f"{path} is compressed and damaged: it cannot be read whole.") from None
    except OSError as error:
        raise RefusedError(f"{path} cannot be read: {error.strerror or error}.") from None


def _short_lines(text: io.TextIOWrapper, path: Path) -> Iterator[str]:
    """The lines of the file, as long as none is longer than its file explains."""
    most = _LONGEST_LINE + _LETTERS_PER_BYTE * path.stat().st_size
    while line := text.readline(most):
        if len(line) == most:
            raise RefusedError(f"{path} has a line of more than {most:,} letters: it is no table.")
        yield line


def _check_content(path: Path) -> None:
    """Refuse a compressed file that holds more than such a file can; damages are said later."""
    size, held = path.stat().st_size, 0
    try:
        with _opened(path) as file:
            if isinstance(file, gzip.GzipFile):
                while block := file.read(_SAMPLE):
                    held += len(block)
                    check_bytes(held, size, TIMES_COMPRESSED, _FREE_CONTENT)
    except TooLargeError as error:
        raise RefusedError(f"{path} cannot be read: {error}.") from None
    except (OSError, EOFError, zlib.error):
        return


def _encoding_of(path: Path, options: TextOptions) -> str:
    """What was said, or UTF-16 where the first two bytes are its mark, or UTF-8."""
    if options.encoding is not None:
        return options.encoding
    try:
        with _opened(path) as file:
            marked = file.read(2) in (b"\xff\xfe", b"\xfe\xff")
    except (OSError, EOFError, zlib.error):
        return "utf-8-sig"
    return "utf-16" if marked else "utf-8-sig"


def _opened(path: Path):
    """The bytes of the file, by what they are rather than by its name."""
    with path.open("rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
    return gzip.open(path, "rb") if packed else path.open("rb")


def _check_text(sample: bytes, path: Path, encoding: str | None) -> None:
    if encoding is not None or sample.startswith((b"\xff\xfe", b"\xfe\xff")):
        return
    if b"\0" in sample:
        raise RefusedError(
            f"{path} is a binary file, not text: export it as CSV, or say what it is with --format."
        )


def guess_delimiter(sample: str, path: Path) -> str:
    """The delimiter that cuts the first lines into the most cells, as many in each."""
    if path.name.lower().removesuffix(".gz").endswith((".tsv", ".tab")):
        return "\t"
    complete = sample.splitlines()[:20]
    if len(sample) >= _SAMPLE // 4 and len(complete) > 1:
        complete = complete[:-1]  # the last may be cut off
    best, most = ",", 0
    for delimiter in _DELIMITERS:
        counts = [len(row) for row in csv.reader(complete, delimiter=delimiter) if row]
        # Cells that the header and most lines agree on; a text may hold a comma now and then.
        agreed = sum(count == counts[0] for count in counts) if counts else 0
        if counts and counts[0] > max(most, 1) and 2 * agreed > len(counts):
            best, most = delimiter, counts[0]
    return best


def _looks_like_header(cells: list[str], options: TextOptions) -> bool:
    """A first line of numbers alone is data."""
    _, others = parse(cells, options.decimal, options.thousands)
    return bool(others) or all(cell.lower() in MISSING for cell in cells)


def _check_names(names: list[str], path: Path) -> None:
    seen: dict[str, int] = {}
    for j, name in enumerate(names):
        if name in seen:
            raise RefusedError(
                f"two columns of {path} have the name {name!r}, the {_nth(seen[name] + 1)} and the "
                f"{_nth(j + 1)}: rename one of them."
            )
        seen[name] = j


def _nth(number: int) -> str:
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{'th' if number % 100 in (11, 12, 13) else ending}"


def _ragged(path: Path, line: int, found: int, wanted: int, has_header: bool) -> str:
    first = "the header" if has_header else "the first line"
    return (
        f"{path}, line {line}: {found} cell{'s' * (found != 1)}, but {first} has {wanted}. A "
        "delimiter may be missing or one too many; --delimiter names another one."
    )


def _check_mixed(column: Column, path: Path, options: TextOptions) -> None:
    """Refuse text among numbers, most likely a slip, and numbers in another country's spelling."""
    _check_beyond(column, path)
    if column.first_other is None or column.is_written:
        return
    line, cell = column.first_other
    where = f"{path}, line {line}, column {column.name!r}: {_short(cell)!r} is not a number"
    keep = f"{in_options(column.name, 'category')} takes the column for categories"
    advice = separators_advice(cell, options.decimal, options.thousands)
    if advice:
        raise RefusedError(f"{where}: {advice}; {keep}.")
    if not column.is_text:
        if odd_number(cell):
            raise RefusedError(f"{where} as written: write it in plain digits; {keep}.")
        raise RefusedError(
            f"{where}, as {column.n_numbers} other cells of the column are. Mend it, or leave it "
            f"empty if the value is missing; {keep}."
        )


def _check_beyond(column: Column, path: Path) -> None:
    """Refuse 1e999, and integers beyond 2**53 in a column that a user calls numbers."""
    if column.first_beyond is None or column.is_written:
        return
    line, cell = column.first_beyond
    raise RefusedError(
        f"{path}, line {line}, column {column.name!r}: a double cannot hold {_short(cell)}; "
        f"{in_options(column.name, 'category')} takes the column as it is written."
    )


def _short(cell: str) -> str:
    return cell if len(cell) <= 40 else cell[:40] + "..."


def _plain(encoding: str) -> str:
    return "UTF-8" if encoding == "utf-8-sig" else encoding
