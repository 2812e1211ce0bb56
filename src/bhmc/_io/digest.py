"""Digests: SHA-256 of data, text and files, in hexadecimal. Equal digests mean equal contents."""

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

# Rows that are copied together where an array is not contiguous.
_BLOCK = 4096


def digest_of_data(X: Any) -> str:
    """The digest of an array, a sparse matrix in compressed form, or a frame, to the last bit."""
    digest = hashlib.sha256()
    parts = (X.data, X.indices, X.indptr) if sparse.issparse(X) else (np.asarray(X),)
    for part in parts:
        digest.update(repr((part.shape, part.dtype.str)).encode())
        if part.dtype == object:  # its bytes are addresses
            digest.update(repr(part.tolist()).encode())
            continue
        rows = np.atleast_1d(part)
        for first in range(0, len(rows), _BLOCK):
            digest.update(np.ascontiguousarray(rows[first : first + _BLOCK]).tobytes())
    return digest.hexdigest()


def digest_of_text(text: str) -> str:
    """The digest of a text as UTF-8."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def digest_of_file(path: Path) -> str:
    """The digest of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def digest_of_folder(path: Path) -> str:
    """The digest of all files in a folder and below: their names, and their digests."""
    files = sorted(file for file in path.rglob("*") if file.is_file())
    found = [(file.relative_to(path).as_posix(), digest_of_file(file)) for file in files]
    return digest_of_text(repr(found))
