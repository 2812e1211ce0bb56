"""A value as a JSON tree and arrays. What is more than JSON is an object with a "$type"."""

import math
import pathlib
import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bhmc._io.archive.classes import contents, name_of
from bhmc._io.archive.entries import PLAIN_KINDS, Entry
from bhmc._io.archive.generators import GENERATORS, generator_contents
from bhmc._io.archive.packing import Pack, can_be_packed
from bhmc.likelihoods import Likelihood

# Readers of JSON in other languages take numbers for doubles, which hold no larger ones exactly.
_LARGEST_JSON_INT = 2**53

# Places in names of entries; longer ones are cut.
_LONGEST_NAME = 60


def encode(value: Any) -> tuple[Any, dict[str, Entry]]:
    """(JSON tree, arrays by the names of their entries); TypeError for what no file can hold."""
    encoder = _Encoder()
    try:
        tree = encoder.encode(value, ())
    except RecursionError:
        raise TypeError("a value that is nested so deep, or in itself, cannot be saved.") from None
    return tree, encoder.entries


class _Encoder:
    def __init__(self):
        self.entries: dict[str, Entry] = {}
        self._taken: set[str] = set()
        # The arrays are held too: the id of one that is gone may be given to another.
        self._seen: dict[int, tuple[NDArray, Any]] = {}
        self._n_object_arrays = 0

    def encode(self, value: Any, place: tuple[str, ...]) -> Any:
        """JSON of a value; `place` says where in the whole it is."""
        kind = type(value)
        if value is None or kind in (bool, str):
            return value
        if kind is int:
            small = abs(value) <= _LARGEST_JSON_INT
            return value if small else {"$type": "int", "hex": hex(value)}
        if kind is float:
            return value if math.isfinite(value) else {"$type": "float", "text": str(value)}
        if kind in (list, tuple):
            return self._sequence(value, place)
        if kind is dict:
            return self._dict(value, place)
        if kind in (np.ndarray, np.memmap):
            return self._array(value, place)
        if isinstance(value, np.generic):
            return self._scalar(value, place)
        if isinstance(value, pathlib.PurePath):
            return {"$type": "path", "text": str(value)}
        if kind in GENERATORS:
            return {"$type": kind.__name__} | self._fields(generator_contents(value), place)
        if (class_name := name_of(kind)) is not None:
            return {"$type": class_name} | self._fields(contents(value), place)
        raise _refusal(value, place)

    def _fields(self, values: dict[str, Any], place: tuple[str, ...]) -> dict[str, Any]:
        return {name: self.encode(value, (*place, name)) for name, value in values.items()}

    def _sequence(self, values: list | tuple, place: tuple[str, ...]) -> Any:
        """A list as JSON's; arrays packed; objects of one class field by field, to be packed."""
        name = type(values).__name__
        if can_be_packed(values):
            return {"$type": "arrays", "sequence": name} | self._packed(values, place)
        kinds = {type(value) for value in values}
        class_name = name_of(kinds.pop()) if len(values) > 1 and len(kinds) == 1 else None
        if class_name is not None:
            rows = [contents(value) for value in values]
            columns = {field: [row[field] for row in rows] for field in rows[0]}
            return {
                "$type": "objects",
                "sequence": name,
                "class": class_name,
                "fields": self._fields(columns, place),
            }
        items = [self.encode(value, (*place, str(i))) for i, value in enumerate(values)]
        return items if name == "list" else {"$type": "tuple", "items": items}

    def _packed(self, arrays: list | tuple, place: tuple[str, ...]) -> dict[str, Any]:
        pack, name = Pack.of(arrays), place[-1] if place else "value"
        found = {
            "groups": [
                {"entry": self._add(group.entry, place)} | group.flags for group in pack.groups
            ],
            "shapes": self._array(pack.shapes, (*place[:-1], f"{name}_shapes")),
        }
        if len(pack.groups) > 1:
            found["member_of"] = self._array(pack.member_of, (*place[:-1], f"{name}_member_of"))
        return found

    def _dict(self, value: dict, place: tuple[str, ...]) -> Any:
        if all(type(key) is str and not key.startswith("$") for key in value):
            return self._fields(value, place)
        items = [
            [self.encode(key, place), self.encode(item, (*place, str(key)))]
            for key, item in value.items()
        ]
        return {"$type": "dict", "items": items}

    def _array(self, array: NDArray, place: tuple[str, ...]) -> Any:
        """A reference to an entry; the same one where the same array comes again."""
        if id(array) in self._seen:
            return self._seen[id(array)][1]
        flags = {} if array.flags.writeable else {"readonly": True}
        if array.dtype.kind == "O":
            found, again = self._object_array(array, place)
        elif array.dtype.kind in PLAIN_KINDS:
            found = {"$type": "array", "entry": self._add(Entry.of(array), place)} | flags
            again = found
        else:
            raise _refusal(array, place)
        self._seen[id(array)] = array, again
        return found | flags

    def _object_array(self, array: NDArray, place: tuple[str, ...]) -> tuple[Any, Any]:
        """Such as names: a list in the JSON; and what to say where the same comes again."""
        items = [self.encode(item, (*place, str(i))) for i, item in enumerate(array.flat)]
        again = {"$type": "same_object_array", "number": self._n_object_arrays}
        self._n_object_arrays += 1
        return {"$type": "object_array", "shape": list(array.shape), "items": items}, again

    def _scalar(self, value: np.generic, place: tuple[str, ...]) -> Any:
        item = value.item()
        if type(item) not in (bool, int, float, complex, str):
            raise _refusal(value, place)
        if isinstance(item, complex):
            item = [item.real, item.imag]
        return {"$type": "scalar", "dtype": value.dtype.str, "value": self.encode(item, place)}

    def _add(self, entry: Entry, place: tuple[str, ...]) -> str:
        """The name of a new entry: its place, in letters that every file system allows."""
        words = [re.sub(r"[^A-Za-z0-9_-]", "_", word)[:_LONGEST_NAME] or "_" for word in place]
        base = "/".join(words) or "value"
        name, count = f"{base}.npy", 1
        while name.casefold() in self._taken:  # unpacked on some systems, x and X are one file
            count += 1
            name = f"{base}-{count}.npy"
        self._taken.add(name.casefold())
        self.entries[name] = entry
        return name


def _refusal(value: Any, place: tuple[str, ...]) -> TypeError:
    where, kind = ".".join(place) or "this value", type(value)
    if isinstance(value, Likelihood):
        return TypeError(
            f"{where} cannot be saved: {kind.__name__} is a likelihood of your own, and a file "
            "holds no code, only the numbers of those in bhmc.likelihoods."
        )
    what = f"{kind.__module__}.{kind.__name__}".removeprefix("builtins.")
    if isinstance(value, np.ndarray | np.generic):
        what += f" of type {value.dtype}"
    return TypeError(
        f"{where} cannot be saved: it is a {what}, and a file holds numbers, text, lists, dicts, "
        "plain arrays and what bhmc is made of."
    )
