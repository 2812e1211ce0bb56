"""The zip archive: written whole or not at all; read with a sentence for every damage."""

import contextlib
import hashlib
import io
import json
import math
import re
import time
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from bhmc._io.archive.entries import CHUNK, Entry
from bhmc._io.archive.errors import FileFormatError, in_a_sentence
from bhmc._io.atomic_write import atomic_file
from bhmc._validation.plain_files import FREE_BYTES, TooLargeError, check_bytes, irregular

HEADER = "header.json"

# Types that an array may have, as NumPy writes them: no objects, no fields.
_TYPE = re.compile(r"[<>|][biufcUSmM][0-9]{1,9}(\[[0-9]*[A-Za-z]{1,2}\])?")

# A model has as many bytes in memory; the writer deflates no more than readers take.
_TIMES, _FREE_DEFLATED = 4, 48 * 2**20

# The text of a header, and lists and dicts in it, which take 64 bytes or more for one letter.
_TIMES_TEXT, _FREE_TEXT, _LONGEST_DEFLATED_TEXT = 16, 2**24, 2**22
_BYTES_OF_LIST, _FREE_LISTS = 64, 2**25

# What stands before the digest in the comment at the end of the archive.
_DIGEST = b"sha256:"

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
    digest, claimed, deflated = hashlib.sha256(text), 0, 0
    now = time.gmtime()[:6]
    with atomic_file(path, kept) as file, zipfile.ZipFile(file, "w") as archive:
        info = zipfile.ZipInfo(HEADER, now)
        if len(text) <= _LONGEST_DEFLATED_TEXT:
            info.compress_type = zipfile.ZIP_DEFLATED
        archive.writestr(info, text)
        for name, entry in entries.items():
            info = zipfile.ZipInfo(name, now)
            info.file_size = entry.n_bytes  # lets the archive know of more than 4 GB in advance
            most = max(_FREE_DEFLATED, _TIMES * deflated)  # or readers would take it for forged
            is_deflated = claimed + entry.n_bytes <= most and _shrinks(entry)
            if is_deflated:
                info.compress_type = zipfile.ZIP_DEFLATED
            with archive.open(info, "w") as member:
                for chunk in entry.chunks():
                    member.write(chunk)
                    digest.update(chunk)
            if is_deflated:
                claimed, deflated = claimed + entry.n_bytes, deflated + info.compress_size
        archive.comment = digest_comment(digest)


def digest_comment(digest: Any) -> bytes:
    """What stands at the end of the archive.

    Parameters
    ----------
    digest : hash object
        Of the text of the header and of all entries in its order.
    """
    return _DIGEST + digest.hexdigest().encode("ascii")


@contextlib.contextmanager
def opened(path: Path) -> Iterator["Archive"]:
    """The archive, for reading. What goes wrong in it is raised as FileFormatError."""
    if not path.exists():
        raise FileNotFoundError(f"there is no file {str(path)!r}.")
    if path.is_dir():
        raise IsADirectoryError(f"{str(path)!r} is a directory, not a file.")
    other = irregular(path)
    if other is not None:
        raise FileFormatError(f"it is {other}, not a file.")
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
        self._archive, self.n_bytes = archive, n_bytes
        self._names = _checked_names(archive.namelist())
        self._digest = hashlib.sha256()

    def header(self) -> Any:
        """The JSON of the header."""
        if HEADER not in self._names:
            raise FileFormatError("it is a zip archive, but not a bhmc file.")
        info = self._checked(HEADER)
        _check_bytes(info.file_size, self.n_bytes, _TIMES_TEXT, _FREE_TEXT)
        text = self._archive.read(info)
        lists = text.count(b"[") + text.count(b"{")
        _check_bytes(_BYTES_OF_LIST * lists, self.n_bytes, _TIMES_TEXT, _FREE_LISTS)
        self._digest.update(text)
        try:
            return json.loads(text, object_pairs_hook=_without_twins, parse_constant=_no_constant)
        except FileFormatError:
            raise
        except (ValueError, RecursionError):
            raise FileFormatError("it is not a bhmc file: its header is no JSON.") from None

    def check_total(self, names: Iterable[str]) -> None:
        """Refuse entries that take more memory together than the file explains.

        Parameters
        ----------
        names : iterable of str
            Which entries.
        """
        total = sum(self._checked(name).file_size for name in names if name in self._names)
        _check_bytes(total, self.n_bytes, _TIMES)

    def check_digest(self, kind: Any) -> None:
        """Compare the digest of what was read with that of what was written.

        Parameters
        ----------
        kind : object
            What the header says of it; None in older files, which have none.
        """
        if kind is None:
            return
        if kind != "sha256":
            raise FileFormatError(f"its digest is of kind {kind!r}: upgrade bhmc.")
        if self._archive.comment != digest_comment(self._digest):
            raise FileFormatError(
                "it is damaged: its contents are not those that its digest was made of."
            )

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
            self._digest.update(head)
            _fill(array, member, self._digest)  # with its last byte the checksum is compared
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
        if info.compress_size > self.n_bytes or info.file_size > most:
            raise FileFormatError(f"it is damaged: {name!r} in it cannot be as long as it says.")
        return info


def _checked_names(names: list[str]) -> set[str]:
    """Refuse entries that a program which unpacks them would confuse, or put elsewhere."""
    for name in names:
        parts = re.split(r"[/\\\\]", name)
        if ".." in parts or parts[0] == "" or "\\" in name or ":" in name or "\0" in name:
            raise FileFormatError(f"the name {name!r} in it leads out of the archive.")
    if len(set(names)) < len(names):
        raise FileFormatError("two entries in it have one name.")
    return set(names)


def _check_bytes(needed: int, size: int, times: int, free: int = FREE_BYTES) -> None:
    try:
        check_bytes(needed, size, times, free)
    except TooLargeError as error:
        raise FileFormatError(f"{error}.") from None


def _without_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object none of whose keys is there twice: readers would differ in which counts."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise FileFormatError("its header has a key twice.")
    return found


def _no_constant(name: str) -> Any:
    raise FileFormatError(f"its header has {name}, which is no JSON.")


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


def _fill(array: NDArray, member: Any, digest: Any) -> None:
    """The bytes of the array, a chunk at a time: read in one go they would be there twice."""
    if array.nbytes == 0:
        return
    flat = array.reshape(-1, order="A").view(np.uint8)
    for first in range(0, len(flat), CHUNK):
        part = flat[first : first + CHUNK]
        data = _read_exactly(member, len(part))
        digest.update(data)
        part[:] = np.frombuffer(data, np.uint8)


def _shrinks(entry: Entry) -> bool:
    sample = bytearray()
    for chunk in entry.chunks():
        sample += bytes(chunk[: _SAMPLE - len(sample)])
        if len(sample) >= _SAMPLE:
            break
    return len(zlib.compress(sample, 1)) < len(sample) / 2
