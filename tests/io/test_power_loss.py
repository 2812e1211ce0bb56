"""The power fails at every moment of a write: what is read then is a whole file.

Every call that changes the disk is recorded. For each prefix of the calls the disk is built as it
may be after the loss: of names that changed since their folder was synced any part may be there,
and of a file that was not synced nothing, a beginning, or all.
"""

import itertools
import os
import warnings
from contextlib import contextmanager

import numpy as np
import pytest

from bhmc._estimator.checkpoint import Checkpoint, SavedChain
from bhmc._io import atomic_write
from bhmc._io.atomic_write import write_atomically
from bhmc.posterior.recorder import Recorder
from bhmc.posterior.retention import Plan


class Disk:
    """Files of one folder: what is on the disk for certain, and what may be."""

    def __init__(self, folder):
        self.folder = folder
        self.synced: dict[int, bytes] = {}
        """Contents of files, by inode."""
        self.names: dict[str, int] = {}
        """Names that are on the disk for certain."""
        self.changes: list[dict[str, int | None]] = []
        """Changes of names since; None: the name is gone."""
        self.seen: dict[str, int] = {}
        self.contents: dict[int, bytes] = {}
        self.found: set[frozenset] = set()
        self._look()
        self._all_is_synced()

    def _look(self):
        now = {entry.name: entry.inode() for entry in os.scandir(self.folder)}
        both = self.seen.keys() | now.keys()
        change = {n: now.get(n) for n in both if self.seen.get(n) != now.get(n)}
        self.seen = now
        self.contents |= {inode: (self.folder / name).read_bytes() for name, inode in now.items()}
        if change:
            self.changes.append(change)

    def _all_is_synced(self):
        self.names, self.changes = dict(self.seen), []
        self.synced = dict(self.contents)

    def after_call(self, synced=None):
        """What has changed; `synced` is the inode of a file, or 0 for the folder."""
        self._look()
        self._lose_power()
        if synced == 0:
            self.names, self.changes = dict(self.seen), []
        elif synced is not None:
            self.synced[synced] = self.contents[synced]
        self._lose_power()

    def _lose_power(self):
        for part in itertools.product([False, True], repeat=len(self.changes)):
            names = dict(self.names)
            for change in itertools.compress(self.changes, part):
                names |= {name: inode for name, inode in change.items() if inode is not None}
                for name in [name for name, inode in change.items() if inode is None]:
                    names.pop(name, None)
            choices = [
                [(name, left) for left in self._left(inode)] for name, inode in names.items()
            ]
            self.found |= {frozenset(files) for files in itertools.product(*choices)}

    def _left(self, inode):
        """What of a file may be left."""
        now = self.contents[inode]
        if self.synced.get(inode) == now:
            return [now]
        return {b"", now[: len(now) // 2], now, self.synced.get(inode, b"")}

    def clear(self):
        """Forget what might have been until now."""
        self._look()
        self.found = set()


@contextmanager
def recording(disk, monkeypatch, without=()):
    """Record every call that changes the disk; a mutant leaves out those in `without`."""
    fsync = os.fsync

    def sync(descriptor):
        found = os.fstat(descriptor)
        is_folder = os.path.isdir(f"/proc/self/fd/{descriptor}")
        disk.after_call()
        if ("folder" if is_folder else "file") not in without:
            fsync(descriptor)
            disk.after_call(0 if is_folder else found.st_ino)

    def heard(call):
        def calls(*given, **more):
            disk.after_call()
            call(*given, **more)
            disk.after_call()

        return calls

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", sync)
        for name in ("replace", "link", "unlink"):
            patch.setattr(os, name, heard(getattr(os, name)))
        yield


def every_state(disk, folder):
    """The disk in every state in which it may be, one after the other, in `folder`."""
    for files in disk.found:
        for file in folder.iterdir():
            file.unlink()
        for name, content in files:
            (folder / name).write_bytes(content)
        yield


def broken_states(tmp_path, monkeypatch, write, read, without=(), n_writes=4):
    """(States of the disk, those that gave the wrong write).

    While a write goes on it may be this one or the one before; once it is over, this one.
    """
    folder, copy = tmp_path / "disk", tmp_path / "copy"
    folder.mkdir()
    copy.mkdir()
    disk, n, broken = Disk(folder), 0, []
    for number in range(1, n_writes + 1):
        disk.clear()
        with recording(disk, monkeypatch, without):
            write(folder, number)
            states = [(disk.found, {number, number - 1})]
            disk.clear()
            disk._lose_power()
            states.append((disk.found, {number}))
        for disk.found, allowed in states:
            for _ in every_state(disk, copy):
                n += 1
                got = _got(read, copy)
                broken += [] if got in allowed else [(number, got)]
    return n, broken


def _got(read, folder):
    try:
        return read(folder)
    except Exception as error:
        return error


# ---- Text, as run.json is written ----


def write_text(folder, number):
    write_atomically(folder / "run.json", f"{number}" * 100)


def read_text(folder):
    file = folder / "run.json"
    text = file.read_text() if file.exists() else "0" * 100
    return int(text[0]) if len(text) == 100 else text


# ---- Chains ----


def saved_chain(folder):
    return SavedChain(folder / "chain", 0, {}, Plan())


def write_chain(folder, number):
    rng = np.random.default_rng(number)
    captured = {"theta": np.full(5, float(number))}
    saved_chain(folder).write(Checkpoint(captured, rng, Recorder(Plan()), number))


def read_chain(folder):
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # the newest is never damaged
        chain = saved_chain(folder).read()
    if chain is None:
        return 0
    assert (chain.captured["theta"] == chain.made).all()
    return chain.made


CASES = {"text": (write_text, read_text), "chain": (write_chain, read_chain)}


@pytest.mark.parametrize("case", CASES)
def test_one_whole_file_at_every_moment(case, tmp_path, monkeypatch):
    n, broken = broken_states(tmp_path, monkeypatch, *CASES[case])
    print(f"{case}: {n} states of the disk")
    assert n > 20
    assert broken == []


def test_the_same_where_a_file_has_one_name(tmp_path, monkeypatch):
    def refuse(*_, **__):
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(os, "link", refuse)
    n, broken = broken_states(tmp_path, monkeypatch, *CASES["chain"])
    assert n > 40
    assert broken == []


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("left_out", ["file", "folder"])
def test_neither_sync_may_be_left_out(case, left_out, tmp_path, monkeypatch):
    _, broken = broken_states(tmp_path, monkeypatch, *CASES[case], (left_out,), n_writes=2)
    assert broken


def test_the_file_before_may_not_be_renamed(tmp_path, monkeypatch):
    """A mutant: then there is a moment without a file."""

    def rename(target, kept):
        if target.exists():
            os.replace(target, kept)

    monkeypatch.setattr(atomic_write, "_keep", rename)
    assert broken_states(tmp_path, monkeypatch, *CASES["chain"], n_writes=2)[1]
