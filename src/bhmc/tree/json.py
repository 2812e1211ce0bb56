"""A tree as JSON and back: plain lists, so that any language can read it."""

from __future__ import annotations

import json
from dataclasses import MISSING, fields
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from bhmc.tree import Tree

_FORMAT = "bhmc.Tree"
_VERSION = 2
_DTYPES = {
    "parents": np.int64,
    "levels": np.int64,
    "sizes": np.int64,
    "merged": np.int64,
    "paths": np.int32,
    "components": np.int32,
    "is_word": np.bool_,
}
_TEXTS = ("names", "feature_names", "node_names")
# Numbers that JSON does not have, as texts.
_WORDS = {"NaN": np.nan, "Infinity": np.inf, "-Infinity": -np.inf}


def to_json(tree: Tree) -> str:
    """The text of `Tree.to_json`."""
    content: dict[str, Any] = {"format": _FORMAT, "version": _VERSION}
    for one in fields(tree):
        value = getattr(tree, one.name)
        if isinstance(value, np.ndarray):
            content[one.name] = _listed(value)
        elif value is not None:
            content[one.name] = _plain(value)
    return json.dumps(content, allow_nan=False, ensure_ascii=False)


def fields_from_json(kind: type[Tree], text: str) -> dict[str, Any]:
    """The fields of the tree that `to_json` wrote."""
    content = _parsed(text)
    found: dict[str, Any] = {}
    for one in fields(kind):
        value = content.get(one.name)
        if value is None:
            if one.default is MISSING and one.default_factory is MISSING:
                raise ValueError(f"this JSON is not a whole tree: {one.name!r} is missing.")
        elif one.name in _TEXTS:
            found[one.name] = _texts(value)
        elif isinstance(value, list):
            found[one.name] = _array(value, one.name)
        else:
            found[one.name] = _WORDS.get(value, value)
    _check_agreement(found)
    return found


def _parsed(text: str) -> dict[str, Any]:
    try:
        content = json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"this text is not JSON: {error}.") from error
    if not isinstance(content, dict) or content.get("format") != _FORMAT:
        raise ValueError("this JSON is not a tree that Tree.to_json wrote.")
    version = content.get("version")
    if version == 1 and "support" in content:  # it was the share of draws with exactly these rows
        content["exact_support"] = content.pop("support")
    if version not in (1, _VERSION):
        raise ValueError(
            f"this tree is of version {version} of the format and this bhmc reads versions 1 to "
            f"{_VERSION}: use the bhmc that wrote it, or a newer one."
        )
    return content


def _listed(array: NDArray[Any]) -> list:
    if array.dtype.kind in "Mm":
        array = array.astype(str)  # names that are dates
    values = array.tolist()
    if array.dtype.kind in "iubU" or (array.dtype.kind == "f" and np.isfinite(array).all()):
        return values
    return _map(values, _plain)


def _map(values: list, change: Any) -> list:
    """`change` of every entry of a list of at most two dimensions."""
    return [_map(one, change) if isinstance(one, list) else change(one) for one in values]


def _plain(value: Any) -> Any:
    """`value` as JSON can hold it: NaN and infinite numbers, and other objects, as text."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not np.isfinite(value):
        return "NaN" if np.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value if isinstance(value, str | int | float | bool) else str(value)


def _array(values: list, name: str) -> NDArray[Any]:
    dtype = _DTYPES.get(name, np.float64)
    try:
        return np.array(values, dtype=dtype)  # NumPy reads the words NaN and Infinity too
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name!r} of this JSON is not an array of numbers: {error}.") from error


def _texts(values: list) -> NDArray[Any]:
    """Names as they were: an array of one kind where they are of one kind."""
    kinds = {type(value) for value in values}
    return np.array(values, dtype=None if len(kinds) == 1 else object)


def _check_agreement(found: dict[str, Any]) -> None:
    """Refuse arrays that do not belong together."""
    parents, paths = found["parents"], found["paths"]
    n_nodes = len(parents)
    lengths = [
        (n_nodes, ("levels", "sizes", "weights", "merged", "heights")),
        (n_nodes, ("support", "exact_support", "node_names", "locations")),
        (len(paths), ("components", "names")),
        (len(found["theta"]), ("component_means",)),
    ]
    for length, names in lengths:
        for name in names:
            if name in found and len(found[name]) != length:
                raise ValueError(
                    f"this JSON is not a whole tree: {name!r} holds {len(found[name])} entries "
                    f"and should hold {length}."
                )
    inside = paths.ndim == 2 and paths.min() >= 0 and paths.max() < n_nodes
    if not inside or (parents[paths[:, 1:]] != paths[:, :-1]).any() or paths[:, 0].any():
        raise ValueError("this JSON is not a whole tree: its paths do not follow its parents.")
