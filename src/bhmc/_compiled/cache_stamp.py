"""One stamp for all compiled code, so that Numba's disk cache misses no edit.

Numba stamps a cached kernel with the content of the kernel's own file, so an edit to a helper in
another file would be missed (numba issue 1833). Here every kernel is stamped with the content of
all files that compiled code may come from.
"""

import hashlib
from functools import cache
from pathlib import Path

_PACKAGE = Path(__file__).parents[1]

# Files that kernels are written in, or take constants and tuples from.
SOURCES = (
    "_compiled/*.py",
    "priors.py",
    "**/kernels.py",
    "**/kernels/*.py",
    "model/*/workspace.py",
    "baselines/*/state.py",
)


@cache
def stamp() -> str:
    """A digest of every file that compiled code may come from."""
    digest = hashlib.sha256()
    files = {path for pattern in SOURCES for path in _PACKAGE.glob(pattern)}
    for path in sorted(files):
        digest.update(path.relative_to(_PACKAGE).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def cover_all_sources(kernel) -> bool:
    """Stamp a kernel's cache with `stamp`; False where this Numba keeps the stamp elsewhere.

    Parameters
    ----------
    kernel : numba.core.dispatcher.Dispatcher
        A kernel with a cache on disk, before its first call.
    """
    index = getattr(getattr(kernel, "_cache", None), "_cache_file", None)
    if not hasattr(index, "_source_stamp"):
        return False
    index._source_stamp = stamp()
    return True
