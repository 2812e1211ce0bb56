"""One stamp for all compiled code, so that Numba's disk cache misses no edit.

Numba stamps a cached kernel with the content of the kernel's own file, so an edit to a helper in
another file would be missed (numba issue 1833). Here every kernel is stamped with the content of
all files that compiled code may come from.
"""

import hashlib
import pickle
from functools import cache
from pathlib import Path
from typing import Any

_PACKAGE = Path(__file__).parents[1]

# Files that kernels are written in, or take constants and tuples from.
SOURCES = (
    "_compiled/*.py",
    "priors.py",
    "posterior/kernels/*.py",
    "rows/kernels/*.py",
    "rows/protocol.py",
    "model/*/kernels.py",
    "model/*/kernels/*.py",
    "model/*/forest.py",
    "model/*/workspace.py",
    "model/*/move_space.py",
    "baselines/*/kernels.py",
    "baselines/*/kernels/*.py",
    "baselines/*/state.py",
)

# What unpickling an index may raise that an older version has written.
_UNREADABLE = (
    pickle.PickleError,
    AttributeError,
    EOFError,
    ImportError,
    KeyError,
    TypeError,
    ValueError,
)


def covered_files() -> list[Path]:
    """Every file that compiled code may come from."""
    return sorted({path for pattern in SOURCES for path in _PACKAGE.glob(pattern)})


@cache
def stamp() -> str | None:
    """A digest of the covered files; None where they cannot be read (in a zip file, say)."""
    digest = hashlib.sha256()
    try:
        for path in covered_files():
            content = path.read_bytes()
            digest.update(f"{path.relative_to(_PACKAGE).as_posix()}:{len(content)}:".encode())
            digest.update(content)
    except OSError:
        return None
    return digest.hexdigest()


def cover_all_sources(kernel) -> bool:
    """Stamp a kernel's disk cache with `stamp`; False where that is not possible.

    Then this Numba keeps its stamp elsewhere, and the cache must not be used: a slow start is
    better than code that is out of date.

    Parameters
    ----------
    kernel : numba.core.dispatcher.Dispatcher
        A kernel with a cache on disk, before its first call.
    """
    index: Any = getattr(getattr(kernel, "_cache", None), "_cache_file", None)
    private = hasattr(index, "_source_stamp") and hasattr(index, "_load_index")
    if not private or stamp() is None:
        return False
    index._source_stamp = (index._source_stamp, stamp())
    load_index = index._load_index

    def load_readable_index():
        # Numba unpickles an index before it looks at the stamp: it may name classes that are gone.
        try:
            return load_index()
        except _UNREADABLE:
            return {}

    index._load_index = load_readable_index
    return True
