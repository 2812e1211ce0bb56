"""Matrix Market files, read strictly.

SciPy's quick reader crashes on files that are cut off; its slow one is private. This one reads
blocks of lines with NumPy: every number must be plain, and there must be as many as the file says.
"""

import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from bhmc._validation.plain_files import TIMES_COMPRESSED, check_bytes
from bhmc._validation.spellings import EXACT, is_exact

_FIELDS = {"real": 1, "double": 1, "integer": 1, "unsigned-integer": 1, "pattern": 0}
_SYMMETRIES = ("general", "symmetric", "skew-symmetric")

# What numbers are written with; NaN and inf among them.
_LETTERS = b"0123456789+-.eEdDnNaAiIfFtTyY \t\r\n\f\v"
_BLOCK = 2**20
_LONGEST_LINE = 2**16

# Sides of a matrix beside those that its entries explain: a row takes 8 bytes, a name of a column
# some 60.
_FREE_ROWS, _FREE_COLUMNS = 2**21, 2**18


class _Head(NamedTuple):
    """The first lines."""

    is_sparse: bool
    n_values: int
    """Numbers of an entry beside its place."""
    symmetry: str
    is_whole: bool
    """Whether entries are whole numbers."""


def read_matrix_market(path: Path) -> NDArray[np.float64] | sparse.coo_array:
    """The matrix; ValueError, in half a sentence, says what is wrong with the file.

    Parameters
    ----------
    path : Path
        A file, compressed by gzip or not.
    """
    with _opened(path) as file:
        head = _head(_line(file))
        sizes = _sizes(file, head)
        size = path.stat().st_size
        if head.is_sparse:
            return _sparse(file, head, sizes, size)
        return _dense(file, head, sizes)


def _opened(path: Path) -> BinaryIO:
    with path.open("rb") as file:
        if file.read(2) != b"\x1f\x8b":
            return path.open("rb")
    size, held = path.stat().st_size, 0
    with gzip.open(path, "rb") as content:  # its length, before anything is kept
        while block := content.read(_BLOCK):
            held += len(block)
            check_bytes(held, size, TIMES_COMPRESSED)
    return gzip.open(path, "rb")  # pyright: ignore[reportReturnType]


def _line(file: BinaryIO) -> bytes:
    line = file.readline(_LONGEST_LINE)
    if not line:
        raise ValueError("it ends before its first number")
    if len(line) == _LONGEST_LINE:
        raise ValueError("a line of its head is too long")
    return line


def _head(line: bytes) -> _Head:
    words = line.decode("ascii", "replace").lower().split()
    if len(words) != 5 or words[:2] != ["%%matrixmarket", "matrix"]:
        raise ValueError("its first line is not that of a Matrix Market matrix")
    layout, kind, symmetry = words[2:]
    if layout not in ("coordinate", "array") or kind not in _FIELDS or symmetry not in _SYMMETRIES:
        raise ValueError(f"a matrix that is {layout} {kind} {symmetry} holds no real numbers")
    if layout == "array" and kind == "pattern":
        raise ValueError("a pattern has no array")
    whole = "integer" in kind
    return _Head(layout == "coordinate", _FIELDS[kind], symmetry, whole)


def _sizes(file: BinaryIO, head: _Head) -> list[int]:
    """(rows, columns, entries), or (rows, columns)."""
    line = _line(file)
    while line.startswith(b"%") or not line.strip():
        line = _line(file)
    words = line.split()
    if len(words) != 2 + head.is_sparse or not all(word.isdigit() for word in words):
        raise ValueError("the line of its sizes cannot be read")
    if max(map(len, words)) > 15:
        raise ValueError("its sizes are beyond all that can be")
    return [int(word) for word in words]


