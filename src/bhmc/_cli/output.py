"""What is printed: text on stdout, messages on stderr, JSON where asked for."""

import json
import math
import shutil
import sys
import unicodedata
from typing import Any

import numpy as np


def say(text: str = "", *, quiet: bool = False) -> None:
    """A message; stdout is for results."""
    if not quiet:
        print(text, file=sys.stderr, flush=True)


def print_json(value: Any) -> None:
    """One JSON document on stdout; what JSON has no word for (NaN, infinity) is null."""
    print(to_json(value))


def to_json(value: Any) -> str:
    """Values as JSON that every reader takes."""
    return json.dumps(plain(value), indent=2, ensure_ascii=False, allow_nan=False)


def plain(value: Any) -> Any:
    """NumPy's numbers and arrays as Python's, NaN and infinity as None."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return str(value)


def terminal_width(asked: int | None = None) -> int | None:
    """Columns to print in; None: no limit, for stdout is a file or a pipe."""
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
