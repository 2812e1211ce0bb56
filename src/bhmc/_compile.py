"""One way to compile a kernel: Numba, cached on disk, no GIL, safe on read-only installs."""

import os
import warnings

import numba

_warned = False


def compiled(function):
    """Return `function` compiled by Numba on first call, cached on disk where that is possible."""
    try:
        kernel = numba.njit(cache=True, nogil=True, error_model="numpy")(function)
    except RuntimeError as error:
        if "locator" not in str(error):
            raise
        _warn_once(
            "no folder for compiled code is writable, so it is compiled again in every process"
        )
        return numba.njit(nogil=True, error_model="numpy")(function)
    if not os.access(os.path.dirname(__file__), os.W_OK):
        _warn_if_new(kernel)
    return kernel


def _warn_if_new(kernel) -> None:
    """Warn on the first use of a cache outside the package, not again once it is filled."""
    cache_path = kernel.stats.cache_path
    if cache_path and not os.path.isdir(cache_path):
        _warn_once(f"the package folder is not writable, so compiled code goes to {cache_path}")


def _warn_once(what: str) -> None:
    global _warned
    if not _warned:
        _warned = True
        warnings.warn(f"bhmc: {what}; set NUMBA_CACHE_DIR to choose a folder.", stacklevel=4)
