"""Files from which chains resume: one for each chain, so that other processes save too."""

from __future__ import annotations

import os
from collections.abc import Mapping
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
    "warm_start",
    "progress",
    "checkpoint",
}

# What settings that older files do not name stood for.
_BEFORE = {"moves": repr(()), "columns": repr(None)}


class Checkpoint(NamedTuple):
    """A chain between two sweeps."""

    captured: dict[str, Any] | State | None
    """What `Sampler.capture` returned; in files of format 1 a state; None before the start."""
    rng: np.random.Generator
    recorder: Recorder
    made: int
    """Sweeps made so far."""
    n_warmup: int | None = None
    """Sweeps before the window of the recorder's draws; None in older files: as in the settings."""
    thin: int | None = None
    """Sweeps from one of its draws to the next; None as for `n_warmup`."""
    following: Recorder | None = None
    """What was noted for the next round; None where none may follow."""

    def within(self, most_bytes: int) -> Checkpoint:
        """The same chain, with draws that take no more bytes; numbers of draws all stay.

        Parameters
        ----------
        most_bytes : int
            What partitions and whole draws may take.
        """
        if self.following is None:
            return self._replace(recorder=self.recorder.within(most_bytes))
        return self._replace(
            recorder=self.recorder.within(most_bytes // 2),
            following=self.following.within(most_bytes // 2),
        )

    @property
    def n_kept(self) -> int:
        """Partitions and whole draws that are kept."""
        both = [one for one in (self.recorder, self.following) if one is not None]
        return sum(len(one.partitions.things) + len(one.wholes.things) for one in both)


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
        before = {name: value for name, value in _BEFORE.items() if name in self._fit}
        fit = values.get("fit") if isinstance(values, dict) else None
        if not isinstance(fit, dict):
            raise ValueError(f"{str(self._path)!r} is no checkpoint of a chain: name another one.")
        said = _difference(self._fit, before | fit)
        if said:
            raise ValueError(
                f"{str(self._path)!r} was saved by a fit {said}: resume with the same settings and "
                f"data, or name another checkpoint."
            )
        try:
            return _checked(self._checkpoint(values))
        except (KeyError, TypeError, AttributeError, ValueError):
            raise ValueError(
                f"{str(self._path)!r} cannot be read: a part of its chain is missing or of another "
                f"kind; remove it, or name another checkpoint."
            ) from None

    def _checkpoint(self, values: dict[str, Any]) -> Checkpoint:
        return Checkpoint(
            captured=values["captured"],
            rng=values["rng"],
            recorder=Recorder.from_contents(values["recorder"], self._plan),
            made=values["made"],
            n_warmup=values.get("n_warmup"),
            thin=values.get("thin"),
            following=self._recorder(values.get("following")),
        )

    def _recorder(self, contents: dict[str, Any] | None) -> Recorder | None:
        return None if contents is None else Recorder.from_contents(contents, self._plan)

    def write(self, now: Checkpoint) -> None:
        """Save the chain in an atomic write."""
        from bhmc._io.archive import write

        following = None if now.following is None else now.following.contents()
        values = now._asdict() | {"fit": self._fit, "recorder": now.recorder.contents()}
        values["following"] = following
        write(self._path, "checkpoint", values)


def _checked(now: Checkpoint) -> Checkpoint:
    """Refuse numbers of sweeps that are none, and what is no generator."""
    wholes = (now.made, 0), (now.n_warmup, 0), (now.thin, 1)
    fits = all(n is None or (type(n) is int and n >= least) for n, least in wholes)
    if not fits or now.made is None or not isinstance(now.rng, np.random.Generator):
        raise TypeError
    return now


def check_same_fit(ours: dict[str, str], theirs: dict[str, str]) -> None:
    """Refuse to go on with the chains of an estimator's last fit under other settings or data.

    Parameters
    ----------
    ours, theirs : dict
        What `describe_fit` says of this fit and of the last one.
    """
    said = _difference(ours, theirs)
    if said:
        raise ValueError(
            f"warm_start=True goes on with the chains of the last fit, which was {said}: fit with "
            f"the same settings and data, or set warm_start=False."
        )


def _difference(ours: dict[str, str], theirs: dict[str, str]) -> str:
    """The first thing in which two fits differ, in words; nothing where they do not."""
    for name in sorted(ours.keys() | theirs.keys()):
        now, then = ours.get(name), theirs.get(name)
        if now != then:
            return "to other data" if name == "data" else f"with {name}={then}, now {name}={now}"
    return ""


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


def describe_fit(
    parameters: dict[str, Any], X, chosen: Mapping[str, str] | None = None
) -> dict[str, str]:
    """What must be equal for a chain to resume: settings, as text, and a digest of the data.

    Parameters
    ----------
    parameters : dict
        Of the estimator.
    X : array, sparse matrix or RowsElsewhere
        The data.
    chosen : mapping, optional
        What parameters that are "auto" stand for, by their names.
    """
    parameters = parameters | dict(chosen or {})
    fit = {name: _text(value) for name, value in parameters.items() if name not in _FREE}
    if not isinstance(parameters["random_state"], int | np.integer):
        del fit["random_state"]  # a seed that nobody named
    return fit | {"data": X.digest if hasattr(X, "digest") else digest_of_data(X)}


def _text(value: Any) -> str:
    if hasattr(value, "samplers") and value == type(value)():
        value = value.name  # a transition without settings is what its name stands for
    return digest_of_data(value) if isinstance(value, np.ndarray | list) else repr(value)
