"""Disks that are full, folders that cannot be written to and devices, all made for a test.

They need rights that not everybody has: where they cannot be made, the test is skipped.
"""

import contextlib
import os
import resource
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest


def full_device(folder: Path, name: str = "full") -> Path:
    """A device of the test's own that takes nothing, as `/dev/full` does."""
    path = folder / name
    try:
        os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 7))
        os.close(os.open(path, os.O_WRONLY))
    except OSError as error:
        pytest.skip(f"NOT TESTED: no device can be made here ({error}).")
    return path


@contextlib.contextmanager
def small_disk(folder: Path, kilobytes: int) -> Iterator[Path]:
    """A disk in memory that is as large as that, at `folder`."""
    folder.mkdir(exist_ok=True)
    _run_or_skip("mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", str(folder))
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def fill(disk: Path) -> Path:
    """A file that takes all that is left of a disk."""
    path = disk / "ballast"
    with path.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        for size in (4096, 1):
            while file.write(b"\0" * size) == size:
                pass
    return path


@contextlib.contextmanager
def frozen(folder: Path) -> Iterator[None]:
    """Nothing can be made, renamed or removed in the folder, not even by root."""
    _run_or_skip("chattr", "+i", str(folder))
    try:
        yield
    finally:
        subprocess.run(["chattr", "-i", str(folder)], check=True)


@contextlib.contextmanager
def files_of_at_most(n_bytes: int) -> Iterator[None]:
    """No file of this process grows beyond so many bytes."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def _run_or_skip(*command: str) -> None:
    try:
        subprocess.run(command, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"NOT TESTED: {command[0]} is not allowed here ({error}).")
