"""A run of an experiment: its folder, its time, its seed, and where its messages go."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bhmc._experiments.methods import METHODS, Request
from bhmc._experiments.sheet import seconds_text
from bhmc._experiments.store import Outcome, Store


@dataclass
class Job:
    """One run of an experiment."""

    folder: Path
    command: str
    """How to run it again, as it was typed."""
    data: str | None = None
    quick: bool = False
    supplement: bool = False
    """Whether the settings of the supplement are run instead."""
    budget: float = 900.0
    """Seconds that a slow method may take."""
    seed: int = 0
    n_jobs: int = 1
    progress: bool = False
    say: Callable[[str], Any] = lambda text: None

    def __post_init__(self):
        self.store = Store(self.folder)

    def run(
        self,
        name: str,
        method: str,
        settings: dict[str, Any],
        X: Any,
        digest: str,
        *,
        seed: int | None = None,
        budget: float | None = None,
        record_warmup: bool = False,
        keep_draws: bool = False,
    ) -> Outcome:
        """A part of the experiment: one method, run once, or what an earlier run has left of it."""
        seed = self.seed if seed is None else seed
        recipe: dict[str, Any] = {"method": method, "settings": settings, "data": digest}
        if METHODS[method].is_random:
            recipe["seed"] = seed
        # The names in a recipe stay: parts of earlier runs are found by them.
        recipe |= {"watch_warmup": record_warmup, "keep_draws": keep_draws}

        def make(going: Path) -> Outcome:
            self.say(f"{name}: running ...")
            outcome = METHODS[method].run(
                Request(
                    X=X,
                    settings=settings,
                    seed=seed,
                    budget=budget,
                    going=going,
                    progress=self.progress,
                    n_jobs=self.n_jobs,
                    record_warmup=record_warmup,
                    keep_draws=keep_draws,
                )
            )
            self.say(f"{name}: {_ending(outcome)}")
            return outcome

        outcome = self.store.part(name, recipe, make, budget=budget)
        if name in self.store.found:
            self.say(f"{name}: found in {self.store.folder}, not run again.")
        return outcome


def _ending(outcome: Outcome) -> str:
    took = seconds_text(outcome.facts["seconds"])
    if outcome.tree is None:
        return f"no result within {took}."
    if outcome.facts.get("stopped_early"):
        return f"stopped by its time, {took}."
    return f"done in {took}."
