"""Files from which chains go on: one for each chain, so that chains in other processes save too."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bhmc._io.archive import read, write
from bhmc._io.digest import digest_of_data
from bhmc.model.state import State
from bhmc.posterior.recorder import Recorder, Row
from bhmc.posterior.retention import Plan, Thinned, WholeDraw

# Settings that may change from one fit to the next that goes on from it.
_FREE = {"n_draws", "n_chains", "n_jobs", "progress", "checkpoint"}


class Checkpoint(NamedTuple):
    """A chain between two sweeps."""

    captured: dict[str, Any] | State
    """What `Sampler.capture` returned; in files of format 1 a state."""
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
        values = read(self._path, "checkpoint")
        self._check_same_fit(values["fit"])
        return Checkpoint(
            captured=values["captured"] if "captured" in values else values["state"],
            rng=values["rng"],
            recorder=_recorder(values["recorder"], self._plan),
            made=values["made"],
        )

    def write(self, now: Checkpoint) -> None:
        """Save the chain, whole or not at all."""
        values = now._asdict() | {"fit": self._fit, "recorder": _contents(now.recorder)}
        write(self._path, "checkpoint", values)

    def _check_same_fit(self, theirs: dict[str, str]) -> None:
        for name in sorted(self._fit.keys() | theirs.keys()):
            ours, saved = self._fit.get(name), theirs.get(name)
            if ours == saved:
                continue
            what = "to other data" if name == "data" else f"with {name}={saved}, now {name}={ours}"
            raise ValueError(
                f"{str(self._path)!r} was saved by a fit {what}: go on with the same settings and "
                f"data, or name another checkpoint."
            )


def check_checkpoint(path: Any) -> None:
    """Refuse a place where no file can be written, before chains have run for hours."""
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
    """What must be the same for a chain to go on: settings, as text, and a digest of the data."""
    fit = {name: _text(value) for name, value in parameters.items() if name not in _FREE}
    if not isinstance(parameters["random_state"], int | np.integer):
        del fit["random_state"]  # a seed that nobody named
    return fit | {"data": digest_of_data(X)}


def _text(value: Any) -> str:
    return digest_of_data(value) if isinstance(value, np.ndarray | list) else repr(value)


def _contents(recorder: Recorder) -> dict[str, Any]:
    """A recorder as values that a file can hold."""
    rows = recorder.rows
    return {
        "rows": {name: [getattr(row, name) for row in rows] for name in Row._fields},
        "pairs": recorder.pairs,
        "warmup_hyper": [list(values) for values in recorder.warmup_hyper],
        "warmup_shared": recorder.warmup_shared,
        "partitions": _thinned_contents(recorder.partitions),
        "wholes": _thinned_contents(recorder.wholes),
        "best": recorder.best,
        "best_log_likelihood": recorder.best_log_likelihood,
    }


def _recorder(values: dict[str, Any], plan: Plan) -> Recorder:
    recorder, rows = Recorder(plan), values["rows"]
    columns = [rows[name] for name in Row._fields]
    recorder.rows = [Row(*numbers) for numbers in zip(*columns, strict=True)]
    recorder.pairs = values["pairs"]
    recorder.warmup_hyper = [tuple(numbers) for numbers in values["warmup_hyper"]]
    recorder.warmup_shared = values["warmup_shared"]
    recorder.partitions.restore(values["partitions"]["step"], *_things(values["partitions"]))
    recorder.wholes.restore(values["wholes"]["step"], *_things(values["wholes"]))
    recorder.best, recorder.best_log_likelihood = values["best"], values["best_log_likelihood"]
    return recorder


def _thinned_contents(kept: Thinned) -> dict[str, Any]:
    things = kept.things
    values: dict[str, Any] = {"step": kept.step, "draws": kept.draws}
    if things and isinstance(things[0], WholeDraw):
        columns = {name: [getattr(one, name) for one in things] for name in WholeDraw._fields}
        return values | {"wholes": columns}
    return values | {"partitions": things}


def _things(values: dict[str, Any]) -> tuple[list[int], list[Any]]:
    if "wholes" not in values:
        return values["draws"], list(values["partitions"])
    columns = [values["wholes"][name] for name in WholeDraw._fields]
    return values["draws"], [WholeDraw(*parts) for parts in zip(*columns, strict=True)]
