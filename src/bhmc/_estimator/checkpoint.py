"""Files from which chains resume: one for each chain, so that other processes save too.

Beside each stays the one before. A chain goes on where a file cannot be written.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bhmc._io.atomic_write import EARLIER
from bhmc._io.digest import digest_of_data
from bhmc._io.leftovers import remove_leftovers
from bhmc._validation.errors import reason_of
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
    "checkpoint_interval",
}

# Seconds from one save of a chain to the next, unless a person says otherwise.
BETWEEN_CHECKPOINTS = 30.0

# What settings that older files do not name stood for.
_BEFORE = {"moves": repr(()), "columns": repr(None)}


class CheckpointWarning(UserWarning):
    """A chain could not be saved, or its newest file could not be read."""


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

    def __init__(
        self,
        path: str | os.PathLike,
        number: int,
        fit: dict[str, str],
        plan: Plan,
        interval: float = BETWEEN_CHECKPOINTS,
    ):
        self._path, self._fit, self._plan = Path(f"{os.fspath(path)}.{number}"), fit, plan
        self.interval = interval
        """Seconds from one save to the next, at least."""
        self._earlier = Path(f"{self._path}{EARLIER}")
        self._keeps_earlier = False
        self._said = ""

    def _tidy(self) -> None:
        """Remove what processes left behind that were killed while writing the file."""
        target = Path(os.path.realpath(self._path))
        remove_leftovers(target.parent, target.name)

    def read(self) -> Checkpoint | None:
        """Where the chain was; None if it was never saved.

        Where the file is damaged, it is where the chain was one save before.
        """
        from bhmc._io.archive import FileFormatError  # imports every family

        self._tidy()
        if not self._path.exists():
            return None
        try:
            return self._read(self._path)
        except FileFormatError as error:
            found = self._read_earlier()
            if found is None:
                raise
            said = f"{error} The chain goes on from the save before, {str(self._earlier)!r}."
            warnings.warn(said, CheckpointWarning, stacklevel=2)
            self._keeps_earlier = True
            return found

    def _read_earlier(self) -> Checkpoint | None:
        """Where the chain was one save before; None where that cannot be read either."""
        from bhmc._io.archive import FileFormatError

        try:
            return self._read(self._earlier)
        except (FileFormatError, FileNotFoundError):
            return None

    def _read(self, path: Path) -> Checkpoint:
        from bhmc._io.archive import read

        values = read(path, "checkpoint")
        before = {name: value for name, value in _BEFORE.items() if name in self._fit}
        fit = values.get("fit") if isinstance(values, dict) else None
        if not isinstance(fit, dict):
            raise ValueError(f"{str(self._path)!r} is no checkpoint of a chain: name another one.")
        said = _difference(self._fit, before | fit)
        if said:
            raise ValueError(
                f"{str(path)!r} was saved by a fit {said}: resume with the same settings and "
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
        """Save the chain in an atomic write; the file that was there before stays beside it."""
        from bhmc._io.archive import write

        following = None if now.following is None else now.following.contents()
        values = now._asdict() | {"fit": self._fit, "recorder": now.recorder.contents()}
        values["following"] = following
        kept = None if self._keeps_earlier else self._earlier  # a damaged file is not kept
        write(self._path, "checkpoint", values, kept)
        self._keeps_earlier = False

    def try_write(self, now: Checkpoint) -> str:
        """Save the chain; where that fails, warn and return why. Files of before are as they were.

        Parameters
        ----------
        now : Checkpoint
            The chain.
        """
        try:
            self.write(now)
        except OSError as error:
            cause = reason_of(error).rstrip(".")
            if cause != self._said:  # once: the next try is soon
                warnings.warn(
                    f"{str(self._path)!r} cannot be written: {cause}. The chain goes on, and is "
                    f"saved as soon as that is mended.",
                    CheckpointWarning,
                    stacklevel=2,
                )
            self._said = cause
            return cause
        self._said = ""
        return ""


def warn_of_unsaved(path: Any, causes: Sequence[str]) -> None:
    """Say at the end of a fit that chains are not in their files as they are now.

    Parameters
    ----------
    path : path or None
        What the files are called.
    causes : sequence of str
        For each chain why it could not be saved at last; "" where it was.
    """
    found = [(number, cause) for number, cause in enumerate(causes) if cause]
    if found:
        number, cause = found[0]
        warnings.warn(
            f"{len(found)} of {len(causes)} chains could not be saved at their end, such as "
            f"'{os.fspath(path)}.{number}': {cause}. This fit is whole; a fit that resumes goes on "
            f"from an earlier save, or begins anew.",
            CheckpointWarning,
            stacklevel=2,
        )


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
