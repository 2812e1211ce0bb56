"""Faults of a disk in the middle of a fit, and what ends with them."""

import shutil
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bhmc._estimator import chain_run
from tests import disks


def save_every_sweep(monkeypatch) -> None:
    """Chains are saved as often as a person asks, however long that takes."""
    monkeypatch.setattr(chain_run, "_SHARE_OF_CHECKPOINTS", float("inf"))


def at_sweep(monkeypatch, sweep: int, act: Callable[[], Any], number: int = 0) -> None:
    """Do something after so many sweeps of a chain, before it is saved."""
    on_sweep = chain_run._Run._on_sweep

    def acting(self, chain, made):
        if made == sweep and self._watch.number == number:
            act()
        return on_sweep(self, chain, made)

    monkeypatch.setattr(chain_run._Run, "_on_sweep", acting)


@contextmanager
def full(folder: Path, enter, n_bytes: int):
    """The disk is full, with what another program writes."""
    ballast = []
    yield lambda: ballast.append(disks.fill(folder))
    ballast[0].unlink()


@contextmanager
def removed(folder: Path, enter, n_bytes: int):
    """The folder is moved away, and comes back."""
    away = folder.with_name("away")
    yield lambda: (shutil.copytree(folder, away), shutil.rmtree(folder))
    shutil.move(away, folder)


@contextmanager
def read_only(folder: Path, enter, n_bytes: int):
    """Nothing in the folder can be changed."""
    yield lambda: enter(disks.frozen(folder))


@contextmanager
def limited(folder: Path, enter, n_bytes: int):
    """Files may have so many bytes."""
    yield lambda: enter(disks.files_of_at_most(n_bytes))


FAULTS = {
    full: "No space left on device",
    removed: "there is no directory",
    read_only: "Operation not permitted",
    limited: "File too large",
}
"""What begins at a call and ends with the context, and what the system says of it."""
