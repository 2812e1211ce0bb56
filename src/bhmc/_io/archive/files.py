"""The header of a file: what it holds, who wrote it, in which version of the format."""

import contextlib
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from numpy.typing import NDArray

from bhmc._io.archive.archive import Archive, opened, write_archive
from bhmc._io.archive.decoding import decode
from bhmc._io.archive.encoding import encode
from bhmc._io.archive.errors import FileFormatError, in_a_sentence
from bhmc._io.archive.upgrades import STEPS, upgraded_fields, upgraded_value
from bhmc._io.versions import versions
from bhmc._version import __version__
from bhmc.posterior.draws import Draws
from bhmc.tree import Tree

FORMAT = "bhmc"
FORMAT_VERSION = 3

# What a file may hold, and what its value must be.
_KINDS: dict[str, type] = {"model": dict, "draws": Draws, "tree": Tree, "checkpoint": object}
_IN_WORDS = {"model": "a model", "draws": "draws", "tree": "a tree", "checkpoint": "a checkpoint"}

# A longer sentence about a file is cut.
_MOST_LETTERS = 300


class Contents(NamedTuple):
    """What a file holds before it is decoded."""

    version: int
    """Version of the format."""
    kind: str
    value: Any
    """The JSON tree of the header."""
    arrays: dict[str, NDArray]
    n_bytes: int
    """Length of the file."""


def write(path: str | os.PathLike, kind: str, value: Any, kept: Path | None = None) -> None:
    """Save a value in one file, whole or not at all.

    Parameters
    ----------
    path : str or path
        A file there is replaced in one step once the new one is on the disk.
    kind : {"model", "draws", "tree", "checkpoint"}
        What the file is for; `read` can ask for it.
    value : object
        None, truths, numbers, text, lists, tuples, dicts, NumPy arrays and numbers, random
        generators, and the objects of bhmc. TypeError for anything else, before a file is made.
    kept : path, optional
        Another name, under which the file that was at `path` stays.
    """
    if not isinstance(value, _KINDS[kind]):
        wanted, found = _KINDS[kind].__name__, type(value).__name__
        raise TypeError(f"a file of kind {kind!r} holds a {wanted}, got a {found}.")
    tree, entries = encode(value)
    libraries = versions()
    header = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "kind": kind,
        "bhmc": libraries.pop("bhmc"),
        "libraries": libraries,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "digest": "sha256",
        "value": tree,
        "arrays": {name: entry.described for name, entry in entries.items()},
    }
    write_archive(Path(path), header, entries, kept)


def read(path: str | os.PathLike, kind: str | None = None) -> Any:
    """The value in a file, of this kind where one is asked for.

    FileFormatError, a ValueError, says what is wrong with the file. Nothing in it is executed.

    Parameters
    ----------
    path : str or path
        The file.
    kind : {"model", "draws", "tree", "checkpoint"}, optional
        What the file must be for.
    """
    try:
        with opened(Path(path)) as archive:
            contents = _contents(archive, kind)
        value = _decoded(contents)
        if not isinstance(value, _KINDS[contents.kind]):
            raise FileFormatError(
                f"it says that it holds {_IN_WORDS[contents.kind]}, and it does not."
            )
        return value
    except FileFormatError as error:
        words = str(error)
        if len(words) > _MOST_LETTERS:  # some quote what they found in the file
            words = words[:_MOST_LETTERS] + " ..."
        raise FileFormatError(f"{os.fspath(path)!r} cannot be read: {words}") from error.__cause__


def _contents(archive: Archive, kind: str | None) -> Contents:
    header = archive.header()
    version = _checked_version(header)
    found, described = header.get("kind"), header.get("arrays")
    if found not in _KINDS or not isinstance(described, dict) or "value" not in header:
        raise FileFormatError("its header lacks its kind, its value or its arrays.")
    if kind is not None and found != kind:
        raise FileFormatError(f"it holds {_IN_WORDS[found]}, not {_IN_WORDS[kind]}.")
    archive.check_total(described)
    arrays = {name: archive.array(name, described[name]) for name in described}
    archive.check_digest(header.get("digest"))
    return Contents(version, found, header["value"], arrays, archive.n_bytes)


def _checked_version(header: Any) -> int:
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise FileFormatError("it is a zip archive, but not a bhmc file.")
    version, writer = header.get("format_version"), header.get("bhmc")
    if type(version) is not int:
        raise FileFormatError("its header does not say in which version of the format it is.")
    if version > FORMAT_VERSION:
        raise FileFormatError(
            f"it was written by bhmc {writer} in format {version}, and this is bhmc {__version__}, "
            f"which reads format {FORMAT_VERSION}: upgrade bhmc."
        )
    if any(step not in STEPS for step in range(version, FORMAT_VERSION)):
        raise FileFormatError(
            f"it was written by bhmc {writer} in format {version}, which bhmc {__version__} no "
            f"longer reads: load and save it again with a bhmc between the two."
        )
    return version


def _decoded(contents: Contents) -> Any:
    """The value, its objects and itself brought to the newest format."""
    version = contents.version

    def upgraded(name: str, fields: dict[str, Any]) -> dict[str, Any]:
        with _of_format(version):
            return upgraded_fields(version, FORMAT_VERSION, name, fields)

    value = decode(contents.value, contents.arrays, upgraded, contents.n_bytes)
    with _of_format(version):
        return upgraded_value(version, FORMAT_VERSION, contents.kind, value)


def _of_format(version: int) -> contextlib.AbstractContextManager[None]:
    return in_a_sentence(f"it is not as files of format {version} are")
