"""Values from a JSON tree and arrays: the way back of `encoding`."""

import math
import pathlib
import re
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bhmc._io.archive.classes import class_named, field_names, required_names
from bhmc._io.archive.errors import FileFormatError, in_a_sentence
from bhmc._io.archive.fitting import check_fit
from bhmc._io.archive.generators import GENERATORS, generator_of
from bhmc._io.archive.packing import unpacked
from bhmc._version import __version__

_SEQUENCES = {"list": list, "tuple": tuple}
# Types of single numbers and texts.
_SCALAR = re.compile(r"[<>|=]?[biufcU][0-9]{1,9}")
# A whole number such as a seed.
_LONGEST_INTEGER = 2**16
# Keys of a dict that may have one hash: -1 and -2 do.
_MOST_ALIKE = 4
# Arrays of lists in the smallest file; in others one for so many bytes.
_FREE_ARRAYS, _BYTES_OF_ARRAY = 250_000, 10
_GENERATOR_NAMES = {cls.__name__ for cls in GENERATORS}


Upgrade = Callable[[str, dict[str, Any]], dict[str, Any]]
"""From the name of a class and the fields of an object in a file to the fields that it has now."""


def decode(
    tree: Any, arrays: dict[str, NDArray], upgrade: Upgrade | None = None, n_bytes: int = 0
) -> Any:
    """The value; FileFormatError says what is wrong where there is none. Arrays are not copied.

    Parameters
    ----------
    tree : object
        The JSON that `encode` gave.
    arrays : dict of arrays
        The entries by name.
    upgrade : function, optional
        Brings the fields of an object of an older format to this one.
    n_bytes : int, default=0
        Length of the file; the arrays of its lists may be as many as it explains.
    """
    with in_a_sentence("its contents do not fit together"):
        most = max(_FREE_ARRAYS, n_bytes // _BYTES_OF_ARRAY)
        return _Decoder(arrays, upgrade or (lambda name, fields: fields), most).decode(tree)


class _Decoder:
    def __init__(self, arrays: dict[str, NDArray], upgrade: Upgrade, most_arrays: int):
        self._arrays, self._upgrade, self._n_left = arrays, upgrade, most_arrays
        # What came before and may come again: the same array, as it was when it was saved.
        self._object_arrays: list[NDArray] = []

    def decode(self, tree: Any) -> Any:
        if isinstance(tree, list):
            return [self.decode(item) for item in tree]
        if not isinstance(tree, dict):
            if isinstance(tree, float) and math.isinf(tree):
                raise FileFormatError("a number in it is beyond all doubles.")
            return tree
        if "$type" not in tree:
            return {name: self.decode(item) for name, item in tree.items()}
        return self._typed(tree["$type"], {k: v for k, v in tree.items() if k != "$type"})

    def _typed(self, name: Any, tree: dict[str, Any]) -> Any:
        match name:
            case "int":
                return _integer(tree["hex"])
            case "float":
                return {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}[tree["text"]]
            case "tuple":
                return tuple(self.decode(tree["items"]))
            case "dict":
                return _dict([(self.decode(key), self.decode(item)) for key, item in tree["items"]])
            case "path":
                return pathlib.Path(tree["text"])
            case "scalar":
                return _scalar(tree["dtype"], self.decode(tree["value"]))
            case "array":
                return _marked(self._entry(tree["entry"]), tree)
            case "object_array":
                self._object_arrays.append(_marked(self._object_array(tree), tree))
                return self._object_arrays[-1]
            case "same_object_array":
                return self._object_arrays[tree["number"]]
            case "arrays":
                return _SEQUENCES[tree["sequence"]](self._unpacked(tree))
            case "objects":
                return self._objects_of(tree)
        fields = {field: self.decode(item) for field, item in tree.items()}
        if name in _GENERATOR_NAMES:
            return generator_of(name, fields)
        return self._object(name, fields)

    def _entry(self, name: str) -> NDArray:
        if name not in self._arrays:
            raise FileFormatError(f"the array {name!r} is missing.")
        return self._arrays[name]

    def _object_array(self, tree: dict[str, Any]) -> NDArray:
        items = self.decode(tree["items"])
        if len(items) != math.prod(tree["shape"]):
            raise FileFormatError("an array of objects has more or fewer items than its shape.")
        array = np.empty(len(items), dtype=object)
        for i, item in enumerate(items):  # one by one, or NumPy would look into lists
            array[i] = item
        return array.reshape(tree["shape"])

    def _unpacked(self, tree: dict[str, Any]) -> list[NDArray]:
        groups = [(_marked(self._entry(flags["entry"]), flags), flags) for flags in tree["groups"]]
        shapes = self.decode(tree["shapes"])
        self._n_left -= len(shapes)
        if self._n_left < 0:
            raise FileFormatError("its lists have more arrays than its length explains.")
        return unpacked(shapes, self.decode(tree.get("member_of")), groups)

    def _objects_of(self, tree: dict[str, Any]) -> Any:
        name, fields = tree["class"], self.decode(tree["fields"])
        rows = zip(*fields.values(), strict=True)
        objects = [self._object(name, dict(zip(fields, row, strict=True))) for row in rows]
        return _SEQUENCES[tree["sequence"]](objects)

    def _object(self, name: Any, fields: dict[str, Any]) -> Any:
        cls = _class(name)
        return _object(cls, self._upgrade(name, fields))


def _class(name: Any) -> type:
    found = class_named(name)
    if found is None:
        raise FileFormatError(
            f"it holds a {name!r}, which bhmc {__version__} does not know: upgrade bhmc, if a "
            "newer one wrote the file."
        )
    return found


def _object(cls: type, fields: dict[str, Any]) -> Any:
    """Fields that were added since the file was written take their defaults."""
    for name in required_names(cls):
        if name not in fields:
            raise FileFormatError(f"a {cls.__name__} in it has no {name}.")
    for name in fields:
        if name not in field_names(cls):
            raise FileFormatError(
                f"a {cls.__name__} in it has a {name}, which bhmc {__version__} does not know: "
                "upgrade bhmc, if a newer one wrote the file."
            )
    check_fit(cls, fields)
    return cls(**fields)


def _marked(array: NDArray, flags: dict[str, Any]) -> NDArray:
    if flags.get("readonly"):
        array.flags.writeable = False
    return array


def _integer(text: str) -> int:
    """A whole number; time to use one grows with the square of its length."""
    if len(text) > _LONGEST_INTEGER:
        raise FileFormatError(f"a whole number in it has more than {_LONGEST_INTEGER:,} digits.")
    return int(text, 16)


def _dict(items: list[tuple[Any, Any]]) -> dict[Any, Any]:
    """A dict whose keys were not chosen to collide, which would take the square of their number."""
    hashes = Counter(hash(key) for key, _ in items)
    found = dict(items) if max(hashes.values(), default=0) <= _MOST_ALIKE else {}
    if len(found) < len(items):
        raise FileFormatError("a dict in it has a key twice, or keys that were made to collide.")
    return found


def _scalar(name: str, value: Any) -> Any:
    if not isinstance(name, str) or not _SCALAR.fullmatch(name):
        raise FileFormatError(f"a single number of type {name!r} cannot be read.")
    dtype = np.dtype(name)
    return dtype.type(complex(*value) if dtype.kind == "c" else value)
