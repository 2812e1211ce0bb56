"""The zip archive: written whole or not at all; read with a sentence for every damage."""

import contextlib
import io
import json
import math
import re
import time
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from bhmc._io.archive.entries import CHUNK, Entry
from bhmc._io.archive.errors import FileFormatError, in_a_sentence
from bhmc._io.atomic_write import atomic_file

HEADER = "header.json"

# Types that an array may have, as NumPy writes them: no objects, no fields.
_TYPE = re.compile(r"[<>|][biufcUSmM][0-9]{1,9}(\[[0-9]*[A-Za-z]{1,2}\])?")

# Deflate shrinks nothing to less than this share of it: a larger claim is a damage or an attack.
_LEAST_SHARE = 1 / 1032

# An entry is deflated where its beginning shrinks to half: labels do, most numbers do not.
_SAMPLE = 1 << 16

_ZIP_BEGINNING = b"PK\x03\x04"


def write_archive(
    path: Path, header: dict[str, Any], entries: dict[str, Entry], kept: Path | None = None
) -> None:
    """Header and entries under `path`, or what was there before, whatever happens meanwhile."""
    text = json.dumps(header, allow_nan=False).encode("ascii")
    now = time.gmtime()[:6]
    with atomic_file(path, kept) as file, zipfile.ZipFile(file, "w") as archive:
        info = zipfile.ZipInfo(HEADER, now)
        info.compress_type = zipfile.ZIP_DEFLATED
        archive.writestr(info, text)
        for name, entry in entries.items():
            info = zipfile.ZipInfo(name, now)
            info.file_size = entry.n_bytes  # lets the archive know of more than 4 GB in advance
            if _shrinks(entry):
                info.compress_type = zipfile.ZIP_DEFLATED
            with archive.open(info, "w") as member:
                for chunk in entry.chunks():
                    member.write(chunk)


@contextlib.contextmanager
def opened(path: Path) -> Iterator["Archive"]:
    """The archive, for reading. What goes wrong in it is raised as FileFormatError."""
    if not path.exists():
        raise FileNotFoundError(f"there is no file {str(path)!r}.")
    if path.is_dir():
        raise IsADirectoryError(f"{str(path)!r} is a directory, not a file.")
    with path.open("rb") as file:
        beginning = file.read(len(_ZIP_BEGINNING))
        if beginning != _ZIP_BEGINNING:
            raise FileFormatError("it is empty." if not beginning else "it is not a bhmc file.")
        if not zipfile.is_zipfile(file):
            raise FileFormatError("its end is missing: it was not written or copied whole.")
        # zipfile and zlib raise a dozen kinds of errors for bytes that are not as written.
        with in_a_sentence("it is damaged"), zipfile.ZipFile(file) as archive:
            yield Archive(archive, path.stat().st_size)


class Archive:
    """An open zip archive, read with mistrust: sizes are checked before memory is asked for."""

    def __init__(self, archive: zipfile.ZipFile, n_bytes: int):
        self._archive, self._n_bytes = archive, n_bytes
        self._names = set(archive.namelist())

    def header(self) -> Any:
        """The JSON of the header."""
        if HEADER not in self._names:
            raise FileFormatError("it is a zip archive, but not a bhmc file.")
        text = self._archive.read(self._checked(HEADER))
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            raise FileFormatError("it is not a bhmc file: its header is no JSON.") from None

    def array(self, name: str, described: Any) -> NDArray:
        """The array of an entry, if it is as the header describes it; read into its own memory."""
        dtype, shape, fortran = _description(name, described)
        if name not in self._names:
            raise FileFormatError(f"the array {name!r} is missing.")
        info = self._checked(name)
        n_head = info.file_size - math.prod(shape) * dtype.itemsize
        if not 10 <= n_head <= 1 << 16:
            raise _other_array(name, (shape, fortran, dtype), None)
        array = np.empty(shape, dtype, order="F" if fortran else "C")
        with self._archive.open(info) as member:
            head = _read_exactly(member, n_head)
            _fill(array, member)  # with its last byte the checksum is compared
        _check_npy_header(name, head, (shape, fortran, dtype))
        return array

    def _checked(self, name: str) -> zipfile.ZipInfo:
        """What the archive says of an entry, if it can be true."""
        info = self._archive.getinfo(name)
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise FileFormatError(f"{name!r} in it is compressed in a way that bhmc does not use.")
        most = info.compress_size
        if info.compress_type == zipfile.ZIP_DEFLATED:
            most = most / _LEAST_SHARE + CHUNK
        if info.compress_size > self._n_bytes or info.file_size > most:
            raise FileFormatError(f"it is damaged: {name!r} in it cannot be as long as it says.")
        return info


def _description(name: str, described: Any) -> tuple[np.dtype, tuple[int, ...], bool]:
    """(type, shape, order) of an array by the header of the file."""
    try:
        text, shape = described["dtype"], described["shape"]
        plain = _TYPE.fullmatch(text) and all(type(n) is int and n >= 0 for n in shape)
        if plain and type(described["fortran_order"]) is bool:
            return np.dtype(text), tuple(shape), described["fortran_order"]
    except (TypeError, KeyError):
        pass
    raise FileFormatError(f"the array {name!r} has a description that cannot be read: {described}.")


def _check_npy_header(name: str, head: bytes, wanted: tuple) -> None:
    """Only after the checksum, so that NumPy never parses what is not as written."""
    stream = io.BytesIO(head)
    readers = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
    try:
        found = readers[npy.read_magic(stream)](stream)
    except (ValueError, KeyError):
        raise _other_array(name, wanted, None) from None
    if found != wanted or stream.read(1):
        raise _other_array(name, wanted, found)


def _other_array(name: str, wanted: tuple, found: tuple | None) -> FileFormatError:
    instead = "is " + _shape_words(found) if found else "its entry holds something else"
    return FileFormatError(f"the array {name!r} should be {_shape_words(wanted)}, but {instead}.")


def _shape_words(found: tuple) -> str:
    shape, fortran, dtype = found
    return f"{dtype} of shape {shape}" + (" by columns" if fortran else "")


def _read_exactly(member: Any, count: int) -> bytes:
    data = member.read(count)
    if len(data) != count:
        raise EOFError("an entry is too short")
    return data


def _fill(array: NDArray, member: Any) -> None:
    """The bytes of the array, a chunk at a time: read in one go they would be there twice."""
    if array.nbytes == 0:
        return
    flat = array.reshape(-1, order="A").view(np.uint8)
    for first in range(0, len(flat), CHUNK):
        part = flat[first : first + CHUNK]
        part[:] = np.frombuffer(_read_exactly(member, len(part)), np.uint8)


def _shrinks(entry: Entry) -> bool:
    sample = bytearray()
    for chunk in entry.chunks():
        sample += bytes(chunk[: _SAMPLE - len(sample)])
        if len(sample) >= _SAMPLE:
            break
    return len(zlib.compress(sample, 1)) < len(sample) / 2
