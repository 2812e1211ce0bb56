"""The rules: what a column is taken for where nobody says. docs/reading-tables.md states them.

Frames in Python and files on the command line come here with the same `Seen` columns, so both are
read by the same rules. A rule that cannot decide refuses, and says what to write.
"""

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bhmc._validation.column_plan import ASKED, USES, HowToSay, PlannedColumn
from bhmc._validation.errors import EntryError, WrongEntryError, WrongTypeError
from bhmc._validation.spellings import (
    EXACT,
    PERCENT,
    OddNumberError,
    Signed,
    days,
    is_exact,
    number,
    odd_number,
    separators_advice,
    signed_numbers,
    truth_values,
)

# Text of more values than this rather names its rows.
MOST_CATEGORIES = 100
# So many rows with a different entry each: it names rows. In a first column fewer do.
_MANY_ROWS, _FEW_ROWS = 10, 3
# A year of so many values at most is a category; so are these many rows a value at least.
_MOST_YEARS, _ROWS_A_YEAR = 12, 2
# A column that is not called a year needs so many rows for each of its values.
_ROWS_A_NAMELESS_YEAR = 3
_FIRST_YEAR, _LAST_YEAR = 1900, 2100
# Whole numbers of so many values at most may be codes.
_FEW_VALUES = 10
# Cells of so many words are sentences.
_WORDS_OF_A_SENTENCE = 4

_ID_NAMES = re.compile(
    r"^(|id|ids|index|idx|key|uuid|guid|nr|no|number|row|rownum|rowid|row_number|unnamed: 0|#)$"
    r"|.*[_\-. ](id|uuid|guid|nr|key|index)$|^id[_\-. ]\w+$",
    re.IGNORECASE,
)
_CAMEL_ID = re.compile(r".*[a-z0-9](Id|ID|UUID|Nr)$")
_YEAR_NAMES = re.compile(
    r"(^|.*[_\-. ])(year|years|yr|jahr|année|annee|año|ano|anno)($|[_\-. ].*)", re.I
)


class Seen(NamedTuple):
    """A column as the rules see it."""

    name: Any
    type: str
    """"number", "truth", "text" or "time"."""
    values: Any
    """Numbers and truths: (n,) float64 with NaN. Text and times: a list with None."""
    whole: bool = False
    """Whether its type is that of whole numbers, or nobody said what its type is."""
    exact: bool = True
    """Whether doubles hold all its numbers."""


class Spelling(NamedTuple):
    """How text spells numbers."""

    decimal: str = "."
    thousands: str = ""


def says_id(name: Any) -> bool:
    """Whether the name of a column says that it names rows."""
    return isinstance(name, str) and bool(_ID_NAMES.match(name) or _CAMEL_ID.match(name))


def says_year(name: Any) -> bool:
    """Whether the name of a column says that it holds years."""
    return isinstance(name, str) and bool(_YEAR_NAMES.match(name))


def take_column(
    column: Seen,
    j: int,
    n_columns: int,
    how: HowToSay,
    asked: str | None = None,
    spelling: Spelling = Spelling(),  # noqa: B008 (a tuple does not change)
    ids: bool = True,
) -> PlannedColumn:
    """What a column is taken for.

    Parameters
    ----------
    column : Seen
        The column.
    j, n_columns : int
        Its number, and how many there are: the only column is never an id.
    how : function
        Puts into words how a user changes the use of a column.
    asked : str, optional
        What a user says that it is: one of `USES`.
    spelling : Spelling
        How its text spells numbers.
    ids : bool
        Whether columns may be taken for ids.
    """
    if asked is not None:
        return _asked(column, j, asked, spelling, how)
    rules = {"number": _of_numbers, "truth": _of_truths, "text": _of_text, "time": _of_times}
    place = _Place(j, n_columns > 1 and ids, how, spelling)
    return rules[column.type](column, place)


class _Place(NamedTuple):
    j: int
    may_be_id: bool
    how: HowToSay
    spelling: Spelling


def _empty(name: Any) -> PlannedColumn:
    return PlannedColumn(name, "empty", "drop", because="is empty")


# ---- Numbers ----


