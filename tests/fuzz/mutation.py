"""Changes of archives that go past their checks: checksums and digests are made anew."""

import io
import json
import random
import zipfile
from collections.abc import Callable
from typing import Any

from bhmc._io.archive.archive import HEADER
from tests.io.saving_values import comment_of

ODD = (0, 1, -1, 2, 2**31, -(2**31), 2**53 + 1, 2**63, 10**30, 0.5, -0.0, 1e300, 1e-300)
ODD_JSON = (*ODD, None, True, "", "x", "nan", "../x", [], [1], {}, {"$type": "Tree"})
TYPES = ("int", "float", "tuple", "dict", "array", "arrays", "objects", "object_array", "scalar")

_MOST_BYTES = 2**16


def mutated(data: bytes, seed: int, change_bytes: Callable[[bytes], bytes]) -> bytes:
    """A file a little unlike `data`.

    `change_bytes` is the fuzzer's own mutation, guided by what it has covered.
    """
    rng = random.Random(seed)
    if rng.random() < 0.1 or not zipfile.is_zipfile(io.BytesIO(data)):
        return change_bytes(data)
    try:
        return _archive(data, rng, change_bytes)
    except Exception:  # an archive that cannot be unpacked
        return change_bytes(data)


def _archive(data: bytes, rng: random.Random, change_bytes: Callable[[bytes], bytes]) -> bytes:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        if sum(info.file_size for info in archive.infolist()) > 2**22:
            return change_bytes(data)
        entries = {info.filename: archive.read(info) for info in archive.infolist()}
    text = entries.get(HEADER)
    name = HEADER if text is not None and rng.random() < 0.5 else rng.choice(list(entries))
    if name == HEADER and rng.random() < 0.8:
        entries[name] = json.dumps(_changed_json(json.loads(entries[name]), rng)).encode()
    elif name.endswith(".npy") and rng.random() < 0.7:
        entries[name] = _changed_numbers(entries[name], rng)
    else:
        entries[name] = change_bytes(entries[name])
    return _packed(entries, rng)


def _packed(entries: dict[str, bytes], rng: random.Random) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(
        stream, "w", rng.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
    ) as new:
        for name, content in entries.items():
            new.writestr(name, content)
        if HEADER in entries:
            try:
                text = entries[HEADER].decode("ascii")
                others = {name: one for name, one in entries.items() if name != HEADER}
                new.comment = comment_of(text, json.loads(text).get("arrays", {}), others)
            except (ValueError, AttributeError):
                pass
    return stream.getvalue()


def _changed_numbers(content: bytes, rng: random.Random) -> bytes:
    """Another number at a place after the header of an array."""
    begin = 128 if len(content) > 128 else 0
    numbers = bytearray(content)
    for _ in range(rng.randint(1, 3)):
        at = begin + 8 * rng.randrange(max(1, (len(content) - begin) // 8))
        value = rng.choice(
            [0, 1, 2, 3, 255, 2**31 - 1, 2**40, 2**64 - 1, 0x7FF8 << 48, 0x7FF << 52]
        )
        numbers[at : at + 8] = value.to_bytes(8, "little")[: max(0, len(numbers) - at)]
    return bytes(numbers)


def _changed_json(tree: Any, rng: random.Random) -> Any:
    """The tree with one or two of its places changed."""
    for _ in range(rng.randint(1, 2)):
        places = list(_places(tree))
        if not places:
            return tree
        holder, key = rng.choice(places)
        action = rng.random()
        if action < 0.15 and isinstance(holder, dict):
            del holder[key]
        elif action < 0.3:
            other = rng.choice(places)
            holder[key] = other[0][other[1]]
        elif key == "$type":
            holder[key] = rng.choice(TYPES)
        else:
            holder[key] = rng.choice(ODD_JSON)
        if len(json.dumps(tree)) > _MOST_BYTES:
            return {}
    return tree


def _places(tree: Any):
    """(holder, key) of everything in a tree."""
    items = tree.items() if isinstance(tree, dict) else enumerate(tree)
    for key, one in list(items):
        yield tree, key
        if isinstance(one, dict | list):
            yield from _places(one)
