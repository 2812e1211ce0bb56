"""The one way to write a file for good: the old file or the new one, never half of one."""

import contextlib
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

_ENDING = ".tmp"


@contextlib.contextmanager
def atomic_path(path: Path) -> Iterator[Path]:
    """A path beside `path` to write to; at the end the file there takes the place of `path`.

    The file and its folder are on the disk by then. After an error nothing has changed.
    """
    target = Path(os.path.realpath(path))  # a link goes on being one
    if not target.parent.is_dir():
        raise FileNotFoundError(f"there is no directory {str(target.parent)!r} to save a file in.")
    if target.is_dir():
        raise IsADirectoryError(f"{str(path)!r} is a directory, not a file to save in.")
    beside = target.with_name(f".{target.name[:100]}.{secrets.token_hex(4)}{_ENDING}")
    try:
        yield beside
        _sync(beside, os.O_RDWR)
        os.replace(beside, target)
    except BaseException:
        with contextlib.suppress(OSError):  # the first error is the one to hear of
            beside.unlink(missing_ok=True)
        raise
    with contextlib.suppress(OSError):  # some systems do not let a directory be opened
        _sync(target.parent, os.O_RDONLY)


@contextlib.contextmanager
def atomic_file(path: Path) -> Iterator[BinaryIO]:
    """An open file that takes the place of `path` at the end, as in `atomic_path`."""
    with atomic_path(path) as beside, beside.open("xb") as file:
        yield file


def write_atomically(path: Path, content: str | bytes) -> None:
    """Put text (as UTF-8, with the line ends it has) or bytes in the place of `path`."""
    with atomic_file(path) as file:
        file.write(content.encode("utf-8") if isinstance(content, str) else content)


def leftovers(folder: Path) -> Iterator[Path]:
    """Files in `folder` that a process left behind when it was killed while writing."""
    return folder.glob(f".*{_ENDING}")


def _sync(path: Path, mode: int) -> None:
    """Have a file, or the names in a directory, survive a loss of power."""
    descriptor = os.open(path, mode)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
