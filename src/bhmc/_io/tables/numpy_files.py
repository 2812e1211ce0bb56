"""Matrices in NumPy's files: lengths are compared before memory is asked for, nothing is executed.

NumPy's own readers ask for as much memory as a header says, and SciPy's reader of sparse matrices
does not look whether indices are in the matrix.
"""

import math
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray
from scipy import sparse

from bhmc._validation.plain_files import TIMES_COMPRESSED, check_bytes

# Names under which a matrix among others in an NPZ file is the data.
_DATA = ("X", "x", "data")

# Entries of the sparse layouts that tables have.
_COMPRESSED = {"csr": sparse.csr_array, "csc": sparse.csc_array}

# As in Matrix Market files: a name of a column takes some 60 bytes.
_FREE_COLUMNS = 2**18

_READERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}


def read_npy(path: Path) -> NDArray:
    """The array of an `.npy` file; ValueError, in half a sentence, says what is wrong.

    Parameters
    ----------
    path : Path
        The file.
    """
    with path.open("rb") as file:
        return _array(file, path.stat().st_size)


def read_npz(path: Path, names: Sequence[str] = _DATA) -> Any:
    """The matrix in an `.npz` file: alone, called X, or sparse as SciPy writes it.

    Parameters
    ----------
    path : Path
        The file.
    names : sequence of str, default=("X", "x", "data")
        What it may be called where it is not alone.
    """
    if not zipfile.is_zipfile(path):
        raise ValueError("it is no zip archive")
    with zipfile.ZipFile(path) as archive:
        entries = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
        if len(entries) < len(archive.infolist()):
            raise ValueError("two of its entries have one name")
        size = path.stat().st_size

        def array(name: str) -> NDArray:
            info = entries[name]
            with archive.open(info) as file:
                return _array(file, info.file_size)

        if {"format", "data", "shape"} <= entries.keys():
            check_bytes(sum(info.file_size for info in entries.values()), size, TIMES_COMPRESSED)
            return _sparse(array, size)
        for name in entries if len(entries) == 1 else names:
            if name in entries:
                check_bytes(entries[name].file_size, size, TIMES_COMPRESSED)
                return array(name)
    listed = ", ".join(repr(name) for name in list(entries)[:6]) or "nothing"
    raise ValueError(
        f"it holds {listed}: the array to read must be called {names[0]!r} or be alone"
    )


def _array(file: Any, size: int) -> NDArray:
    """The array whose header and numbers are so many bytes."""
    version = npy.read_magic(file)
    if version not in _READERS:
        raise ValueError("its header is of a version that tables do not have")
    shape, fortran, dtype = _READERS[version](file)
    if dtype.hasobject:
        raise ValueError("it holds Python objects; a matrix must hold numbers")
    length = math.prod(shape) * dtype.itemsize
    if min(shape, default=0) < 0 or file.tell() + length != size:
        raise ValueError("it is longer or shorter than its header says")
    array = np.empty(shape, dtype, order="F" if fortran else "C")
    if length:
        flat = array.reshape(-1, order="A").view(np.uint8)
        if file.readinto(flat.data) != length:
            raise ValueError("it ends before its last number")
    return array


def _sparse(array: Any, size: int) -> Any:
    """A sparse matrix whose every index has been looked at."""
    layout = array("format").item()
    layout = layout.decode("ascii") if isinstance(layout, bytes) else str(layout)
    n, d = (int(side) for side in array("shape").tolist())
    if min(n, d) < 0 or d > _FREE_COLUMNS + size or n > _FREE_COLUMNS + size:
        raise ValueError(f"a file of {size:,} bytes cannot fill {n:,} rows and {d:,} columns")
    data = array("data")
    if data.dtype.kind not in "fiub":
        raise ValueError("it does not hold numbers")
    if layout == "coo":
        places = tuple(_whole(array(name)) for name in ("row", "col"))
        matrix: Any = sparse.coo_array((data, places), shape=(n, d))
        if len(data) and not all(
            0 <= own.min() <= own.max() < side for own, side in zip(places, (n, d), strict=True)
        ):
            raise ValueError("an entry is outside its matrix")
        return matrix
    if layout not in _COMPRESSED:
        raise ValueError(f"its layout is {layout[:10]!r}: save it as 'csr', 'csc' or 'coo'")
    parts = data, _whole(array("indices")), _whole(array("indptr"))
    matrix = _COMPRESSED[layout](parts, shape=(n, d))
    matrix.check_format(full_check=True)
    return matrix


def _whole(places: NDArray) -> NDArray:
    if places.dtype.kind not in "iu" or places.ndim != 1:
        raise ValueError("its places are no whole numbers")
    return places
