"""Many small arrays as a few long ones: a zip entry costs about 200 bytes and some time each."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bhmc._io.archive.entries import PLAIN_KINDS, Entry, is_fortran


class Group(NamedTuple):
    """Arrays of one type, end to end."""

    entry: Entry
    flags: dict[str, bool]
    """"readonly" and "fortran_order" of each of them, where true."""


class Pack(NamedTuple):
    """A list of arrays of one number of dimensions."""

    shapes: NDArray[np.int64]
    """(arrays, dimensions)"""
    member_of: NDArray[np.uint8]
    """(arrays,) the group that each is in; within a group they keep their order."""
    groups: list[Group]

    @classmethod
    def of(cls, arrays: Sequence[NDArray]) -> "Pack":
        """The pack of arrays that `can_be_packed`."""
        dimensions = arrays[0].ndim
        shapes = np.array([a.shape for a in arrays], np.int64).reshape(len(arrays), dimensions)
        keys = [_key(array) for array in arrays]
        order = {key: number for number, key in enumerate(dict.fromkeys(keys))}
        groups = [
            _group(key, [a for a, own in zip(arrays, keys, strict=True) if own == key])
            for key in order
        ]
        return cls(shapes, np.array([order[key] for key in keys], np.uint8), groups)


def can_be_packed(values: Sequence[Any]) -> bool:
    """Whether they are two or more plain arrays of one number of dimensions."""
    return (
        len(values) > 1
        and all(type(value) is np.ndarray for value in values)
        and all(value.dtype.kind in PLAIN_KINDS for value in values)
        and len({value.ndim for value in values}) == 1
        and len({_key(value) for value in values}) < 256
    )


def unpacked(
    shapes: NDArray, member_of: NDArray | None, groups: Sequence[tuple[NDArray, dict[str, Any]]]
) -> list[NDArray]:
    """The arrays of a pack, as views of those that hold them; `member_of` None: in one group."""
    if member_of is None:
        member_of = np.zeros(len(shapes), np.uint8)
    if len(member_of) and max(member_of) >= len(groups):
        raise ValueError("a list of arrays names an entry that it does not have")
    used = [0] * len(groups)
    arrays = []
    for shape, number in zip(shapes.tolist(), member_of.tolist(), strict=True):
        flat, flags = groups[number]
        first, last = used[number], used[number] + math.prod(shape)
        if min(shape, default=0) < 0 or last > len(flat):
            raise ValueError("a list of arrays is longer than the entry that holds them")
        used[number] = last
        order = "F" if flags.get("fortran_order") else "C"
        arrays.append(flat[first:last].reshape(shape, order=order))
    if used != [len(flat) for flat, _ in groups]:
        raise ValueError("a list of arrays is shorter than the entry that holds them")
    return arrays


def _key(array: NDArray) -> tuple[str, bool, bool]:
    return array.dtype.str, not array.flags.writeable, is_fortran(array)


def _group(key: tuple[str, bool, bool], arrays: list[NDArray]) -> Group:
    """Columns first where the arrays are so: products of matrices differ in the last digit."""
    dtype, readonly, fortran = key
    pieces = [array.T if fortran else array for array in arrays]
    entry = Entry(np.dtype(dtype), (sum(array.size for array in arrays),), False, pieces)
    flags = {"readonly": readonly, "fortran_order": fortran}
    return Group(entry, {name: True for name, value in flags.items() if value})