def _numbers(file: BinaryIO, wanted: int, is_whole: bool) -> Iterator[NDArray[np.float64]]:
    """The numbers of the file, in blocks; ValueError as soon as there are too many."""
    rest, found = b"", 0
    while True:
        block = file.read(_BLOCK)
        text = rest + block
        cut = len(text) if not block else text.rfind(b"\n") + 1
        text, rest = text[:cut], text[cut:]
        if len(rest) > _LONGEST_LINE:
            raise ValueError("it holds what is no number")
        words = _without_comments(text).split()
        found += len(words)
        if found > wanted:
            raise ValueError("it holds more numbers than it says")
        if words:
            yield _parsed(words, is_whole)
        if not block:
            break
    if found < wanted:
        raise ValueError("it ends before its last number: it was not written or copied whole")


def _without_comments(text: bytes) -> bytes:
    if b"%" in text:
        text = b"\n".join(line for line in text.split(b"\n") if not line.startswith(b"%"))
    if text.translate(None, _LETTERS):
        raise ValueError("it holds what is no number")
    return text


def _parsed(words: list[bytes], is_whole: bool) -> NDArray[np.float64]:
    try:
        numbers = np.array([float(word) for word in words])
    except ValueError:
        raise ValueError("it holds what is no number") from None
    odd = np.flatnonzero(np.isinf(numbers) | (np.abs(numbers) >= EXACT))
    for i in odd.tolist():
        word = words[i].decode("ascii")
        if np.isinf(numbers[i]) and any(letter.isdigit() for letter in word):
            raise ValueError(f"a double cannot hold {word[:40]}")
        if is_whole and not is_exact(word, numbers[i]):
            raise ValueError(f"a double cannot hold {word[:40]}")
    return numbers


def _dense(file: BinaryIO, head: _Head, sizes: list[int]) -> NDArray[np.float64]:
    """Column by column; a symmetric matrix has its lower triangle."""
    n, d = sizes
    if head.symmetry != "general" and n != d:
        raise ValueError("a matrix that is not square cannot be symmetric")
    skew = head.symmetry == "skew-symmetric"
    wanted = n * d if head.symmetry == "general" else n * (n - 1 + 2 * (not skew)) // 2
    numbers = _joined(_numbers(file, wanted, head.is_whole))
    if head.symmetry == "general":
        return numbers.reshape(d, n).T
    matrix = np.zeros((n, n))
    below = np.tril_indices(n, -1 if skew else 0)
    order = np.lexsort(below)  # the file goes down the columns
    rows, columns = below[0][order], below[1][order]
    matrix[columns, rows] = -numbers if skew else numbers
    matrix[rows, columns] = numbers
    return matrix


def _sparse(file: BinaryIO, head: _Head, sizes: list[int], size: int) -> sparse.coo_array:
    n, d, entries = sizes
    if n > _FREE_ROWS + size or d > _FREE_COLUMNS + size:
        raise ValueError(f"a file of {size:,} bytes cannot fill {n:,} rows and {d:,} columns")
    numbers = _joined(_numbers(file, entries * (2 + head.n_values), head.is_whole))
    table = numbers.reshape(entries, 2 + head.n_values)
    rows, columns = table[:, 0], table[:, 1]
    for places, side, words in ((rows, n, "row"), (columns, d, "column")):
        if not ((places >= 1) & (places <= side) & (places == np.floor(places))).all():
            raise ValueError(f"an entry is in a {words} that does not exist")
    i, j = rows.astype(np.int64) - 1, columns.astype(np.int64) - 1
    values = table[:, 2].copy() if head.n_values else np.ones(entries)
    if head.symmetry != "general":
        mirrored = i != j
        sign = -1.0 if head.symmetry == "skew-symmetric" else 1.0
        values = np.concatenate([values, sign * values[mirrored]])
        i, j = np.concatenate([i, j[mirrored]]), np.concatenate([j, i[mirrored]])
        if n != d:
            raise ValueError("a matrix that is not square cannot be symmetric")
    return sparse.coo_array((values, (i, j)), shape=(n, d))


def _joined(blocks: Iterator[NDArray[np.float64]]) -> NDArray[np.float64]:
    return np.concatenate([np.empty(0), *blocks])
