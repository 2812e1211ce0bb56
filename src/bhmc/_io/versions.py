"""Versions of what the draws depend on, for run folders, saved files and reports."""

from importlib import metadata
from platform import python_version

from bhmc._version import __version__

_LIBRARIES = ("numpy", "scipy", "scikit-learn", "numba")


def versions(*more: str) -> dict[str, str]:
    """Versions of bhmc, Python, the libraries that bhmc stands on, and `more` packages by name."""
    found = {name: _version(name) for name in (*_LIBRARIES, *more)}
    return {"bhmc": __version__, "python": python_version(), **found}


def _version(library: str) -> str:
    try:
        return metadata.version(library)
    except metadata.PackageNotFoundError:  # installed without its metadata
        return "unknown"