def _of_numbers(column: Seen, place: _Place) -> PlannedColumn:
    name, values = column.name, column.values
    observed = values[~np.isnan(values)]
    if not len(observed):
        return _empty(name)
    if observed.min() < observed.max() and not (observed == np.floor(observed)).all():
        return PlannedColumn(name, "number", "number")
    distinct = np.unique(observed)
    whole = bool((np.abs(observed) < math.inf).all() and (observed == np.floor(observed)).all())
    if column.whole and whole and place.may_be_id and len(distinct) == len(values):
        why = _why_id(name, values, place.j)
        if why:
            return PlannedColumn(name, "id", "id", because=why, instead="number")
    if not column.exact:
        raise _inexact(column, place)
    if len(distinct) == 1:
        return PlannedColumn(name, "constant", "number")
    if set(distinct.tolist()) == {0.0, 1.0}:
        return PlannedColumn(name, "truth", "number")
    if not whole:
        return PlannedColumn(name, "number", "number")
    return _years(column, distinct, len(observed)) or _whole(name, distinct, len(observed))


def _why_id(name: Any, values: NDArray, j: int) -> str:
    """Why whole numbers that are all different name rows; "" if they do not."""
    steps = np.diff(values)
    if says_id(name) and len(values) > 1:
        return "is called an id and differs in every row"
    if len(values) >= (_FEW_ROWS if j == 0 else _MANY_ROWS) and (steps == 1).all():
        return "counts the rows"
    if j == 0 and len(values) >= _MANY_ROWS and (steps > 0).all():
        return "is the first column and grows from row to row"
    return ""


def _years(column: Seen, distinct: NDArray, n: int) -> PlannedColumn | None:
    """Years: categories where they are few, else numbers."""
    if distinct[0] < _FIRST_YEAR or distinct[-1] > _LAST_YEAR:
        return None
    named, k = says_year(column.name), len(distinct)
    few = k <= _MOST_YEARS and n >= k * (_ROWS_A_YEAR if named else _ROWS_A_NAMELESS_YEAR)
    if few:
        why = f"holds {k} different years"
        return PlannedColumn(
            column.name, "year", "category", f"{k} values", because=why, instead="number"
        )
    return PlannedColumn(column.name, "year", "number") if named else None


def _whole(name: Any, distinct: NDArray, n: int) -> PlannedColumn:
    """Whole numbers are numbers; those that may be codes, or names of rows, are flagged."""
    if len(distinct) <= _FEW_VALUES and n >= 2 * len(distinct):
        why = f"has only {len(distinct)} different whole numbers"
        detail = f"{len(distinct)} values"
        return PlannedColumn(name, "whole number", "number", detail, why, "category")
    if len(distinct) == n >= _MANY_ROWS:
        why = "holds whole numbers, all different, in no order"
        return PlannedColumn(name, "whole number", "number", "all different", why, "id")
    return PlannedColumn(name, "whole number", "number")


def _inexact(column: Seen, place: _Place) -> EntryError:
    row = int(np.argmax(np.abs(column.values) >= EXACT))
    need = (
        "whole numbers beyond 2**53 would be rounded: "
        f"{place.how(column.name, 'id')}, or {place.how(column.name, 'category')}"
    )
    return WrongEntryError(int(column.values[row]), row, place.j, need)


def _of_truths(column: Seen, place: _Place) -> PlannedColumn:
    if np.isnan(column.values).all():
        return _empty(column.name)
    return PlannedColumn(column.name, "truth", "truth")


def _of_times(column: Seen, place: _Place) -> PlannedColumn:
    if all(value is None for value in column.values):
        return _empty(column.name)
    raise _dates(column, place, "dates or times")


# ---- Text ----


