"""Arrays and texts as one block of compressed bytes; `web/FORMAT.md` says how they stand in it."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

FORMAT = 1
# Type of an array -> its name in the block. Everything is little endian.
_NAMES = {"|u1": "u1", "<u2": "u2", "<u4": "u4", "<i4": "i4", "<f4": "f4"}
_UNIT = 8  # arrays begin at multiples of so many bytes

Arrays = dict[str, NDArray]


def pack(info: Mapping[str, Any], arrays: Mapping[str, NDArray]) -> bytes:
    """The block of compressed bytes, the same for the same contents.

    Parameters
    ----------
    info : mapping
        What JSON can hold.
    arrays : mapping from names to arrays
        Each of the type u1, u2, u4, i4 or f4.
    """
    places, parts, offset = {}, [], 0
    for name, array in arrays.items():
        places[name] = [_NAMES[array.dtype.str], list(array.shape), offset]
        parts.append(_padded(np.ascontiguousarray(array).tobytes()))
        offset += len(parts[-1])
    head = {"format": FORMAT, "info": _plain(info), "arrays": places}
    # JSON has no NaN: one in `info` is an error of ours.
    text = json.dumps(head, allow_nan=False, separators=(",", ":")).encode("ascii")
    start = _padded(len(text).to_bytes(4, "little") + text)
    return zlib.compress(b"".join([start, *parts]), 9)


def texts(name: str, values: Iterable[object]) -> Arrays:
    """The two arrays of a list of texts: where each ends, and all of them as UTF-8.

    Parameters
    ----------
    name : str
        Name of the list.
    values : iterable
        The texts; what is no text is written as `str` has it.
    """
    encoded = [_utf8(str(value)) for value in values]
    ends = np.cumsum([len(one) for one in encoded], dtype=np.int64)
    return {
        f"{name}.ends": ends.astype("<u4"),
        f"{name}.utf8": np.frombuffer(b"".join(encoded), dtype="|u1"),
    }


def whole(text: str) -> str:
    """The text with U+FFFD in the place of every lone surrogate, which UTF-8 cannot hold.

    Parameters
    ----------
    text : str
        Any text.
    """
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def floats(values: Any) -> NDArray[np.float32]:
    """The numbers as f4; an infinite one, which no bar can show, becomes NaN: "not known".

    Parameters
    ----------
    values : array-like
        The numbers.
    """
    found = np.asarray(values, dtype=np.float64)
    # A number beyond the range of f4 is infinite there.
    return np.where(np.abs(found) <= np.finfo(np.float32).max, found, np.nan).astype("<f4")


def _utf8(text: str) -> bytes:
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        return whole(text).encode("utf-8")


def _padded(part: bytes) -> bytes:
    return part + bytes(-len(part) % _UNIT)


def _plain(value: Any) -> Any:
    """The same with texts that UTF-8 can hold."""
    if isinstance(value, str):
        return whole(value)
    if isinstance(value, Mapping):
        return {whole(str(key)): _plain(one) for key, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, list | tuple) else value
