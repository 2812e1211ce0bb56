"""`ColumnPlan`: what every column of a table was taken for, and how it is used."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from bhmc._extras import import_pandas

# What a user may say of a column; `columns=` in Python, `--as` on the command line.
USES = ("number", "category", "truth", "date", "id", "drop")

# Families that "auto" has for a use, before the data decide more.
FAMILY_KINDS = {
    "number": "Gaussian",
    "date": "Gaussian",
    "truth": "Bernoulli",
    "category": "categorical",
}
FITTED = tuple(FAMILY_KINDS)

# The use of a column of free text, which other columns stand for.
TEXT = "text"

# A line of the plan names so many columns at most.
_MOST_NAMED = 12

HowToSay = Callable[[Any, str], str]
"""From a column's name and a use to what a user writes to have it so."""


def in_python(name: Any, use: str) -> str:
    """What a user of `BHMC` writes."""
    if use == "text":
        return "bhmc.preprocessing.TextFeatures"
    return f"columns={{{name!r}: {use!r}}}"


def in_options(name: Any, use: str) -> str:
    """What a user of the command line writes."""
    column = str(name)
    quoted = f"'{column}'" if set(column) & set(" ,;()&*?$'\"") else column
    options = {"drop": f"--drop {quoted}", "text": f"--text {quoted}"}
    return options.get(use, f"--as {quoted}={use}")


class PlannedColumn(NamedTuple):
    """What one column was taken for."""

    name: Any
    """Its name; its number where it has none."""
    kind: str
    """id, number, whole number, year, date, currency, percent, unit, truth, category, text, empty
    or constant."""
    use: str
    """One of `USES`: a number, category, truth or date is fitted, an id or what is dropped is not;
    or `TEXT`."""
    detail: str = ""
    """What was done to its cells, or how many values it has."""
    because: str = ""
    """Why it was taken so, where that may surprise."""
    instead: str = ""
    """What else it might be: another of `USES`."""
    sign: str = ""
    """The currency or unit that was taken off its cells."""
    family: str = ""
    """The family that it is fitted with; "" where it is not."""

    @property
    def is_fitted(self) -> bool:
        """Whether it is data."""
        return self.use in FITTED

    @property
    def was_asked(self) -> bool:
        """Whether a user said what it is."""
        return self.because == ASKED

    def sentence(self, how: HowToSay) -> str:
        """Why it was taken so, and what to say to have it otherwise; "" where all is plain."""
        if not self.because or self.was_asked:
            return ""
        taken = {"id": "not fitted", "drop": "not fitted", "date": "fitted as days"}.get(
            self.use, f"taken for a {self.use}"
        )
        change = f" ({how(self.name, self.instead)} to change that)" if self.instead else ""
        return f"column {str(self.name)!r} {self.because}, so it is {taken}{change}."


# `because` of a column whose use a user named.
ASKED = "you said so"


class ColumnPlan(NamedTuple):
    """What every column of a table was taken for, in the order of the table.

    `print(plan)` has a line for each kind of column; `plan.to_frame()` a row for each column.
    """

    columns: tuple[PlannedColumn, ...] = ()
    frame: str = ""
    """The package whose frame it was: "pandas", "polars", "pyarrow"; "array" for an array with
    `columns=`; "" for others."""
    item_column: Any = None
    """The column that names the rows."""

    @property
    def fitted(self) -> list[int]:
        """Numbers of the columns that are data."""
        return [j for j, column in enumerate(self.columns) if column.is_fitted]

    @property
    def names(self) -> list[str]:
        """Names of the columns that are data."""
        return [column.name for column in self.columns if column.is_fitted]

    def with_texts(self, names: Iterable[Any]) -> "ColumnPlan":
        """The plan where these columns are free text, unless they name the rows."""
        names = set(names)
        return self._replace(
            columns=tuple(
                PlannedColumn(one.name, TEXT, TEXT, because=ASKED)
                if one.name in names and one.use != "id"
                else one
                for one in self.columns
            )
        )

    def using(self, *uses: str) -> list[int]:
        """Numbers of the columns with one of these uses."""
        return [j for j, column in enumerate(self.columns) if column.use in uses]

    def with_families(self, families: Mapping[int, str]) -> "ColumnPlan":
        """The plan with the family of every fitted column, by its place among these."""
        new = list(self.columns)
        for place, j in enumerate(self.fitted):
            new[j] = new[j]._replace(family=families.get(place, new[j].family))
        return self._replace(columns=tuple(new))

    def sentences(self, how: HowToSay = in_python, uses: Iterable[str] = USES) -> list[str]:
        """What may surprise, a sentence each, with the words that change it."""
        found = [one.sentence(how) for one in self.columns if one.use in tuple(uses)]
        return [sentence for sentence in found if sentence]

    def lines(self) -> list[str]:
        """A line for each kind of column: kind, family, columns."""
        groups: dict[str, list[str]] = {}
        for column in self.columns:
            groups.setdefault(_title(column, self.item_column), []).append(_called(column))
        return [f"{title}: {_listed(names)}" for title, names in groups.items()]

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def to_frame(self) -> Any:
        """A pandas frame with a row for each column: name, kind, use, family, detail, because."""
        pandas = import_pandas("to_frame")
        shown = ("name", "kind", "use", "family", "detail", "because")
        return pandas.DataFrame(
            [[getattr(column, field) for field in shown] for column in self.columns], columns=shown
        )

    def to_json(self) -> list[dict[str, Any]]:
        """A dict for each column."""
        return [column._asdict() for column in self.columns]


def plan_from_json(rows: Iterable[Mapping[str, Any]]) -> ColumnPlan:
    """The inverse of `ColumnPlan.to_json`.

    Parameters
    ----------
    rows : iterable of mappings
        What `to_json` returned.
    """
    return ColumnPlan(tuple(PlannedColumn(**row) for row in rows))


def _title(column: PlannedColumn, item_column: Any) -> str:
    if column.use == "id":
        return "id, names the rows" if column.name == item_column else "id, not fitted"
    if column.use == "drop":
        return f"{column.kind}, not fitted"
    if column.use == TEXT:
        return "free text, fitted as numbers made of it"
    family = column.family or FAMILY_KINDS["truth" if column.kind == "truth" else column.use]
    kind = column.kind if column.kind == column.use else f"{column.kind} as {column.use}"
    plain = column.use == "number" and column.kind not in ("year", "constant")
    return f"{column.kind if plain else kind} ({family})"


def _called(column: PlannedColumn) -> str:
    return f"{column.name} [{column.detail}]" if column.detail else str(column.name)


def _listed(names: list[str]) -> str:
    more = len(names) - _MOST_NAMED
    shown = names if more <= 0 else [*names[: _MOST_NAMED - 1], f"... ({more + 1} more)"]
    return ", ".join(shown)
