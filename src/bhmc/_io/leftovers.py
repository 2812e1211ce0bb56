"""What a process leaves behind when it is killed while writing: which files these are.

A file that is being written has a name of its own, which says who writes it. So what somebody else
is writing at the same moment is told apart from what nobody will ever finish.
"""

import contextlib
import functools
import glob
import os
import re
import secrets
import socket
import time
import zlib
from collections.abc import Iterator
from pathlib import Path

_ENDING = ".tmp"

# Bytes of a name that the name beside it begins with: a name may have 255 in all.
_LONGEST = 100

_WRITER = re.compile(r"\.([0-9a-f]{8})-([0-9]+)-[0-9a-f]{8}\.tmp")

# Seconds after which nobody is still at work on a file whose writer cannot be asked.
_OLD = 86_400.0

# What threads of this process are writing.
_OURS: set[str] = set()


def name_beside(name: str) -> str:
    """A new name, hidden, for a file that is to be called `name` when it is whole."""
    writer = f"{_machine()}-{os.getpid()}-{secrets.token_hex(4)}"
    return f".{_beginning(name)}.{writer}{_ENDING}"


@contextlib.contextmanager
def writing(part: Path) -> Iterator[None]:
    """While this process writes a file of such a name, it is no leftover."""
    _OURS.add(part.name)
    try:
        yield
    finally:
        _OURS.discard(part.name)


def leftovers(folder: Path, name: str | None = None) -> Iterator[Path]:
    """Files in `folder` that nobody is writing any more.

    Parameters
    ----------
    folder : Path
        Where to look.
    name : str, optional
        Only what was to be called so; by default everything.
    """
    beginning = "" if name is None else f"{glob.escape(_beginning(name))}."
    for part in folder.glob(f".{beginning}*{_ENDING}"):
        if not _is_being_written(part):
            yield part


def remove_leftovers(folder: Path, name: str | None = None) -> None:
    """Remove them, as far as the system lets us; parameters as in `leftovers`."""
    with contextlib.suppress(OSError):
        for part in leftovers(folder, name):
            with contextlib.suppress(OSError):
                part.unlink(missing_ok=True)


def _is_being_written(part: Path) -> bool:
    """Whether the writer of a file is alive; where we cannot know, whether the file is new."""
    writer = _WRITER.search(part.name)
    if writer is not None and writer[1] == _machine() and os.name != "nt":
        number = int(writer[2])
        if number == os.getpid():  # numbers come again: an earlier process may have had ours
            return part.name in _OURS
        return is_alive(number)
    with contextlib.suppress(OSError):
        return time.time() - part.stat().st_mtime < _OLD
    return False


def is_alive(process: int) -> bool:
    """Whether a process of this number runs on this machine."""
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:  # it runs, and is another user's
        return True
    return True


def _beginning(name: str) -> str:
    return os.fsdecode(os.fsencode(name)[:_LONGEST])


@functools.cache
def _machine() -> str:
    """Where numbers of processes mean the same: a host, and in it a container."""
    inside = ""
    with contextlib.suppress(OSError):
        inside = os.readlink("/proc/self/ns/pid")
    return f"{zlib.crc32(f'{socket.gethostname()} {inside}'.encode()):08x}"
