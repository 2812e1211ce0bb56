"""What is printed: text on stdout, messages on stderr, JSON where asked for. No NumPy here."""

import json
import math
import os
import shutil
import sys
import unicodedata
from typing import Any


def say(text: str = "", *, quiet: bool = False) -> None:
    """A message; stdout is for results."""
    if not quiet:
        print(text, file=sys.stderr, flush=True)


def print_json(value: Any) -> None:
    """One JSON document on stdout; what JSON has no word for (NaN, infinity) is null."""
    print_result(to_json(value))


def to_json(value: Any) -> str:
    """Values as JSON that every reader takes."""
    return json.dumps(plain(value), indent=2, ensure_ascii=False, allow_nan=False)


def plain(value: Any) -> Any:
    """NumPy's numbers and arrays as Python's, NaN and infinity as None."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return str(value)


def counted(number: int, thing: str) -> str:
    """`1 row`, `2 rows`, `3 leaves`."""
    many = thing.removesuffix("f") + "ves" if thing.endswith("f") else f"{thing}s"
    return f"{number:,} {thing if number == 1 else many}"


def print_result(text: str) -> None:
    """A result on stdout; a reader that stops before the end is no error."""
    try:
        print(text, flush=True)
    except BrokenPipeError:
        mute_stdout()


def mute_stdout() -> None:
    """Throw away what is still written to stdout, because its reader has gone."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def terminal_width(asked: int | None = None) -> int | None:
    """Columns to print in; None where stdout is a file or a pipe, which have no limit."""
    if asked is not None:
        return asked
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def fitted(text: str, width: int | None) -> str:
    """Every line cut to a width; one that was cut ends in an ellipsis."""
    if width is None:
        return text
    return "\n".join(_cut(line, width) for line in text.splitlines())


def _cut(line: str, width: int) -> str:
    if sum(map(_columns, line)) <= width:
        return line
    used = 1
    for i, letter in enumerate(line):
        used += _columns(letter)
        if used > width:
            return line[:i] + "…"
    return line


def _columns(letter: str) -> int:
    """Columns of the terminal that a letter takes: wide ones of East Asia two, accents none."""
    if unicodedata.combining(letter):
        return 0
    return 2 if unicodedata.east_asian_width(letter) in "WF" else 1
