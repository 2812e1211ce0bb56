"""The scores of a search, in memory and, where asked, in a file that the search can resume from.

The file is JSON lines: a header that describes the search, then a line for every score. Lines are
only appended, so a stop at any moment loses one line at most. A search goes on where the file
cannot be written, and writes all of it as soon as it can.
"""

import json
import os
import warnings
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from bhmc._io.atomic_write import write_atomically
from bhmc._io.digest import digest_of_data
from bhmc._search.rounds import Plan, Score
from bhmc._validation.errors import reason_of
from bhmc._validation.plain_files import irregular
from bhmc._version import __version__

_FORMAT = "bhmc search 1"


class Book:
    """All scores by (round, split); `path` is None or the file that holds them as well."""

    def __init__(self, plan: Plan, path: str | os.PathLike[str] | None):
        self._plan, self._path = plan, None if path is None else Path(path)
        self.scores: dict[tuple[int, int], Score] = {}
        self.n_resumed = 0
        self._is_behind = False
        if self._path is None:
            return
        if self._path.exists():
            self._read(self._path)
        self._rewrite(self._path)
        self.n_resumed = len(self.scores)

    def add(self, scores: list[Score]) -> None:
        """Keep these, in the file too."""
        self.scores |= {(score.round, score.split): score for score in scores}
        if self._path is not None:
            try:
                self._append(self._path, scores)
                self._is_behind = False
            except OSError as error:
                self._say_that_it_is_behind(reason_of(error))

    def _append(self, path: Path, scores: list[Score]) -> None:
        if self._is_behind or not path.exists():
            self._rewrite(path)
            return
        with path.open("a", encoding="utf-8") as file:
            file.writelines(self._line(score) for score in scores)

    def _say_that_it_is_behind(self, cause: str) -> None:
        if not self._is_behind:
            warnings.warn(
                f"{str(self._path)!r} cannot be written: {cause.rstrip('.')}. The search goes on, "
                f"and its scores are saved as soon as that is mended.",
                UserWarning,
                stacklevel=2,
            )
        self._is_behind = True

    def on_split(self, split: int) -> dict[int, Score]:
        """The scores of that split, by round, in order."""
        return {r: score for (r, s), score in sorted(self.scores.items()) if s == split}

    def _line(self, score: Score) -> str:
        record: dict[str, Any] = score._asdict()
        for name in ("score", "components"):  # JSON has no infinity
            record[name] = record[name] if np.isfinite(record[name]) else None
        record["settings"] = self._plan.settings(score.round)
        return json.dumps(record) + "\n"

    def _read(self, path: Path) -> None:
        """Take in a file of the same search; refuse any other."""
        header, records = _parsed(path)
        for name, value in header_of(self._plan).items():
            if header.get(name) != value:
                raise ValueError(
                    f"checkpoint={str(path)!r} was made by another search ({name} differs): "
                    "name another file, or remove this one."
                )
        for record in records:
            number, split = record["round"], record["split"]
            if record["settings"] != self._plan.settings(number):
                raise ValueError(
                    f"checkpoint={str(path)!r} was made by another search (priors differs): "
                    "name another file, or remove this one."
                )
            value, k = record["score"], record["components"]
            self.scores[number, split] = Score(
                number, split, -np.inf if value is None else value, np.nan if k is None else k
            )

    def _rewrite(self, path: Path) -> None:
        """Replace the file by whole lines only, in an atomic write."""
        lines = [json.dumps(header_of(self._plan)) + "\n"]
        lines += [self._line(score) for score in self.scores.values()]
        write_atomically(path, "".join(lines))


def seed_in(path: str | os.PathLike[str] | None) -> tuple[Any, tuple[int, ...]] | None:
    """(entropy, spawn key) of the search that wrote this file; None where there is no file."""
    if path is None or not Path(path).exists():
        return None
    header, _ = _parsed(Path(path))
    return header.get("entropy", 0), tuple(header.get("spawn_key", ()))


def header_of(plan: Plan) -> dict[str, Any]:
    """What two runs must have in common for one to resume the other."""
    entropy = plan.entropy
    return {
        "format": _FORMAT,
        "version": __version__,
        "data": digest_of_data(plan.X),
        "likelihood": _words_for(plan.likelihood),
        "subset": plan.n_subset,
        "warmup": plan.warmup,
        "draws": plan.draws,
        "entropy": entropy if isinstance(entropy, int) else [int(word) for word in entropy],
        "spawn_key": [int(word) for word in plan.spawn_key],
    }


def _words_for(likelihood) -> str:
    """A likelihood by its name or by all its numbers."""
    if isinstance(likelihood, str):
        return likelihood
    values = (getattr(likelihood, field.name) for field in fields(likelihood))
    numbers = [value if value is None else np.asarray(value).tolist() for value in values]
    return f"{type(likelihood).__name__}{json.dumps(numbers)}"


def _parsed(path: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """(header, scores); a last line that was cut off is left out."""
    if irregular(path) is not None:
        raise ValueError(f"checkpoint={str(path)!r} is {irregular(path)}, not a file.")
    *lines, _cut_off = path.read_text(encoding="utf-8").split("\n")
    try:
        header, *records = [json.loads(line) for line in lines]
        if header["format"].rsplit(" ", 1)[0] != _FORMAT.rsplit(" ", 1)[0]:
            raise ValueError("another format")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise ValueError(f"checkpoint={str(path)!r} is not a file of bhmc.search.") from None
    return header, records
