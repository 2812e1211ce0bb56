"""Text that spells numbers, dates and truth values: what is recognised, and what it is worth."""

import math
import re
from collections.abc import Sequence
from datetime import date, datetime
from typing import NamedTuple

# Words for true and false that go together; Excel writes those of its own language.
_TRUTHS = (
    ("true", "false"),
    ("t", "f"),
    ("yes", "no"),
    ("y", "n"),
    ("ja", "nein"),
    ("wahr", "falsch"),
    ("oui", "non"),
    ("vrai", "faux"),
)

_CURRENCIES = "€$£¥₹₽₩"
_CODES = ("EUR", "USD", "GBP", "CHF", "JPY", "CNY", "INR", "SEK", "NOK", "DKK", "PLN", "CZK")
_BEFORE = re.compile(rf"^([+-]?)\s*([{_CURRENCIES}]|{'|'.join(_CODES)})\s*(.*)$")
_AFTER = re.compile(r"^([+-]?[\d.,'\s]*\d[.,]?(?:[eE][+-]?\d+)?)\s*([^\d\s.,'+-]\S{0,5})$")
_WEIGHTS = ("kg", "g", "mg", "µg", "lb", "lbs", "oz", "t")
_LENGTHS = ("km", "m", "cm", "mm", "µm", "nm", "in", "ft", "yd", "mi", "m²", "m³", "m2", "m3")
_VOLUMES = ("l", "L", "ml", "mL", "cl", "dl")
_TIMES = ("s", "ms", "min", "h", "d", "km/h", "m/s", "Hz", "kHz", "MHz", "GHz")
_OTHERS = ("W", "kW", "V", "A", "J", "kJ", "cal", "kcal", "kB", "MB", "GB", "TB")
_STATES = ("°C", "°F", "K", "Pa", "hPa", "bar")
_UNITS = frozenset((*_WEIGHTS, *_LENGTHS, *_VOLUMES, *_TIMES, *_OTHERS, *_STATES))