def _of_text(column: Seen, place: _Place) -> PlannedColumn:
    name, cells = column.name, column.values
    observed = [cell for cell in cells if cell is not None]
    if not observed:
        return _empty(name)
    texts = [cell for cell in observed if isinstance(cell, str)]
    n_values = len(set(observed))
    if len(texts) == len(observed):
        found = _of_spelled(column, cells, observed, place)
        if found is not None:
            return found
    if n_values == 1:
        return PlannedColumn(name, "constant", "category")
    all_different = n_values == len(observed)
    enough = len(observed) >= _MANY_ROWS or (place.j == 0 and len(observed) == len(cells))
    if all_different and enough and place.may_be_id:
        return _named_rows(name, texts)
    if texts and all(cell.isdigit() for cell in texts) and any(cell[0] == "0" for cell in texts):
        why = f"holds digits with leading zeros, such as {min(texts)!r}"
        if n_values <= MOST_CATEGORIES:
            return PlannedColumn(name, "category", "category", f"{n_values} values", why, "number")
    if n_values > MOST_CATEGORIES:
        return _many_values(column, n_values, texts, place)
    return PlannedColumn(name, "category", "category", f"{n_values} values")


def _of_spelled(
    column: Seen, cells: Sequence, observed: list[str], place: _Place
) -> PlannedColumn | None:
    """Truths, dates, and numbers with a sign; None for text that spells none of these."""
    name = column.name
    if truth_values(observed) is not None:
        words = "/".join(sorted(set(observed)))
        return PlannedColumn(name, "truth", "truth", words)
    if _are_dates(observed[:1]) and _are_dates(observed):
        raise _dates(column, place, f"dates such as {observed[0]!r}")
    if not any(letter.isdigit() for letter in observed[0]):
        return None
    odd = next((row for row, cell in enumerate(cells) if cell and odd_number(cell)), None)
    if odd is not None and _are_mostly_numbers(observed, place.spelling):
        need = f"write it in plain digits, or {place.how(name, 'category')}"
        raise WrongEntryError(cells[odd], odd, place.j, need)
    signed = _signed(cells, place, name)
    if signed is not None and signed.kind != "number":
        return _with_sign(name, signed)
    _check_separators(column, cells, observed, place)
    _check_beyond(column, cells, observed, place)
    return None


def _are_mostly_numbers(cells: list[str], spelling: Spelling) -> bool:
    """Whether more than half of the cells spell numbers; of hashes such as 0b35... few do."""
    spelt = sum(odd_number(cell) or number(cell, *spelling) is not None for cell in cells)
    return 2 * spelt > len(cells)


def _are_dates(cells: Sequence) -> bool:
    try:
        return days(cells) is not None
    except OddNumberError:
        return True  # though which ones is not known


def _dates(column: Seen, place: _Place, what: str) -> EntryError:
    how = place.how
    need = (
        f"{how(column.name, 'date')} fits them as days, {how(column.name, 'drop')} leaves them out"
    )
    return WrongTypeError(what, None, place.j, need)


def _signed(cells: Sequence, place: _Place, name: Any) -> Signed | None:
    try:
        return signed_numbers(cells, *place.spelling)
    except OddNumberError as odd:
        need = f"it has {odd.why}, or {place.how(name, 'category')}"
        raise WrongEntryError(odd.cell, odd.row, place.j, need) from None


def _with_sign(name: Any, signed: Signed) -> PlannedColumn:
    detail, why = f"{signed.sign} taken off", f"holds numbers with {signed.sign}"
    if signed.kind == PERCENT:
        detail = "10% is read as 10"
    return PlannedColumn(
        name, signed.kind, "number", detail, why, instead="category", sign=signed.sign
    )


def _check_separators(column: Seen, cells: Sequence, observed: list[str], place: _Place) -> None:
    """Refuse text that is numbers with separators throughout, such as 1,200."""
    found = (separators_advice(cell, *place.spelling) for cell in observed)
    advice = next((one for one in found if one), "")
    pattern = re.compile(r"^[+-]?\d[\d.,' \u00a0\u202f]*$")
    if advice and all(pattern.match(cell) for cell in observed):
        row = next(
            row
            for row, cell in enumerate(cells)
            if cell is not None and separators_advice(cell, *place.spelling)
        )
        if place.how(column.name, "id").startswith("columns="):
            advice = "turn it into numbers"
        need = f"{advice}; {place.how(column.name, 'category')} takes it as it is"
        raise WrongEntryError(cells[row], row, place.j, need)


