"""The one way to write a file for good: the old file or the new one, never half of one.

What is no file (a device, a pipe, standard output) is written into and stays what it is.
"""

import contextlib
import os
import secrets
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from bhmc._io.leftovers import name_beside, writing

# After the name of a file: the file that was there before, where it is kept.
EARLIER = ".before"


@contextlib.contextmanager
def atomic_path(path: Path, kept: Path | None = None) -> Iterator[Path]:
    """A path beside `path` to write to; at the end the file there takes the place of `path`.

    The file and its folder are on the disk by then. After an error nothing has changed. Where
    `path` names a device or a pipe, all that was written goes into it at the end.

    Parameters
    ----------
    path : Path
        What to write. A link goes on being one.
    kept : Path, optional
        Another name, under which the file that was at `path` stays.
    """
    if is_stream(path):
        with _gathered(path) as part:
            yield part
        return
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise FileNotFoundError(f"there is no directory {str(target.parent)!r} to save a file in.")
    if target.is_dir():
        raise IsADirectoryError(f"{str(path)!r} is a directory, not a file to save in.")
    with _beside(target) as part:
        yield part
        _sync(part, os.O_RDWR)
        if kept is not None:
            _keep(target, kept)
        os.replace(part, target)
    with contextlib.suppress(OSError):  # some systems do not let a directory be opened
        _sync(target.parent, os.O_RDONLY)


@contextlib.contextmanager
def atomic_file(path: Path, kept: Path | None = None) -> Iterator[BinaryIO]:
    """An open file that takes the place of `path` at the end, as in `atomic_path`."""
    try:
        with atomic_path(path, kept) as part, part.open("xb") as file:
            yield file
    except OSError as error:  # of a full disk the system does not say which file it was
        if error.errno is not None and error.filename is None:
            error.filename = str(path)
        raise


def write_atomically(path: Path, content: str | bytes) -> None:
    """Put text (as UTF-8, with the line ends it has) or bytes in the place of `path`."""
    with atomic_file(path) as file:
        file.write(content.encode("utf-8") if isinstance(content, str) else content)


def is_stream(path: Path) -> bool:
    """Whether a path names a device, a pipe or standard output: nothing that can be replaced."""
    try:
        found = os.stat(path)
    except OSError:  # nothing is there
        return False
    if stat.S_ISREG(found.st_mode):
        return _standard_stream(found) is not None
    return not stat.S_ISDIR(found.st_mode)


@contextlib.contextmanager
def _beside(target: Path) -> Iterator[Path]:
    """A path in the same folder, whose file is gone at the end unless it was renamed."""
    part = target.with_name(name_beside(target.name))
    try:
        with writing(part):
            yield part
    except BaseException:
        with contextlib.suppress(OSError):  # the first error is the one to hear of
            part.unlink(missing_ok=True)
        raise


def _keep(target: Path, kept: Path) -> None:
    """Give the file at `target` another name, too. At every moment there is a file at `target`."""
    if not target.exists():
        kept.unlink(missing_ok=True)  # it is of something earlier, which has been removed
        return
    if kept.exists() and kept.samefile(target):  # a write was killed at this point
        return
    with _beside(kept) as part:
        try:
            os.link(target, part)
        except OSError:  # some file systems have one name for each file
            shutil.copyfile(target, part)
            _sync(part, os.O_RDWR)
        os.replace(part, kept)


@contextlib.contextmanager
def _gathered(path: Path) -> Iterator[Path]:
    """A path to write to; all of it goes into the stream `path` at the end."""
    with tempfile.TemporaryDirectory(prefix="bhmc-") as folder:
        part = Path(folder) / f"{secrets.token_hex(4)}.tmp"
        yield part
        with part.open("rb") as whole, _opened(path) as stream:
            shutil.copyfileobj(whole, stream)


def _opened(path: Path) -> BinaryIO:
    """A stream to write into. Standard output is not opened again: it would begin at its start."""
    stream = _standard_stream(os.stat(path))
    if stream is None:
        return open(os.open(path, os.O_WRONLY | getattr(os, "O_BINARY", 0)), "wb")
    for text in (sys.stdout, sys.stderr):  # what was printed comes first
        with contextlib.suppress(AttributeError, ValueError):
            text.flush()
    return open(os.dup(stream), "wb")


def _standard_stream(found: os.stat_result) -> int | None:
    """The number of the standard stream that this is: output, errors or neither."""
    for number in (1, 2):
        with contextlib.suppress(OSError):
            if os.path.samestat(found, os.fstat(number)):
                return number
    return None


def _sync(path: Path, mode: int) -> None:
    """Have a file, or the names in a directory, survive a loss of power."""
    descriptor = os.open(path, mode)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