_PLAIN = re.compile(r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$")
_ODD = re.compile(r"^[+-]?(0[xXoObB][0-9a-fA-F]+|\d+(_\d+)+(\.\d*)?)$")
_SPACES = "\u00a0\u202f\u2009"

_ISO = re.compile(r"^(\d{4})([-/.])(\d{1,2})\2(\d{1,2})(?:[T ](\d{1,2}:\d{2}.*))?$")
_LOCAL = re.compile(r"^(\d{1,2})([-/.])(\d{1,2})\2(\d{4})(?:[T ](\d{1,2}:\d{2}.*))?$")
_TIME = re.compile(r"^(\d{1,2}):(\d{2})(?::(\d{2}(?:\.\d+)?))?Z?$")

# Integers beyond this are not all doubles.
EXACT = 2**53

# What a cell of text may be taken for, beside a number with a sign to take off.
PLAIN, CURRENCY, PERCENT, UNIT = "number", "currency", "percent", "unit"


class Signed(NamedTuple):
    """Numbers written with one and the same sign: 12 kg, €12.99, 10%."""

    kind: str
    """`CURRENCY`, `PERCENT`, `UNIT`, or `PLAIN` where there is no sign."""
    sign: str
    values: list[float]
    """NaN for missing cells."""


class OddNumberError(ValueError):
    """A cell spells a number in a way that cannot be taken as it stands.

    Parameters
    ----------
    row : int
        Where the cell is.
    cell : str
        The cell.
    why : str
        What is wrong, a clause.
    """

    def __init__(self, row: int, cell: str, why: str):
        super().__init__(row, cell, why)
        self.row, self.cell, self.why = row, cell, why


def number(cell: str, decimal: str = ".", thousands: str = "") -> float | None:
    """The number that a cell spells, or None.

    A thousands separator must stand before three digits each time. `1_000` and `0x10`, which
    Python would take or not, are no numbers; nor is NaN, which stands for a missing entry.

    Parameters
    ----------
    cell : str
        A cell without spaces at its ends.
    decimal : str
        The decimal sign, "." or ",".
    thousands : str
        What separates thousands; "" if nothing does.
    """
    if thousands:
        cell = _ungrouped(cell, decimal, thousands)
    if decimal != ".":
        if "." in cell:
            return None
        cell = cell.replace(decimal, ".")
    if "_" in cell:
        return None
    try:
        found = float(cell)
    except ValueError:
        return None
    return None if math.isnan(found) else found


def _ungrouped(cell: str, decimal: str, thousands: str) -> str:
    """The cell without separators, where these stand before three digits each time."""
    if thousands.isspace():
        for space in _SPACES:
            cell = cell.replace(space, thousands)
    if thousands not in cell:
        return cell
    pattern = rf"[+-]?\d{{1,3}}({re.escape(thousands)}\d{{3}})+({re.escape(decimal)}\d*)?"
    return cell.replace(thousands, "") if re.fullmatch(pattern, cell) else cell + "_"


def is_exact(cell: str, value: float) -> bool:
    """Whether a double holds what a cell spells: no whole number beyond 2**53, no overflow.

    Parameters
    ----------
    cell : str
        The cell.
    value : float
        The double nearest to it.
    """
    if math.isinf(value):
        return not any(letter.isdigit() for letter in cell)
    if abs(value) < EXACT or not re.fullmatch(r"[+-]?\d+(\.0*)?", cell):
        return True
    return int(value) == int(cell.partition(".")[0])


def separators_advice(cell: str, decimal: str, thousands: str) -> str:
    """Which options would make a number of a cell, a clause; "" if none would.

    Parameters
    ----------
    cell : str
        A cell that is no number.
    decimal, thousands : str
        The options that are in force.
    """
    if number(cell, decimal, thousands) is not None:
        return ""
    if re.fullmatch(r"[+-]?\d{1,3},\d{3}", cell) and decimal == "." and not thousands:
        value = cell.replace(",", "")
        small = number(cell, ",")
        return f"if it is {value}, say --thousands ','; if it is {small:g}, say --decimal ','"
    if re.fullmatch(r"[+-]?\d{1,3}\.\d{3}", cell) and decimal == "," and not thousands:
        return f"if it is {cell.replace('.', '')}, say --thousands '.'"
    for other, groups in ((".", ","), (",", ""), (",", "."), (".", " "), (",", " "), (".", "'")):
        if (other, groups) != (decimal, thousands) and number(cell, other, groups) is not None:
            wanted = [f"--decimal '{other}'"] * (other != decimal)
            wanted += [f"--thousands {groups!r}"] * (groups not in ("", thousands))
            return f"to read it say {' '.join(wanted)}" if wanted else ""
    return ""


def odd_number(cell: str) -> bool:
    """Whether a cell spells a number as programs do: 0x10, 1_000."""
    return _ODD.match(cell) is not None


def truth_values(cells: Sequence[str | None]) -> dict[str, float] | None:
    """1 and 0 for the words of a column, if they are a pair such as yes and no; else None.

    Parameters
    ----------
    cells : sequence of str or None
        The column; None is a missing entry.
    """
    said = {cell.strip().lower() for cell in cells if cell is not None}
    for true, false in _TRUTHS:
        if said and said <= {true, false}:
            return {true: 1.0, false: 0.0}
    return None


def signed_numbers(
    cells: Sequence[str | None], decimal: str = ".", thousands: str = ""
) -> Signed | None:
    """Cells that are all numbers with a sign, the same for all; None where some cell is not.

    Parameters
    ----------
    cells : sequence of str or None
        The column; None is a missing entry.
    decimal, thousands : str
        As in `number`.

    Raises
    ------
    OddNumberError
        Where all cells are numbers with a known sign, and signs differ.
    """
    sign, values = None, []
    other: tuple[int, str, str] | None = None
    for row, cell in enumerate(cells):
        if cell is None:
            values.append(math.nan)
            continue
        digits, own = _without_sign(cell)
        value = number(digits, decimal, thousands)
        if value is None or not is_exact(digits, value):
            return None
        if sign is None:
            sign = own
        elif own != sign and other is None:
            other = row, cell, own
        if other is not None and not (_is_known(own) and _is_known(sign)):
            return None
        values.append(value)
    if sign is None:
        return None
    if other is not None:
        row, cell, own = other
        both = f"{own or 'no sign'!r} where cells before have {sign or 'no sign'!r}"
        raise OddNumberError(row, cell, f"{both}: write them all in one")
    return Signed(_kind_of_sign(sign), sign, values)


def _without_sign(cell: str) -> tuple[str, str]:
    """The digits of a cell and the sign before or after them; no sign is ""."""
    for space in _SPACES:
        cell = cell.replace(space, " ")
    before = _BEFORE.match(cell)
    if before:
        minus, sign, digits = before.groups()
        return minus + digits.strip(), sign
    after = _AFTER.match(cell)
    if after and not _PLAIN.match(cell):
        return after.group(1).strip(), after.group(2)
    return cell, ""


def _kind_of_sign(sign: str) -> str:
    if sign == "":
        return PLAIN
    if sign == "%":
        return PERCENT
    return CURRENCY if sign in _CURRENCIES or sign.upper() in _CODES else UNIT


def _is_known(sign: str) -> bool:
    return _kind_of_sign(sign) != UNIT or sign in _UNITS


def days(cells: Sequence[object]) -> list[float] | None:
    """Dates as days since 1970-01-01, NaN for missing ones; None where some cell is no date.

    Text is read as 2024-01-31, 2024/01/31, 31.01.2024, 31/01/2024 or 01/31/2024, with a time
    behind it or not.

    Parameters
    ----------
    cells : sequence of str, date, datetime or None
        The column.

    Raises
    ------
    OddNumberError
        Where 03/04/2024 may be in March or in April, and no other cell decides.
    """
    texts = [(row, cell) for row, cell in enumerate(cells) if isinstance(cell, str)]
    month_first = _month_first(texts)
    found = [_day(cell, bool(month_first)) for cell in cells]
    if any(day is None for day in found) or all(cell is None for cell in cells):
        return None
    if texts and month_first is None:
        row, cell = texts[0]
        raise OddNumberError(
            row, cell, "a date whose day and month cannot be told apart: write it as 2024-01-31"
        )
    return [math.nan if day is None else day for day in found]


def _month_first(texts: Sequence[tuple[int, str]]) -> bool | None:
    """Whether months come before days; None where dates of that form do not tell."""
    ambiguous = False
    for _, text in texts:
        local = _LOCAL.match(text)
        if local is None or local.group(2) == ".":  # points are of countries with days first
            continue
        first, second = int(local.group(1)), int(local.group(3))
        if first > 12 or second > 12:
            return second > 12
        ambiguous |= first != second
    return None if ambiguous else False


def _day(cell: object, month_first: bool) -> float | None:
    """Days since 1970-01-01."""
    if cell is None or cell != cell:  # NaN and NaT differ from themselves
        return math.nan
    if isinstance(cell, datetime):
        at = cell.hour * 3600 + cell.minute * 60 + cell.second + cell.microsecond / 1e6
        return cell.toordinal() - _EPOCH + at / 86_400
    if isinstance(cell, date):
        return float(cell.toordinal() - _EPOCH)
    if not isinstance(cell, str):
        return None
    iso, local = _ISO.match(cell), _LOCAL.match(cell)
    if iso:
        year, _, month, day, time = iso.groups()
    elif local:
        day, separator, month, year, time = local.groups()
        if month_first and separator != ".":
            day, month = month, day
    else:
        return None
    at = _share_of_day(time)
    try:
        return (
            None if at is None else date(int(year), int(month), int(day)).toordinal() - _EPOCH + at
        )
    except ValueError:
        return None


_EPOCH = date(1970, 1, 1).toordinal()


def _share_of_day(time: str | None) -> float | None:
    if time is None:
        return 0.0
    found = _TIME.match(time)
    if found is None:
        return None
    hours, minutes, seconds = found.groups()
    return (int(hours) * 3600 + int(minutes) * 60 + float(seconds or 0)) / 86_400