def _check_beyond(column: Seen, cells: Sequence, observed: list[str], place: _Place) -> None:
    """Refuse whole numbers that doubles would round, unless they name rows."""
    values = [number(cell, *place.spelling) for cell in observed]
    if any(value is None for value in values):
        return
    _check_overflow(column, cells, place)
    if len(set(observed)) == len(observed) and place.may_be_id and len(observed) == len(cells):
        return  # they name rows
    for row, cell in enumerate(cells):
        if cell is not None and not is_exact(cell, number(cell, *place.spelling) or 0.0):
            how = place.how
            need = (
                "doubles round whole numbers beyond 2**53: "
                f"{how(column.name, 'id')}, or {how(column.name, 'category')}"
            )
            raise WrongEntryError(cell, row, place.j, need)


def _check_overflow(column: Seen, cells: Sequence, place: _Place) -> None:
    """Refuse 1e999, which no row is named: it would be read as an infinite number."""
    for row, cell in enumerate(cells):
        if cell is None:
            continue
        value = number(cell, *place.spelling)
        if value is not None and np.isinf(value) and not is_exact(cell, value):
            need = f"a double cannot hold it: mend it, or {place.how(column.name, 'category')}"
            raise WrongEntryError(cell, row, place.j, need)


def _named_rows(name: Any, texts: list[str]) -> PlannedColumn:
    if texts and _are_sentences(texts):
        return PlannedColumn(
            name, "text", "drop", because="is free text, different in every row", instead="text"
        )
    return PlannedColumn(
        name, "id", "id", because="is text that differs in every row", instead="category"
    )


def _many_values(column: Seen, n_values: int, texts: list[str], place: _Place) -> PlannedColumn:
    if texts and _are_sentences(texts):
        why = f"is free text with {n_values} different values"
        return PlannedColumn(column.name, "text", "drop", because=why, instead="text")
    how, name = place.how, column.name
    need = (
        f"at most {MOST_CATEGORIES} are taken for categories: "
        f"{how(name, 'drop')}, or {how(name, 'category')}"
    )
    raise WrongEntryError(f"{n_values} different values", None, place.j, need)


def _are_sentences(texts: list[str]) -> bool:
    words = sorted(len(text.split()) for text in texts)
    return words[len(words) // 2] >= _WORDS_OF_A_SENTENCE


def something_left(columns: Sequence[PlannedColumn]) -> tuple[PlannedColumn, ...]:
    """The columns; where rules would leave nothing to fit, numbers and empty columns are data.

    Parameters
    ----------
    columns : sequence of PlannedColumn
        What the rules and the user say.
    """
    if any(one.is_fitted for one in columns):
        return tuple(columns)
    return tuple(
        PlannedColumn(one.name, "number", "number")
        if not one.was_asked and (one.kind == "empty" or one.instead == "number")
        else one
        for one in columns
    )


# ---- What a user says ----


def _asked(column: Seen, j: int, use: str, spelling: Spelling, how: HowToSay) -> PlannedColumn:
    """The use that a user names; what the cells were is found out where that matters."""
    name = column.name
    if use == "number" and column.type == "text":
        signed = _signed(column.values, _Place(j, False, how, spelling), name)
        if signed is not None and signed.kind != "number":
            return _with_sign(name, signed)._replace(because=ASKED)
    if use == "number" and not column.exact:
        raise _inexact(column, _Place(j, False, how, spelling))
    kind = {"drop": "dropped"}.get(use, use)
    return PlannedColumn(name, kind, use, because=ASKED)


def check_columns(columns: Any, what: str = "columns") -> None:
    """Refuse `columns=` that is no dict from columns to kinds.

    Parameters
    ----------
    columns : object
        What a user gave.
    what : str
        What the parameter is called.
    """
    if columns is None:
        return
    if not isinstance(columns, Mapping):
        raise TypeError(
            f"{what} must be a dict from columns to kinds, such as {{'year': 'category'}}, got "
            f"{columns!r}."
        )
    for name, use in columns.items():
        if use not in USES:
            listed = ", ".join(repr(one) for one in USES)
            raise ValueError(f"{what}[{name!r}] is {use!r}; choose one of {listed}.")
