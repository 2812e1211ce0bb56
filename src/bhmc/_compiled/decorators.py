"""One way to compile a kernel: Numba, cached on disk, no GIL, safe on read-only installs."""

import gc
import inspect
import os
import sys
import warnings
from typing import Any

import numba
from numba.core import config

from bhmc._compiled.cache_stamp import cover_all_sources

_warned = False


# No count of references to arrays (a kernel keeps none, and counting costs more than the sampling);
# no checks for division by zero; a product and a sum may be rounded once, not twice.
_OPTIONS: dict[str, Any] = {
    "nogil": True,
    "error_model": "numpy",
    "fastmath": {"contract"},
    "_nrt": False,
}


def helper(function):
    """A function that only kernels call: compiled into them and cached with them."""
    no_wrappers: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    return numba.njit(**no_wrappers, **_OPTIONS)(function)


def summing(function):
    """A helper whose sums may be added up in any order: then many numbers are added at a time."""
    no_wrappers: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    options = {**_OPTIONS, "fastmath": {"contract", "reassoc", "nsz"}}
    return numba.njit(**no_wrappers, **options)(function)


def merged(function):
    """A part of its caller, written apart: no call, no arguments, nothing compiled twice."""
    return numba.njit(inline="always", **_OPTIONS)(function)


def compiled(function):
    """A kernel: compiled by Numba on first call, cached on disk where that is possible."""
    try:
        kernel: Any = numba.njit(cache=True, **_OPTIONS)(function)
    except RuntimeError as error:
        if "no locator" not in str(error):
            raise
        _warn_once("compiles its code anew in every process, because no cache folder is writable")
        return numba.njit(**_OPTIONS)(function)
    if not hasattr(kernel, "stats"):  # a plain function where NUMBA_DISABLE_JIT is set
        return kernel
    if not cover_all_sources(kernel):
        _warn_once("compiles its code anew in every process, because this Numba keeps no stamp")
        return numba.njit(**_OPTIONS)(function)
    _warn_if_moved(kernel)
    kernel.compile = _uncollected(kernel.compile)
    return kernel


def _uncollected(compile_one):
    """`compile_one` without garbage collection.

    Numba keeps nearly all of the objects it makes, and looking through them again and again is a
    tenth of its time.
    """

    def compile_uncollected(signature):
        was_on = gc.isenabled()
        gc.disable()
        try:
            return compile_one(signature)
        finally:
            if was_on:
                gc.enable()

    return compile_uncollected


def _warn_if_moved(kernel) -> None:
    """Warn where the cache is not in the first place Numba tries, until a run has filled it."""
    wanted = getattr(config, "CACHE_DIR", "") or os.path.dirname(inspect.getfile(kernel.py_func))
    actual = kernel.stats.cache_path
    if not actual.startswith(os.path.join(wanted, "")) and not _is_filled(actual):
        _warn_once(f"keeps its compiled code in {actual}, because {wanted} is not writable")


def _is_filled(folder: str) -> bool:
    """Whether compiled code was saved in `folder`; Numba makes the folder before it has any."""
    return os.path.isdir(folder) and any(name.endswith(".nbi") for name in os.listdir(folder))


def _warn_once(what: str) -> None:
    global _warned
    if not _warned:
        _warned = True
        text = f"bhmc {what}; set NUMBA_CACHE_DIR to name a writable folder."
        warnings.warn(text, UserWarning, stacklevel=_level_of_user())


def _level_of_user() -> int:
    """The caller's `stacklevel` for the first line outside the package: it uses a name."""
    package = os.path.join(os.path.dirname(os.path.dirname(__file__)), "")
    level = 1
    frame = sys._getframe(1)
    while frame.f_back and frame.f_code.co_filename.startswith((package, "<frozen importlib")):
        level += frame.f_code.co_filename.startswith(package)  # import frames are not counted
        frame = frame.f_back
    return level
