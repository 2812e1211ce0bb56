"""`Entry`: an array on its way into a file, as pieces that follow each other in it."""

import io
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

# Truths, whole and real and complex numbers, text, bytes and times: what `.npy` holds unpickled.
PLAIN_KINDS = "biufcUSmM"

# Bytes that are written or read at a time.
CHUNK = 1 << 20


@dataclass(frozen=True)
class Entry:
    """A `.npy` entry. Many small arrays are written as one, without a copy of all in memory."""

    dtype: np.dtype
    shape: tuple[int, ...]
    fortran_order: bool
    pieces: list[NDArray]

    @classmethod
    def of(cls, array: NDArray) -> "Entry":
        """The entry of one array, in its own order of memory where that is one of the two."""
        fortran = is_fortran(array)
        return cls(array.dtype, array.shape, fortran, [array.T if fortran else array])

    @property
    def described(self) -> dict[str, Any]:
        """What the header of the file says of it, which is what it must be when it is read."""
        return {
            "dtype": npy.dtype_to_descr(self.dtype),
            "shape": list(self.shape),
            "fortran_order": self.fortran_order,
        }

    @property
    def npy_header(self) -> bytes:
        """The first bytes of the entry, before the numbers."""
        stream = io.BytesIO()
        described = self.described | {"descr": npy.dtype_to_descr(self.dtype), "shape": self.shape}
        npy.write_array_header_1_0(
            stream, {name: described[name] for name in ("descr", "fortran_order", "shape")}
        )
        return stream.getvalue()

    @property
    def n_bytes(self) -> int:
        """Length of the entry."""
        return len(self.npy_header) + math.prod(self.shape) * self.dtype.itemsize

    def chunks(self) -> Iterator[Any]:
        """Its bytes, a chunk at a time, as views of the arrays where they can be."""
        yield self.npy_header
        for piece in self.pieces:
            if piece.nbytes == 0:
                continue
            flat = np.ascontiguousarray(piece).reshape(-1).view(np.uint8)
            for first in range(0, len(flat), CHUNK):
                yield flat[first : first + CHUNK]


def is_fortran(array: NDArray) -> bool:
    """Whether an array goes down its columns and not along its rows."""
    return bool(array.flags.f_contiguous and not array.flags.c_contiguous)
