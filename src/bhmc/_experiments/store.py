"""What an experiment has done so far, in a folder: finished parts are found and not run again."""

import contextlib
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bhmc._io.atomic_write import atomic_file, write_atomically
from bhmc._io.digest import digest_of_text
from bhmc._io.leftovers import remove_leftovers
from bhmc._version import __version__
from bhmc.posterior.draws import Draws
from bhmc.tree import Tree

PARTS = "parts"


class Outcome(NamedTuple):
    """What one run of one method gave."""

    tree: Tree | None
    """None where the method had no result, for instance within its time."""
    facts: dict[str, Any]
    """Plain values: seconds, whether it was stopped, what it learned."""
    draws: Draws | None = None
    """The draws of a sampler, where they are needed."""
    series: dict[str, np.ndarray] = {}  # noqa: RUF012 - a NamedTuple's default, never changed
    """Further arrays, such as the numbers of a warm-up."""


class Store:
    """Parts of an experiment by name, each with the recipe that it was made by.

    A recipe holds all that decides the result. A part whose recipe has changed is made anew. The
    file that says that a part is there is written last, so that a stop at any moment leaves only
    whole parts.
    """

    def __init__(self, folder: Path):
        self.folder = folder / PARTS
        self.folder.mkdir(parents=True, exist_ok=True)
        for place in (folder, self.folder):
            remove_leftovers(place)
        self.found: list[str] = []
        """Names of the parts that were there already."""
        self.made: list[str] = []
        """Names of the parts that were made."""

    def part(
        self,
        name: str,
        recipe: dict[str, Any],
        make: Callable[[Path], Outcome],
        *,
        budget: float | None = None,
    ) -> Outcome:
        """The part of this name: from the folder, or made now and kept.

        `make` gets the beginning of names of files for what it saves on its way. `budget`, in
        seconds, decides nothing but when to stop: a part that was stopped is made anew with more.
        """
        recipe = json.loads(json.dumps({**recipe, "bhmc": __version__}, default=_plain))
        before = self._read(name)
        if before is not None and before["recipe"] == recipe and not _wants_more(before, budget):
            with contextlib.suppress(OSError, ValueError):  # a damaged part is made anew
                outcome = self._load(name, before)
                self.found.append(name)
                return outcome
        unfinished = self.folder / f"{_file_name(name)}-{_recipe_digest(recipe)[:12]}.going"
        self._forget(name)
        outcome = make(unfinished)
        self._write(name, recipe, budget, outcome)
        for leftover in self.folder.glob(f"{_file_name(name)}-*.going*"):
            leftover.unlink(missing_ok=True)  # another process may be at the same work
        self.made.append(name)
        return outcome

    def _read(self, name: str) -> dict[str, Any] | None:
        """What is known of a part; None where there is none, or none that can be read."""
        try:
            record = json.loads(self._path(name, "json").read_text(encoding="utf-8"))
            return record if {"recipe", "facts", "holds"} <= set(record) else None
        except (OSError, ValueError):
            return None

    def _load(self, name: str, record: dict[str, Any]) -> Outcome:
        holds = record["holds"]
        tree = Tree.load(self._path(name, "tree.bhmc")) if "tree" in holds else None
        draws = Draws.load(self._path(name, "draws.bhmc")) if "draws" in holds else None
        series = {}
        if "series" in holds:
            with np.load(self._path(name, "npz"), allow_pickle=False) as arrays:
                series = dict(arrays)
        return Outcome(tree, record["facts"], draws, series)

    def _write(self, name: str, recipe: dict, budget: float | None, outcome: Outcome) -> None:
        holds = []
        if outcome.tree is not None:
            outcome.tree.save(self._path(name, "tree.bhmc"))
            holds.append("tree")
        if outcome.draws is not None:
            outcome.draws.save(self._path(name, "draws.bhmc"))
            holds.append("draws")
        if outcome.series:
            with atomic_file(self._path(name, "npz")) as file:
                np.savez_compressed(file, **outcome.series)  # pyright: ignore
            holds.append("series")
        record = {"recipe": recipe, "budget": budget, "holds": holds, "facts": outcome.facts}
        write_atomically(self._path(name, "json"), json.dumps(record, indent=1, default=_plain))

    def _forget(self, name: str) -> None:
        with contextlib.suppress(FileNotFoundError):
            self._path(name, "json").unlink()

    def _path(self, name: str, ending: str) -> Path:
        return self.folder / f"{_file_name(name)}.{ending}"


def _wants_more(record: dict[str, Any], budget: float | None) -> bool:
    """Whether a part was stopped by its time and has more of it now."""
    if not record["facts"].get("stopped_early") or record["budget"] is None:
        return False
    return budget is None or budget > record["budget"]


def _recipe_digest(recipe: dict[str, Any]) -> str:
    return digest_of_text(json.dumps(recipe, sort_keys=True))


def _file_name(name: str) -> str:
    return re.sub(r"[^\w.-]+", "_", name)


def _plain(value: Any) -> Any:
    """NumPy's numbers and arrays as Python's."""
    if hasattr(value, "tolist"):
        return value.tolist()
    return repr(value)
