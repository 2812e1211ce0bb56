"""Tables in text files: CSV and its kin, compressed or not, with the line of every row."""

import csv
import gzip
import io
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bhmc._io.tables.columns import MISSING, Column, parse
from bhmc._validation.errors import RefusedError

_DELIMITERS = (",", "\t", ";", "|")
_BLOCK = 2_000
_SAMPLE = 65_536
# The longest cell that is read; the csv module's own limit is too short for some texts.
_LONGEST_CELL = 10_000_000


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


class TextTable(NamedTuple):
    """The columns of a text file."""

    names: list[str]
    columns: list[NDArray]
    lines: NDArray[np.int64]
    """(n,) the line of the file in which each row begins, from 1."""
    has_header: bool


def read_text(path: Path, options: TextOptions) -> TextTable:
    """Read the file; columns that turn out to be text after all are read a second time."""
    table, columns = _read_once(path, options)
    for column in columns:
        _check_mixed(column, path, options)
    again = tuple(column.name for column in columns if column.must_be_read_again)
    if again:
        table, columns = _read_once(path, options._replace(text=(*options.text, *again)))
    return table._replace(columns=[column.values() for column in columns])


def _read_once(path: Path, options: TextOptions) -> tuple[TextTable, list[Column]]:
    rows = _rows(path, options)
    try:
        line, head = next(rows)
    except StopIteration:
        raise RefusedError(f"{path} is empty: there is no table in it.") from None
    has_header = _looks_like_header(head, options) if options.header is None else options.header
    names = head if has_header else [f"x{j + 1}" for j in range(len(head))]
    _check_names(names, path)
    idle = () if options.only is None else set(names) - set(options.only)
    columns = [Column(name, as_text=name in options.text or name in idle) for name in names]
    lines, block = [], []
    if not has_header:
        lines, block = [line], [head]
    for line, row in rows:
        if len(row) != len(names):
            raise RefusedError(_ragged(path, line, len(row), len(names), has_header))
        lines.append(line)
        block.append(row)
        if len(block) == _BLOCK:
            _add(columns, block, lines, options.decimal)
            block = []
    if not lines:
        raise RefusedError(f"{path} has a header and no rows below it.")
    _add(columns, block, lines, options.decimal)
    return TextTable(names, [], np.array(lines, dtype=np.int64), has_header), columns


def _add(columns: list[Column], block: list[list[str]], lines: list[int], decimal: str) -> None:
    if not block:
        return
    for column, cells in zip(columns, zip(*block, strict=True), strict=True):
        column.add(cells, lines[-len(block) :], decimal)


def _rows(path: Path, options: TextOptions) -> Iterator[tuple[int, list[str]]]:
    """Each row that is not blank, with the line it begins in."""
    encoding = options.encoding or "utf-8-sig"
    line = 0
    csv.field_size_limit(_LONGEST_CELL)
    try:
        with _opened(path) as file:
            sample = file.read(_SAMPLE)
            _check_text(sample, path, options.encoding)
            file.seek(0)
            with io.TextIOWrapper(file, encoding=encoding, newline="") as text:
                delimiter = options.delimiter or guess_delimiter(
                    sample.decode(encoding, errors="replace"), path
                )
                reader = csv.reader(text, delimiter=delimiter, strict=True)
                for row in reader:
                    first, line = line + 1, reader.line_num
                    cells = [cell.strip() for cell in row]
                    if any(cells) or len(cells) > 1:
                        yield first, cells
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


def _opened(path: Path):
    """The bytes of the file, by what they are rather than by its name."""
    with path.open("rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
    return gzip.open(path, "rb") if packed else path.open("rb")


def _check_text(sample: bytes, path: Path, encoding: str | None) -> None:
    if encoding is not None:
        return
    if sample.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise RefusedError(f"{path} is not UTF-8 text: read it with --encoding utf-16.")
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
    _, others = parse(cells, options.decimal)
    return bool(others) or all(cell.lower() in MISSING for cell in cells)


def _check_names(names: list[str], path: Path) -> None:
    seen: dict[str, int] = {}
    for j, name in enumerate(names):
        if name == "" and j > 0:
            raise RefusedError(f"column {j + 1} of {path} has no name: give it one in line 1.")
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
    if column.first_other is None:
        return
    line, cell = column.first_other
    where = f"{path}, line {line}, column {column.name!r}: {_short(cell)!r} is not a number"
    keep = f"--text {column.name!r} takes the column for categories"
    if options.decimal == "." and "," in cell and not parse([cell], ",")[1]:
        raise RefusedError(f"{where}. If that is a decimal comma, say --decimal ','; {keep}.")
    if not column.is_text:
        raise RefusedError(
            f"{where}, as {column.n_numbers} other cells of the column are. Mend it, or leave it "
            f"empty if the value is missing; {keep}."
        )


def _short(cell: str) -> str:
    return cell if len(cell) <= 40 else cell[:40] + "..."


def _plain(encoding: str) -> str:
    return "UTF-8" if encoding == "utf-8-sig" else encoding
