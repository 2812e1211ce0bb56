"""Files from which chains resume: one for each chain, so that other processes save too."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bhmc._io.digest import digest_of_data
from bhmc.model.state import State
from bhmc.posterior.recorder import Recorder
from bhmc.posterior.retention import Plan

# Settings that may differ between a fit and the fit that resumes it.
_FREE = {
    "n_draws",
    "n_chains",
    "n_jobs",
    "n_clusters",
    "max_seconds",
    "progress",
    "checkpoint",
}

# What settings that older files do not name stood for.
_BEFORE = {"moves": repr(())}


class Checkpoint(NamedTuple):
    """A chain between two sweeps."""

    captured: dict[str, Any] | State | None
    """What `Sampler.capture` returned; in files of format 1 a state; None before the start."""
    rng: np.random.Generator
    recorder: Recorder
    made: int
    """Sweeps made so far."""


class SavedChain:
    """The file of one chain, and the fit that it must belong to."""

    def __init__(self, path: str | os.PathLike, number: int, fit: dict[str, str], plan: Plan):
        self._path, self._fit, self._plan = Path(f"{os.fspath(path)}.{number}"), fit, plan

    def read(self) -> Checkpoint | None:
        """Where the chain was; None if it was never saved."""
        if not self._path.exists():
            return None
        from bhmc._io.archive import read  # imports every family

        values = read(self._path, "checkpoint")
        self._check_same_fit(values["fit"])
        return Checkpoint(
            captured=values["captured"],
            rng=values["rng"],
            recorder=Recorder.from_contents(values["recorder"], self._plan),
            made=values["made"],
        )

    def write(self, now: Checkpoint) -> None:
        """Save the chain in an atomic write."""
        from bhmc._io.archive import write

        values = now._asdict() | {"fit": self._fit, "recorder": now.recorder.contents()}
        write(self._path, "checkpoint", values)

    def _check_same_fit(self, theirs: dict[str, str]) -> None:
        theirs = {name: value for name, value in _BEFORE.items() if name in self._fit} | theirs
        for name in sorted(self._fit.keys() | theirs.keys()):
            ours, saved = self._fit.get(name), theirs.get(name)
            if ours == saved:
                continue
            what = "to other data" if name == "data" else f"with {name}={saved}, now {name}={ours}"
            raise ValueError(
                f"{str(self._path)!r} was saved by a fit {what}: resume with the same settings and "
                f"data, or name another checkpoint."
            )


def check_checkpoint(path: Any) -> None:
    """Refuse a path where no file can be written, before chains run for hours."""
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"checkpoint must be a path, got {path!r}.")
    folder = Path(f"{os.fspath(path)}.0").parent
    if not folder.is_dir():
        raise FileNotFoundError(
            f"checkpoint={os.fspath(path)!r} names files in a directory that does not exist."
        )
    if not os.access(folder, os.W_OK):
        raise PermissionError(f"checkpoint={os.fspath(path)!r} names files that cannot be written.")


def describe_fit(parameters: dict[str, Any], X) -> dict[str, str]:
    """What must be equal for a chain to resume: settings, as text, and a digest of the data."""
    fit = {name: _text(value) for name, value in parameters.items() if name not in _FREE}
    if not isinstance(parameters["random_state"], int | np.integer):
        del fit["random_state"]  # a seed that nobody named
    return fit | {"data": digest_of_data(X)}


def _text(value: Any) -> str:
    if hasattr(value, "samplers") and value == type(value)():
        value = value.name  # a transition without settings is what its name stands for
    return digest_of_data(value) if isinstance(value, np.ndarray | list) else repr(value)
