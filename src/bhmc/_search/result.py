"""The result of a search."""

from dataclasses import dataclass, fields
from typing import Any

from bhmc._extras import import_pandas


@dataclass(frozen=True, repr=False)
class SearchResult:
    """The settings that a search tried, and the best of them.

    Scores are held-out log densities of a row, in natural logarithms: higher is better. The first
    score of a round comes from one split that all rounds share. The highest of many such scores is
    biased upwards, so the search scores the best few rounds and the defaults again on fresh splits.
    `best` has the highest of these second scores, and may be the defaults.
    """

    best: dict[str, Any]
    """Keyword arguments for `BHMC`."""
    best_score: float
    """Second score of `best`."""
    default_score: float
    """Second score of the defaults of `BHMC`, on the same splits."""
    gain_error: float
    """Standard error of `best_score - default_score`, from the splits; NaN if there are none."""
    table: list[dict[str, Any]]
    """A dict for every round: its settings, `score`, `components` (mean number of them), and for
    those scored again `second_score`, `gain` over the defaults and `gain_error`. Round 0 has the
    defaults, which are None here."""
    n_rounds: int
    """Rounds scored, the defaults not counted."""
    n_splits: int
    """Fresh splits of the second scores; 0 if time ran out before them: then `best_score` and
    `default_score` are first scores, and too good."""
    n_rows: int
    """Rows of each split, the held-out fifth included."""
    seconds: float
    """Time this call took."""

    def to_frame(self) -> Any:
        """`table` as a pandas frame, a row for each round."""
        return import_pandas("to_frame").DataFrame(self.table).set_index("round")

    def __repr__(self) -> str:
        best = ", ".join(f"{name}={_short(value)}" for name, value in self.best.items())
        if self.n_splits:
            where = f"on {self.n_splits} fresh splits of {self.n_rows} rows"
            gain = f"gain {self.best_score - self.default_score:.3f} +- {self.gain_error:.3f}"
        else:
            where = "on the split it was chosen by, because time ran out before fresh ones"
            gain = "the gain is not known"
        return (
            f"SearchResult: {self.n_rounds:,} rounds in {self.seconds:.0f} s\n"
            f"  best: {best}\n"
            f"  held-out log density of a row, {where}:\n"
            f"  best {self.best_score:.3f}, defaults {self.default_score:.3f}, {gain}"
        )


def _short(value) -> str:
    if isinstance(value, float):
        return f"{value:.3g}"
    if isinstance(value, int | str):
        return repr(value)
    # A likelihood: its single numbers that are not the defaults, because arrays are long.
    usual = {field.name: field.default for field in fields(value)}
    given = {name: getattr(value, name) for name in usual}
    numbers = [
        f"{name}={_short(given[name])}"
        for name in usual
        if isinstance(given[name], int | float | str) and given[name] != usual[name]
    ]
    return f"{type(value).__name__}({', '.join([*numbers, '...'])})"
